"""The bytes of one OSDP line: our own port under libosdp, and who was asked what when.

Rule 1: nothing here raises or waits. libosdp calls it from C; what goes wrong is kept in :attr:`Channel.lost`.
Rule 2: a request is the same request as long as its bytes are the same: the library repeats one that was not answered
with the same bytes and the same sequence number.
Units: ``*_ms`` milliseconds of the monotonic clock.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Final

import serial

from meterd.config import BusConfig
from meterd.edge.serialport import close_port, open_port

START: Final = 0x53
ADDRESS_BITS: Final = 0x7F
#: Reads of one flush.
DISCARD_MAX: Final = 16
READ_BYTES_MAX: Final = 4096

Trace = Callable[[str, bytes], None]


class Channel:
    """What libosdp takes for a serial line. ``on_request`` is told the address each new request goes to."""

    id = 0  # libosdp counts channels by it; each of its objects has one line here

    def __init__(
        self,
        bus: BusConfig,
        on_request: Callable[[int], None],
        *,
        trace: Trace | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Open the port. Raises :class:`~meterd.edge.serialport.PortLostError`."""
        self._bus = bus
        self._on_request = on_request
        self._trace = trace
        self._clock = clock
        self._port: serial.Serial | None = open_port(bus)
        self.fd: int = self._port.fileno()
        self.lost: str | None = None
        self.asked: int | None = None  # the address of the last request
        self.answered_ms: dict[int, int] = {}  # address → when bytes last came after a request to it
        self.bytes_in = self.bytes_out = self.requests = self.retries = 0
        self.busy = False  # bytes went or came since whoever refreshes last looked
        self._last: dict[int | None, bytes] = {}  # address → its last request; others go between it and its repetition
        self._echo = b""

    def read(self, max_bytes: int) -> bytes:
        """What has come, at most that much."""
        data = self._take(max_bytes)
        if data and self.asked is not None:
            self.answered_ms[self.asked] = self.now_ms()
        return data

    def write(self, data: bytes) -> int:
        """Send a request. What the driver does not take is lost like any other frame, and the library asks again."""
        data = bytes(data)
        self.asked = _address(data)
        if data == self._last.get(self.asked):
            self.retries += 1
        else:
            self._last[self.asked] = data
            self.requests += 1
            if self.asked is not None:
                self._on_request(self.asked)
        if self.lost is None:
            try:
                os.write(self.fd, data)
            except (BlockingIOError, InterruptedError):
                pass
            except (OSError, ValueError) as fault:
                self.lost = f"{self._bus.port}: {fault}"
            self.busy = True
            self.bytes_out += len(data)
            if self._bus.echo:
                self._echo += data
            if self._trace is not None:
                self._trace("tx", data)
        return len(data)

    def flush(self) -> None:
        """Throw away what has come. A line that talks without end does not hold us up."""
        for _ in range(DISCARD_MAX):
            if not self._take(READ_BYTES_MAX):
                return

    def close(self) -> None:
        """Give the port back."""
        if self._port is not None:
            close_port(self._port)
        self._port = None
        self.lost = self.lost or "closed"

    def now_ms(self) -> int:
        """The moment, as events tell it."""
        return int(self._clock() * 1000)

    def _take(self, max_bytes: int) -> bytes:
        if self.lost is not None:
            return b""
        try:
            data = os.read(self.fd, max_bytes)
        except (BlockingIOError, InterruptedError):
            return b""
        except (OSError, ValueError) as fault:
            self.lost = f"{self._bus.port}: {fault}"
            return b""
        self.bytes_in += len(data)
        self.busy = self.busy or bool(data)
        if data and self._trace is not None:
            self._trace("rx", data)
        return self._without_echo(data)

    def _without_echo(self, data: bytes) -> bytes:
        """On a line that hears itself the own bytes come first."""
        size = next((n for n, (own, heard) in enumerate(zip(self._echo, data, strict=False)) if own != heard), None)
        if size is None:
            size = min(len(self._echo), len(data))
        self._echo = self._echo[size:] if size == len(data) else b""
        return data[size:]


def _address(request: bytes) -> int | None:
    """Whom a request is for: behind the start byte, which a mark byte may precede."""
    at = request.find(START, 0, 2)
    return request[at + 1] & ADDRESS_BITS if 0 <= at < len(request) - 1 else None
