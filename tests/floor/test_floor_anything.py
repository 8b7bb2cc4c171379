"""Anything a wire can say, in any order: no exception, no phantom wager, lamps that are true."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from meterd.accounting.commands import Command, LateBet, Lock
from meterd.accounting.state import TableStatus
from protocols import pad_words
from protocols.events import DeviceDown, DeviceUp, Reading

SEATS = st.lists(st.booleans(), min_size=8, max_size=8)
#: Small steps as presses make them, now and then a fall or a jump, as a restarted or broken module makes them.
STEPS = st.lists(st.sampled_from([0, 0, 0, 1, 1, 2, 300, -1, 65_535]), min_size=8, max_size=8)
KEYS = st.lists(st.sampled_from(range(len(pad_words.KEYS))), max_size=2)
GAP_MS = st.integers(0, 300)
EVENTS = st.one_of(
    st.tuples(st.just("sensors"), SEATS, STEPS, GAP_MS),
    st.tuples(st.just("keys"), KEYS, GAP_MS),
    st.tuples(st.just("down"), st.sampled_from(["sensors", "keypad"])),
    st.tuples(st.just("up"), st.sampled_from(["sensors", "keypad"])),
    st.tuples(st.just("restart")),
    st.tuples(st.just("cut"), st.sampled_from(["sensors", "keypad"]), st.integers(0, 8)),
)


class Watcher:
    """A second, simple memory: when each seat's level was on, and what was accepted."""

    def __init__(self, floor: Any) -> None:
        self.floor = floor
        self.recent: list[set[int]] = [set()]  # seats on in the last sensor readings
        self.used: set[str] = set()

    def saw(self, levels: list[bool]) -> None:
        self.recent.append({seat for seat in range(1, 8) if levels[seat - 1]})

    def check(self, asked: list[Command]) -> None:
        for command in asked:
            match command:
                case Lock():
                    for wager in command.wagers:
                        assert any(wager.seat in on for on in self.recent), "a wager that no level ever showed"
                        assert str(wager.event) not in self.used, "one edge, two wagers"
                        self.used.add(str(wager.event))
                case LateBet():
                    assert command.ms_max == -1 or 0 <= command.ms_min <= command.ms_max
                    assert str(command.event) not in self.used
                    self.used.add(str(command.event))
        view = self.floor.view
        state, wagers = self.floor.table.state, self.floor.table.wagers
        steady = {seat for seat, lamp in enumerate(view.lamps, start=1) if lamp.value == "steady"}
        blink = {seat for seat, lamp in enumerate(view.lamps, start=1) if lamp.value == "blink"}
        assert (set(wagers) if state is TableStatus.LOCKED else set()) == steady
        assert not blink or (state is TableStatus.OPEN and not view.lockout)
        assert blink <= self.recent[-1]
        assert view.lockout or (state is TableStatus.OPEN and self.floor.session.ready)
        assert all(len(line) <= 16 for line in view.text)
        assert view.text[0].split()[0] in {pad_words.OPEN, pad_words.LOCKED, pad_words.CLOSED}


def play(floor: Any, watcher: Watcher, event: tuple[Any, ...]) -> list[Command]:
    match event:
        case ("sensors", levels, steps, gap):
            floor.sensors.levels = list(levels)
            for index, step in enumerate(steps):
                floor.sensors.pulse(index, step)
            watcher.saw(levels)
            floor.now_ms += gap
            return list(floor.send(floor.sensors.reading(floor.now_ms)))
        case ("keys", keys, gap):
            for index in keys:
                floor.keypad.pulse(index)
            floor.now_ms += gap
            return list(floor.send(floor.keypad.reading(floor.now_ms)))
        case ("down", name):
            return list(floor.send(DeviceDown(getattr(floor, name).device, "timeout")))
        case ("up", name):
            module = getattr(floor, name)
            watcher.saw(floor.sensors.levels)
            return list(floor.send(DeviceUp(module.device, module.reading(floor.now_ms), 65_536)))
        case ("cut", name, size):
            module = getattr(floor, name)
            levels = tuple(module.levels[:size])
            watcher.saw([*levels, *[False] * 8])
            reading = Reading(module.device, floor.now_ms, floor.now_ms, 0, levels, tuple(module.counts[:size]))
            return list(floor.send(reading))
        case _:
            floor.restart()
            return []


@settings(max_examples=150)
@given(st.lists(EVENTS, max_size=40))
def test_any_sequence_of_readings_gives_no_exception_and_no_phantom_wager(
    make_floor: Callable[..., Any], events: list[tuple[Any, ...]]
) -> None:
    """Random levels, counters that wrap, jump and fall, keys, devices up and down, restarts, readings cut short.

    Each wager in a LOCK was on in a reading, no edge is used twice, steady lamps are the book's wagers, and accounts
    sum to zero after every entry (the floor of the tests insists).
    """
    floor = make_floor()
    floor.open()
    watcher = Watcher(floor)
    for event in events:
        watcher.check(play(floor, watcher, event))
