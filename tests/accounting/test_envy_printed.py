"""Envy as the pay table prints it: highest hand only, a smallest wager, envy that is the dealer's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from accounting_build import ROYAL, Casino, link

#: ROYAL as a table would be that is printed from the lowest pay up.
UPSIDE_DOWN = replace(ROYAL, rows=ROYAL.rows[::-1], rows_printed="worst-first")


@pytest.mark.parametrize("table", [ROYAL, UPSIDE_DOWN], ids=["best-first", "worst-first"])
@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ({}, [(1, 130_000), (2, 200_000), (3, 60_000)]),
        ({"envy_trigger": "highest"}, [(1, 100_000), (2, 200_000)]),
        ({"envy_min_cents": 200}, [(2, 200_000), (3, 60_000)]),
        ({"envy_trigger": "highest", "envy_min_cents": 200}, [(2, 200_000)]),
        ({"envy_to": "dealer"}, []),
    ],
)
def test_what_is_printed_about_envy_holds(table: Any, printed: dict[str, Any], expected: list[tuple[int, int]]) -> None:
    """Seats 1, 2 and 3 wager one, two and two units; seat 2 has the straight flush, seat 3 the royal."""
    casino = Casino(link(table=replace(table, **printed)))
    casino.lock({1: 1, 2: 2, 3: 2})
    for seat, hand in ((2, "straight-flush"), (3, "royal-flush")):
        casino.confirm(casino.claim(seat, hand))
    casino.end()
    found: dict[int, int] = {}
    for share in casino.book.tables["T1"].last_envy:
        found[share.seat] = found.get(share.seat, 0) + share.cents
    assert expected == sorted(found.items())
