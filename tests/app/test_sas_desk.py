"""Wins that games report: who may, what is written, when it is claimed, and that nothing counts twice."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from test_loop import DEALER, Rig

from meterd.accounting.commands import EndGame, Lock, WagerSeen
from meterd.app.create import create_ledger
from meterd.app.demo_floor import site_text
from meterd.app.inbox import Inbox
from meterd.app.redecide import Judging
from meterd.app.sas import SasDesk
from meterd.app.verify import verify
from meterd.config import Site, load_site
from meterd.edge.catalogue import catalogue
from meterd.edge.store import read_records

SAS = """
[[bus]]
id = "sas-1"
kind = "sas"
port = "/nonexistent/sas-1"
baud = 19200

[[sas]]
bus = "sas-1"
group = 3
levels = ["nexus-1/mega", "nexus-1/major", "tcp-1/main"]
games = [{ address = 1 }, { address = 2, table = "LIR-1", seat = 3 }]
"""
WIN: dict[str, Any] = {
    "op": "sas_win",
    "bus": "sas-1",
    "address": 2,
    "epoch": 1,
    "count": 1,
    "group": 3,
    "level": 1,
    "amount_cents": 5_000_000,
    "said": True,
    "raw": "0285",
}


def made_site() -> Site:
    return load_site(site_text(Path("/nonexistent"), 100, 9477) + SAS, "site.toml", catalogue())


class Desk:
    """A money thread with a desk for wins before it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.site = made_site()
        create_ledger(folder, self.site, demo=True)
        self.rig = Rig(folder, self.site)
        self.desk = SasDesk(self.site, self.rig.loop.inbox, lambda: self.rig.published[-1].seq)

    def win(self, *, uid: int | None = None, **changes: Any) -> dict[str, Any]:
        request = {key: value for key, value in {**WIN, **changes}.items() if value != "leave out"}
        return asyncio.run(self.desk.win(request, os.getuid() if uid is None else uid))

    def lock(self, seat: int = 3) -> None:
        self.rig.up(self.site, "LIR-1")
        assert self.rig.ask(Lock(actor=DEALER, table="LIR-1", wagers=(WagerSeen(seat),))).refusal is None

    def kinds(self) -> list[str]:
        return [record.kind for record in read_records(self.folder) if record.kind in {"GameWin", "Claimed", "Refused"}]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path / "ledger")
    yield made
    made.rig.end()
    judging = Judging()
    report = verify(made.folder, judge=judging.judge)
    assert report.ok, report.first_bad


def test_a_win_at_a_seat_with_a_wager_is_an_award(desk: Desk) -> None:
    """Note and claim are in the ledger when the answer comes; the award waits for a supervisor."""
    desk.lock()
    answer = desk.win()
    assert ("A1", None) == (answer["award"], answer["refused"])
    assert ["GameWin", "Claimed"] == desk.kinds()
    award = desk.rig.loop.book.awards["A1"]
    assert ("LIR-1", 3, "royal-flush", "pending", "game@sas-1/2") == (
        award.table,
        award.seat,
        award.hand,
        award.state_word,
        award.keyed_by,
    )
    assert answer["seq"] == desk.rig.published[-1].snapshot["seq"]
    assert {"sas-1/2": [1, 1]} == desk.rig.published[-1].snapshot["sas"]


@pytest.mark.parametrize(("said", "cents"), [(True, 5_100_000), (False, 5_000_012)])
def test_what_a_game_was_told_is_paid_as_what_a_sign_showed(desk: Desk, said: bool, cents: int) -> None:
    """A figure we said and that stands above the meter is paid, the house adds; one that we never said is not."""
    desk.lock()
    desk.win(amount_cents=5_100_000, said=said)
    award = desk.rig.loop.book.awards["A1"]
    assert (cents, said) == (award.amount_cents, award.sign_above_meter)


def test_a_win_counts_once(desk: Desk) -> None:
    """The same identity again: answered, nothing written; the next number is another win."""
    desk.lock()
    first = desk.win()
    again = desk.win()
    assert first["seq"] == again["seq"]
    assert again["award"] is None
    assert ["GameWin", "Claimed"] == desk.kinds()
    assert "SEAT_ALREADY_CLAIMED" in desk.win(count=2)["refused"]
    assert ["GameWin", "Claimed", "GameWin", "Refused"] == desk.kinds()


@pytest.mark.parametrize(
    "changes",
    [{"address": 1}, {"group": 4}, {"level": 3}, {"level": 32}, {"level": None, "amount_cents": None}],
)
def test_a_win_that_nobody_can_seat_is_a_note(desk: Desk, changes: dict[str, Any]) -> None:
    """No seat, another group, a level of another link, a win nobody could read: written, and not claimed."""
    desk.lock()
    answer = desk.win(**changes)
    assert (True, None, None) == (answer["seq"] > 0, answer["award"], answer["refused"])
    assert ["GameWin"] == desk.kinds()


def test_a_claim_that_the_rules_refuse_leaves_the_note(desk: Desk) -> None:
    """No round, no wager: the refusal is told, and the win stands in the ledger all the same."""
    assert "TABLE_CLOSED" in desk.win()["refused"]
    desk.lock(seat=4)
    assert "SEAT_HAS_NO_WAGER" in desk.win(count=2)["refused"]
    assert desk.rig.ask(EndGame(actor=DEALER, table="LIR-1")).refusal is None
    assert ["GameWin", "Refused", "GameWin", "Refused"] == desk.kinds()
    bodies = [json.loads(record.body) for record in read_records(desk.folder) if record.kind == "GameWin"]
    assert [("nexus-1", "mega", 5_000_000, "0285")] * 2 == [
        (body["link"], body["level"], body["amount_cents"], body["raw"]) for body in bodies
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"bus": "sas-2"},
        {"bus": None},
        {"address": 9},
        {"address": "2"},
        {"epoch": -1},
        {"count": 1.0},
        {"count": True},
        {"group": None},
        {"level": 33},
        {"level": None},
        {"amount_cents": 10_000_000_000},
        {"amount_cents": -1},
        {"amount_cents": "5"},
        {"raw": None},
        {"raw": "0" * 1201},
        {"raw": "leave out"},
    ],
)
def test_what_is_no_win_is_refused(changes: dict[str, Any]) -> None:
    """Nothing is asked of the money thread, and the answer is an error."""
    inbox = Inbox()
    desk = SasDesk(made_site(), inbox, lambda: 0)
    request = {key: value for key, value in {**WIN, **changes}.items() if value != "leave out"}
    assert "no such win" in asyncio.run(desk.win(request, os.getuid()))["error"]
    assert 0 == len(inbox)


def test_only_its_own_users_report_wins(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is in the socket's group may look, not win."""
    assert "may not report wins" in desk.win(uid=os.getuid() + 12_345)["error"]
    monkeypatch.setattr("meterd.app.sas.allowed_uids", lambda: frozenset((os.getuid() + 1,)))
    assert "may not report wins" in desk.win()["error"]
    assert [] == desk.kinds()


def test_a_line_that_was_not_heard_of_is_down(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it said last; before it said anything, too. Strangers tell nothing."""
    down = {"up": False, "games": {"1": False, "2": False}}
    assert {"sas-1": down} == desk.desk.status()
    told = {"bus": "sas-1", "status": {"up": True, "games": {"1": True}, "counts": {"polls": 3}, "other": 1}}
    desk.desk.told(told, os.getuid() + 12_345)
    assert {"sas-1": down} == desk.desk.status()
    desk.desk.told(told, os.getuid())
    status = desk.desk.status()["sas-1"]
    assert (True, {"1": True, "2": False}, {"polls": 3}) == (status["up"], status["games"], status["counts"])
    assert "other" not in status
    clock: Callable[[], float] = __import__("time").monotonic
    monkeypatch.setattr("meterd.app.sas.time.monotonic", lambda: clock() + 16)
    assert not desk.desk.status()["sas-1"]["up"]
