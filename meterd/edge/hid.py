"""A Linux input device: opened, taken for ourselves, asked for its keys. Calls of the kernel, and nothing else.

Described in the kernel's ``input.h``; the numbers below are those of 64-bit machines.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
import time
from typing import Final, Protocol

from protocols.hid_keys import KEYS, RECORD

_EVIOCGID: Final = 0x80084502  # bus, vendor, product, version, 16 bits each
_EVIOCGRAB: Final = 0x40044590
_EVIOCSCLOCKID: Final = 0x400445A0
_EVIOCGKEY: Final = 0x80004518  # with the length of the answer in bits 16 to 29
_KEY_BYTES: Final = KEYS // 8
#: Records read at once; the kernel keeps fewer.
READ_BYTES_MAX: Final = 64 * RECORD.size


class InputDevice(Protocol):
    """What a driver of keyboards needs of one. All but :meth:`close` raise OSError once it is gone."""

    fd: int
    identity: str
    monotonic: bool

    def read(self) -> bytes:
        """Records that wait; BlockingIOError where none does, nothing at its end."""

    def down(self) -> bytes:
        """The keys that are down, a bit a key."""

    def close(self) -> None:
        """Give it back."""


class EventDevice:
    """``/dev/input/…``. ``identity`` is ``VENDOR:PRODUCT`` as lsusb prints it, in capitals.

    ``monotonic``: its records are stamped with the monotonic clock.
    """

    def __init__(self, path: str) -> None:
        """Open it for us alone: grabbed, its keys type nowhere else. Raises OSError."""
        self.fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            told = fcntl.ioctl(self.fd, _EVIOCGID, bytes(8))
            _, vendor, product, _ = struct.unpack("@HHHH", told)
            self.identity = f"{vendor:04X}:{product:04X}"
            fcntl.ioctl(self.fd, _EVIOCGRAB, 1)
            self.monotonic = self._stamp_monotonic()
        except OSError:
            os.close(self.fd)
            raise

    def _stamp_monotonic(self) -> bool:
        with contextlib.suppress(OSError):
            fcntl.ioctl(self.fd, _EVIOCSCLOCKID, struct.pack("@i", time.CLOCK_MONOTONIC))
            return True
        return False

    def read(self) -> bytes:
        """Records that wait."""
        return os.read(self.fd, READ_BYTES_MAX)

    def down(self) -> bytes:
        """The keys that are down."""
        return fcntl.ioctl(self.fd, _EVIOCGKEY | _KEY_BYTES << 16, bytes(_KEY_BYTES))

    def close(self) -> None:
        """Give it back; closing ends the grab."""
        with contextlib.suppress(OSError):
            os.close(self.fd)
