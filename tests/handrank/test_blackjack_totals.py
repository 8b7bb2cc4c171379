"""Totals of blackjack hands, and which card busts them."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_shoe import multisets

from meterd.handrank.blackjack import Total, busts, compare, is_blackjack, points, total, unbusted
from meterd.handrank.cards import JOKER, SUITS, Card, CardError, parse_cards

HANDS = st.lists(st.builds(Card, st.integers(2, 14), st.sampled_from(SUITS)), max_size=9)

COUNTS = {14: (1, 11), 13: (10,), 12: (10,), 11: (10,)}


def all_totals(cards: list[Card] | tuple[Card, ...]) -> dict[int, int]:
    """Every total that counting each ace either way gives → how many aces count 11 in it."""
    choices = [COUNTS.get(card.rank, (card.rank,)) for card in cards]
    return {sum(choice): choice.count(11) for choice in product(*choices)}


@given(HANDS)
def test_a_total_is_the_best_of_counting_every_ace_both_ways(cards: list[Card]) -> None:
    """The highest up to 21, else the lowest of all; soft if an ace counts 11 in it."""
    totals = all_totals(cards)
    best = max((one for one in totals if one <= 21), default=min(totals))
    assert (best, totals[best] > 0) == total(cards)
    assert busts(cards) == (min(totals) > 21)


def test_all_kinds_of_three_cards_agree_too() -> None:
    """24,804 hands, each ace counted both ways."""
    for cards in multisets(3):
        totals = all_totals(cards)
        assert max((one for one in totals if one <= 21), default=min(totals)) == total(cards).value


@given(HANDS)
def test_the_bust_card_is_left_out_and_only_that_one(cards: list[Card]) -> None:
    """Cut a hand where it goes over 21: what is left is not over, and with its next card it is."""
    end = next((place for place in range(len(cards)) if busts(cards[: place + 1])), len(cards))
    kept = unbusted(cards[: end + 1])
    assert tuple(cards[:end]) == kept
    assert not busts(kept)
    if end + 1 < len(cards):
        with pytest.raises(CardError, match=f"{cards[end]} took the hand to .*; {cards[end + 1]} cannot have been"):
            unbusted(cards)


@given(HANDS, HANDS)
def test_a_hand_beats_another_as_the_table_settles_it(player: list[Card], dealer: list[Card]) -> None:
    """Player over 21 loses; dealer over 21 pays; else the higher total, a blackjack above 21, equal ties."""
    expected = 0
    if busts(player):
        expected = -1
    elif busts(dealer):
        expected = 1
    elif is_blackjack(player) != is_blackjack(dealer):
        expected = 1 if is_blackjack(player) else -1
    elif total(player).value != total(dealer).value:
        expected = 1 if total(player).value > total(dealer).value else -1
    assert expected == compare(player, dealer)


def test_a_blackjack_is_two_cards() -> None:
    """All kinds of two cards: an ace beside a ten, jack, queen or king, and nothing else."""
    for cards in multisets(2):
        expected = any(card.rank == 14 for card in cards) and any(card.rank in {10, 11, 12, 13} for card in cards)
        assert expected == is_blackjack(cards)
        assert not is_blackjack((*cards, Card(2, "c")))


def test_totals_print_and_count_from_nothing() -> None:
    """What the pad shows, and an empty hand."""
    assert ("soft 17", "17", "0") == tuple(str(total(parse_cards(text))) for text in ("Ah 6d", "Ah 6d Kc", ""))
    assert (Total(0, soft=False), False, ()) == (total(()), busts(()), unbusted(()))


def test_a_joker_has_no_points() -> None:
    """The card is named; blackjack has none."""
    with pytest.raises(CardError, match="Jkr has no points"):
        total([Card(9, "d"), JOKER])
    assert (1, 10, 10, 9) == tuple(points(card) for card in parse_cards("Ah Kh 10h 9h"))
