"""Tables that allow no par sheet, whatever is odd about them: a refusal with its reason, never a wrong figure."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from little_table import little_table

from meterd.edge.files import paytable, universe_text
from meterd.paytables.model import Game, Pay, PayKind, PayTable
from meterd.paytables.parse import PaytableError
from meterd.paytables.parsheet import NoParSheet, parsheet, seconds

METER = (Pay(PayKind.METER_PERCENT, percent_ppm=1_000_000),)
POCKET = little_table("wagers", "own_cards = 0", ("one", "pockets:1"))
THREE = little_table("three-card", "own_cards = 3", ("pair", ""))
SHOE = little_table("shoe", "own_cards = 2", ("pair", ""))
BEATEN = paytable("co/straight-edge/progressive-1")


def dealing(table: PayTable, **cards: int) -> PayTable:
    """The table as a game deals it that no file could say, or another evaluator reads."""
    return replace(table, games=(Game("odd", "some cards", **cards),))  # type: ignore[arg-type]


def rows(table: PayTable, **changed: object) -> PayTable:
    return replace(table, rows=tuple(replace(row, **changed) for row in table.rows))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (rows(POCKET, pays=METER), "'one' pays out of a meter, which is not reckoned for a list of wagers"),
        (rows(POCKET, envy_cents=500), "'one' gives envy, which is not reckoned"),
        (rows(POCKET, pays=(Pay(PayKind.FIXED, cents=1, from_meter=True),)), "'one' pays out of a meter"),
        (rows(POCKET, pays=()), "no row is offered"),
        (rows(THREE, pays=()), "no row is offered"),
        (rows(paytable("pa/roulette-up/a"), pays=()), "no row is offered"),
        (little_table("craps-points", "own_cards = 0", ("points-0", "")), "no row asks for a point"),
        (little_table("craps-distinct-points", "own_cards = 0", ("points-0", "")), "no row asks for a point"),
        (replace(THREE, wager_cents=0), "prints a wager of nothing"),
        (dealing(THREE, own_cards=0), "look at no card that odd deals"),
        (dealing(SHOE, own_cards=60), "60 cards are dealt out of 52"),
        (dealing(replace(SHOE, without_ranks="23456789TJQKA"), own_cards=2), "2 cards are dealt out of 0"),
        (dealing(replace(SHOE, without_ranks="23456789TJQK"), own_cards=5), "5 cards are dealt out of 4"),
        (dealing(BEATEN, own_cards=5), "odd deals 5 cards against 0, and only 7 against 8 are counted"),
        (dealing(BEATEN, own_cards=7, dealer_cards=7), "odd deals 7 cards against 7"),
    ],
)
def test_an_odd_table_is_refused_with_the_reason(table: PayTable, why: str) -> None:
    """No traceback, no figure that counts something as nothing."""
    with pytest.raises(NoParSheet, match=why):
        parsheet(table, cached=universe_text)


def test_a_bad_beat_is_of_four_cards_at_least() -> None:
    """A straight of three is no hand there, so a row cannot ask for one."""
    with pytest.raises(PaytableError, match="expected a number from 4 to 7"):
        little_table("two-way-bad-beat", "own_cards = 7, dealer_cards = 8", ("three", "straight length:3"))


def test_what_takes_longer_than_a_day_is_not_counted() -> None:
    """Twenty-one cards of eight decks: more sorts of deals than anybody waits for."""
    table = dealing(replace(rows(SHOE, match="any ranks:77"), decks=8), own_cards=21)
    assert 86_400 < seconds(table, cached=universe_text)
    with pytest.raises(NoParSheet, match=r"counting it would take .* days"):
        parsheet(table, cached=universe_text)


def test_a_bet_of_one_wheel_has_no_chance_on_the_other() -> None:
    """Alone it leaves nothing to count, beside others it is left out; a bet on 37 pockets likewise."""
    five = little_table("wagers", "own_cards = 0", ("five", "pockets:5/38"))
    assert [Fraction(5, 38)] == [row.probability for row in parsheet(five, cached=universe_text).rows]
    with pytest.raises(NoParSheet, match="this wheel does not have them: five"):
        parsheet(five, wheel="single-zero", cached=universe_text)
    single = little_table("wagers", "own_cards = 0", ("four", "pockets:4/37"))
    assert [Fraction(4, 37)] == [
        row.probability for row in parsheet(single, wheel="single-zero", cached=universe_text).rows
    ]
    with pytest.raises(PaytableError, match="no wheel has '39' pockets"):
        little_table("wagers", "own_cards = 0", ("five", "pockets:5/39"))
