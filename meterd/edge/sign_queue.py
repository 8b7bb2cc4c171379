"""What to send to the signs of one line next, and when: pure scheduling, no port and no sleep.

Rule 1: whenever the line is free, the most urgent command of all its signs goes out (:mod:`meterd.edge.sign_state`).
Rule 2: transmissions keep their distance, counted from the end of the last byte; nearer ones vanish without a word. To
a sign that restarts or sounds nothing is said, and the others of its line are not kept waiting.
Rule 3: each meter has one file label on all signs of the line, so signs that show it share one transmission, and a bent
address cannot put another meter's figure on a sign.
Rule 4: signs do not acknowledge: everything is written again every quarter of an hour and when the line comes up, and
those that answer reads are asked for their files first, and once a minute.

Units: ``*_s`` seconds of the monotonic clock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from meterd.config import BusConfig, SignConfig
from meterd.edge.sign_state import CLOSED, LABELS, Shown, SignState, SignWanted, WallTime, amount_cents
from protocols.alpha import (
    NEAREST_MS,
    ClearMemory,
    Command,
    ConfigureMemory,
    ReadInformation,
    ReadMemory,
    ReadString,
    WriteString,
    quiet_ms,
    transmission,
)

REPUSH_S: Final = 900.0  # what a sign missed it shows after a quarter of an hour at the latest
LOOK_S: Final = 60.0  # a sign that answers and lost its files in a power failure is blank no longer than this
CLOCK_S: Final = 3600.0
MARGIN_S: Final = 0.03  # timers, USB adapters and busy machines shorten a pause by this; a lost write shows for long

__all__ = ["CLOSED", "Send", "Shown", "SignQueue", "SignState", "SignWanted", "WallTime", "amount_cents"]


class Send(NamedTuple):
    """One transmission that may go out now, how long the line is quiet after it, and the signs that take it."""

    sign: str
    command: Command
    data: bytes
    quiet_s: float
    signs: tuple[str, ...]


def _no_clock() -> WallTime:
    return WallTime(0, 0, 1)


class SignQueue:
    """All signs of one line: whose turn it is, and when the line is free. ``wall`` tells the floor's time of day."""

    def __init__(self, bus: BusConfig, signs: Sequence[SignConfig], wall: Callable[[], WallTime] = _no_clock) -> None:
        """Begin with an unknown line."""
        meters = list(dict.fromkeys(meter for sign in signs for meter in sign.shows))
        labels = dict(zip(meters, LABELS, strict=False))
        self.signs = {sign.id: SignState(sign, labels) for sign in signs}
        self._wall = wall
        self._character_s = bus.bits_per_character / bus.baud
        self._free_s = float("-inf")
        self._repush_s = self._clock_s = self._look_s = float("inf")
        self._turn = 0
        self._asked: str | None = None
        self._deaf_s: dict[str, float] = {}

    def link_up(self, now_s: float) -> None:
        """The port is open (again). Whoever had it before us, a daemon that was killed perhaps, may just have sent."""
        erasing = any(state.applied != state.plan for state in self.signs.values())
        before_us_ms = quiet_ms(ClearMemory()) if erasing else NEAREST_MS
        self._free_s = max(self._free_s, now_s + before_us_ms / 1000 + MARGIN_S)
        self._repush_s = now_s + REPUSH_S
        self._clock_s = now_s + CLOCK_S
        self._look_s = now_s + LOOK_S
        for state in self.signs.values():
            state.link_up()

    def only_close(self, now_s: float) -> None:
        """The port is open for nothing but CLOSED: whatever memory, pages and clock the signs have is kept."""
        for state in self.signs.values():
            state.only_close()
        self.link_up(now_s)
        for state in self.signs.values():
            state.only_close()

    @property
    def idle(self) -> bool:
        """Whether every sign shows what is wanted."""
        return self._choose(float("inf")) is None

    def wait_s(self, now_s: float) -> float:
        """Seconds until the line has carried its last transmission and kept its distance."""
        return max(0.0, self._free_s - now_s)

    def next(self, now_s: float) -> Send | float:
        """A transmission that may go now, or how many seconds to wait before asking again (or until a wanted value)."""
        if now_s >= self._repush_s:
            self._repush_s = now_s + REPUSH_S
            for state in self.signs.values():
                state.repush()
        if now_s >= self._look_s:
            self._look_s = now_s + LOOK_S
            for state in self.signs.values():
                state.ask()
        if now_s >= self._clock_s:
            self._clock_s = now_s + CLOCK_S
            for state in self.signs.values():
                state.set_clock()
        chosen = self._choose(now_s)
        if chosen is None:
            deaf = [until_s for until_s in self._deaf_s.values() if until_s > now_s]
            return min(self._repush_s, self._clock_s, self._look_s, *deaf) - now_s
        if now_s < self._free_s:
            return self._free_s - now_s
        name, command = chosen
        together = self._together(name, command, now_s)
        if len(together) > 1:
            data = transmission(command, checked=self.signs[name].sign.model.checksum)
        else:
            data = self.signs[name].frame(command)
        return Send(name, command, data, quiet_ms(command) / 1000, together)

    def sent(self, send: Send, now_s: float) -> None:
        """That transmission was handed to the driver."""
        ended_s = now_s + len(send.data) * self._character_s
        answering = isinstance(send.command, ReadInformation | ReadMemory | ReadString)
        self._free_s = ended_s + (send.quiet_s if answering else NEAREST_MS / 1000) + MARGIN_S
        self._turn += 1
        if isinstance(send.command, ReadMemory):
            self._asked = send.sign
        for name in send.signs:
            self._deaf_s[name] = ended_s + send.quiet_s + MARGIN_S
            self.signs[name].sent(send.command, now_s)

    def answered(self, memory: ConfigureMemory) -> str | None:
        """An answer came; it does not say whose, so it is the last asked one's. A sign that has to be set up again."""
        asked, self._asked = self._asked, None
        return asked if asked is not None and self.signs[asked].answered(memory) else None

    def _together(self, name: str, command: Command, now_s: float) -> tuple[str, ...]:
        """The signs one figure may be sent to at once: all that have it, where all should show the same now."""
        if not isinstance(command, WriteString):
            return (name,)
        having = {each: state for each, state in self.signs.items() if state.has(command.label)}
        checksum = self.signs[name].sign.model.checksum
        alike = all(
            state.sign.model.broadcast
            and state.sign.model.checksum == checksum
            and state.wants_in(command.label) == command.text
            and self._deaf_s.get(each, now_s) <= now_s
            for each, state in having.items()
        )
        return tuple(having) if alike else (name,)

    def _choose(self, now_s: float) -> tuple[str, Command] | None:
        """The most urgent command of all signs that hear; among equals, signs take turns."""
        names = list(self.signs)
        wall = self._wall()
        best: tuple[int, int, str, Command] | None = None
        for place, name in enumerate(names):
            if self._deaf_s.get(name, now_s) > now_s:
                continue
            found = self.signs[name].next_command(wall)
            if found is None:
                continue
            turn = (place - self._turn) % len(names)
            if best is None or (found[0], turn) < best[:2]:
                best = (found[0], turn, name, found[1])
        return best[2:] if best else None
