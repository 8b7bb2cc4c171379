"""Sevens of a blackjack hand from a shoe, against a plain reading of the rule."""

from __future__ import annotations

from itertools import product

import pytest

from meterd.handrank import Card, CardError, same_color, same_suit, sevens

SAMPLE = [Card(7, suit) for suit in "cdhs"] + [Card(9, "d")]


def test_three_cards_of_a_shoe_read_as_the_rule_says() -> None:
    """All ordered hands of three with and without sevens, duplicates included."""
    for cards in product(SAMPLE, repeat=3):
        is_seven = [card.rank == 7 for card in cards]
        expected = "three-sevens" if all(is_seven) else ("no-seven", "one-seven", "two-sevens")[sum(is_seven[:2])]
        value = sevens(cards)
        assert expected == value.category
        assert all(card.rank == 7 for card in value.cards_used)


def test_more_sevens_are_better_and_print() -> None:
    """Values compare, and name the sevens that made them."""
    three, two, one, none = (
        sevens([Card(rank, "d") for rank in ranks]) for ranks in ((7, 7, 7), (7, 7, 2), (2, 7, 7), (2, 2, 7))
    )
    assert three > two > one > none
    assert "three-sevens (7d 7d 7d)" == str(three)
    assert (Card(7, "d"),) == one.cards_used


def test_suit_and_colour_are_read_off_the_cards() -> None:
    """Diamonds and hearts are red, clubs and spades black."""
    red, black, mixed = ([Card(7, suit) for suit in suits] for suits in ("ddh", "css", "dcs"))
    assert (False, True) == (same_suit(red), same_color(red))
    assert same_color(black)
    assert not same_color(mixed)
    assert same_suit([Card(7, "d")] * 3)


@pytest.mark.parametrize("cards", [[], [Card(7, "d")]])
def test_fewer_than_two_cards_are_no_blackjack_hand(cards: list[Card]) -> None:
    """The wager is decided by at least the first two cards."""
    with pytest.raises(CardError, match="at least two cards"):
        sevens(cards)
