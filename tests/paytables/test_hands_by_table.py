"""Hands worked out by hand from the rule text, and that every row of every table can be earned.

Each line of ``hands/*.txt``: ids (patterns, by spaces) | own | community | dealer | spins or rolls | hand (- loses).
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import pytest

from meterd.edge.files import load_paytables
from meterd.paytables.model import PayTable
from meterd.paytables.outcome import outcome

FOLDER = Path(__file__).parent / "hands"

TABLES = load_paytables()


class Example(NamedTuple):
    """One dealt hand and what it must be in every table whose id fits the pattern."""

    pattern: str
    own: str
    community: str
    dealer: str
    number: str
    hand: str

    def tables(self) -> list[str]:
        return [table_id for table_id in TABLES if any(fnmatchcase(table_id, one) for one in self.pattern.split())]


def examples() -> list[Example]:
    return [
        Example(*(cell.strip() for cell in line.split("|")))
        for path in sorted(FOLDER.glob("*.txt"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.strip() and not line.startswith("#")
    ]


EXAMPLES = examples()


@pytest.mark.parametrize("example", EXAMPLES, ids=" ".join)
def test_a_hand_is_what_the_rule_says(example: Example) -> None:
    """The row it earns, and no other, in each table that prints it."""
    assert example.tables(), f"no table is named {example.pattern}"
    for table_id in example.tables():
        result = outcome(
            TABLES[table_id],
            cards=example.own,
            community=example.community,
            dealer=example.dealer,
            number=example.number,
        )
        assert example.hand == (result.row.hand if result.row else "-"), table_id


def accepted(table: PayTable) -> set[str]:
    """Rows that the file itself says no cards can earn."""
    heads = (text.partition(":")[0].split() for text in table.lint_accepts)
    return {row for code, *rows in heads if code == "ROW_NEVER_REACHED" for row in rows}


def test_every_offered_row_of_every_table_can_be_earned() -> None:
    """One hand at least for each row, so that no row is unreachable; a list of wagers has no hands."""
    earned = {(table_id, example.hand) for example in EXAMPLES for table_id in example.tables()}
    rows = {
        (table.id, row.hand)
        for table in TABLES.values()
        if table.evaluator not in {None, "wagers"}
        for row in table.rows
        if row.offered and not row.loses and row.hand not in accepted(table)
    }
    assert set() == rows - earned
