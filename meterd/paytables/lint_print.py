"""A table's printed cells against our reading of them. Needs no chances."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from meterd.money import PPM_PER_WHOLE
from meterd.paytables.lint_findings import Finding
from meterd.paytables.lint_worth import reading_text
from meterd.paytables.model import Pay, PayKind, PayTable, Row
from meterd.paytables.pays import parse_pay

#: Cells that say the hand is not offered.
NOT_OFFERED: Final = ("", "N/A", "NA", "n/a", "-", "–", "—", "--")

#: Forms with one reading only. The case of letters and the number of spaces do not count.
_ODDS: Final = re.compile(r"([0-9,]+(?:\.[0-9]+)?) ?(to|for) ?([0-9]+)", re.IGNORECASE)
_RATIO: Final = re.compile(r"([0-9,]+(?:\.[0-9]+)?) ?: ?([0-9]+)")
_SHARE: Final = re.compile(
    r"([0-9.]+) ?(?:%|percent)(?: ?\(?(?:from|of)(?: the)? (?:meter|progressive|jackpot)\)?)?", re.IGNORECASE
)


def print_findings(table: PayTable) -> Iterator[Finding]:
    """Cells without a reading, cells read otherwise than printed, and silence where a note is due."""
    if table.evaluator is None and not table.note:
        yield Finding("NOTE_MISSING", table.id, "nothing says why its hands cannot be ranked")
    for row in table.rows:
        yield from _row(table, row)


def _row(table: PayTable, row: Row) -> Iterator[Finding]:
    cell = row.printed_pay.strip()
    if not row.pays:
        if cell not in NOT_OFFERED:
            yield Finding("READING_MISSING", table.id, f"the cell {cell!r} has no pays", row.hand)
        return
    if cell in NOT_OFFERED[1:]:
        found = f"the cell {cell!r} does not offer the hand, yet it is read as {reading_text(row)}"
        yield Finding("READING_DIFFERS", table.id, found, row.hand)
        return
    readings = _only_readings(cell)
    if readings is not None and not any(_read_so(wanted, row) for wanted in readings):
        found = f"the cell {cell!r} is read as {reading_text(row)}"
        yield Finding("READING_DIFFERS", table.id, found, row.hand)


def _only_readings(cell: str) -> list[Pay] | None:
    """The pays that a cell of a closed form can mean: odds, a ratio (to or for), or a bare share of the meter.

    None for a cell of no such form; empty for one that means nothing possible, such as ``0 to 1`` or ``150%``.
    """
    if odds := _ODDS.fullmatch(cell):
        return _possible(f"{odds[1]} {odds[2].lower()} {odds[3]}")
    if ratio := _RATIO.fullmatch(cell):
        return _possible(f"{ratio[1]} to {ratio[2]}", f"{ratio[1]} for {ratio[2]}")
    if share := _SHARE.fullmatch(cell):
        return _possible(f"{share[1]}% meter")
    return None


def _possible(*texts: str) -> list[Pay]:
    pays = []
    for text in texts:
        try:
            pays.append(parse_pay(text))
        except (ValueError, ArithmeticError):
            continue
    return pays


def _read_so(wanted: Pay, row: Row) -> bool:
    """Whether the row is read as the cell; a bare share may be of any level."""
    if len(row.pays) != 1:
        return False
    read = row.pays[0]
    if wanted.kind is PayKind.METER_PERCENT:
        return read.kind is wanted.kind and 0 < read.percent_ppm == wanted.percent_ppm <= PPM_PER_WHOLE
    return (read.kind, read.n, read.d) == (wanted.kind, wanted.n, wanted.d)
