"""Anything a wire can say, in any order: no exception, no phantom wager, lamps that are true."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from meterd.accounting.commands import Command, LateBet, Lock
from meterd.accounting.entries import Kind
from meterd.accounting.state import TableStatus
from protocols import pad_words
from protocols.events import DeviceDown, DeviceUp, Reading

MODULES = st.sampled_from(["sensors", "keypad"])
SEAT = st.integers(1, 7)
GAP_MS = st.integers(0, 300)
#: What people do: chips, LOCK, claims, END GAME, keys.
PEOPLE = (
    st.tuples(st.just("chips"), st.sets(SEAT, min_size=1), st.booleans(), GAP_MS),
    st.tuples(st.just("lock"), st.integers(1, 2), st.sets(SEAT, max_size=2)),
    st.tuples(st.just("claim"), SEAT, st.integers(1, 4)),
    st.tuples(st.just("settle")),
    st.tuples(st.just("keys"), st.lists(st.sampled_from(pad_words.KEYS), min_size=1, max_size=2), GAP_MS),
    st.tuples(st.just("keys"), st.sampled_from([[pad_words.KEY_END_GAME], [pad_words.KEY_LOCK]]), GAP_MS),
)
#: What wires and modules do: counters that wrap, jump and fall, losses with or without presses meanwhile, cut readings.
NOISE = (
    st.tuples(
        st.just("noise"),
        st.lists(st.booleans(), min_size=8, max_size=8),
        st.lists(st.sampled_from([0, 0, 0, 0, 1, 2, 250]), min_size=8, max_size=8),
        GAP_MS,
    ),
    st.tuples(st.just("away"), MODULES, st.lists(st.integers(0, 7), max_size=3)),
    st.tuples(st.just("fell"), MODULES),
    st.tuples(st.just("down"), MODULES),
    st.tuples(st.just("up"), MODULES),
    st.tuples(st.just("restart")),
    st.tuples(st.just("cut"), MODULES, st.integers(0, 8)),
)
EVENTS = st.one_of(*PEOPLE, *PEOPLE, *PEOPLE, *PEOPLE, st.one_of(*NOISE), st.tuples(st.just("recover")))


class Watcher:
    """A second, simple memory: when each seat's level was on, and what was accepted."""

    def __init__(self, floor: Any) -> None:
        self.floor = floor
        self.recent: list[set[int]] = [set()]  # seats on in the last sensor readings
        self.used: set[str | None] = set()
        self.read = 0

    def saw(self, levels: list[bool]) -> None:
        self.recent.append({seat for seat in range(1, 8) if levels[seat - 1]})

    def check(self, asked: list[Command]) -> None:
        for command in asked:
            if isinstance(command, Lock):
                for wager in command.wagers:
                    assert any(wager.seat in on for on in self.recent), "a wager that no level ever showed"
            if isinstance(command, LateBet):
                assert command.ms_max == -1 or 0 <= command.ms_min <= command.ms_max
        for entry in self.floor.entries[self.read :]:
            wagers = entry.body["wagers"] if entry.kind is Kind.LOCKED else ()
            for identity in (entry.event_id, *(wager["event"] for wager in wagers)):
                assert identity is None or identity not in self.used, "one edge or press, two entries"
                self.used.add(identity)
        self.read = len(self.floor.entries)
        self.check_view()

    def check_view(self) -> None:
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


class Night:
    """What an event does; each method is one kind of event."""

    def __init__(self, floor: Any) -> None:
        self.floor = floor
        self.watcher = Watcher(floor)

    def play(self, event: tuple[Any, ...]) -> None:
        kind, *details = event
        getattr(self, kind)(*details)

    # ── people ──────────────────────────────────────────────────────────────────────────────────────────────────

    def chips(self, seats: set[int], on: bool, gap_ms: int) -> None:
        for seat in seats:
            self.floor.sensors.set(seat - 1, on)
        self._sensors(gap_ms)

    def lock(self, times: int, seats: set[int]) -> None:
        """The button, and chips that come or go in the same poll."""
        self.floor.sensors.pulse(7, times)
        for seat in seats:
            self.floor.sensors.set(seat - 1, not self.floor.sensors.levels[seat - 1])
        self._sensors(50)

    def claim(self, seat: int, hand: int) -> None:
        for key in (f"digit-{seat}", f"hand-{hand}", pad_words.KEY_ENTER):
            self.keys([key], 50)

    def settle(self) -> None:
        for key in (pad_words.KEY_SUPERVISOR, pad_words.KEY_ENTER):
            self.keys([key], 50)

    def keys(self, names: list[str], gap_ms: int) -> None:
        for name in names:
            self.floor.keypad.pulse(pad_words.KEYS.index(name))
        self.floor.now_ms += gap_ms
        self._send(self.floor.keypad.reading(self.floor.now_ms))

    def recover(self) -> None:
        if not self.floor.session.ready:
            self.up("sensors")
            self.up("keypad")
        self.keys([pad_words.KEY_END_GAME], 50)

    # ── wires and modules ───────────────────────────────────────────────────────────────────────────────────────

    def noise(self, levels: list[bool], steps: list[int], gap_ms: int) -> None:
        self.floor.sensors.levels = list(levels)
        for index, step in enumerate(steps):
            self.floor.sensors.pulse(index, step)
        self._sensors(gap_ms)

    def away(self, name: str, moved: list[int]) -> None:
        self.down(name)
        for index in moved:
            getattr(self.floor, name).pulse(index)
        self.up(name)

    def fell(self, name: str) -> None:
        module = getattr(self.floor, name)
        module.counts = [0] * module.size
        self._send(module.reading(self.floor.now_ms))

    def down(self, name: str) -> None:
        self._send(DeviceDown(getattr(self.floor, name).device, "timeout"))

    def up(self, name: str) -> None:
        module = getattr(self.floor, name)
        self.watcher.saw(self.floor.sensors.levels)
        self._send(DeviceUp(module.device, module.reading(self.floor.now_ms), 65_536))

    def cut(self, name: str, size: int) -> None:
        module = getattr(self.floor, name)
        levels, counts = tuple(module.levels[:size]), tuple(module.counts[:size])
        if name == "sensors":
            self.watcher.saw([*levels, *[False] * 8])
        self._send(Reading(module.device, self.floor.now_ms, self.floor.now_ms, 0, levels, counts))

    def restart(self) -> None:
        self.floor.restart()
        self.up("sensors")
        self.up("keypad")

    def _sensors(self, gap_ms: int) -> None:
        self.watcher.saw(self.floor.sensors.levels)
        self.floor.now_ms += gap_ms
        self._send(self.floor.sensors.reading(self.floor.now_ms))

    def _send(self, event: Reading | DeviceUp | DeviceDown) -> None:
        self.watcher.check(self.floor.send(event))


@settings(max_examples=150, suppress_health_check=list(HealthCheck))  # the fixture is a class: it holds no state
@given(st.lists(EVENTS, min_size=10, max_size=60))
def test_any_sequence_of_readings_gives_no_exception_and_no_phantom_wager(
    make_floor: Callable[..., Any], events: list[tuple[Any, ...]]
) -> None:
    """Random levels, counters that wrap, jump and fall, keys, devices up and down, restarts, readings cut short.

    Each wager in a LOCK was on in a reading, no edge is used twice, steady lamps are the book's wagers, and accounts
    sum to zero after every entry (the floor of the tests insists).
    """
    night = Night(make_floor().open())
    for event in events:
        night.play(event)
