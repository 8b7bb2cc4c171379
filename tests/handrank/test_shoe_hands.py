"""Shoe hands against a twin that tries every choice of cards."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_shoe import CATEGORIES, DECK, GROUPS, best, groupings, value_of

from meterd.handrank import poker
from meterd.handrank.cards import RANKS, SUITS, Card, CardError, parse_cards
from meterd.handrank.masks import run_ranks
from meterd.handrank.shoe import GROUPS as SHOE_GROUPS
from meterd.handrank.shoe import SHOE_ORDERS, ShoeHand, held_runs, makers, rank_shoe, same_suit

SEED = 20261130

#: Cards from a corner of the deck, so that repeats, runs and flushes meet often.
CLOSE = st.builds(Card, st.sampled_from([14, 2, 3, 4, 5, 6, 13]), st.sampled_from("ch"))
ANY = st.builds(Card, st.integers(2, 14), st.sampled_from(SUITS))
HANDS = st.one_of(st.lists(CLOSE, min_size=2, max_size=8), st.lists(ANY, min_size=2, max_size=8))


@given(HANDS, st.integers(2, 8))
def test_every_category_agrees_with_trying_all_choices_of_cards(cards: list[Card], size: int) -> None:
    """Held or not, deciding ranks, and cards used: dealt order, and of that value when looked at alone."""
    size = min(size, len(cards))
    hand = ShoeHand(cards, size)
    for category in CATEGORIES:
        value = hand.find(category)
        expected = best(cards, category, size)
        assert expected == (value.tiebreak if value else None), (category, size)
        if value is not None:
            assert expected == value_of(value.cards_used, category)
            left = iter(cards)
            assert all(card in left for card in value.cards_used), "dealt order, and no card twice"


@given(HANDS)
def test_high_card_is_what_is_left(cards: list[Card]) -> None:
    """It is found exactly if no category above it is; it takes the highest cards."""
    size = min(5, len(cards))
    value = ShoeHand(cards, size).find("high-card")
    above = [best(cards, category, size) for category in SHOE_ORDERS[size] if category != "high-card"]
    assert (value is None) == any(one is not None for one in above)
    if value is not None:
        assert tuple(sorted((card.rank for card in cards), reverse=True)[:size]) == value.tiebreak
        assert sorted(value.tiebreak) == sorted(card.rank for card in value.cards_used)


@given(HANDS)
def test_readings_are_all_there_and_the_best_comes_first(cards: list[Card]) -> None:
    """Groups of equal ranks in every choice of copies, runs in every choice of suits, best first."""
    hand = ShoeHand(cards)
    for category in GROUPS:
        if sum(GROUPS[category]) > len(cards):
            continue
        readings = list(hand.each(category))
        assert groupings(cards, category) == {tuple(sorted(makers(one))) for one in readings}
        ranks = len(GROUPS[category])
        assert all(value_of(makers(one), category) == one.tiebreak[:ranks] for one in readings)
        assert all(one.tiebreak >= other.tiebreak for one, other in pairwise(readings))
    for category in ("straight", "straight-flush", "flush"):
        readings = list(hand.each(category, 3))
        assert all(value_of(one.cards_used, category) == one.tiebreak for one in readings)
        assert all(one.tiebreak >= other.tiebreak for one, other in pairwise(readings))


@given(HANDS, st.sampled_from(sorted(GROUPS)))
def test_a_suited_group_is_found_wherever_it_hides(cards: list[Card], category: str) -> None:
    """Exactly if some choice of the cards that make the category is of one suit, and then of the highest rank."""
    suited = [group for group in groupings(cards, category) if same_suit(group)]
    value = ShoeHand(cards).find(category, suited=True)
    assert bool(suited) == (value is not None)
    if value is not None:
        assert same_suit(makers(value))
        ranks = max(value_of(group, category) or () for group in suited)
        assert ranks == value.tiebreak[: len(GROUPS[category])]


def test_hands_of_one_deck_are_ranked_as_the_poker_model_ranks_them() -> None:
    """Where no card repeats the two models agree: 3,000 hands each of three, four, five and seven cards."""
    chooser = random.Random(SEED)
    for dealt, size, ranking in ((3, 3, "three-card"), (5, 4, "four-card"), (5, 5, "five-card"), (7, 5, "five-card")):
        for _ in range(3_000):
            cards = chooser.sample(DECK, dealt)
            single, shoe = poker.rank(cards, ranking), rank_shoe(cards, size)
            assert (single.category, single.tiebreak) == (shoe.category, shoe.tiebreak), (SEED, cards)


def test_values_compare_within_one_size_and_order_only() -> None:
    """Better is greater, ties are equal, and another order is another thing."""
    low, high = (rank_shoe(parse_cards(text), 3) for text in ("4h 4h 5h", "8d 8d 8d"))
    assert low < high
    assert rank_shoe(parse_cards("4h 4h 5h"), 3) == rank_shoe(parse_cards("5c 4c 4c"), 3)
    odd = rank_shoe(parse_cards("8d 8d 8d"), 3, ("flush", "high-card"))
    assert "flush" == odd.category
    with pytest.raises(TypeError):
        assert low < odd
    assert low != rank_shoe(parse_cards("4h 4h 5h 2c"), 4)


def test_a_royal_is_as_strong_as_the_straight_flush_where_the_order_does_not_name_it() -> None:
    """With three cards it is the best straight flush; with five it is above all others."""
    three, five = (ShoeHand(parse_cards(text)) for text in ("Ah Kh Qh", "Ah Kh Qh Jh Th"))
    assert three.find("royal-flush") == three.find("straight-flush") == rank_shoe(three.cards)
    best_five, other = five.find("royal-flush"), five.find("straight-flush")
    assert best_five is not None
    assert other is not None
    assert best_five > other


def test_a_hand_of_more_cards_than_dealt_is_not_held() -> None:
    """No category of six cards among two, be it a pair."""
    hand = ShoeHand(parse_cards("9h 9h"))
    assert [None] * 4 == [hand.find(category, 6) for category in ("pair", "straight", "flush", "high-card")]


def test_super_match_puts_two_pair_above_three_of_a_kind() -> None:
    """Its own order (CO 47.1-2105(1)), given as data."""
    order = ("four-of-a-kind", "two-pair", "three-of-a-kind", "pair", "high-card")
    texts = ("7h 7h 7c 7d", "7h 7h 2c 2d", "Ah Ah Ac 2d", "Kh Kh 3c 2d", "Ah Kh Qh Jh")
    values = [rank_shoe(parse_cards(text), 4, order) for text in texts]
    assert list(order) == [value.category for value in values]
    assert values == sorted(values, reverse=True)


def test_orders_end_in_a_category_that_always_holds() -> None:
    """Every order of a size names only categories of that size, once."""
    for size, order in SHOE_ORDERS.items():
        assert "high-card" == order[-1]
        assert len(set(order)) == len(order)
        assert all(sum(SHOE_GROUPS.get(category, ())) <= size for category in order)


@given(st.sets(st.integers(2, 14)), st.integers(2, 13))
def test_runs_are_windows_of_the_ranks_with_the_ace_at_both_ends(ranks: set[int], size: int) -> None:
    """A run of ``size`` ends at a top exactly if that window of A23456789TJQKA is held."""
    line = "A" + RANKS
    held = {RANKS[rank - 2] for rank in ranks}
    windows = {start + size: line[start : start + size] for start in range(len(line) - size + 1)}
    tops = [top for top, window in windows.items() if set(window) <= held]
    assert sorted(tops, reverse=True) == held_runs(ranks, size)
    assert all(Counter(windows[top]) == Counter(RANKS[rank - 2] for rank in run_ranks(top, size)) for top in tops)


def test_no_run_is_longer_than_the_ranks() -> None:
    """Thirteen ranks make a run of thirteen; the ace does not count at both ends."""
    assert [14, 13] == held_runs(set(range(2, 15)), 13)
    assert [] == held_runs(set(range(2, 15)), 14)


@pytest.mark.parametrize(
    ("text", "size", "says"),
    [
        ("As Ks", 3, "a hand of 3 needs as many cards; given: As Ks"),
        ("", None, "a hand of 1 needs as many cards; given: none"),
        ("As Jkr 2d", 3, "Jkr in As Jkr 2d, but a shoe holds no joker"),
    ],
)
def test_cards_that_are_no_shoe_hand_are_named(text: str, size: int | None, says: str) -> None:
    """Too few cards and jokers: what was given and what was expected."""
    with pytest.raises(CardError) as caught:
        ShoeHand(parse_cards(text), size)
    assert says == str(caught.value)


def test_what_the_program_asks_wrongly_is_named() -> None:
    """An unknown category, a size without an order, an order without an end."""
    cards = parse_cards("2c 3d 4h 5s 7c 9d")
    with pytest.raises(KeyError, match="no category 'quads'; expected one of five-of-a-kind"):
        ShoeHand(cards).find("quads")
    with pytest.raises(ValueError, match="no order for hands of 6 cards: give one"):
        rank_shoe(cards)
    with pytest.raises(ValueError, match="end it with high-card"):
        rank_shoe(cards, 5, ("flush",))
    assert None is ShoeHand(cards, 5).find("straight", 7)


@pytest.mark.parametrize("seed", range(3))
def test_a_flush_is_read_in_every_way(seed: int) -> None:
    """Each choice of so many ranks of one suit, once, best first; the twin goes through all choices of cards."""
    chance = random.Random(seed)
    for _ in range(60):
        cards = [Card(chance.randrange(2, 15), chance.choice("hhss")) for _ in range(chance.randrange(2, 9))]
        size = chance.randrange(2, 6)
        ways = {
            (*sorted((card.rank for card in chosen), reverse=True), chosen[0].suit)
            for chosen in combinations(cards, size)
            if len({card.suit for card in chosen}) == 1
        }
        read = [(*value.tiebreak, value.cards_used[0].suit) for value in ShoeHand(cards).each("flush", size)]
        assert sorted(ways) == sorted(read), f"seed {seed}: {cards} {size}"
        assert sorted((way[:-1] for way in read), reverse=True) == [way[:-1] for way in read]
        for value in ShoeHand(cards).each("flush", size):
            assert list(value.tiebreak) == sorted((card.rank for card in value.cards_used), reverse=True)
