"""Single-deck hands as four 13-bit suit masks, and the categories read off them.

Rule 1: a mask has no room for a second copy of a card. Shoe hands never come here (``shoe.py``).
Rule 2: every question is asked of the masks once; a ranking then takes its first category that holds.
Units: bit 0 is the deuce, bit 12 the ace; a *top* is the rank 2 to 14 of the highest card, 0 for none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Final, NamedTuple

from meterd.handrank.cards import ACE, RANK_MIN, SUITS, Card
from meterd.handrank.rankings import Ranking

_RANKS_IN_MASK: Final = 13


@cache
def straight_tops(length: int) -> bytes:
    """For each of the 8,192 rank masks, the top of its highest run of ``length`` ranks, 0 if it has none.

    An ace also plays below the deuce, so the lowest run of five is 5-4-3-2-A with top 5.
    """
    tops = bytearray(1 << _RANKS_IN_MASK)
    for mask in range(1 << _RANKS_IN_MASK):
        run = mask << 1 | mask >> (_RANKS_IN_MASK - 1)  # one bit lower: the ace as rank 1
        for shift in range(1, length):
            run &= (mask << 1 | mask >> (_RANKS_IN_MASK - 1)) >> shift
            if not run:
                break
        if run:
            tops[mask] = run.bit_length() + length - 1
    return bytes(tops)


class Features(NamedTuple):
    """What the rankings ask about a hand. ``ranks2`` holds the ranks that occur at least twice, and so on."""

    suits: tuple[int, int, int, int]
    ranks1: int
    ranks2: int
    ranks3: int
    ranks4: int

    @classmethod
    def of_masks(cls, clubs: int, diamonds: int, hearts: int, spades: int) -> Features:
        """The features of four suit masks."""
        black1, black2 = clubs | spades, clubs & spades
        red1, red2 = diamonds | hearts, diamonds & hearts
        return cls(
            (clubs, diamonds, hearts, spades),
            black1 | red1,
            black2 | red2 | black1 & red1,
            black2 & red1 | red2 & black1,
            black2 & red2,
        )

    @classmethod
    def of_cards(cls, cards: Iterable[Card]) -> Features:
        """The features of cards that ``check_decks`` has passed."""
        masks = dict.fromkeys(SUITS, 0)
        for card in cards:
            masks[card.suit] |= 1 << (card.rank - RANK_MIN)
        return cls.of_masks(*masks.values())


def straight_flush_suit(hand: Features, size: int) -> tuple[int, str]:
    """Top and suit of the highest straight flush, ``(0, "")`` for none."""
    tops = straight_tops(size)
    return max(
        ((tops[mask], suit) for mask, suit in zip(hand.suits, SUITS, strict=True) if tops[mask]), default=(0, "")
    )


def flush_suit(hand: Features, size: int) -> str:
    """The suit of the highest flush, empty for none."""
    best, suit_best = 0, ""
    for mask, suit in zip(hand.suits, SUITS, strict=True):
        if mask.bit_count() >= size and top_bits(mask, size) > best:
            best, suit_best = top_bits(mask, size), suit
    return suit_best


def top_bits(mask: int, count: int) -> int:
    """The highest ``count`` bits of a mask."""
    while mask.bit_count() > count:
        mask &= mask - 1
    return mask


def _royal_flush(hand: Features, size: int) -> bool:
    tops = straight_tops(size)
    return any(tops[mask] == ACE for mask in hand.suits)


def _straight_flush(hand: Features, size: int) -> bool:
    tops = straight_tops(size)
    return any(tops[mask] for mask in hand.suits)


def _full_house(hand: Features, _size: int) -> bool:
    return bool(hand.ranks3) and hand.ranks2.bit_count() > 1


#: category → does the hand hold it? Each is asked on its own, so any order of them is a ranking.
HOLDS: Final[dict[str, Callable[[Features, int], bool]]] = {
    "royal-flush": _royal_flush,
    "straight-flush": _straight_flush,
    "four-of-a-kind": lambda hand, _size: bool(hand.ranks4),
    "full-house": _full_house,
    "flush": lambda hand, size: any(mask.bit_count() >= size for mask in hand.suits),
    "straight": lambda hand, size: bool(straight_tops(size)[hand.ranks1]),
    "three-of-a-kind": lambda hand, _size: bool(hand.ranks3),
    "two-pair": lambda hand, _size: hand.ranks2.bit_count() > 1,
    "pair": lambda hand, _size: bool(hand.ranks2),
    "high-card": lambda _hand, _size: True,
}


def best_category(hand: Features, ranking: Ranking) -> str:
    """The first category of the ranking's order that the hand holds."""
    for category in ranking.order:
        if HOLDS[category](hand, ranking.size):
            return category
    raise ValueError(f"ranking {ranking.name} has no category for every hand; end its order with high-card")
