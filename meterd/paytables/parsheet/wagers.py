"""Lists of wagers (roulette, craps, big six): each row is a bet of its own, with its own chance and its own edge.

A row without a printed name continues the one before it: the field's 2 and 12, which pay more, belong to the field.
A list whose rows pay out of a meter, or give envy, has no par sheet: neither belongs to one bet alone.
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
from meterd.paytables.model import PayKind, PayTable, Row
from meterd.paytables.parsheet.returns import fixed_return
from meterd.paytables.parsheet.sheet import NoParSheet, ParRow


def wager_rows(table: PayTable, *, double_zero: bool) -> tuple[int, tuple[ParRow, ...]]:
    """A common denominator of all chances, and the rows; a row that is not offered, or unsaid, is left out.

    Raises:
        NoParSheet: a row is a bet that the dice or the wheel do not know, or pays out of a meter, or gives envy.
    """
    _check_money(table)
    found: list[list[tuple[Row, Chance]]] = []
    for index, row in enumerate(table.rows):
        words = row_words(table, index)
        if row.offered and words != [UNSAID] and _on_wheel(words, double_zero=double_zero):
            chance = _chance(table, words, double_zero=double_zero)
            if found and not row.printed_hand:
                found[-1].append((row, chance))
            else:
                found.append([(row, chance)])
    if not found:
        why = left_out(table, double_zero=double_zero) or "no wager is offered"
        raise NoParSheet(f"{table.id} has no par sheet: {why}")
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


def left_out(table: PayTable, *, double_zero: bool) -> str:
    """What to say of rows whose bets the text does not explain, or this wheel does not have; empty for none."""
    rows = [(row, row_words(table, index)) for index, row in enumerate(table.rows) if row.offered]
    unsaid = [row.printed_hand for row, words in rows if words == [UNSAID]]
    other = [row.printed_hand for row, words in rows if not _on_wheel(words, double_zero=double_zero)]
    said = [
        f"left out, as the text does not say when they win: {', '.join(unsaid)}" if unsaid else "",
        f"left out, as this wheel does not have them: {', '.join(other)}" if other else "",
    ]
    return "; ".join(filter(None, said))


def _on_wheel(words: Sequence[str], *, double_zero: bool) -> bool:
    """Whether a bet exists on that roulette wheel; bets on anything else do."""
    try:
        for bet in words:
            if bet.startswith("pockets:"):
                wheel.chance(bet, double_zero=double_zero)
    except wheel.NotOnThisWheel:
        return False
    return True


def _check_money(table: PayTable) -> None:
    for row in table.rows:
        if any(pay.kind is PayKind.METER_PERCENT or pay.from_meter for pay in row.pays) or row.envy_cents:
            what = "gives envy" if row.envy_cents else "pays out of a meter"
            raise NoParSheet(
                f"{table.id} has no par sheet: {row.printed_hand!r} {what}, which is not reckoned for a list of wagers"
            )


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
