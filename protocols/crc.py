"""The check of 16 bits that Modbus RTU and SAS both use: reflected, a byte at a time, low byte first behind a frame.

Only polynomial and seed differ; each codec names its own. Over a frame with its check behind it the check is zero.
"""

from __future__ import annotations


class Crc16:
    """One check: ``polynomial`` in its reflected form, ``seed`` before the first byte."""

    def __init__(self, polynomial: int, seed: int) -> None:
        self._seed = seed
        table = []
        for byte in range(256):
            crc = byte
            for _ in range(8):
                crc = (crc >> 1) ^ polynomial if crc & 1 else crc >> 1
            table.append(crc)
        self._table = tuple(table)

    def __call__(self, data: bytes) -> int:
        """The check over ``data``."""
        crc, table = self._seed, self._table
        for byte in data:
            crc = (crc >> 8) ^ table[(crc ^ byte) & 0xFF]
        return crc

    def sealed(self, body: bytes) -> bytes:
        """``body`` with its check behind it."""
        return body + self(body).to_bytes(2, "little")
