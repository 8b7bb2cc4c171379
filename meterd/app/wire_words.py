"""What passed over a wire, in words: the codecs' reading of each piece, and what a module's inputs mean at its table.

One reader for each kind of line. A reader is given the pieces in order and says what each completes; bytes that belong
to no frame are said to be so, with their number and cause, for that is what a technician looks for. Nothing is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple, Protocol

from meterd.app.wire_modbus import ModbusReader
from meterd.app.wire_sas import SasReader
from meterd.config import Site
from meterd.edge.trace import Head, Piece
from protocols.alpha import (
    CallString,
    ClearMemory,
    Code,
    Command,
    ConfigureMemory,
    ReadInformation,
    ReadMemory,
    ReadString,
    ReleasePriority,
    RunSequence,
    SetDay,
    SetTime,
    SetTimeFormat,
    SoftReset,
    Tone,
    WriteString,
    WriteText,
)
from protocols.alpha_parser import AlphaParser
from protocols.alpha_replies import Information, ReplyParser


class Said(NamedTuple):
    """One thing in words, and when its last byte passed."""

    at_ns: int
    way: str
    words: str


class Reader(Protocol):
    """Pieces in, words out."""

    def read(self, piece: Piece) -> list[str]:
        """What this piece completes."""

    def end(self) -> list[str]:
        """What is left when the wire falls silent."""


def words_of(head: Head, pieces: Iterable[Piece], site: Site | None = None) -> Iterable[Said]:
    """A whole recording in words."""
    reader = reader_for(head, site)
    last: Piece | None = None
    for last in pieces:
        yield from (Said(last.at_ns, last.way, words) for words in reader.read(last))
    if last is not None:
        yield from (Said(last.at_ns, "rx", words) for words in reader.end())


def reader_for(head: Head, site: Site | None = None) -> Reader:
    """The reader for a line; with a site file it knows which seats and keys its modules have."""
    if head.kind == "modbus":
        modules = {module.unit: module for module in site.modules_of(head.bus)} if site is not None else {}
        echo = any(bus.id == head.bus and bus.echo for bus in site.buses) if site is not None else False
        return ModbusReader(modules, echo=echo)
    kinds: dict[str, Callable[[], Reader]] = {"alpha": AlphaReader, "sas": SasReader, "osdp": OsdpReader}
    return kinds.get(head.kind, PlainReader)()


def in_words(reader: Reader, piece: Piece) -> list[str]:
    """What a piece says. A fault of ours costs the words of this piece, not the night that is being watched."""
    try:
        return reader.read(piece)
    except Exception as fault:  # noqa: BLE001 - whatever it is, the next piece may be read
        return [f"{len(piece.data)} bytes that this program cannot put in words: {fault!r}"]


class Changes:
    """Leaves out of a line of questions and answers what was said before: most of it is the same all the time.

    A question is told with its answer, or with the silence behind it, when that is another than the last time.
    """

    def __init__(self) -> None:
        """Begin with nothing said."""
        self._asked: list[Said] = []
        self._answers: dict[str, tuple[str, ...]] = {}

    def of(self, said: list[Said]) -> list[Said]:
        """What is news of the words of one piece."""
        if not said:
            return []
        if said[0].way == "rx":
            asked, self._asked = self._asked, []
            return self._news(asked, said)
        news = self._news(self._asked, said[:-1])  # before its question a reader tells of the silence behind the last
        self._asked = said[-1:]
        return news

    def _news(self, asked: list[Said], answer: list[Said]) -> list[Said]:
        if not answer:
            return []
        question, words = " ".join(each.words for each in asked), tuple(each.words for each in answer)
        if self._answers.get(question) == words:
            return []
        self._answers[question] = words
        return [*asked, *answer]


class PlainReader:
    """A line of a kind that no codec here reads: how many bytes."""

    def read(self, piece: Piece) -> list[str]:
        """The number of bytes."""
        return [f"{len(piece.data)} bytes"]

    def end(self) -> list[str]:
        """Nothing is kept."""
        return []


class AlphaReader:
    """A line of signs: what is said to them, and what they answer."""

    def __init__(self) -> None:
        """Begin with a silent line."""
        self._to, self._from = AlphaParser(), ReplyParser()

    def read(self, piece: Piece) -> list[str]:
        """Commands one way, answers the other."""
        if piece.way == "rx":
            before = self._from.skipped.total()
            said = [_answer_words(answer) for answer in self._from.receive(piece.data)]
            return said + (["not understood"] if self._from.skipped.total() > before else [])
        before, said = self._to.skipped.total(), []
        for heard in self._to.receive(piece.data):
            whom = "all signs" if heard.address == "00" else f"sign {heard.address}"
            said += [f"to {whom}: {alpha_words(command)}" for command in heard.commands]
        return said + (["not understood by any sign"] if self._to.skipped.total() > before else [])

    def end(self) -> list[str]:
        """A frame that was cut."""
        return ["a frame that does not end"] if self._to.pending else []


def alpha_words(command: Command) -> str:
    """One command to a sign."""
    match command:
        case ConfigureMemory(files):
            said = f"set up {len(files)} files: {', '.join(f'{f.label} of {f.size} bytes' for f in files)}"
        case WriteString(label, text):
            said = f"figure {label}: {text}"
        case WriteText(label, parts, mode):
            what = "message" if label == "0" else f"page {label}"
            said = f"{what}, {mode.name.lower()}: {''.join(_part_words(part) for part in parts)}"
        case RunSequence(labels):
            said = f"show pages {' '.join(labels)}"
        case SetTime(hour, minute):
            said = f"the time is {hour:02}:{minute:02}"
        case SetDay(day):
            said = f"today is {_DAYS[day - 1]}"
        case SetTimeFormat(hours_24):
            said = f"show {'24' if hours_24 else '12'} hours"
        case Tone(beeps):
            said = "three beeps" if beeps else "a tone"
        case ReadString(label):
            said = f"what is figure {label}?"
        case _:
            said = _PLAIN_WORDS.get(type(command), f"something else: {command}")
    return said


_DAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_PLAIN_WORDS: Final[Mapping[type[Command], str]] = {
    ClearMemory: "erase everything",
    ReleasePriority: "end of the message",
    SoftReset: "start anew",
    ReadInformation: "what are you?",
    ReadMemory: "which files have you?",
}


def _part_words(part: str | Code | CallString) -> str:
    match part:
        case CallString(label):
            return f"[figure {label}]"
        case Code():
            return ""
    return part


def _answer_words(answer: Information | ConfigureMemory | WriteString) -> str:
    match answer:
        case Information():
            return f"I am firmware {answer.firmware}{answer.revision}, my clock says {answer.clock}"
        case ConfigureMemory(files):
            return f"I have {len(files)} files: {', '.join(f'{f.label} of {f.size} bytes' for f in files) or 'none'}"
        case WriteString(label, text):
            return f"figure {label} is {text}"


_OSDP_COMMANDS: Final = {
    0x60: "poll", 0x61: "who are you?", 0x62: "what can you do?", 0x64: "status?", 0x69: "light", 0x6A: "buzzer",
    0x6B: "text", 0x6E: "line settings", 0x75: "new key", 0x76: "secure channel: challenge",
    0x77: "secure channel: cryptogram",
}  # fmt: skip
_OSDP_REPLIES: Final = {
    0x40: "acknowledged", 0x41: "refused", 0x45: "who I am", 0x46: "what I can do", 0x48: "status", 0x50: "card",
    0x53: "key", 0x76: "secure channel: cryptogram", 0x78: "secure channel: accepted", 0x79: "busy",
}  # fmt: skip
_OSDP_START: Final = 0x53
_OSDP_SECURE_DATA: Final = range(0x15, 0x19)


class OsdpReader:
    """A line of keypads: which pad, what kind of message; what is behind the secure channel stays there."""

    def __init__(self) -> None:
        """Begin with a silent line."""
        self._heard = {"tx": b"", "rx": b""}

    def read(self, piece: Piece) -> list[str]:
        """Whole packets; what stands before one is said to be stray."""
        heard, said = self._heard[piece.way] + piece.data, []
        while (start := heard.find(_OSDP_START)) >= 0 and len(heard) >= start + 6:
            length = int.from_bytes(heard[start + 2 : start + 4], "little")
            if not 8 <= length <= 1440:
                heard = heard[start + 1 :]
                continue
            if len(heard) < start + length:
                break
            if heard[:start].strip(b"\xff"):
                said.append(f"{start} stray bytes")
            said.append(_osdp_words(heard[start : start + length]))
            heard = heard[start + length :]
        self._heard[piece.way] = heard[-2048:]
        return said

    def end(self) -> list[str]:
        """A packet that was cut."""
        return [f"{len(left)} bytes of no packet" for left in self._heard.values() if left.strip(b"\xff")]


def _osdp_words(packet: bytes) -> str:
    address, control = packet[1], packet[4]
    names = _OSDP_REPLIES if address & 0x80 else _OSDP_COMMANDS
    at = 5 + (packet[5] if control & 0x08 else 0)
    if at >= len(packet):
        return f"pad {address & 0x7F}: a packet that is no packet"
    secure = bool(control & 0x08) and packet[6] in _OSDP_SECURE_DATA
    said = names.get(packet[at], f"message {packet[at]:02X}")
    return f"pad {address & 0x7F}, {control & 3}: {said}{', secured' if secure else ''}"
