"""What to send to the signs of one line next, and when: pure scheduling, no port and no sleep.

Rule 1: a wanted value is a level. Nothing queues up: whenever the line is free, the most urgent difference between
wanted and written is sent, and a value that nobody waits for any more is never sent.
Rule 2: a sign that has just come up shows CLOSED in every figure before it shows any value, since nobody knows what it
showed while we were away.
Rule 3: a memory configuration erases a sign, so it is sent only when the plan is another than the one remembered.
Rule 4: what the sign could not hold becomes CLOSED; a text longer than its STRING would empty it.
Rule 5: transmissions keep their distance, counted from the end of the last byte; nearer ones vanish without a word.

Units: ``*_s`` seconds of the monotonic clock.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from meterd.config import BusConfig, SignConfig
from protocols.alpha import (
    QUIET_MS,
    ClearMemory,
    Command,
    ConfigureMemory,
    Figure,
    ReleasePriority,
    StringFile,
    TextFile,
    WriteString,
    WriteText,
    figures_text,
    takeover,
    text_size,
    transmission,
)

CLOSED: Final = "CLOSED"
REPUSH_S: Final = 900.0  # a sign never acknowledges; what it missed it shows after a quarter of an hour at the latest
MARGIN_S: Final = 0.03  # timers, USB adapters and busy machines shorten a pause by this; a lost write shows for long
PRIORITY_CHARACTERS_MAX: Final = 100  # the priority file holds 125 bytes, some of them for colour and flashing

_TEXT_LABEL: Final = "A"
_STRING_LABELS: Final = "abcdefghijklmnopqrstuvwxyz"
_AMOUNT: Final = re.compile(r"([\d,]+)\.(\d\d)$")


class SignWanted(NamedTuple):
    """What a sign should show: one text per thing shown, in the order of ``shows``; a win that takes the screen."""

    seq: int
    values: tuple[str, ...]
    priority: str | None = None


class Shown(NamedTuple):
    """What a sign last got. ``values`` are None where unknown; no figure is older than entry ``seq`` (-1: unknown)."""

    values: tuple[str | None, ...]
    seq: int
    at_s: float
    priority: str | None = None


class Send(NamedTuple):
    """One transmission that may go out now, and how long the line is quiet after its last byte."""

    sign: str
    command: Command
    data: bytes
    quiet_s: float


def amount_cents(text: str | None) -> int | None:
    """``$12,345.67`` as cents; None for CLOSED and whatever else is no amount."""
    match = _AMOUNT.search(text or "")
    return int(match[1].replace(",", "")) * 100 + int(match[2]) if match and match[1].strip(",") else None


class SignState:
    """One sign: its files, what is wanted, what was written."""

    def __init__(self, sign: SignConfig) -> None:
        """Begin unknown, wanting CLOSED."""
        self.sign = sign
        count = len(sign.shows)
        self.files = [StringFile(_STRING_LABELS[n], sign.model.string_bytes) for n in range(count)]
        captions = [_readable(label) for label in (*sign.labels, *[""] * count)][:count]
        self.text = figures_text(_TEXT_LABEL, [Figure(c, f) for c, f in zip(captions, self.files, strict=True)])
        self.memory = ConfigureMemory((TextFile(_TEXT_LABEL, text_size(self.text)), *self.files))
        self.applied: str | None = None
        self.too_long = 0
        self._wanted = SignWanted(-1, (CLOSED,) * count)
        self._fitted = (self._fit(CLOSED),) * count
        self._closing = True
        self._cleared = self._text_due = True
        self._stale: set[int] = set(range(count))
        self._written: list[str | None] = [None] * count
        self._got: list[str | None] = [None] * count
        self._written_at: list[float] = [0.0] * count
        self._seqs = [-1] * count
        self._priority: str | None = None
        self._priority_due = True
        self.shown = Shown((None,) * count, -1, 0.0)

    @property
    def plan(self) -> str:
        """The memory plan as it is remembered: the two frames that make it, in hexadecimal."""
        return f"{self.frame(self.memory).hex()}\n{self.frame(self.text).hex()}\n"

    def want(self, wanted: SignWanted) -> bool:
        """Take a newer wanted value; False if it is older than the one held."""
        if wanted.seq < self._wanted.seq:
            return False
        self._wanted = wanted
        values = [*wanted.values, *[CLOSED] * len(self.files)][: len(self.files)]
        self._fitted = tuple(self._fit(value) for value in values)
        self._look(self.shown.at_s)
        return True

    def close(self) -> None:
        """Want CLOSED in every figure and no message."""
        self.want(SignWanted(self._wanted.seq, (CLOSED,) * len(self.files)))

    def link_up(self) -> None:
        """The line works again: trust nothing, close every figure first."""
        self._closing = True
        self._cleared = False
        self.repush()
        self._written = [None] * len(self.files)

    def repush(self) -> None:
        """Write everything again, without closing it in between."""
        self._stale = set(range(len(self.files)))
        self._text_due = self._priority_due = True

    def next_command(self) -> tuple[int, Command] | None:
        """The most urgent thing to send, with its urgency (lower first); None when the sign shows what is wanted."""
        if self.applied != self.plan:
            return (0, self.memory) if self._cleared else (0, ClearMemory())
        if self._closing and self._stale:
            return 1, WriteString(self.files[min(self._stale)].label, self._fit(CLOSED))
        if self._text_due:
            return 1, self.text
        urgent = min(((self._urgency(n), self._written_at[n], n) for n in self._differing()), default=(9, 0.0, 0))
        priority = self._wanted.priority
        if urgent[0] > 3 and (self._priority_due or priority != self._priority):
            return 3, _priority_command(priority)
        if urgent[0] == 9:
            return None
        return urgent[0], WriteString(self.files[urgent[2]].label, self._fitted[urgent[2]])

    def sent(self, command: Command, at_s: float) -> None:
        """A command was handed to the driver."""
        match command:
            case ClearMemory():
                self._cleared = True
            case ConfigureMemory():
                self.applied = self.plan
                self._got = [None] * len(self.files)
                self._seqs = [-1] * len(self.files)
                self.link_up()
            case WriteText("0") | ReleasePriority():
                self._priority, self._priority_due = self._wanted.priority, False
            case WriteText():
                self._text_due = False
            case WriteString(label, text):
                self._took(_STRING_LABELS.index(label), text, at_s)
            case _:
                pass
        self._look(at_s)

    def frame(self, command: Command) -> bytes:
        """The bytes of a command to this sign."""
        return transmission(command, self.sign.model.type_code, self.sign.model.address)

    def _look(self, at_s: float) -> None:
        """Bring ``shown`` up to date: a figure that is as wanted is as new as the newest entry."""
        for index, text in enumerate(self._fitted):
            if self._written[index] == text:
                self._seqs[index] = self._wanted.seq
        self.shown = Shown(tuple(self._got), min(self._seqs, default=-1), at_s, self._priority)

    def _took(self, index: int, text: str, at_s: float) -> None:
        self._written[index] = self._got[index] = text
        self._written_at[index] = at_s
        self._stale.discard(index)
        if self._closing and not self._stale:
            self._closing = False

    def _differing(self) -> list[int]:
        return [n for n, text in enumerate(self._fitted) if n in self._stale or self._written[n] != text]

    def _urgency(self, index: int) -> int:
        """Closing first, then what fell (a sign must not stand above its meter), then what rose."""
        if self._fitted[index] == self._fit(CLOSED):
            return 2
        before, after = amount_cents(self._written[index]), amount_cents(self._fitted[index])
        return 4 if before is not None and after is not None and after < before else 5

    def _fit(self, text: str) -> str:
        """``text`` if the sign can hold and show it, else CLOSED."""
        size = self.sign.model.string_bytes
        if len(text) <= size and all(" " <= character <= "~" for character in text):
            return text
        self.too_long += text != CLOSED
        return CLOSED[:size]


def _priority_command(text: str | None) -> Command:
    """The message that takes the screen, or the end of it."""
    if text is None:
        return ReleasePriority()
    return takeover(_readable(text)[:PRIORITY_CHARACTERS_MAX])


def _readable(text: str) -> str:
    """``text`` with ``?`` for what a sign cannot show."""
    return "".join(c if " " <= c <= "~" else "?" for c in text)


class SignQueue:
    """All signs of one line: whose turn it is, and when the line is free."""

    def __init__(self, bus: BusConfig, signs: Sequence[SignConfig]) -> None:
        """Begin with an unknown line."""
        self.signs = {sign.id: SignState(sign) for sign in signs}
        self._character_s = bus.bits_per_character / bus.baud
        self._free_s = float("-inf")
        self._repush_s = float("inf")
        self._turn = 0

    def link_up(self, now_s: float) -> None:
        """The port is open (again). Whoever had it before us, a daemon that was killed perhaps, may just have sent."""
        erasing = any(state.applied != state.plan for state in self.signs.values())
        before_us_ms = QUIET_MS[ClearMemory if erasing else WriteString]
        self._free_s = max(self._free_s, now_s + before_us_ms / 1000 + MARGIN_S)
        self._repush_s = now_s + REPUSH_S
        for state in self.signs.values():
            state.link_up()

    @property
    def idle(self) -> bool:
        """Whether every sign shows what is wanted."""
        return all(state.next_command() is None for state in self.signs.values())

    def wait_s(self, now_s: float) -> float:
        """Seconds until the line has carried its last transmission and kept its distance."""
        return max(0.0, self._free_s - now_s)

    def next(self, now_s: float) -> Send | float:
        """A transmission that may go now, or how many seconds to wait before asking again (or until a wanted value)."""
        if now_s >= self._repush_s:
            self._repush_s = now_s + REPUSH_S
            for state in self.signs.values():
                state.repush()
        chosen = self._choose()
        if chosen is None:
            return self._repush_s - now_s
        if now_s < self._free_s:
            return self._free_s - now_s
        name, command = chosen
        return Send(name, command, self.signs[name].frame(command), QUIET_MS[type(command)] / 1000)

    def sent(self, send: Send, now_s: float) -> None:
        """That transmission was handed to the driver."""
        self._free_s = now_s + len(send.data) * self._character_s + send.quiet_s + MARGIN_S
        self._turn += 1
        self.signs[send.sign].sent(send.command, now_s)

    def _choose(self) -> tuple[str, Command] | None:
        """The most urgent command of all signs; among equals, signs take turns."""
        names = list(self.signs)
        best: tuple[int, int, str, Command] | None = None
        for place, name in enumerate(names):
            found = self.signs[name].next_command()
            if found is None:
                continue
            turn = (place - self._turn) % len(names)
            if best is None or (found[0], turn) < best[:2]:
                best = (found[0], turn, name, found[1])
        return best[2:] if best else None
