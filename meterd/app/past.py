"""What people read out of a ledger: any entry with its proof, all of them as text, and how everything stood once.

Rule 1: everything here reads on connections that cannot write, beside a running daemon or without one.
Rule 2: an answer about a moment is the fold of the entries up to it, and of no other.
"""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import Path
from typing import Any, Final, TextIO

from meterd.app.volumes import Standing, opened, stand
from meterd.edge import sqlite, volume
from meterd.edge.chain_check import check
from meterd.edge.store import read_records
from meterd.errors import LedgerError, MisuseError
from meterd.ledger.canonical import parse
from meterd.ledger.chain import GENESIS
from meterd.ledger.merkle import Leaves
from meterd.ledger.note import Checkpoint
from meterd.ledger.record import Record
from meterd.ledger.verify import check_record

COLUMNS: Final = Record._fields[:13]
FOLLOW_S: Final = 0.5


def volume_of(folder: Path, seq: int) -> Path:
    """The volume that holds an entry, or would.

    Raises:
        MisuseError: there is no such entry, or the file that holds it is not there.
    """
    if not folder.is_dir():
        return folder
    there = volume.readable_volumes(folder)
    found = [path for path in there if (volume.first_seq_of(path) or 0) <= seq]
    behind = there[len(found)] if len(found) < len(there) else None
    if seq >= 1 and behind is not None and (before := _first_before(behind)) not in map(volume.first_seq_of, found):
        missing = f"{volume.volume_name(before)}{' or in one before it' if before > seq else ''}"
        raise MisuseError(f"entry {seq} stands in {missing}, which is not in {folder}: look where old files are kept")
    if not found:
        raise MisuseError(f"there is no entry {seq} in {folder}")
    return found[-1]


def _first_before(path: Path) -> int:
    """With which entry the volume before a later one began, as that one tells."""
    first = next(iter(read_records(path)), None)
    if first is None:
        raise LedgerError(f"{path} holds no entry")
    try:
        return int(parse(first.body)["sealed"]["first_seq"])
    except (ValueError, LookupError, TypeError) as cause:
        raise LedgerError(f"{path} does not say what came before it: {cause!r}") from cause


def from_volume(folder: Path, first: Path) -> Iterator[Record]:
    """All entries from a volume on."""
    if not folder.is_dir():
        yield from read_records(folder)
        return
    for path in volume.readable_volumes(folder):
        if (volume.first_seq_of(path) or 0) >= (volume.first_seq_of(first) or 0):
            yield from read_records(path)


def checkpoint_now(folder: Path) -> Checkpoint:
    """The ledger as it stands; the hashes of its newest volume are looked at on the way.

    Raises:
        LedgerError: they do not hold, or there is no ledger.
    """
    records = from_volume(folder, volume.current_volume(folder) if folder.is_dir() else folder)
    first = next(records, None)
    if first is None:
        raise LedgerError(f"{folder} holds no entry")
    before = opened(first)
    checked = check((record for part in ([first], records) for record in part), before.tree, _prev(first))
    return Checkpoint(before.origin, checked.tree.size, checked.tree.root())


def _prev(first: Record) -> bytes:
    return GENESIS if first.seq == 1 else first.prev


# ── proofs ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def prove(folder: Path, seq: int, size: int | None = None) -> dict[str, Any]:
    """An entry with the path from it to the root of the tree of the first ``size`` entries, by default of all.

    ``checkpoint`` is left empty: whoever has one of this size and root, or the key, puts it in.

    Raises:
        MisuseError: there is no such entry, or the tree ends before it.
        LedgerError: an entry on the way does not hold.
    """
    records = from_volume(folder, volume_of(folder, seq))
    if size is not None:
        records = takewhile(lambda record: record.seq <= size, records)
    before: Standing | None = None
    entry: Record | None = None
    hashes: list[bytes] = []
    for record in records:
        if before is None:
            before = opened(record)
        if record.seq == seq:
            entry = record
        hashes.append(record.hash)
    if before is None or entry is None or (size is not None and before.tree.size + len(hashes) != size):
        raise MisuseError(f"entry {seq} is not among the first {size} entries" if size else f"there is no entry {seq}")
    wrong = check_record(entry, seq, entry.prev)
    if wrong is not None:
        raise LedgerError(f"entry {seq} does not hold: {wrong}")
    leaves = Leaves(before.tree, hashes)
    return {
        "meterd_proof": 1,
        "origin": before.origin,
        "entry": entry_with_hash(entry),
        "leaf_index": seq - 1,
        "tree_size": leaves.end,
        "root": leaves.root(leaves.end).hex(),
        "path": [node.hex() for node in leaves.inclusion(seq - 1, leaves.end)],
        "checkpoint": None,
    }


def entry_with_hash(record: Record) -> dict[str, Any]:
    """An entry by the names of its columns, such that its hash can be made again from it."""
    columns = dict(zip(COLUMNS, record[:13], strict=True))
    columns["prev"] = record.prev.hex()
    return {**columns, "hash": record.hash.hex(), "postings": [list(posting) for posting in record.postings]}


# ── export and tail ─────────────────────────────────────────────────────────────────────────────────────────────────


def json_lines(records: Iterable[Record], out: TextIO) -> int:
    """One JSON object a line: an entry by its columns, its body as an object, its postings. Returns how many."""
    count = 0
    for record in records:
        out.write(json.dumps({**entry_with_hash(record), "body": parse(record.body)}, ensure_ascii=False) + "\n")
        count += 1
    return count


def csv_rows(records: Iterable[Record], out: TextIO) -> int:
    """One row for each posting, and one for each entry without any; the body stands in an entry's first row."""
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([*COLUMNS[:12], "prev", "hash", "n", "account", "microcents"])
    count = 0
    for record in records:
        fixed = ["" if value is None else value for value in record[:11]]
        body = [record.body, record.prev.hex(), record.hash.hex()]
        for n, (account, microcents) in enumerate(record.postings, 1):
            writer.writerow([*fixed, *(body if n == 1 else ["", "", ""]), n, account, microcents])
        if not record.postings:
            writer.writerow([*fixed, *body, "", "", ""])
        count += 1
    return count


def between(folder: Path, first: int, last: int | None) -> Iterator[Record]:
    """Entries by their numbers, both ends included."""
    for record in from_volume(folder, volume_of(folder, max(1, first))):
        if last is not None and record.seq > last:
            return
        if record.seq >= first:
            yield record


def last_seq(folder: Path) -> int:
    """The number of the last entry; 0 where there is none.

    Raises:
        LedgerError: it cannot be read.
    """
    path = volume.current_volume(folder) if folder.is_dir() else folder
    try:
        with closing(sqlite.reader(path)) as db:
            (seq,) = db.execute("SELECT coalesce(max(seq), 0) FROM entry").fetchone()
        return int(seq)
    except (sqlite.Error, ValueError) as cause:
        raise LedgerError(f"{path} cannot be read: {sqlite.describe(cause)}") from cause


def follow(folder: Path, after: int, sleep: Callable[[float], None] = time.sleep) -> Iterator[Record]:
    """Entries behind ``after`` as they are committed, from volume to volume, until somebody stops asking."""
    while True:
        for record in between(folder, after + 1, None):
            after = record.seq
            yield record
        sleep(FOLLOW_S)


# ── how it stood ────────────────────────────────────────────────────────────────────────────────────────────────────


def moment(text: str) -> str:
    """A moment as the ledger writes it; without an offset it is UTC.

    Raises:
        MisuseError: it is none.
    """
    try:
        at = datetime.fromisoformat(text)
        at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError) as cause:
        raise MisuseError(f"{text!r} is no entry's number and no moment such as 2026-12-01T13:00:00Z") from cause
    return at.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"  # strftime writes the year 3 as "3"


def seq_at(folder: Path, at_utc: str) -> int:
    """The last entry that was written at a moment or before; by their own times, whatever their order.

    Raises:
        MisuseError: the ledger began later.
        LedgerError: it cannot be read.
    """
    for path in reversed(volume.readable_volumes(folder) if folder.is_dir() else [folder]):
        try:
            with closing(sqlite.reader(path)) as db:
                (seq,) = db.execute("SELECT max(seq) FROM entry WHERE at_utc <= ?", [at_utc]).fetchone()
        except sqlite.Error as cause:
            raise LedgerError(f"{path} cannot be read: {sqlite.describe(cause)}") from cause
        if seq is not None:
            return int(seq)
    raise MisuseError(f"the ledger in {folder} began after {at_utc}")


def standing_at(folder: Path, seq: int) -> Standing:
    """Where the ledger stood behind an entry.

    Raises:
        MisuseError: there is no such entry.
        LedgerError: an entry does not hold.
    """
    records = from_volume(folder, volume_of(folder, seq))
    standing = stand(takewhile(lambda record: record.seq <= seq, records))
    if standing.last.seq != seq:
        raise MisuseError(f"the ledger ends at entry {standing.last.seq}")
    return standing
