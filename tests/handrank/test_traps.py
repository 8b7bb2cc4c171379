"""Hands that are easily misread, each with its claim."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from meterd.edge.files import paytable
from meterd.handrank import RANKINGS, parse_cards, rank
from meterd.paytables.outcome import outcome

TRAPS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "traps.json").read_text(encoding="utf-8"))
ON_RANKINGS = [trap for trap in TRAPS if trap["on"] in RANKINGS]
ON_TABLES = [trap for trap in TRAPS if trap["on"] not in RANKINGS]


@pytest.mark.parametrize("trap", ON_RANKINGS, ids=lambda trap: trap["claim"])
def test_a_hand_that_is_easily_misread(trap: dict[str, Any]) -> None:
    """Category, the cards used, and the neighbour it must beat or lose to."""
    value = rank(parse_cards(trap["cards"]), trap["on"])
    assert trap["expect"] == value.category
    if "used" in trap:
        assert trap["used"] == " ".join(map(str, value.cards_used))
    if "below" in trap:
        assert value < rank(parse_cards(trap["below"]), trap["on"])
    if "above" in trap:
        assert value > rank(parse_cards(trap["above"]), trap["on"])


@pytest.mark.parametrize("trap", ON_TABLES, ids=lambda trap: trap["claim"])
def test_a_row_that_is_easily_missed(trap: dict[str, Any]) -> None:
    """The row of the pay table, or none."""
    given = {key: trap[key] for key in ("cards", "community", "number") if key in trap}
    result = outcome(paytable(trap["on"]), **given)
    assert trap["expect"] == (result.row.hand if result.row else None)
    if "reached" in trap:
        assert trap["reached"] == result.reached


def test_no_claim_stands_twice() -> None:
    """Each trap says something of its own."""
    claims = [trap["claim"] for trap in TRAPS]
    assert sorted(set(claims)) == sorted(claims)
