"""What the modules of a recorded Modbus line hold, as far as their recorded answers tell, and what is written since.

A daemon that is started against a recording asks nearly what was asked then, not just that: polls of another length,
other lamps, a read-back of what it wrote itself. Pure: request bytes in, reply bytes out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from protocols.modbus_crc import is_sealed, sealed
from protocols.modbus_slave import pack_bits, unpack_bits

_READ_BITS: Final = (1, 2)
_READ_REGISTERS: Final = (3, 4)
_WRITE_MANY: Final = {15: 1, 16: 3}  # a write and the read of the same
_SHORT: Final = 8
_NAMES: Final = {1: "coils", 2: "inputs", 3: "holding registers", 4: "input registers", 15: "coils", 16: "registers"}


#: Unit, function that reads it, first address, and the values there.
Taught = tuple[int, int, int, tuple[int, ...]]


class Memory:
    """Bits and registers by unit, read function and address."""

    def __init__(self) -> None:
        """Begin knowing nothing."""
        self._known: dict[tuple[int, int, int], int] = {}
        self._written: set[tuple[int, int, int]] = set()

    def learn(self, request: bytes, reply: bytes, *, first: bool = False) -> bool:
        """Take what a good answer to a read tells, but for what was written since; False: it tells nothing.

        ``first``: keep what is known already.
        """
        values = _values(request, reply)
        for key, value in values.items():
            if key not in self._written and not (first and key in self._known):
                self._known[key] = value
        return bool(values)

    def rewritten(self, request: bytes) -> bool:
        """Whether a whole read asks for what was written since, and all of it is known."""
        if not whole(request) or request[1] in _WRITE_MANY:
            return False
        unit, function, address, count = _asked(request)
        keys = {(unit, function, at) for at in range(address, address + count)}
        return bool(keys & self._written) and keys <= self._known.keys()

    def teach(self, unit: int, function: int, address: int, values: Iterable[int]) -> None:
        """What a module that was heard holds by another's word, where the recording does not tell."""
        if not self._heard_of(unit):
            return
        for place, value in enumerate(values):
            self._known.setdefault((unit, function, address + place), value)

    def answer(self, request: bytes) -> bytes:
        """What a module says to it by what is known; nothing where that is not enough."""
        unit, function, address, count = _asked(request)
        if function in _WRITE_MANY:
            if not self._heard_of(unit):
                return b""
            for key, value in _put(request).items():
                self._known[key] = value
                self._written.add(key)
            return sealed(request[:6])
        found = [self._known.get((unit, function, at)) for at in range(address, address + count)]
        values = [value for value in found if value is not None]
        if not values or len(values) < count:
            return b""
        data = pack_bits(bytes(values)) if function in _READ_BITS else b"".join(v.to_bytes(2, "big") for v in values)
        return sealed(bytes((unit, function, len(data))) + data)

    def _heard_of(self, unit: int) -> bool:
        return any(key[0] == unit for key in self._known)


def whole(heard: bytes) -> int:
    """The length of the request that ``heard`` begins with; 0: there is none, or not all of it yet."""
    if len(heard) < _SHORT:
        return 0
    length = 9 + heard[6] if heard[1] in _WRITE_MANY else _SHORT
    known = heard[1] in (*_READ_BITS, *_READ_REGISTERS, *_WRITE_MANY)
    return length if known and len(heard) >= length and is_sealed(heard[:length]) else 0


def writes(request: bytes) -> bool:
    """Whether a whole request changes what a module holds."""
    return bool(whole(request)) and request[1] in _WRITE_MANY


def words(request: bytes) -> str:
    """A request for a person."""
    if not whole(request):
        return f"bytes {request[:16].hex(' ')}"
    unit, function, address, count = _asked(request)
    what = f"{_NAMES[function]} {address}-{address + count - 1}" if count > 1 else f"{_NAMES[function]} {address}"
    return f"unit {unit}: {'set' if function in _WRITE_MANY else 'read'} {what}"


def _asked(request: bytes) -> tuple[int, int, int, int]:
    return request[0], request[1], int.from_bytes(request[2:4], "big"), int.from_bytes(request[4:6], "big")


def _values(request: bytes, reply: bytes) -> dict[tuple[int, int, int], int]:
    """What a good reply to a whole read says; nothing for any other."""
    if not whole(request) or request[1] in _WRITE_MANY or not is_sealed(reply) or reply[:2] != request[:2]:
        return {}
    unit, function, address, count = _asked(request)
    data = reply[3:-2]
    size = (count + 7) // 8 if function in _READ_BITS else 2 * count
    if len(data) != size or reply[2] != size:
        return {}
    values = unpack_bits(data, count) if function in _READ_BITS else _registers(data)
    return {(unit, function, address + place): value for place, value in enumerate(values)}


def _put(request: bytes) -> dict[tuple[int, int, int], int]:
    """What a whole write puts where, by the function that reads it."""
    unit, function, address, count = _asked(request)
    data = request[7:-2]
    values = unpack_bits(data, count) if function == 15 else _registers(data)
    return {(unit, _WRITE_MANY[function], address + place): value for place, value in enumerate(values)}


def _registers(data: bytes) -> list[int]:
    return [int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2)]
