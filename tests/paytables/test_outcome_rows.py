"""Which row is earned, what is refused, and what no program may decide."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from meterd.edge.files import load_paytables, paytable
from meterd.handrank import JOKER, Card, CardError, check_decks
from meterd.handrank.blackjack import total
from meterd.handrank.cards import RANKS
from meterd.paytables.decide import rows_holding
from meterd.paytables.evaluators import EVALUATORS
from meterd.paytables.model import PayTable
from meterd.paytables.outcome import NoEvaluator, outcome
from meterd.paytables.parse import parse_paytables

TCP = "co/three-card-poker/progressive-1"
LINK = "co/nexus/pmg-ml-02"
BONUS = "co/texas-holdem-bonus/thbp-6"
SEVENS = "co/blazing-sevens/b7p3"
ROULETTE = "pa/roulette-up/progressive-1"


def test_the_cards_used_come_back_as_dealt() -> None:
    """Own cards first, then the community cards, each in the order given."""
    result = outcome(paytable(LINK), cards="Kh 9h Jh", community="Th Qh")
    assert result.row is not None
    assert ("straight-flush", ("Kh", "9h", "Jh", "Th", "Qh")) == (result.row.hand, result.cards_used)


def test_a_losing_hand_has_no_row_and_says_what_it_was() -> None:
    """Nothing is used, but what was held can be shown."""
    result = outcome(paytable(TCP), cards="Kh 9h 4h")
    assert (None, (), "flush") == (result.row, result.cards_used, result.reached)


def test_all_three_card_hands_fall_into_the_rows_as_counted() -> None:
    """22,100 hands: 1 in spades, 3 in other suits, 44 other straight flushes, 52, 720, and the rest lose."""
    deck = [f"{rank}{suit}" for suit in "cdhs" for rank in "23456789TJQKA"]
    table = paytable(TCP)
    counts: dict[str | None, int] = {}
    for cards in combinations(deck, 3):
        row = outcome(table, cards=" ".join(cards)).row
        counts[row.hand if row else None] = counts.get(row.hand if row else None, 0) + 1
    assert {
        "akq-spades": 1,
        "akq-hearts-diamonds-clubs": 3,
        "straight-flush": 44,
        "three-of-a-kind": 52,
        "straight": 720,
        None: 21_280,
    } == counts


@pytest.mark.parametrize(
    ("table_id", "written", "says"),
    [
        (TCP, {"cards": "As Ks"}, "takes 3 own cards; given were 2 own (As Ks) and 0 community (none)"),
        (TCP, {"cards": "As Ks Qs Js"}, "takes 3 own cards"),
        (TCP, {"cards": "As Ks As"}, "As occurs twice, but one deck holds it once"),
        (TCP, {"cards": "As Ks Qs", "dealer": "2c As 3d"}, "As occurs twice"),
        (TCP, {"cards": "As Ks Jkr"}, "Jkr occurs once, but this game is dealt with no joker"),
        (TCP, {"cards": "As Ks 1s"}, "'1s' is not a card"),
        (TCP, {"number": "17"}, "looks at cards, not numbers"),
        (TCP, {}, "takes 3 own cards; given were 0 own (none)"),
        (BONUS, {"cards": "9h Th Jh Qh Kh"}, "takes 2 own and 3 to 5 community cards; given were 5 own"),
        (BONUS, {"cards": "9h Th", "community": "Jh Qh"}, "and 2 community (Jh Qh)"),
        (BONUS, {"cards": "9h Th", "community": "Jh Qh Kh 2c 3c 4c"}, "and 6 community"),
        (
            LINK,
            {"cards": "9h Th Jh", "community": "Qh Kh 2c"},
            "3 own and 2 community cards or 2 own and 3 to 5 community",
        ),
        (SEVENS, {"cards": "7d"}, "at least two cards"),
        (SEVENS, {"cards": "7d 7d", "community": "7d"}, "the player's own cards only; community 7d given"),
        (SEVENS, {"cards": "7d " * 9}, "7d occurs 9 times, but 8 decks hold it 8 times"),
        (ROULETTE, {"cards": "As"}, "looks at spins, not cards"),
        (ROULETTE, {"number": "00 4 9"}, "the streak still runs (length 3 after 9)"),
        (ROULETTE, {"number": "00 4 4 9"}, "9 comes after it"),
        (ROULETTE, {"number": "00 37"}, "'37' is not a roulette number"),
        (ROULETTE, {}, "no spin given"),
    ],
)
def test_what_cannot_have_been_dealt_is_refused_by_name(table_id: str, written: dict[str, Any], says: str) -> None:
    """Too few, too many, twice, impossible, misspelt, unfinished: the message says what was given and expected."""
    with pytest.raises(CardError) as caught:
        outcome(paytable(table_id), **written)
    assert says in str(caught.value)


def test_a_table_without_an_evaluator_is_never_guessed() -> None:
    """The note says what the rule text lacks."""
    table = replace(paytable(TCP), evaluator=None, note="the text does not define the hands")
    with pytest.raises(NoEvaluator, match="the text does not define the hands"):
        outcome(table, cards="As Ks Qs")


def test_a_new_table_is_data() -> None:
    """A table that is in no catalogue, with rows of its own making, ranks without a change of code."""
    text = """
[[paytable]]
id = "xx/mini/one"
game = "Mini"
wager = "bonus"
kind = "bonus"
basis = "three own cards"
evaluator = "three-card"
games = [{ name = "mini", basis = "three own cards", own_cards = 3 }]
sources = [{ jurisdiction = "XX", rule = "1", table = "One" }]
rows = [
    { printed_hand = "Red A-K-Q", printed_pay = "50 to 1", pays = ["50 to 1"], match = "straight-flush top:A suit:dh" },
    { printed_hand = "Any Straight Flush", printed_pay = "40 to 1", pays = ["40 to 1"], match = "straight-flush" },
    { printed_hand = "Pair of tens or less", printed_pay = "3 to 1", pays = ["3 to 1"], match = "pair top:2-T" },
    { printed_hand = "Pair", printed_pay = "1 to 1", pays = ["1 to 1"], match = "pair top:J+" },
    { printed_hand = "High card", printed_pay = "loss", pays = ["loss"] },
]
"""
    (table,) = parse_paytables(text, "mini.toml")
    hands = ["Ah Kh Qh", "As Ks Qs", "Ah 2h 3h", "Tc Td 2s", "Jc Jd 2s", "2c 5d 9s", "2c 5c 9c"]
    rows = [outcome(table, cards=cards).row for cards in hands]
    assert [
        "red-a-k-q",
        "any-straight-flush",
        "any-straight-flush",
        "pair-of-tens-or-less",
        "pair",
        None,
        None,
    ] == [row.hand if row else None for row in rows]


def test_a_joker_is_a_card_only_where_the_ranking_has_one() -> None:
    """A table that lets a joker through to a ranking without one is refused by the ranking."""
    table = replace(paytable(TCP), joker=True)
    with pytest.raises(CardError, match="no joker"):
        outcome(table, cards="As Ks Jkr")
    assert "Jkr" == str(Card(0, "*"))


WORDS = [
    *(f"{rank}{suit}" for rank in "23456789TJQKA" for suit in "cdhs"),
    "Jkr",
    "10d",
    "1s",
    "6\u0441",
    "",
    "x",
    "AsAs",
]
NUMBERS = ["00", "0", "4", "7", "36", "37", "2+2", "1+6", "6+7", "-1", "12", "11", "x", ""]
TABLES = list(load_paytables().values())


def _model(table: PayTable) -> str:
    return EVALUATORS[table.evaluator].model if table.evaluator else ""


@given(
    st.sampled_from(TABLES),
    *(st.lists(st.sampled_from(WORDS), max_size=most) for most in (8, 6, 9)),
    st.lists(st.sampled_from(NUMBERS), max_size=8),
    st.text(max_size=6),
)
@settings(max_examples=1500)
def test_whatever_is_written_gives_an_outcome_or_a_card_error(
    table: PayTable, cards: list[str], community: list[str], dealer: list[str], number: list[str], text: str
) -> None:
    """Any words in any place, on any table of the catalogue: an outcome, CardError or NoEvaluator, and nothing else."""
    for written in (
        {"cards": " ".join(cards), "community": " ".join(community), "dealer": " ".join(dealer)},
        {"cards": " ".join(cards), "dealer": " ".join(dealer)},
        {"cards": " ".join(cards)},
        {"number": " ".join(number)},
        {"cards": text, "number": text},
    ):
        try:
            result = outcome(table, **written)
        except (CardError, NoEvaluator):
            continue
        assert result.row is None or (result.row in table.rows and result.row.offered and not result.row.loses)


@given(st.sampled_from([table for table in TABLES if _model(table) not in {"", "spins", "rolls", "wagers"}]), st.data())
@settings(max_examples=600)
def test_cards_dealt_as_the_game_deals_them_are_never_refused(table: PayTable, data: st.DataObject) -> None:
    """Every legal deal has an outcome, and it is the first of the rows that hold each on its own."""
    game = data.draw(st.sampled_from(table.games))
    deck = [Card(rank, suit) for rank in range(2, 15) for suit in "cdhs" if RANKS[rank - 2] not in table.without_ranks]
    shoe = deck * table.decks + [JOKER] * table.joker
    blackjack = _model(table) in {"shoe", "sevens"}
    cards = (
        data.draw(st.permutations(shoe)) if len(shoe) < 60 else data.draw(st.lists(st.sampled_from(deck), min_size=24))
    )
    own, rest = cards[: game.own_cards], cards[game.own_cards :]
    board, rest = rest[: game.community_cards], rest[game.community_cards :]
    draws = game.dealer_dealt > game.dealer_cards and blackjack
    dealer = rest[: min(game.dealer_cards, 2) if draws else game.dealer_cards]
    while draws and total(dealer).value < 17:
        dealer = rest[: len(dealer) + 1]
    try:
        check_decks([*own, *board, *dealer], table.decks, jokers=int(table.joker))
    except CardError:
        return
    written = {
        name: " ".join(map(str, each)) for name, each in (("cards", own), ("community", board), ("dealer", dealer))
    }
    row = outcome(table, **written).row
    holding = rows_holding(table, own, board, dealer)
    assert (row.hand if row else None) == (holding[0].hand if holding and not holding[0].loses else None)
