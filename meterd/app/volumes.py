"""Volumes: where an open one stands, what the next one begins with, and the step from one to the other.

Rule 1: a volume begins with the whole book, so a start reads the open volume and nothing else.
Rule 2: its first entry is a pure function of the volume before: whoever finishes an interrupted step writes the same.
Rule 3: a writer starts on a volume of which every hash was looked at. That a stored level is what the postings make
        of it, and what lies in the volumes before, is for ``meterd ledger verify``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Final

from meterd.accounting.book import Book
from meterd.accounting.carry import carried, take_over
from meterd.accounting.commands import SYSTEM
from meterd.accounting.entries import Entry, Kind
from meterd.app.rows import Stamp, draft_entry, entry_draft
from meterd.edge import sqlite, volume
from meterd.edge.chain_check import MANY, ChainCheck, check
from meterd.edge.store import SEAL, Store, read_records
from meterd.errors import LedgerError, MeterdError
from meterd.ledger.canonical import canonical, parse
from meterd.ledger.chain import GENESIS, entry_hash, seal
from meterd.ledger.merkle import Tree
from meterd.ledger.note import Checkpoint, origin_of
from meterd.ledger.record import Record

#: Facts of a first entry that depend on the program that wrote it.
_OF_THE_WRITER: Final = frozenset({"format", "book"})
#: Mappings by seat that an older program carried in another order, that of keying.
_UNORDERED: Final = frozenset({"runners", "strike_outs", "bets"})
#: What a first entry tells that the reading before it tells too, and under which name.
_OF_THE_READING: Final = {"levels": "levels", "pools": "pools", "day": "next_day"}
_ADVICE: Final = "run `meterd ledger verify`, keep the files as they are, and restore a verified backup"


@dataclass(slots=True)
class Standing:
    """Where a ledger stands: its book, the tree over its entries, its name, and the open volume's ends.

    ``waiting`` are hashes of the newest entries that the tree has still to take in: a moment in which nobody waits for
    a LOCK is early enough.
    """

    book: Book
    tree: Tree
    origin: str
    first_seq: int
    last: Record
    waiting: list[bytes] = field(default_factory=list)

    def grow(self) -> Tree:
        """The tree over all entries."""
        for digest in self.waiting:
            self.tree.append(digest)
        self.waiting.clear()
        return self.tree

    @property
    def checkpoint(self) -> Checkpoint:
        """The ledger as it stands, to be signed."""
        tree = self.grow()
        return Checkpoint(self.origin, tree.size, tree.root())


def open_standing(
    store: Store,
    known: Mapping[int, bytes] | None = None,
    telling: Callable[[Iterator[Record]], Iterator[Record]] = iter,
) -> Standing:
    """The open volume of a store: every hash of it looked at, its entries folded. ``known`` as in :func:`stand`.

    Raises:
        LedgerError: an entry does not hold, or the ledger is another than a checkpoint says.
    """
    records = store.records()
    first = next(records)
    before = opened(first)
    prev, asked = first.prev if first.seq > 1 else GENESIS, frozenset(known or {})
    checking = None
    if store.seq - first.seq >= MANY:
        checking = ChainCheck(store.path, before.tree, prev, asked, store.seq)
    try:
        standing = stand(chain([first], telling(records)), before)
        if checking is None:
            checked = check(read_records(store.path), before.tree, prev, asked, store.seq)
        else:
            checked = checking.result()
    except LedgerError as cause:
        if checking is not None:
            checking.give_up()
        raise LedgerError(f"{cause}. Nothing is written behind it: {_ADVICE}") from cause
    _require_reading(store.path.parent, first)
    standing.tree = checked.tree
    for size, root in checked.roots.items():
        _compare(size, root, known or {})
    return standing


def _require_reading(folder: Path, first: Record) -> None:
    """The book that a volume begins with is that of the reading before it, as far as that tells and is at hand.

    The checkpoint of that reading does not cover what stands behind it.

    Raises:
        LedgerError: it is not.
    """
    if first.seq == 1:
        return
    facts = parse(first.body)
    try:
        with closing(sqlite.reader(folder / volume.volume_name(facts["sealed"]["first_seq"]))) as db:
            reading = next(volume.rows(db, first.seq - 1))
    except (OSError, sqlite.Error, LedgerError, volume.BadRowError, StopIteration):
        return  # whether all volumes are there and whole is for verification
    odd = ["the hash"]
    if reading.kind == SEAL and (reading.hash, entry_hash(reading)) == (first.prev, first.prev):
        told = draft_entry(reading).body
        odd = [name for name, of in _OF_THE_READING.items() if canonical(facts.get(name)) != canonical(told.get(of))]
    if odd:
        raise LedgerError(
            f"entry {first.seq} does not hold: it does not carry on {', '.join(odd)} of the reading "
            f"before it. Nothing is written behind it: {_ADVICE}"
        )


def stand(records: Iterable[Record], before: Standing | None = None) -> Standing:
    """The fold of one volume from its first entry on; its tree is that before it. Hashes are not looked at.

    Raises:
        LedgerError: an entry does not hold.
    """
    standing = before
    seq = 0
    try:
        for record in records:
            seq = record.seq
            if standing is None:
                standing = opened(record)
            elif seq != standing.last.seq + 1 and record is not standing.last:
                raise _NotOursError(f"it does not follow entry {standing.last.seq}")
            standing.book.apply(seq, record.at_utc, draft_entry(record))
            standing.last = record
    except volume.BadRowError as cause:
        raise LedgerError(f"entry {cause.seq} cannot be read: {cause.reason}") from cause
    except LedgerError:
        raise
    except (MeterdError, ValueError, LookupError, TypeError, AttributeError) as cause:
        words = cause if isinstance(cause, MeterdError | ValueError) else repr(cause)
        raise LedgerError(f"entry {seq} does not hold: {words}") from cause
    if standing is None:
        raise LedgerError("the volume holds no entry")
    return standing


class _NotOursError(ValueError):
    """An entry that cannot stand where it does."""


def opened(record: Record) -> Standing:
    """Where a ledger stands before the first entry of a volume, which says what came before.

    Raises:
        LedgerError: it is no first entry.
    """
    try:
        return _begin(record, draft_entry(record))
    except (MeterdError, ValueError, LookupError, TypeError, AttributeError) as cause:
        raise LedgerError(f"entry {record.seq} does not hold: {cause}") from cause


def _begin(record: Record, entry: Entry) -> Standing:
    if record.seq == 1 and entry.kind is Kind.LEDGER_CREATED:
        return Standing(Book(), Tree(), origin_of(record.site, record.hash), 1, record)
    if entry.kind is not Kind.BOOK_CARRIED:
        raise ValueError(f"a volume begins with the book of those before it, not with {entry.kind.value}")
    tree = carried_tree(entry.body)
    if tree.size != record.seq - 1:
        raise ValueError(f"it carries the tree of {tree.size} entries, not of the {record.seq - 1} before it")
    return Standing(Book(), tree, entry.body["origin"], record.seq, record)


def carried_tree(body: Mapping[str, Any]) -> Tree:
    """The tree over all volumes before, as the first entry of a volume tells it.

    Raises:
        ValueError: frontier and root do not belong together.
    """
    facts = body["tree"]
    tree = Tree(facts["size"], [bytes.fromhex(node) for node in facts["frontier"]])
    if tree.root().hex() != facts["root"]:
        raise ValueError("the frontier of the tree before it does not lead to the root it tells")
    return tree


def _compare(size: int, root: bytes, known: Mapping[int, bytes]) -> None:
    if known.get(size, root) != root:
        raise LedgerError(
            f"the first {size} entries are not those of checkpoint-{size}.txt: this ledger was replaced or changed "
            f"after that checkpoint was made; {_ADVICE}"
        )


def first_facts(standing: Standing) -> dict[str, Any]:
    """The facts of the entry with which the next volume begins: the sealed one, the tree so far, the whole book."""
    last, tree = standing.last, standing.grow()
    return {
        "format": volume.FORMAT,
        "origin": standing.origin,
        "sealed": {"first_seq": standing.first_seq, "last_seq": last.seq, "head": last.hash.hex()},
        "tree": {"size": tree.size, "root": tree.root().hex(), "frontier": [node.hex() for node in tree.frontier]},
        **carried(standing.book),
    }


def next_volume(standing: Standing) -> tuple[Record, Entry]:
    """The first entry of the next volume. Its moment is that of the reading which sealed the one before."""
    last = standing.last
    entry = Entry(Kind.BOOK_CARRIED, SYSTEM.id, body=first_facts(standing))
    draft = entry_draft(entry, Stamp(last.at_utc, last.boot, last.mono_ns), last.site)
    return seal(draft, last.seq + 1, last.hash), entry


def carries(standing: Standing, entry: Entry) -> str | None:
    """Why the first entry of a volume is not what follows from the volume before; None where it is.

    An older program may have written it: fields of ``book`` that it did not know are as if they were at their defaults.
    """
    if standing.last.kind != SEAL:
        return f"the volume before was not sealed: its last entry is {standing.last.kind}"
    return _unlike(first_facts(standing), entry)


def carries_itself(entry: Entry, seq: int, prev: bytes) -> str | None:
    """Why the first entry of a volume, without those before it, cannot be what such an entry is; None where it can."""
    book = Book()
    take_over(book, entry.body)
    tree, sealed = carried_tree(entry.body), entry.body["sealed"]
    facts = {
        "format": volume.FORMAT,
        "origin": entry.body["origin"],
        "sealed": {"first_seq": sealed["first_seq"], "last_seq": seq - 1, "head": prev.hex()},
        "tree": {"size": seq - 1, "root": tree.root().hex(), "frontier": [node.hex() for node in tree.frontier]},
        **carried(book),
    }
    return _unlike(facts, entry) or (
        "the balances it carries over do not sum to zero" if book.residual_microcents() else None
    )


def _unlike(facts: Mapping[str, Any], entry: Entry) -> str | None:
    """What in a first entry is not what follows; only ``book`` may be in an older program's form."""
    expected = parse(canonical(facts))
    odd = sorted(
        name
        for name in (expected.keys() | entry.body.keys()) - _OF_THE_WRITER
        if name not in expected or name not in entry.body or canonical(expected[name]) != canonical(entry.body[name])
    )
    written = entry.body.get("format")
    if isinstance(written, bool) or not isinstance(written, int) or not 2 <= written <= volume.FORMAT:
        odd.append("format")
    if not odd:
        odd = _odd_in_book(facts["book"], entry.body)
    return f"it does not carry on what the volume before left: {', '.join(odd)}" if odd else None


def _odd_in_book(expected: Mapping[str, Any], body: Mapping[str, Any]) -> list[str]:
    """Names in ``book`` under which another book than expected stands, or more than this program reads there."""
    loaded = Book()
    take_over(loaded, body)
    again = _in_order(parse(canonical(carried(loaded)["book"])))
    told, found = _in_order(parse(canonical(expected))), _in_order(body["book"])
    return [
        f"book.{name}"
        for name in sorted(told.keys() | found.keys())
        if name not in told
        or name not in found
        or canonical(told[name]) != canonical(again[name])
        or not _read_whole(found[name], again[name])
    ]


def _in_order(fact: Any) -> Any:
    """A book with its mappings by seat in the order of seats."""
    if isinstance(fact, Mapping):
        return {
            name: sorted(one) if name in _UNORDERED and isinstance(one, list) else _in_order(one)
            for name, one in fact.items()
        }
    return [_in_order(one) for one in fact] if isinstance(fact, list) else fact


def _read_whole(found: Any, again: Any) -> bool:
    """Whether nothing of what was found got lost in reading; what an older program did not write may be missing."""
    if isinstance(found, dict) and isinstance(again, dict):
        return all(name in again and _read_whole(fact, again[name]) for name, fact in found.items())
    if isinstance(found, list) and isinstance(again, list):
        return len(found) <= len(again) and all(map(_read_whole, found, again))
    return type(found) is type(again) and bool(found == again)


def begin(standing: Standing, record: Record, entry: Entry) -> None:
    """Take the first entry of a new volume in."""
    standing.book.apply(record.seq, record.at_utc, entry)
    standing.waiting.append(record.hash)
    standing.first_seq = record.seq
    standing.last = record
