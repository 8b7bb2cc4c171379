"""The stupid twin: sorts and counts ranks, knows no mask and no table. Slow and plainly right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from meterd.handrank import Card

DECK = tuple(Card(rank, suit) for suit in "cdhs" for rank in range(2, 15))

FIVE = [
    "high-card",
    "pair",
    "two-pair",
    "three-of-a-kind",
    "straight",
    "flush",
    "full-house",
    "four-of-a-kind",
    "straight-flush",
    "royal-flush",
]
FOUR = [
    "high-card",
    "pair",
    "two-pair",
    "straight",
    "flush",
    "three-of-a-kind",
    "straight-flush",
    "four-of-a-kind",
]
THREE = ["high-card", "pair", "flush", "straight", "three-of-a-kind", "straight-flush"]

NAMES = {3: THREE, 4: FOUR, 5: FIVE}

Naive = tuple[int, tuple[int, ...]]


def naive(cards: Sequence[Card]) -> Naive:
    """Category number (higher is better) and deciding ranks of exactly three, four or five cards."""
    name, ranks = named(cards)
    return NAMES[len(cards)].index(name), ranks


def named(cards: Sequence[Card]) -> tuple[str, tuple[int, ...]]:
    """Category and deciding ranks. Five cards of one rank, which a wild card can make, are five of a kind."""
    counted = sorted(((times, rank) for rank, times in Counter(card.rank for card in cards).items()), reverse=True)
    shape = [times for times, _ in counted]
    ranks = [rank for _, rank in counted]
    flush = len({card.suit for card in cards}) == 1
    straight = len(ranks) == len(cards) and ranks[0] - ranks[-1] == len(cards) - 1
    if ranks == [14, *range(len(cards), 1, -1)]:  # the ace below the deuce
        straight, ranks = True, ranks[1:]
    if straight:
        ranks = ranks[:1]
    royal = len(cards) == 5 and ranks == [14]
    return _name(shape, flush=flush, straight=straight, royal=royal), tuple(ranks)


def _name(shape: list[int], *, flush: bool, straight: bool, royal: bool) -> str:
    if straight and flush:
        return "royal-flush" if royal else "straight-flush"
    if flush:
        return "flush"
    if straight:
        return "straight"
    by_shape = {(3, 2): "full-house", (2, 2, 1): "two-pair", (2, 2): "two-pair"}
    top = {1: "high-card", 2: "pair", 3: "three-of-a-kind", 4: "four-of-a-kind", 5: "five-of-a-kind"}
    return by_shape.get(tuple(shape)) or top[shape[0]]


def naive_best(cards: Sequence[Card], size: int) -> Naive:
    """The best of all hands of ``size`` among the cards."""
    return max(naive(chosen) for chosen in combinations(cards, size))
