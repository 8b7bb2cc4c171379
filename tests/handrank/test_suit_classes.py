"""Whole universes by suit-canonical classes: one hand for all its suit permutations, with its weight."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from math import comb

from meterd.handrank import FIVE_CARD, category
from meterd.handrank.classes import suit_classes


def counts(size: int) -> Counter[str]:
    found: Counter[str] = Counter()
    for masks, weight in suit_classes(size):
        found[FIVE_CARD[category(*masks)]] += weight
    assert comb(52, size) == found.total()
    return found


def test_category_counts_of_all_five_card_hands_are_the_published_ones() -> None:
    """All 2,598,960 hands (counts: Wikipedia, "Poker probability")."""
    assert {
        "royal-flush": 4,
        "straight-flush": 36,
        "four-of-a-kind": 624,
        "full-house": 3_744,
        "flush": 5_108,
        "straight": 10_200,
        "three-of-a-kind": 54_912,
        "two-pair": 123_552,
        "pair": 1_098_240,
        "high-card": 1_302_540,
    } == counts(5)


def orbits(size: int) -> int:
    """Classes counted without making any (Burnside): the mean number of hands that a suit permutation leaves alone."""
    total = 0
    for permutation in permutations(range(4)):
        fixed = Counter({0: 1})  # cards → ways to choose whole orbits of cards
        for length in _cycles(permutation):
            chosen = Counter[int]()
            for cards, ways in fixed.items():
                for ranks in range(14):
                    chosen[cards + ranks * length] += ways * comb(13, ranks)
            fixed = chosen
        total += fixed[size]
    return total // 24


def _cycles(permutation: tuple[int, ...]) -> list[int]:
    """Lengths of a permutation's cycles."""
    left, lengths = set(range(4)), []
    while left:
        place, length = min(left), 0
        while place in left:
            left.remove(place)
            place, length = permutation[place], length + 1
        lengths.append(length)
    return lengths


def test_there_are_as_many_classes_as_burnside_counts() -> None:
    """1,755 classes of three cards, 134,459 of five: none is missing and none made twice."""
    assert [1_755, 134_459] == [orbits(3), orbits(5)]
    assert [orbits(3), orbits(5)] == [sum(1 for _ in suit_classes(3)), sum(1 for _ in suit_classes(5))]
    assert orbits(5) == len(set(suit_classes(5)))
