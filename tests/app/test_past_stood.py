"""Awards that left the book long ago are shown as they were, out of the sealed volumes; what is missing is said."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from test_volumes import Shift
from verify_ledger import DEALER, SUPERVISOR, opening

from meterd.accounting import rules_day
from meterd.accounting.commands import SYSTEM, Actor, Claim, Confirm, EndGame, Lock, OpenTable, Pay, Role, WagerSeen
from meterd.accounting.commands_pools import OpenFund, PayShare, Post, Rake, Share, WinPool
from meterd.accounting.settings_pools import FundSettings, PoolGame, PoolSettings
from meterd.app.create import create_with
from meterd.app.past import standing_at
from meterd.app.past_stood import as_it_stood
from meterd.cli.main import main
from meterd.edge import volume
from meterd.edge.store import read_records

DAYS = 4
ROUNDS = 3
COUNT = Actor("acc-1", Role.ACCOUNTING)
FUND = FundSettings("cage", PoolGame.POSTED, (PoolSettings("primary", 1_000_000),), take_max_cents=200)


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four days of three small awards and a jackpot of two shares each; a book keeps one settled award, one win."""
    monkeypatch.setattr(rules_day, "SETTLED_KEPT", 1)
    folder = tmp_path / "ledger"
    create(folder)
    shift = Shift(folder)
    shift.play(OpenTable(actor=SYSTEM, table="T1"))
    for day in range(1, DAYS + 1):
        for _ in range(ROUNDS):
            a_round(shift)
        a_jackpot(shift)
        if day < DAYS:
            shift.end_day(day)
    assert shift.book.gone_awards
    assert shift.book.gone_shares
    shift.store.close()
    return folder


def create(folder: Path) -> None:
    create_with(folder, [*opening(), OpenFund(actor=SYSTEM, settings=FUND)])


def a_round(shift: Shift) -> None:
    award = shift.book.award_name()
    shift.play(
        Lock(actor=DEALER, table="T1", wagers=(WagerSeen(1), WagerSeen(2))),
        Claim(actor=DEALER, table="T1", seat=1, hand="full-house"),
        Confirm(actor=SUPERVISOR, award=award),
        Pay(actor=SUPERVISOR, award=award),
        EndGame(actor=DEALER, table="T1"),
    )


def a_jackpot(shift: Shift) -> None:
    shift.play(Rake(actor=DEALER, fund="cage", cents=200), Post(actor=COUNT, fund="cage"))
    before = set(shift.book.fund_awards)
    shares = (Share(500_000), Share(500_000))
    shift.play(WinPool(actor=SUPERVISOR, fund="cage", pool="primary", shares=shares, second=DEALER))
    for share in set(shift.book.fund_awards) - before:
        shift.play(PayShare(actor=SUPERVISOR, award=share))


def numbers(found: dict[str, Any], what: str) -> list[str]:
    return [one["id"] for one in found[what]]


def test_every_award_of_every_moment_is_there(ledger: Path) -> None:
    """At each reading, and now: all awards and shares there ever were, each in the state it had."""
    for record in read_records(ledger):
        if record.kind not in {"DayRead", "BookCarried", "Paid", "SharePaid"}:
            continue
        found = as_it_stood(standing_at(ledger, record.seq), ledger)
        assert {"awards": [], "shares": [], "volumes": []} == found["not_here"]
        assert [f"A{n}" for n in range(1, len(found["awards"]) + 1)] == numbers(found, "awards")
        assert [f"J{n}" for n in range(1, len(found["shares"]) + 1)] == numbers(found, "shares")
        assert {"paid"} >= {one["status"] for one in found["awards"]}
    assert DAYS * ROUNDS == len(found["awards"])
    assert 2 * DAYS == len(found["shares"])
    gone = [one for one in found["awards"] if "left_with" in one]
    assert gone
    assert {"full-house"} == {one["hand"] for one in gone}
    assert all(one["amount_cents"] > 0 and one["parts"] for one in gone)


@pytest.mark.parametrize("lost", [0, 1])
def test_a_volume_that_is_missing_is_named_with_its_awards(ledger: Path, lost: int) -> None:
    """What left with a volume that is here is found, whatever else is gone; the rest is named."""
    whole = as_it_stood(standing_at(ledger, last(ledger)), ledger)
    path = volume.volumes(ledger)[lost]
    reading = max(read_records(path), key=lambda record: record.seq)
    left = json.loads(reading.body)["left"]
    path.unlink()
    found = as_it_stood(standing_at(ledger, last(ledger)), ledger)
    assert [path.name] == found["not_here"]["volumes"]
    assert left["awards"] == found["not_here"]["awards"]
    assert left["shares"] == found["not_here"]["shares"]
    assert [one for one in whole["awards"] if one["id"] not in left["awards"]] == found["awards"]


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_an_entry_of_a_missing_volume_names_the_file(ledger: Path, lost: int) -> None:
    """Not that there is no such entry: there was. Of several files the newest that may hold it is named."""
    gone = volume.volumes(ledger)[lost]
    first = volume.first_seq_of(gone)
    assert first is not None
    gone.unlink()
    for verb in ("at", "export"):
        asked = [str(first + 1)] if verb == "at" else ["--from", str(first + 1)]
        result = CliRunner().invoke(main, ["ledger", verb, str(ledger), *asked])
        assert 2 == result.exit_code, result.output
        assert f"entry {first + 1} stands in {gone.name}, which is not in {ledger}" in result.stderr
    if lost == 0:
        volume.volumes(ledger)[0].unlink()
        result = CliRunner().invoke(main, ["ledger", "at", str(ledger), "2"])
        assert "or in one before it, which is not in" in result.stderr
    result = CliRunner().invoke(main, ["ledger", "at", str(ledger), "0"])
    assert f"there is no entry 0 in {ledger}" in result.stderr


def test_the_open_volume_alone(ledger: Path, tmp_path: Path) -> None:
    """Copied away by itself it tells what it has, and the volume before it is named; the verb says so in words."""
    shutil.copy(volume.volumes(ledger)[-1], tmp_path)
    alone = tmp_path / volume.volumes(ledger)[-1].name
    shown = CliRunner().invoke(main, ["ledger", "at", str(alone), str(last(ledger))])
    assert 0 == shown.exit_code
    before = volume.volumes(ledger)[-2].name
    assert f"They stand in {before} or before, which is missing" in shown.output
    assert f"A{DAYS * ROUNDS} T1 seat 1 full-house" in shown.output
    assert f"J{2 * DAYS} cage/primary" in shown.output
    whole = CliRunner().invoke(main, ["ledger", "at", str(ledger), str(last(ledger))])
    assert "A1 T1 seat 1 full-house" in whole.output
    assert "missing" not in whole.output


def last(folder: Path) -> int:
    return max(record.seq for record in read_records(folder))
