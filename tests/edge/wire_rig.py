"""Two ptys and a relay between them: the daemon's port here, a foreign peer there, faults in the middle."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import pty
import threading
import tty
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from cures import limit_s
from pymodbus.constants import ExcCodes
from pymodbus.server import ModbusSerialServer
from pymodbus.simulator import DataType, SimData, SimDevice

from meterd.config import (
    BitBlock,
    BusConfig,
    CounterBlock,
    IdentityBlock,
    ModuleRef,
    PollConfig,
    Profile,
    SerialBlock,
    TextBlock,
)
from meterd.edge.modbus import ModbusBus
from meterd.edge.modbus_identity import Identities
from meterd.edge.modbus_line import BusStats
from protocols.events import DeviceDown, DeviceUp, InputStuck, Reading

LIMIT_S = 20
INPUTS = 16
OUTPUTS = 8
HEARTBEAT = 40

SENSORS = Profile(
    id="bench-sensors",
    kind="sensors",
    inputs=BitBlock(2, 0, INPUTS),
    counters=CounterBlock(4, 0, 16),
    outputs=BitBlock(1, 0, OUTPUTS),
    heartbeat=HEARTBEAT,
    identity=IdentityBlock(3, 100, (0x4D54, 0x5244)),
    serial=SerialBlock(3, 102, 4),
    seats=(0, 1, 2, 3, 4, 5, 6),
    lock=7,
    lamps=(0, 1, 2, 3, 4, 5, 6),
    lockout=7,
)
KEYPAD = Profile(
    id="bench-keypad",
    kind="keypad",
    inputs=BitBlock(2, 0, INPUTS),
    counters=CounterBlock(4, 0, 16),
    text=TextBlock(0, 2, 16),
    keys={"lock": 0, "enter": 1, "digit-3": 2},
)


def raw_pty() -> tuple[int, str]:
    """A master and the name of its slave, without line editing."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    name = os.ttyname(slave)
    os.close(slave)
    os.set_blocking(master, False)
    return master, name


class Cable:
    """The relay. ``to_module`` and ``to_daemon`` may change, drop or multiply what passes."""

    def __init__(self) -> None:
        self.near, self.port = raw_pty()
        self.far, self.peer_port = raw_pty()
        self.to_module: Callable[[bytes], list[bytes]] = lambda data: [data]
        self.to_daemon: Callable[[bytes], list[bytes]] = lambda data: [data]
        self.requests: list[bytes] = []

    def start(self) -> None:
        loop = asyncio.get_running_loop()
        loop.add_reader(self.near, self._near_ready)
        loop.add_reader(self.far, self._far_ready)

    def inject(self, data: bytes) -> None:
        """Bytes that come from nowhere towards the daemon."""
        os.write(self.near, data)

    def unplug(self) -> None:
        """The daemon's adapter goes away."""
        if self.near >= 0:
            asyncio.get_running_loop().remove_reader(self.near)
            os.close(self.near)
            self.near = -1

    def plug(self, path: Path) -> None:
        """A new adapter behind the same stable name."""
        self.near, name = raw_pty()
        path.unlink(missing_ok=True)
        path.symlink_to(name)
        asyncio.get_running_loop().add_reader(self.near, self._near_ready)

    def close(self) -> None:
        self.unplug()
        asyncio.get_running_loop().remove_reader(self.far)
        os.close(self.far)

    def _near_ready(self) -> None:
        with contextlib.suppress(OSError):  # EIO: the daemon has not opened its side
            data = os.read(self.near, 4096)
            self.requests.append(data)
            for piece in self.to_module(data):
                os.write(self.far, piece)

    def _far_ready(self) -> None:
        with contextlib.suppress(OSError):
            data = os.read(self.far, 4096)
            for piece in self.to_daemon(data):
                if self.near >= 0:
                    os.write(self.near, piece)


class PymodbusModule:
    """Modules served by pymodbus: one process, one loop, but another program's idea of the protocol."""

    def __init__(self, port: str, units: tuple[int, ...]) -> None:
        self.inputs = {unit: [False] * INPUTS for unit in units}
        self.counters = {unit: [0] * INPUTS for unit in units}
        self.identity = [0x4D54, 0x5244]
        self.coils: dict[int, list[bool]] = {unit: [False] * 48 for unit in units}
        self.serials: dict[int, bytes] = {unit: b"%08d" % unit for unit in units}
        self.registers: dict[int, list[int]] = {unit: [0] * 106 for unit in units}
        self.refuse: set[int] = set()
        self._server = ModbusSerialServer(
            [self._device(unit) for unit in units], port=port, baudrate=115200, ignore_missing_devices=True
        )

    async def start(self) -> None:
        await self._server.serve_forever(background=True)

    async def stop(self) -> None:
        await self._server.shutdown()

    def _device(self, unit: int) -> SimDevice:
        async def action(function: int, start: int, address: int, count: int, registers: list[int], values: Any) -> Any:
            if function in self.refuse:
                return ExcCodes.ILLEGAL_FUNCTION
            if function == 2:
                registers[0] = sum(1 << i for i, on in enumerate(self.inputs[unit]) if on)
            elif function == 4:
                registers[:INPUTS] = self.counters[unit]
            elif function == 15:
                self.coils[unit][address : address + len(values)] = values
            elif function == 1:
                for word in range(3):
                    bits = self.coils[unit][16 * word : 16 * word + 16]
                    registers[word] = sum(1 << i for i, on in enumerate(bits) if on)
            elif function == 16:
                self.registers[unit][address : address + len(values)] = values
            elif function == 3:
                registers[:100] = self.registers[unit][:100]
                registers[100:102] = self.identity
                registers[102:106] = [int.from_bytes(self.serials[unit][i : i + 2], "big") for i in range(0, 8, 2)]
            return None

        bits = DataType.BITS
        return SimDevice(
            unit,
            (
                [SimData(0, values=[False] * 48, datatype=bits)],
                [SimData(0, values=[False] * INPUTS, datatype=bits)],
                [SimData(0, count=106, values=0, datatype=DataType.REGISTERS)],
                [SimData(0, count=INPUTS, values=0, datatype=DataType.REGISTERS)],
            ),
            action=action,
        )


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


class _Bits:
    """A C table seen as a list of bools."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __setitem__(self, index: int, value: bool) -> None:
        self._table[index] = int(value)

    def __getitem__(self, index: Any) -> Any:
        return [bool(v) for v in self._table[index]] if isinstance(index, slice) else bool(self._table[index])


class LibmodbusModule:
    """One module served by libmodbus, in C, in a thread of its own."""

    def __init__(self, port: str, units: tuple[int, ...]) -> None:
        self._lib = lib = ctypes.CDLL("libmodbus.so.5")
        lib.modbus_new_rtu.restype = ctypes.c_void_p
        lib.modbus_new_rtu.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_char, ctypes.c_int, ctypes.c_int]
        lib.modbus_mapping_new.restype = ctypes.POINTER(_Mapping)
        for name in ("modbus_set_slave", "modbus_connect", "modbus_receive", "modbus_reply", "modbus_close"):
            getattr(lib, name).argtypes = None
        (unit,) = units
        self._context = ctypes.c_void_p(lib.modbus_new_rtu(port.encode(), 115200, b"N", 8, 1))
        lib.modbus_set_slave(self._context, unit)
        self._mapping = lib.modbus_mapping_new(48, INPUTS, 106, INPUTS)
        tables = self._mapping.contents
        tables.tab_registers[100], tables.tab_registers[101] = 0x4D54, 0x5244
        self.inputs = {unit: _Bits(tables.tab_input_bits)}
        self.counters = {unit: tables.tab_input_registers}
        self.coils = {unit: _Bits(tables.tab_bits)}
        self.registers = {unit: tables.tab_registers}
        self._stopping = False
        self._thread = threading.Thread(target=self._serve, daemon=True)

    async def start(self) -> None:
        assert self._lib.modbus_connect(self._context) == 0
        self._thread.start()

    async def stop(self) -> None:
        self._stopping = True

    def _serve(self) -> None:
        query = (ctypes.c_uint8 * 260)()
        failures = 0
        while not self._stopping and failures < 100:
            size = self._lib.modbus_receive(self._context, query)
            failures = failures + 1 if size < 0 else 0
            if size > 0:
                self._lib.modbus_reply(self._context, query, size, self._mapping)


class Floor:
    """What a bus handed over, and a way to wait for it."""

    def __init__(self) -> None:
        self.events: list[DeviceUp | Reading | DeviceDown | InputStuck] = []
        self._arrived = asyncio.Event()

    def __call__(self, event: DeviceUp | Reading | DeviceDown | InputStuck) -> None:
        self.events.append(event)
        self._arrived.set()

    def of(self, kind: type, device: str | None = None) -> list[Any]:
        return [e for e in self.events if isinstance(e, kind) and device in (None, e.device)]

    async def until(self, true: Callable[[], bool]) -> None:
        """Wait until ``true()``; something is handed over before it can become true."""
        async with asyncio.timeout(limit_s()):
            while not true():
                self._arrived.clear()
                await self._arrived.wait()


async def until(true: Callable[[], bool]) -> None:
    """Wait for something that announces nothing."""
    async with asyncio.timeout(limit_s()):
        while not true():  # noqa: ASYNC110 - a C library's memory and a pty announce nothing
            await asyncio.sleep(0.002)


class Rig:
    """A bus under test, its cable and its module."""

    def __init__(self, cable: Cable, module: Any, bus: ModbusBus, floor: Floor, stats: BusStats) -> None:
        self.cable, self.module, self.bus, self.floor, self.stats = cable, module, bus, floor, stats


@contextlib.asynccontextmanager
async def rig(
    *,
    units: tuple[int, ...] = (40,),
    mute: tuple[int, ...] = (),
    others: tuple[int, ...] = (),
    profile: Profile = SENSORS,
    peer: str = "pymodbus",
    poll: PollConfig | None = None,
    echo: bool = False,
    port: str | None = None,
    serials: dict[int, str] | None = None,
    identities: Identities | None = None,
    name: str = "pit-1",
    cable: Cable | None = None,
    baud: int = 115200,
    trace: Callable[[str, bytes], None] | None = None,
) -> AsyncIterator[Rig]:
    """Everything started; torn down at the end. ``mute``: units that nothing reaches; ``others``: strangers there."""
    cable = cable or Cable()
    cable.to_module = lambda data: [] if data[0] in mute else [data]
    kind = {"pymodbus": PymodbusModule, "libmodbus": LibmodbusModule}[peer]
    module = kind(cable.peer_port, (*units, *others))
    await module.start()
    cable.start()
    config = BusConfig(name, "modbus", port or cable.port, baud, echo=echo)
    floor, stats = Floor(), BusStats()
    plans = [ModuleRef(name, unit, profile, (serials or {}).get(unit)) for unit in units]
    usual = PollConfig(levels_ms=25, counters_ms=200, timeout_ms=100)
    bus = ModbusBus(config, plans, poll or usual, floor, stats, identities=identities, trace=trace)
    task = asyncio.create_task(bus.run())
    try:
        yield Rig(cable, module, bus, floor, stats)
    finally:
        task.cancel()
        await asyncio.wait([task])
        await module.stop()
        cable.close()
        if not task.cancelled() and task.exception():
            raise task.exception()  # type: ignore[misc]
