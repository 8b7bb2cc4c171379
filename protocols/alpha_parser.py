"""The sign's ear for :mod:`protocols.alpha`: bytes in any pieces in, whole transmissions out, nothing raised."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from protocols.alpha import (
    CALL,
    EOT,
    ETX,
    FORMAT,
    HEX,
    MIDDLE,
    NO_STRING_LABELS,
    NUL,
    PREAMBLE_NEEDED,
    SOH,
    STX,
    CallString,
    ClearMemory,
    Code,
    Command,
    ConfigureMemory,
    Mode,
    Other,
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
    checksum,
)
from protocols.errors import Cause

_FRAME_MAX: Final = 8192
_CODES: Final = {code.value: code for code in Code}
_WHOLE: Final[dict[bytes, Command]] = {
    b"E$": ClearMemory(),
    b"A0": ReleasePriority(),
    b"E,": SoftReset(),
    b"E(0": Tone(),
    b"E(1": Tone(beeps=True),
    b"E'M": SetTimeFormat(),
    b"E'S": SetTimeFormat(hours_24=False),
    b'F"': ReadInformation(),
    b"F$": ReadMemory(),
}
_TIME: Final = re.compile(rb"E ([01]\d|2[0-3])([0-5]\d)")
_DAY: Final = re.compile(rb"E&([1-7])")
_SEQUENCE: Final = re.compile(rb"E\.SU([ -~]{1,128})")


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
            read.append(read_command(body))
        text = head.decode("ascii")
        return Transmission(tuple(read), text[0], text[1:])


def read_command(body: bytes) -> Command:
    """What stands between STX and ETX or EOT as a value; :class:`Other` for what this codec does not build."""
    read: Command | None = _WHOLE.get(body) or _read_clock(body)
    if read is not None:
        return read
    if body.startswith(b"E$"):
        read = read_files(body[2:])
    elif body[:1] == b"A" and len(body) >= 5 and body[2:4] == FORMAT + MIDDLE:
        read = _read_text(body)
    elif body[:1] in {b"G", b"H"} and len(body) >= 2 and _readable(body[1:]) and chr(body[1]) not in NO_STRING_LABELS:
        label, text = chr(body[1]), body[2:].decode("ascii")
        read = WriteString(label, text) if body[:1] == b"G" else None if text else ReadString(label)
    elif (match := _SEQUENCE.fullmatch(body)) and len(set(match[1])) == len(match[1]):
        read = RunSequence(match[1].decode("ascii"))
    return read or Other(body)


def _read_clock(body: bytes) -> SetTime | SetDay | None:
    if match := _TIME.fullmatch(body):
        return SetTime(int(match[1]), int(match[2]))
    return SetDay(int(match[1])) if (match := _DAY.fullmatch(body)) else None


def _readable(data: bytes) -> bool:
    return all(0x20 <= byte <= 0x7E for byte in data)


def read_files(data: bytes) -> ConfigureMemory | None:
    """The files of a memory configuration; None where it is none."""
    files: list[TextFile | StringFile] = []
    for at in range(0, len(data), 11):
        entry = data[at : at + 11]
        digits = entry[3:7].decode("latin-1")
        if len(entry) != 11 or not _readable(entry) or not set(digits) <= set(HEX):
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
        call = body[at] == CALL and at + 1 < len(body) and _readable(body[at + 1 : at + 2])
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
