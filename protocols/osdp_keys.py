"""OSDP keypads and readers: what the bytes of a keypad reply and of a card mean. No port, no key, no session.

Described in ``osdp_keys.md``. The packets themselves (framing, sequence, retries, secure channel) are libosdp's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

#: Addresses of devices on a line; 127 is everybody.
ADDRESS_MAX: Final = 126
#: The key that every device knows, and so does everybody else: 30 31 … 3F.
DEFAULT_KEY: Final = bytes(range(0x30, 0x40))
KEY_BYTES: Final = 16

CLEAR_CODE: Final = 0x7F
ENTER_CODE: Final = 0x0D
#: How a profile writes the codes that are no digits. ``A`` to ``D`` are function keys, ``E`` to ``H`` chords of two.
SYMBOLS: Final = {"*": CLEAR_CODE, "#": ENTER_CODE}
#: What keys are written as.
WRITTEN: Final = re.compile(r"[0-9A-H*#]+")


class DeviceId(NamedTuple):
    """What a device says of itself: the maker's IEEE number, its model and version, its serial number, its firmware."""

    vendor: int
    model: int
    version: int
    serial: int
    firmware: int

    @property
    def identity(self) -> str:
        """What a site file names it by: ``VENDOR-MODEL-SERIAL`` in hex digits, ``00BEBA-02-0000004D``."""
        return f"{self.vendor & 0xFFFFFF:06X}-{self.model & 0xFF:02X}-{self.serial & 0xFFFFFFFF:08X}"

    @property
    def known(self) -> bool:
        """Whether a device has answered with it at all."""
        return any(self)


def codes(written: str) -> tuple[int, ...]:
    """The codes of keys as a profile writes them: ``B3`` is 42 33, ``*`` is 7F, ``#`` is 0D.

    Raises:
        ValueError: it is no such text.
    """
    if WRITTEN.fullmatch(written) is None:
        raise ValueError(f"{written!r} are no keys: expected 0-9, *, #, A-H")
    return tuple(SYMBOLS.get(symbol, ord(symbol)) for symbol in written)


def badge(bits: int, data: Sequence[int]) -> str | None:
    """A card as people files write it, ``26:0123ABC0``. None where the bytes do not hold the bits.

    Bits behind the last one of the card are nothing and read as 0.
    """
    size = (bits + 7) // 8
    if bits < 1 or len(data) < size:
        return None
    held = bytearray(data[:size])
    held[-1] &= 0xFF << (size * 8 - bits) & 0xFF
    return f"{bits}:{held.hex().upper()}"
