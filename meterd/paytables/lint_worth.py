"""What a row is worth, and what is known about a link's money: the numbers the linter reckons with.

Units: ``Fraction`` of the wager the table prints; ``*_cents``; rates and shares in ppm.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from meterd.money import PPM_PER_WHOLE, format_cents
from meterd.paytables.model import Pay, PayKind, PayTable, Row

#: The level of a table whose rows name none.
ONLY_LEVEL: Final = "main"


@dataclass(frozen=True, slots=True)
class LevelTerms:
    """What is known of one level; None is not known. ``reserve_ppm`` 0: also a printed "N/A" or a site's "none"."""

    seed_cents: int | None = None
    increment_ppm: int | None = None
    reserve_ppm: int | None = None


@dataclass(frozen=True, slots=True)
class Terms:
    """The money a table is judged with: as printed, or as a link of a site sets it.

    ``seats`` of a full table; ``link`` is the link's id, None for the print; ``games`` those it joins, None for all.
    """

    wager_cents: int
    levels: Mapping[str, LevelTerms]
    seats: int
    link: str | None = None
    games: frozenset[str] | None = None


def printed_terms(table: PayTable, seats: int) -> Terms:
    """What the print says. It prints one seed and one rate, so this is known only for a table with one level."""
    names = table.levels
    known = LevelTerms(
        table.seed_cents, table.increment_ppm, None if table.reserve_ppm is None else max(table.reserve_ppm, 0)
    )
    return Terms(table.wager_cents, {name: known if len(names) == 1 else LevelTerms() for name in names}, seats)


@dataclass(frozen=True, slots=True)
class Worth:
    """What a row hands out: ``sure`` in wagers (the wager too where it comes back), ``shares`` of each level in ppm."""

    sure: Fraction
    shares: Mapping[str, int]

    def value(self, terms: Terms) -> Fraction | None:
        """In wagers, each level at its seed; None where a seed that counts is not known."""
        total = self.sure
        for level, ppm in self.shares.items():
            known = terms.levels.get(level)
            if known is None or known.seed_cents is None:
                return None
            total += Fraction(known.seed_cents * ppm, terms.wager_cents * PPM_PER_WHOLE)
        return total

    def at_least(self, other: Worth) -> bool | None:
        """Whether this hands out at least as much whatever the meters show; None where that depends on the meters."""
        levels = {*self.shares, *other.shares}
        up = [self.shares.get(level, 0) >= other.shares.get(level, 0) for level in levels]
        down = [self.shares.get(level, 0) <= other.shares.get(level, 0) for level in levels]
        if self.sure >= other.sure and all(up):
            return True
        if self.sure <= other.sure and all(down):
            return False
        return None


NOTHING: Final = Worth(Fraction(0), {})


def worth(row: Row | None, table: PayTable, terms: Terms) -> Worth:
    """What ``row`` of ``table`` hands out for one wager."""
    if row is None or row.loses:
        return NOTHING
    sure, shares = Fraction(0), dict[str, int]()
    for pay in row.pays:
        if pay.kind is PayKind.METER_PERCENT:
            level = pay.level or ONLY_LEVEL
            shares[level] = shares.get(level, 0) + pay.percent_ppm
        else:
            sure += _sure(pay, table, terms.wager_cents)
    back = any(pay.kind is PayKind.ODDS_TO for pay in row.pays) and table.original_wager_returned
    return Worth(sure + back, shares)


def growing(row: Row | None, table: PayTable) -> Fraction:
    """The part of a row's pays that grows with the wager, in wagers; shares of meters left out."""
    if row is None or row.loses:
        return Fraction(0)
    still = [
        pay for pay in row.pays if pay.kind is PayKind.METER_PERCENT or (pay.kind is PayKind.FIXED and not pay.scales)
    ]
    back = any(pay.kind is PayKind.ODDS_TO for pay in row.pays) and table.original_wager_returned
    sums = (_sure(pay, table, table.wager_cents) for pay in row.pays if pay not in still)
    return sum(sums, Fraction(int(back)))


def _sure(pay: Pay, table: PayTable, wager_cents: int) -> Fraction:
    if pay.kind is PayKind.FIXED:
        return Fraction(pay.cents, table.wager_cents if pay.scales else wager_cents)
    if pay.kind is PayKind.PUSH:
        return Fraction(1)
    return Fraction(pay.n, pay.d)


def pays_text(row: Row | None) -> str:
    """What a row pays, in the words of the print, or of its reading where nothing is printed."""
    if row is None:
        return "nothing"
    return repr(row.printed_pay) if row.printed_pay else reading_text(row)


def reading_text(row: Row) -> str:
    """Our reading of a row's cell: ``100% mega and 250 to 1``."""
    return " and ".join(_pay_text(pay) for pay in row.pays) or "nothing"


def _pay_text(pay: Pay) -> str:
    match pay.kind:
        case PayKind.METER_PERCENT:
            return f"{pay.to_json()['percent']}% {pay.level or 'meter'}"
        case PayKind.FIXED:
            amount = format_cents(pay.cents)
            return f"{amount} from {pay.level or 'meter'}" if pay.from_meter else amount
        case PayKind.ODDS_TO | PayKind.ODDS_FOR:
            return f"{decimal(Fraction(pay.n, pay.d), 4)} {pay.kind.value.removeprefix('odds_')} 1"
        case _:
            return pay.kind.value


def decimal(value: Fraction, places: int) -> str:
    """``value`` rounded half up to so many decimals, trailing zeros dropped: ``0.5``, ``-1.25``, ``1,234``."""
    sign = "-" if value < 0 else ""
    scaled = (abs(value) * 10**places * 2 + 1) // 2
    whole, part = divmod(scaled, 10**places)
    tail = f"{part:0{places}d}".rstrip("0") if places else ""
    return f"{sign}{whole:,}.{tail}" if tail else f"{sign}{whole:,}"


def percent(value: Fraction) -> str:
    """A fraction as ``97.53 %``, with as many decimals as it takes to show two figures of a small one."""
    places = 2
    while value and places < 12 and abs(value) * 10 ** (places + 1) < 1:
        places += 1
    return f"{decimal(value * 100, places)} %"


def one_in(chance: Fraction) -> str:
    """``1 in 649,740``, rounded half up; ``never`` for zero."""
    return f"1 in {decimal(1 / chance, 0 if chance * 100 < 1 else 2)}" if chance else "never"


def money(cents: Fraction | int) -> str:
    """Cents as ``1,234.56``, rounded half up."""
    return format_cents((Fraction(cents) * 2 + 1).__floor__() // 2)
