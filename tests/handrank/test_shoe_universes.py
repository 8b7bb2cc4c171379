"""Whole shoes: every hand of two to five cards from several decks, against figures published by others and formulas."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import comb

import pytest
from naive_shoe import DECK, multisets, suit_classes, weight

from meterd.handrank.blackjack import is_blackjack, total
from meterd.handrank.cards import Card
from meterd.handrank.shoe import ShoeHand, rank_shoe, same_suit

SUPER_MATCH = ("four-of-a-kind", "two-pair", "three-of-a-kind", "pair", "high-card")


def counted(size: int, decks: int, order: tuple[str, ...] = ()) -> Counter[str]:
    found: Counter[str] = Counter()
    for cards in multisets(size):
        found[rank_shoe(cards, size, order).category] += weight(cards, decks)
    assert comb(52 * decks, size) == found.total()
    return +found


def three_cards(decks: int) -> dict[str, int]:
    """By formula: ``decks`` copies of each card, ``4 * decks`` of each rank."""
    copies, suits = decks, 4 * decks
    straight_flush = 12 * 4 * copies**3
    trips, suited_trips = 13 * comb(suits, 3), 52 * comb(copies, 3)
    suited_pairs = 4 * 13 * comb(copies, 2) * 12 * copies
    return {
        "straight-flush": straight_flush,
        "three-of-a-kind": trips,
        "straight": 12 * suits**3 - straight_flush,
        "flush": 4 * comb(13 * copies, 3) - straight_flush - suited_trips,
        "pair": 13 * comb(suits, 2) * 12 * suits - suited_pairs,
        "high-card": (comb(13, 3) - 12) * (suits**3 - 4 * copies**3),
    }


def test_three_cards_of_six_decks_are_the_published_counts() -> None:
    """21+3 from six decks, as published: Wizard of Odds, "21+3", six-deck table."""
    assert {
        "straight-flush": 10_368,
        "three-of-a-kind": 26_312,
        "straight": 155_520,
        "flush": 236_736 + 56_160,
        "pair": 977_184,
        "high-card": 3_551_040,
    } == counted(3, 6)


@pytest.mark.parametrize("decks", [1, 2, 4, 8])
def test_three_cards_of_other_shoes_follow_the_formulas(decks: int) -> None:
    """The formulas give the published six-deck counts; the classes follow them for one, two, four and eight decks."""
    assert counted(3, 6) == three_cards(6)
    assert counted(3, decks) == three_cards(decks)


def test_two_decks_dealt_card_by_card_are_the_weighted_classes() -> None:
    """All 182,104 hands of three real cards of two decks, one after the other, against classes with weights."""
    found: Counter[str] = Counter()
    for cards in combinations(DECK * 2, 3):
        found[rank_shoe(cards, 3).category] += 1
    assert counted(3, 2) == found


def test_two_cards_of_six_decks_are_the_published_counts() -> None:
    """Royal Match from six decks, as published: M. Shackleford, GAM 470, "Blackjack side bets".

    144 royal, 11,868 other suited, 780 of them one card twice, 36,504 unsuited.
    """
    found: Counter[str] = Counter()
    for cards in multisets(2):
        ways = weight(cards, 6)
        hand = ShoeHand(cards)
        found["suited" if hand.find("flush") else "unsuited"] += ways
        found["royal match"] += ways if same_suit(cards) and {card.rank for card in cards} == {12, 13} else 0
        found["suited pair"] += ways if hand.find("pair", suited=True) else 0
        found["blackjack"] += ways if is_blackjack(cards) else 0
    assert {
        "suited": 144 + 11_868,
        "unsuited": 36_504,
        "royal match": 144,
        "suited pair": 780,
        "blackjack": 24 * 96,
    } == found


def test_two_card_categories_are_as_rare_as_their_order_says() -> None:
    """Neighbours in one suit, pair, neighbours, suited: by formula for six and eight decks, rarest first."""
    for decks in (6, 8):
        suits = 4 * decks
        found = counted(2, decks)
        straight_flush = 13 * 4 * decks**2
        assert straight_flush == found["straight-flush"]
        assert 13 * comb(suits, 2) == found["pair"]
        assert 13 * suits**2 - straight_flush == found["straight"]
        # A suited pair counts as the pair, a suited run as the straight flush.
        assert (comb(13, 2) - 13) * 4 * decks**2 == found["flush"]
        assert sorted(found.values()) == [
            found[category] for category in ("straight-flush", "pair", "straight", "flush", "high-card")
        ]


@pytest.mark.parametrize(
    ("decks", "expected"),
    [
        # Wizard of Odds, "Lucky Lucky", pay table 1, six decks.
        (6, [80, 864, 1_944, 12_960, 26_568, 406_296, 377_568, 364_320]),
        # S. How, discountgambling.net, "Lucky Lucky", double deck; three suited sevens are impossible there.
        (2, [0, 32, 56, 480, 936, 14_904, 13_792, 13_344]),
    ],
)
def test_totals_and_named_hands_of_three_cards_are_the_published_counts(decks: int, expected: list[int]) -> None:
    """Lucky Lucky: suited 777, suited 678, 777, 678, suited 21, 21, 20, 19 (ace 1 or 11)."""
    found = [0] * 9
    for cards in multisets(3, most=decks):
        ranks = sorted(card.rank for card in cards)
        value = total(cards).value
        rows = [
            same_suit(cards) and ranks == [7, 7, 7],
            same_suit(cards) and ranks == [6, 7, 8],
            ranks == [7, 7, 7],
            ranks == [6, 7, 8],
            same_suit(cards) and value == 21,
            value == 21,
            value == 20,
            value == 19,
            True,
        ]
        found[rows.index(True)] += weight(cards, decks)
    assert expected == found[:8]
    assert comb(52 * decks, 3) == sum(found)


def four_cards(decks: int) -> dict[str, int]:
    """Super Match by formula: only how ranks repeat counts."""
    suits = 4 * decks
    return {
        "four-of-a-kind": 13 * comb(suits, 4),
        "two-pair": comb(13, 2) * comb(suits, 2) ** 2,
        "three-of-a-kind": 13 * comb(suits, 3) * 12 * suits,
        "pair": 13 * comb(suits, 2) * comb(12, 2) * suits**2,
        "high-card": comb(13, 4) * suits**4,
    }


QUICK_DRAW = (
    "suited four",
    "royal",
    "straight flush",
    "four",
    "straight",
    "flush",
    "three",
    "two pair",
    "suited pair",
    "jacks",
    "eights",
    "pair",
    "none",
)


def quick_draw(cards: tuple[Card, ...]) -> str:
    """The first row that holds, in the order a four-card draw table from a shoe prints them."""
    hand = ShoeHand(cards)
    pair = hand.find("pair")
    top = pair.tiebreak[0] if pair else 0
    rows = [
        hand.find("four-of-a-kind", suited=True),
        hand.find("royal-flush"),
        hand.find("straight-flush"),
        hand.find("four-of-a-kind"),
        hand.find("straight"),
        hand.find("flush"),
        hand.find("three-of-a-kind"),
        hand.find("two-pair"),
        hand.find("pair", suited=True),
        top >= 11,
        top >= 8,
        pair,
        True,
    ]
    return next(name for name, holds in zip(QUICK_DRAW, rows, strict=True) if holds)


def quick_draw_counts(decks: int) -> dict[str, int]:
    """The same by formula."""
    copies, suits = decks, 4 * decks
    pairs = comb(12, 2) * suits**2
    unsuited_pair = comb(suits, 2) - 4 * comb(copies, 2)
    counts = {
        "suited four": 52 * comb(copies, 4),
        "royal": 4 * copies**4,
        "straight flush": 10 * 4 * copies**4,
        "four": 13 * comb(suits, 4) - 52 * comb(copies, 4),
        "straight": 11 * (suits**4 - 4 * copies**4),
        "flush": 4 * comb(13 * copies, 4) - 44 * copies**4 - 52 * comb(copies, 4),
        "three": 13 * comb(suits, 3) * 12 * suits - 52 * comb(copies, 3) * 12 * copies,
        "two pair": comb(13, 2) * (comb(suits, 2) ** 2 - 4 * comb(copies, 2) ** 2),
        "suited pair": 52 * comb(copies, 2) * comb(12, 2) * (suits**2 - copies**2),
        "jacks": 4 * unsuited_pair * pairs,
        "eights": 3 * unsuited_pair * pairs,
        "pair": 6 * unsuited_pair * pairs,
    }
    return counts | {"none": comb(52 * decks, 4) - sum(counts.values())}


def test_four_cards_of_a_shoe_follow_the_formulas() -> None:
    """Super Match and a draw table of twelve rows, six and eight decks, by classes of equal suits."""
    found: dict[tuple[str, int], Counter[str]] = {}
    for cards, alike in suit_classes(4):
        matched = rank_shoe(cards, 4, SUPER_MATCH).category
        drawn = quick_draw(cards)
        for decks in (6, 8):
            ways = alike * weight(cards, decks)
            found.setdefault(("match", decks), Counter())[matched] += ways
            found.setdefault(("draw", decks), Counter())[drawn] += ways
    for decks in (6, 8):
        assert four_cards(decks) == found["match", decks]
        assert quick_draw_counts(decks) == found["draw", decks]
        assert comb(52 * decks, 4) == found["match", decks].total()


def five_cards(decks: int) -> dict[str, int]:
    """By formula; what is suited as well counts as its better category."""
    copies, suits = decks, 4 * decks
    straight_flush = 40 * copies**5
    suited = {
        "five": 52 * comb(copies, 5),
        "four": 52 * comb(copies, 4) * 12 * copies,
        "house": 52 * 12 * comb(copies, 3) * comb(copies, 2),
        "three": 52 * comb(copies, 3) * comb(12, 2) * copies**2,
        "two": 4 * comb(13, 2) * comb(copies, 2) ** 2 * 11 * copies,
        "pair": 52 * comb(copies, 2) * comb(12, 3) * copies**3,
    }
    counts = {
        "royal-flush": 4 * copies**5,
        "straight-flush": 36 * copies**5,
        "five-of-a-kind": 13 * comb(suits, 5),
        "four-of-a-kind": 13 * comb(suits, 4) * 12 * suits,
        "full-house": 13 * 12 * comb(suits, 3) * comb(suits, 2),
        "flush": 4 * comb(13 * copies, 5) - straight_flush - suited["five"] - suited["four"] - suited["house"],
        "straight": 10 * suits**5 - straight_flush,
        "three-of-a-kind": 13 * comb(suits, 3) * comb(12, 2) * suits**2 - suited["three"],
        "two-pair": comb(13, 2) * comb(suits, 2) ** 2 * 11 * suits - suited["two"],
        "pair": 13 * comb(suits, 2) * comb(12, 3) * suits**3 - suited["pair"],
    }
    return counts | {"high-card": (comb(13, 5) - 10) * (suits**5 - 4 * copies**5)}


def test_the_five_card_formulas_give_the_known_single_deck_and_double_deck_counts() -> None:
    """One deck: the usual table. Two decks: r/theydidthemath, "Poker hand probabilities w/ 2 decks".

    There 728 five of a kind, 1,280 straight flushes, 87,360 four of a kind; 6,864 flushes with two pair and 91,520
    with a pair are flushes here.
    """
    one, two = five_cards(1), five_cards(2)
    assert [4, 36, 0, 624, 3_744, 5_108, 10_200, 54_912, 123_552, 1_098_240, 1_302_540] == list(one.values())
    assert 91_962_520 == sum(two.values())
    assert (728, 1_280, 87_360) == (
        two["five-of-a-kind"],
        two["royal-flush"] + two["straight-flush"],
        two["four-of-a-kind"],
    )
    plain = 4 * (comb(13, 5) - 10) * 2**5
    assert 6_864 + 91_520 + plain == two["flush"]


@pytest.mark.slow
def test_five_cards_of_a_shoe_follow_the_formulas() -> None:
    """One, two, six and eight decks, each of them whole: every class of equal suits is ranked once."""
    found: dict[int, Counter[str]] = {decks: Counter() for decks in (1, 2, 6, 8)}
    for cards, alike in suit_classes(5):
        category = rank_shoe(cards, 5).category
        for decks, counts in found.items():
            counts[category] += alike * weight(cards, decks)
    for decks, counts in found.items():
        assert +Counter(five_cards(decks)) == +counts
        assert comb(52 * decks, 5) == counts.total()


def test_classes_of_equal_suits_stand_for_all_hands() -> None:
    """Three cards: the classes with their numbers are all 24,804 kinds of hands, each kind once."""
    assert 24_804 == sum(1 for _ in multisets(3))
    assert 24_804 == sum(alike for _, alike in suit_classes(3))
    assert comb(312, 3) == sum(alike * weight(cards, 6) for cards, alike in suit_classes(3))
