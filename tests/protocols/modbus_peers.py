"""Independent Modbus programs in both roles, behind one small interface each: what a cell of docs/peers.md calls.

A master reads and writes a unit of ours; a slave is read and written by our line. Addresses count from 0.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import pty
import select
import subprocess
import threading
import tty
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Protocol

UNIT = 40
SIZE = 16
LIMIT_S = 20
#: What every unit holds before a test: inputs 0, 2, 3; coils 1, 4; registers that tell high from low byte.
INPUTS = [n in {0, 2, 3} for n in range(SIZE)]
COILS = [n in {1, 4} for n in range(SIZE)]
HOLDING = [0x1200 + n for n in range(SIZE)]
INPUT_REGISTERS = [0xFE00 + n for n in range(SIZE)]


class RefusedError(Exception):
    """The other side answered with an exception code. ``code`` 0: the program does not say which."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Master(Protocol):
    """A program that asks. ``function`` 1 to 4 reads ``count``; 5, 6, 15, 16 write ``values``."""

    def read(self, function: int, address: int, count: int) -> list[int]: ...
    def write(self, function: int, address: int, values: Sequence[int]) -> None: ...


@contextlib.contextmanager
def served(answer: Callable[[bytes], bytes]) -> Iterator[str]:
    """A serial port whose other end answers bytes with bytes."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    name = os.ttyname(slave)
    stop, wake = os.pipe()

    def serve() -> None:
        while True:
            ready, _, _ = select.select([master, stop], [], [], LIMIT_S)
            if stop in ready or not ready:
                return
            with contextlib.suppress(OSError):
                reply = answer(os.read(master, 4096))
                if reply:
                    os.write(master, reply)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield name
    finally:
        os.write(wake, b"x")
        thread.join(LIMIT_S)
        for fd in (master, slave, stop, wake):
            os.close(fd)


# ── masters ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class LibmodbusMaster:
    """libmodbus, in C, by ctypes."""

    _READS: ClassVar = {
        1: "modbus_read_bits",
        2: "modbus_read_input_bits",
        3: "modbus_read_registers",
        4: "modbus_read_input_registers",
    }
    _ERRORS = 112345678

    def __init__(self, port: str) -> None:
        self._lib = lib = ctypes.CDLL("libmodbus.so.5", use_errno=True)
        lib.modbus_new_rtu.restype = ctypes.c_void_p
        lib.modbus_new_rtu.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_char, ctypes.c_int, ctypes.c_int]
        self._context = ctypes.c_void_p(lib.modbus_new_rtu(port.encode(), 115200, b"N", 8, 1))
        lib.modbus_set_slave(self._context, UNIT)
        assert lib.modbus_connect(self._context) == 0

    def read(self, function: int, address: int, count: int) -> list[int]:
        into: Any = ((ctypes.c_uint8 if function < 3 else ctypes.c_uint16) * count)()
        self._done(getattr(self._lib, self._READS[function])(self._context, address, count, into))
        return list(into)

    def write(self, function: int, address: int, values: Sequence[int]) -> None:
        lib, context = self._lib, self._context
        if function == 5:
            self._done(lib.modbus_write_bit(context, address, values[0]))
        elif function == 6:
            self._done(lib.modbus_write_register(context, address, values[0]))
        elif function == 15:
            bits = (ctypes.c_uint8 * len(values))(*values)
            self._done(lib.modbus_write_bits(context, address, len(values), bits))
        else:
            words = (ctypes.c_uint16 * len(values))(*values)
            self._done(lib.modbus_write_registers(context, address, len(values), words))

    def _done(self, result: int) -> None:
        if result < 0:
            raise RefusedError(ctypes.get_errno() - self._ERRORS)


class MbpollMaster:
    """mbpoll, a command of its own for each exchange."""

    _TYPES: ClassVar = {1: "0", 2: "1", 3: "4", 4: "3", 5: "0", 6: "4", 15: "0", 16: "4"}
    _WORDS: ClassVar = {"Illegal function": 1, "Illegal data address": 2, "Illegal data value": 3}

    def __init__(self, port: str) -> None:
        self._port = port

    def read(self, function: int, address: int, count: int) -> list[int]:
        kind = self._TYPES[function] + (":hex" if function > 2 else "")
        rows = self._run(kind, address, "-c", str(count), "-1", self._port)
        return [int(row.split()[-1], 0) for row in rows if row.startswith("[")]

    def write(self, function: int, address: int, values: Sequence[int]) -> None:
        self._run(self._TYPES[function], address, self._port, *map(str, values))

    def _run(self, kind: str, address: int, *more: str) -> list[str]:
        line = ["mbpoll", "-m", "rtu", "-a", str(UNIT), "-b", "115200", "-P", "none", "-q", "-0", "-t", kind]
        done = subprocess.run(
            [*line, "-r", str(address), *more], capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
        said = done.stdout + done.stderr
        for words, code in self._WORDS.items():
            if words in said:
                raise RefusedError(code)
        assert done.returncode == 0, said
        return done.stdout.splitlines()


class MinimalmodbusMaster:
    """minimalmodbus over pyserial."""

    def __init__(self, port: str) -> None:
        import minimalmodbus  # noqa: PLC0415 - this master's own

        self._module = minimalmodbus
        self._instrument = minimalmodbus.Instrument(port, UNIT)
        self._instrument.serial.baudrate = 115200
        self._instrument.serial.timeout = 1

    def read(self, function: int, address: int, count: int) -> list[int]:
        if function < 3:
            return list(self._call(self._instrument.read_bits, address, count, functioncode=function))
        return list(self._call(self._instrument.read_registers, address, count, functioncode=function))

    def write(self, function: int, address: int, values: Sequence[int]) -> None:
        instrument = self._instrument
        if function == 5:
            self._call(instrument.write_bit, address, values[0], functioncode=5)
        elif function == 6:
            self._call(instrument.write_register, address, values[0], functioncode=6)
        elif function == 15:
            self._call(instrument.write_bits, address, list(values))
        else:
            self._call(instrument.write_registers, address, list(values))

    def _call(self, what: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
        try:
            return what(*arguments, **more)
        except self._module.IllegalRequestError as refused:
            codes = {"function": 1, "address": 2, "value": 3}
            code = next((code for word, code in codes.items() if f"data {word}" in str(refused)), 0)
            raise RefusedError(code) from refused


class PymodbusMaster:
    """pymodbus' blocking client, without our guard."""

    def __init__(self, port: str) -> None:
        from pymodbus.client import ModbusSerialClient  # noqa: PLC0415 - this master's own

        self._client = ModbusSerialClient(port, baudrate=115200, retries=0, timeout=1)
        assert self._client.connect()

    def read(self, function: int, address: int, count: int) -> list[int]:
        client = self._client
        calls: dict[int, Callable[..., Any]] = {
            1: client.read_coils,
            2: client.read_discrete_inputs,
            3: client.read_holding_registers,
            4: client.read_input_registers,
        }
        reply = self._done(calls[function](address, count=count, device_id=UNIT))
        return [int(value) for value in (reply.bits if function < 3 else reply.registers)[:count]]

    def write(self, function: int, address: int, values: Sequence[int]) -> None:
        client = self._client
        if function == 5:
            self._done(client.write_coil(address, bool(values[0]), device_id=UNIT))
        elif function == 6:
            self._done(client.write_register(address, values[0], device_id=UNIT))
        elif function == 15:
            self._done(client.write_coils(address, [bool(value) for value in values], device_id=UNIT))
        else:
            self._done(client.write_registers(address, list(values), device_id=UNIT))

    @staticmethod
    def _done(reply: Any) -> Any:
        if reply.isError():
            raise RefusedError(reply.exception_code)
        return reply


class PamojaMaster:
    """pamoja-modbus' client, in Rust, on the kernel's own port."""

    def __init__(self, port: str) -> None:
        from pamoja import modbus  # noqa: PLC0415 - this master's own

        self._error = modbus.ModbusClientError
        settings = modbus.SerialSettings(115_200, modbus.Parity.NONE)
        self._client = modbus.ModbusClient(modbus.SerialPort.open(port, settings))

    def read(self, function: int, address: int, count: int) -> list[int]:
        client = self._client
        calls: dict[int, Callable[..., Any]] = {
            1: client.read_coils,
            2: client.read_discrete_inputs,
            3: client.read_holding_registers,
            4: client.read_input_registers,
        }
        return [int(value) for value in self._call(calls[function], address, count)]

    def write(self, function: int, address: int, values: Sequence[int]) -> None:
        client = self._client
        if function == 5:
            self._call(client.write_single_coil, address, bool(values[0]))
        elif function == 6:
            self._call(client.write_single_register, address, values[0])
        elif function == 15:
            self._call(client.write_multiple_coils, address, [bool(value) for value in values])
        else:
            self._call(client.write_multiple_registers, address, list(values))

    def _call(self, what: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return what(UNIT, *arguments)
        except self._error as refused:
            raise RefusedError(int(getattr(refused, "exception", 0) or 0)) from refused


# ── slaves ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@contextlib.contextmanager
def libmodbus_slave() -> Iterator[str]:
    """The server loop of libmodbus in a thread, on the far end of a pair of ports."""
    with ports() as (near, far):
        slave = _LibmodbusSlave(far)
        try:
            yield near
        finally:
            slave.stop()


class _LibmodbusSlave:
    def __init__(self, port: str) -> None:
        self._lib = lib = ctypes.CDLL("libmodbus.so.5")
        lib.modbus_new_rtu.restype = ctypes.c_void_p
        lib.modbus_new_rtu.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_char, ctypes.c_int, ctypes.c_int]
        lib.modbus_mapping_new.restype = ctypes.c_void_p
        self._context = ctypes.c_void_p(lib.modbus_new_rtu(port.encode(), 115200, b"N", 8, 1))
        lib.modbus_set_slave(self._context, UNIT)
        self._mapping = ctypes.c_void_p(lib.modbus_mapping_new(SIZE, SIZE, SIZE, SIZE))
        numbers = ctypes.cast(self._mapping, ctypes.POINTER(ctypes.c_int * 8)).contents
        assert list(numbers) == [SIZE, 0] * 4
        tables = ctypes.cast(self._mapping.value + ctypes.sizeof(numbers), ctypes.POINTER(ctypes.c_void_p * 4)).contents  # type: ignore[operator]
        contents = (COILS, INPUTS, INPUT_REGISTERS, HOLDING)
        for address, values, size in zip(tables, contents, (8, 8, 16, 16), strict=True):
            area = ctypes.cast(address, ctypes.POINTER({8: ctypes.c_uint8, 16: ctypes.c_uint16}[size] * SIZE)).contents
            area[:] = [int(value) for value in values]
        assert lib.modbus_connect(self._context) == 0
        self._stopping = False
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        query = (ctypes.c_uint8 * 260)()
        failures = 0
        while not self._stopping and failures < 100:
            size = self._lib.modbus_receive(self._context, query)
            failures = failures + 1 if size < 0 else 0
            if size > 0:
                self._lib.modbus_reply(self._context, query, size, self._mapping)

    def stop(self) -> None:
        self._stopping = True


@contextlib.contextmanager
def pymodbus_slave() -> Iterator[str]:
    """The server of pymodbus in a loop and thread of its own."""
    from pymodbus.server import ModbusSerialServer  # noqa: PLC0415 - this slave's own
    from pymodbus.simulator import DataType, SimData, SimDevice  # noqa: PLC0415

    bits, words = DataType.BITS, DataType.REGISTERS
    device = SimDevice(
        UNIT,
        (
            [SimData(0, values=list(COILS), datatype=bits)],
            [SimData(0, values=list(INPUTS), datatype=bits)],
            [SimData(0, values=list(HOLDING), datatype=words)],
            [SimData(0, values=list(INPUT_REGISTERS), datatype=words)],
        ),
    )
    with ports() as (near, far):
        started, done = threading.Event(), threading.Event()

        async def serve() -> None:
            server = ModbusSerialServer([device], port=far, baudrate=115200, ignore_missing_devices=True)
            await server.serve_forever(background=True)
            started.set()
            await asyncio.to_thread(done.wait, LIMIT_S)
            await server.shutdown()

        thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
        thread.start()
        assert started.wait(LIMIT_S)
        try:
            yield near
        finally:
            done.set()
            thread.join(LIMIT_S)


@contextlib.contextmanager
def pamoja_slave() -> Iterator[str]:
    """pamoja-modbus' device, which answers frames."""
    from pamoja.modbus import ModbusServer  # noqa: PLC0415 - this slave's own

    server = ModbusServer(UNIT)
    server.set_coils(0, list(COILS))
    server.set_discrete_inputs(0, list(INPUTS))
    server.set_holding_registers(0, list(HOLDING))
    server.set_input_registers(0, list(INPUT_REGISTERS))
    with served(lambda request: server.answer(request) or b"") as port:
        yield port


@contextlib.contextmanager
def ports() -> Iterator[tuple[str, str]]:
    """Two serial ports joined by a wire."""
    masters, names = [], []
    for _ in range(2):
        master, slave = pty.openpty()
        tty.setraw(slave)
        masters.append((master, slave))
        names.append(os.ttyname(slave))
    stop, wake = os.pipe()
    (near, _), (far, _) = masters

    def carry() -> None:
        while True:
            ready, _, _ = select.select([near, far, stop], [], [], LIMIT_S)
            if stop in ready or not ready:
                return
            for fd, other in ((near, far), (far, near)):
                if fd in ready:
                    with contextlib.suppress(OSError):
                        os.write(other, os.read(fd, 4096))

    thread = threading.Thread(target=carry, daemon=True)
    thread.start()
    try:
        yield names[0], names[1]
    finally:
        os.write(wake, b"x")
        thread.join(LIMIT_S)
        for fd in (*masters[0], *masters[1], stop, wake):
            os.close(fd)
