"""A gaming day ends in the middle of a shift: nothing closes, nothing is lost, an interruption is finished later."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from verify_ledger import DEALER, SUPERVISOR, a_few_rounds, opening, tamper

from meterd.accounting.book import Book
from meterd.accounting.commands import Claim, Command, Confirm, EndGame, Lock, Pay, WagerSeen
from meterd.accounting.state import TableStatus
from meterd.app import volumes as volumes_module
from meterd.app.commit import Committer, Stamp
from meterd.app.create import create_with
from meterd.app.past import follow
from meterd.app.rows import draft_entry
from meterd.app.verify import verify
from meterd.app.volumes import open_standing
from meterd.edge import folder as folder_module
from meterd.edge import sqlite, volume
from meterd.edge import store as store_module
from meterd.edge.store import Store, read_records
from meterd.errors import LedgerError
from meterd.ledger.chain import seal
from meterd.ledger.note import Checkpoint
from meterd.ledger.record import Draft


class Shift:
    """A ledger that is written day by day."""

    def __init__(self, folder: Path) -> None:
        self.store = Store.open(folder)
        standing = open_standing(self.store)
        self.ticks = self.store.seq * 1000
        self.committer = Committer(standing.book, self.store, self.now, standing)
        self.standing = standing
        if self.store.sealed:
            self.committer.begin_volume()

    @property
    def book(self) -> Book:
        return self.committer.book

    def now(self) -> Stamp:
        self.ticks += 1
        return Stamp(
            f"2026-12-01T13:00:{self.ticks // 1_000_000:02d}.{self.ticks % 1_000_000:06d}Z", "boot-1", self.ticks
        )

    def play(self, *commands: Command) -> None:
        for command in commands:
            self.committer.decide(command)
        self.committer.commit()

    def end_day(self, day: int) -> Checkpoint:
        _, checkpoint = self.committer.end_day(f"2026-12-{day:02d}", f"2026-12-{day + 1:02d}")
        assert checkpoint is not None
        return checkpoint


def open_round() -> list[Command]:
    """T1 in a round with a pending jackpot, T2 open with an ended one."""
    wagers = tuple(WagerSeen(seat) for seat in range(1, 6))
    return [
        Lock(actor=DEALER, table="T1", wagers=wagers),
        Claim(actor=DEALER, table="T1", seat=3, hand="royal-flush"),
    ]


def rest_of_round(award: str) -> list[Command]:
    return [
        Claim(actor=DEALER, table="T1", seat=4, hand="straight-flush"),
        Confirm(actor=SUPERVISOR, award=award),
        Pay(actor=SUPERVISOR, award=award),
        EndGame(actor=DEALER, table="T1"),
    ]


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """A ledger in the middle of a round."""
    folder = tmp_path / "ledger"
    create_with(folder, opening())
    shift = Shift(folder)
    shift.play(*a_few_rounds(), *open_round())
    shift.store.close()
    return folder


def whole_fold(folder: Path) -> Book:
    book = Book()
    for record in read_records(folder):
        book.apply(record.seq, record.at_utc, draft_entry(record))
    return book


def names(folder: Path) -> list[str]:
    return [path.name for path in volume.volumes(folder)]


def test_the_day_ends_in_the_middle_of_a_round(ledger: Path) -> None:
    """The round goes on in the next volume as if nothing had been: its jackpot is confirmed there and paid."""
    shift = Shift(ledger)
    award = next(iter(shift.book.open_awards))
    before = {name: (table.state, dict(table.wagers)) for name, table in shift.book.tables.items()}
    assert TableStatus.LOCKED is before["T1"][0]
    for day in (1, 2):
        shift.end_day(day)
        assert before == {name: (table.state, dict(table.wagers)) for name, table in shift.book.tables.items()}
    shift.play(*rest_of_round(award))
    shift.store.close()
    assert 3 == len(names(ledger))
    assert "paid" == shift.book.awards[award].state_word
    again = Shift(ledger)
    assert vars(whole_fold(ledger)) == vars(again.book)
    assert vars(shift.book) == vars(again.book)
    again.store.close()
    report = verify(ledger)
    assert report.ok, report.first_bad
    assert again.store.seq == report.entries
    assert shift.standing.grow().root() == again.standing.grow().root()


def test_a_volume_alone_is_verified_and_begins_with_the_book(ledger: Path) -> None:
    """Its levels, its head and the tree's root are those of the whole walk."""
    shift = Shift(ledger)
    shift.end_day(1)
    shift.play(*rest_of_round(next(iter(shift.book.open_awards))))
    shift.store.close()
    whole, alone = verify(ledger), verify(volume.volumes(ledger)[-1])
    assert whole.ok
    assert alone.ok, alone.first_bad
    assert (whole.head, whole.levels, whole.checkpoint) == (alone.head, alone.levels, alone.checkpoint)
    assert whole.entries == alone.entries + alone.first_seq - 1


STEPS: dict[str, tuple[Any, str]] = {
    "the new file is made": (sqlite, "new_file"),
    "its entry is written": (store_module, "_add"),
    "the file is synced": (store_module, "sync"),
    "the link is swapped": (store_module, "point_to"),
    "the folder is synced": (folder_module, "sync"),
    "the writer opens it": (sqlite, "writer"),
}


class Cut(Exception):  # noqa: N818 - it is a cut, no error of ours
    """The power goes."""


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_an_interrupted_change_of_volumes_is_finished_at_the_next_start(
    ledger: Path, step: str, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut before or after each step: the next start has the same first entry, and the round is still there."""
    shift = Shift(ledger)
    award = next(iter(shift.book.open_awards))
    seq = shift.store.seq
    module, name = STEPS[step]
    original: Callable[..., Any] = getattr(module, name)
    calls = 0

    def cut(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        if module is store_module and name == "_add" and arguments[1][0].kind != "BookCarried":
            return original(*arguments, **options)
        calls += 1
        if when == "after":
            original(*arguments, **options)
        raise Cut

    monkeypatch.setattr(module, name, cut)
    with pytest.raises(Cut):
        shift.end_day(1)
    assert 1 == calls
    with pytest.raises(LedgerError):
        shift.play(*rest_of_round(award))
    os.close(shift.store._lock)
    monkeypatch.undo()
    assert verify(ledger).ok, verify(ledger).first_bad
    again = Shift(ledger)
    assert ["ledger-1.db", f"ledger-{seq + 2}.db"] == names(ledger)
    assert seq + 2 == again.store.seq
    again.play(*rest_of_round(award))
    again.store.close()
    assert verify(ledger).ok, verify(ledger).first_bad
    assert vars(whole_fold(ledger)) == vars(again.book)


CHILD = """
import os, signal, sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from test_volumes import Shift
calls = 0
def trace(event, arguments):
    global calls
    if event in {{"open", "os.rename", "os.symlink", "os.remove", "sqlite3.connect"}}:
        calls += 1
        if calls == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)
shift = Shift(Path(sys.argv[1]))
sys.addaudithook(trace)
shift.end_day(1)
print(calls)
"""


def test_a_killed_change_of_volumes_is_finished_at_the_next_start(ledger: Path, tmp_path: Path) -> None:
    """SIGKILL at each file that is opened, linked or renamed on the way: the same volume stands afterwards."""
    script = CHILD.format(tests=str(Path(__file__).parent))
    heads = set()
    for call in range(1, 40):
        copy = tmp_path / f"copy-{call}"
        subprocess.run(["cp", "-a", str(ledger), str(copy)], check=True)
        done = subprocess.run([sys.executable, "-c", script, str(copy), str(call)], capture_output=True, text=True)  # noqa: PLW1510
        if done.returncode == 0:
            break
        assert -signal.SIGKILL == done.returncode, done.stderr
        assert verify(copy).ok, (call, verify(copy).first_bad)
        assert list(read_records(copy))
        shift = Shift(copy)
        if len(names(copy)) == 1:
            shift.end_day(1)  # it had not come to the reading
        heads.add((shift.store.seq, len(names(copy))))
        shift.store.close()
        assert verify(copy).ok, (call, verify(copy).first_bad)
    assert done.returncode == 0
    assert call > 4
    assert {(verify(ledger).entries + 2, 2)} == heads


def test_what_stands_behind_the_link_is_not_overlooked(ledger: Path) -> None:
    """A link put back to a sealed volume: no start on it, and verify says where the newest one is."""
    shift = Shift(ledger)
    shift.end_day(1)
    shift.play(*rest_of_round(next(iter(shift.book.open_awards))))
    shift.store.close()
    (ledger / volume.LINK).unlink()
    (ledger / volume.LINK).symlink_to("ledger-1.db")
    with pytest.raises(LedgerError, match="does not go on where"):
        Shift(ledger)
    report = verify(ledger)
    assert report.first_bad is not None
    assert "does not lead to the newest volume" in report.first_bad.reason


def test_a_volume_that_is_missing_or_changed_is_named(ledger: Path) -> None:
    """A gap between volumes, a changed row of an old one, a first entry that carries something else."""
    shift = Shift(ledger)
    shift.end_day(1)
    shift.play(*rest_of_round(next(iter(shift.book.open_awards))))
    shift.end_day(2)
    shift.store.close()
    first, second, third = volume.volumes(ledger)
    report = verify(first, third)
    assert report.first_bad is not None
    assert "is missing" in report.first_bad.reason
    tamper(second, "UPDATE entry SET actor = 'x' WHERE seq = (SELECT max(seq) - 1 FROM entry)")
    report = verify(ledger)
    assert report.first_bad is not None
    assert report.file == second
    assert verify(third).ok


def test_a_volume_begins_with_what_the_one_before_left(ledger: Path) -> None:
    """A forged first entry, hashed anew, is found by the walk: it names what it does not carry on."""
    shift = Shift(ledger)
    shift.end_day(1)
    shift.store.close()
    last = volume.volumes(ledger)[-1]
    (record,) = read_records(last)
    forged = record.body.replace('"day":"2026-12-02"', '"day":"2026-12-03"')
    assert forged != record.body
    again = seal(Draft(*record[1:11], forged, record.postings), record.seq, record.prev)
    with closing(sqlite3.connect(last)) as connection:
        (trigger,) = connection.execute("SELECT sql FROM sqlite_schema WHERE name = 'entry_no_update'").fetchone()
        connection.execute("DROP TRIGGER entry_no_update")
        connection.execute("UPDATE entry SET body = ?, hash = ?", (forged, again.hash))
        connection.execute(trigger)
        connection.commit()
    report = verify(ledger)
    assert report.first_bad is not None
    assert record.seq == report.first_bad.seq
    assert "does not carry on what the volume before left: day" in report.first_bad.reason
    assert verify(last).ok, "alone it cannot be told"


@pytest.mark.parametrize("many", [1, 10_000])
def test_every_hash_of_the_open_volume_is_looked_at_before_a_start(
    ledger: Path, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the process itself or by a second one: a row changed far back stops the start, wherever the tail begins."""
    monkeypatch.setattr(volumes_module, "MANY", many)
    monkeypatch.setattr(store_module, "TAIL", 3)
    with closing(Shift(ledger).store) as store:
        root = open_standing(store).grow().root()
    shift = Shift(ledger)
    assert root == shift.standing.grow().root()
    shift.store.close()
    tamper(ledger / "ledger-1.db", "UPDATE entry SET actor = 'me' WHERE seq = 9")
    with closing(Store.open(ledger)) as store, pytest.raises(LedgerError, match="entry 9 does not hold: the hash"):
        open_standing(store)


def test_a_volume_of_another_ledger_is_not_gone_on_with(ledger: Path, tmp_path: Path) -> None:
    """The link leads to a sound volume, and beside it lies one that it does not continue."""
    other = tmp_path / "other"
    create_with(other, opening())
    shift = Shift(other)
    shift.play(*a_few_rounds(), *open_round())
    shift.end_day(1)
    shift.store.close()
    mine = Shift(ledger)
    mine.end_day(1)
    mine.store.close()
    name = names(ledger)[-1]
    assert name == names(other)[-1]
    (other / name).replace(ledger / name)
    with pytest.raises(LedgerError, match=r"does not go on where ledger-1\.db ends"):
        Store.open(ledger)
    assert not verify(ledger).ok


def test_a_reader_follows_from_volume_to_volume(ledger: Path) -> None:
    """Entries come in order and once each, also over the end of a day."""
    shift = Shift(ledger)
    seen: list[int] = []
    after = shift.store.seq
    steps = iter(
        [
            lambda: shift.play(*rest_of_round(next(iter(shift.book.open_awards)))),
            lambda: shift.end_day(1),
            lambda: shift.play(*open_round()),
            lambda: shift.end_day(2),
        ]
    )

    def next_step(_seconds: float) -> None:
        step = next(steps, None)
        if step is None:
            raise Cut
        step()

    with pytest.raises(Cut):
        seen.extend(record.seq for record in follow(ledger, after, next_step))
    assert list(range(after + 1, shift.store.seq + 1)) == seen
    shift.store.close()


def test_a_reader_does_not_keep_the_day_from_ending(ledger: Path) -> None:
    """Somebody reads the old volume from before its end: nobody waits, and its WAL is moved when he has gone."""
    shift = Shift(ledger)
    wal = ledger / "ledger-1.db-wal"
    with closing(sqlite3.connect(f"file:{ledger}/ledger-1.db?mode=ro", uri=True, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        (before,) = reader.execute("SELECT max(seq) FROM entry").fetchone()
        shift.play(*rest_of_round(next(iter(shift.book.open_awards))))
        shift.end_day(1)
        shift.store.checkpoint()
        assert (before,) == reader.execute("SELECT max(seq) FROM entry").fetchone()
        assert wal.stat().st_size
        assert verify(ledger).ok
    shift.store.checkpoint()
    assert not wal.exists()
    shift.store.close()
    assert verify(ledger).ok
    alone = sqlite3.connect(f"file:{ledger}/ledger-1.db?mode=ro&immutable=1", uri=True)
    with closing(alone):
        assert "DayRead" == alone.execute("SELECT kind FROM entry ORDER BY seq DESC LIMIT 1").fetchone()[0]
