"""The check of Modbus RTU frames: CRC-16/MODBUS (polynomial A001 reflected, seed FFFF), low byte first.

And the lengths that follow from a frame's own bytes, which both roles need to find where a frame ends.
"""

from __future__ import annotations

from typing import Final

MIN_FRAME: Final = 4
MAX_FRAME: Final = 256


def _table() -> tuple[int, ...]:
    entries = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = (crc >> 1) ^ 0xA001 if crc & 1 else crc >> 1
        entries.append(crc)
    return tuple(entries)


_TABLE: Final = _table()


def crc16(data: bytes) -> int:
    """The check over ``data``; of ``b"123456789"`` it is 4B37."""
    crc = 0xFFFF
    for byte in data:
        crc = (crc >> 8) ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc


def sealed(body: bytes) -> bytes:
    """``body`` (unit, function, data) with its check appended."""
    return body + crc16(body).to_bytes(2, "little")


def is_sealed(frame: bytes) -> bool:
    """Whether the last two bytes are the check over those before. The check over a whole good frame is zero."""
    return len(frame) >= MIN_FRAME and crc16(frame) == 0
