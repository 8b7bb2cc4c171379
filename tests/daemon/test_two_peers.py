"""The same round at the same table, with modules of two makers on the wire; the daemon cannot tell them apart."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from floor_laws import ledger_findings
from floor_rig import LOCK_INPUT, Child, Floor, TableSpec, fold, site_text
from modbus_slaves import PAD, SENSORS, LibmodbusSlave, PymodbusSlave, Slave, lines, lit, set_input

from meterd.config import Profile

TABLE = TableSpec("LIR-1", "let-it-ride", "nexus-1", 7, "pit-1", "keys-1")
LOCKOUT = 8
PEERS = [PymodbusSlave, pytest.param(LibmodbusSlave, marks=pytest.mark.peer)]


class Play:
    """One table, its two modules, and the hands of its people."""

    def __init__(self, floor: Floor, run: Child, sensors: Slave, pad: Slave) -> None:
        self.floor, self.run, self.sensors, self.pad = floor, run, sensors, pad
        keypad = floor.site.tables[0].keypad
        assert keypad is not None
        self._profile: Profile = keypad.profile

    def until(self, true: Callable[[], object], what: str) -> None:
        self.floor.until(true, f"{what}; the pad says {lines(self.pad)}, lamps {self.lamps()}", self.run)

    def says(self, first: str, second: str = "") -> None:
        """Until the pad's lines begin so."""

        def shown() -> bool:
            now = lines(self.pad)
            return now[0].startswith(first) and now[1].startswith(second)

        self.until(shown, f"the pad says {first!r} {second!r}")

    def lamps(self) -> list[str]:
        return [lit(self.sensors, seat - 1) for seat in range(1, 8)]

    def chip(self, *seats: int) -> None:
        for seat in seats:
            set_input(self.sensors, seat - 1, True)

    def press(self, key: str) -> None:
        """A finger stays on a key until the pad shows that it was taken."""
        before, index = lines(self.pad), self._profile.keys[key]
        set_input(self.pad, index, True)
        self.until(lambda: lines(self.pad) != before, f"an answer to {key}")
        set_input(self.pad, index, False)

    def lock(self) -> None:
        set_input(self.sensors, LOCK_INPUT, True)
        self.says("LOCKED")
        set_input(self.sensors, LOCK_INPUT, False)


@pytest.fixture(params=PEERS)
def play(request: pytest.FixtureRequest, make_floor: Callable[..., Floor]) -> Iterator[Play]:
    """The daemon, the relay of the other end with its line times, and behind it the peer's modules."""
    floor = make_floor(tables=(TABLE,), people=False, site=None)
    floor.site_file.write_text(site_text(floor.ports, (TABLE,)), encoding="utf-8")
    for bus in floor.plan["buses"]:
        if bus["kind"] == "modbus":
            bus["device_port"] = f"{bus['port']}-device"
    sim = floor.start_sim()
    with ExitStack() as slaves:
        served = []
        for bus, unit, kind in (("pit-1", 60, SENSORS), ("keys-1", 80, PAD)):
            slave = request.param(f"{floor.ports / bus}-device", unit, kind)
            slave.start()
            slaves.callback(slave.stop)
            served.append(slave)
        run = floor.start_run()
        yield Play(floor, run, *served)
        if run.code is None:
            assert floor.end(run) == 0
        assert floor.end(sim) == 0


def bodies(floor: Floor, *kinds: str) -> list[tuple[str, dict[str, Any]]]:
    return [(record.kind, json.loads(record.body)) for record in floor.records() if record.kind in kinds]


def test_a_round_from_chip_to_end_game(play: Play) -> None:
    """Chips, LOCK, steady lamps, a late chip, a claim, its confirmation, END GAME: all of it in the ledger."""
    play.says("OPEN 0 BETS")
    play.chip(2, 5)
    play.says("OPEN 2 BETS")
    play.until(lambda: play.lamps() == ["dark", "flash", "dark", "dark", "flash", "dark", "dark"], "2 and 5 flash")
    assert not play.sensors.coils[LOCKOUT]

    play.lock()
    play.until(lambda: play.lamps() == ["dark", "steady", "dark", "dark", "steady", "dark", "dark"], "2 and 5 steady")
    play.until(lambda: play.sensors.coils[LOCKOUT], "betting is closed")
    play.says("LOCKED 2 $2.00")
    play.chip(7)
    play.floor.until_kinds(1, "LateBet", play.run)

    play.press("digit-5")
    play.press("hand-1")
    play.says("LOCKED", "S5 H1 50000.24")
    play.press("enter")
    play.says("LOCKED", "WAIT SUPERVISOR")
    play.press("end-game")
    play.says("LOCKED", "NO")
    play.press("supervisor")
    play.says("LOCKED", "CONFIRM A1 S5")
    play.press("enter")
    play.says("LOCKED", "OK A1 CONFIRMED")
    assert play.lamps() == ["dark", "steady", "dark", "dark", "steady", "dark", "dark"]
    play.press("end-game")
    play.says("OPEN CLEAR S2 +2", "OK ENVY 1000.00")
    play.until(lambda: play.lamps() == ["dark"] * 7 and not play.sensors.coils[LOCKOUT], "dark lamps, open table")
    assert play.floor.end(play.run) == 0
    play.until(lambda: play.sensors.coils[LOCKOUT] and lines(play.pad)[0] == "CLOSED", "a closed table")

    story(play.floor)


def story(floor: Floor) -> None:
    """The ledger's account of that round, exactly."""
    lock = ("Locked", "LateBet", "Claimed", "Confirmed", "GameEnded", "Refused")
    told = bodies(floor, *lock)
    assert ["Locked", "LateBet", "Claimed", "Refused", "Confirmed", "GameEnded"] == [kind for kind, _ in told]
    by_kind = dict(told)
    assert [(2, 100, "pit-1/60/di1:1:1"), (5, 100, "pit-1/60/di4:1:1")] == [
        (wager["seat"], wager["cents"], wager["event"]) for wager in by_kind["Locked"]["wagers"]
    ]
    assert by_kind["LateBet"]["seat"] == 7
    assert 0 <= by_kind["LateBet"]["ms_min"] <= by_kind["LateBet"]["ms_max"]
    assert (5, "royal-flush", 5_000_024) == tuple(by_kind["Claimed"][key] for key in ("seat", "hand", "amount_cents"))
    assert by_kind["Refused"]["refusal"] == "ROUND_HAS_OPEN_AWARD"
    records = floor.records()
    events = [(record.kind, record.event_id) for record in records if record.kind in lock]
    assert [
        ("Locked", "pit-1/60/di8:1:1"),
        ("LateBet", "pit-1/60/di6:1:1"),
        ("Claimed", "keys-1/80/di20:1:1"),
        ("Refused", "keys-1/80/di28:1:1"),
        ("Confirmed", "keys-1/80/di20:1:2"),
        ("GameEnded", "keys-1/80/di28:1:2"),
    ] == events
    book = fold(records)
    assert -200 * 1_000_000 == book.balances["drop/LIR-1"]
    assert 5_000_024 * 1_000_000 == book.balances["payable/A1"]
    assert [] == ledger_findings(floor.ledger, records)
