"""The two-way bad beat of straights against windows of a string."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from naive_shoe import DECK, RUN

from meterd.handrank import longest_straight
from meterd.handrank.badbeat import BadBeat, two_way_bad_beat
from meterd.handrank.cards import RANKS, Card, CardError, parse_cards

SEED = 20261130


def naive_longest(cards: tuple[Card, ...] | list[Card]) -> tuple[int, int]:
    held = {RANKS[card.rank - 2] for card in cards}
    windows = [(size, start + size) for size in range(1, 14) for start in range(15 - size)]
    runs = [(size, top) for size, top in windows if top > 1 and set(RUN[top - size : top]) <= held]
    return max(runs, default=(0, 0))


def test_the_longest_run_of_all_sets_of_ranks() -> None:
    """8,191 sets: length, and the highest top of that length; an ace at either end, never in the middle."""
    for size in range(1, 14):
        for ranks in combinations(range(2, 15), size):
            cards = [Card(rank, "c") for rank in ranks]
            assert naive_longest(cards) == longest_straight(cards)


def test_second_cards_of_a_rank_change_nothing() -> None:
    """20,000 hands of eight from one deck, from a fixed seed."""
    chooser = random.Random(SEED)
    for _ in range(20_000):
        cards = chooser.sample(DECK, 8)
        assert naive_longest(cards) == longest_straight(cards), (SEED, cards)


def test_the_lower_hand_is_paid_whoever_holds_it() -> None:
    """30,000 deals from a fixed seed: both sides need four in a row, equal length and top tie, else the lower pays."""
    chooser = random.Random(SEED)
    beaten = {"player": 0, "dealer": 0}
    for _ in range(30_000):
        dealt = chooser.sample(DECK, 15)
        player, dealer = dealt[:7], dealt[7:]
        ours, theirs = naive_longest(player), naive_longest(dealer)
        beat = two_way_bad_beat(player, dealer)
        if ours[0] < 4 or theirs[0] < 4 or ours == theirs:
            assert beat is None, (SEED, dealt)
            continue
        assert beat is not None
        assert (min(ours, theirs), "player" if ours < theirs else "dealer") == ((beat.length, beat.top), beat.loser)
        side = player if beat.loser == "player" else dealer
        assert beat.length == len(beat.cards_used)
        assert (beat.length, beat.top) == naive_longest(beat.cards_used)
        assert [card for card in side if card in beat.cards_used] == list(beat.cards_used)
        beaten[beat.loser] += 1
    assert min(beaten.values()) > 100


def test_the_shortest_straight_is_the_tables_to_set() -> None:
    """A table that starts at five does not pay four."""
    player, dealer = parse_cards("5c 6d 7h 8s 9c Kd Kh"), parse_cards("2c 3d 4h 5s Jc Jd Qh Qs")
    assert BadBeat(4, 5, "dealer", parse_cards("2c 3d 4h 5s")) == two_way_bad_beat(player, dealer)
    assert None is two_way_bad_beat(player, dealer, shortest=5)


@pytest.mark.parametrize(
    ("player", "dealer", "says"),
    [
        ("5c 6d 7h 8s 9c Kd", "2c 3d 4h 5s Jc Jd Qh Qs", "takes 7 cards of the player; given were 6: 5c 6d"),
        ("5c 6d 7h 8s 9c Kd Kh", "2c 3d 4h 5s Jc Jd Qh", "takes 8 cards of the dealer; given were 7: 2c 3d"),
        ("5c 6d 7h 8s 9c Kd Kh", "", "takes 8 cards of the dealer; given were 0: none"),
        ("5c 6d 7h 8s 9c Kd Kh", "2c 3d 4h 5c Jc Jd Qh Qs", "5c occurs twice, but one deck holds it once"),
        ("5c 6d 7h 8s 9c Kd Jkr", "2c 3d 4h 5s Jc Jd Qh Qs", "Jkr occurs once, but this game is dealt with no joker"),
    ],
)
def test_cards_that_cannot_have_been_dealt_are_named(player: str, dealer: str, says: str) -> None:
    """Seven and eight cards of one deck without a joker."""
    with pytest.raises(CardError) as caught:
        two_way_bad_beat(parse_cards(player), parse_cards(dealer))
    assert says in str(caught.value)
