"""Table-game hands and rolls that are easily misread, each with why."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from meterd.handrank.badbeat import two_way_bad_beat
from meterd.handrank.blackjack import compare, is_blackjack, total, unbusted
from meterd.handrank.cards import parse_cards
from meterd.handrank.dice import all_numbers, chance, craps_points, parse_rolls
from meterd.handrank.shoe import ShoeHand, rank_shoe, sevens
from meterd.handrank.streak import Streak

TRAPS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "shoe_traps.json").read_text(encoding="utf-8"))


def find(trap: dict[str, Any]) -> str | None:
    hand = ShoeHand(parse_cards(trap["cards"]))
    value = hand.find(trap["category"], trap.get("size"), suited=trap.get("suited", False))
    return None if value is None else str(value)


def bad_beat(trap: dict[str, Any]) -> str | None:
    beat = two_way_bad_beat(parse_cards(trap["player"]), parse_cards(trap["dealer"]))
    return None if beat is None else f"{beat.length} to {beat.top} of {beat.loser}"


def streak(value: Streak) -> str:
    state = f"{value.length} {'ended' if value.ended else 'runs'}"
    return f"{state}: {' '.join(value.numbers)}" if value.numbers else state


def odds(bet: str) -> str:
    win, push = chance(bet)
    return f"{win} push {push}" if push != Fraction(0) else str(win)


ANSWERS: dict[str, Callable[[dict[str, Any]], object]] = {
    "find": find,
    "rank": lambda trap: str(rank_shoe(parse_cards(trap["cards"]), trap["size"])),
    "total": lambda trap: str(total(parse_cards(trap["cards"]))),
    "blackjack": lambda trap: is_blackjack(parse_cards(trap["cards"])),
    "unbusted": lambda trap: " ".join(map(str, unbusted(parse_cards(trap["cards"])))),
    "compare": lambda trap: compare(parse_cards(trap["player"]), parse_cards(trap["dealer"])),
    "badbeat": bad_beat,
    "points": lambda trap: streak(
        craps_points(parse_rolls(trap["rolls"]), distinct=trap["distinct"], most=trap["most"])
    ),
    "numbers": lambda trap: streak(all_numbers(parse_rolls(trap["rolls"]))),
    "chance": lambda trap: odds(trap["bet"]),
    "sevens": lambda trap: sevens(parse_cards(trap["cards"])).category,
}


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: f"{trap['kind']}: {trap['why']}")
def test_a_trap_is_answered(trap: dict[str, Any]) -> None:
    """What is held, or that it is not."""
    assert trap["expect"] == ANSWERS[trap["kind"]](trap)


def test_no_trap_stands_twice() -> None:
    """Each trap asks something of its own, and says why."""
    asked = [json.dumps({key: trap[key] for key in trap if key not in {"why", "expect"}}) for trap in TRAPS]
    assert sorted(set(asked)) == sorted(asked)
    assert all(trap["why"] for trap in TRAPS)
