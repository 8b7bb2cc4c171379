"""Whole universes of deals by weighted classes: one deal for all that differ only in suits that mean the same.

A deal is one or more *blocks* of cards (own cards, flop, the dealer's up card …). Within a block order does not
matter; a block drawn later has the earlier ones missing from the shoe. Suits that no row tells apart are
interchangeable: of all deals that turn into each other by swapping such suits one is made, with the number of deals
it stands for.

Units: a weight is a number of deals of physical cards, so the weights of a universe sum to :func:`universe`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from math import comb, prod
from typing import Final

from meterd.handrank.cards import ACE, JOKER, RANK_MIN, SUITS, Card

ALL_RANKS: Final = tuple(range(RANK_MIN, ACE + 1))

#: A deal: the cards of each block.
Deal = tuple[tuple[Card, ...], ...]

#: The ranks of each suit as bits, the deuce lowest.
Masks = tuple[int, int, int, int]

#: What one suit gives to each block: ranks, highest first, repeated where several decks give the same card twice.
Part = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Shoe:
    """``decks`` decks of the four suits in ``ranks``, with ``jokers`` jokers besides."""

    decks: int = 1
    jokers: int = 0
    ranks: tuple[int, ...] = ALL_RANKS

    @property
    def cards(self) -> int:
        """Number of cards in it."""
        return len(SUITS) * len(self.ranks) * self.decks + self.jokers

    def without(self, cards: Iterable[Card]) -> dict[Card, int]:
        """Copies of each card that are left when some have been dealt."""
        left = {Card(rank, suit): self.decks for rank in self.ranks for suit in SUITS}
        if self.jokers:
            left[JOKER] = self.jokers
        for card in cards:
            left[card] -= 1
        return left


def universe(blocks: Sequence[int], shoe: Shoe) -> int:
    """Number of deals: the blocks are drawn one after the other."""
    left, ways = shoe.cards, 1
    for size in blocks:
        ways *= comb(left, size)
        left -= size
    return ways


def deals(blocks: Sequence[int], shoe: Shoe, groups: Sequence[str] = (SUITS,)) -> Iterator[tuple[Deal, int]]:
    """Every class of deals once, with its weight. ``groups`` are the sets of interchangeable suits."""
    choices = _Choices(tuple(blocks), shoe, tuple(groups))
    names = "".join(groups) + ("*" if shoe.jokers else "")
    cards = [
        [[[Card(rank, name) for rank in block] for block in part] for part in suit.parts]
        for name, (suit, _) in zip(names, choices.plan, strict=True)
    ]
    for chosen, weight in choices.walk():
        given = [of_suit[part] for of_suit, part in zip(cards, chosen, strict=True)]
        yield tuple([tuple([card for part in given for card in part[block]]) for block in range(len(blocks))]), weight


def deals_of_rest(blocks: Sequence[int], left: Mapping[Card, int]) -> Iterator[tuple[Deal, int]]:
    """Every deal from what is left of a shoe, by kinds of card, with the number of ways to choose the cards."""
    if not blocks:
        yield (), 1
        return
    kinds = [card for card, copies in left.items() if copies]
    for block in combinations_with_replacement(kinds, blocks[0]):
        taken = Counter(block)
        weight = prod(comb(left[card], times) for card, times in taken.items())
        if weight:
            rest = {card: copies - taken[card] for card, copies in left.items()}
            for others, ways in deals_of_rest(blocks[1:], rest):
                yield (block, *others), weight * ways


def mask_classes(size: int, jokers: int = 0) -> Iterator[tuple[Masks, int, int]]:
    """Every class of ``size`` cards of one deck as four suit masks, the number of jokers in it, and its weight.

    Bit 0 of a mask is the deuce. All suits are interchangeable; the longest one comes first.
    """
    for held in range(min(jokers, size) + 1):
        choices = _Choices((size - held,), Shoe(), (SUITS,))
        masks = [sum(1 << (rank - RANK_MIN) for rank in part[0]) for part in choices.plan[0][0].parts]
        ways = comb(jokers, held)
        for (a, b, c, d), weight in choices.walk():
            yield (masks[a], masks[b], masks[c], masks[d]), held, weight * ways


class _Choices:
    """What each suit gives, in order of the groups, the jokers last; ``plan`` has a suit and its place in its group.

    Of interchangeable suits a later one gives no part with a higher number than the one before it.
    """

    def __init__(self, blocks: tuple[int, ...], shoe: Shoe, groups: tuple[str, ...]) -> None:
        regular = _Suit(suit_parts(blocks, shoe.decks, shoe.ranks), shoe.decks * len(shoe.ranks))
        self.plan = [(regular, place) for group in groups for place in range(1, len(group) + 1)]
        if shoe.jokers:
            self.plan.append((_Suit(suit_parts(blocks, shoe.jokers, (JOKER.rank,)), shoe.jokers), 1))
        self._blocks = blocks
        self._capacity = [sum(suit.most for suit, _ in self.plan[index:]) for index in range(len(self.plan) + 1)]

    def walk(self) -> Iterator[tuple[list[int], int]]:
        """The number of each suit's part, and the weight of the class."""
        return self._extend([], 0, self._blocks, 1)

    def _extend(
        self, chosen: list[int], run: int, left: tuple[int, ...], weight: int
    ) -> Iterator[tuple[list[int], int]]:
        """``run``: how many suits of the group, up to the last one chosen, gave the same part."""
        suit, place = self.plan[len(chosen)]
        last = len(chosen) == len(self.plan) - 1
        for counts in (left,) if last else suit.below(left):
            rest = tuple([have - take for have, take in zip(left, counts, strict=True)])
            if sum(rest) > self._capacity[len(chosen) + 1]:
                continue
            candidates = suit.of_counts.get(counts, [])
            if place > 1:
                candidates = candidates[: bisect_right(candidates, chosen[-1])]
            for part in candidates:
                again = run + 1 if place > 1 and part == chosen[-1] else 1
                heavier = weight * suit.weights[part] * place // again
                if last:
                    yield [*chosen, part], heavier
                else:
                    yield from self._extend([*chosen, part], again, rest, heavier)


class _Suit:
    """All parts one suit can give, numbered; a part with more cards has the higher number."""

    def __init__(self, parts: Sequence[tuple[Part, int]], most: int) -> None:
        ordered = sorted(parts, key=lambda item: (sum(map(len, item[0])), item[0]))
        self.most = most
        self.parts = [part for part, _ in ordered]
        self.weights = [weight for _, weight in ordered]
        self.of_counts: dict[tuple[int, ...], list[int]] = {}
        for number, part in enumerate(self.parts):
            self.of_counts.setdefault(tuple(map(len, part)), []).append(number)
        self._below: dict[tuple[int, ...], list[tuple[int, ...]]] = {}

    def below(self, left: tuple[int, ...]) -> list[tuple[int, ...]]:
        """The numbers of cards per block this suit can give, none above what is left, most cards first."""
        if left not in self._below:
            fitting = (counts for counts in self.of_counts if all(map(int.__le__, counts, left)))
            self._below[left] = sorted(fitting, key=lambda counts: (-sum(counts), counts))
        return self._below[left]


@cache
def suit_parts(blocks: tuple[int, ...], copies: int, ranks: tuple[int, ...]) -> tuple[tuple[Part, int], ...]:
    """All that one suit can give to blocks of these sizes, with the number of ways to choose the physical cards.

    ``copies`` of each rank lie in the shoe; a block that takes m of k left can do so in C(k, m) ways.
    """
    done: list[tuple[Part, int]] = [(tuple(() for _ in blocks), 1)]
    for rank in ranks:
        grown = []
        for part, weight in done:
            room = tuple(size - len(held) for size, held in zip(blocks, part, strict=True))
            for taken, ways in _takes(room, copies):
                more = tuple((rank,) * take + held for take, held in zip(taken, part, strict=True))
                grown.append((more, weight * ways))
        done = grown
    return tuple(done)


@cache
def _takes(room: tuple[int, ...], copies: int) -> tuple[tuple[tuple[int, ...], int], ...]:
    """How many copies of one card go to each block, with the number of ways."""
    if not room:
        return (((), 1),)
    return tuple(
        ((take, *others), comb(copies, take) * ways)
        for take in range(min(room[0], copies) + 1)
        for others, ways in _takes(room[1:], copies - take)
    )
