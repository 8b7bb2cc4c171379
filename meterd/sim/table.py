"""A table as its people know it: what they see on lamps and pad, and what their hands can do.

An eye does not see a lamp that is lit for a few milliseconds between two writes, and tells flashing from steady only
after it has looked for a moment. Hands put chips on sensors, press the lock button, press keys and wait for the pad.
Times are seconds of the monotonic clock; they are those of devices and eyes, which no ``--speed`` changes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Final, Protocol

from meterd.sim.journal import Journal
from meterd.sim.modules import Lamp, SimModule
from meterd.sim.plan import TablePlan
from protocols import pad_words

#: An eye sees a steady lamp once it has been so for this long; where the driver itself toggles lamps, for longer.
STEADY_SEEN_S: Final = 0.02
TOGGLED_SEEN_S: Final = 0.4
#: A lock button latches this long.
LOCK_HELD_S: Final = 0.15
#: How long a person waits for the pad before trying something else.
ANSWER_S: Final = 1.5


class Keypad(Protocol):
    """What a person needs of a pad: keys by name, a finger on one of them, and two lines to read."""

    listeners: list[Callable[[float], None]]

    @property
    def key_names(self) -> Mapping[str, int]:
        """Key name → what :meth:`set_input` calls it."""

    def set_input(self, index: int, *, on: bool, at: float) -> None:
        """A finger comes down, or goes."""

    def text(self) -> tuple[str, ...]:
        """The lines of the display."""


class Table:
    """One table. ``locks`` counts presses of LOCK, naming the round in the log; the button latches ``lock_held_s``."""

    def __init__(
        self,
        plan: TablePlan,
        sensors: SimModule,
        keypad: Keypad,
        journal: Journal,
        *,
        lock_held_s: float = LOCK_HELD_S,
    ) -> None:
        self.plan = plan
        self.sensors = sensors
        self.keypad = keypad
        self.journal = journal
        self.lock_held_s = lock_held_s
        self.locks = 0
        self.lock_at: float | None = None
        self.seats = range(1, min(plan.seats, len(sensors.shape.seats)) + 1)
        self._loop = asyncio.get_running_loop()
        self._lines = ("", "")
        self._raw = dict.fromkeys(self.seats, (Lamp.DARK, 0.0))
        self._seen = dict.fromkeys(self.seats, Lamp.DARK)
        self._settle_s = STEADY_SEEN_S if sensors.shape.flash else TOGGLED_SEEN_S
        self._waiting: list[tuple[Callable[[], bool], asyncio.Future[bool]]] = []
        sensors.listeners.append(self._sensors_changed)
        keypad.listeners.append(self._keypad_changed)
        self._keypad_changed(self._loop.time())

    # ---- eyes

    @property
    def state(self) -> str:
        """Line 1 of the pad."""
        return self._lines[0]

    @property
    def line(self) -> str:
        """Line 2 of the pad."""
        return self._lines[1]

    def is_open(self) -> bool:
        """The pad says betting is open."""
        return self.state.startswith(pad_words.OPEN)

    def is_locked(self) -> bool:
        """The pad says betting is over and the round stands."""
        return self.state.startswith(pad_words.LOCKED)

    def needs_end_game(self) -> bool:
        """The pad says that only END GAME opens the table."""
        return self.state.startswith(pad_words.CLOSED_END_GAME)

    def lamp(self, seat: int) -> Lamp:
        """A seat's lamp, as an eye sees it."""
        return self._seen[seat]

    def chips(self) -> frozenset[int]:
        """Seats with a chip on the sensor."""
        return frozenset(seat for seat in self.seats if self.sensors.input(self.sensors.shape.seats[seat - 1]))

    async def until(self, true: Callable[[], bool], within_s: float) -> bool:
        """Wait for something to be seen; False if it was not within that time."""
        if true():
            return True
        future: asyncio.Future[bool] = self._loop.create_future()
        entry = (true, future)
        self._waiting.append(entry)
        timer = self._loop.call_later(within_s, _give_up, future)
        try:
            return await future
        finally:
            timer.cancel()
            self._waiting.remove(entry)

    # ---- hands

    def put_chip(self, seat: int) -> None:
        """A chip on a seat's sensor."""
        self.sensors.set_input(self.sensors.shape.seats[seat - 1], on=True, at=self._loop.time())

    def lift_chip(self, seat: int) -> None:
        """The sensor is free again."""
        self.sensors.set_input(self.sensors.shape.seats[seat - 1], on=False, at=self._loop.time())

    async def press_lock(self) -> bool:
        """End betting: the lock button, or the LOCK key of a table without one. False: the pad still says OPEN."""
        button = self.sensors.shape.lock
        if button is not None:
            await self.until(lambda: not self.sensors.input(button), ANSWER_S)
        self.locks += 1
        self.lock_at = self._loop.time()
        self.journal.note(
            "lock", self.lock_at, table=self.plan.id, lock=self.locks, seats=sorted(self.chips()), state=self.state
        )
        if button is None:
            await self.press(pad_words.KEY_LOCK)
            return await self.until(lambda: not self.is_open(), ANSWER_S)
        self.sensors.set_input(button, on=True, at=self.lock_at)
        seen = await self.until(lambda: not self.is_open(), ANSWER_S)
        left = self.lock_at + self.lock_held_s - self._loop.time()
        self._loop.call_later(max(0.0, left), self._release_lock, button)
        return seen

    async def press(self, key: str) -> bool:
        """Press one key and hold it until line 2 of the pad answers. False: it did not."""
        index = self.keypad.key_names.get(key)
        if index is None:
            return False
        before, now = self.line, self._loop.time()
        self.journal.counts["keys"] += 1
        self.journal.note("key", now, table=self.plan.id, key=key)
        self.keypad.set_input(index, on=True, at=now)
        try:
            answered = await self.until(lambda: self.line != before, ANSWER_S)
        finally:
            self.keypad.set_input(index, on=False, at=self._loop.time())
        if not answered:
            self.journal.counts["keys_unanswered"] += 1
            self.journal.note("unanswered", table=self.plan.id, key=key)
        return answered

    # ---- what changed

    def _release_lock(self, button: int) -> None:
        self.sensors.set_input(button, on=False, at=self._loop.time())

    def _keypad_changed(self, at: float) -> None:
        first, second, *_ = (*self.keypad.text(), "", "")
        if (first, second) != self._lines:
            self._lines = (first, second)
            self.journal.note("text", at, table=self.plan.id, lines=[first, second])
            self._look()

    def _sensors_changed(self, at: float) -> None:
        for seat in self.seats:
            index = seat - 1
            raw = self.sensors.lamp(self.sensors.shape.lamps[index])
            if raw is not self._raw[seat][0]:
                self._raw[seat] = (raw, at)
                self._lamp_changed(seat, raw, at)
        self._look()

    def _lamp_changed(self, seat: int, raw: Lamp, at: float) -> None:
        """A raw change is seen at once, or once it has lasted."""
        toggled = self.sensors.shape.flash is None
        if toggled and raw is Lamp.STEADY and self._seen[seat] is Lamp.DARK:
            self._see(seat, Lamp.FLASH, at)
        if raw is Lamp.STEADY or (toggled and self._seen[seat] is Lamp.FLASH):
            self._loop.call_at(at + self._settle_s, self._settle, seat, raw, at)
        else:
            self._see(seat, raw, at)

    def _settle(self, seat: int, raw: Lamp, at: float) -> None:
        if self._raw[seat] == (raw, at):
            self._see(seat, raw, at)
            self._look()

    def _see(self, seat: int, lamp: Lamp, at: float) -> None:
        if lamp is self._seen[seat]:
            return
        self._seen[seat] = lamp
        facts: dict[str, float] = {}
        if lamp is Lamp.STEADY:
            ms = None if self.lock_at is None else round((at - self.lock_at) * 1000, 2)
            self.journal.steady(self.plan.id, self.locks, seat, ms)
            facts = {} if ms is None else {"ms": ms}
        self.journal.note("lamp", at, table=self.plan.id, seat=seat, lamp=lamp.value, lock=self.locks, **facts)

    def _look(self) -> None:
        for true, future in self._waiting:
            if not future.done() and true():
                future.set_result(True)


def _give_up(future: asyncio.Future[bool]) -> None:
    if not future.done():
        future.set_result(False)
