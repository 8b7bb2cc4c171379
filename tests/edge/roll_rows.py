"""A ledger whose gaming days end all the time, for the tests of crashes. Imported, and run as a child that is killed.

As a child: ``python roll_rows.py FOLDER SYNCHRONOUS COUNT GROUP`` writes ``COUNT`` more entries, ``GROUP`` in a commit,
and tells the number of the last one of each commit. Every command, moment and day's end follows from the number of the
entry alone, so two runs with the same group write the same entries, whatever happens to either: what a crash left must
be a beginning of :func:`expected`.
"""

from __future__ import annotations

import json
import os
import sys
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from meterd import second_verifier
from meterd.accounting.book import Book
from meterd.accounting.commands import (
    SYSTEM,
    Actor,
    Claim,
    Command,
    Confirm,
    CreateLedger,
    DefineTable,
    EndGame,
    Event,
    Lock,
    OpenLink,
    OpenTable,
    Pay,
    Role,
    SetSite,
    WagerSeen,
)
from meterd.accounting.settings import Floor, LevelSettings, LinkSettings, ResetMode, SiteSettings, TableSettings, Ties
from meterd.accounting.state import TableStatus
from meterd.app.commit import Committer, Stamp, resume
from meterd.app.create import create_with
from meterd.app.verify import verify
from meterd.edge.files import paytable
from meterd.edge.store import Store, read_records
from meterd.errors import LedgerError

#: A day ends once its volume holds so many entries behind its first.
DAY: Final = 13
#: What is expected is made this much further than it was asked for.
AHEAD: Final = 200
DEALER: Final = Actor("dealer@T1", Role.DEALER)
SUPERVISOR: Final = Actor("sup-1", Role.SUPERVISOR)


def new_ledger(folder: Path) -> None:
    """One link, one table, nothing played."""
    level = LevelSettings("main", 100_000, 200_000, 10_000, ResetMode.SEED_PLUS_RESERVE, Ties.SEQUENTIAL, Floor.NONE)
    link = LinkSettings("tcp", 100, 1, paytable("co/three-card-poker/progressive-1"), (level,))
    opening: list[Command] = [
        CreateLedger(actor=SYSTEM, site="riverside", currency="USD", demo=False),
        SetSite(actor=SYSTEM, settings=SiteSettings("riverside")),
        OpenLink(actor=SYSTEM, settings=link),
        DefineTable(actor=SYSTEM, settings=TableSettings("T1", "tcp", "three-card-poker", 7)),
        OpenTable(actor=SYSTEM, table="T1"),
    ]
    create_with(folder, opening)


def turn(book: Book) -> Command:
    """What happens next at the table: LOCK, now and then a claim that is confirmed and paid, END GAME."""
    table = book.tables["T1"]
    if table.state is not TableStatus.LOCKED:
        n = book.seq + 1
        wagers = tuple(WagerSeen(seat, event=Event(f"pit-1/40/di{seat - 1}", 1, n)) for seat in (1, 3, 6))
        event = Event("pit-1/40/di8", 1, n)
        return Lock(actor=DEALER, device="pit-1/40", event=event, table="T1", wagers=wagers)
    for name in book.open_awards:
        award = book.awards[name]
        if award.pending:
            return Confirm(actor=SUPERVISOR, award=award.id)
        return Pay(actor=SUPERVISOR, award=award.id)
    if table.round % 2 and not table.awards:
        return Claim(actor=DEALER, table="T1", seat=3, hand="akq-spades")
    return EndGame(actor=DEALER, table="T1")


class Shift:
    """The writer of such a ledger, opened as every start opens one."""

    def __init__(self, folder: Path, synchronous: str = "FULL") -> None:
        self.store = Store.open(folder, synchronous=synchronous)
        self.committer: Committer = resume(self.store, self._now)

    def _now(self) -> Stamp:
        n = self.store.seq + 1
        return Stamp(f"2026-12-01T13:{n // 60 % 60:02d}:{n % 60:02d}.000000Z", "boot-1", n)

    def day_is_over(self) -> bool:
        """Whether the next step ends the day."""
        standing = self.committer._standing
        assert standing is not None
        return self.store.seq - standing.first_seq >= DAY

    def step(self, group: int) -> None:
        """One commit of a group of entries, or the end of a day."""
        if self.day_is_over():
            day = date.fromisoformat(self.committer.book.gaming_day or "2026-12-01")
            _, checkpoint = self.committer.end_day(str(day), str(day + timedelta(days=1)))
            assert checkpoint is not None
            return
        for _ in range(group):
            assert self.committer.decide(turn(self.committer.book)).refusal is None
        self.committer.commit()


class _Undisturbed:
    """A ledger that nothing happens to, and the hashes of its entries."""

    def __init__(self, group: int) -> None:
        self._place = TemporaryDirectory(prefix="meterd-undisturbed-")
        self._folder = Path(self._place.name) / "ledger"
        self._group = group
        self.hashes: list[bytes] = []
        seeded(self._folder)

    def reach(self, entries: int) -> None:
        """Go on until there are so many."""
        shift = Shift(self._folder)
        while shift.store.seq < entries:
            shift.step(self._group)
        shift.store.close()
        self.hashes = [record.hash for record in read_records(self._folder)]


@cache
def _undisturbed(group: int) -> _Undisturbed:
    return _Undisturbed(group)


def expected(entries: int, group: int) -> list[bytes]:
    """The hashes of so many entries that nothing happens to, from :func:`seeded` on."""
    undisturbed = _undisturbed(group)
    if len(undisturbed.hashes) < entries:
        undisturbed.reach(entries + AHEAD)
    return undisturbed.hashes[:entries]


_SEED: list[tuple[str, bytes]] = []


def seeded(folder: Path) -> None:
    """The same new ledger each time: its moments come from a real clock, so it is made once and copied."""
    if not _SEED:
        with TemporaryDirectory(prefix="meterd-seed-") as place:
            new_ledger(Path(place) / "ledger")
            _SEED.append(("ledger-1.db", (Path(place) / "ledger" / "ledger-1.db").read_bytes()))
    folder.mkdir()
    for name, data in _SEED:
        (folder / name).write_bytes(data)
    (folder / "ledger.db").symlink_to("ledger-1.db")


def examine(folder: Path, told: int, group: int, *, twice: bool = False) -> str | None:
    """What a crash did to a ledger that must hold at least the entries told; None where all is well.

    A start is made first, which finishes a change of volumes that was cut short. ``twice``: the second verifier looks
    at the folder as well.
    """
    try:
        Shift(folder).store.close()
        found = [record.hash for record in read_records(folder)]
    except LedgerError as error:
        return f"does not open: {error}"
    if len(found) < told:
        return f"{told} entries were acknowledged, {len(found)} are there"
    if found != expected(len(found), group):
        return "an entry is not the one that was committed"
    report = verify(folder)
    if not report.ok:
        return f"verify: {report.first_bad}"
    if twice:
        second = second_verifier.check([folder])
        if second["first_bad"] is not None:
            return f"second verifier: {json.dumps(second['first_bad'])}"
    return None


def play(folder: Path, synchronous: str, count: int, group: int) -> None:
    """Write and tell, a step at a time; ends as a crash does, untidied."""
    shift = None
    try:
        shift = Shift(folder, synchronous)
        target = shift.store.seq + count
        while shift.store.seq < target:
            if shift.day_is_over():
                os.write(1, b"rolling\n")
            shift.step(group)
            os.write(1, b"acked %d\n" % shift.store.seq)
        os.write(1, b"done\n")
        os._exit(0)
    except LedgerError as error:
        os.write(1, f"failed {error}\n".encode())
    if shift is not None:
        try:
            shift.step(1)
            os.write(1, b"acked %d\n" % shift.store.seq)
        except LedgerError:
            os.write(1, b"refused\n")
    os._exit(0)


def acked(output: str) -> int:
    """The highest number that a child told; 0 where it told none."""
    return max((int(line.split()[1]) for line in output.splitlines() if line.startswith("acked ")), default=0)


def in_a_roll(output: str) -> bool:
    """Whether a child ended between the words that a day ends and the next that all is told."""
    steps = [line for line in output.splitlines() if line.startswith(("acked ", "rolling"))]
    return steps[-1:] == ["rolling"]


if __name__ == "__main__":
    play(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
