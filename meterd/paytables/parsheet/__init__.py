"""Exact par sheets: how likely each row of a pay table is, and what follows from that. Pure: no file is opened here.

Rows are decided by the code that decides them at a table (``decide``, ``outcome``), deal by deal or class by class of
deals, each with its exact weight. Nothing is simulated, and nothing is rounded before it is written as cents.

There is none for a table without an evaluator, and none where a row's chance depends on how somebody plays or draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import lcm
from typing import Final

from meterd.paytables.evaluators import EVALUATORS, Evaluator
from meterd.paytables.model import PayTable
from meterd.paytables.parsheet.counting import Cached, Counting
from meterd.paytables.parsheet.returns import Returns
from meterd.paytables.parsheet.sheet import MeterPar, NoParSheet, ParRow, ParSheet, UniverseError
from meterd.paytables.parsheet.tallies import (
    BAD_BEAT,
    BAD_BEAT_SECONDS,
    BAD_BEAT_UNIVERSE,
    chances_of_numbers,
    longest,
    tally_bad_beat,
)
from meterd.paytables.parsheet.wagers import left_out, needs_wheel, wager_rows

__all__ = [
    "DECKS_MAX",
    "WHEELS",
    "MeterPar",
    "NoParSheet",
    "ParRow",
    "ParSheet",
    "UniverseError",
    "looks_at_wheel",
    "parsheet",
    "seconds",
]

DOUBLE_ZERO: Final = "double-zero"
SINGLE_ZERO: Final = "single-zero"
WHEELS: Final = (DOUBLE_ZERO, SINGLE_ZERO)

#: The largest shoe that casinos deal from.
DECKS_MAX: Final = 8

#: Nothing is counted that takes longer than a day.
SECONDS_MAX: Final = 86_400

_SHOES: Final = ("shoe", "sevens")

_THREE_CARDS: Final = (
    "the hand takes a third card, so this is the law of its first three cards whatever the player does"
)
_NONE: Final[Mapping[str, int]] = {}


def parsheet(
    table: PayTable,
    *,
    decks: int | None = None,
    wheel: str = DOUBLE_ZERO,
    cached: Cached,
    seeds: Mapping[str, int] = _NONE,
    increments_ppm: Mapping[str, int] = _NONE,
) -> ParSheet:
    """The par sheet of a table, per unit of the wager it prints and without envy.

    ``decks`` for tables dealt from a shoe, ``wheel`` (one of :data:`WHEELS`) for those that look at one. ``cached``
    gives the text of a universe by name, or None. ``seeds`` (cents) and ``increments_ppm`` by level complete or
    replace what is printed.

    Raises:
        NoParSheet: the table allows none, or not with these decks, levels or this wheel; the message says why.
        UniverseError: a universe kept as data is damaged.
    """
    evaluator = _evaluator(table)
    table = _dealt_from(table, evaluator, decks)
    _check_levels(table, seeds, increments_ppm)
    _check_wheel(table, wheel)
    double_zero = wheel == DOUBLE_ZERO
    if evaluator.model == "wagers":
        universe, rows = wager_rows(table, double_zero=double_zero)
        shown = wheel if needs_wheel(table) else None
        return ParSheet(
            table.id, universe, rows, None, None, wheel=shown, note=left_out(table, double_zero=double_zero)
        )
    universe, counts, note = _counts(table, evaluator, cached, double_zero=double_zero)
    chances = [
        (row, Fraction(counts.get(row.hand, 0), universe)) for row in table.rows if row.offered and not row.loses
    ]
    returns = Returns(table, chances, seeds, increments_ppm)
    return ParSheet(
        table.id,
        universe,
        tuple(ParRow(row.hand, counts.get(row.hand, 0), chance) for row, chance in chances),
        1 - sum((chance for _, chance in chances), Fraction(0)),
        returns.fixed,
        returns.from_meter,
        returns.meters(),
        returns.envy,
        returns.edge_at_seed,
        decks=table.decks if evaluator.model in _SHOES else None,
        wheel=wheel if evaluator.model == "spins" else None,
        note=note,
    )


def seconds(table: PayTable, *, decks: int | None = None, cached: Cached) -> int:
    """About how long :func:`parsheet` takes; 0 for a moment.

    Raises:
        NoParSheet: as there.
    """
    evaluator = _evaluator(table)
    table = _dealt_from(table, evaluator, decks)
    if evaluator.model == "bad-beat":
        return 0 if cached(BAD_BEAT_UNIVERSE) else BAD_BEAT_SECONDS
    if evaluator.model in {"spins", "rolls", "wagers"}:
        return 0
    return Counting.of(table, cached).seconds


def _evaluator(table: PayTable) -> Evaluator:
    if table.evaluator is None:
        raise NoParSheet(f"{table.id} has no par sheet: {table.note or 'the rule text does not define its hands'}")
    if table.depends_on_play:
        raise NoParSheet(
            f"{table.id} has no par sheet: it depends on how hands are played or drawn to. {table.note}".strip()
        )
    if not any(row.offered for row in table.rows):
        raise NoParSheet(f"{table.id} has no par sheet: no row is offered")
    if table.wager_cents < 1:
        raise NoParSheet(f"{table.id} has no par sheet: it prints a wager of nothing")
    return EVALUATORS[table.evaluator]


def looks_at_wheel(table: PayTable) -> bool:
    """Whether a row's chance depends on the pockets of a roulette wheel."""
    model = EVALUATORS[table.evaluator].model if table.evaluator is not None else ""
    return model == "spins" or (model == "wagers" and needs_wheel(table))


def _check_wheel(table: PayTable, wheel: str) -> None:
    if wheel not in WHEELS:
        raise NoParSheet(f"there is no wheel {wheel!r}; there are {' and '.join(WHEELS)}")
    if wheel != DOUBLE_ZERO and not looks_at_wheel(table):
        raise NoParSheet(f"{table.id} is not about a roulette wheel, so there is none to choose")


def _dealt_from(table: PayTable, evaluator: Evaluator, decks: int | None) -> PayTable:
    """The table as dealt from so many decks."""
    if decks is None:
        return table
    if evaluator.model not in _SHOES:
        raise NoParSheet(f"{table.id} is not dealt from a shoe, so there are no decks to choose")
    if not 1 <= decks <= DECKS_MAX:
        raise NoParSheet(f"{decks} decks: a shoe holds 1 to {DECKS_MAX}")
    allowed_decks = table.decks_allowed or (table.decks,)
    if decks not in allowed_decks:
        allowed = ", ".join(map(str, allowed_decks))
        deck = "deck" if allowed == "1" else "decks"
        raise NoParSheet(f"{table.id} is printed for {allowed} {deck}, not for {decks}")
    return replace(table, decks=decks, decks_allowed=())


def _check_levels(table: PayTable, *given: Mapping[str, int]) -> None:
    for level, amount in (each for levels in given for each in levels.items()):
        if level not in table.levels:
            known = ", ".join(table.levels) or "none"
            raise NoParSheet(f"{table.id} pays from no level {level!r}; its levels: {known}")
        if amount < 0:
            raise NoParSheet(f"level {level!r}: a seed or an increment is not below zero")


def _counts(
    table: PayTable, evaluator: Evaluator, cached: Cached, *, double_zero: bool
) -> tuple[int, dict[str, int], str]:
    """The universe, in how much of it each row is the hand, and what was assumed."""
    if evaluator.model in {"spins", "rolls"}:
        reached = chances_of_numbers(table, double_zero=double_zero)
        universe = lcm(*(chance.denominator for _, chance in reached))
        if evaluator.model == "spins":
            universe = (38 if double_zero else 37) ** longest(table)
        counts: dict[str, int] = {}
        for row, chance in reached:
            if row is not None:
                counts[row.hand] = counts.get(row.hand, 0) + int(chance * universe)
        return universe, counts, ""
    if evaluator.model == "bad-beat":
        universe, tally, note = BAD_BEAT.deals, tally_bad_beat(table, cached), ""
    else:
        counting = Counting.of(table, cached)
        if counting.seconds > SECONDS_MAX:
            raise NoParSheet(f"{table.id} has no par sheet: counting it would take {counting.seconds // 86_400:,} days")
        universe, tally, note = counting.universe, counting.tally(), counting.note
    if evaluator.model == "sevens":
        note = _THREE_CARDS
    return universe, {table.rows[index].hand: count for index, count in tally.items() if index is not None}, note
