"""The check of Modbus RTU frames: CRC-16/MODBUS (polynomial A001 reflected, seed FFFF), low byte first.

And the lengths that follow from a frame's own bytes, which both roles need to find where a frame ends.
"""

from __future__ import annotations

from typing import Final

from protocols.crc import Crc16

MIN_FRAME: Final = 4
MAX_FRAME: Final = 256


#: Of ``b"123456789"`` it is 4B37.
crc16: Final = Crc16(0xA001, 0xFFFF)
#: A body (unit, function, data) with its check behind it.
sealed: Final = crc16.sealed


def is_sealed(frame: bytes) -> bool:
    """Whether the last two bytes are the check over those before. The check over a whole good frame is zero."""
    return len(frame) >= MIN_FRAME and crc16(frame) == 0
