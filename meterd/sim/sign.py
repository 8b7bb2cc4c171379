"""A simulated Alpha sign: it keeps the document's memory rules and shows what a sign would show.

* Clearing or configuring memory erases everything, and the sign is deaf for two seconds.
* A configuration without a bare clear before it is stored and shows nothing.
* A transmission nearer than a quarter of a second after the last one is lost without a word.
* A text longer than its STRING does not get cut: it empties the STRING. Files that were not allocated take nothing.
* The priority message takes the screen until it is released; a message without text holds a blank screen.
* A reset or a tone makes it deaf for seconds. What stands still and is wider than its display is cut.
* It answers reads with the write code of what was read, behind twenty NULs.
Times are seconds of the monotonic clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from meterd.sim.plan import SignPlan
from protocols.alpha import (
    PREAMBLE,
    STRING_MAX,
    CallString,
    ClearMemory,
    Code,
    Command,
    ConfigureMemory,
    Mode,
    Part,
    ReadInformation,
    ReadMemory,
    ReadString,
    ReleasePriority,
    RunSequence,
    SetDay,
    SetTime,
    SetTimeFormat,
    SoftReset,
    StringFile,
    TextFile,
    Tone,
    Transmission,
    WriteString,
    WriteText,
    text_size,
)
from protocols.alpha import transmission as frame
from protocols.alpha_parser import AlphaParser
from protocols.alpha_replies import reply
from protocols.errors import Cause

DEAF_S: Final = 2.0
RESET_S: Final = 9.0
TONE_S: Final = 3.0
POOL: Final = 0x7F00
FILE_OVERHEAD: Final = 13
NEAREST_S: Final = 0.25
#: Timers wake a little early or late; a sender that keeps the pause is not punished for a millisecond.
TOLERANCE_S: Final = 0.005
_ANY_TYPE: Final = "Z"
_ALL: Final = "00"


class Heard(NamedTuple):
    """One transmission and its fate: ``taken``, ``lost`` (too near), ``deaf`` or ``other`` (another sign's)."""

    at: float
    fate: str
    transmission: Transmission


@dataclass
class AlphaSign:
    """One sign. ``listeners`` are called with each :class:`Heard`; ``faults`` counts what went wrong, by cause."""

    plan: SignPlan
    listeners: list[Callable[[Heard], None]] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Begin as out of the box: no files, no message."""
        self._sizes: dict[str, tuple[bool, int]] = {}
        self._texts: dict[str, tuple[Part, ...]] = {}
        self._modes: dict[str, Mode] = {}
        self._strings: dict[str, str] = {}
        self._priority: tuple[Part, ...] | None = None
        self._sequence: str | None = None
        self.clock: list[Command] = []
        self.mute = False
        self._ended = self._deaf_until = float("-inf")
        self._cleared = False
        self._usable = False

    def hear(self, transmission: Transmission, began: float, ended: float, doubt_s: float = 0.0) -> Heard:
        """One whole transmission that took from ``began`` to ``ended`` on the line, or ended ``doubt_s`` earlier.

        What comes after it is judged by the earlier end: only what was certainly too near is lost.
        """
        heard = Heard(ended, self._fate(transmission, began), transmission)
        if heard.fate != "other":
            self._ended = ended - doubt_s
        if heard.fate == "taken":
            for command in transmission.commands:
                self._do(command, ended - doubt_s)
        elif heard.fate != "other":
            self.faults[heard.fate] += 1
        for listener in self.listeners:
            listener(heard)
        return heard

    def shows(self) -> str:
        """The text on the display, figures in their places."""
        if self._priority is not None:
            return self._drawn(self._priority)
        if not self._usable:
            return ""
        labels = self._texts if self._sequence is None else self._sequence
        return " ".join(self._drawn(self._texts[label]) for label in labels if self._texts.get(label))

    def pages(self) -> list[str]:
        """What stands on the display in turn."""
        labels = self._texts if self._sequence is None else self._sequence
        return [self._drawn(self._texts[label]) for label in labels if self._texts.get(label)]

    def answer(self, command: Command) -> bytes:
        """What it says to a read; empty for everything else, and from a sign that does not answer."""
        if self.mute or not self.plan.answers:
            return b""
        match command:
            case ReadInformation():
                free = POOL - sum(size + FILE_OVERHEAD for _, size in self._sizes.values())
                hour, minute = next(((c.hour, c.minute) for c in self.clock[::-1] if isinstance(c, SetTime)), (0, 0))
                return reply(b'E"10404402A0699%02d%02dM00%04X,%04X' % (hour, minute, POOL, free))
            case ReadMemory():
                return reply(b"E$" + self._configuration())
            case ReadString(label):
                return reply(b"G" + (label + self._strings.get(label, "")).encode("ascii"))
            case _:
                return b""

    def power_cut(self) -> None:
        """Somebody pulled its plug for a day: its memory is gone, and nobody is told."""
        self.__post_init__()

    def figures(self) -> dict[str, str]:
        """Each STRING and what it holds; empty where a text too long emptied it."""
        return dict(self._strings)

    def _fate(self, transmission: Transmission, began: float) -> str:
        if self.plan.deaf:
            return "other"
        mine = transmission.type_code in {_ANY_TYPE, self.plan.type_code} or self.plan.type_code == _ANY_TYPE
        if not mine or transmission.address not in {_ALL, self.plan.address}:
            return "other"
        if began < self._deaf_until - TOLERANCE_S:
            return "deaf"
        return "lost" if began < self._ended + NEAREST_S - TOLERANCE_S else "taken"

    def _do(self, command: Command, at: float) -> None:
        match command:
            case ClearMemory():
                self._erase(at)
                self._cleared, self._usable = True, False
            case ConfigureMemory(files):
                usable = self._cleared
                self._erase(at)
                self._cleared, self._usable = False, usable
                self._sizes = {file.label: (isinstance(file, StringFile), file.size) for file in files}
                self._strings = {label: "" for label, (string, _) in self._sizes.items() if string}
                self._texts = {label: () for label, (string, _) in self._sizes.items() if not string}
                if not usable:
                    self.faults["configured without clearing"] += 1
            case WriteText("0", parts):
                self._priority = parts
                self._look(command)
            case WriteText():
                self._write_text(command)
            case WriteString(label, text):
                self._write_string(label, text)
            case ReleasePriority():
                self._priority = None
            case _:
                self._do_special(command, at)

    def _do_special(self, command: Command, at: float) -> None:
        match command:
            case RunSequence(labels):
                self._sequence = labels
            case SoftReset() | Tone():
                self._deaf_until = at + (TONE_S if isinstance(command, Tone) else RESET_S)
            case SetTime() | SetDay() | SetTimeFormat():
                self.clock.append(command)
            case ReadInformation() | ReadMemory() | ReadString():
                pass
            case _:
                self.faults["unknown command"] += 1

    def _erase(self, at: float) -> None:
        self._sizes.clear()
        self._sequence = None
        self._texts.clear()
        self._strings.clear()
        self._deaf_until = at + DEAF_S

    def _look(self, text: WriteText) -> None:
        """What stands still and is wider than the display is cut, in the middle of a figure perhaps."""
        drawn = self._drawn(text.parts)
        if self.plan.columns and text.mode is Mode.HOLD and len(drawn) > self.plan.columns:
            self.faults["cut off"] += 1

    def _configuration(self) -> bytes:
        files = [
            StringFile(label, size) if string else TextFile(label, size)
            for label, (string, size) in self._sizes.items()
        ]
        if not files:
            return b""
        return frame(ConfigureMemory(tuple(files)))[len(PREAMBLE) + 7 : -1]

    def _write_text(self, text: WriteText) -> None:
        string, room = self._sizes.get(text.label, (True, 0))
        if string:
            self.faults["no such file"] += 1
        elif text_size(text) > room:
            self.faults["text too long"] += 1
        else:
            self._texts[text.label] = text.parts
            self._modes[text.label] = text.mode
            self._look(text)

    def _write_string(self, label: str, text: str) -> None:
        string, room = self._sizes.get(label, (False, 0))
        if not string:
            self.faults["no such file"] += 1
        elif len(text) > min(room, STRING_MAX):
            self.faults["emptied"] += 1
            self._strings[label] = ""
        else:
            self._strings[label] = text
            for page, parts in self._texts.items():
                self._look(WriteText(page, parts, self._modes.get(page, Mode.HOLD)))

    def _drawn(self, parts: tuple[Part, ...]) -> str:
        pieces = []
        for part in parts:
            match part:
                case CallString(label):
                    pieces.append(self._strings.get(label, ""))
                case Code():
                    pieces.append(" " if part in {Code.NEW_LINE, Code.NEW_PAGE} else "")
                case _:
                    pieces.append(part)
        return "".join(pieces).strip()


class SignLine:
    """All signs of one line, behind its bytes. ``doubt_s`` says how much earlier the bytes just read may have come."""

    def __init__(self, signs: list[AlphaSign], character_s: float, doubt_s: Callable[[], float] = lambda: 0.0) -> None:
        self.signs = signs
        self._doubt_s = doubt_s
        self._character_s = character_s
        self._parser = AlphaParser()
        self._began: float | None = None

    @property
    def skipped(self) -> Counter[Cause]:
        """Frames that no sign could understand, by cause."""
        return self._parser.skipped

    def serve(self, data: bytes, at: float) -> bytes:
        """Bytes whose last came off the line at ``at``; what the signs say to reads. They never acknowledge a write."""
        said = b""
        if self._began is None:
            self._began = at - len(data) * self._character_s
        for transmission in self._parser.receive(data):
            for sign in self.signs:
                heard = sign.hear(transmission, self._began, at, self._doubt_s())
                if heard.fate == "taken":
                    said += b"".join(sign.answer(command) for command in transmission.commands)
            self._began = at
        if not self._parser.pending:
            self._began = None
        return said
