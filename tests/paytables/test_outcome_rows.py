"""Which row is earned, what is refused, and what no program may decide."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from meterd.edge.files import load_paytables, paytable
from meterd.handrank import Card, CardError
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
    ("table_id", "given", "says"),
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
def test_what_cannot_have_been_dealt_is_refused_by_name(table_id: str, given: dict[str, Any], says: str) -> None:
    """Too few, too many, twice, impossible, misspelt, unfinished: the message says what was given and expected."""
    with pytest.raises(CardError) as caught:
        outcome(paytable(table_id), **given)
    assert says in str(caught.value)


def test_a_table_without_an_evaluator_is_never_guessed() -> None:
    """The note says what the rule text lacks."""
    table = replace(paytable(TCP), evaluator=None, note="the text does not define the hands")
    with pytest.raises(NoEvaluator, match="the text does not define the hands"):
        outcome(table, cards="As Ks Qs")


def test_every_offered_row_of_every_table_can_be_earned() -> None:
    """One hand for each row, so that no row is unreachable."""
    for table in load_paytables().values():
        for row in table.rows:
            if row.offered and not row.loses:
                result = outcome(table, **EXAMPLES[table.id.split("/")[1]][row.hand])
                assert result.row is row, (table.id, row.hand)


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


def _cards(own: str, community: str = "") -> dict[str, str]:
    return {"cards": own, "community": community}


EXAMPLES: dict[str, dict[str, dict[str, str]]] = {
    "three-card-poker": {
        "akq-spades": _cards("Qs Ks As"),
        "akq-hearts-diamonds-clubs": _cards("Qd Kd Ad"),
        "straight-flush": _cards("2c 4c 3c"),
        "three-of-a-kind": _cards("8c 8d 8h"),
        "straight": _cards("8c 9d Th"),
    },
    "nexus": {
        "royal-flush": _cards("Ac Kc", "Tc Jc Qc"),
        "straight-flush": _cards("2c 3c 4c", "5c Ac"),
        "four-of-a-kind": _cards("9c 9d 9h 9s 2c"),
        "full-house": _cards("9c 9d 9h", "2s 2c"),
        "flush": _cards("9c 2c", "3c 4c Kc"),
        "straight": _cards("9c 8d", "7c 6c 5c"),
        "three-of-a-kind": _cards("9c 9d", "9h 2s 3c"),
    },
    "texas-holdem-bonus": {
        "royal-flush": _cards("Ac Kc", "Tc Jc Qc"),
        "straight-flush": _cards("2c 3c", "4c 5c Ac 9d 9h"),
        "four-of-a-kind": _cards("9c 9d", "9h 9s 2c 2d 2h"),
        "full-house": _cards("9c 9d", "9h 2s 2c 7d 8h"),
        "flush": _cards("9c 2c", "3c 4c Kc"),
        "straight": _cards("9c 8d", "7c 6c 5c"),
        "royal-after-5": _cards("Ac Kc", "Tc Jc Qc 2d 2h"),
        "royal-after-6": _cards("Ac Kc", "Tc Jc 2d Qc 2h"),
        "royal-after-7": _cards("Ac Kc", "Tc Jc 2d 2h Qc"),
        "community-royal": _cards("2d 2h", "Ac Kc Tc Jc Qc"),
    },
    "blazing-sevens": {
        "three-7s-same-suit": _cards("7h 7h 7h"),
        "three-7s-diamonds": _cards("7d 7d 7d"),
        "three-7s-suited-other": _cards("7c 7c 7c"),
        "three-7s-same-color": _cards("7c 7s 7s"),
        "three-7s": _cards("7c 7d 7s"),
        "first-two-cards-7": _cards("7c 7d"),
        "either-of-the-first-two-cards-7": _cards("8d 7d"),
    },
    "roulette-up": {
        f"streak-{length}": {"number": " ".join(map(str, [*range(1, length + 1), 1]))} for length in range(2, 8)
    }
    | {"streak-8": {"number": "1 2 3 4 5 6 7 36"}, "streak-9": {"number": "1 2 3 4 5 6 7 8 9"}},
}


def test_a_joker_is_a_card_where_the_table_says_so() -> None:
    """A table with a joker lets it through the check; ranking one is not known yet and says so."""
    table = replace(paytable(TCP), joker=True)
    with pytest.raises(CardError, match="no joker"):
        outcome(table, cards="As Ks Jkr")
    assert "Jkr" == str(Card(0, "*"))
