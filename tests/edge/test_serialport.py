"""The port itself: ours alone, one kind of failure, nothing that blocks."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import termios
from collections.abc import Coroutine
from typing import Any

import pytest
import serial
from wire_rig import LIMIT_S, raw_pty

from meterd.config import BusConfig
from meterd.edge import serialport
from meterd.edge.serialport import Backoff, Pace, PortLostError, SerialLink, close_port, open_link, open_port


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


def bus(port: str, **more: Any) -> BusConfig:
    return BusConfig("b", "modbus", port, 19200, **more)


class Peer(asyncio.Protocol):
    def __init__(self) -> None:
        self.received = b""
        self.lost: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        self.received += data

    def connection_lost(self, exc: Exception | None) -> None:
        assert not self.lost.done(), "told twice"
        self.lost.set_result(exc)


def test_a_port_is_opened_for_us_alone() -> None:
    """A second program that asks is refused with a cause; the kernel's own mark stands too; closing lifts both."""
    master, name = raw_pty()
    port = open_port(bus(name))
    with pytest.raises(PortLostError, match="held by another program"):
        open_port(bus(name))
    value = fcntl.ioctl(port.fileno(), 0x80045440, b"\0" * 4)  # TIOCGEXCL
    assert 1 == int.from_bytes(value, "little")
    close_port(port)
    again = open_port(bus(name))
    close_port(again)
    os.close(master)


def test_an_absent_port_says_so() -> None:
    """The cause names the port and what is wrong with it."""
    with pytest.raises(PortLostError, match="/nowhere/tty does not exist"):
        open_port(bus("/nowhere/tty"))


@pytest.mark.parametrize(
    "fault",
    [
        OSError(errno.EIO, "gone"),
        serial.SerialException("device reports readiness to read but returned no data"),
        termios.error(5, "gone"),
        ValueError("bad baud"),
    ],
)
def test_every_fault_of_opening_is_one_kind(fault: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever pyserial lets through, termios.error included, is a lost port."""

    def fail(_: serial.Serial) -> None:
        raise fault

    monkeypatch.setattr(serial.Serial, "open", fail)
    with pytest.raises(PortLostError):
        open_port(bus("/dev/any"))


def test_the_line_settings_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Baud, bits, parity and stop bits go to the port as the bus says, DTR stays low where asked."""
    seen: list[serial.Serial] = []  # a pty would drop parity and seven bits without a word
    monkeypatch.setattr(serial.Serial, "open", lambda self: seen.append(self))  # noqa: PLW0108 - binds like a method
    monkeypatch.setattr(serial.Serial, "fileno", lambda self: -1)
    monkeypatch.setattr(serialport.fcntl, "ioctl", lambda *a: 0)
    open_port(bus("/dev/any", bytesize=7, parity="E", stopbits=2), dtr=False)
    (port,) = seen
    assert (19200, 7, "E", 2) == (port.baudrate, port.bytesize, port.parity, port.stopbits)
    assert port.exclusive is True
    assert port.dtr is False


def test_a_peer_that_stops_reading_blocks_nobody_and_is_lost_at_the_bound() -> None:
    """Bytes the driver does not take wait up to a bound; beyond it the port is given up."""

    async def work() -> None:
        master, name = raw_pty()
        peer = Peer()
        link = await open_link(bus(name), peer, waiting_bytes_max=100_000)
        for _ in range(60):
            link.write(b"x" * 4096)
            if link.is_closing():
                break
        async with asyncio.timeout(LIMIT_S):
            lost = await peer.lost
        assert isinstance(lost, PortLostError)
        assert "reads nothing" in str(lost)
        os.close(master)

    run(work())


def test_bytes_that_waited_arrive_in_order_once_the_peer_reads() -> None:
    """A slow reader loses nothing."""

    async def work() -> None:
        master, name = raw_pty()
        link = await open_link(bus(name), Peer())
        sent = bytes(range(256)) * 160
        link.write(sent)
        assert link.get_write_buffer_size() > 0
        drained = asyncio.Event()
        link.drained = drained.set
        got = bytearray()
        loop = asyncio.get_running_loop()
        whole = asyncio.Event()

        def read() -> None:
            got.extend(os.read(master, 4096))
            if len(got) == len(sent):
                whole.set()

        loop.add_reader(master, read)
        async with asyncio.timeout(LIMIT_S):
            await whole.wait()
            await drained.wait()
        loop.remove_reader(master)
        assert sent == bytes(got)
        link.close()
        os.close(master)

    run(work())


def test_an_unplugged_port_is_told_once_and_closed() -> None:
    """The master goes away: one connection_lost, the descriptor is free, later writes do nothing."""

    async def work() -> None:
        master, name = raw_pty()
        peer = Peer()
        link: SerialLink = await open_link(bus(name), peer)
        os.write(master, b"last words")
        os.close(master)
        async with asyncio.timeout(LIMIT_S):
            lost = await peer.lost
        assert isinstance(lost, PortLostError)
        assert link.is_closing()
        link.write(b"nobody")
        link.close()
        with pytest.raises(PortLostError):
            await open_link(bus(name), Peer())

    run(work())


def test_the_wait_doubles_from_half_a_second_to_five() -> None:
    """0.5, 1, 2, 4, 5, 5 … and from the start once the port worked."""
    backoff = Backoff()
    assert [0.5, 1, 2, 4, 5, 5] == [backoff.next_s() for _ in range(6)]
    backoff.reset()
    assert 0.5 == backoff.next_s()


@pytest.mark.parametrize(("baud", "gap_ms"), [(9600, 3.5 * 10 / 9.6), (19200, 3.5 * 10 / 19.2), (38400, 1.75)])
def test_the_line_is_silent_between_frames(baud: int, gap_ms: float) -> None:
    """3.5 characters after the last byte, sent or heard; a fixed 1.75 ms above 19200 baud."""
    now = 100.0
    pace = Pace(BusConfig("b", "modbus", "p", baud), lambda: now)
    assert pace.wait_s() < 0
    pace.sent(8)
    assert pytest.approx(8 * 10_000 / baud + gap_ms) == pace.wait_s() * 1000
    now += 1.0
    pace.heard()
    assert pytest.approx(gap_ms) == pace.wait_s() * 1000
    pace.silent_for(0.1)
    assert pytest.approx(100) == pace.wait_s() * 1000
