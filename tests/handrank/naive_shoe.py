"""The stupid twin for shoe hands: tries every choice of cards, reads runs off a string. Slow and plainly right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations
from math import comb, factorial, prod

from meterd.handrank.cards import RANKS, SUITS, Card

RUN = "A23456789TJQKA"

GROUPS = {
    "pair": [2],
    "two-pair": [2, 2],
    "three-pair": [2, 2, 2],
    "three-of-a-kind": [3],
    "full-house": [3, 2],
    "four-of-a-kind": [4],
    "five-of-a-kind": [5],
}
RUNS = ("straight", "straight-flush", "royal-flush")
CATEGORIES = (*GROUPS, *RUNS, "flush")


def letters(cards: Sequence[Card]) -> list[str]:
    return [str(card)[0] for card in cards]


def value_of(cards: Sequence[Card], category: str) -> tuple[int, ...] | None:
    """The deciding ranks if exactly these cards hold the category, whatever else they hold."""
    ranks = sorted((card.rank for card in cards), reverse=True)
    flush = len({card.suit for card in cards}) == 1
    if category in GROUPS:
        counted = Counter(ranks)
        found = [
            (*chosen, *(rank for rank in ranks if rank not in chosen))
            for chosen in permutations(counted, len(GROUPS[category]))
            if all(counted[rank] >= count for rank, count in zip(chosen, GROUPS[category], strict=True))
        ]
        return max(found, default=None)
    if category == "flush":
        return tuple(ranks) if flush else None
    windows = [
        start for start in range(15 - len(cards)) if sorted(RUN[start : start + len(cards)]) == sorted(letters(cards))
    ]
    if len(cards) > 13 or not windows or (category != "straight" and not flush):
        return None
    top = max(windows) + len(cards)
    return (top,) if category != "royal-flush" or top == 14 else None


def best(cards: Sequence[Card], category: str, size: int) -> tuple[int, ...] | None:
    """The best value of the category among all choices of ``size`` cards."""
    if category in GROUPS and sum(GROUPS[category]) > size:
        return None
    values = [value_of(chosen, category) for chosen in combinations(cards, size)]
    return max((value for value in values if value is not None), default=None)


def groupings(cards: Sequence[Card], category: str) -> set[tuple[Card, ...]]:
    """Every choice of exactly the cards that make a category of equal ranks."""
    count = sum(GROUPS[category])
    return {tuple(sorted(c)) for c in combinations(cards, count) if value_of(c, category) is not None}


DECK = [Card(rank, suit) for suit in SUITS for rank in range(2, 2 + len(RANKS))]


def multisets(size: int, types: Sequence[Card] = DECK, most: int = 8) -> Iterator[tuple[Card, ...]]:
    """Every hand of a shoe once, as sorted cards, at most ``most`` of one card."""
    if size == 0:
        yield ()
        return
    for place, card in enumerate(types):
        for times in range(1, min(most, size) + 1):
            for rest in multisets(size - times, types[place + 1 :], most):
                yield (*[card] * times, *rest)


def weight(cards: Sequence[Card], decks: int) -> int:
    """How many ways ``decks`` decks deal these cards."""
    return prod(comb(decks, times) for times in Counter(cards).values())


def suit_classes(size: int) -> Iterator[tuple[tuple[Card, ...], int]]:
    """One hand for all that differ by a permutation of the suits only, and how many those are."""
    by_count = {count: _rank_multisets(count) for count in range(size + 1)}

    def extend(suits: tuple[tuple[int, ...], ...], left: int) -> Iterator[tuple[tuple[Card, ...], int]]:
        if len(suits) == 4:
            if left == 0:
                same = prod(factorial(times) for times in Counter(suits).values())
                yield tuple(Card(r, s) for ranks, s in zip(suits, SUITS, strict=True) for r in ranks), 24 // same
            return
        for count in range(left + 1):
            for ranks in by_count[count]:
                if not suits or (len(ranks), ranks) <= (len(suits[-1]), suits[-1]):
                    yield from extend((*suits, ranks), left - count)

    yield from extend((), size)


def _rank_multisets(count: int) -> list[tuple[int, ...]]:
    if count == 0:
        return [()]
    return [(*rest, rank) for rest in _rank_multisets(count - 1) for rank in range(rest[-1] if rest else 2, 15)]
