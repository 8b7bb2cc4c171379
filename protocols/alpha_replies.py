"""What an Alpha sign answers to a read: the reply's bytes to values, and for the sign's role values to bytes.

A reply is ``NUL ×20 | SOH | 0 | 00 | STX | command data | ETX | checksum | EOT``. Its command is that of the *write* of
what was read, its type and address are the same for every sign. Sizes are bytes.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Final

from protocols.alpha import EOT, ETX, NUL, SOH, STX, ConfigureMemory, TextFile, WriteString, checksum
from protocols.alpha_parser import read_command, read_files
from protocols.errors import Cause

REPLY_HEAD: Final = SOH + b"000" + STX
_REPLY_MAX: Final = 8192
_INFORMATION: Final = re.compile(
    r"(?P<firmware>.{8})(?P<revision>.?)(?P<month>\d\d)(?P<year>\d\d)(?P<hour>\d\d)(?P<minute>\d\d)"
    r"(?P<format>[SM])(?P<speaker>00|FF)(?P<pool>[0-9A-F]{4}),(?P<free>[0-9A-F]{4})",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Information:
    """What a sign says it is. ``released`` is month/year without a century; ``pool`` and ``free`` are its memory."""

    firmware: str
    revision: str
    released: str
    clock: str
    hours_24: bool
    speaker: bool
    pool: int
    free: int


Answer = Information | ConfigureMemory | WriteString


def reply(body: bytes) -> bytes:
    """The sign's role: the frame of an answer, ``body`` being the write command and the data."""
    return NUL * 20 + REPLY_HEAD + body + ETX + b"%04X" % checksum(body) + EOT


class ReplyParser:
    """The controller's ear: bytes in any pieces in, answers out. ``skipped`` counts what was not understood.

    A reply without its checksum, or with a wrong one, is none: half an answer can look like a whole one.
    """

    def __init__(self) -> None:
        self.skipped: Counter[Cause] = Counter()
        self._heard = b""

    def receive(self, data: bytes) -> list[Answer]:
        """Take bytes; give the answers they complete, in order."""
        self._heard += data
        found: list[Answer] = []
        while (end := self._heard.find(EOT)) >= 0:
            raw, self._heard = self._heard[:end], self._heard[end + 1 :]
            read = _read(raw)
            if isinstance(read, Cause):
                self.skipped[read] += 1
            else:
                found.append(read)
        if len(self._heard) > _REPLY_MAX:
            self.skipped[Cause.TOO_LONG] += 1
            self._heard = b""
        return found


def _read(raw: bytes) -> Answer | Cause:
    start = raw.rfind(REPLY_HEAD)
    if start < 0:
        return Cause.STRAY
    body, marked, check = raw[start + len(REPLY_HEAD) :].partition(ETX)
    if not marked:
        return Cause.CUT
    if check != b"%04X" % checksum(body):
        return Cause.CRC
    if body.startswith(b'E"'):
        return _information(body[2:].decode("latin-1"))
    if body.startswith(b"E$"):
        return read_files(body[2:]) or Cause.UNREADABLE_TEXT
    read = read_command(body)
    return read if isinstance(read, WriteString) else Cause.UNREADABLE_TEXT


def _information(text: str) -> Information | Cause:
    """The fields; the letter of the revision may be missing, and it stands in the middle."""
    match = _INFORMATION.fullmatch(text.strip())
    if match is None:
        return Cause.UNREADABLE_TEXT
    return Information(
        firmware=match["firmware"],
        revision=match["revision"],
        released=f"{match['month']}/{match['year']}",
        clock=f"{match['hour']}:{match['minute']}",
        hours_24=match["format"] == "M",
        speaker=match["speaker"] == "00",
        pool=int(match["pool"], 16),
        free=int(match["free"], 16),
    )


def same_files(asked: ConfigureMemory, answered: ConfigureMemory) -> bool:
    """Whether a sign has the files it was given. A running sign gives what memory is left to its first file."""
    mine = [(type(file), file.label, file.size) for file in asked.files]
    its = [(type(file), file.label, file.size) for file in answered.files]
    if len(mine) != len(its) or mine[1:] != its[1:]:
        return False
    grown = isinstance(answered.files[0], TextFile) and its[0][2] >= mine[0][2]
    return mine[0][:2] == its[0][:2] and (grown or mine[0] == its[0])
