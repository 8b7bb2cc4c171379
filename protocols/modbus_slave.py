"""The module's side of a Modbus RTU line: request bytes in, reply bytes out, over a bank of registers for each unit.

Functions 01, 02, 03, 04, 05, 06, 0F and 10; exceptions 1 (function), 2 (address) and 3 (value). A request to another
unit is not answered, one to unit 0 is done by all and not answered. What is no frame is skipped and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from protocols.errors import Cause
from protocols.modbus_crc import MAX_FRAME, is_sealed, sealed

ILLEGAL_FUNCTION: Final = 1
ILLEGAL_ADDRESS: Final = 2
ILLEGAL_VALUE: Final = 3

_SHORT_REQUEST: Final = 8
_MAX_BITS_READ: Final = 2000
_MAX_BITS_WRITTEN: Final = 1968
_MAX_REGISTERS_READ: Final = 125
_MAX_REGISTERS_WRITTEN: Final = 123


class Answer(NamedTuple):
    """One reply on the wire and the unit that gave it."""

    unit: int
    frame: bytes


@dataclass
class RegisterBank:
    """What one module holds, each area from address 0. Bits are 0 or 1, registers 0..65535.

    Nothing exists past the end of an area. ``fixed_coils``: coil addresses below this are inputs of the module that it
    shows in its coil area; they are read there and never written. ``written`` is called after each accepted write with
    the function, the first address and how many. Two faults of a module: ``refuses`` is the exception code every write
    gets (0: none), ``inert`` acknowledges writes of coils and changes nothing.
    """

    coils: bytearray = field(default_factory=bytearray)
    inputs: bytearray = field(default_factory=bytearray)
    holding: list[int] = field(default_factory=list)
    input_registers: list[int] = field(default_factory=list)
    fixed_coils: int = 0
    written: Callable[[int, int, int], None] | None = None
    refuses: int = 0
    inert: bool = False

    def bits(self, function: int) -> bytearray:
        """The area a bit function reads: 01 coils, 02 inputs."""
        return self.coils if function == 1 else self.inputs

    def registers(self, function: int) -> list[int]:
        """The area a register function reads: 03 holding, 04 inputs."""
        return self.holding if function == 3 else self.input_registers


class _Refused(Exception):  # noqa: N818 - an answer of the protocol, not an error of the program
    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class ModbusSlave:
    """All modules of one line. ``skipped`` counts bytes that were part of no request, by cause."""

    def __init__(self, units: Mapping[int, RegisterBank]) -> None:
        self.units = dict(units)
        self.skipped: Counter[Cause] = Counter()
        self._heard = b""

    def receive(self, data: bytes) -> list[Answer]:
        """Take bytes in any pieces; give the replies to the requests they complete, in order."""
        self._heard += data
        answers: list[Answer] = []
        while self._heard:
            length = _request_length(self._heard)
            if length and len(self._heard) < length:
                break
            request = self._heard[:length] if length else self._heard
            if len(request) <= MAX_FRAME and is_sealed(request):
                self._heard = self._heard[len(request) :]
                answers.extend(self._serve(request))
            elif not length and len(self._heard) < _SHORT_REQUEST:
                break
            else:
                self.skipped[Cause.CRC if length else Cause.STRAY] += 1
                self._heard = self._heard[1:]
        return answers

    def silence(self) -> None:
        """The line was quiet for longer than a frame can pause: what was begun is no request."""
        if self._heard:
            self.skipped[Cause.CUT] += len(self._heard)
            self._heard = b""

    def _serve(self, request: bytes) -> list[Answer]:
        unit = request[0]
        if unit == 0:
            for bank in self.units.values():
                _answer(bank, request)
            return []
        if unit not in self.units:
            return []
        return [Answer(unit, sealed(_answer(self.units[unit], request)))]


def _request_length(heard: bytes) -> int:
    """Length of the request that begins ``heard``; 0 when its function says nothing about it."""
    if len(heard) < 2:
        return _SHORT_REQUEST
    if 1 <= heard[1] <= 6:
        return _SHORT_REQUEST
    if heard[1] in {15, 16}:
        return 9 + heard[6] if len(heard) > 6 else 9
    return 0


def _answer(bank: RegisterBank, request: bytes) -> bytes:
    """The reply to one whole request, without its check."""
    unit, function = request[0], request[1]
    serve = _SERVED.get(function)
    if serve is None:
        return bytes((unit, function | 0x80, ILLEGAL_FUNCTION))
    try:
        return bytes((unit, function)) + serve(bank, function, request[2:-2])
    except _Refused as refused:
        return bytes((unit, function | 0x80, refused.code))


def _address_and_count(data: bytes, most: int, size: int) -> tuple[int, int]:
    address, count = int.from_bytes(data[0:2], "big"), int.from_bytes(data[2:4], "big")
    if not 1 <= count <= most:
        raise _Refused(ILLEGAL_VALUE)
    if address + count > size:
        raise _Refused(ILLEGAL_ADDRESS)
    return address, count


def _read_bits(bank: RegisterBank, function: int, data: bytes) -> bytes:
    area = bank.bits(function)
    address, count = _address_and_count(data, _MAX_BITS_READ, len(area))
    size = (count + 7) // 8
    packed = pack_bits(area[address : address + count])
    return bytes((size,)) + packed


def _read_registers(bank: RegisterBank, function: int, data: bytes) -> bytes:
    area = bank.registers(function)
    address, count = _address_and_count(data, _MAX_REGISTERS_READ, len(area))
    return bytes((2 * count,)) + b"".join(value.to_bytes(2, "big") for value in area[address : address + count])


def _write_coil(bank: RegisterBank, function: int, data: bytes) -> bytes:
    if data[2:4] not in {b"\xff\x00", b"\x00\x00"}:
        raise _Refused(ILLEGAL_VALUE)
    address = int.from_bytes(data[0:2], "big")
    _store_coils(bank, function, address, bytes((data[2] & 1,)))
    return data


def _write_coils(bank: RegisterBank, function: int, data: bytes) -> bytes:
    address, count = int.from_bytes(data[0:2], "big"), int.from_bytes(data[2:4], "big")
    if not 1 <= count <= _MAX_BITS_WRITTEN or data[4] != (count + 7) // 8:
        raise _Refused(ILLEGAL_VALUE)
    _store_coils(bank, function, address, unpack_bits(data[5:], count))
    return data[:4]


def _store_coils(bank: RegisterBank, function: int, address: int, values: bytes) -> None:
    if bank.refuses:
        raise _Refused(bank.refuses)
    if address < bank.fixed_coils or address + len(values) > len(bank.coils):
        raise _Refused(ILLEGAL_ADDRESS)
    if bank.inert:
        return
    bank.coils[address : address + len(values)] = values
    if bank.written:
        bank.written(function, address, len(values))


def _write_register(bank: RegisterBank, function: int, data: bytes) -> bytes:
    _store_registers(bank, function, int.from_bytes(data[0:2], "big"), data[2:4])
    return data


def _write_registers(bank: RegisterBank, function: int, data: bytes) -> bytes:
    address, count = int.from_bytes(data[0:2], "big"), int.from_bytes(data[2:4], "big")
    if not 1 <= count <= _MAX_REGISTERS_WRITTEN or data[4] != 2 * count:
        raise _Refused(ILLEGAL_VALUE)
    _store_registers(bank, function, address, data[5:])
    return data[:4]


def _store_registers(bank: RegisterBank, function: int, address: int, values: bytes) -> None:
    count = len(values) // 2
    if bank.refuses:
        raise _Refused(bank.refuses)
    if address + count > len(bank.holding):
        raise _Refused(ILLEGAL_ADDRESS)
    bank.holding[address : address + count] = [int.from_bytes(values[i : i + 2], "big") for i in range(0, 2 * count, 2)]
    if bank.written:
        bank.written(function, address, count)


def pack_bits(bits: bytes | bytearray) -> bytes:
    """Bits as the wire has them: the first bit is bit 0 of the first byte, unused bits are 0."""
    size = (len(bits) + 7) // 8
    value = int("".join("1" if bit else "0" for bit in reversed(bits)) or "0", 2)
    return value.to_bytes(size, "little")


def unpack_bits(packed: bytes, count: int) -> bytes:
    """The inverse of :func:`pack_bits`: one byte of 0 or 1 for each of ``count`` bits."""
    value = int.from_bytes(packed, "little")
    return bytes(value >> n & 1 for n in range(count))


_SERVED: Final[Mapping[int, Callable[[RegisterBank, int, bytes], bytes]]] = {
    1: _read_bits,
    2: _read_bits,
    3: _read_registers,
    4: _read_registers,
    5: _write_coil,
    6: _write_register,
    15: _write_coils,
    16: _write_registers,
}
