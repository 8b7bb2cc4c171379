"""Lists of wagers (roulette, craps, big six): each row is a bet of its own, with its own chance and its own edge.

A row without a printed name continues the one before it: the field's 2 and 12, which pay more, belong to the field.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

from meterd.handrank import dice, wheel
from meterd.handrank.cards import CardError
from meterd.handrank.dice import Chance
from meterd.paytables.decide import row_matches
from meterd.paytables.match import UNSAID
from meterd.paytables.model import PayTable, Row
from meterd.paytables.parsheet.returns import fixed_return
from meterd.paytables.parsheet.sheet import NoParSheet, ParRow


def wager_rows(table: PayTable, *, double_zero: bool) -> tuple[int, tuple[ParRow, ...]]:
    """A common denominator of all chances, and the rows; a row that is not offered, or unsaid, is left out.

    Raises:
        NoParSheet: a row is a bet that the dice or the wheel do not know.
    """
    found: list[list[tuple[Row, Chance]]] = []
    for index, row in enumerate(table.rows):
        words = row_words(table, index)
        if row.offered and words != [UNSAID]:
            chance = _chance(table, words, double_zero=double_zero)
            if found and not row.printed_hand:
                found[-1].append((row, chance))
            else:
                found.append([(row, chance)])
    if not found:
        raise NoParSheet(f"{table.id} has no par sheet: when its wagers win is not in the text")
    whole = lcm(*(part.denominator for wager in found for _, chance in wager for part in (chance.win, chance.push)))
    return whole, tuple(row for wager in found for row in _rows(table, wager, whole))


def _rows(table: PayTable, wager: Sequence[tuple[Row, Chance]], whole: int) -> list[ParRow]:
    """The rows of one wager; what it returns is said of the whole of it."""
    push = sum((chance.push for _, chance in wager), Fraction(0))
    returned = push + sum((chance.win * fixed_return(row, table) for row, chance in wager), Fraction(0))
    return [
        ParRow(row.hand, int(chance.win * whole), chance.win, chance.push, returned, 1 - returned)
        for row, chance in wager
    ]


def unsaid(table: PayTable) -> str:
    """What to say of rows whose bets the text does not explain; empty where there are none."""
    left_out = [row.printed_hand for index, row in enumerate(table.rows) if row_words(table, index) == [UNSAID]]
    return f"left out, as the text does not say when they win: {', '.join(left_out)}" if left_out else ""


def row_words(table: PayTable, index: int) -> list[str]:
    """The bets of one row, in words."""
    return [match.category for match in row_matches(table, table.rows[index])]


def needs_wheel(table: PayTable) -> bool:
    """Whether a row's chance depends on the wheel."""
    return any(bet.startswith("pockets:") for index in range(len(table.rows)) for bet in row_words(table, index))


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
