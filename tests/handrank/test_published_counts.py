"""How often each category occurs in whole universes, against figures that others have published."""

from __future__ import annotations

from collections import Counter
from math import comb

import pytest

from meterd.handrank import FIVE_CARD, JOKER, RANKINGS, Card, PokerHand, category, rank
from meterd.handrank.classes import Masks, suit_classes


def cards_of(masks: Masks) -> tuple[Card, ...]:
    return tuple(
        Card(place + 2, suit)
        for mask, suit in zip(masks, "cdhs", strict=True)
        for place in range(13)
        if mask >> place & 1
    )


def counts(size: int, ranking: str, *extra: Card) -> Counter[str]:
    """Category → number of hands of so many cards of the deck, each with the extra cards."""
    found: Counter[str] = Counter()
    for masks, weight in suit_classes(size):
        found[rank((*cards_of(masks), *extra), ranking).category] += weight
    assert comb(52, size) == found.total()
    return found


def five_card_counts(size: int) -> Counter[str]:
    """The same by the fast function."""
    found: Counter[str] = Counter()
    for masks, weight in suit_classes(size):
        found[FIVE_CARD[category(*masks)]] += weight
    assert comb(52, size) == found.total()
    return found


def test_three_cards() -> None:
    """Wizard of Odds, "Three Card Poker": 48, 52, 720, 1,096, 3,744, 16,440 of 22,100."""
    assert {
        "straight-flush": 48,
        "three-of-a-kind": 52,
        "straight": 720,
        "flush": 1_096,
        "pair": 3_744,
        "high-card": 16_440,
    } == counts(3, "three-card")


def test_four_cards() -> None:
    """No printed table was at hand; each category is counted by hand instead.

    11 runs, 13 ranks, 4 suits: the formulas know nothing of masks.
    """
    straight_flush, straight = 11 * 4, 11 * 4**4 - 11 * 4
    flush, quads, trips = 4 * comb(13, 4) - 44, 13, 13 * 4 * 48
    two_pair, pair = comb(13, 2) * 6 * 6, 13 * 6 * comb(12, 2) * 4**2
    high_card = (comb(13, 4) - 11) * (4**4 - 4)
    assert {
        "four-of-a-kind": quads,
        "straight-flush": straight_flush,
        "three-of-a-kind": trips,
        "flush": flush,
        "straight": straight,
        "two-pair": two_pair,
        "pair": pair,
        "high-card": high_card,
    } == counts(4, "four-card")


def test_best_four_of_five() -> None:
    """Four Card Poker and Crazy 4, counts of Shuffle Master as quoted at Wizard of Vegas (forum thread 10853)."""
    found = counts(5, "four-card")
    other = found.pop("pair") + found.pop("high-card")
    assert {
        "four-of-a-kind": 624,
        "straight-flush": 2_072,
        "three-of-a-kind": 58_656,
        "flush": 114_616,
        "straight": 101_808,
        "two-pair": 123_552,
    } == found
    assert 2_197_632 == other


def test_five_cards() -> None:
    """Wikipedia, "Poker probability": all 2,598,960 hands."""
    assert {
        "royal-flush": 4,
        "straight-flush": 36,
        "four-of-a-kind": 624,
        "full-house": 3_744,
        "flush": 5_108,
        "straight": 10_200,
        "three-of-a-kind": 54_912,
        "two-pair": 123_552,
        "pair": 1_098_240,
        "high-card": 1_302_540,
    } == five_card_counts(5)


def test_best_five_of_six() -> None:
    """B. Alspach, "6-Card Poker Hands" (sfu.ca/~alspach/comp19) and "Pai Gow Poker Computations" (comp38), table 2.

    The straight flushes there include the royals: 1,844 = 4 · 47 + 36 · 46.
    """
    assert {
        "royal-flush": 188,
        "straight-flush": 1_656,
        "four-of-a-kind": 14_664,
        "full-house": 165_984,
        "flush": 205_792,
        "straight": 361_620,
        "three-of-a-kind": 732_160,
        "two-pair": 2_532_816,
        "pair": 9_730_740,
        "high-card": 6_612_900,
    } == five_card_counts(6)


def test_best_five_of_seven() -> None:
    """All 133,784,560 hands: B. Alspach, "7-Card Poker Hands" (comp20), and Wikipedia, "Poker probability"."""
    assert {
        "royal-flush": 4_324,
        "straight-flush": 37_260,
        "four-of-a-kind": 224_848,
        "full-house": 3_473_184,
        "flush": 4_047_644,
        "straight": 6_180_020,
        "three-of-a-kind": 6_461_620,
        "two-pair": 31_433_400,
        "pair": 58_627_800,
        "high-card": 23_294_460,
    } == five_card_counts(7)


def test_five_of_53_with_a_bug() -> None:
    """No printed table was at hand; what the joker adds to four cards is counted by hand, 2,869,685 hands in all.

    The joker is an ace, or completes a run of which one rank is missing, or a flush of which one card is.
    """
    four, ace = comb(13, 4), 12  # ``ace``: ranks that are no ace
    royal = 5 * 4
    straight_flush = 4 * (10 * 5 - 9 * 1) - royal  # each of ten runs lacks one of five; nine pairs of runs share four
    flush = 4 * four - royal - straight_flush
    straight = (10 * 5 - 9) * (4**4 - 4)
    quads = 12 + 4 * 48  # four of another rank, or three aces
    full_house = ace * 4 * 4 + comb(4, 2) * ace * 6  # three and an ace, two aces and a pair
    trips = comb(4, 2) * comb(ace, 2) * 4**2 + ace * 4 * (11 * 4)  # two aces and no pair, or three and no ace
    two_pair = comb(ace, 2) * 36 + ace * 6 * 4 * (11 * 4)  # two pairs of others, or one and an ace
    pair_of_others = ace * 6 * comb(11, 2) * 4**2
    pair_of_aces = 4 * comb(ace, 3) * 4**3
    runs_with_ace = sum(1 for run in RUNS_OF_FOUR if 14 in run)
    suited_with_ace = 4 * comb(ace, 3) - 4 * runs_with_ace
    pair_of_aces -= runs_with_ace * 4**4 + suited_with_ace
    assert {
        "five-of-a-kind": 1,
        "royal-flush": 4 + royal,
        "straight-flush": 36 + straight_flush,
        "four-of-a-kind": 624 + quads,
        "full-house": 3_744 + full_house,
        "flush": 5_108 + flush,
        "straight": 10_200 + straight,
        "three-of-a-kind": 54_912 + trips,
        "two-pair": 123_552 + two_pair,
        "pair": 1_098_240 + pair_of_others + pair_of_aces,
    } == {
        name: number
        for name, number in (five_card_counts(5) + counts(4, "five-card-bug", JOKER)).items()
        if name != "high-card"
    }


#: Sets of four ranks that one more completes to a run of five.
RUNS_OF_FOUR = {
    frozenset(14 if rank_ == 1 else rank_ for rank_ in range(top - 4, top + 1) if rank_ != missing)
    for top in range(5, 15)
    for missing in range(top - 4, top + 1)
}


def test_quints_with_wild_deuces() -> None:
    """B. Alspach, "Wild Cards in Profusion: Part 2" (mag94): 672 of five cards, 609,760 of seven; four wild cards each.

    Only ranks matter here, so a hand stands for all its suits.
    """
    for size, published in ((5, 672), (7, 609_760)):
        found = 0
        for numbers in _rank_counts(size, 13):
            cards = [Card(place + 2, suit) for place, number in enumerate(numbers) for suit in "cdhs"[:number]]
            if PokerHand(cards, RANKINGS["deuces-wild"]).find("five-of-a-kind"):
                weight = 1
                for number in numbers:
                    weight *= comb(4, number)
                found += weight
        assert published == found


def _rank_counts(cards: int, ranks: int) -> list[tuple[int, ...]]:
    """All ways to spread so many cards over the ranks, four at most on each."""
    if ranks == 1:
        return [(cards,)] if cards <= 4 else []
    return [(number, *rest) for number in range(min(4, cards) + 1) for rest in _rank_counts(cards - number, ranks - 1)]


@pytest.mark.slow
def test_best_of_seven_of_53_with_a_bug() -> None:
    """All 154,143,080 hands of Fortune Pai Gow: Wizard of Odds, "Fortune Pai Gow Poker Side Bet".

    B. Alspach's "7-Card Poker Hands with Joker" (sfu.ca/~alspach/comp40) has the same: its 210,964 straight flushes
    are the five kinds here, and where it puts a straight above three of a kind 201,824 hands change sides. Hands
    without the joker and without a run are what the five-card order calls them, and are counted by it.
    """
    found = counts(6, "fortune", JOKER)
    for masks, weight in suit_classes(7):
        name = FIVE_CARD[category(*masks)]
        if name in {"royal-flush", "straight-flush", "straight"}:
            name = rank(cards_of(masks), "fortune").category
        found[name] += weight
    assert comb(53, 7) == found.total()
    lost = ("three-pair", "two-pair", "pair", "high-card")
    assert 124_556_196 == sum(found.pop(name) for name in lost)
    assert {
        "seven-card-straight-flush": 32,
        "royal-flush-and-suited-king-queen": 72,
        "seven-card-straight-flush-with-joker": 196,
        "five-of-a-kind": 1_128,
        "royal-flush": 26_020,
        "straight-flush": 184_644,
        "four-of-a-kind": 307_472,
        "full-house": 4_188_528,
        "flush": 6_172_088,
        "three-of-a-kind": 7_672_500,
        "straight": 11_034_204,
    } == found
