"""The book of a running daemon is that of its ledger, to the order of what it holds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from test_volumes import Shift, open_round, whole_fold
from verify_ledger import DEALER, a_few_rounds, opening

from meterd.accounting.carry import carried
from meterd.accounting.commands import (
    SYSTEM,
    Claim,
    Command,
    EndGame,
    Event,
    Lock,
    OpenLink,
    OpenTable,
    TrustDevice,
    WagerSeen,
)
from meterd.accounting.journal import LockOp
from meterd.app.create import create_with
from meterd.app.verify import verify
from meterd.errors import LedgerError

DEVICE = "pit-1/60"


@pytest.fixture
def shift(tmp_path: Path) -> Shift:
    """Sixteen inputs are trusted, which a ledger gives back as di0, di1, di10, …; two awards of one round wait."""
    create_with(tmp_path / "ledger", opening())
    shift = Shift(tmp_path / "ledger")
    shift.play(*a_few_rounds())
    counts = {f"{DEVICE}/di{n}": n for n in range(16)}
    trust = TrustDevice(actor=SYSTEM, device=DEVICE, counts=counts, modulus=2**16, tables=("T1",))
    shift.play(
        trust,
        EndGame(actor=DEALER, table="T1"),
        *open_round(),
        Claim(actor=DEALER, table="T1", seat=4, hand="straight-flush"),
    )
    assert 16 == len(shift.book.devices)
    assert len(shift.book.open_awards) > 1
    return shift


def test_what_a_volume_would_begin_with_is_what_its_readers_expect(shift: Shift) -> None:
    """Inputs, levels, seats stand in one order, whether they were just decided or read back."""
    assert carried(whole_fold(shift.store.path.parent)) == carried(shift.book)
    shift.end_day(1)
    folder = shift.store.path.parent
    shift.store.close()
    assert carried(Shift(folder).book) == carried(shift.book)
    report = verify(folder)
    assert report.ok, report.first_bad


def test_a_days_end_cut_short_behind_the_new_volume_is_finished(shift: Shift, monkeypatch: pytest.MonkeyPatch) -> None:
    """The new volume stands, the link does not: the next start makes the same first entry and goes on."""
    folder = shift.store.path.parent

    def cut(_folder: Path, _path: Path) -> None:
        raise OSError("the power goes")

    with monkeypatch.context() as broken:
        broken.setattr("meterd.edge.store.point_to", cut)
        with pytest.raises(LedgerError, match="no new volume"):
            shift.end_day(1)
    shift.store.close()
    again = Shift(folder)
    assert not again.store.sealed
    assert carried(shift.book) == carried(again.book)
    again.store.close()


def test_a_lock_that_overflows_beside_a_pending_award_is_the_same_read_back(tmp_path: Path) -> None:
    """A LOCK is not read back before it enters the book: what it sends on from level to level stands in one order."""
    create_with(tmp_path / "ledger", _overflowing())
    shift = Shift(tmp_path / "ledger")
    one, two = (
        tuple(WagerSeen(seat, event=Event(f"{device}/di{seat}", 1, 5)) for seat in range(1, 8))
        for device in (DEVICE, "pit-2/1")
    )
    shift.play(
        *[OpenTable(actor=SYSTEM, table=table) for table in ("T1", "T2")],
        Lock(actor=DEALER, table="T1", wagers=one),
        Claim(actor=DEALER, table="T1", seat=3, hand="royal-flush"),
        Lock(actor=DEALER, table="T2", wagers=two),
    )
    journal = shift.book.links["nexus"].journal
    assert journal is not None
    assert {"minor", "major"} == {name for op in journal.ops if isinstance(op, LockOp) for name in op.sent}
    assert carried(whole_fold(shift.store.path.parent)) == carried(shift.book)
    shift.end_day(1)
    shift.store.close()
    assert verify(shift.store.path.parent).ok


def _overflowing() -> list[Command]:
    """The floor of the other tests, on which minor and major are at their limits and send on to mega."""
    commands = opening()
    link = next(command for command in commands if isinstance(command, OpenLink))
    levels = tuple(
        level if level.name == "mega" else replace(level, limit_cents=level.seed_cents, overflow="level:mega")
        for level in link.settings.levels
    )
    changed = replace(link, settings=replace(link.settings, levels=levels))
    return [changed if command is link else command for command in commands]
