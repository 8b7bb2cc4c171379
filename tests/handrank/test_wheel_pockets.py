"""Wheels: their pockets and sections, and chances against published house edges."""

from __future__ import annotations

from fractions import Fraction

import pytest

from meterd.handrank.cards import CardError
from meterd.handrank.dice import Chance
from meterd.handrank.wheel import BIG_SIX, WORDS, NotOnThisWheel, chance, pockets


def edge(bet: str, pays: int, *, double_zero: bool) -> str:
    odds = chance(bet, double_zero=double_zero)
    return f"{float(100 * (odds.lose - odds.win * pays)):.2f}"


def test_wheels_have_37_or_38_pockets() -> None:
    """0, 00 where there is one, and 1 to 36."""
    numbers = tuple(str(number) for number in range(1, 37))
    assert ("0", "00", *numbers) == pockets(double_zero=True)
    assert ("0", *numbers) == pockets(double_zero=False)


@pytest.mark.parametrize(("covered", "pays"), [(1, 35), (2, 17), (3, 11), (4, 8), (6, 5), (12, 2), (18, 1)])
def test_roulette_edges_are_the_published_ones(covered: int, pays: int) -> None:
    """5.26 percent with two zeros, 2.70 with one, for every bet but one (Wizard of Odds, "Roulette")."""
    assert "5.26" == edge(f"pockets:{covered}", pays, double_zero=True)
    assert "2.70" == edge(f"pockets:{covered}", pays, double_zero=False)


def test_the_first_five_numbers_are_the_one_worse_bet() -> None:
    """Five pockets of 38 at 6 to 1: 7.89 percent."""
    assert "7.89" == edge("pockets:5", 6, double_zero=True)


@pytest.mark.parametrize(
    ("symbol", "pays", "percent"),
    [("$1", 1, "14.81"), ("$2", 2, "16.67"), ("$5", 5, "11.11"), ("$10", 10, "18.52"), ("$20", 20, "22.22")],
)
def test_big_six_edges_follow_from_the_sections(symbol: str, pays: int, percent: str) -> None:
    """54 sections as CO 30-2702(1) divides them, at the odds of CO 30-2703(6)."""
    assert percent == edge(f"sections:{BIG_SIX[symbol]}/54", pays, double_zero=True)
    assert 54 == sum(BIG_SIX.values())


def test_single_symbols_of_the_big_six_pay_45() -> None:
    """One section each, 46 of 54 back: 14.81 percent."""
    assert "14.81" == edge("sections:1/54", 45, double_zero=True)
    assert (1, 1) == (BIG_SIX["flag"], BIG_SIX["joker"])


def test_a_chance_is_a_share_of_the_wheel() -> None:
    """Exact fractions; a money wheel does not ask for zeros."""
    assert Chance(Fraction(9, 19)) == chance("pockets:18", double_zero=True)
    assert Chance(Fraction(18, 37)) == chance("pockets:18", double_zero=False)
    assert chance("sections:23/54", double_zero=True) == chance("sections:23/54", double_zero=False)
    assert ("pockets", "sections") == WORDS


@pytest.mark.parametrize(
    ("bet", "says"),
    [
        ("pocket:18", "'pocket:18' is not a bet on a wheel"),
        ("pockets", "'' is not a whole number"),
        ("pockets:0", "'0' is not a whole number"),
        ("pockets:1.5", "'1.5' is not a whole number"),
        ("pockets:\u0661", "'\u0661' is not a whole number"),
        ("pockets:39", "39 of 38 is more than the wheel has"),
        ("sections:23", "'' is not a whole number"),
        ("sections:55/54", "55 of 54 is more than the wheel has"),
    ],
)
def test_what_is_no_bet_on_a_wheel_is_named(bet: str, says: str) -> None:
    """What was given, and what was expected."""
    with pytest.raises(CardError) as caught:
        chance(bet, double_zero=True)
    assert says in str(caught.value)
    assert "expected pockets:N" in str(caught.value)


def test_a_bet_of_one_wheel_only() -> None:
    """The first five numbers need the double zero: 5/38 there, no chance at all on the other wheel."""
    assert Chance(Fraction(5, 38)) == chance("pockets:5/38", double_zero=True)
    assert Chance(Fraction(4, 37)) == chance("pockets:4/37", double_zero=False)
    for bet, double_zero, has in (("pockets:5/38", False, 37), ("pockets:4/37", True, 38)):
        with pytest.raises(NotOnThisWheel, match=f"this one has {has}"):
            chance(bet, double_zero=double_zero)
    with pytest.raises(CardError, match="no wheel has '36' pockets"):
        chance("pockets:5/36", double_zero=True)
    with pytest.raises(CardError, match="no wheel has '' pockets"):
        chance("pockets:5/", double_zero=True)
