"""One Modbus line: one request at a time, its one reply or a named failure. pymodbus behind the guard, on our own port.

Rule 1: pymodbus is never used bare. What was heard passes :class:`protocols.modbus_guard.Guard` in its ``trace_packet``
hook; only the one acceptable reply reaches its framer. It neither retries nor reconnects here.
Rule 2: exactly one request is outstanding; the line is silent for 3.5 characters before the next, and after a timeout
for one reply time more, so that a late reply finds nobody listening.
Rule 3: every exchange has a deadline of ours, outside the library.

Units: ``*_s`` seconds of the monotonic clock, ``*_ms`` milliseconds.
"""

from __future__ import annotations

import asyncio
import logging
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any, Final, NamedTuple, cast

import structlog
from pymodbus.client import AsyncModbusSerialClient
from pymodbus.exceptions import ModbusException

from meterd.config import BusConfig
from meterd.edge.modbus_hints import ECHOES, ECHOES_NOT, LATENCY_EXCHANGES, EchoHint, LatencyHint, LateReplies
from meterd.edge.ports import on_usb
from meterd.edge.serialport import Pace, PortLostError, SerialLink, open_link
from protocols.errors import Cause
from protocols.modbus_guard import Guard

READ_COILS: Final = 1
READ_INPUTS: Final = 2
READ_HOLDING: Final = 3
READ_REGISTERS: Final = 4
WRITE_COILS: Final = 15
WRITE_REGISTERS: Final = 16

#: What a line is told about every byte: "tx" or "rx", and the bytes.
Trace = Callable[[str, bytes], None]

#: Upper bounds of the round trips counted, in milliseconds. A healthy module at 38400 baud needs 12.
ROUND_TRIP_MS: Final = (1, 2, 5, 10, 15, 20, 30, 50, 75, 100, 200)

# What it would say line by line is counted in BusStats; a dead module would fill a log with it.
logging.getLogger("pymodbus").setLevel(logging.CRITICAL)
log = structlog.get_logger()


class NoReplyError(Exception):
    """A module did not answer in time, or not with the one reply the request can have.

    ``garbled``: something of a reply came. A bad cable, then, more likely than a dead module.
    ``over``: it was the reply to this request, and is over. None is under way any more.
    """

    def __init__(self, message: str, *, garbled: bool = False, over: bool = False) -> None:
        super().__init__(message)
        self.garbled = garbled
        self.over = over


class ModuleRefusedError(Exception):
    """A module answered with an exception code: it does not know the function, the address or the value, or is busy."""


class Request(NamedTuple):
    """One request. ``values`` are what a write carries: bits or registers."""

    unit: int
    function: int
    address: int
    count: int  # type: ignore[assignment]  # nobody counts values in a request
    values: tuple[int, ...] = ()

    @property
    def request_bytes(self) -> int:
        """Characters of the request on the line."""
        if self.function == WRITE_COILS:
            return 9 + (self.count + 7) // 8
        return 9 + 2 * self.count if self.function == WRITE_REGISTERS else 8

    @property
    def reply_bytes(self) -> int:
        """Characters of its good reply on the line."""
        if self.function in (READ_COILS, READ_INPUTS):
            return 5 + (self.count + 7) // 8
        return 5 + 2 * self.count if self.function in (READ_HOLDING, READ_REGISTERS) else 8

    @property
    def shape(self) -> tuple[int, int]:
        """What tells its reply from others of the same unit. Two requests of one shape may take each other's reply."""
        return self.function, self.reply_bytes


class Reply(NamedTuple):
    """What came back (bits or registers), and the moments around it."""

    values: tuple[int, ...]
    began_s: float
    ended_s: float


class BusStats:
    """Numbers of one bus for metrics: written by the wire loop alone, read by anybody.

    ``frames`` counts exchanges by outcome: ``ok``, ``timeout``, ``refused`` and, beside them, what else was heard:
    ``crc``, ``cut``, ``echo``, ``wrong_unit``, ``wrong_function``, ``mismatch``, ``stray`` (bytes skipped to find the
    frame: a resynchronisation), ``late`` (after the deadline); ``unconfirmed``: replies that were ``ok`` on a line that
    garbles, showed something new and were not repeated by the next read.
    """

    def __init__(self) -> None:
        """Begin with nothing counted and the port down."""
        self.frames: Counter[str] = Counter()
        self.bytes_in = 0
        self.bytes_out = 0
        self.polls = 0
        self.late_polls = 0
        self.writes = 0
        self.rewrites = 0
        self.port_up = False
        self.port_losses = 0
        self.port_cause = ""
        self.port_hint = ""  # what is set wrongly, while it is seen
        self.latency = LatencyHint()
        self.usb = False
        self.stuck: dict[str, int] = {}
        self.units_up = 0
        self.round_trips = [0] * (len(ROUND_TRIP_MS) + 1)
        self.round_trip_total_ms = 0.0
        self.round_trip_max_ms = 0.0
        self.late_ms = 0.0
        self._timed = 0

    @property
    def resyncs(self) -> int:
        """How often a frame had to be looked for among other bytes."""
        return self.frames["stray"]

    def hints(self) -> dict[str, str]:
        """What is set wrongly, and what could be better: only an adapter on USB has a latency timer to be set."""
        return {"hint": self.port_hint, "advice": self.latency.words if self.usb else ""}

    def took_ms(self, milliseconds: float, needed_ms: float = 0.0, unit: int = 0) -> None:
        """Count one round trip. ``needed_ms``: what line and module need for it at most.

        ``late_ms`` follows how much longer it takes on the whole; an adapter's latency timer shows there.
        """
        self._timed = min(self._timed + 1, LATENCY_EXCHANGES)
        self.latency.took(unit, milliseconds - needed_ms)
        self.late_ms += (milliseconds - needed_ms - self.late_ms) / self._timed
        self.round_trips[bisect_left(ROUND_TRIP_MS, milliseconds)] += 1
        self.round_trip_total_ms += milliseconds
        self.round_trip_max_ms = max(self.round_trip_max_ms, milliseconds)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "frames": dict(self.frames),
            "bytes_in": self.bytes_in,
            "bytes_out": self.bytes_out,
            "polls": self.polls,
            "late_polls": self.late_polls,
            "writes": self.writes,
            "rewrites": self.rewrites,
            "port_up": self.port_up,
            "port_losses": self.port_losses,
            "port_cause": self.port_cause,
            "port_hint": self.port_hint,
            "port_advice": self.hints()["advice"],
            "stuck": dict(self.stuck),
            "units_up": self.units_up,
            "round_trip_ms": {
                "bounds": list(ROUND_TRIP_MS),
                "counts": list(self.round_trips),
                "sum": self.round_trip_total_ms,
                "max": self.round_trip_max_ms,
                "late": self.late_ms,
            },
        }


class Line:
    """The port of one bus and the exchanges on it. Used by one task."""

    def __init__(
        self,
        bus: BusConfig,
        stats: BusStats,
        *,
        clock: Callable[[], float] = time.monotonic,
        trace: Trace | None = None,
    ) -> None:
        """Prepare; :meth:`open` opens the port. ``trace`` is told every byte and must neither wait nor raise."""
        self._bus = bus
        self._told = trace
        self._stats = stats
        self._clock = clock
        self.pace = Pace(bus, clock)
        self.lost: PortLostError | None = None
        self.on_lost: Callable[[], None] = _nothing
        self._link: SerialLink | None = None
        self._client: AsyncModbusSerialClient | None = None
        self._guard = Guard(echo=bus.echo)
        self._counted: Counter[Any] = Counter()
        self._echo = EchoHint()
        self.late = LateReplies(clock)
        self._asked: Request | None = None
        self._listening = False
        self._heard_late = False
        self._deadline: asyncio.Timeout | None = None
        self._began_s = 0.0
        self._ended_s = 0.0
        self._bytes_heard = 0  # since the request

    async def open(self) -> None:
        """Open the port and put a fresh pymodbus client on it. Raises :class:`PortLostError`."""
        self.lost = None
        self._listening = False
        bus = self._bus
        self._echo.reset()
        self._stats.latency.reset()
        self._stats.port_hint, self._stats.usb = "", on_usb(bus.port)
        client = AsyncModbusSerialClient(
            bus.port,
            baudrate=bus.baud,
            bytesize=bus.bytesize,
            parity=bus.parity,
            stopbits=bus.stopbits,
            name=bus.id,
            reconnect_delay=0,
            retries=0,
            timeout=10,  # never reached: each exchange has our deadline
            trace_packet=self._trace,
        )
        self._link = await open_link(bus, _Tap(self, cast("asyncio.Protocol", client.ctx)))
        self._client = client

    def close(self) -> None:
        """Give the port back at once."""
        if self._client is not None:
            self._client.close()
        if self._link is not None:
            self._link.close()
        self._client = self._link = None

    async def ask(self, request: Request, deadline_s: float, *, turnaround_s: float = 0.0) -> Reply:
        """One exchange; the whole reply must be there ``deadline_s`` after the request was handed to the driver.

        ``turnaround_s``: the longest the module thinks, for judging the adapter.
        Raises :class:`NoReplyError`, :class:`ModuleRefusedError` or :class:`PortLostError`.
        """
        if (wait_s := self.pace.wait_s()) > 0:
            await asyncio.sleep(wait_s)
        if self.lost is not None or self._client is None:
            raise self.lost or PortLostError(f"{self._bus.port} is closed")
        self._listening = True
        self._asked = request
        self._heard_late = False
        self._bytes_heard = 0
        try:
            async with asyncio.timeout(deadline_s) as self._deadline:
                answer = await _call(self._client, request)
        except (TimeoutError, ModbusException) as fault:
            heard = self._gave_up(request)
            message = f"unit {request.unit} gave no reply to function {request.function}"
            over = heard in {Cause.CRC, Cause.CUT} and self._is_over(request)
            if not over:
                self.late.gave_up(request, self._began_s)
            raise NoReplyError(message, garbled=heard not in {None, Cause.ECHO}, over=over) from fault
        finally:
            self._deadline = None
            self._listening = False
            self._asked = None
            self._take_counts()
        if (task := asyncio.current_task()) is not None and task.cancelling():
            raise asyncio.CancelledError  # wait_for of Python 3.11 forgets it when the reply came at that moment
        needed_s = self.pace.line_s(request.request_bytes + request.reply_bytes) + turnaround_s
        self._stats.took_ms((self._ended_s - self._began_s) * 1000, needed_s * 1000, request.unit)
        if answer.isError():
            self._stats.frames["refused"] += 1
            raise ModuleRefusedError(f"unit {request.unit} refused function {request.function}: {answer}")
        self._stats.frames["ok"] += 1
        values = answer.bits if request.function in (READ_COILS, READ_INPUTS) else answer.registers
        return Reply(tuple(values[: request.count]), self._began_s, self._ended_s)

    def _is_over(self, request: Request) -> bool:
        """Whether about as much was heard as the reply has, and more than an echo of the request can have been."""
        echo = request.request_bytes + 2
        return self._bytes_heard >= request.reply_bytes - 2 > echo and not self._bus.echo

    def _gave_up(self, request: Request) -> Cause | None:
        """No acceptable reply came; what came instead. Raises the loss of the port if that was why."""
        if self._guard.unechoed():
            self._echo.note(ECHOES_NOT)
        heard = self._guard.settle()
        if self.lost is not None:
            raise self.lost from None
        if self._link is not None and self._link.get_write_buffer_size():
            raise PortLostError(f"{self._bus.port} takes no bytes: is it held back by flow control?")
        self._stats.frames["timeout"] += 1
        self.pace.silent_for(self.pace.line_s(request.reply_bytes))
        return heard

    def _take_counts(self) -> None:
        """Move what the guard counted into the stats; say where the adapter's echo is not as the site file has it."""
        if self._guard.counts != self._counted:
            for cause, count in (self._guard.counts - self._counted).items():
                self._stats.frames[str(cause)] += count
                if cause is Cause.ECHO:
                    self._echo.note(ECHOES)
            self._counted = Counter(self._guard.counts)
        told, advice = self._echo.exchanged(), self._echo.words
        self._stats.port_hint = f"{self._bus.port}: {advice}" if advice else ""
        if told:
            log.warning("bus.echo", bus=self._bus.id, port=self._bus.port, advice=advice)

    def _trace(self, sending: bool, data: bytes) -> bytes:
        """The hook of pymodbus: the guard, with the moments around it."""
        if sending:
            self._began_s = self._clock()
            self.pace.sent(len(data))
            self._stats.bytes_out += len(data)
            if self._told is not None:
                self._told("tx", bytes(data))
            return self._guard(True, data)
        if not self._listening:
            if not self._heard_late:
                self._heard_late = True
                self._stats.frames["late"] += 1
            return b""
        frame = self._guard(False, data)
        if frame:
            self._ended_s = self._clock()
        return frame

    def heard(self, data: bytes) -> None:
        """Bytes arrived: the line is not silent."""
        self._stats.bytes_in += len(data)
        self._bytes_heard += len(data)
        self.late.heard(data, self._asked)
        self.pace.heard()
        if self._told is not None:
            self._told("rx", bytes(data))

    def port_lost(self, error: Exception | None) -> None:
        """The port is gone: end the exchange that waits."""
        self.lost = error if isinstance(error, PortLostError) else PortLostError(f"{self._bus.port} was closed")
        if self._deadline is not None and not self._deadline.expired():
            self._deadline.reschedule(0)
        self.on_lost()


class _Tap(asyncio.Protocol):
    """Stands between our port and pymodbus' protocol: sees every byte, and why the port was lost."""

    def __init__(self, line: Line, inner: asyncio.Protocol) -> None:
        self._line = line
        self._inner = inner

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._inner.connection_made(transport)

    def data_received(self, data: bytes) -> None:
        self._line.heard(data)
        self._inner.data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._inner.connection_lost(exc)
        self._line.port_lost(exc)


def _call(client: AsyncModbusSerialClient, request: Request) -> Coroutine[Any, Any, Any]:
    """The library's call for a request."""
    unit, function, address, count, values = request
    call: Any
    match function:
        case 1:
            call = client.read_coils(address, count=count, device_id=unit)
        case 2:
            call = client.read_discrete_inputs(address, count=count, device_id=unit)
        case 3:
            call = client.read_holding_registers(address, count=count, device_id=unit)
        case 4:
            call = client.read_input_registers(address, count=count, device_id=unit)
        case 15:
            call = client.write_coils(address, [bool(value) for value in values], device_id=unit)
        case _:
            call = client.write_registers(address, list(values), device_id=unit)
    return cast("Coroutine[Any, Any, Any]", call)


def _nothing() -> None:
    """Nobody wants to know."""
