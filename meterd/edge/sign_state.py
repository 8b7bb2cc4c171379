"""One sign: its files and pages, what is wanted, what was written, and what is most urgent to send. No port, no sleep.

Rule 1: a wanted value is a level. Nothing queues up: asked for the next command, a sign names the most urgent
difference between wanted and written, and a value that nobody waits for any more is never sent.
Rule 2: a sign that has just come up shows CLOSED in every figure before it shows any value, since nobody knows what it
showed while we were away. While the money is not heard of, it shows CLOSED too.
Rule 3: a memory configuration erases a sign, so it is sent only when the plan is another than the one remembered, or
when the sign itself says that it has other files: one that was without power for long has none.
Rule 4: what the sign could not hold, or would show cut, becomes CLOSED; a text longer than its STRING would empty it.

Units: ``*_s`` seconds of the monotonic clock; widths in characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from meterd.config import SignConfig
from meterd.config.signs import DISCLOSURE
from protocols.alpha import (
    ClearMemory,
    Command,
    ConfigureMemory,
    ReadMemory,
    ReleasePriority,
    RunSequence,
    SetDay,
    SetTime,
    SetTimeFormat,
    StringFile,
    TextFile,
    WriteString,
    WriteText,
    text_size,
    transmission,
)
from protocols.alpha_pages import Figure, pages, takeover

CLOSED: Final = "CLOSED"
PRIORITY_CHARACTERS_MAX: Final = 100  # the priority file holds 125 bytes, some of them for colour and flashing
LABELS: Final = "abcdefghijklmnopqrstuvwxyz"  # of the meters of one line

_AMOUNT: Final = re.compile(r"([\d,]+)\.(\d\d)$")
#: Urgency of what is due: lower goes first.
_MEMORY, _CLOSING, _WIN, _FELL, _SETUP, _CLOCK, _ROSE, _NOTHING = range(8)


class SignWanted(NamedTuple):
    """What a sign should show: one text per thing shown, in the order of ``shows``; a win that takes the screen.

    ``told``: whether it must say that the house may keep contributions; None: as before.
    """

    seq: int
    values: tuple[str, ...]
    priority: str | None = None
    told: bool | None = None


class Shown(NamedTuple):
    """What a sign last got. ``values`` are None where unknown; no figure is older than entry ``seq`` (-1: unknown)."""

    values: tuple[str | None, ...]
    seq: int
    at_s: float
    priority: str | None = None


class WallTime(NamedTuple):
    """The time of day at the floor; ``day`` 1 is Sunday."""

    hour: int
    minute: int
    day: int


def amount_cents(text: str | None) -> int | None:
    """``$12,345.67`` as cents; None for CLOSED and whatever else is no amount."""
    match = _AMOUNT.search(text or "")
    return int(match[1].replace(",", "")) * 100 + int(match[2]) if match and match[1].strip(",") else None


class SignState:
    """One sign: its files, what is wanted, what was written."""

    def __init__(self, sign: SignConfig, labels: Mapping[tuple[str, str], str]) -> None:
        """Begin unknown, wanting CLOSED. ``labels``: the file label of each meter, the same on all signs of a line."""
        self.sign = sign
        model, count = sign.model, len(sign.shows)
        self.files = [StringFile(labels[meter], model.string_bytes) for meter in sign.shows]
        self._index = {file.label: n for n, file in enumerate(self.files)}
        captions = [_readable(label)[: model.columns] for label in (*sign.labels, *[""] * count)][:count]
        widest = sign.widest or (min(model.columns, model.string_bytes),) * count
        self._figures = [Figure(c, f, w) for c, f, w in zip(captions, self.files, widest, strict=True)]
        self._rooms = [min(model.string_bytes, each.room(model.columns)) for each in self._figures]
        self._lay_out(sign.notice)
        self.applied: str | None = None
        self.too_long = 0
        self._wanted = SignWanted(-1, (CLOSED,) * count)
        self._fitted = (CLOSED,) * count
        self._unheard = False
        self._closing = True
        self._cleared = True
        self._asks, self._asking, self._again = model.answers, False, False
        self._setup: list[Command] = []
        self._clock: list[Callable[[WallTime], Command]] = []
        self._stale: set[int] = set(range(count))
        self._written: list[str | None] = [None] * count
        self._got: list[str | None] = [None] * count
        self._written_at: list[float] = [0.0] * count
        self._seqs = [-1] * count
        self._priority: str | None = None
        self._priority_due = True
        self.shown = Shown((None,) * count, -1, 0.0)

    def _lay_out(self, notice: str | None) -> None:
        """The pages, and the files that hold them. Another layout is another plan, so the sign will be set up again."""
        self._told = notice is not None
        self.pages = pages(self._figures, self.sign.model.columns, notice)
        self.memory = ConfigureMemory((*(TextFile(p.label, text_size(p)) for p in self.pages), *self.files))
        self.sequence = RunSequence("".join(page.label for page in self.pages))

    @property
    def plan(self) -> str:
        """The memory plan as it is remembered: the frames that make it, in hexadecimal, without their checksums."""
        target = self.sign.model.type_code, self.sign.model.address
        plan: list[Command] = [self.memory, *self.pages, self.sequence]
        return "".join(f"{transmission(each, *target).hex()}\n" for each in plan)

    def want(self, wanted: SignWanted) -> bool:
        """Take a newer wanted value; False if it is older than the one held."""
        if wanted.seq < self._wanted.seq:
            return False
        self._wanted = wanted
        if wanted.told not in {None, self._told}:
            self._lay_out(DISCLOSURE if wanted.told else None)
            self._cleared = False
        self._refit()
        return True

    def unheard(self, unheard: bool) -> None:
        """Whether nothing has been heard of the money for too long: CLOSED until it is, then what is wanted."""
        self._unheard = unheard
        self._refit()

    def close(self) -> None:
        """Want CLOSED in every figure and no message."""
        self._clock.clear()
        self.want(SignWanted(self._wanted.seq, (CLOSED,) * len(self.files)))

    def only_close(self) -> None:
        """Leave memory, pages and clock as they may be; nothing but CLOSED is to be sent."""
        self.applied = self.plan
        self._asking = False
        self._setup.clear()
        self.close()

    def link_up(self) -> None:
        """The line works again: trust nothing, close every figure first."""
        self._closing = True
        self._cleared = False
        self.repush()
        self.set_clock()
        self._written = [None] * len(self.files)

    def repush(self) -> None:
        """Write everything again, without closing it in between."""
        self.ask()
        self._stale = set(range(len(self.files)))
        self._setup = [*self.pages, self.sequence]
        self._priority_due = True

    def ask(self) -> None:
        """Ask which files it has, when nothing is urgent; of one that was just erased there is nothing to ask."""
        self._asking = self._asks and self.applied == self.plan

    def set_clock(self) -> None:
        """Set its clock when nothing is urgent."""
        if self.sign.model.clock:
            self._clock = [lambda _now: SetTimeFormat(), lambda now: SetDay(now.day), _set_time]

    def next_command(self, wall: WallTime) -> tuple[int, Command] | None:
        """The most urgent thing to send, with its urgency (lower first); None when the sign shows what is wanted.

        What closes, wins or falls goes before a page that is only written again: nobody may wait for that with a figure
        above its meter.
        """
        if self.applied != self.plan:
            return _MEMORY, self.memory if self._cleared else ClearMemory()
        if self._closing and self._stale:
            return _CLOSING, WriteString(self.files[min(self._stale)].label, CLOSED)
        due = [(self._urgency(n), self._written_at[n], n) for n in self._differing()]
        urgency, _, index = min(due, default=(_NOTHING, 0.0, 0))
        priority = self._message()
        if urgency > _WIN and (self._priority_due or priority != self._priority):
            return _WIN, self._takeover(priority)
        if urgency > _FELL and (other := self._upkeep(wall)) is not None:
            return other
        if urgency == _NOTHING:
            return None
        return urgency, WriteString(self.files[index].label, self._fitted[index])

    def _upkeep(self, wall: WallTime) -> tuple[int, Command] | None:
        """Is its memory as we left it, its pages, its clock: before what rises, which on a busy floor is always due."""
        if self._asking:
            return _SETUP, ReadMemory()
        if self._setup:
            return _SETUP, self._setup[0]
        return (_CLOCK, self._clock[0](wall)) if self._clock else None

    def wants_in(self, label: str) -> str | None:
        """What the STRING of this label should hold now; None while its memory is not set up, or without such a one."""
        if self.applied != self.plan or label not in self._index:
            return None
        return CLOSED if self._closing else self._fitted[self._index[label]]

    def has(self, label: str) -> bool:
        """Whether the sign has this STRING."""
        return label in self._index

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
                self._asking = False  # a sign that was just erased says nothing for some seconds
            case ReadMemory():
                self._asking = False
            case WriteText("0") | ReleasePriority():
                self._priority, self._priority_due = self._message(), False
            case WriteText() | RunSequence():
                self._setup.pop(0)
            case WriteString(label, text):
                self._took(self._index[label], text, at_s)
            case SetTimeFormat() | SetDay() | SetTime():
                self._clock.pop(0)
            case _:
                pass
        self._look(at_s)

    def answered(self, memory: ConfigureMemory) -> bool:
        """The sign says which files it has; whether ours are not among them, so that it has to be set up again.

        A sign that says so again after that lists its files otherwise than we know: it is not asked any more, for each
        time it would be erased.
        """
        listed = {file.label for file in memory.files}
        if self.applied != self.plan or {file.label for file in self.memory.files} <= listed:
            self._again = False
            return False
        self._asks = self._asks and not self._again
        if not self._asks:
            return False
        self._again = True
        self.applied = None
        self._cleared = False
        return True

    def frame(self, command: Command) -> bytes:
        """The bytes of a command to this sign."""
        model = self.sign.model
        return transmission(command, model.type_code, model.address, checked=model.checksum)

    def _refit(self) -> None:
        """What each figure should hold, of what is wanted."""
        values = [*self._wanted.values, *[CLOSED] * len(self.files)][: len(self.files)]
        fitted = [self._fit(value, room) for value, room in zip(values, self._rooms, strict=True)]
        self._fitted = (CLOSED,) * len(self.files) if self._unheard else tuple(fitted)
        self._look(self.shown.at_s)

    def _message(self) -> str | None:
        return None if self._unheard else self._wanted.priority

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
        if self._fitted[index] == CLOSED:
            return _CLOSING
        before, after = amount_cents(self._written[index]), amount_cents(self._fitted[index])
        return _FELL if before is not None and after is not None and after < before else _ROSE

    def _fit(self, text: str, room: int) -> str:
        """``text`` if the sign can hold and show all of it, else CLOSED."""
        if len(text) <= room and all(" " <= character <= "~" for character in text):
            return text
        self.too_long += text != CLOSED
        return CLOSED

    def _takeover(self, text: str | None) -> Command:
        """The message that takes the screen, or the end of it."""
        if text is None:
            return ReleasePriority()
        return takeover(_readable(text)[:PRIORITY_CHARACTERS_MAX], self.sign.model.columns)


def _set_time(now: WallTime) -> Command:
    return SetTime(now.hour, now.minute)


def _readable(text: str) -> str:
    """``text`` with ``?`` for what a sign cannot show."""
    return "".join(c if " " <= c <= "~" else "?" for c in text)
