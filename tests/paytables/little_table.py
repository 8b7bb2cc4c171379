"""Little pay tables for tests: rows as (hand, match), everything else as plain as it can be."""

from __future__ import annotations

from typing import Any

from meterd.handrank import CardError
from meterd.paytables.model import PayTable
from meterd.paytables.outcome import outcome
from meterd.paytables.parse import parse_paytables

_TEXT = """
[[paytable]]
id = "xx/little/table"
game = "Little"
wager = "bonus"
kind = "bonus"
basis = "some cards"
evaluator = "{evaluator}"
games = [{{ name = "little", basis = "some cards", {games} }}]
sources = [{{ jurisdiction = "XX", rule = "1", table = "Little" }}]
{keys}
rows = [
{rows}
]
"""


def little_table(evaluator: str, games: str, *rows: tuple[str, str], keys: str = "", pays: str = "1 to 1") -> PayTable:
    """A table with these rows, each paying ``pays``."""
    lines = [
        f'{{ hand = "{hand}", printed_hand = "{hand}", printed_pay = "{pays}", pays = ["{pays}"], match = "{match}" }},'
        for hand, match in rows
    ]
    text = _TEXT.format(evaluator=evaluator, games=games, keys=keys, rows="\n".join(lines))
    (table,) = parse_paytables(text, "little.toml")
    return table


def earned(table: PayTable, **given: Any) -> str | None:
    """The hand key of the row that the cards earn, None for a losing hand."""
    row = outcome(table, **given).row
    return row.hand if row is not None else None


def refused(table: PayTable, **given: Any) -> str:
    """What the refusal of the cards says."""
    try:
        found = outcome(table, **given)
    except CardError as error:
        return str(error)
    raise AssertionError(f"not refused: {found}")
