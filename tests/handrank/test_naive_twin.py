"""Hand by hand, the ranking core agrees with a twin that sorts and counts."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from naive_ranks import DECK, FIVE, FOUR, THREE, naive, naive_best

from meterd.handrank import Card, category, rank
from meterd.handrank.classes import suit_classes

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


def test_a_fixed_sample_of_five_card_hands_agrees_with_the_twin() -> None:
    """100,000 hands from a fixed seed: category, deciding ranks, cards used."""
    for cards in sample(100_000, 5):
        value = rank(cards, "five-card")
        assert naive(cards) == (FIVE.index(value.category), value.tiebreak), (SEED, cards)
        assert cards == value.cards_used


@pytest.mark.slow
def test_all_five_card_hands_agree_with_the_twin() -> None:
    """All 2,598,960 hands, one by one: category by both functions, deciding ranks, cards used."""
    for cards in combinations(DECK, 5):
        value = rank(cards, "five-card")
        place, ranks = naive(cards)
        assert (FIVE[place], ranks) == (value.category, value.tiebreak), cards
        assert value.cards_used is cards
        masks = [0, 0, 0, 0]
        for card in cards:
            masks["cdhs".index(card.suit)] |= 1 << (card.rank - 2)
        assert 9 - place == category(*masks), cards


def test_all_four_card_hands_agree_with_the_twin() -> None:
    """All 270,725, one for all suit permutations of each: category, deciding ranks."""
    for masks, _ in suit_classes(4):
        cards = tuple(Card(place + 2, suit) for mask, suit in zip(masks, "cdhs", strict=True) for place in ones(mask))
        value = rank(cards, "four-card")
        assert naive(cards) == (FOUR.index(value.category), value.tiebreak), cards


def ones(mask: int) -> list[int]:
    return [place for place in range(13) if mask >> place & 1]


@pytest.mark.parametrize(("size", "count"), [(5, 4_000), (6, 1_000)])
def test_the_best_four_of_more_cards_are_found(size: int, count: int) -> None:
    """Best four of five (Crazy 4, Four Card Poker) and of six (its dealer)."""
    for cards in sample(count, size):
        value = rank(cards, "four-card")
        best = naive_best(cards, 4)
        assert best == (FOUR.index(value.category), value.tiebreak), (SEED, cards)
        assert best == naive(value.cards_used), (SEED, cards)


@pytest.mark.parametrize("size", [4, 5, 6, 7])
def test_the_best_three_of_more_cards_are_found(size: int) -> None:
    """Three-card hands chosen from more cards."""
    for cards in sample(1_000, size):
        value = rank(cards, "three-card")
        best = naive_best(cards, 3)
        assert best == (THREE.index(value.category), value.tiebreak), (SEED, cards)
        assert best == naive(value.cards_used), (SEED, cards)


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
