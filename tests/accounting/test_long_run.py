"""What holds in the long run: the mean award of a meter, and whole rounds of the catalogue against the twin.

The seeds are fixed. The long versions are marked slow.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest
from accounting_build import SUPERVISOR, level, link, paytable, percent, row
from machine_catalogue import floor_of, tables, whole_round

from meterd.accounting.book import Book
from meterd.accounting.commands import (
    SYSTEM,
    Actor,
    Claim,
    Command,
    Confirm,
    DefineTable,
    EndGame,
    Lock,
    OpenLink,
    OpenTable,
    Role,
    WagerSeen,
)
from meterd.accounting.commands import Pay as PayAward
from meterd.accounting.rules import decide
from meterd.accounting.settings import TableSettings
from meterd.paytables.model import PayTable

ONE_IN_EIGHT = paytable(row("all", percent("100%")))
DEALER = Actor("dealer@T1", Role.DEALER)
SEATS = 7


class Play:
    """A table played round after round: every seat wagers, every wager hits with one chance in eight."""

    def __init__(self, seed: int, reserve: str | None, reset: str) -> None:
        self.book = Book()
        self.random = random.Random(seed)
        self.amounts: list[int] = []
        self.rounds = 0
        meter = level(seed="10.00", increment="2.375%", reserve=reserve, reset=reset)
        for command in (
            OpenLink(actor=SYSTEM, settings=link(meter, table=ONE_IN_EIGHT, units=1)),
            DefineTable(actor=SYSTEM, settings=TableSettings("T1", "nexus", "Test", SEATS)),
            OpenTable(actor=SYSTEM, table="T1"),
        ):
            self.do(command)

    def do(self, command: Command) -> None:
        decision = decide(self.book, command)
        assert decision.refusal is None
        for entry in decision.entries:
            self.book.apply(self.book.seq + 1, "", entry)

    def round(self) -> None:
        self.do(Lock(actor=DEALER, table="T1", wagers=tuple(WagerSeen(seat) for seat in range(1, SEATS + 1))))
        for seat in range(1, SEATS + 1):
            if self.random.randrange(8) == 0:
                award = f"A{len(self.book.awards) + 1}"
                self.do(Claim(actor=DEALER, table="T1", seat=seat, hand="all"))
                self.do(Confirm(actor=SUPERVISOR, award=award))
                self.do(PayAward(actor=DEALER, award=award))
                self.amounts.append(self.book.awards[award].amount_cents)
        self.do(EndGame(actor=DEALER, table="T1"))
        self.rounds += 1


def check_mean(hits: int, seed: int, reserve: str | None, reset: str) -> None:
    """The mean of so many awards lies within four standard errors of seed + rate ÷ p, and not one cent is lost."""
    play = Play(seed, reserve, reset)
    while len(play.amounts) < hits:
        play.round()
    count = len(play.amounts)
    p, rate = Fraction(1, 8), Fraction(2_375, 100_000) * 100
    mean = Fraction(sum(play.amounts), count)
    error = float(rate) * math.sqrt(1 - float(p)) / float(p) / math.sqrt(count)
    print(f"seed {seed}: {count} hits, mean {float(mean):.4f}, expected {float(1_000 + rate / p):.4f} ± {error:.4f}")
    # an award leaves what is below a cent in the meter for the next one
    assert abs(mean - (1_000 + rate / p)) <= 4 * error
    # what came in is what went out: all seeds and shares are paid, but for what the meter holds beyond its last seed
    meter = Fraction(play.book.balances["meter/nexus/main"], 1_000_000)
    used = Fraction(play.book.balances.get("reserve/nexus/main", 0), 1_000_000)
    kept = Fraction(0) if reserve is None else Fraction(4, 100) * 100 * SEATS * play.rounds - used
    put_up = -Fraction(play.book.balances["house/seed/nexus/main"], 1_000_000) + kept
    assert put_up + rate * SEATS * play.rounds == sum(play.amounts) + meter
    assert 0 == play.book.residual_microcents()


@pytest.mark.parametrize(("reserve", "reset"), [(None, "seed_plus_reserve"), ("4%", "reserve_funds_seed")])
def test_the_mean_award_is_seed_and_rate_by_chance(reserve: str | None, reset: str) -> None:
    """3,000 hits at one in eight, with and without a reserve that funds the seed."""
    check_mean(3_000, 20_261_130, reserve, reset)


@pytest.mark.parametrize("table", tables(), ids=lambda table: table.id)
def test_whole_rounds_of_the_catalogue_agree_with_the_twin(table: PayTable) -> None:
    """Every table with a meter: eight rounds, any hands, level settings of any kind; each account to the microcent."""
    numbers = random.Random(table.id)
    world = floor_of(table, numbers.randrange)
    for _ in range(8):
        whole_round(world, numbers.randrange)
    world.restart()


@pytest.mark.slow
def test_the_mean_award_of_200_000_hits() -> None:
    """200,000 hits at one in eight through claim, confirmation and payment."""
    check_mean(200_000, 1, None, "seed_plus_reserve")
