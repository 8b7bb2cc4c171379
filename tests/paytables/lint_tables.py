"""Smallest pay tables for the linter's tests, and the linter with real par sheets."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from meterd.paytables.lint import Finding, lint_change, lint_table
from meterd.paytables.lint_pars import ParLaws
from meterd.paytables.model import PayTable
from meterd.paytables.parse import parse_paytables


class Remembered(ParLaws):
    """Par sheets with a memory: the tests ask for the same tables again and again."""

    law = cache(ParLaws.law)  # type: ignore[assignment]
    joint = cache(ParLaws.joint)  # type: ignore[assignment]


LAWS = Remembered(lambda _name: None)

HEAD = """\
[[paytable]]
id = "xx/sample/one"
game = "Sample"
wager = "side"
kind = "bonus"
basis = "player's three cards"
evaluator = "three-card"
games = [{ name = "sample", basis = "player's three cards", own_cards = 3 }]
sources = [{ jurisdiction = "XX", rule = "1", table = "One" }]
"""

#: Three cards of one deck: 48 straight flushes, 52 triples, 720 straights, 1,096 flushes, 3,744 pairs of 22,100.
STRAIGHT_FLUSH = '{ printed_hand = "Straight flush", printed_pay = "40 to 1", pays = ["40 to 1"] }'
TRIPLE = '{ printed_hand = "Three of a kind", printed_pay = "30 to 1", pays = ["30 to 1"] }'
STRAIGHT = '{ printed_hand = "Straight", printed_pay = "6 to 1", pays = ["6 to 1"] }'
FLUSH = '{ printed_hand = "Flush", printed_pay = "3 to 1", pays = ["3 to 1"] }'
PAIR = '{ printed_hand = "Pair", printed_pay = "1 to 1", pays = ["1 to 1"] }'
GOOD = (STRAIGHT_FLUSH, TRIPLE, STRAIGHT, FLUSH, PAIR)

#: A meter: the one hand AKQ of spades takes all of it.
TOP = (
    '{ printed_hand = "AKQ spades", printed_pay = "100%", printed_envy = "$100", pays = ["100% meter"],'
    ' match = "straight-flush top:A suit:s" }'
)
OTHER_AKQ = (
    '{ printed_hand = "AKQ others", printed_pay = "500 for 1", printed_envy = "$25", pays = ["500 for 1"],'
    ' match = "straight-flush top:A suit:hdc" }'
)
METER = 'seed_cents = 100_000\nincrement = "20%"\nreserve = "4%"\n'


def row(hand: str, pay: str, match: str, reading: str | None = None) -> str:
    """One row, read as printed unless ``reading`` says otherwise."""
    return f'{{ printed_hand = "{hand}", printed_pay = "{pay}", pays = ["{reading or pay}"], match = "{match}" }}'


@cache
def table(rows: Sequence[str] = GOOD, extra: str = "", head: str = HEAD) -> PayTable:
    """A table of these rows."""
    joined = ",\n".join(rows)
    return parse_paytables(f"{head}{extra}rows = [\n{joined},\n]\n", "sample.toml")[0]


def findings(subject: PayTable, seats: int = 7) -> tuple[Finding, ...]:
    """All that is found about a table."""
    return lint_table(subject, LAWS, seats=seats)


def changes(old: PayTable, new: PayTable) -> tuple[Finding, ...]:
    """All that is found about a change."""
    return lint_change(old, new, LAWS)


def codes(found: Sequence[Finding]) -> list[str]:
    """Just the codes."""
    return [finding.code for finding in found]


def only(found: Sequence[Finding], code: str) -> Finding:
    """The one finding of this code."""
    (finding,) = [finding for finding in found if finding.code == code]
    return finding
