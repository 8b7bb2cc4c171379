"""Par sheets against plain counting: every deal of physical cards, one by one, decided through ``outcome``.

The twin knows nothing of classes, weights, blocks or kept universes. Its shoes are small, its tables ask all the same
for suits, colours, positions and the dealer's cards.
"""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations
from math import comb

import pytest
from little_table import little_table

from meterd.edge.files import paytable, universe_text
from meterd.handrank.cards import ACE, JOKER, RANK_MIN, RANKS, SUITS, Card, CardError
from meterd.handrank.values import HandValue
from meterd.paytables.match import Match
from meterd.paytables.model import PayTable
from meterd.paytables.outcome import outcome
from meterd.paytables.parsheet import ParSheet, parsheet
from meterd.paytables.parsheet.counting import Counting
from meterd.paytables.parsheet.looks import _groups
from meterd.paytables.qualifiers import CONDITIONS, Condition, Deal, read_condition

FACES = 'decks = 2\nwithout_ranks = "23456789"'


def counts(sheet: ParSheet) -> dict[str, int]:
    return {row.hand: row.count for row in sheet.rows if row.count}


def shoe(table: PayTable) -> list[Card]:
    """The physical cards."""
    ranks = [rank for rank in range(RANK_MIN, ACE + 1) if RANKS[rank - RANK_MIN] not in table.without_ranks]
    return [Card(rank, suit) for rank in ranks for suit in SUITS] * table.decks + [JOKER] * int(table.joker)


def twin(table: PayTable, own: int, board: int = 0, dealer: int = 0) -> Counter[str]:
    """Deals by hand: own cards and board as sets, the dealer's up card and hole card in order."""
    physical = shoe(table)
    found: Counter[str] = Counter()
    places = range(len(physical))
    for mine in combinations(places, own):
        rest = [place for place in places if place not in mine]
        for ours in combinations(rest, board):
            left = [place for place in rest if place not in ours]
            for theirs in _ordered(left, dealer):
                texts = [" ".join(str(physical[place]) for place in hand) for hand in (mine, ours, theirs)]
                row = outcome(table, cards=texts[0], community=texts[1], dealer=texts[2]).row
                if row is not None:
                    found[row.hand] += 1
    return found


def _ordered(places: list[int], count: int) -> list[tuple[int, ...]]:
    if count == 0:
        return [()]
    if count == 1:
        return [(place,) for place in places]
    return [(one, other) for one in places for other in places if one != other]


def test_three_cards_with_suits_named() -> None:
    """22,100 hands of a printed table whose first row names spades and whose second names the other suits."""
    table = paytable("co/three-card-poker/progressive-1")
    sheet = parsheet(table, cached=universe_text)
    assert twin(table, 3) == counts(sheet)
    assert comb(52, 3) == sheet.universe


def test_two_cards_of_one_deck() -> None:
    """1,326 hands; aces of two named suits, faces in and out of suit."""
    table = paytable("co/ultimate-texas-holdem/ultimate-pairs-4")
    sheet = parsheet(table, cached=universe_text)
    assert twin(table, 2) == counts(sheet)
    assert comb(52, 2) == sheet.universe


def test_two_cards_of_two_decks() -> None:
    """5,356 pairs of physical cards: a suited pair is two copies of one card."""
    table = paytable("co/bet-the-set-21/bts-02")
    assert twin(table, 2) == counts(parsheet(table, cached=universe_text))


@pytest.mark.parametrize(
    "rows",
    [
        (
            ("suited-trips", "three-of-a-kind suited"),
            ("trips", "three-of-a-kind"),
            ("run", "straight"),
            ("flush", "flush"),
        ),
        (("kings", "pair top:K suited"), ("red", "pair one-color"), ("pair", "pair"), ("spade", "any holds:As")),
        (("hearts", "flush suit:h"), ("aces", "any ranks:AAK,AAQ"), ("21", "any total:21"), ("same", "flush")),
    ],
)
def test_shoe_of_faces(rows: tuple[tuple[str, str], ...]) -> None:
    """Three of the 40 cards from ten to ace of two decks: 9,880 sets, with suits, colours and totals asked for."""
    table = little_table("shoe", "own_cards = 3", *rows, keys=FACES)
    sheet = parsheet(table, cached=universe_text)
    assert twin(table, 3) == counts(sheet)
    assert comb(40, 3) == sheet.universe


def test_own_cards_and_the_up_card() -> None:
    """A row about all three cards puts them into one block; the proportions are those of ordered deals."""
    table = little_table(
        "shoe",
        "own_cards = 2, dealer_cards = 1",
        ("suited", "flush with:up"),
        ("run", "straight with:up"),
        keys=FACES,
    )
    found = twin(table, 2, dealer=1)
    sheet = parsheet(table, cached=universe_text)
    assert comb(40, 3) == sheet.universe
    assert found == {hand: 3 * count for hand, count in counts(sheet).items()}


def test_own_cards_against_the_up_card() -> None:
    """29,640 deals: the dealer's card counts only for some own cards, and only they are dealt out against it."""
    table = little_table(
        "shoe",
        "own_cards = 2, dealer_cards = 1",
        ("pair-against-ace", "pair up:A"),
        ("two-alike", "any matches:0+2"),
        ("one-alike", "any matches:0+1"),
        ("pair", "pair"),
        keys=FACES,
    )
    sheet = parsheet(table, cached=universe_text)
    assert twin(table, 2, dealer=1) == counts(sheet)
    assert comb(40, 2) * 38 == sheet.universe


def test_own_cards_against_both_of_the_dealer() -> None:
    """Jacks to aces of one deck, 21,840 deals: the dealer's blackjack, his ranks, his suits, his hole card."""
    table = little_table(
        "shoe",
        "own_cards = 2, dealer_cards = 2",
        ("royal-match-of-both", "any ranks:KQ suited dealer-ranks:KQ dealer-same-suit"),
        ("kings-against-blackjack", "pair top:K dealer:blackjack"),
        ("hole-card", "any matches-down:1+0"),
        ("aces-and-suits", "any ranks:AA,AK dealer-suited"),
        keys='decks = 1\nwithout_ranks = "23456789T"',
    )
    sheet = parsheet(table, cached=universe_text)
    found = twin(table, 2, dealer=2)
    scale = comb(16, 2) * 14 * 13 // sheet.universe
    assert found == {hand: scale * count for hand, count in counts(sheet).items()}


def test_own_cards_and_the_board() -> None:
    """Two own cards and a board of one, 66,300 deals of one deck: on the first two, with an own card, and at all."""
    table = little_table(
        "three-card",
        "own_cards = 2, community_cards = 1",
        ("pocket-pair", "pair first:2"),
        ("kings-with-own", "pair top:K own"),
        ("run", "straight | straight-flush"),
        ("flush", "flush"),
    )
    sheet = parsheet(table, cached=universe_text)
    assert twin(table, 2, board=1) == counts(sheet)
    assert comb(52, 2) * 50 == sheet.universe


def test_sevens_in_dealt_order() -> None:
    """Two decks of sevens, eights and nines: 24 x 23 x 22 orders of the first three cards, two orders a class."""
    table = little_table(
        "sevens",
        "own_cards = 3",
        ("diamonds", "three-sevens suit:d"),
        ("color", "three-sevens one-color"),
        ("three", "three-sevens"),
        ("two", "two-sevens"),
        ("one", "one-seven"),
        keys='decks = 2\nwithout_ranks = "23456TJQKA"',
    )
    physical = shoe(table)
    found: Counter[str] = Counter()
    for first_two in combinations(range(24), 2):
        for third in set(range(24)) - set(first_two):
            row = outcome(table, cards=" ".join(str(physical[place]) for place in (*first_two, third))).row
            found[row.hand if row else "none"] += 1
    del found["none"]
    sheet = parsheet(table, cached=universe_text)
    assert found == counts(sheet)
    assert "third card" in sheet.note


def test_shapes_count_as_whole_deals_do() -> None:
    """Five of 53 cards, joker and deuces wild: 2,869,685 hands by ranks and long suits, and with all suits kept."""
    table = little_table(
        "deuces-and-joker-wild",
        "own_cards = 5",
        ("royal", "royal-flush natural"),
        ("wild-royal", "royal-flush"),
        ("five", "five-of-a-kind"),
        ("straight-flush", "straight-flush"),
        ("four", "four-of-a-kind"),
        ("joker-flush", "flush joker"),
        ("natural-flush", "flush natural"),
        ("straight", "straight"),
        ("three", "three-of-a-kind"),
        keys="joker = true",
    )
    by_shape = Counting.of(table, lambda _name: None)
    assert by_shape._deals() == by_shape.tally()


@pytest.mark.parametrize(
    "rows",
    [
        (("sevens", "pair ranks:77 up:7s"),),
        (("three", "three-of-a-kind with:up up:7S"),),
        (("suited", "any suited up:As"),),
        (("ace", "pair top:A up:7h"), ("hearts", "any suited up:A")),
    ],
)
def test_an_up_card_can_name_a_suit(rows: tuple[tuple[str, str], ...]) -> None:
    """Two cards and the up card of one deck from the seven up: what names a suit sets it apart from the others."""
    keys = 'decks = 1\nwithout_ranks = "2345689TJQ"'
    table = little_table("shoe", "own_cards = 2, dealer_cards = 1", *rows, keys=keys)
    assert twin(table, 2, dealer=1) == counts(parsheet(table, cached=universe_text))


def test_suits_that_no_row_tells_apart_are_told_apart_by_no_condition() -> None:
    """Every form of every condition: exchange two suits of one group in any deal, and it answers the same."""
    dealt = random.Random(20_261_130)
    deck = [Card(rank, suit) for rank in (7, 13, ACE) for suit in SUITS] * 2
    words = [word for qualifier in CONDITIONS.values() for word in qualifier.example.split()]
    print(words)
    for word in (*words, "up:As", "up:7H", "holds:KD", "cards:7c7S"):
        condition = read_condition(word)
        for group in _groups([Match("any", conditions=(condition,))]):
            for _ in range(200):
                cards = dealt.sample(deck, 6)
                one, other = dealt.choice(group), dealt.choice(group)
                turned = [card._replace(suit={one: other, other: one}.get(card.suit, card.suit)) for card in cards]
                assert _answer(condition, cards) == _answer(condition, turned), (word, cards, one, other)


def _answer(condition: Condition, cards: list[Card]) -> bool | str:
    """Two own cards, two of the board, two of the dealer's; the own cards make the hand."""
    deal = Deal(tuple(cards[:2]), tuple(cards[2:4]), tuple(cards[4:]))
    value = HandValue("any", (max(card.rank for card in deal.own),), deal.own, 0, "any")
    try:
        return condition.test(value, deal.own, deal)
    except CardError as error:
        return type(error).__name__
