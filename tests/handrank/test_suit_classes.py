"""Whole universes by suit-canonical classes: one hand for all its suit permutations, with its weight."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import combinations, groupby, permutations
from math import comb, factorial

from meterd.handrank import RANKINGS, Features, best_category

Masks = tuple[int, int, int, int]


@cache
def masks_of(count: int) -> tuple[int, ...]:
    """All sets of ``count`` ranks, highest number first."""
    return tuple(sorted((sum(1 << rank for rank in ranks) for ranks in combinations(range(13), count)), reverse=True))


def classes(size: int) -> Iterator[tuple[Masks, int]]:
    """Every class of ``size`` cards of one deck once, as descending suit masks, with the number of hands in it."""

    def extend(masks: tuple[int, ...], left: int, most: tuple[int, int]) -> Iterator[tuple[Masks, int]]:
        if len(masks) == 4:
            same = [len(list(group)) for _, group in groupby(masks)]
            weight = factorial(4)
            for run in same:
                weight //= factorial(run)
            yield (masks[0], masks[1], masks[2], masks[3]), weight
            return
        suits_left = 4 - len(masks)
        for count in range(min(left, most[0]), -1, -1):
            if count * suits_left < left:
                break
            for mask in masks_of(count):
                if (count, mask) <= most and (suits_left > 1 or count == left):
                    yield from extend((*masks, mask), left - count, (count, mask))

    yield from extend((), size, (13, 1 << 13))


def counts(size: int, ranking: str) -> Counter[str]:
    order = RANKINGS[ranking]
    found: Counter[str] = Counter()
    for masks, weight in classes(size):
        found[best_category(Features.of_masks(*masks), order)] += weight
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
    } == counts(5, "five-card")


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
    assert [orbits(3), orbits(5)] == [sum(1 for _ in classes(3)), sum(1 for _ in classes(5))]
    assert orbits(5) == len(set(classes(5)))


def test_classes_and_plain_enumeration_give_the_same_three_card_counts() -> None:
    """The weights are right: 22,100 hands, category by category."""
    assert {
        "straight-flush": 48,
        "three-of-a-kind": 52,
        "straight": 720,
        "flush": 1_096,
        "pair": 3_744,
        "high-card": 16_440,
    } == counts(3, "three-card")
