"""Pay tables that go with the size of the bet: one print for bets from $5, another from $25 (CO 47.1-899.16(10)).

Rule 1: the link's own pay table holds from its smallest wager on; a step holds from the wager it is printed for.
Rule 2: all of them have the same hands, and the same envy for each, so that one key and one card reading do for every
        seat and players with bets of any size give each other envy.
Rule 3: none of them pays from a meter: what a meter pays follows the share, not the step.
Units: cents.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from meterd.paytables.model import PayKind, PayTable, Row

if TYPE_CHECKING:
    from meterd.accounting.settings import LinkSettings


def table_at(link: LinkSettings, wager_cents: int) -> PayTable:
    """The pay table that goes with a seat's wager."""
    found = link.paytable
    for step in link.steps:
        if wager_cents >= step.wager_cents:
            found = step
    return found


def row_at(link: LinkSettings, row: Row, wager_cents: int) -> Row:
    """A row of the link's pay table as the table prints it that goes with a seat's wager."""
    if not link.steps:
        return row
    return next(each for each in table_at(link, wager_cents).rows if each.hand == row.hand)


def steps_problem(link: LinkSettings) -> str | None:
    """What is wrong with a link's steps, in words; None where nothing is."""
    return misfit(link.paytable, link.steps, link.wager_cents)


def misfit(paytable: PayTable, steps: Sequence[PayTable], wager_cents: int) -> str | None:
    """The same for a pay table, its steps and the smallest wager."""
    if not steps:
        return None
    if wager_cents < paytable.wager_cents:
        return f"bets below the {paytable.wager_cents} cents that {paytable.id} is printed for have no pay table"
    last = paytable
    for step in steps:
        if step.wager_cents <= last.wager_cents:
            return f"{step.id} is printed for {step.wager_cents} cents, not for more than {last.id}"
        if _hands(step) != _hands(paytable):
            return f"{step.id} has other hands or other envy than {paytable.id}"
        last = step
    if any(_from_meter(table) for table in (paytable, *steps)):
        return "pay tables by the size of the bet pay from no meter"
    return None


def _hands(table: PayTable) -> tuple[object, ...]:
    """What has to be the same: how a hand is made, and what it gives to others."""
    rows = [(row.hand, row.match, row.also, row.envy_cents, row.offered) for row in table.rows]
    return (rows, table.evaluator, table.rows_printed, table.envy_scales, table.common_outcome)


def _from_meter(table: PayTable) -> bool:
    return any(pay.kind is PayKind.METER_PERCENT or pay.from_meter for row in table.rows for pay in row.pays)
