"""Streaks on rolls of two dice, against a reading that jumps from decision to decision."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import product
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_dice import all_numbers_chances, points_chances

from meterd.handrank.cards import CardError
from meterd.handrank.dice import (
    NUMBERS,
    POINTS,
    WAYS,
    Roll,
    all_numbers,
    craps_points,
    parse_rolls,
)

SEED = 20261130
ROLLS = st.lists(st.sampled_from([sum(way) for way in WAYS]), min_size=1, max_size=40)
WAYS_OF = Counter(sum(way) for way in WAYS)


def decisions(totals: list[int]) -> list[tuple[int, int]]:
    """(place, point made, or 0 for the seven-out) of each decision, by jumping to it."""
    found, start = [], 0
    while True:
        come_out = next((place for place in range(start, len(totals)) if totals[place] in {4, 5, 6, 8, 9, 10}), None)
        if come_out is None:
            return found
        point = totals[come_out]
        place = next((at for at in range(come_out + 1, len(totals)) if totals[at] in {point, 7}), None)
        if place is None:
            return found
        found.append((place, point if totals[place] == point else 0))
        if totals[place] == 7:
            return found
        start = place + 1


@given(ROLLS, st.booleans(), st.integers(1, 10))
def test_points_agree_with_jumping_to_each_decision(totals: list[int], distinct: bool, most: int) -> None:
    """Points made, in order, up to the roll that ends the streak; the roll after that is refused."""
    made: list[int] = []
    end = None
    for place, point in decisions(totals):
        if point and not (distinct and point in made):
            made.append(point)
        if not point or len(made) == most:
            end = place
            break
    rolls = [Roll(one) for one in totals]
    streak = craps_points(rolls if end is None else rolls[: end + 1], distinct=distinct, most=most)
    assert (len(made), end is not None, tuple(map(str, made))) == (streak.length, streak.ended, streak.numbers)
    if end is not None and end + 1 < len(totals):
        with pytest.raises(CardError, match=f"ended with roll {end + 1}, {totals[end]}; {totals[end + 1]} comes after"):
            craps_points(rolls, distinct=distinct, most=most)


@given(ROLLS)
def test_all_numbers_are_the_different_totals_before_a_seven(totals: list[int]) -> None:
    """In the order first rolled; ended by the seven or by the tenth."""
    before = totals[: totals.index(7)] if 7 in totals else totals
    seen = list(dict.fromkeys(before))
    end = before.index(seen[-1]) if len(seen) == 10 else (totals.index(7) if 7 in totals else None)
    streak = all_numbers([Roll(one) for one in totals[: len(totals) if end is None else end + 1]])
    assert (len(seen), end is not None, tuple(map(str, seen))) == (streak.length, streak.ended, streak.numbers)


@pytest.mark.parametrize(("distinct", "most"), [(True, 6), (False, 10)])
def test_exact_chances_lie_between_what_five_rolls_decide_and_leave_open(distinct: bool, most: int) -> None:
    """All 161,051 rows of five totals with their ways: no chance is below what has ended or above it plus the rest."""
    ended: Counter[int] = Counter()
    for totals in product(WAYS_OF, repeat=5):
        rolls = [Roll(one) for one in totals]
        ways = 1
        for one in totals:
            ways *= WAYS_OF[one]
        cut = next((place for place, point in decisions(list(totals)) if not point), None)
        streak = craps_points(rolls if cut is None else rolls[: cut + 1], distinct=distinct, most=most)
        ended[streak.length if streak.ended else -1] += ways
    assert 36**5 == ended.total()
    for made, chance in enumerate(points_chances(distinct=distinct, most=most)):
        low, left = Fraction(ended[made], 36**5), Fraction(ended[-1], 36**5)
        assert low <= chance <= low + left


def test_chances_agree_with_forty_thousand_shooters() -> None:
    """Rolls from a fixed seed, read by the streaks: every chance within four deviations of what came."""
    chooser = random.Random(SEED)
    shooters = 40_000
    found: dict[str, Counter[int]] = {"fire": Counter(), "sharp": Counter(), "numbers": Counter()}
    for _ in range(shooters):
        rolls: list[Roll] = []
        running = {"fire", "sharp", "numbers"}
        while running:
            rolls.append(Roll(sum(chooser.choice(WAYS))))
            streaks = {
                "fire": lambda: craps_points(rolls, distinct=True, most=6),  # noqa: B023 - asked at once
                "sharp": lambda: craps_points(rolls, distinct=False, most=10),  # noqa: B023
                "numbers": lambda: all_numbers(rolls),  # noqa: B023
            }
            for name in tuple(running):
                streak = streaks[name]()
                if streak.ended:
                    found[name][streak.length] += 1
                    running.remove(name)
    exact = {
        "fire": points_chances(distinct=True, most=6),
        "sharp": points_chances(distinct=False, most=10),
        "numbers": all_numbers_chances(),
    }
    for name, chances in exact.items():
        assert shooters == found[name].total()
        for length, chance in enumerate(chances):
            deviation = sqrt(shooters * chance * (1 - chance))
            assert abs(found[name][length] - shooters * chance) <= 4 * deviation, (SEED, name, length)


def test_fire_bet_chances_are_the_published_ones() -> None:
    """Zero to four different points, to twelve places: D. Catlin, "The Fire Bet", after S. Ethier's exact numbers.

    All six points: about 1 in 6,150 (practicalwebtools.com, "Craps Fire Bet").
    """
    chances = points_chances(distinct=True, most=6)
    published = ["0.593939393939", "0.260750492004", "0.101275355549", "0.033434212179", "0.008798178440"]
    assert published == [f"{chance:.12f}" for chance in map(float, chances[:5])]
    assert 6_156 == round(1 / chances[6])
    assert 1 == sum(chances)


def test_points_that_repeat_are_made_with_one_chance_each_time() -> None:
    """Each further point has the same chance, 1 less the published chance of none; the tenth takes the rest."""
    chances = points_chances(distinct=False, most=10)
    none = chances[0]
    assert none == points_chances(distinct=True, most=6)[0]
    assert [none * (1 - none) ** made for made in range(10)] == list(chances[:10])
    assert (1 - none) ** 10 == chances[10]


def test_make_em_all_is_the_published_chance() -> None:
    """0.005258 (Wizard of Odds, "Bonus Craps"), and exactly by inclusion and exclusion over the totals missed."""
    chances = all_numbers_chances()
    assert "0.005258" == f"{float(chances[10]):.6f}"
    assert 1 == sum(chances)
    exact = Fraction(0)
    for missed in product((0, 1), repeat=10):
        ways = sum(WAYS_OF[number] for number, out in zip(NUMBERS, missed, strict=True) if out)
        exact += (-1) ** sum(missed) * Fraction(6, 6 + ways)
    assert exact == chances[10]


@pytest.mark.parametrize(
    "text", ["1", "13", "0", "04", "4.0", "2+7", "0+4", "+4", "2+", "2+2+2", "-4", "four", "\u0664"]
)
def test_what_is_no_roll_is_named(text: str) -> None:
    """The message names the word and what was expected."""
    with pytest.raises(CardError) as caught:
        parse_rolls(f"4 {text}")
    expected = "expected a total of 2 to 12, or both dice such as 2+2"
    assert f"{text!r} is not a roll of two dice: {expected}" == str(caught.value)


def test_rolls_print_as_written() -> None:
    """Totals and dice, any white space; no text, no rolls."""
    assert "4 2+2 12 6+1" == " ".join(map(str, parse_rolls(" 4\t2+2 \n 12 6+1")))
    assert (4, (2, 2)) == parse_rolls("2+2")[0]
    assert () == parse_rolls("")


def test_every_way_of_two_dice_is_read() -> None:
    """36 ways, each with its total; totals add up to the 36."""
    assert WAYS == tuple(parse_rolls(f"{one}+{other}")[0].dice for one in range(1, 7) for other in range(1, 7))
    assert {2: 1, 3: 2, 4: 3, 5: 4, 6: 5, 7: 6, 8: 5, 9: 4, 10: 3, 11: 2, 12: 1} == WAYS_OF
    assert set(WAYS_OF) == {*NUMBERS, 7}
    assert set(POINTS) <= set(NUMBERS)


def test_a_streak_needs_a_roll() -> None:
    """What was expected is shown."""
    with pytest.raises(CardError, match="no roll given: expected the rolls in order, such as 4 6 4 7"):
        craps_points((), distinct=True, most=6)
    with pytest.raises(CardError, match="no roll given"):
        all_numbers(())
