"""Keyboards as Linux tells of them: ``struct input_event`` records in any pieces → presses.

Described in ``hid_keys.md``. Records of 24 bytes (64-bit kernels): seconds, microseconds, type, code, value.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

RECORD: Final = struct.Struct("@qqHHi")

EV_SYN: Final = 0
EV_KEY: Final = 1
SYN_REPORT: Final = 0
SYN_DROPPED: Final = 3
RELEASED: Final = 0
PRESSED: Final = 1
REPEATED: Final = 2

#: Bits of a key state: KEY_MAX + 1.
KEYS: Final = 0x300


class Press(NamedTuple):
    """A key went down, at ``at_ms`` of the clock that the records are stamped with."""

    code: int
    at_ms: int


class Dropped(NamedTuple):
    """The kernel has thrown records away: whoever reads asks for the state of the keys (:meth:`KeyRecords.resync`)."""


class KeyRecords:
    """Bytes in, presses out.

    Rule 1: value 1 is a press; 2 is the kernel's own repeat of a held key and is none.
    Rule 2: a key that is down cannot go down: such a record is a copy.
    Rule 3: behind SYN_DROPPED nothing counts until the next SYN_REPORT, and what was held down then was not pressed.
    """

    def __init__(self, down: bytes = b"") -> None:
        """``down``: the state of the keys when reading began, a bit a key; what is down already is no press."""
        self._rest = b""
        self._down = set(_bits(down))
        self._dropping = False

    def feed(self, data: bytes) -> Iterator[Press | Dropped]:
        """What ``data`` and the pieces before it tell. :class:`Dropped` comes once, when records make sense again."""
        data = self._rest + data
        whole = len(data) - len(data) % RECORD.size
        self._rest = data[whole:]
        for seconds, micros, kind, code, value in RECORD.iter_unpack(data[:whole]):
            if kind == EV_SYN and code == SYN_DROPPED:
                self._dropping = True
            elif self._dropping:
                if kind == EV_SYN and code == SYN_REPORT:
                    self._dropping = False
                    yield Dropped()
            elif kind == EV_KEY and self._moved(code, value):
                yield Press(code, seconds * 1000 + micros // 1000)

    def resync(self, down: bytes) -> None:
        """Take the state of the keys after records were dropped. What went down meanwhile has no order: no press."""
        self._down = set(_bits(down))

    def _moved(self, code: int, value: int) -> bool:
        """Keep the state; whether this record is a press."""
        if value == RELEASED:
            self._down.discard(code)
            return False
        if value != PRESSED or code in self._down:
            return False
        self._down.add(code)
        return True


def _bits(state: bytes) -> Iterator[int]:
    return (index * 8 + bit for index, byte in enumerate(state) for bit in range(8) if byte >> bit & 1)
