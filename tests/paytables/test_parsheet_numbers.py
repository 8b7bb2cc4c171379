"""Streaks, points and totals: exact chances against games that are played out in full."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product

import pytest

from meterd.edge.files import paytable, universe_text
from meterd.handrank.dice import NUMBERS, POINTS, SEVEN, WAYS
from meterd.handrank.streak import rising_streak
from meterd.handrank.wheel import pockets
from meterd.paytables.parsheet import parsheet
from meterd.paytables.parsheet.numbers import (
    all_numbers_chances,
    distinct_points_chances,
    points_chances,
    streak_chances,
)


@pytest.mark.parametrize("double_zero", [True, False])
def test_streaks_of_all_three_spins(double_zero: bool) -> None:
    """All 38 or 37 cubed orders of three spins, each cut off where the rule ends the streak."""
    wheel = pockets(double_zero=double_zero)
    found: Counter[int] = Counter()
    for spins in product(wheel, repeat=3):
        for count in (1, 2, 3):
            streak = rising_streak(spins[:count], 3)
            if streak.ended:
                found[streak.length] += 1
                break
    assert [Fraction(found[length], len(wheel) ** 3) for length in (1, 2, 3)] == [
        chance for _, chance in streak_chances(3, double_zero=double_zero)
    ]


def test_a_streak_cannot_be_longer_than_the_wheel() -> None:
    """Every chance once, all summing to one, for any longest streak a table may list."""
    for longest in (1, 8, 9, 37, 38):
        chances = [chance for _, chance in streak_chances(longest, double_zero=longest == 38)]
        assert (longest, 1) == (len(chances), sum(chances))


def played(rolls: int, most: int, *, distinct: bool) -> dict[int, float]:
    """Points made, by following every state of a shooter through so many rolls of two dice."""
    totals = Counter(one + other for one, other in WAYS)
    states: dict[tuple[int, frozenset[int], int], float] = {(0, frozenset(), 0): 1.0}
    ended: dict[int, float] = defaultdict(float)
    for _ in range(rolls):
        following: dict[tuple[int, frozenset[int], int], float] = defaultdict(float)
        for (point, held, made), chance in states.items():
            for total, ways in totals.items():
                here = chance * ways / 36
                if not point:
                    following[total if total in POINTS else 0, held, made] += here
                elif total == SEVEN:
                    ended[made] += here
                elif total == point:
                    count = made if distinct and point in held else made + 1
                    if count == most:
                        ended[count] += here
                    else:
                        following[0, held | {point} if distinct else held, count] += here
                else:
                    following[point, held, made] += here
        states = following
    return ended


@pytest.mark.parametrize(("most", "distinct"), [(6, True), (4, True), (10, False), (3, False)])
def test_points_of_shooters_played_out(most: int, distinct: bool) -> None:
    """400 rolls leave nobody at the table; each number of points has its chance to nine decimals."""
    chances = distinct_points_chances(most) if distinct else points_chances(most)
    exact = [chance for _, chance in chances]
    ended = played(400, most, distinct=distinct)
    assert 1 == sum(exact)
    assert [f"{ended[count]:.9f}" for count in range(most + 1)] == [f"{float(chance):.9f}" for chance in exact]


def test_all_numbers_played_out() -> None:
    """Sets of totals seen, followed roll by roll until a seven or all ten."""
    totals = Counter(one + other for one, other in WAYS)
    states = {frozenset[int](): 1.0}
    won = 0.0
    for _ in range(600):
        following: dict[frozenset[int], float] = defaultdict(float)
        for seen, chance in states.items():
            for total, ways in totals.items():
                if total == SEVEN:
                    continue
                grown = seen | {total}
                if len(grown) == len(NUMBERS):
                    won += chance * ways / 36
                else:
                    following[grown] += chance * ways / 36
        states = following
    (_, exact), (_, lost) = all_numbers_chances()
    assert (f"{won:.9f}", 1) == (f"{float(exact):.9f}", exact + lost)


def test_counts_are_whole_and_make_up_the_universe() -> None:
    """Of 38^9 orders of spins, and of the common denominator of all chances of a shooter."""
    for table in ("pa/roulette-up/progressive-1", "co/fire-bet/fb-1", "co/sharp-shooter/ss-01"):
        sheet = parsheet(paytable(table), cached=universe_text)
        assert [row.probability * sheet.universe for row in sheet.rows] == [row.count for row in sheet.rows]
    assert 38**9 == parsheet(paytable("pa/roulette-up/progressive-1"), cached=universe_text).universe
    single = parsheet(paytable("pa/roulette-up/progressive-1"), wheel="single-zero", cached=universe_text)
    assert 37**9 == single.universe
