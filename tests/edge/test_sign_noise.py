"""A sign behind a bad cable: what a checksum keeps off its display, and what it cannot."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from meterd.config import BusConfig, SignConfig, SignModel
from meterd.edge.sign_queue import Send, SignQueue, SignWanted, amount_cents
from meterd.sim.faults import BadCable, Rates
from meterd.sim.plan import SignPlan
from meterd.sim.sign import AlphaSign
from protocols.alpha_parser import AlphaParser

BUS = BusConfig("sign-1", "alpha", "/dev/none", 9600)
MODEL = SignModel("betabrite", "^", "01", 13, 16, answers=False)
SIGN = SignConfig("pit", "sign-1", MODEL, (("nexus", "mega"),), ("MEGA",), (13,))


class Shift:
    """Updates of a meter, sent as the driver would, through a cable."""

    def __init__(self, rates: Rates, *, checksum: bool, seed: int) -> None:
        self.now = 1000.0
        self.sign = AlphaSign(SignPlan("pit", "^", "01", 13))
        self.queue = SignQueue(BUS, [replace(SIGN, model=replace(MODEL, checksum=checksum))])
        self.said: set[int] = set()
        self.wrong: set[str] = set()
        self.sent = 0
        self._parser = AlphaParser()
        self._cable = BadCable(Rates(), f"{seed}")
        self.queue.link_up(self.now)
        self.play(12)
        self._cable.rates = rates

    def show(self, seq: int, cents: int) -> None:
        text = f"${cents / 100:,.2f}"
        self.said.add(cents)
        self.queue.signs["pit"].want(SignWanted(seq, (text,)))
        self.play(0.35)

    def play(self, seconds: float) -> None:
        end = self.now + seconds
        while self.now < end:
            step = self.queue.next(self.now)
            if not isinstance(step, Send):
                self.now = min(end, self.now + max(step, 0.001))
                continue
            self.queue.sent(step, self.now)
            self.sent += 1
            for heard in self._parser.receive(self._cable.carry(step.data)):
                self.sign.hear(heard, self.now, self.now + len(step.data) * 10 / 9600)
            for text in self.sign.figures().values():
                if (cents := amount_cents(text)) is not None and cents not in self.said:
                    self.wrong.add(text)


def shift(rates: Rates, *, checksum: bool, updates: int) -> Shift:
    seed = 7
    print("seed", seed)
    chance, played, cents = random.Random(seed), Shift(rates, checksum=checksum, seed=seed), 5_000_000
    for seq in range(1, updates + 1):
        cents += chance.randrange(1, 50)
        played.show(seq, cents)
    return played


@pytest.mark.parametrize("rate", [1e-4, 1e-3])
def test_no_amount_is_shown_that_was_not_sent(rate: float) -> None:
    """Flips, losses and doubled bytes: a figure is missed now and then, and none is made up."""
    played = shift(Rates.noise(rate), checksum=True, updates=3000)
    print(played.sent, "transmissions")
    assert set() == played.wrong


def test_without_checksums_a_bad_cable_makes_up_amounts() -> None:
    """The control: the same shift without them shows amounts that no meter ever had."""
    played = shift(Rates.noise(1e-3), checksum=False, updates=3000)
    print(len(played.wrong), "of", played.sent, "such as", sorted(played.wrong)[:3])
    assert len(played.wrong) > 20


def test_what_was_missed_is_shown_at_the_latest_with_the_next_push() -> None:
    """The cable is good again: whatever was lost, the sign shows the meter after a quarter of an hour."""
    played = shift(Rates.noise(1e-2), checksum=True, updates=300)
    played._cable.rates = Rates()
    played.play(16 * 60)
    assert {max(played.said)} == {amount_cents(text) for text in played.sign.figures().values()}
