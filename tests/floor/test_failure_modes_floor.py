"""Failure modes whose cure lies behind the wires: what an event is, and that it counts once."""

from __future__ import annotations

from typing import Any

from cures import failure_mode

from meterd.accounting.commands import Event, Lock, WagerSeen
from meterd.accounting.entries import Kind
from protocols.events import DeviceDown, InputStuck


@failure_mode(13, "event-identity")
def test_mode_13_a_lock_told_twice_locks_once(make_floor: Any) -> None:
    """A retry, a repeater, a death between disk and lamp: the event is known by its identity, the first stands."""
    floor = make_floor().open()
    floor.chips(2)
    floor.lock_button()
    (locked,) = [entry for entry in floor.entries if entry.kind is Kind.LOCKED]
    event = Event(*_parts(locked.event_id))
    floor.clear_chips()
    floor.press("end-game")
    again = Lock(actor=floor_actor(floor), table="T1", event=event, wagers=(WagerSeen(3),))
    decision = floor.decide(again)
    assert () == decision.entries
    assert "OPEN" == floor.table.state.value
    assert 1 == sum(entry.kind is Kind.LOCKED for entry in floor.entries)


def floor_actor(floor: Any) -> Any:
    """Whoever presses the table's lock button."""
    return floor.session._dealer


def _parts(event_id: str) -> tuple[str, int, int]:
    name, epoch, count = event_id.rsplit(":", 2)
    return name, int(epoch), int(count)


def test_a_bounced_sensor_is_one_wager(floor: Any) -> None:
    """A chip that bounces on its sensor moves the counter several times: the seat has one wager."""
    floor.sensors.set(1, True)
    floor.sensors.pulse(1, 4)
    floor.poll(floor.sensors)
    assert ".b" == floor.lamps[:2]
    floor.lock_button()
    (locked,) = [entry for entry in floor.entries if entry.kind is Kind.LOCKED]
    assert [2] == [wager["seat"] for wager in locked.body["wagers"]]


def test_a_stuck_sensor_is_one_alarm_and_its_seat_no_wager(floor: Any) -> None:
    """The alarm names the input and the seat; the level stands as off, so LOCK takes the others alone."""
    floor.chips(1, 2)
    floor.sensors.levels[1] = False  # what the driver makes of an input that does not let go
    floor.poll(floor.sensors)
    floor.send(InputStuck("pit/40", 1, 3600))
    alarm = floor.entries[-1]
    assert (Kind.UNREASONABLE, "stuck_input") == (alarm.kind, alarm.body["reason"])
    assert "pit/40/di1 (seat 2) on for 3600 s" == alarm.body["detail"]
    assert "b." == floor.lamps[:2]
    floor.sensors.pulse(1, 3)  # it chatters: a counter without a level is no chip
    floor.poll(floor.sensors)
    floor.lock_button()
    (locked,) = [entry for entry in floor.entries if entry.kind is Kind.LOCKED]
    assert [1] == [wager["seat"] for wager in locked.body["wagers"]]


def test_the_entry_of_a_loss_says_who_was_found_in_its_place(floor: Any) -> None:
    """A table that closes for a swapped cable says so in the ledger, in words."""
    found = "wanted S1 at pit/40, found S2, which belongs at pit/41"
    floor.send(DeviceDown("pit/40", "serial", found))
    lost = next(entry for entry in floor.entries if entry.kind is Kind.DEVICE_LOST)
    assert ("serial", found) == (lost.body["cause"], lost.body["found"])
    assert "CLOSED" == floor.table.state.value
