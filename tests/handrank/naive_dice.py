"""Exact chances of streaks of points and totals: what the shooter can reach, set by set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from itertools import product

WAYS_OF = Counter(one + other for one, other in product(range(1, 7), repeat=2))
POINTS = (4, 5, 6, 8, 9, 10)
NUMBERS = sorted(set(WAYS_OF) - {7})


def ways(totals: Iterable[int]) -> int:
    return sum(WAYS_OF[total] for total in totals)


def points_chances(*, distinct: bool, most: int) -> tuple[Fraction, ...]:
    """Chances that exactly 0, 1, … ``most`` points are made."""
    if not distinct:
        repeat = sum(_point_made(point) for point in POINTS)
        return (*(repeat**made * (1 - repeat) for made in range(most)), repeat**most)
    reached = {frozenset[int](): Fraction(1)}
    chances = []
    for _made in range(most):
        ended = Fraction(0)
        following: dict[frozenset[int], Fraction] = {}
        for made, chance_here in reached.items():
            repeat = sum((_point_made(point) for point in made), Fraction(0))
            fresh = {point: _point_made(point) / (1 - repeat) for point in POINTS if point not in made}
            ended += chance_here * (1 - sum(fresh.values()))
            for point, chance_new in fresh.items():
                after = made | {point}
                following[after] = following.get(after, Fraction(0)) + chance_here * chance_new
        chances.append(ended)
        reached = following
    return (*chances, sum(reached.values(), Fraction(0)))


def all_numbers_chances() -> tuple[Fraction, ...]:
    """Chances that exactly 0, 1, … 10 different totals are rolled before a seven; the last one is Make 'Em All."""
    reached = {frozenset[int](): Fraction(1)}
    chances = []
    for _seen in NUMBERS:
        ended = Fraction(0)
        following: dict[frozenset[int], Fraction] = {}
        for seen, chance_here in reached.items():
            open_ways = 36 - ways(seen)
            ended += chance_here * Fraction(6, open_ways)
            for number in set(NUMBERS) - seen:
                after = seen | {number}
                following[after] = following.get(after, Fraction(0)) + chance_here * Fraction(
                    ways((number,)), open_ways
                )
        chances.append(ended)
        reached = following
    return (*chances, sum(reached.values(), Fraction(0)))


def _point_made(point: int) -> Fraction:
    """Chance that this is the next point set, and that it is made; rolls that set no point do not count."""
    return Fraction(ways((point,)), ways(POINTS)) * Fraction(ways((point,)), ways((point,)) + 6)
