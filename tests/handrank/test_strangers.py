"""What a program hands over unparsed: strangers among cards, sizes that no hand has, messages of any length."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from meterd.handrank import (
    JOKER,
    Card,
    CardError,
    PokerHand,
    ShoeHand,
    check_decks,
    longest_flush,
    longest_straight,
    parse_cards,
    parse_spins,
    rank,
    rank_shoe,
    rising_streak,
    sevens,
    two_way_bad_beat,
)
from meterd.handrank.blackjack import busts, compare, total, unbusted
from meterd.handrank.cards import parse_card
from meterd.handrank.dice import Roll, all_numbers, craps_points, parse_rolls

#: A rank or a suit that no deck has.
STRANGERS = [
    Card(0, "s"),
    Card(1, "s"),
    Card(15, "s"),
    Card(-3, "h"),
    Card(7, "x"),
    Card(7, "*"),
    Card(2, ""),
    (3, "s", 1),
]

FULL = parse_cards("2c 9d 4h 5s 8d Kd Jc 3d")

READERS: dict[str, Callable[[list[Card]], object]] = {
    "three-card": lambda cards: rank(cards[:3], "three-card"),
    "five-card": lambda cards: rank(cards[:5], "five-card"),
    "pai-gow": lambda cards: rank(cards[:7], "pai-gow"),
    "deuces-wild": lambda cards: rank(cards[:5], "deuces-wild"),
    "ShoeHand": lambda cards: ShoeHand(cards[:5]),
    "rank_shoe": lambda cards: rank_shoe(cards[:3]),
    "sevens": sevens,
    "longest_straight": longest_straight,
    "longest_flush": longest_flush,
    "two_way_bad_beat": lambda cards: two_way_bad_beat(cards[:7], parse_cards("2s 9s 4s 6s 8s Ks Js 3s")),
    "check_decks": lambda cards: check_decks(cards, 8, jokers=2),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("stranger", STRANGERS, ids=repr)
@pytest.mark.parametrize("place", [0, 2])
def test_what_is_no_card_is_a_card_error(reader: str, stranger: Card, place: int) -> None:
    """Named, wherever it stands: nothing is read as a wild card, an ace or nothing at all."""
    cards = list(FULL)
    cards[place] = stranger
    with pytest.raises(CardError, match=r"is no card: expected|not all of these"):
        READERS[reader](cards)
    READERS[reader](list(FULL))


@pytest.mark.parametrize("reader", [total, busts, unbusted, lambda cards: compare(cards, cards)])
@pytest.mark.parametrize("rank_", [0, 1, 15, -1])
def test_points_are_those_of_cards(reader: Callable[[list[Card]], object], rank_: int) -> None:
    """Suits do not count in blackjack, but a rank that is none has no points."""
    with pytest.raises(CardError):
        reader([Card(9, "s"), Card(rank_, "s")])


@pytest.mark.parametrize("no_card", [3, "As", None, [], {}, (3, "s", 1)])
def test_what_is_not_even_like_a_card_is_a_card_error(no_card: object) -> None:
    """Numbers, text, lists: no TypeError of the inside."""
    with pytest.raises(CardError):
        PokerHand([*FULL[:4], no_card], "five-card")  # type: ignore[list-item]


def test_a_size_that_no_hand_has_is_a_value_error() -> None:
    """Of one deck and of a shoe alike: no straight of no cards, no flush of one card less."""
    cards = parse_cards("9h Th Jh Qh Kh")
    for size in (0, -1):
        with pytest.raises(ValueError, match="expected 1"):
            ShoeHand(cards, size)
        for category in ("straight", "flush", "pair", "high-card"):
            with pytest.raises(ValueError, match="expected 1"):
                ShoeHand(cards).find(category, size)
            with pytest.raises(ValueError, match="expected 1"):
                PokerHand(cards, "five-card").find(category, size)
        with pytest.raises(ValueError, match="expected 1"):
            rising_streak(["1"], size)
        with pytest.raises(ValueError, match="expected 1"):
            craps_points(parse_rolls("4 4"), distinct=False, most=size)
    assert None is ShoeHand(cards).find("straight", 6)


def test_numbers_that_no_wheel_and_no_dice_have_are_card_errors() -> None:
    """Also where a program made them."""
    for spins in (["x"], ["1", "37"], ["000"], ["-1", "2"]):
        with pytest.raises(CardError, match="is not a roulette number"):
            rising_streak(spins, 5)
    for total_ in (1, 13, -7, 0):
        for read in (all_numbers, lambda rolls: craps_points(rolls, distinct=True, most=6)):
            with pytest.raises(CardError, match="is not a roll of two dice"):
                read([Roll(4), Roll(total_)])


@pytest.mark.parametrize(
    "read",
    [
        lambda: parse_card("A" * 100_000),
        lambda: parse_card("\u0410" * 100_000),
        lambda: parse_spins("7" * 100_000),
        lambda: parse_rolls("7" * 100_000),
        lambda: rank(FULL * 5_000, "five-card"),
        lambda: sevens([]),
        lambda: ShoeHand([*FULL * 5_000, JOKER]),
    ],
)
def test_a_message_repeats_only_the_beginning(read: Callable[[], object]) -> None:
    """However much was written."""
    with pytest.raises(CardError) as caught:
        read()
    assert len(str(caught.value)) < 400
