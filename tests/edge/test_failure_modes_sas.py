"""Failure modes of SAS lines: each with its cure, and without."""

from __future__ import annotations

import contextlib
import os
import tty
from collections.abc import Callable

import pytest
from cures import failure_mode
from sas_uarts import FakeUart

from meterd.config import BusConfig
from meterd.edge.sas_wire import TEST_FRAME, ParityIgnoredError, SasWire, Uart, check_heard
from meterd.sim.plan import GamePlan
from meterd.sim.sas import SasGame, SasLine
from protocols.sas import LevelAmount as Amount
from protocols.sas import MarkReader, Word, encode, marked_stream, sealed, words
from protocols.sas import MultiLevel as Levels
from protocols.sas_host import Host, HostPlan, Quote, Won


def refusal(act: Callable[[], None]) -> str:
    """What a port is refused with; empty where it is taken."""
    with contextlib.suppress(ParityIgnoredError):
        act()
        return ""
    with pytest.raises(ParityIgnoredError) as caught:
        act()
    return str(caught.value)


FRAME = encode(Levels(0, 1, (Amount(1, 1_234_567),)))


@failure_mode(14, "sas-drain")
def test_parity_is_switched_after_the_byte_has_left() -> None:
    """The first byte of each message is marked, and no other, on a UART that takes its time."""
    uart = FakeUart(lag_s=0.0006)
    wire = SasWire(uart)
    for _ in range(20):
        wire.transmit(FRAME)
    assert list(words(FRAME)) * 20 == uart.left()


@failure_mode(14, "sas-drain", "sas-settle")
def test_an_adapter_that_speaks_too_early_is_given_time() -> None:
    """It says that a byte has left while it still waits in its buffer; settle_ms covers that."""
    uart = FakeUart(lag_s=0.001, honest=False)
    wire = SasWire(uart, settle_s=0.004)
    for _ in range(10):
        wire.transmit(FRAME)
        uart.left()
    assert list(words(FRAME)) * 10 == uart.line


@failure_mode(15, "sas-read-back")
def test_a_driver_that_drops_parity_is_refused() -> None:
    """A pseudo-terminal takes PARENB without a word and forgets it; reading it back shows that."""
    master, slave = os.openpty()
    tty.setraw(slave)
    bus = BusConfig("sas-1", "sas", os.ttyname(slave), 19_200)
    assert "PARENB" in refusal(lambda: Uart(bus).close())
    os.close(master)
    os.close(slave)


@failure_mode(15, "sas-proof")
def test_a_driver_that_only_says_so_is_found_out_by_a_second_adapter() -> None:
    """It reads back what was set, and the wire carries no mark."""
    far = FakeUart()
    told = refusal(lambda: SasWire(FakeUart(ninth=False, far=far)).prove(far))
    assert "no byte arrived with the wakeup bit" in told


class Vendor(SasGame):
    """A game whose answers have something in front of them."""

    def __init__(self, address: int, front: bytes = b"", *, echo: bool = False, length: int = 0) -> None:
        super().__init__(GamePlan(address, 1, (1,)))
        self.front, self.echo, self.length = front, echo, length

    def _out(self, answer: bytes) -> bytes:
        if self.length and answer[1:2] == b"\x87":
            answer = sealed(bytes((*answer[:2], answer[2] - self.length)) + answer[3:-2])
        asked = bytes((answer[0], 0x87)) if self.echo and answer[1:2] == b"\x87" else b""
        return super()._out(asked + (self.front if len(answer) > 2 else b"") + answer)


@failure_mode(22, "sas-tolerance", "sas-goes-on")
def test_machines_that_answer_differently_are_served_side_by_side() -> None:
    """An echo, stray bytes, another way to count, and one that never answers: figures for all, every win read."""
    games = [Vendor(1, b"\x00\x80"), Vendor(2, echo=True), Vendor(3, length=2), Vendor(4, length=1), Vendor(5)]
    games[4].mute = True
    line = SasLine(games)
    host = Host(HostPlan(1, (1,), (1, 2, 3, 4, 5), win_poll=0x87))
    read, said, now_ms = [], 0, 0
    for turn in range(240):
        now_ms = host.due_ms(now_ms)
        request = host.step(now_ms, {1: Quote(777)})
        assert request is not None
        said += isinstance(request, Levels)
        answer = MarkReader().feed(line.serve(marked_stream(words(encode(request))), now_ms / 1000))
        for event in host.heard(request, answer, now_ms):
            if isinstance(event, Won):
                read.append(event.address)
                host.durable(event.address, event.answer)
        if turn == 30:
            for game in games[:4]:
                game.hit(1, now_ms / 1000)
    assert [1, 2, 3, 4] == sorted(read)
    assert said >= 80
    assert 777 == games[4].amounts[1]


@failure_mode(22, "sas-goes-on")
def test_a_line_of_signs_needs_no_answers() -> None:
    """Sign controllers that listen and never speak: with or without addresses the figures go out."""
    for addresses in ((), (1, 2)):
        host = Host(HostPlan(1, (1,), addresses))
        said, now_ms = 0, 0
        for _ in range(60):
            now_ms = host.due_ms(now_ms)
            request = host.step(now_ms, {1: Quote(777)})
            said += isinstance(request, Levels)
            if request is not None:
                silence: list[Word] = []
                assert not [event for event in host.heard(request, silence, now_ms) if isinstance(event, Won)]
        assert said >= 20


def test_a_mark_in_the_wrong_place_is_named() -> None:
    """What the second adapter heard decides what a technician is told."""
    check_heard(list(words(TEST_FRAME)))
    for heard, told in (
        ([Word(byte) for byte in TEST_FRAME], "settle_ms"),
        ([Word(byte, mark=True) for byte in TEST_FRAME], "bytes 1, 2, 3, 4"),
        ([], "heard nothing"),
        ([Word(0, mark=True)], "look at the cable"),
    ):
        with pytest.raises(ParityIgnoredError, match=told):
            check_heard(heard)
