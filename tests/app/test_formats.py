"""Ledgers of every format that ever was are read, verified and gone on with; a later one than ours is not touched."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from test_volumes import Shift
from verify_ledger import DEALER, SUPERVISOR

from meterd import second_verifier
from meterd.accounting.commands import Confirm, EndGame
from meterd.app.redecide import Judging
from meterd.app.verify import verify
from meterd.edge import volume
from meterd.edge.store import Store, read_records
from meterd.errors import LedgerError

LEDGERS = Path(__file__).parents[1] / "ledgers"


@pytest.fixture(params=sorted(path.name for path in LEDGERS.iterdir() if path.is_dir()))
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder = tmp_path / "ledger"
    shutil.copytree(LEDGERS / request.param, folder)
    (folder / volume.LINK).symlink_to(volume.volumes(folder)[-1].name)
    return folder


def test_it_verifies_by_both_audits(ledger: Path) -> None:
    """Hashes, fold, stored values, every decision again by the rules of today; and by the second verifier."""
    report = verify(ledger, judge=Judging().judge)
    assert report.ok, report.first_bad
    assert report.entries == len(list(read_records(ledger)))
    assert None is second_verifier.check([ledger], [], [])["first_bad"]


def test_it_goes_on_and_its_next_volume_is_of_the_newest_format(ledger: Path) -> None:
    """Pending awards are confirmed, rounds end, the day ends: the sealed volume stays what it was, the next is new."""
    before = list(read_records(ledger))
    formats = [_format(path) for path in volume.volumes(ledger)]
    shift = Shift(ledger)
    pending = [award for award in shift.book.open_awards if shift.book.awards[award].pending]
    assert pending
    shift.play(Confirm(actor=SUPERVISOR, award=pending[0]))
    shift.end_day(int(shift.book.gaming_day[-2:] or 1))
    shift.play(*[Confirm(actor=SUPERVISOR, award=award) for award in pending[1:]])
    shift.play(*[EndGame(actor=DEALER, table=table) for table in shift.book.tables])
    assert not [award for award in shift.book.open_awards if shift.book.awards[award].pending]
    shift.store.close()
    assert [*formats, volume.FORMAT] == [_format(path) for path in volume.volumes(ledger)]
    assert before == list(read_records(ledger))[: len(before)]
    report = verify(ledger, judge=Judging().judge)
    assert report.ok, report.first_bad


def test_a_later_format_is_refused_by_everybody(ledger: Path) -> None:
    """By a number in the file, before anything of it is read."""
    last = volume.volumes(ledger)[-1]
    with closing(sqlite3.connect(last)) as connection:
        connection.execute(f"PRAGMA user_version = {volume.FORMAT + 1}")
    with pytest.raises(LedgerError, match=f"it is of format {volume.FORMAT + 1}"):
        Store.open(ledger)
    with pytest.raises(LedgerError, match="format"):
        list(read_records(ledger))
    report = verify(ledger)
    assert report.first_bad is not None
    assert "format" in report.first_bad.reason


def _format(path: Path) -> int:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)
