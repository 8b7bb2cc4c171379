"""The ninth bit: what is transmitted, what is received, and how a port is given back."""

from __future__ import annotations

import contextlib
import os
import select
import tty
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from sas_uarts import FakeUart

from meterd.config import BusConfig, SasConfig
from meterd.edge.sas_wire import Rehearsal, SasWire, Uart, open_wire
from meterd.edge.serialport import PortLostError
from protocols.sas import GeneralPoll, MarkReader, Word, encode, marked_stream, words


class Pty(NamedTuple):
    master: int
    name: str

    def bus(self) -> BusConfig:
        return BusConfig("sas-1", "sas", self.name, 19_200)

    def heard(self) -> list[Word]:
        found, marks = [], MarkReader()
        while select.select([self.master], [], [], 0.2)[0]:
            found += marks.feed(os.read(self.master, 4096))
        return found


@pytest.fixture
def pty() -> Iterator[Pty]:
    master, slave = os.openpty()
    tty.setraw(slave)
    yield Pty(master, os.ttyname(slave))
    os.close(slave)
    with contextlib.suppress(OSError):
        os.close(master)


SAS = SasConfig("sas-1", 1, (("nexus-1", "mega"),), rehearsal=True)


def test_a_rehearsal_carries_marks_in_the_stream(pty: Pty) -> None:
    """What a game hears through a pseudo-terminal is what it would hear from a line; FF is FF."""
    wire = open_wire(pty.bus(), SAS)
    frames = [bytes.fromhex("0080ff0100012345ffff8f"), encode(GeneralPoll(0x7F)), b"\x01\x85"]
    for frame in frames:
        wire.transmit(frame)
    assert [word for frame in frames for word in words(frame)] == pty.heard()
    os.write(pty.master, marked_stream([Word(1, mark=True), Word(0xFF), Word(0)]))
    assert [Word(1, mark=True), Word(0xFF), Word(0)] == wire.receive(5.0, 0.1)
    assert [] == wire.receive(0.0, 0.0)
    wire.close()


def test_a_port_is_ours_alone_and_given_back(pty: Pty) -> None:
    """A second opener is told; after close it may have it. A refused port is given back, too."""
    first = Rehearsal(pty.bus())
    with pytest.raises(PortLostError, match="held by another program"):
        Rehearsal(pty.bus())
    first.close()
    with pytest.raises(Exception, match="PARENB"):
        Uart(pty.bus())
    Rehearsal(pty.bus()).close()


def test_an_unplugged_port_is_lost_in_every_call(pty: Pty) -> None:
    """Write, drain, switch and read raise one kind of error, with the port's name."""
    port = Rehearsal(pty.bus())
    os.close(pty.master)
    for call in (lambda: port.write(b"\x01"), lambda: port.read(0.1)):
        with pytest.raises(PortLostError, match=pty.name):
            call()
    with pytest.raises(PortLostError, match=pty.name):
        Uart.switch(port, mark=True)
    port.close()


def test_a_peer_that_takes_nothing_loses_the_port(pty: Pty, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full line is given up after a second, not waited for."""
    monkeypatch.setattr("meterd.edge.sas_wire.TAKES_NOTHING_S", 0.05)
    port = Rehearsal(pty.bus())
    with pytest.raises(PortLostError, match="takes no bytes"):
        port.write(bytes(400_000))
    port.close()


def test_the_trace_hears_both_ways() -> None:
    """Bytes as they are, without their marks."""
    told: list[tuple[str, bytes]] = []
    uart = FakeUart()
    wire = SasWire(uart, trace=lambda way, data: told.append((way, data)))
    wire.transmit(b"\x01\x85")
    uart.heard += [Word(1), Word(0x85)]
    wire.receive()
    assert [("tx", b"\x01\x85"), ("rx", b"\x01\x85")] == told
    wire.close()
    assert uart.closed


def test_a_second_adapter_proves_the_line() -> None:
    """Every test message arrives with its mark on the first byte alone; what lay there before does not matter."""
    far = FakeUart()
    far.heard += [Word(1), Word(2, mark=True)]
    near = FakeUart(far=far)
    SasWire(near).prove(far)
    assert 10 == sum(word.mark for word in near.line)
