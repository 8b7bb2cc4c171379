"""A serial port of our own: opened exclusively, one kind of failure, never blocking the wire loop.

Rule 1: a port is opened for us alone (flock, and TIOCEXCL for programs that do not ask), and by a name that stays.
Rule 2: whatever a driver raises (OSError, SerialException, termios.error, which is no OSError) becomes
:class:`PortLostError`, once, here. The port is closed at once; a node still held open makes an adapter come back under
another name.
Rule 3: nothing here waits. Bytes that the driver does not take yet wait in our buffer; a peer that stops reading costs
memory up to a bound, never time.

Units: ``*_s`` seconds; ``baud`` bits a second.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import termios
import time
from collections.abc import Callable
from typing import Any, Final

import serial
import structlog

from meterd.config import BusConfig

BACKOFF_FIRST_S: Final = 0.5  # an adapter that was pulled needs about this long to enumerate again
BACKOFF_MAX_S: Final = 5.0  # a technician who has just plugged it in should not wait longer
READ_BYTES_MAX: Final = 4096  # one kernel tty buffer
LOOK_S: Final = 0.2  # how often a port that is away is looked for

_FAULTS: Final = (OSError, serial.SerialException, termios.error, ValueError)


log = structlog.get_logger()


class PortLostError(Exception):
    """A serial port cannot be used: absent, held by another program, unplugged, or set to what it cannot do."""


def program_fault(bus: BusConfig, fault: Exception) -> PortLostError:
    """What a driver makes of an error that nobody foresaw: logged whole, and then treated as the loss of its port."""
    log.critical("bus.fault", bus=bus.id, exc_info=fault)
    return PortLostError(f"{bus.port}: a fault of the program, {fault!r}")


class Backoff:
    """How long to wait before the next try: doubling from ``first_s`` up to ``max_s``."""

    def __init__(self, first_s: float = BACKOFF_FIRST_S, max_s: float = BACKOFF_MAX_S) -> None:
        """Begin at the shortest wait."""
        self._first_s = first_s
        self._max_s = max_s
        self._next_s = first_s

    def next_s(self) -> float:
        """The wait before this try; the one after it is longer."""
        wait_s = self._next_s
        self._next_s = min(self._max_s, wait_s * 2)
        return wait_s

    def reset(self) -> None:
        """The port works: begin at the shortest wait again."""
        self._next_s = self._first_s


async def wait_for_port(path: str, seconds: float) -> None:
    """Wait before the next try to open a port; an adapter that is plugged in meanwhile ends the wait.

    Whoever has just plugged it in should not wait for a back-off that grew while it was away.
    """
    loop = asyncio.get_running_loop()
    before, end_s = _node(path), loop.time() + seconds
    while (left_s := end_s - loop.time()) > 0:
        await asyncio.sleep(min(LOOK_S, left_s))
        now = _node(path)
        if now is not None and now != before:
            return
        before = now


def _node(path: str) -> tuple[int, int, int] | None:
    """What tells the node behind a path from one that was there before; None: nothing is there."""
    try:
        found = os.stat(path)  # noqa: PTH116 - of whatever the stable name leads to
    except OSError:
        return None
    return found.st_rdev, found.st_ino, found.st_ctime_ns


def open_port(bus: BusConfig, *, dtr: bool | None = None) -> serial.Serial:
    """Open ``bus.port`` for us alone, non-blocking, with the line settings of the bus.

    ``dtr`` False keeps that line low while opening; some signs reset when it rises. May take milliseconds on a USB
    adapter: call it outside the wire loop. Raises :class:`PortLostError` with a cause a technician can act on.
    """
    port = serial.Serial()
    port.port = bus.port
    port.baudrate = bus.baud
    port.bytesize = bus.bytesize
    port.parity = bus.parity
    port.stopbits = bus.stopbits
    port.exclusive = True
    port.timeout = 0
    port.write_timeout = 0
    if dtr is not None:
        port.dtr = dtr
    try:
        port.open()
        fcntl.ioctl(port.fileno(), termios.TIOCEXCL)
    except _FAULTS as fault:
        close_port(port)
        raise PortLostError(_cause(bus, fault)) from fault
    _low_latency(port)
    return port


def _low_latency(port: serial.Serial) -> None:
    """FTDI adapters hold replies back for 16 ms unless asked; others, and pseudo-terminals, know no such thing."""
    with contextlib.suppress(*_FAULTS, AttributeError):
        port.set_low_latency_mode(True)


def close_port(port: serial.Serial) -> None:
    """Close without waiting for bytes that were not sent, and without raising."""
    fd = getattr(port, "fd", None)
    if fd is not None:
        with contextlib.suppress(*_FAULTS):
            # Otherwise close() waits for a silent line, up to half a minute on a real UART.
            termios.tcflush(fd, termios.TCOFLUSH)
        with contextlib.suppress(*_FAULTS):
            # The mark outlives us while somebody else holds the node, and would then lock out our own next start.
            fcntl.ioctl(fd, termios.TIOCNXCL)
    with contextlib.suppress(*_FAULTS):
        port.close()


def _cause(bus: BusConfig, fault: BaseException) -> str:
    """One sentence: which port, what is wrong."""
    number = _number(fault)
    if number in (11, 16):  # EAGAIN from flock, EBUSY from TIOCEXCL
        return f"{bus.port} is held by another program"
    if number == 2:
        return f"{bus.port} does not exist"
    if number == 13:
        return f"{bus.port} may not be opened by this user"
    if number in (21, 25):  # a folder; ENOTTY: a file, or a device that is no terminal
        return f"{bus.port} is no serial port"
    if isinstance(fault, (termios.error, ValueError)):
        mode = f"{bus.baud} {bus.bytesize}{bus.parity}{bus.stopbits}"
        return f"{bus.port} does not take {mode}: {fault}"
    return f"{bus.port}: {fault}"


def _number(fault: BaseException | None) -> int | None:
    """The system's error number; pyserial keeps that of termios only in what it was raised from."""
    while fault is not None:
        number = getattr(fault, "errno", None)
        if number is None and isinstance(fault, termios.error) and fault.args:
            number = fault.args[0]
        if isinstance(number, int):
            return number
        fault = fault.__cause__ or fault.__context__
    return None


class SerialLink(asyncio.Transport):
    """An asyncio transport over an open port: ``add_reader`` and ``add_writer``, nothing that waits.

    The protocol gets ``connection_made``, ``data_received`` and exactly one ``connection_lost`` (with a
    :class:`PortLostError`, or None after :meth:`close`). ``on_write`` is told how many bytes the driver took.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        protocol: asyncio.Protocol,
        port: serial.Serial,
        *,
        waiting_bytes_max: int = 65536,
    ) -> None:
        """Take over ``port``; reading begins at once."""
        super().__init__()
        self._loop = loop
        self._protocol = protocol
        self._port = port
        self._fd: int = port.fileno()
        self._waiting = bytearray()
        self._waiting_bytes_max = waiting_bytes_max
        self._closed = False
        self.drained: Callable[[], None] | None = None
        loop.add_reader(self._fd, self._read_ready)
        protocol.connection_made(self)

    def write(self, data: Any) -> None:
        """Send now what the driver takes, keep the rest. More than the bound waiting loses the port."""
        if self._closed:
            return
        if self._waiting:
            self._waiting += data
            if len(self._waiting) > self._waiting_bytes_max:
                self._lose(PortLostError(f"{self._port.port}: the peer reads nothing, {len(self._waiting)} bytes wait"))
            return
        rest = self._send(bytes(data))
        if rest:
            self._waiting += rest
            self._loop.add_writer(self._fd, self._write_ready)

    def discard(self) -> None:
        """Forget the bytes that wait, here and in the driver."""
        self._waiting.clear()
        if not self._closed:
            self._loop.remove_writer(self._fd)
            with contextlib.suppress(*_FAULTS):
                termios.tcflush(self._fd, termios.TCOFLUSH)

    def get_write_buffer_size(self) -> int:
        """Bytes that the driver has not taken yet."""
        return len(self._waiting)

    def is_closing(self) -> bool:
        """True once the port is closed or lost."""
        return self._closed

    def close(self) -> None:
        """Close now; bytes that wait are dropped."""
        self._lose(None)

    def abort(self) -> None:
        """The same as :meth:`close`: there is nothing to wait for."""
        self._lose(None)

    def _send(self, data: bytes) -> bytes:
        """Give ``data`` to the driver; the part it did not take."""
        try:
            return data[os.write(self._fd, data) :]
        except (BlockingIOError, InterruptedError):
            return data
        except _FAULTS as fault:
            self._lose(PortLostError(f"{self._port.port}: {fault}"), fault)
            return b""

    def _write_ready(self) -> None:
        """The driver takes bytes again."""
        rest = self._send(bytes(self._waiting))
        if self._closed:
            return
        del self._waiting[: len(self._waiting) - len(rest)]
        if not self._waiting:
            self._loop.remove_writer(self._fd)
            if self.drained is not None:
                self.drained()

    def _read_ready(self) -> None:
        """Bytes, or the end of the port: a tty that is ready and has nothing was unplugged."""
        try:
            data = os.read(self._fd, READ_BYTES_MAX)
        except (BlockingIOError, InterruptedError):
            return
        except _FAULTS as fault:
            self._lose(PortLostError(f"{self._port.port}: {fault}"), fault)
            return
        if data:
            self._protocol.data_received(data)
        else:
            self._lose(PortLostError(f"{self._port.port} was unplugged"))

    def _lose(self, error: PortLostError | None, fault: BaseException | None = None) -> None:
        """Close, then tell the protocol, once."""
        if self._closed:
            return
        self._closed = True
        self._loop.remove_reader(self._fd)
        self._loop.remove_writer(self._fd)
        self._waiting.clear()
        close_port(self._port)
        if error is not None:
            error.__cause__ = fault
        self._loop.call_soon(self._protocol.connection_lost, error)


async def open_link(
    bus: BusConfig, protocol: asyncio.Protocol, *, dtr: bool | None = None, waiting_bytes_max: int = 65536
) -> SerialLink:
    """Open the port of ``bus`` without stopping the loop and attach ``protocol``. Raises :class:`PortLostError`."""
    loop = asyncio.get_running_loop()
    opening = loop.run_in_executor(None, lambda: open_port(bus, dtr=dtr))
    try:
        port = await asyncio.shield(opening)
    except asyncio.CancelledError:
        opening.add_done_callback(_close_unwanted)
        raise
    return SerialLink(loop, protocol, port, waiting_bytes_max=waiting_bytes_max)


def _close_unwanted(opening: asyncio.Future[serial.Serial]) -> None:
    """The caller was cancelled while the port was being opened: do not keep it."""
    if not opening.cancelled() and opening.exception() is None:
        close_port(opening.result())


class Pace:
    """The shortest silence between two transmissions on one line, and how long bytes take. Pure arithmetic.

    Silence is 3.5 characters, and above 19200 baud a fixed 1.75 ms (Modbus over serial line).
    """

    def __init__(self, bus: BusConfig, clock: Callable[[], float] = time.monotonic) -> None:
        """Learn the line's speed."""
        self.character_s = bus.bits_per_character / bus.baud
        self.gap_s = 0.00175 if bus.baud > 19200 else 3.5 * self.character_s
        self._clock = clock
        self._busy_until_s = 0.0

    def line_s(self, characters: int) -> float:
        """Time that many characters take on the line."""
        return characters * self.character_s

    def heard(self) -> None:
        """A byte has just arrived."""
        self._busy_until_s = max(self._busy_until_s, self._clock())

    def sent(self, characters: int) -> None:
        """That many characters were just handed to the driver."""
        self._busy_until_s = self._clock() + self.line_s(characters)

    def silent_for(self, seconds: float) -> None:
        """Keep the line quiet for at least so long from now."""
        self._busy_until_s = max(self._busy_until_s, self._clock() + seconds - self.gap_s)

    def wait_s(self) -> float:
        """How long to wait before the next transmission may begin; 0 or less: now."""
        return self._busy_until_s + self.gap_s - self._clock()
