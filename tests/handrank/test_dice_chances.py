"""Chances of craps bets: enumerated, and against published house edges."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from meterd.handrank.cards import CardError
from meterd.handrank.dice import WORDS, Chance, chance

DICE = list(product(range(1, 7), repeat=2))


def edge(bet: str, numerator: int, denominator: int) -> str:
    """House edge in percent of a bet paid ``numerator`` to ``denominator``."""
    odds = chance(bet)
    return f"{float(100 * (odds.lose - odds.win * Fraction(numerator, denominator))):.2f}"


@pytest.mark.parametrize(
    ("bet", "numerator", "denominator", "percent"),
    [
        ("pass", 1, 1, "1.41"),
        ("dont-pass", 1, 1, "1.36"),
        ("before:6/7", 7, 6, "1.52"),
        ("before:8/7", 7, 6, "1.52"),
        ("before:5/7", 7, 5, "4.00"),
        ("before:9/7", 7, 5, "4.00"),
        ("before:4/7", 9, 5, "6.67"),
        ("before:10/7", 9, 5, "6.67"),
        ("before:7/6", 4, 5, "1.82"),
        ("before:7/5", 5, 8, "2.50"),
        ("before:7/4", 5, 11, "3.03"),
        ("before:6/7", 1, 1, "9.09"),
        ("hard:4", 7, 1, "11.11"),
        ("hard:6", 9, 1, "9.09"),
        ("hard:8", 9, 1, "9.09"),
        ("hard:10", 7, 1, "11.11"),
        ("roll:7", 4, 1, "16.67"),
        ("roll:2,3,12", 7, 1, "11.11"),
        ("roll:2", 30, 1, "13.89"),
        ("roll:12", 30, 1, "13.89"),
        ("roll:3", 15, 1, "11.11"),
        ("roll:11", 15, 1, "11.11"),
        ("hop:2-2", 30, 1, "13.89"),
        ("hop:1-3", 15, 1, "11.11"),
        ("roll:8,9,10,11,12", 1, 1, "16.67"),
        ("before:4/7", 2, 1, "0.00"),
        ("before:5/7", 3, 2, "0.00"),
        ("before:6/7", 6, 5, "0.00"),
    ],
)
def test_house_edges_are_the_published_ones(bet: str, numerator: int, denominator: int, percent: str) -> None:
    """Edges per bet decided, as every craps table of house edges gives them (Wizard of Odds, "Craps", appendix 1)."""
    assert percent == edge(bet, numerator, denominator)


def test_pass_and_place_six_are_the_exact_fractions() -> None:
    """244/495 and 5/11; the bet against the shooter wins 949/1980 and pushes 1/36."""
    assert Chance(Fraction(244, 495)) == chance("pass")
    assert Chance(Fraction(5, 11)) == chance("before:6/7")
    assert (Fraction(949, 1980), Fraction(1, 36), Fraction(244, 495)) == (
        *chance("dont-pass"),
        chance("dont-pass").lose,
    )


def test_the_field_is_won_sixteen_times_in_thirty_six() -> None:
    """Even money on five totals, double on two and twelve: an edge of 5.56 percent (1/18)."""
    rows = [(chance("roll:3,4,9,10,11"), 1), (chance("roll:2"), 2), (chance("roll:12"), 2)]
    won = sum(row.win for row, _ in rows)
    assert Fraction(16, 36) == won
    assert Fraction(1, 18) == 1 - won - sum(row.win * pays for row, pays in rows)


def test_every_pair_of_dice_hops_by_its_ways() -> None:
    """All 36 ordered pairs, counted one by one; both orders are one bet."""
    for one, other in DICE:
        ways = sum(1 for way in DICE if sorted(way) == sorted((one, other)))
        assert Fraction(ways, 36) == chance(f"hop:{one}-{other}").win == chance(f"hop:{other}-{one}").win


def test_every_total_before_another_is_counted_on_the_dice() -> None:
    """All pairs of totals: only the throws that decide count."""
    for wins, loses in product(range(2, 13), repeat=2):
        if wins != loses:
            won = sum(1 for way in DICE if sum(way) == wins)
            lost = sum(1 for way in DICE if sum(way) == loses)
            assert Fraction(won, won + lost) == chance(f"before:{wins}/{loses}").win


def test_hard_ways_are_counted_on_the_dice() -> None:
    """The pair against every other throw of that total and every seven."""
    for number in (4, 6, 8, 10):
        decides = [way for way in DICE if sum(way) in {7, number}]
        won = [way for way in decides if way == (number // 2, number // 2)]
        assert Fraction(len(won), len(decides)) == chance(f"hard:{number}").win


def test_several_totals_and_pairs_are_one_bet() -> None:
    """Lists are unions: six-seven-eight without the pairs is 14 ways, with them 16."""
    easy = chance("hop:1-5,2-4,1-6,2-5,3-4,2-6,3-5").win
    assert Fraction(14, 36) == easy
    assert Fraction(16, 36) == easy + chance("hop:3-3,4-4").win == chance("roll:6,7,8").win
    assert Fraction(10, 16) == chance("before:6,8/7").win


@pytest.mark.parametrize(
    ("bet", "says"),
    [
        ("place:6", "'place:6' is not a craps bet: expected roll:TOTALS, hop:DIE-DIE, before:TOTALS/TOTALS"),
        ("pass:4", "'pass:4' is not a craps bet: expected"),
        ("roll", "'roll' is not a craps bet: expected"),
        ("", "'' is not a craps bet: expected"),
        ("roll:13", "'13' is not a total of two dice: expected 2 to 12"),
        ("roll:", "'' is not a total of two dice"),
        ("roll:2;3", "'2;3' is not a total of two dice"),
        ("hop:1-7", "'1-7' is not two dice: expected such as 1-3, each die 1 to 6"),
        ("hop:4", "'4' is not two dice"),
        ("hop:1-2-3", "'1-2-3' is not two dice"),
        ("before:4", "expected the totals that win and those that lose, such as before:4/7"),
        ("before:4/1", "'1' is not a total of two dice"),
        ("before:4,7/7", "7 cannot both win and lose"),
        ("hard:5", "there is no hard way of '5': expected 4, 6, 8 or 10"),
        ("hard:2", "there is no hard way of '2'"),
    ],
)
def test_what_is_no_craps_bet_is_named(bet: str, says: str) -> None:
    """What was given, and what was expected."""
    with pytest.raises(CardError) as caught:
        chance(bet)
    assert says in str(caught.value)
    assert repr(bet) in str(caught.value)


def test_every_word_has_a_bet() -> None:
    """The words listed are the words answered; chances are chances."""
    examples = ["roll:7", "hop:1-3", "before:4/7", "hard:4", "pass", "dont-pass"]
    assert WORDS == tuple(bet.partition(":")[0] for bet in examples)
    assert all(0 < chance(bet).win < 1 and chance(bet).lose > 0 for bet in examples)
