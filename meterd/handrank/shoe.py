"""Shoe hands: several decks, so a card may occur twice. Cards are a multiset here, never masks.

Sevens (CO 47.1-899.13(11), (18)): only the player's own hand counts, as dealt. The first three cards decide: three
sevens total 21, so a card that busts the hand is never one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from meterd.handrank.cards import RED, Card, CardError
from meterd.handrank.values import HandValue

SEVEN: Final = 7

#: Categories of :func:`sevens`, best first.
SEVENS: Final = ("three-sevens", "two-sevens", "one-seven", "no-seven")


def same_suit(cards: Sequence[Card]) -> bool:
    """All of one suit."""
    return len({card.suit for card in cards}) == 1


def same_color(cards: Sequence[Card]) -> bool:
    """All red or all black."""
    return len({card.suit in RED for card in cards}) == 1


def sevens(cards: Sequence[Card]) -> HandValue:
    """Sevens in dealt order: all of the first three cards, both of the first two, or one of the first two.

    Raises:
        CardError: fewer than two cards.
    """
    if len(cards) < 2:
        given = " ".join(map(str, cards)) or "none"
        raise CardError(f"a blackjack hand has at least two cards; given: {given}")
    first_two = tuple(card for card in cards[:2] if card.rank == SEVEN)
    if len(first_two) == 2 and len(cards) > 2 and cards[2].rank == SEVEN:
        return _value("three-sevens", tuple(cards[:3]))
    return _value({2: "two-sevens", 1: "one-seven", 0: "no-seven"}[len(first_two)], first_two)


def _value(category: str, used: tuple[Card, ...]) -> HandValue:
    return HandValue(category, (), used, len(SEVENS) - 1 - SEVENS.index(category), "sevens")
