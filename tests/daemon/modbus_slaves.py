"""Sensor modules and pads served by other people's Modbus: pymodbus in Python, libmodbus in C.

Both speak the register maps of the generic profiles: 16 inputs with 32-bit counters, 16 coils and their flash bank, a
heartbeat; 32 keys with 16-bit counters and two lines of 16 characters. A test plays at them: it sets inputs, as a chip
or a finger does, and looks at coils and registers.
"""

from __future__ import annotations

import asyncio
import ctypes
import threading
from typing import Any, Final, NamedTuple, Protocol

from pymodbus.server import ModbusSerialServer
from pymodbus.simulator import DataType, SimData, SimDevice

COILS: Final = 48
FLASH: Final = 16  # where the flash bank begins
IDENTITY: Final = 256
INPUT_REGISTERS: Final = 258
HOLDING: Final = 16


class Kind(NamedTuple):
    """A generic module: how many inputs, words of each counter, and what its identity registers say."""

    inputs: int
    counter_words: int
    identity: tuple[int, int]


SENSORS: Final = Kind(16, 2, (0x4D53, 0x3136))
PAD: Final = Kind(32, 1, (0x4D4B, 0x3332))


class Slave(Protocol):
    """A served module."""

    kind: Kind
    inputs: Any
    registers: Any  # input registers: counters, high word first, and the identity
    coils: Any
    holding: Any
    heard: int  # requests answered

    def start(self) -> None: ...

    def stop(self) -> None: ...


def set_input(slave: Slave, index: int, on: bool) -> None:
    """A chip comes or goes, a button is held or let go; a rising edge counts, before the level can be seen."""
    if on and not slave.inputs[index]:
        low = index * slave.kind.counter_words + slave.kind.counter_words - 1
        slave.registers[low] = (slave.registers[low] + 1) & 0xFFFF
    slave.inputs[index] = on


def lit(slave: Slave, index: int) -> str:
    """What a lamp does."""
    if not slave.coils[index]:
        return "dark"
    return "flash" if slave.coils[FLASH + index] else "steady"


def lines(slave: Slave) -> tuple[str, str]:
    """The two lines of a pad."""
    raw = b"".join(int(slave.holding[n]).to_bytes(2, "big") for n in range(HOLDING))
    text = raw.decode("latin-1").replace("\x00", " ")
    return text[:16].rstrip(), text[16:].rstrip()


class PymodbusSlave:
    """A pymodbus server in a thread and a loop of its own."""

    def __init__(self, port: str, unit: int, kind: Kind) -> None:
        self.kind = kind
        self.inputs = [False] * kind.inputs
        self.registers = [0] * INPUT_REGISTERS
        self.registers[IDENTITY : IDENTITY + 2] = kind.identity
        self.coils = [False] * COILS
        self.holding = [0] * HOLDING
        self.heard = 0
        self._port, self._unit = port, unit
        self._loop = asyncio.new_event_loop()
        self._server: ModbusSerialServer | None = None
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def start(self) -> None:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._serve(), self._loop).result(20)

    def stop(self) -> None:
        if self._server is not None:
            asyncio.run_coroutine_threadsafe(self._server.shutdown(), self._loop).result(20)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(20)
        self._loop.close()

    async def _serve(self) -> None:
        bits, words = DataType.BITS, DataType.REGISTERS
        device = SimDevice(
            self._unit,
            (
                [SimData(0, values=[False] * COILS, datatype=bits)],
                [SimData(0, values=[False] * self.kind.inputs, datatype=bits)],
                [SimData(0, count=HOLDING, values=0, datatype=words)],
                [SimData(0, count=INPUT_REGISTERS, values=0, datatype=words)],
            ),
            action=self._action,
        )
        self._server = ModbusSerialServer([device], port=self._port, baudrate=115200)
        await self._server.serve_forever(background=True)

    async def _action(
        self, function: int, _start: int, address: int, _count: int, registers: list[int], values: Any
    ) -> Any:
        self.heard += 1
        match function:
            case 1:
                registers[:] = _packed(self.coils)
            case 2:
                registers[:] = _packed(self.inputs)
            case 3:
                registers[:] = self.holding
            case 4:
                registers[:] = self.registers
            case 15:
                self.coils[address : address + len(values)] = map(bool, values)
            case 5:
                self.coils[address] = bool(values[0])
            case 16:
                self.holding[address : address + len(values)] = values
            case _:
                raise AssertionError(f"function {function} is not of these maps")


def _packed(bits: list[bool]) -> list[int]:
    return [sum(1 << n for n, on in enumerate(bits[at : at + 16]) if on) for at in range(0, len(bits), 16)]


class _Mapping(ctypes.Structure):
    _fields_ = [
        *[(name, ctypes.c_int) for name in ("nb_bits", "start_bits", "nb_input_bits", "start_input_bits")],
        *[(name, ctypes.c_int) for name in ("nb_input_registers", "start_input_registers")],
        *[(name, ctypes.c_int) for name in ("nb_registers", "start_registers")],
        ("tab_bits", ctypes.POINTER(ctypes.c_uint8)),
        ("tab_input_bits", ctypes.POINTER(ctypes.c_uint8)),
        ("tab_input_registers", ctypes.POINTER(ctypes.c_uint16)),
        ("tab_registers", ctypes.POINTER(ctypes.c_uint16)),
    ]


class LibmodbusSlave:
    """libmodbus, in C, answering out of its own tables; a thread of ours only calls it."""

    def __init__(self, port: str, unit: int, kind: Kind) -> None:
        self.kind = kind
        self._lib = lib = ctypes.CDLL("libmodbus.so.5")
        lib.modbus_new_rtu.restype = ctypes.c_void_p
        lib.modbus_new_rtu.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_char, ctypes.c_int, ctypes.c_int]
        lib.modbus_mapping_new.restype = ctypes.POINTER(_Mapping)
        self._context = ctypes.c_void_p(lib.modbus_new_rtu(port.encode(), 115200, b"N", 8, 1))
        lib.modbus_set_slave(self._context, unit)
        self._mapping = lib.modbus_mapping_new(COILS, kind.inputs, HOLDING, INPUT_REGISTERS)
        tables = self._mapping.contents
        self.inputs, self.registers = tables.tab_input_bits, tables.tab_input_registers
        self.coils, self.holding = tables.tab_bits, tables.tab_registers
        for n, word in enumerate(kind.identity):
            self.registers[IDENTITY + n] = word
        self.heard = 0
        self._stopping = False
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def start(self) -> None:
        assert self._lib.modbus_connect(self._context) == 0
        assert self._lib.modbus_set_indication_timeout(self._context, 0, 100_000) == 0  # so that it can be stopped
        self._thread.start()

    def stop(self) -> None:
        self._stopping = True
        self._thread.join(20)
        self._lib.modbus_close(self._context)
        self._lib.modbus_mapping_free(self._mapping)
        self._lib.modbus_free(self._context)

    def _serve(self) -> None:
        query = (ctypes.c_uint8 * 260)()
        while not self._stopping:
            size = self._lib.modbus_receive(self._context, query)
            if size > 0:
                self._lib.modbus_reply(self._context, query, size, self._mapping)
                self.heard += 1
