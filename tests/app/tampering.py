# ruff: noqa: S608 - the statements of this file are an attacker's
"""A ledger of three volumes with its checkpoints, and ways to change it that somebody with the files has."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from test_volumes import Shift
from verify_ledger import DEALER, SUPERVISOR, opening

from meterd import second_verifier
from meterd.accounting.commands import (
    SYSTEM,
    Claim,
    Command,
    Confirm,
    EndGame,
    Event,
    LateBet,
    Lock,
    OpenTable,
    WagerSeen,
)
from meterd.app.create import create_with
from meterd.app.verify import Report, verify
from meterd.edge.keys import SigningKey

KEY = SigningKey("riverside-2026", bytes(range(32)))
DAYS = 3
#: Entries without postings that may stand between two that have some, in these ledgers.
NEXT_MAX = 6


def write(folder: Path, entries: int, numbers: random.Random) -> None:
    """So many entries of rounds with late bets and awards, in three gaming days; a checkpoint at the end of each."""
    create_with(folder, opening())
    shift = Shift(folder)
    shift.play(*(OpenTable(actor=SYSTEM, table=table) for table in ("T1", "T2")))
    for day in range(1, DAYS + 1):
        while shift.store.seq < entries * day // DAYS:
            shift.play(*a_round(numbers, shift.store.seq, len(shift.book.awards) + 1))
        note = shift.end_day(day) if day < DAYS else shift.standing.checkpoint  # of the day's reading, the last entry
        (folder / f"checkpoint-{note.size}.txt").write_text(KEY.sign_note(note.text), encoding="utf-8")
    shift.store.close()


def write_unsigned(folder: Path, entries: int) -> Path:
    """The same, always alike, with no checkpoint beside it: what somebody who rewrites all hashes would leave."""
    write(folder, entries, random.Random(7))
    for note in folder.glob("checkpoint-*.txt"):
        note.unlink()
    return folder


def a_round(numbers: random.Random, place: int, award: int) -> list[Command]:
    table = numbers.choice(["T1", "T2"])
    wagers = tuple(WagerSeen(seat) for seat in range(1, numbers.randint(2, 7)))
    commands: list[Command] = [
        Lock(actor=DEALER, table=table, event=Event(f"pit-1/{table}/di7", 1, place + 1), wagers=wagers)
    ]
    if numbers.random() < 0.2:
        late = Event(f"pit-1/{table}/di6", 1, place + 1)
        commands.append(LateBet(actor=SYSTEM, table=table, seat=7, event=late, ms_min=10, ms_max=90))
    if numbers.random() < 0.1:
        hand = numbers.choice(["royal-flush", "straight-flush", "full-house"])
        commands += [Claim(actor=DEALER, table=table, seat=1, hand=hand)]
        commands += [Confirm(actor=SUPERVISOR, award=f"A{award}")]
    return [*commands, EndGame(actor=DEALER, table=table)]


Change = Callable[[Path, random.Random], str]


def _file(folder: Path, numbers: random.Random) -> Path:
    return numbers.choice(sorted(folder.glob("ledger-*.db")))


def _statements(path: Path, *statements: str) -> None:
    """Triggers away, statements, triggers back word for word, as root can."""
    with closing(sqlite3.connect(path)) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)
        for _, sql in triggers:
            connection.execute(sql)
        connection.commit()
        connection.execute("PRAGMA journal_mode=DELETE")


def _seq(path: Path, numbers: random.Random) -> int:
    with closing(sqlite3.connect(path)) as connection:
        low, high = connection.execute("SELECT min(seq), max(seq) FROM entry").fetchone()
    return numbers.randint(low, high)


COLUMNS = {
    "at_utc": "'2030-01-01T00:00:00.000000Z'", "boot": "'another'", "mono_ns": "mono_ns + 1", "kind": "'Stopped '",
    "table_id": "'T9'", "link_id": "'other'", "site": "'elsewhere'", "actor": "'somebody'", "device": "'x'",
    "event_id": "'pit-9/1/di0:1:1'", "body": "body || ' '", "prev": "zeroblob(32)", "hash": "zeroblob(32)",
}  # fmt: skip


def a_column(folder: Path, numbers: random.Random) -> str:
    path = _file(folder, numbers)
    seq, column = _seq(path, numbers), numbers.choice(sorted(COLUMNS))
    _statements(path, f"UPDATE entry SET {column} = {COLUMNS[column]} WHERE seq = {seq}")
    return f"{column} of {seq}"


def a_posting(folder: Path, numbers: random.Random) -> str:
    path = _file(folder, numbers)
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute("SELECT rowid, seq, n FROM posting").fetchall()
    if not found:
        return a_column(folder, numbers)
    row, seq, n = numbers.choice(found)
    changes = ["microcents = microcents + 1", "account = account || 'x'", f"n = {n + 1}", f"seq = {seq + 1}"]
    change = numbers.choice(changes)
    _statements(path, f"UPDATE OR REPLACE posting SET {change} WHERE rowid = {row}")
    return f"posting {n} of {seq}: {change}"


def a_row_less(folder: Path, numbers: random.Random) -> str:
    path = _file(folder, numbers)
    seq = _seq(path, numbers)
    what = [f"DELETE FROM entry WHERE seq = {seq}", f"DELETE FROM posting WHERE seq = {seq}"]
    _statements(path, *what[: numbers.randint(1, 2)])
    return f"entry {seq} removed"


def two_rows_swapped(folder: Path, numbers: random.Random) -> str:
    path = _file(folder, numbers)
    one, other = _seq(path, numbers), _seq(path, numbers)
    if one == other:
        return a_row_less(folder, numbers)
    moves = ((one, -1), (other, one), (-1, other))
    _statements(path, *(f"UPDATE {t} SET seq = {b} WHERE seq = {a}" for t in ("entry", "posting") for a, b in moves))
    return f"{one} and {other} swapped"


def a_row_more(folder: Path, numbers: random.Random) -> str:
    path = _file(folder, numbers)
    with closing(sqlite3.connect(path)) as connection:
        (last,) = connection.execute("SELECT max(seq) FROM entry").fetchone()
    columns = "at_utc, boot, mono_ns, kind, table_id, link_id, site, actor, device, NULL, body, prev, hash"
    _statements(path, f"INSERT INTO entry SELECT {last + 1}, {columns} FROM entry WHERE seq = {last}")
    return f"a copy of {last} behind it"


def a_tail_less(folder: Path, numbers: random.Random) -> str:
    """The cleanest cut there is: the last entries of the last volume, and nothing else."""
    path = max(folder.glob("ledger-*.db"), key=lambda file: int(file.stem[7:]))
    with closing(sqlite3.connect(path)) as connection:
        low, high = connection.execute("SELECT min(seq), max(seq) FROM entry").fetchone()
    seq = numbers.randint(low + 1, high)
    _statements(path, f"DELETE FROM entry WHERE seq >= {seq}", f"DELETE FROM posting WHERE seq >= {seq}")
    return f"everything from {seq} on removed"


def a_volume_less(folder: Path, numbers: random.Random) -> str:
    path = _file(folder, numbers)
    path.unlink()
    files = sorted(folder.glob("ledger-*.db"), key=lambda file: int(file.stem[7:]))
    (folder / "ledger.db").unlink()
    (folder / "ledger.db").symlink_to(files[-1].name)
    return f"{path.name} removed, the link put on {files[-1].name}"


def a_trigger(folder: Path, numbers: random.Random) -> str:
    path = _file(folder, numbers)
    with closing(sqlite3.connect(path)) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        name, sql = numbers.choice(triggers)
        connection.execute(f"DROP TRIGGER {name}")
        if numbers.random() < 0.5:
            connection.execute(sql.replace("RAISE(ABORT, ", "RAISE(FAIL, "))
        connection.commit()
        connection.execute("PRAGMA journal_mode=DELETE")
    return f"{name} of {path.name} dropped or changed"


def a_bit(folder: Path, numbers: random.Random) -> str:
    path = _file(folder, numbers)
    place, bit = numbers.randrange(path.stat().st_size), numbers.randrange(8)
    with path.open("r+b") as file:
        file.seek(place)
        (byte,) = file.read(1)
        file.seek(place)
        file.write(bytes([byte ^ 1 << bit]))
    return f"bit {bit} of byte {place} of {path.name}"


def a_cut_file(folder: Path, numbers: random.Random) -> str:
    path = _file(folder, numbers)
    size = numbers.randrange(path.stat().st_size)
    os.truncate(path, size)
    return f"{path.name} cut to {size} bytes"


def a_checkpoint(folder: Path, numbers: random.Random) -> str:
    path = numbers.choice(sorted(folder.glob("checkpoint-*.txt")))
    text = path.read_text(encoding="utf-8")
    place = numbers.randrange(len(text))
    path.write_text(text[:place] + ("A" if text[place] != "A" else "B") + text[place + 1 :], encoding="utf-8")
    return f"character {place} of {path.name}"


CHANGES: list[Change] = [
    a_column, a_column, a_posting, a_posting, a_row_less, two_rows_swapped, a_row_more, a_tail_less, a_volume_less,
    a_trigger, a_bit, a_bit, a_bit, a_cut_file, a_checkpoint,
]  # fmt: skip


def judge(first: Report, second: dict[str, Any], sound: bytes) -> str | None:
    """Why the two verifiers' words on a changed ledger will not do; None where they will.

    Either both hold it good, and then with the unchanged head; or both find it, at the same row, or at neighbours where
    a page cannot be read, or as a fault of the file.
    """
    if first.ok or second["ok"]:
        if (first.ok, second["ok"], first.head, second["head"]) == (True, True, sound, sound.hex()):
            return None
        return f"only one holds it good: {first.first_bad}, {second['first_bad']}"
    one, other = first.first_bad and first.first_bad.seq, second["first_bad"]["seq"]
    if one is None or other is None or abs(one - other) <= 1:
        return None
    if first.first_bad and "a posting of it or of the next" in first.first_bad.reason and 0 < other - one <= NEXT_MAX:
        return None  # the next one that has postings
    return f"different rows: {first.first_bad}, {second['first_bad']}"


def first_word(folder: Path, notes: list[Path]) -> Report:
    """What the first verifier says of a ledger and its checkpoints."""
    return verify(folder, notes=notes, keys=[str(KEY.public)])


def attempt(
    original: Path, folder: Path, change: Change, numbers: random.Random, sound: bytes
) -> tuple[str, str, str | None]:
    """One change of a copy: what it was, ``found`` or ``no fact``, and what is wrong with the verifiers' words."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(original, folder, symlinks=True)
    what = change(folder, numbers)
    notes = sorted(folder.glob("checkpoint-*.txt"))
    first = first_word(folder, notes)
    second = second_verifier.check([folder], notes, [str(KEY.public)])
    return what, "no fact" if first.ok else "found", judge(first, second, sound)
