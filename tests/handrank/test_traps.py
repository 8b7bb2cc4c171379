"""Hands that are easily misread, each with its reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from meterd.edge.files import paytable
from meterd.handrank import RANKINGS, PokerHand, parse_cards, rank
from meterd.paytables.outcome import outcome

TRAPS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "traps.json").read_text(encoding="utf-8"))
ON_RANKINGS = [trap for trap in TRAPS if trap["on"] in RANKINGS]
ON_TABLES = [trap for trap in TRAPS if trap["on"] not in RANKINGS]


@pytest.mark.parametrize("trap", ON_RANKINGS, ids=lambda trap: trap["why"])
def test_a_hand_that_is_easily_misread(trap: dict[str, Any]) -> None:
    """Category, the cards used, the wild ones among them, and the neighbours it must beat, lose to or tie with."""
    hand = PokerHand(parse_cards(trap["cards"]), trap["on"])
    value = (
        hand.find(trap["find"], trap.get("size"), natural=trap.get("natural", False)) if "find" in trap else hand.best()
    )
    assert trap["expect"] == (value and value.category)
    if value is None:
        return
    if "used" in trap:
        assert trap["used"] == " ".join(map(str, value.cards_used))
    assert trap.get("wilds", value.wilds) == value.wilds
    assert trap.get("tiebreak", list(value.tiebreak)) == list(value.tiebreak)
    if "below" in trap:
        assert value < rank(parse_cards(trap["below"]), trap["on"])
    if "above" in trap:
        assert value > rank(parse_cards(trap["above"]), trap["on"])
    if "ties" in trap:
        assert value == rank(parse_cards(trap["ties"]), trap["on"])


@pytest.mark.parametrize("trap", ON_TABLES, ids=lambda trap: trap["why"])
def test_a_row_that_is_easily_missed(trap: dict[str, Any]) -> None:
    """The row of the pay table, or none."""
    given = {key: trap[key] for key in ("cards", "community", "number") if key in trap}
    result = outcome(paytable(trap["on"]), **given)
    assert trap["expect"] == (result.row.hand if result.row else None)
    if "reached" in trap:
        assert trap["reached"] == result.reached


def test_no_reason_stands_twice() -> None:
    """Each trap says something of its own."""
    reasons = [trap["why"] for trap in TRAPS]
    assert sorted(set(reasons)) == sorted(reasons)
