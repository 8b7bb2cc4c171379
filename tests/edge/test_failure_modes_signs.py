"""The failures of Alpha signs that users report, each with its cures and without them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
import serial
from cures import failure_mode, limit_s
from sign_rig import sign_port

from meterd.config import BusConfig, SignConfig, SignModel
from meterd.edge import sign_test
from meterd.edge.serialport import SerialLink, open_link
from meterd.edge.sign import SignBus
from meterd.edge.sign_queue import Send, SignQueue, SignWanted
from meterd.edge.sign_test import SignTest, setting_text
from meterd.sim.plan import SignPlan
from meterd.sim.sign import AlphaSign
from protocols.alpha import SoftReset, Tone, Transmission
from protocols.alpha_parser import AlphaParser

MODEL = SignModel("betabrite", "^", "01", 13, 16)
SIGN = SignConfig("pit", "sign-1", MODEL, (("nexus", "mega"),), ("MEGA",), (13,))
BUS = BusConfig("sign-1", "alpha", "/dev/none", 9600)


class Played:
    """The driver's schedule against a sign, on a clock of their own."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.sign = AlphaSign(SignPlan("pit", "^", "01", 13))
        self.queue = SignQueue(BUS, [SIGN])
        self._parser = AlphaParser()
        self.queue.link_up(self.now)

    def show(self, seq: int, text: str) -> None:
        self.queue.signs["pit"].want(SignWanted(seq, (text,)))

    def play(self, seconds: float) -> None:
        end = self.now + seconds
        while self.now < end:
            step = self.queue.next(self.now)
            if not isinstance(step, Send):
                self.now = min(end, self.now + max(step, 0.001))
                continue
            self.queue.sent(step, self.now)
            for heard in self._parser.receive(step.data):
                self.sign.hear(heard, self.now, self.now + len(step.data) * 10 / 9600)

    def somebody_says(self, command: Tone | SoftReset) -> None:
        """Not the daemon: a key of the sign's remote control, or a power dip."""
        self.sign.hear(Transmission((command,)), self.now, self.now + 0.02)


@failure_mode(20, "alpha-quiet", "alpha-repush")
def test_a_write_into_a_resetting_sign_is_not_lost_for_good() -> None:
    """Nothing is sent while the daemon itself has silenced the sign; what others make it miss is written again."""
    played = Played()
    played.show(1, "$1,000.00")
    played.play(15)
    assert ["MEGA", "$1,000.00"] == played.sign.pages()
    assert {} == played.sign.faults
    for seq, command in ((2, Tone()), (3, SoftReset())):
        played.somebody_says(command)
        played.show(seq, f"${seq},000.00")
        played.play(16 * 60)
        assert ["MEGA", f"${seq},000.00"] == played.sign.pages()


@failure_mode(21, "alpha-settings", "alpha-sign-test")
def test_a_sign_with_other_data_bits_is_found_and_spoken_to(tmp_path: Any) -> None:
    """The port is opened as the site file says; where that is wrong, ``meterd sign test`` finds what is right."""
    asked: list[tuple[int, str, float]] = []

    class Port(serial.Serial):
        """Takes any setting, as a real adapter does and a pseudo-terminal does not."""

        def open(self) -> None:
            asked.append((self.bytesize, self.parity, self.stopbits))
            self.bytesize, self.parity, self.stopbits = 8, "N", 1
            super().open()

    async def spoken_to(port: str) -> None:
        bus = SignBus(replace(BUS, port=port, bytesize=7, parity="E", stopbits=2), [SIGN], tmp_path)
        task = asyncio.create_task(bus.run())
        async with asyncio.timeout(limit_s()):
            while not bus.up:  # noqa: ASYNC110 - opening a port announces nothing
                await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task])
        assert (7, "E", 2) == asked[0]

    async def found(hearing: str, deaf: str) -> None:
        async def opened(bus: BusConfig, peer: asyncio.Protocol, **how: Any) -> SerialLink:
            return await open_link(replace(BUS, port=hearing if setting_text(bus) == "9600 7E1" else deaf), peer, **how)

        patch.setattr(sign_test, "open_link", opened)
        result = await SignTest(BUS, SIGN, pattern_s=0, answer_s=0.4).run()
        assert "9600 7E1" == result.answers_at

    async def work() -> None:
        hearing, deaf = AlphaSign(SignPlan("pit", "^", "01")), AlphaSign(SignPlan("deaf", deaf=True))
        with sign_port(hearing) as right, sign_port(deaf) as wrong:
            await spoken_to(wrong.port)
            await found(right.port, wrong.port)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(serial, "Serial", Port)
        asyncio.run(work())
