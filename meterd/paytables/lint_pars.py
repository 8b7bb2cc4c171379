"""Chances for the linter from the par sheets' own counting: the same deals, decided by the same rows."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

from meterd.paytables.evaluators import EVALUATORS
from meterd.paytables.lint_law import Joint, Law, NoLaw, tried
from meterd.paytables.model import PayTable
from meterd.paytables.parsheet import NoParSheet, parsheet
from meterd.paytables.parsheet.classes import Deal
from meterd.paytables.parsheet.counting import Cached, Counting

#: Evaluators of cards that are dealt, where rows can be asked side by side.
_CARDS: Final = ("single", "shoe", "sevens")

#: Seconds. A joint law that takes longer is left out; the rows are then judged by their par sheet alone.
SECONDS_MAX: Final = 60


class ParLaws:
    """``cached`` gives the text of a stored universe by name, or None. The joint law of the last table is kept."""

    def __init__(self, cached: Cached, seconds_max: int = SECONDS_MAX) -> None:
        self._cached = cached
        self._seconds_max = seconds_max
        self._last: tuple[PayTable, Joint] | None = None

    def law(self, table: PayTable) -> Law:
        """The law of a table: from its joint law where there is one, which saves counting twice; else its par sheet."""
        joint = self.joint(table)
        if joint is not None:
            return _first_of(table, joint)
        try:
            sheet = parsheet(table, cached=self._cached)
        except NoParSheet as reason:
            raise NoLaw(str(reason)) from reason
        return Law(
            sheet.universe,
            {row.hand: row.count for row in sheet.rows},
            {row.hand: row.probability for row in sheet.rows},
            apart=any(row.returned is not None for row in sheet.rows),
        )

    def joint(self, table: PayTable) -> Joint | None:
        """Which offered rows hold together: for tables of cards, unless it takes too long."""
        if table.evaluator is None or EVALUATORS[table.evaluator].model not in _CARDS or table.depends_on_play:
            return None
        if self._last is not None and self._last[0] == table:
            return self._last[1]
        try:
            holding = _Holding.of(table, self._cached)
        except NoParSheet as reason:
            raise NoLaw(str(reason)) from reason
        if holding.seconds > self._seconds_max:
            return None
        hands = [row.hand for row in table.rows]
        held: Any = holding.tally()  # its keys are sets of rows, see _Holding
        joint = {frozenset(hands[index] for index in rows): number for rows, number in held.items()}
        self._last = table, joint
        return joint


class _Holding(Counting):
    """Counts the sets of rows that hold, in place of the row that is paid."""

    def _add(self, found: Any, deal: Deal, weight: int) -> None:
        rows = self._decider.holding(*self._hands(deal))
        found[rows] = found.get(rows, 0) + weight


def _first_of(table: PayTable, joint: Joint) -> Law:
    """Of each set of rows that hold, the first one tried is paid."""
    universe = sum(joint.values())
    counts = {row.hand: 0 for row in tried(table) if not row.loses}
    losing = {row.hand for row in tried(table) if row.loses}
    order = [row.hand for row in tried(table)]
    for held, number in joint.items():
        first = next((hand for hand in order if hand in held), None)
        if first is not None and first not in losing:
            counts[first] += number
    return Law(universe, counts, {hand: Fraction(number, universe) for hand, number in counts.items()})
