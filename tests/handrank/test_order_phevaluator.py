"""Order, ties included, agrees with an evaluator that others wrote and that shares nothing with ours."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from naive_ranks import DECK
from phevaluator import evaluate_cards

from meterd.handrank import Card, HandValue, rank

SEED = 20261130
HANDS = 200_000


def number(card: Card) -> int:
    """The other's name of a card: four to a rank, clubs first."""
    return (card.rank - 2) * 4 + "cdhs".index(card.suit)


@pytest.mark.parametrize("size", [5, 6, 7])
def test_random_hands_stand_in_the_order_of_another_evaluator(size: int) -> None:
    """200,000 hands: values that tie there tie here, and sorting by one sorts by the other (there, low is better)."""
    chooser = random.Random(SEED + size)
    seen: dict[int, tuple[HandValue, tuple[Card, ...]]] = {}
    for _ in range(HANDS):
        cards = tuple(chooser.sample(DECK, size))
        value = rank(cards, "five-card")
        theirs = evaluate_cards(*map(number, cards))
        first, with_cards = seen.setdefault(theirs, (value, cards))
        assert first == value, (SEED, with_cards, cards)
    ordered = [seen[theirs][0] for theirs in sorted(seen)]
    assert all(better > worse for better, worse in pairwise(ordered)), SEED


def test_suits_break_no_tie_here_or_there() -> None:
    """A named hand of each kind in two suits: one value."""
    for text in ("AKQJT", "76542", "KKQQJ"):
        for suits in ("cdhsc", "hscdh"):
            cards = [Card("23456789TJQKA".index(letter) + 2, suit) for letter, suit in zip(text, suits, strict=True)]
            other = [Card(card.rank, {"c": "d", "d": "h", "h": "s", "s": "c"}[card.suit]) for card in cards]
            assert rank(cards, "five-card") == rank(other, "five-card")
            assert evaluate_cards(*map(number, cards)) == evaluate_cards(*map(number, other))
