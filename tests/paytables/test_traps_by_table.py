"""Hands that look like one row and earn another: the traps of the catalogue, table by table.

They stand in ``traps_by_table.txt``, one a line.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from meterd.edge.files import paytable
from meterd.paytables.outcome import outcome

CASES = [
    tuple(cell.strip() for cell in line.split("|"))
    for line in (Path(__file__).parent / "traps_by_table.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]


@pytest.mark.parametrize(
    ("table_id", "given", "expected", "why"), CASES, ids=[f"{case[0]} {case[1]}" for case in CASES]
)
def test_a_trap_earns_what_the_rules_say(table_id: str, given: str, expected: str, why: str) -> None:
    """The row of the table, or none."""
    table = paytable(table_id)
    if given.startswith("#"):
        row = outcome(table, number=given[1:]).row
    else:
        own, community, dealer = [*given.split("/"), "", ""][:3]
        row = outcome(table, cards=own, community=community, dealer=dealer).row
    assert expected == (row.hand if row is not None else "-"), why


def test_there_are_many_traps() -> None:
    """The list is read whole."""
    assert len(CASES) > 75
