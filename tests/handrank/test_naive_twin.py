"""Hand by hand, the ranking core agrees with a twin that sorts and counts."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations

import pytest
from naive_ranks import DECK, FIVE, THREE, naive, naive_best

from meterd.handrank import Card, rank

SEED = 20261130


def sample(count: int, size: int) -> list[tuple[Card, ...]]:
    chooser = random.Random(SEED)
    return [tuple(chooser.sample(DECK, size)) for _ in range(count)]


def test_all_three_card_hands_agree_with_the_twin() -> None:
    """All 22,100 hands: category, deciding ranks and the cards used, which are all three."""
    for cards in combinations(DECK, 3):
        value = rank(cards, "three-card")
        assert naive(cards) == (THREE.index(value.category), value.tiebreak), cards
        assert cards == value.cards_used


def test_three_card_category_counts_are_the_published_ones() -> None:
    """Counts as published for Three Card Poker (Wizard of Odds): 48, 52, 720, 1096, 3744, 16440."""
    counts = Counter(rank(cards, "three-card").category for cards in combinations(DECK, 3))
    assert {
        "straight-flush": 48,
        "three-of-a-kind": 52,
        "straight": 720,
        "flush": 1_096,
        "pair": 3_744,
        "high-card": 16_440,
    } == counts


def test_a_fixed_sample_of_five_card_hands_agrees_with_the_twin() -> None:
    """100,000 hands from a fixed seed: category, deciding ranks, cards used."""
    for cards in sample(100_000, 5):
        value = rank(cards, "five-card")
        assert naive(cards) == (FIVE.index(value.category), value.tiebreak), (SEED, cards)
        assert cards == value.cards_used


@pytest.mark.parametrize(("size", "count"), [(6, 3_000), (7, 1_500)])
def test_the_best_five_of_more_cards_are_found(size: int, count: int) -> None:
    """Of six and seven cards the value is that of the best five, and the cards used are such five, as dealt."""
    for cards in sample(count, size):
        value = rank(cards, "five-card")
        best = naive_best(cards, 5)
        assert best == (FIVE.index(value.category), value.tiebreak), (SEED, cards)
        assert best == naive(value.cards_used), (SEED, cards)
        assert [card for card in cards if card in value.cards_used] == list(value.cards_used)


def test_values_compare_as_the_twin_orders_them() -> None:
    """Greater, less and tied agree on random pairs of hands; tied values are equal and hash alike."""
    hands = sample(4_000, 5)
    for one, other in zip(hands[::2], hands[1::2], strict=True):
        left, right = rank(one, "five-card"), rank(other, "five-card")
        assert (naive(one) < naive(other), naive(one) == naive(other)) == (left < right, left == right)
    clubs, spades = (rank([Card(rank_, suit) for rank_ in (2, 5, 7, 9, 11)], "five-card") for suit in "cs")
    assert clubs == spades
    assert hash(clubs) == hash(spades)
    assert clubs.cards_used != spades.cards_used
