"""Alpha signs (Adaptive form 9708-8061): what can be said to one, as values; values to bytes and bytes to values.

A transmission is ``NUL ×6 | SOH | type | address | STX | command … | EOT``. There is no escape: texts are limited to
20..7E and everything else is one of the :class:`Code` parts. :func:`transmission` is the controller's role,
:class:`AlphaParser` the sign's. Sizes are bytes, pauses milliseconds.

How a figure changes without a blink: allocate one TEXT file that calls a STRING file for each figure, write the TEXT
once, and from then on write only the STRINGs. Never send a figure longer than its STRING: the sign empties it.
"""

from __future__ import annotations

from collections import Counter
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
_NO_STRING_LABELS: Final = ("0", "?")
_FRAME_MAX: Final = 8192
_FORMAT: Final = b"\x1b"
_MIDDLE: Final = b" "
_CALL: Final = 0x10


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
class Other:
    """A well-framed command that this codec does not build (reads, clock, tones): its command byte and data."""

    payload: bytes


Command = ClearMemory | ConfigureMemory | WriteText | WriteString | ReleasePriority | Other


@dataclass(frozen=True, slots=True)
class Transmission:
    """What one frame says, and to whom. Type ``Z`` is any sign, address ``00`` every address."""

    commands: tuple[Command, ...]
    type_code: str = "Z"
    address: str = "00"


#: How long the line must be quiet after each kind of frame, in ms. Nearer than 250 ms writes are lost silently.
QUIET_MS: Final[dict[type[Command], int]] = {
    ClearMemory: 2000,
    ConfigureMemory: 2000,
    WriteText: 250,
    WriteString: 250,
    ReleasePriority: 250,
    Other: 3000,
}


def transmission(command: Command, type_code: str = "Z", address: str = "00") -> bytes:
    """The bytes of one frame, from the NUL preamble to EOT.

    Raises :class:`PeerError` for text outside 20..7E, a label the sign does not allow there, or a text or size over
    the sign's own limits. A figure's own length limit is checked by :func:`figure`.
    """
    return PREAMBLE + SOH + _target(type_code, address) + STX + _payload(command) + EOT


def figure(file: StringFile, text: str) -> WriteString:
    """A new value for one STRING, refused (:class:`PeerError`) when longer than the file, for that would empty it."""
    if len(text) > file.size:
        raise PeerError(Cause.TOO_LONG, f"{text!r} is longer than the {file.size} bytes of STRING {file.label}")
    return WriteString(file.label, text)


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a sign: the words before it and the STRING that holds it."""

    caption: str
    file: StringFile


def figures_text(label: str, figures: Sequence[Figure], colour: Code = Code.RED) -> WriteText:
    """The TEXT written once: fixed width, so that a changing digit moves no neighbour, then caption and figure each.

    The colour is named again behind each call, because formatting inside a STRING leaks into what follows it.
    """
    parts: list[Part] = [Code.FIXED_WIDTH_ON, colour]
    for index, each in enumerate(figures):
        caption = f"{'  ' if index else ''}{each.caption} " if each.caption else "  " if index else ""
        parts.extend((*((caption,) if caption else ()), CallString(each.file.label), colour))
    return WriteText(label, tuple(parts))


def takeover(text: str, string: StringFile | None = None, colour: Code = Code.RED) -> WriteText:
    """A flashing priority message, with the live figure of ``string`` behind it where given."""
    parts: list[Part] = [colour, Code.FLASH_ON, text, Code.FLASH_OFF]
    if string:
        parts.extend((" ", CallString(string.label), colour))
    return WriteText(PRIORITY_LABEL, tuple(parts))


def text_size(command: WriteText) -> int:
    """Bytes the TEXT's body takes: what its file must hold."""
    return len(_body(command.parts))


def line_bytes(command: Command) -> int:
    """Bytes of the whole frame on the wire."""
    return len(transmission(command))


def _target(type_code: str, address: str) -> bytes:
    if len(type_code) != 1 or not " " <= type_code <= "~" or len(address) != 2 or not set(address) <= set(_HEX):
        raise PeerError(Cause.BAD_LABEL, f"no sign has type {type_code!r} and address {address!r}")
    return (type_code + address).encode("ascii")


def _payload(command: Command) -> bytes:
    match command:
        case ClearMemory():
            return b"E$"
        case ConfigureMemory(files):
            return b"E$" + _configuration(files)
        case WriteText(label, parts, mode):
            body = _body(parts)
            if label == PRIORITY_LABEL and len(body) > PRIORITY_MAX:
                raise PeerError(
                    Cause.TOO_LONG, f"a priority message holds {PRIORITY_MAX} bytes, this one needs {len(body)}"
                )
            return b"A" + _label(label) + _FORMAT + _MIDDLE + mode.value.encode() + body
        case WriteString(label, text):
            if len(text) > STRING_MAX:
                raise PeerError(Cause.TOO_LONG, f"a STRING holds {STRING_MAX} bytes, this one needs {len(text)}")
            return b"G" + _string_label(label) + _plain(text)
        case ReleasePriority():
            return b"A0"
        case Other(payload):
            if not payload or min(payload) <= EOT[0]:
                raise PeerError(Cause.UNREADABLE_TEXT, "bytes 00..04 end or begin frames and cannot be data")
            return payload


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
    if label in _NO_STRING_LABELS:
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
                pieces.append(bytes((_CALL,)) + _string_label(label))
            case _:
                pieces.append(_plain(part))
    return b"".join(pieces)


_HEX: Final = "0123456789ABCDEF"
_CODES: Final = {code.value: code for code in Code}


class AlphaParser:
    """The sign's ear: bytes in any pieces in, whole transmissions out. ``skipped`` counts what was not understood.

    A frame whose preamble has fewer than five NULs is not heard, as on a sign that could not find the baud rate. A
    checksum is checked where one is sent.
    """

    def __init__(self) -> None:
        self.skipped: Counter[Cause] = Counter()
        self._heard = b""

    @property
    def pending(self) -> bool:
        """Whether a frame has begun and not ended."""
        return bool(self._heard)

    def receive(self, data: bytes) -> list[Transmission]:
        """Take bytes; give the transmissions they complete, in order."""
        self._heard += data
        found: list[Transmission] = []
        while (end := self._heard.find(EOT)) >= 0:
            raw, self._heard = self._heard[:end], self._heard[end + 1 :]
            heard = self._read(raw)
            if isinstance(heard, Transmission):
                found.append(heard)
            else:
                self.skipped[heard] += 1
        if len(self._heard) > _FRAME_MAX:
            self.skipped[Cause.TOO_LONG] += 1
            self._heard = b""
        return found

    def _read(self, raw: bytes) -> Transmission | Cause:
        """One frame without its EOT. What stands before the last SOH belongs to a frame that was cut."""
        start = raw.rfind(SOH)
        if start < 0:
            return Cause.STRAY
        if not raw[:start].endswith(NUL * PREAMBLE_NEEDED):
            return Cause.CUT
        head, *commands = raw[start + 1 :].split(STX)
        if len(head) != 3 or not commands or any(not 0x20 <= byte <= 0x7E for byte in head):
            return Cause.STRAY
        read: list[Command] = []
        for each in commands:
            body, marked, check = each.partition(ETX)
            if marked and check and check != b"%04X" % checksum(body):
                return Cause.CRC
            if not body or NUL in body:
                return Cause.STRAY
            read.append(_command(body))
        text = head.decode("ascii")
        return Transmission(tuple(read), text[0], text[1:])


def checksum(body: bytes) -> int:
    """The optional check: sum of all bytes from STX to ETX, both counted, in 16 bits."""
    return (STX[0] + sum(body) + ETX[0]) & 0xFFFF


def _command(body: bytes) -> Command:
    """A typed command; :class:`Other` for what this codec does not build."""
    read: Command | None = None
    if body == b"E$":
        read = ClearMemory()
    elif body == b"A0":
        read = ReleasePriority()
    elif body.startswith(b"E$"):
        read = _read_configuration(body[2:])
    elif body[:1] == b"A" and len(body) >= 5 and body[2:4] == _FORMAT + _MIDDLE:
        read = _read_text(body)
    elif body[:1] == b"G" and len(body) >= 2 and _readable(body[1:]) and chr(body[1]) not in _NO_STRING_LABELS:
        read = WriteString(chr(body[1]), body[2:].decode("ascii"))
    return read or Other(body)


def _readable(data: bytes) -> bool:
    return all(0x20 <= byte <= 0x7E for byte in data)


def _read_configuration(data: bytes) -> ConfigureMemory | None:
    files: list[TextFile | StringFile] = []
    for at in range(0, len(data), 11):
        entry = data[at : at + 11]
        digits = entry[3:7].decode("latin-1")
        if len(entry) != 11 or not _readable(entry) or not set(digits) <= set(_HEX):
            return None
        label, size, kind = chr(entry[0]), int(digits, 16), entry[1:3] + entry[7:]
        if kind == b"AUFFFF":
            files.append(TextFile(label, size))
        elif kind == b"BL0000":
            files.append(StringFile(label, size))
        else:
            return None
    return ConfigureMemory(tuple(files))


def _read_text(body: bytes) -> WriteText | None:
    parts: list[Part] = []
    at, plain = 5, ""
    while at < len(body):
        code = _CODES.get(body[at : at + 1]) or _CODES.get(body[at : at + 2])
        call = body[at] == _CALL and at + 1 < len(body) and _readable(body[at + 1 : at + 2])
        if not code and not call and not _readable(body[at : at + 1]):
            return None
        if code or call:
            parts.extend((plain,) if plain else ())
            plain = ""
            parts.append(code or CallString(chr(body[at + 1])))
            at += len(code.value) if code else 2
        else:
            plain += chr(body[at])
            at += 1
    parts.extend((plain,) if plain else ())
    label, mode = chr(body[1]), chr(body[4])
    if mode not in set(Mode) or not _readable(body[1:2]):
        return None
    return WriteText(label, tuple(parts), Mode(mode))
