"""Chances for the linter from the par sheets' own counting: the same deals, decided by the same rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain, permutations, product
from math import comb
from typing import Any, Final

from meterd.handrank.cards import Card, CardError
from meterd.paytables.evaluators import EVALUATORS
from meterd.paytables.lint_law import DOUBLE_ZERO, Joint, Law, NoLaw, tried
from meterd.paytables.model import PayTable
from meterd.paytables.parsheet import WHEELS, NoParSheet, looks_at_wheel, parsheet, seconds
from meterd.paytables.parsheet.classes import Deal
from meterd.paytables.parsheet.counting import Cached, Counting

#: Evaluators of cards that are dealt, where rows can be asked side by side.
_CARDS: Final = ("single", "shoe", "sevens")

#: Seconds. A joint law that takes longer is left out, and the rows are judged by their par sheet alone; if that takes
#: longer too, nothing is measured.
SECONDS_MAX: Final = 60

#: Seconds. Hands are not listed one by one where that takes longer.
SECONDS_OF_HANDS_MAX: Final = 2


class ParLaws:
    """``cached`` gives the text of a stored universe by name, or None. The joint law of the last table is kept."""

    def __init__(self, cached: Cached, seconds_max: int = SECONDS_MAX) -> None:
        self._cached = cached
        self._seconds_max = seconds_max
        self._last: tuple[PayTable, Joint] | None = None

    def law(self, table: PayTable, wheel: str = DOUBLE_ZERO) -> Law:
        """The law of a table: from its joint law where there is one, which saves counting twice; else its par sheet."""
        joint = self.joint(table)
        if joint is not None:
            return _first_of(table, joint)
        return self._sheet(table, wheel)

    def others(self, table: PayTable) -> Iterator[tuple[str, Law]]:
        """The laws of the other decks and wheels the table may be played with, each with its name."""
        for decks in table.decks_allowed:
            if decks != table.decks:
                yield f"{decks} deck{'' if decks == 1 else 's'}", self._sheet(replace(table, decks=decks))
        if looks_at_wheel(table):
            for wheel in WHEELS:
                if wheel != DOUBLE_ZERO:
                    yield f"a {wheel} wheel", self._sheet(table, wheel)

    def _sheet(self, table: PayTable, wheel: str = DOUBLE_ZERO) -> Law:
        try:
            about = seconds(table, cached=self._cached)
            if about > self._seconds_max:
                raise NoLaw(
                    f"counting its hands would take about {about:,} s, more than the {self._seconds_max} allowed"
                )
            sheet = parsheet(table, wheel=wheel, cached=self._cached)
        except (NoParSheet, CardError) as reason:
            raise NoLaw(str(reason)) from reason
        return Law(
            sheet.universe,
            {row.hand: row.count for row in sheet.rows},
            {row.hand: row.probability for row in sheet.rows},
            apart=any(row.returned is not None for row in sheet.rows),
        )

    def hands(self, table: PayTable, rows: Collection[str]) -> Mapping[str, Collection[frozenset[Card]]]:
        """Every set of cards that earns one of these rows, for tables of few cards of one deck, all looked at."""
        if table.evaluator is None or EVALUATORS[table.evaluator].model != "single" or table.depends_on_play:
            return {}
        try:
            earning = _Earning.of(table, lambda _name: None)
        except NoParSheet:
            return {}
        size, dealt = sum(earning.looks.sizes), table.games[0].own_cards + table.games[0].community_cards
        if earning.seconds > SECONDS_OF_HANDS_MAX or (len(earning.looks.sizes), size) != (1, dealt):
            return {}
        orders = earning.universe // comb(earning.shoe.cards, size)
        found: Any = earning.tally()
        deals = {table.rows[index].hand: each for index, each in found.items() if index is not None}
        sets = {hand: _all_of(deals.get(hand, []), earning.looks.groups, orders) for hand in rows}
        return {hand: each for hand, each in sets.items() if each is not None}

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


class _Earning(Counting):
    """Collects the deals that earn each row, with their weights."""

    def _add(self, found: Any, deal: Deal, weight: int) -> None:
        row = self._decider.decide(*self._hands(deal)).row
        found.setdefault(row, []).append((deal, weight))


def _all_of(deals: Sequence[tuple[Deal, int]], groups: Sequence[str], orders: int) -> set[frozenset[Card]] | None:
    """All sets of cards that some deals stand for; None where a deal stands for others than its suits exchanged."""
    found: set[frozenset[Card]] = set()
    for deal, weight in deals:
        alike = {frozenset(_exchanged(deal, suits)) for suits in _exchanges(groups)}
        if len(alike) * orders != weight:
            return None
        found |= alike
    return found


def _exchanges(groups: Sequence[str]) -> Iterator[dict[str, str]]:
    """Every way to exchange suits within the groups that no row tells apart."""
    for choice in product(*(permutations(group) for group in groups)):
        yield dict(zip("".join(groups), chain.from_iterable(choice), strict=True))


def _exchanged(deal: Deal, suits: Mapping[str, str]) -> Iterator[Card]:
    for block in deal:
        for card in block:
            yield card._replace(suit=suits.get(card.suit, card.suit))


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
