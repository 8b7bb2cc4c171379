"""Alpha signs (Adaptive form 9708-8061): what can be said to one, as values, and values to bytes.

A transmission is ``NUL ×6 | SOH | type | address | STX | command | [ETX | checksum] | EOT``. There is no escape: texts
are limited to 20..7E and everything else is one of the :class:`Code` parts. :func:`transmission` is the controller's
role; the sign's ear is :mod:`protocols.alpha_parser`, its answers :mod:`protocols.alpha_replies`, and what a sign of
figures is given :mod:`protocols.alpha_pages`. Sizes are bytes, pauses milliseconds.

How a figure changes without a blink: allocate TEXT files that call a STRING file for each figure, write the TEXTs
once, and from then on write only the STRINGs. Never send a figure longer than its STRING: the sign empties it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Final

from protocols.errors import Cause, PeerError

NUL, SOH, STX, ETX, EOT = b"\x00", b"\x01", b"\x02", b"\x03", b"\x04"
#: The sign finds the baud rate in these; it needs five.
PREAMBLE: Final = NUL * 6
PREAMBLE_NEEDED: Final = 5
STRING_MAX: Final = 125
PRIORITY_MAX: Final = 125
PRIORITY_LABEL: Final = "0"
RUN_SEQUENCE_MAX: Final = 128
#: Labels that no STRING may have, by the document's list of valid labels.
NO_STRING_LABELS: Final = ("0", "?")
FORMAT: Final = b"\x1b"
MIDDLE: Final = b" "
CALL: Final = 0x10
HEX: Final = "0123456789ABCDEF"


class Mode(StrEnum):
    """How a TEXT is shown. In HOLD a changed STRING shows at once; in ROTATE with the next pass."""

    ROTATE = "a"
    HOLD = "b"
    FLASH = "c"


class Code(Enum):
    """Control codes that may stand inside a TEXT."""

    FLASH_ON = b"\x071"
    FLASH_OFF = b"\x070"
    RED = b"\x1c1"
    GREEN = b"\x1c2"
    AMBER = b"\x1c3"
    FIXED_WIDTH_ON = b"\x1e1"
    FIXED_WIDTH_OFF = b"\x1e0"
    NEW_LINE = b"\x0d"
    NEW_PAGE = b"\x0c"


@dataclass(frozen=True, slots=True)
class CallString:
    """Draws the STRING file ``label`` at this place. A call to a missing or empty one draws nothing."""

    label: str


Part = str | Code | CallString


@dataclass(frozen=True, slots=True)
class TextFile:
    """A TEXT file of a memory configuration: shown always, and open to the sign's remote control."""

    label: str
    size: int


@dataclass(frozen=True, slots=True)
class StringFile:
    """A STRING file of a memory configuration. ``size`` is the longest figure it can hold."""

    label: str
    size: int


@dataclass(frozen=True, slots=True)
class ClearMemory:
    """Erases everything. Sent before a memory configuration; the sign is deaf for two seconds."""


@dataclass(frozen=True, slots=True)
class ConfigureMemory:
    """Erases everything and allocates these files."""

    files: tuple[TextFile | StringFile, ...]


@dataclass(frozen=True, slots=True)
class WriteText:
    """Writes a TEXT file; label ``0`` is the priority message, which takes the screen at once and needs no memory."""

    label: str
    parts: tuple[Part, ...]
    mode: Mode = Mode.HOLD


@dataclass(frozen=True, slots=True)
class WriteString:
    """Writes a STRING file. Does not blank the display."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class ReleasePriority:
    """Ends the priority message: a write to label 0 with nothing behind the label."""


@dataclass(frozen=True, slots=True)
class RunSequence:
    """Which TEXT files play, in this order, whatever their own times. An empty one would freeze the display."""

    labels: str


@dataclass(frozen=True, slots=True)
class SetTime:
    """The sign's clock, 24 hours; it has no seconds."""

    hour: int
    minute: int


@dataclass(frozen=True, slots=True)
class SetDay:
    """The day of the week: 1 is Sunday, 7 Saturday."""

    day: int


@dataclass(frozen=True, slots=True)
class SetTimeFormat:
    """How the sign draws its clock: 24 hours, or 12 with AM and PM."""

    hours_24: bool = True


@dataclass(frozen=True, slots=True)
class SoftReset:
    """The sign starts anew with its power-up tests and keeps its memory. It is deaf until it is done."""


@dataclass(frozen=True, slots=True)
class Tone:
    """One tone of two seconds, or three short beeps. The sign's port is switched off while it sounds."""

    beeps: bool = False


@dataclass(frozen=True, slots=True)
class ReadInformation:
    """Asks what the sign is: firmware, clock, memory."""


@dataclass(frozen=True, slots=True)
class ReadMemory:
    """Asks for the memory configuration."""


@dataclass(frozen=True, slots=True)
class ReadString:
    """Asks for a STRING file. The display blanks for a moment, so not in normal running."""

    label: str


@dataclass(frozen=True, slots=True)
class Other:
    """A well-framed command that this codec does not build: its command byte and data."""

    payload: bytes


Read = ReadInformation | ReadMemory | ReadString
Command = (
    ClearMemory
    | ConfigureMemory
    | WriteText
    | WriteString
    | ReleasePriority
    | RunSequence
    | SetTime
    | SetDay
    | SetTimeFormat
    | SoftReset
    | Tone
    | Read
    | Other
)


@dataclass(frozen=True, slots=True)
class Transmission:
    """What one frame says, and to whom. Type ``Z`` is any sign, address ``00`` every address."""

    commands: tuple[Command, ...]
    type_code: str = "Z"
    address: str = "00"


#: The shortest pause between two transmissions; nearer ones are lost silently.
NEAREST_MS: Final = 250
#: How long the line must be quiet after a frame where that is longer: an erased sign restarts, a reset one runs its
#: tests, a sounding one has its port switched off, an asked one speaks. What is sent meanwhile is lost without a word.
_QUIET_MS: Final[dict[type[Command], int]] = {
    ClearMemory: 2000,
    ConfigureMemory: 2000,
    SoftReset: 10_000,
    Tone: 3000,
    ReadInformation: 1000,
    ReadMemory: 1000,
    ReadString: 1000,
    Other: 3000,
}


def quiet_ms(command: Command) -> int:
    """How long the line must be quiet after the last byte of this command."""
    return _QUIET_MS.get(type(command), NEAREST_MS)


def transmission(command: Command, type_code: str = "Z", address: str = "00", *, checked: bool = False) -> bytes:
    """The bytes of one frame, from the NUL preamble to EOT; with a checksum where ``checked``.

    Raises :class:`PeerError` for text outside 20..7E, a label the sign does not allow there, or a text or size over
    the sign's own limits. A figure's own length limit is checked by :func:`figure`.
    """
    body = _payload(command)
    check = ETX + b"%04X" % checksum(body) if checked else b""
    return PREAMBLE + SOH + _target(type_code, address) + STX + body + check + EOT


def checksum(body: bytes) -> int:
    """The optional check: sum of all bytes from STX to ETX, both counted, in 16 bits."""
    return (STX[0] + sum(body) + ETX[0]) & 0xFFFF


def figure(file: StringFile, text: str) -> WriteString:
    """A new value for one STRING, refused (:class:`PeerError`) when longer than the file, for that would empty it."""
    if len(text) > file.size:
        raise PeerError(Cause.TOO_LONG, f"{text!r} is longer than the {file.size} bytes of STRING {file.label}")
    return WriteString(file.label, text)


def text_size(command: WriteText) -> int:
    """Bytes the TEXT's body takes: what its file must hold."""
    return len(_body(command.parts))


def _target(type_code: str, address: str) -> bytes:
    if len(type_code) != 1 or not " " <= type_code <= "~" or len(address) != 2 or not set(address) <= set(HEX):
        raise PeerError(Cause.BAD_LABEL, f"no sign has type {type_code!r} and address {address!r}")
    return (type_code + address).encode("ascii")


def _payload(command: Command) -> bytes:
    match command:
        case ConfigureMemory(files):
            body = b"E$" + _configuration(files)
        case WriteText():
            body = _text(command)
        case WriteString(label, text):
            if len(text) > STRING_MAX:
                raise PeerError(Cause.TOO_LONG, f"a STRING holds {STRING_MAX} bytes, this one needs {len(text)}")
            body = b"G" + _string_label(label) + _plain(text)
        case ReadString(label):
            body = b"H" + _string_label(label)
        case RunSequence(labels):
            if not 0 < len(labels) <= RUN_SEQUENCE_MAX or len(set(labels)) != len(labels):
                raise PeerError(Cause.BAD_LABEL, "a run sequence names 1 to 128 TEXT files, each once")
            body = b"E.SU" + b"".join(_label(label) for label in labels)
        case Other(body):
            if not body or min(body) <= EOT[0]:
                raise PeerError(Cause.UNREADABLE_TEXT, "bytes 00..04 end or begin frames and cannot be data")
        case _:
            body = _special(command)
    return body


def _special(command: Command) -> bytes:
    """What names no file."""
    match command:
        case SetTime(hour, minute) if 0 <= hour <= 23 and 0 <= minute <= 59:
            body = b"E %02d%02d" % (hour, minute)
        case SetDay(day) if 1 <= day <= 7:
            body = b"E&%d" % day
        case SetTimeFormat(hours_24):
            body = b"E'M" if hours_24 else b"E'S"
        case Tone(beeps):
            body = b"E(1" if beeps else b"E(0"
        case _ if type(command) in _PLAIN:
            body = _PLAIN[type(command)]
        case _:
            raise PeerError(Cause.UNREADABLE_TEXT, f"no sign has such a time or day: {command}")
    return body


_PLAIN: Final[dict[type[Command], bytes]] = {
    ClearMemory: b"E$",
    ReleasePriority: b"A0",
    SoftReset: b"E,",
    ReadInformation: b'F"',
    ReadMemory: b"F$",
}


def _text(text: WriteText) -> bytes:
    body = _body(text.parts)
    if text.label == PRIORITY_LABEL and len(body) > PRIORITY_MAX:
        raise PeerError(Cause.TOO_LONG, f"a priority message holds {PRIORITY_MAX} bytes, this one needs {len(body)}")
    return b"A" + _label(text.label) + FORMAT + MIDDLE + text.mode.value.encode() + body


def _configuration(files: Sequence[TextFile | StringFile]) -> bytes:
    if not files or len({file.label for file in files}) != len(files):
        raise PeerError(Cause.BAD_LABEL, "a memory configuration needs files, each with a label of its own")
    entries = []
    for file in files:
        string = isinstance(file, StringFile)
        most = STRING_MAX if string else 0xFFFF
        if not 0 < file.size <= most:
            raise PeerError(Cause.TOO_LONG, f"file {file.label} has {file.size} bytes, 1 to {most} are possible")
        if file.label == PRIORITY_LABEL:
            raise PeerError(Cause.BAD_LABEL, "the priority file exists by itself and is never allocated")
        label = _string_label(file.label) if string else _label(file.label)
        entries.append(label + (b"BL%04X0000" if string else b"AU%04XFFFF") % file.size)
    return b"".join(entries)


def _label(label: str) -> bytes:
    if len(label) != 1 or not " " <= label <= "~":
        raise PeerError(Cause.BAD_LABEL, f"a file label is one readable character, not {label!r}")
    return label.encode("ascii")


def _string_label(label: str) -> bytes:
    if label in NO_STRING_LABELS:
        raise PeerError(Cause.BAD_LABEL, f"{label!r} cannot be the label of a STRING")
    return _label(label)


def _plain(text: str) -> bytes:
    if any(not " " <= character <= "~" for character in text):
        raise PeerError(Cause.UNREADABLE_TEXT, f"a sign shows the characters 20 to 7E only, not {text!r}")
    return text.encode("ascii")


def _body(parts: Sequence[Part]) -> bytes:
    pieces = []
    for part in parts:
        match part:
            case Code():
                pieces.append(part.value)
            case CallString(label):
                pieces.append(bytes((CALL,)) + _string_label(label))
            case _:
                pieces.append(_plain(part))
    return b"".join(pieces)
