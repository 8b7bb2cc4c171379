"""Text to cards, and what is refused on the way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meterd.handrank import JOKER, Card, CardError, check_decks, parse_card, parse_cards, rank
from meterd.handrank.cards import RANKS, SUITS


@pytest.mark.parametrize(
    ("text", "expected"), [("As", "As"), ("td", "Td"), ("10d", "Td"), ("10D", "Td"), ("jKR", "Jkr"), ("Jk", "Jkr")]
)
def test_accepted_spellings_print_as_one(text: str, expected: str) -> None:
    """Case does not matter, 10 is T, and each card prints in one form only."""
    assert expected == str(parse_card(text))


def test_every_card_survives_print_and_parse() -> None:
    """52 cards and the joker: parsing what is printed gives the card back."""
    cards = [Card(rank_, suit) for rank_ in range(2, 15) for suit in SUITS]
    assert cards == [parse_card(str(card)) for card in cards]
    assert [*cards, JOKER] == list(parse_cards(" ".join(map(str, [*cards, JOKER]))))


def test_cards_keep_the_order_written() -> None:
    """Dealt order matters to position rows, so any white space separates and nothing is sorted."""
    assert "9c As 2d" == " ".join(map(str, parse_cards("  9c\tAs \n 2d ")))
    assert () == parse_cards("")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("6\u0441", "character 2 is U+0441"),  # Cyrillic es looks like c
        ("\u0410s", "character 1 is U+0410"),  # Cyrillic A
        ("9\u2665", "character 2 is U+2665"),  # a heart sign
        ("1s", "no rank '1'"),
        ("0s", "no rank '0'"),
        ("11s", "not one card"),
        ("AsAs", "not one card"),
        ("A", "not one card"),
        ("Ax", "no suit 'x'"),
        ("sA", "no rank 'S'"),
        ("100d", "not one card"),
        ("10", "no rank '1'"),
        ("As,", "not one card"),
        ("Joker", "not one card"),
        ("*", "not one card"),
    ],
)
def test_what_is_no_card_is_named_with_what_was_expected(text: str, says: str) -> None:
    """The message holds the text as written, the fault, and the accepted form."""
    with pytest.raises(CardError) as caught:
        parse_cards(f"Ks {text}")
    assert repr(text) in str(caught.value)
    assert says in str(caught.value)
    assert "expected a rank" in str(caught.value)


@given(st.text(max_size=6))
def test_no_text_does_worse_than_a_card_error(text: str) -> None:
    """Any text is cards, or refused as CardError; what is accepted is made of known ranks and suits."""
    try:
        cards = parse_cards(text)
    except CardError:
        return
    assert all(card == JOKER or str(card)[0] in RANKS for card in cards)


@pytest.mark.parametrize(
    ("text", "decks", "jokers", "says"),
    [
        ("As Ks As", 1, 0, "As occurs twice, but one deck holds it once"),
        ("7d 7d 7d", 2, 0, "7d occurs 3 times, but 2 decks hold it 2 times"),
        ("As Jkr", 1, 0, "Jkr occurs once, but this game is dealt with no joker"),
        ("Jkr Jkr", 1, 1, "Jkr occurs twice, but this game is dealt with one joker"),
    ],
)
def test_more_copies_than_the_decks_hold_are_refused(text: str, decks: int, jokers: int, says: str) -> None:
    """A card too often names the card and how often it can occur."""
    with pytest.raises(CardError) as caught:
        check_decks(parse_cards(text), decks, jokers=jokers)
    assert says == str(caught.value)


def test_as_many_copies_as_the_decks_hold_are_fine() -> None:
    """Three identical cards from three decks, one joker where there is one."""
    check_decks(parse_cards("7d 7d 7d Jkr"), 3, jokers=1)


@pytest.mark.parametrize(
    ("ranking", "text", "says"),
    [
        ("three-card", "As Ks", "a three-card hand needs 3 cards; given: As Ks"),
        ("three-card", "", "a three-card hand needs 3 cards; given: none"),
        ("pai-gow", "As Ks Qs Jkr", "a pai-gow hand needs 5 cards; given: As Ks Qs Jkr"),
        (
            "five-card",
            "As Ks Qs Js Ts 9s 8s 7s",
            "a five-card hand is made of at most 7 cards; 8 given: As Ks Qs Js Ts 9s 8s 7s",
        ),
        ("three-card", "As Ks As", "As occurs twice, but one deck holds it once"),
        ("five-card", "7h 7h 7c 7d 7s", "7h occurs twice, but one deck holds it once"),
        ("five-card", "7h 8h 7h 9h 7h", "7h occurs 3 times, but one deck holds it once"),
        ("deuces-wild", "2c 2c 7c 7d 7s", "2c occurs twice, but one deck holds it once"),
        ("three-card", "As Ks Jkr", "Jkr occurs once, but this game is dealt with no joker"),
        ("deuces-wild", "2c Jkr 7c 7d 7s", "Jkr occurs once, but this game is dealt with no joker"),
        ("pai-gow", "Jkr Jkr Ac Ad Ah", "Jkr occurs twice, but this game is dealt with one joker"),
        ("joker-wild", "Jkr Ac Ac Ad Ah", "Ac occurs twice, but one deck holds it once"),
    ],
)
def test_ranking_refuses_hands_that_cannot_be(ranking: str, text: str, says: str) -> None:
    """Too few or too many cards, a card twice, a joker where there is none: named, with what was expected."""
    with pytest.raises(CardError) as caught:
        rank(parse_cards(text), ranking)
    assert says == str(caught.value)
