"""Straights of two hands against each other: counted by rank sets, and by dealing every deal of a small deck."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import comb

import pytest

from meterd.edge.files import paytable, universe_text
from meterd.handrank.badbeat import two_way_bad_beat
from meterd.handrank.cards import ACE, RANK_MIN, SUITS, Card
from meterd.handrank.poker import longest_straight
from meterd.paytables.parsheet import parsheet
from meterd.paytables.parsheet.badbeat import TwoHands, run_pairs
from meterd.paytables.parsheet.tallies import BAD_BEAT, BAD_BEAT_UNIVERSE, beaten_classes, parse_beaten, render_beaten

worked_out = cache(beaten_classes)

Runs = tuple[tuple[int, int], tuple[int, int]]


def test_every_deal_of_small_decks() -> None:
    """Three cards against four of six ranks in two suits, two against two of seven ranks in three, and so on."""
    for hands in (TwoHands(3, 4, 6, 2), TwoHands(2, 2, 7, 3), TwoHands(3, 2, 5, 4), TwoHands(1, 4, 8, 2)):
        deck = [Card(rank, suit) for rank in range(RANK_MIN, RANK_MIN + hands.ranks) for suit in SUITS[: hands.copies]]
        plain: Counter[Runs] = Counter()
        for player in combinations(deck, hands.player):
            rest = [card for card in deck if card not in player]
            for dealer in combinations(rest, hands.dealer):
                plain[longest_straight(player), longest_straight(dealer)] += 1
        found = {
            (longest_straight(player), longest_straight(dealer)): weight for player, dealer, weight in run_pairs(hands)
        }
        assert plain == found
        assert hands.deals == sum(plain.values())


def test_the_real_deck_by_each_side_alone() -> None:
    """What each side's longest straight is does not depend on the other: seven of 52 cards, eight of 52 cards."""
    sides: tuple[Counter[int], Counter[int]] = (Counter(), Counter())
    for player, dealer, weight in run_pairs(BAD_BEAT):
        sides[0][longest_straight(player)[0]] += weight
        sides[1][longest_straight(dealer)[0]] += weight
        assert 15 == len({*player, *dealer})
    for count, found in zip((7, 8), sides, strict=True):
        of_one_hand = _longest_runs(count)
        assert {length: Fraction(ways, comb(52, count)) for length, ways in of_one_hand.items()} == {
            length: Fraction(weight, BAD_BEAT.deals) for length, weight in found.items()
        }


def _longest_runs(count: int) -> Counter[int]:
    """Hands of one side by longest straight: each set of ranks, times the ways to pick cards of exactly those ranks."""
    ways = [{0: 1}]
    for _ in range(13):
        grown: Counter[int] = Counter()
        for cards, number in ways[-1].items():
            for more in range(1, 5):
                grown[cards + more] += number * comb(4, more)
        ways.append(dict(grown))
    found: Counter[int] = Counter()
    for mask in range(1, 1 << 13):
        number = ways[mask.bit_count()].get(count, 0)
        if number:
            ranks = [rank for rank in range(RANK_MIN, ACE + 1) if mask >> (rank - RANK_MIN) & 1]
            found[longest_straight([Card(rank, "c") for rank in ranks])[0]] += number
    return found


def test_the_longest_straight_of_seven_cards() -> None:
    """The bonus on the player's own straight, from the universe kept as data: 131,072 straights of seven and so on."""
    found = {row.hand: row.count for row in parsheet(paytable("co/straight-edge/bonus-1"), cached=universe_text).rows}
    plain = _longest_runs(7)
    assert {str(length): plain[length] for length in (7, 6, 5, 4)} == found
    assert 8 * 4**7 == found["7"]


def test_a_sample_of_deals() -> None:
    """20,000 deals of a printed seed: each award within five standard errors of its chance."""
    seed = 20_261_130
    print(f"seed {seed}")
    dealt = random.Random(seed)
    deck = [Card(rank, suit) for rank in range(RANK_MIN, ACE + 1) for suit in SUITS]
    found: Counter[int] = Counter()
    deals = 20_000
    for _ in range(deals):
        cards = dealt.sample(deck, 15)
        beaten = two_way_bad_beat(cards[:7], cards[7:])
        found[0 if beaten is None else beaten.length] += 1
    exact: Counter[int] = Counter()
    for player, dealer, weight in worked_out():
        beaten = two_way_bad_beat(player, dealer)
        exact[0 if beaten is None else beaten.length] += weight
    for length, weight in exact.items():
        chance = weight / BAD_BEAT.deals
        assert abs(found[length] / deals - chance) <= 5 * (chance * (1 - chance) / deals) ** 0.5, length


def test_the_kept_universe_is_what_is_worked_out() -> None:
    """The same classes, weights and all; the rows of a printed table lie in them."""
    text, classes = universe_text(BAD_BEAT_UNIVERSE) or "", worked_out()
    assert text == render_beaten(classes)
    assert classes == parse_beaten(text)
    with pytest.raises(ValueError, match="do not make up"):
        parse_beaten(text.rsplit("\n", 2)[0])
    sheet = parsheet(paytable("co/straight-edge/progressive-1"), cached=universe_text)
    assert BAD_BEAT.deals == sheet.universe
    paid = sum(weight for player, dealer, weight in classes if two_way_bad_beat(player, dealer))
    assert paid == sum(row.count for row in sheet.rows)
