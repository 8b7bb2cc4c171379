"""Chances of games of numbers, exact by the law of the game: rising streaks on a wheel, points and totals of dice.

Each function gives what can be reached, once: the numbers as a person would write them, and the chance.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Final

from meterd.handrank.dice import NUMBERS, POINTS, SEVEN, decided, ways
from meterd.handrank.wheel import pockets

#: What a game can come to: spins or rolls that lead there, and the chance.
Reached = Iterator[tuple[str, Fraction]]

#: Ways of two dice that set a point on a come-out roll.
_POINT_WAYS: Final = ways(POINTS)


def streak_chances(longest: int, *, double_zero: bool) -> Reached:
    """Streaks of rising numbers that end at length 1, 2 … ``longest``.

    L independent spins rise with chance C(n, L) / n^L on a wheel of n numbers: of all orders of L different numbers one
    rises. A streak ends at L when it got there and not one further.
    """
    wheel = pockets(double_zero=double_zero)

    def rising(length: int) -> Fraction:
        return Fraction(comb(len(wheel), length), len(wheel) ** length)

    for length in range(1, min(longest, len(wheel)) + 1):
        at_end = length in {longest, len(wheel)}
        spins = wheel[:length] if at_end else (*wheel[:length], wheel[length - 1])
        yield " ".join(spins), rising(length) if at_end else rising(length) - rising(length + 1)


def points_chances(most: int) -> Reached:
    """Points made before the seven-out, repeats counted, up to ``most``."""
    made = sum((_made(point) for point in POINTS), Fraction(0))
    for count in range(most + 1):
        rolls = ["4 4"] * count + (["4 7"] if count < most else [])
        yield " ".join(rolls), made**count * (1 - made if count < most else 1)


def distinct_points_chances(most: int) -> Reached:
    """Different points made before the seven-out, up to ``most`` of the six.

    Only two things change anything: a point not made before is made, or the shooter sevens out; a point made again
    leaves all as it was.
    """
    made = {point: _made(point) for point in POINTS}
    out = 1 - sum(made.values())
    reaching: dict[tuple[int, ...], Fraction] = {(): Fraction(1)}
    for count in range(most + 1):
        chance = sum(
            (
                at if count == most else at * out / (1 - sum(made[point] for point in held))
                for held, at in reaching.items()
            ),
            Fraction(0),
        )
        rolls = [f"{point} {point}" for point in POINTS[:count]] + (["4 7"] if count < most else [])
        yield " ".join(rolls), chance
        further: dict[tuple[int, ...], Fraction] = {}
        for held, at in reaching.items():
            for point in set(POINTS) - set(held):
                grown = tuple(sorted((*held, point)))
                step = at * made[point] / (1 - sum(made[other] for other in held))
                further[grown] = further.get(grown, Fraction(0)) + step
        reaching = further


def all_numbers_chances() -> Reached:
    """Every total but seven before a seven, or not: by inclusion and exclusion over the totals still missing."""
    won = Fraction(0)
    for count in range(len(NUMBERS) + 1):
        for missing in combinations(NUMBERS, count):
            none_of_them = decided(ways((SEVEN,)), ways(missing))
            won += -none_of_them if count % 2 else none_of_them
    yield " ".join(map(str, NUMBERS)), won
    yield str(SEVEN), 1 - won


def _made(point: int) -> Fraction:
    """The chance that the next point is this one, and is made."""
    return Fraction(ways((point,)), _POINT_WAYS) * decided(ways((point,)), ways((SEVEN,)))
