"""Whole universes of one deck: one hand for all its suit permutations, with its weight.

Exact for everything that treats the suits alike. 134,459 classes stand for the 2,598,960 five-card hands, 6,009,159
for the 133,784,560 of seven cards.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations
from typing import Final

from .masks import RANKS_IN_MASK

SUITS_IN_DECK: Final = 4

Masks = tuple[int, int, int, int]

#: Which neighbouring suits hold the same ranks → number of hands in the class: 24 over the permutations of equal suits.
_WEIGHTS: Final = {
    (False, False, False): 24,
    (True, False, False): 12,
    (False, True, False): 12,
    (False, False, True): 12,
    (True, False, True): 6,
    (True, True, False): 4,
    (False, True, True): 4,
    (True, True, True): 1,
}


def suit_classes(size: int) -> Iterator[tuple[Masks, int]]:
    """Every class of ``size`` cards once: its suit masks, longest suit first, and how many hands it stands for."""
    for longest, second, third, fourth in _suit_lengths(size):
        for first_place, a in enumerate(_masks(longest)):
            for second_place, b in _not_before(first_place, longest, second):
                for third_place, c in _not_before(second_place, second, third):
                    for _, d in _not_before(third_place, third, fourth):
                        yield (a, b, c, d), _WEIGHTS[a == b, b == c, c == d]


def _suit_lengths(size: int) -> Iterator[tuple[int, int, int, int]]:
    """Ways to spread so many cards over the suits, longest suit first."""
    for longest in range(min(size, RANKS_IN_MASK), -1, -1):
        for second in range(min(size - longest, longest), -1, -1):
            for third in range(min(size - longest - second, second), -1, -1):
                fourth = size - longest - second - third
                if fourth <= third:
                    yield longest, second, third, fourth


def _not_before(place: int, length: int, own_length: int) -> tuple[tuple[int, int], ...]:
    """The masks for the next suit with their places; of an equally long suit only those not before its own."""
    return _numbered(own_length, place if own_length == length else 0)


@cache
def _numbered(length: int, start: int) -> tuple[tuple[int, int], ...]:
    return tuple(enumerate(_masks(length)))[start:]


@cache
def _masks(length: int) -> tuple[int, ...]:
    """All sets of so many ranks."""
    return tuple(sum(1 << rank for rank in ranks) for ranks in combinations(range(RANKS_IN_MASK), length))
