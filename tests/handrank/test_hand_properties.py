"""What holds for every hand of every ranking."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st
from naive_ranks import DECK

from meterd.handrank import JOKER, RANKINGS, Card, HandValue, Ranking, rank

rankings = st.sampled_from([ranking for ranking in RANKINGS.values() if ranking.name != "fortune"])


@st.composite
def hands(draw: st.DrawFn, most: int = 7) -> tuple[Ranking, list[Card]]:
    """A ranking and cards for it: narrow ranks and suits are frequent, and so are jokers where there are any."""
    ranking = draw(rankings)
    deck = [*DECK, *[JOKER] * ranking.jokers]
    two_suits, few_ranks = [card for card in deck if card.suit in "hs*"], [*DECK[4:9], *deck[13:22], *deck[-9:]]
    near = draw(st.sampled_from([deck, two_suits, few_ranks]))
    size = draw(st.integers(ranking.size, most))
    return ranking, draw(st.permutations(near))[:size]


@given(hands(), st.randoms(use_true_random=False))
def test_the_order_of_the_cards_decides_nothing(hand: tuple[Ranking, list[Card]], chance: random.Random) -> None:
    """Shuffled cards give an equal value, made of as many cards, which lie in the order dealt."""
    ranking, cards = hand
    value = rank(cards, ranking)
    shuffled = list(cards)
    chance.shuffle(shuffled)
    other = rank(shuffled, ranking)
    assert (value, value.wilds) == (other, other.wilds)
    assert sorted(card.rank for card in value.cards_used) == sorted(card.rank for card in other.cards_used)
    assert [card for card in cards if card in value.cards_used] == list(value.cards_used)
    assert [card for card in shuffled if card in other.cards_used] == list(other.cards_used)


@given(hands())
def test_one_card_more_never_lowers_a_hand(hand: tuple[Ranking, list[Card]]) -> None:
    """The best of more cards is at least the best of fewer."""
    ranking, cards = hand
    for size in range(ranking.size, len(cards)):
        assert rank(cards[: size + 1], ranking) >= rank(cards[:size], ranking)


@given(hands(), st.permutations("cdhs"))
def test_suits_decide_nothing(hand: tuple[Ranking, list[Card]], suits: list[str]) -> None:
    """The same hand in other suits has the same category and deciding ranks, and uses the same ranks."""
    ranking, cards = hand
    turned = [card if card == JOKER else Card(card.rank, suits["cdhs".index(card.suit)]) for card in cards]
    value, other = rank(cards, ranking), rank(turned, ranking)
    assert (value.category, value.tiebreak, value.wilds) == (other.category, other.tiebreak, other.wilds)


@given(hands())
def test_the_cards_used_are_a_hand_of_the_same_value(hand: tuple[Ranking, list[Card]]) -> None:
    """Five of seven cards, four of five: what they make alone is what was found, and no more cards than make a hand."""
    ranking, cards = hand
    value = rank(cards, ranking)
    assert len(value.cards_used) <= ranking.size
    if len(value.cards_used) == ranking.size:
        assert value == rank(value.cards_used, ranking)


def key(value: HandValue) -> tuple[int, tuple[int, ...]]:
    return value.strength, value.tiebreak


@given(rankings, st.data())
def test_values_are_ordered_hashed_and_equal_in_one_way(ranking: Ranking, data: st.DataObject) -> None:
    """Exactly one of less, equal, greater; equal values hash alike; category, then deciding ranks."""
    some = st.permutations(DECK).map(lambda cards: rank(cards[: ranking.size], ranking))
    one, other, third = data.draw(some), data.draw(some), data.draw(some)
    assert 1 == (one < other) + (one == other) + (one > other)
    assert (one <= other, one >= other) == (not one > other, not one < other)
    assert (one == other) == (key(one) == key(other))
    assert (one < other) == (key(one) < key(other))
    if one == other:
        assert hash(one) == hash(other)
    if one <= other <= third:
        assert one <= third
    assert sorted([one, other, third], key=key) == sorted([one, other, third])
