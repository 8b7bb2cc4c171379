"""Lists of wagers (roulette, craps, big six): each row is a bet of its own, with its own chance and its own edge."""

from __future__ import annotations

from fractions import Fraction
from math import lcm

from meterd.handrank import dice, wheel
from meterd.handrank.cards import CardError
from meterd.handrank.dice import Chance
from meterd.paytables.decide import row_matches
from meterd.paytables.model import PayTable
from meterd.paytables.parsheet.returns import fixed_return
from meterd.paytables.parsheet.sheet import NoParSheet, ParRow


def wager_rows(table: PayTable, *, double_zero: bool) -> tuple[int, tuple[ParRow, ...]]:
    """A common denominator of all chances, and the rows; a row that is not offered is left out.

    Raises:
        NoParSheet: a row is a bet that the dice or the wheel do not know.
    """
    rows = [
        (row, _chance(table, row_words(table, index), double_zero=double_zero))
        for index, row in enumerate(table.rows)
        if row.offered
    ]
    whole = lcm(*(part.denominator for _, chance in rows for part in (chance.win, chance.push)))
    return whole, tuple(
        _row(row.hand, chance, chance.win * fixed_return(row, table) + chance.push, whole) for row, chance in rows
    )


def row_words(table: PayTable, index: int) -> list[str]:
    """The bets of one row, in words."""
    return [match.category for match in row_matches(table, table.rows[index])]


def needs_wheel(table: PayTable) -> bool:
    """Whether a row's chance depends on the wheel."""
    return any(bet.startswith("pockets:") for index in range(len(table.rows)) for bet in row_words(table, index))


def _row(hand: str, chance: Chance, returned: Fraction, whole: int) -> ParRow:
    return ParRow(hand, int(chance.win * whole), chance.win, chance.push, returned, 1 - returned)


def _chance(table: PayTable, bets: list[str], *, double_zero: bool) -> Chance:
    """The chance of a bet, or of several on one roll of which any wins."""
    try:
        if len(bets) > 1:
            ways = {way for bet in bets for way in dice.WAYS if _wins(bet, way)}
            return Chance(Fraction(len(ways), len(dice.WAYS)))
        if bets[0].partition(":")[0] in dice.WORDS:
            return dice.chance(bets[0])
        return wheel.chance(bets[0], double_zero=double_zero)
    except CardError as error:
        raise NoParSheet(f"{table.id} has no par sheet: {error}") from error


def _wins(bet: str, way: tuple[int, int]) -> bool:
    """Whether a bet on one roll wins with these two dice."""
    word, _, text = bet.partition(":")
    fallen = {str(sum(way))} if word == "roll" else {f"{way[0]}-{way[1]}", f"{way[1]}-{way[0]}"}
    return not fallen.isdisjoint(text.split(","))
