"""Roulette streaks: where they begin, how they grow, what ends them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meterd.handrank import CardError, parse_spins, rising_streak
from meterd.handrank.streak import WHEEL


@pytest.mark.parametrize(
    ("spins", "longest", "length", "ended"),
    [
        ("17", 9, 1, False),
        ("36", 9, 1, True),
        ("0 00", 9, 2, False),
        ("00 0", 9, 1, True),
        ("00 1", 9, 2, False),
        ("5 5", 9, 1, True),
        ("5 4", 9, 1, True),
        ("00 4 9 9", 9, 3, True),
        ("1 2 36", 9, 3, True),
        ("1 2 3", 3, 3, True),
        ("0 00 1 2 3 4 5 6 7", 9, 9, True),
    ],
)
def test_a_streak_grows_by_greater_numbers_and_ends_three_ways(
    spins: str, longest: int, length: int, ended: bool
) -> None:
    """Not greater, 36, or the longest listed: PA 617b.4(g)(2)."""
    streak = rising_streak(parse_spins(spins), longest)
    assert (length, ended) == (streak.length, streak.ended)
    assert streak.numbers == parse_spins(spins)[:length]


def test_the_wheel_is_ordered_with_double_zero_between_zero_and_one() -> None:
    """38 numbers, 0 < 00 < 1 < … < 36."""
    assert ("0", "00", "1", "2") == WHEEL[:4]
    assert ("36", 38) == (WHEEL[-1], len(set(WHEEL)))


@pytest.mark.parametrize("text", ["37", "-1", "000", "01", "1.5", "red", "\u0661"])
def test_what_is_no_roulette_number_is_named(text: str) -> None:
    """The message names the word and what was expected."""
    with pytest.raises(CardError) as caught:
        parse_spins(f"4 {text}")
    assert f"{text!r} is not a roulette number: expected 0, 00 or 1 to 36" == str(caught.value)


@pytest.mark.parametrize(
    ("spins", "says"), [("", "no spin given"), ("5 5 6", "6 comes after it"), ("36 1", "1 comes after it")]
)
def test_a_streak_needs_a_spin_and_takes_none_after_its_end(spins: str, says: str) -> None:
    """Spins after the end belong to another streak, so they are refused and not dropped."""
    with pytest.raises(CardError, match=says):
        rising_streak(parse_spins(spins), 9)


@given(st.lists(st.sampled_from(WHEEL), min_size=1, max_size=12), st.integers(1, 10))
def test_a_streak_agrees_with_counting_rises(spins: list[str], longest: int) -> None:
    """Cut a random row of spins where the rules end it: the length is the number of rises before, plus one."""
    places = [WHEEL.index(number) for number in spins]
    end = 0
    while end + 1 < len(places) and places[end] != 37 and end + 1 < longest and places[end + 1] > places[end]:
        end += 1
    assert end + 1 == rising_streak(spins[: end + 1], longest).length
