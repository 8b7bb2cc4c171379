"""A serial port with a ninth bit: mark or space parity, switched between the first byte of a message and the rest.

Rule 1: the first byte is written, has left the UART, and only then is the parity switched; all in one function that
gives control to nobody. Adapters that say too early that a byte has left get a pause (``settle_ms``).
Rule 2: what was set is read back. A driver that ignores mark and space parity would make every game deaf, or worse, let
it hear messages begin in the middle; such a port is refused.
Rule 3: read-back shows what the driver says, not what the wire carries. A second adapter that hears the line
(``loopback``) proves it.

Received words come with their marks through ``INPCK | PARMRK``: with space parity a marked byte is a parity error.
A rehearsal has no ninth bit; marks travel in the stream as that terminal mode would hand them over.
"""

from __future__ import annotations

import contextlib
import os
import select
import termios
import time
from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol

import serial

from meterd.config import BusConfig, SasConfig
from meterd.edge.serialport import PortLostError, close_port, open_port
from protocols.sas import MarkReader, Word, marked_stream, sealed, words

#: Linux: with PARENB, the parity bit is always 1 (with PARODD) or always 0.
CMSPAR: Final = 0o10000000000
PARITY_BITS: Final = termios.PARENB | termios.PARODD | CMSPAR
MARKS_IN: Final = termios.INPCK | termios.PARMRK

#: A game begins its answer within 20 ms and leaves at most 5 ms between bytes; adapters hold bytes back 16 ms more.
FIRST_BYTE_S: Final = 0.045
GAP_S: Final = 0.022
TORN_S: Final = 0.005  # a message whose bytes are further apart is none, for a game
TAKES_NOTHING_S: Final = 1.0
READ_BYTES_MAX: Final = 4096

#: A poll to all that no version of SAS has: every game passes it over.
TEST_FRAME: Final = sealed(bytes((0x00, 0x8D)))
TEST_ROUNDS: Final = 10

Trace = Callable[[str, bytes], None]


class ParityIgnoredError(Exception):
    """This port cannot carry a ninth bit; the message says how that was seen and what to do."""


class Ninth(Protocol):
    """What :class:`SasWire` needs of a port."""

    def switch(self, *, mark: bool) -> None:
        """Set the ninth bit of what is written from now on. Raises :class:`ParityIgnoredError`."""

    def write(self, data: bytes) -> None:
        """Hand bytes to the driver."""

    def drain(self) -> None:
        """Return once they have left."""

    def read(self, timeout_s: float) -> list[Word]:
        """Words that came within this time; empty for none."""

    def close(self) -> None:
        """Give the port back."""


class Uart:
    """A real port."""

    def __init__(self, bus: BusConfig) -> None:
        """Open it for us alone, with space parity. Raises :class:`PortLostError`, :class:`ParityIgnoredError`."""
        self._name = bus.port
        self._port: serial.Serial = open_port(bus)
        self._fd: int = self._port.fileno()
        self._marks = MarkReader()
        try:
            with self._folded():
                self._attributes: list[Any] = termios.tcgetattr(self._fd)
            self._attributes[0] = (self._attributes[0] | MARKS_IN) & ~(termios.IGNPAR | termios.ISTRIP)
            self.switch(mark=True)
            self.switch(mark=False)
        except BaseException:
            self.close()
            raise

    def switch(self, *, mark: bool) -> None:
        """Set mark or space parity and read it back."""
        wanted = termios.PARENB | CMSPAR | (termios.PARODD if mark else 0)
        self._attributes[2] = (self._attributes[2] & ~PARITY_BITS) | wanted
        with self._folded():
            termios.tcsetattr(self._fd, termios.TCSANOW, self._attributes)
            held = termios.tcgetattr(self._fd)
        self.check(mark=mark, held=held[2] & PARITY_BITS, input_held=held[0] & MARKS_IN)

    def check(self, *, mark: bool, held: int, input_held: int) -> None:
        """Whether the driver holds what was asked of it."""
        wanted = termios.PARENB | CMSPAR | (termios.PARODD if mark else 0)
        if held != wanted or input_held != MARKS_IN:
            lost = [
                name
                for name, bit in (("PARENB", termios.PARENB), ("CMSPAR", CMSPAR), ("PARODD", termios.PARODD))
                if (held ^ wanted) & bit
            ] or ["PARMRK"]
            kind = "mark" if mark else "space"
            raise ParityIgnoredError(
                f"{self._name}: the driver does not keep {kind} parity ({', '.join(lost)} differs when read back): no"
                " game would understand this line. Use a port with a 16550 UART, or an adapter whose driver knows"
                " CMSPAR"
            )

    def write(self, data: bytes) -> None:
        """Hand bytes to the driver."""
        by_s = time.monotonic() + TAKES_NOTHING_S
        while data:
            with self._folded():
                try:
                    data = data[os.write(self._fd, data) :]
                except (BlockingIOError, InterruptedError):
                    select.select([], [self._fd], [], 0.01)
            if data and time.monotonic() > by_s:
                raise PortLostError(f"{self._name}: the line takes no bytes")

    def drain(self) -> None:
        """Return once they have left, as far as the driver knows."""
        with self._folded():
            termios.tcdrain(self._fd)

    def read(self, timeout_s: float) -> list[Word]:
        """Words that came within this time."""
        with self._folded():
            ready, _, _ = select.select([self._fd], [], [], timeout_s)
            if not ready:
                return []
            try:
                data = os.read(self._fd, READ_BYTES_MAX)
            except (BlockingIOError, InterruptedError):
                return []
        if not data:
            raise PortLostError(f"{self._name} was unplugged")
        return self._marks.feed(data)

    def close(self) -> None:
        """Give the port back."""
        close_port(self._port)

    @contextlib.contextmanager
    def _folded(self) -> Iterator[None]:
        """Every error of a driver is the loss of the port."""
        try:
            yield
        except (OSError, serial.SerialException, termios.error, ValueError) as fault:
            raise PortLostError(f"{self._name}: {fault}") from fault


class Rehearsal(Uart):
    """A pseudo-terminal: it has no parity at all, so marks travel in the stream."""

    _mark = False

    def switch(self, *, mark: bool) -> None:
        """Remember which bytes are marked."""
        self._mark = mark

    def write(self, data: bytes) -> None:
        """Bytes with their mark, written out."""
        super().write(marked_stream(Word(byte, self._mark) for byte in data))


class SasWire:
    """Transmits messages with the mark on the first byte, and receives words. Times are seconds."""

    def __init__(self, ninth: Ninth, settle_s: float = 0.0, trace: Trace = lambda _way, _data: None) -> None:
        """``trace`` is told ``"tx"`` or ``"rx"`` and the bytes, without their marks. ``torn`` counts late rests."""
        self._ninth = ninth
        self._settle_s = settle_s
        self._trace = trace
        self.torn = 0

    def transmit(self, frame: bytes) -> None:
        """One message: the first byte marked, the rest plain, at most 5 ms apart."""
        ninth = self._ninth
        ninth.switch(mark=True)
        ninth.write(frame[:1])
        self._let_it_leave()
        left_s = time.monotonic()
        ninth.switch(mark=False)
        if len(frame) > 1:
            ninth.write(frame[1:])
            self.torn += time.monotonic() - left_s + self._settle_s > TORN_S
            ninth.drain()
        self._trace("tx", frame)

    def _let_it_leave(self) -> None:
        """The ninth bit may be switched once the last byte is on the line, not while it waits in the UART."""
        self._ninth.drain()
        if self._settle_s:
            time.sleep(self._settle_s)

    def receive(self, first_s: float = FIRST_BYTE_S, gap_s: float = GAP_S) -> list[Word]:
        """Words until the line is quiet."""
        line = self._ninth.read(first_s)
        heard = list(line)
        while line:
            line = self._ninth.read(gap_s)
            heard += line
        if heard:
            self._trace("rx", bytes(word.byte for word in heard))
        return heard

    def prove(self, listener: Ninth) -> None:
        """Have a second adapter hear some messages; whatever differs is the refusal.

        Raises:
            ParityIgnoredError: marks did not arrive where they were set.
        """
        for _ in range(TEST_ROUNDS):
            while listener.read(0.0):
                pass
            self.transmit(TEST_FRAME)
            heard: list[Word] = []
            while len(heard) < len(TEST_FRAME):
                line = listener.read(GAP_S)
                if not line:
                    break
                heard += line
            check_heard(heard)

    def close(self) -> None:
        """Give the port back."""
        self._ninth.close()


def check_heard(heard: list[Word]) -> None:
    """What the second adapter heard of a test message.

    Raises:
        ParityIgnoredError: with what was wrong, and the next step.
    """
    if tuple(heard) == words(TEST_FRAME):
        return
    if bytes(word.byte for word in heard) != TEST_FRAME:
        raise ParityIgnoredError(
            f"the second adapter heard {bytes(word.byte for word in heard).hex(' ') or 'nothing'} instead of"
            f" {TEST_FRAME.hex(' ')}: look at the cable between them"
        )
    marks = [word.mark for word in heard]
    if not any(marks):
        raise ParityIgnoredError(
            "no byte arrived with the wakeup bit: the driver ignores mark parity, or switches it off before the first"
            " byte has left. Set settle_ms = 2; if that does not help, use a port with a 16550 UART"
        )
    raise ParityIgnoredError(
        f"the wakeup bit arrived on bytes {', '.join(str(n + 1) for n, mark in enumerate(marks) if mark)}, not on the"
        " first alone: the driver does not switch parity in time. Use a port with a 16550 UART"
    )


def open_wire(bus: BusConfig, sas: SasConfig, trace: Trace = lambda _way, _data: None) -> SasWire:
    """Open and test the port of one line.

    Raises:
        PortLostError: it cannot be opened, or was lost meanwhile.
        ParityIgnoredError: it cannot carry a ninth bit.
    """
    wire = SasWire(Rehearsal(bus) if sas.rehearsal else Uart(bus), sas.settle_ms / 1000, trace)
    if sas.loopback is None or sas.rehearsal:
        return wire
    try:
        listener = Uart(BusConfig(f"{bus.id}-loopback", "sas", sas.loopback, bus.baud))
        try:
            wire.prove(listener)
        finally:
            listener.close()
    except BaseException:
        wire.close()
        raise
    return wire
