"""Limits of rounds that have ended: held awards corrected, confirmed, voided, and others proved late, in any order."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from test_twin import COMMANDS, compare, rules
from test_twin_caps import HIGH, twin_with
from test_twin_links import LINK_COMMANDS, Real
from twin_records import Level, Rules

HANDS = ["flush", "straight", "pair", "ace"]


def link(pick: random.Random) -> Rules:
    """Two levels and the high pays of the other histories; the smallest limit there is 16,000 cents."""
    big = Level(1_000, Fraction(1, 10), Fraction(0), "seed_plus_reserve", "sequential", "none")
    small = Level(500, Fraction(1, 20), Fraction(0), "larger_of", "split", "none")
    made = rules(big, small, returned=pick.random() < 0.5, envy_scales=True, confirm_above=pick.choice([0, 1_000_000]))
    return replace(made, rows=HIGH)


class House:
    """Both reckonings of one table, and how many corrections and late claims were taken."""

    def __init__(self, pick: random.Random) -> None:
        limits = {"T1": (pick.choice([None, 20_001]), pick.choice([16_000, 30_000]))}
        made = link(pick)
        self.pick, self.taken = pick, Counter[str]()
        self.twin, self.real = twin_with(limits)(made), Real(made, limits)

    def do(self, *act: object) -> None:
        verb = str(act[0])
        said = self.twin.do(act)
        assert said == self.real.act({**COMMANDS, **LINK_COMMANDS}[verb](*act[1:])), (act, self.twin.history)
        compare(self.twin, self.real.book)
        self.taken[verb] += said is None

    def until_the_end(self, number: int) -> list[str]:
        """Two high hands, some confirmed, the others held; END GAME."""
        pick = self.pick
        self.do("lock", "T1", {seat: pick.choice([1, 3]) for seat in (1, 2, 3, 4)})
        if pick.random() < 0.4:
            self.do("join", "T1", [1, 2])
        for seat in pick.sample([1, 2, 3, 4], 2):
            self.do("claim", "T1", seat, pick.choice(HANDS), {})
        mine = [name for name, win in self.twin.state.wins.items() if win.round.number == number]
        for award in mine:
            self.do(pick.choice(["hold", "hold", "hold", "confirm"]), award)
            self.do("hold", award)
        self.do("end", "T1")
        return mine

    def settle(self, number: int, mine: list[str]) -> None:
        pick = self.pick
        for _ in range(10):
            award, hand = pick.choice(mine), pick.choice(HANDS)
            verb = pick.choice(["correct", "correct", "correct", "late-claim", "late-claim", "undo", "confirm", "void"])
            if verb == "correct":
                self.do(verb, award, None, hand)
            elif verb == "late-claim":
                self.do(verb, "T1", number, pick.choice([1, 2, 3, 4]), hand, pick.choice([75, 3_000, 6_000, 9_000]))
            else:
                self.do(verb, award)
        for award in mine:
            self.do("void", award)


@pytest.mark.parametrize("seed", range(4))
def test_late_awards_and_corrections_keep_to_the_limits_of_their_round(seed: int) -> None:
    """What a correction or a late claim gets is what the others of the round have left, by both reckonings."""
    pick = random.Random(seed)
    taken = Counter[str]()
    for _ in range(5):
        house = House(pick)
        for number in range(1, 7):
            house.settle(number, house.until_the_end(number))
        assert vars(house.real.fold()) == vars(house.real.book)
        taken += house.taken
    assert min(taken["correct"], taken["late-claim"]) > 5
