"""From the chance of each row to returns, break-even meters and mean awards.

Mean award. Let S be what a level starts from, g what each wager adds, p the chance of its 100 % award, φ the expected
share that smaller percent awards take (Σ chance x share), c the expected sum of fixed pays out of it. The
contribution is booked before the hand is played. Without a 100 % award, t wagers after a reset, the meter's mean
obeys

    m(0) = S,   m(t+1) = ((m(t) + g)·(1 - p - φ) - c) / (1 - p)

because hits do not depend on the meter. The wager that wins comes after t others with chance p·(1 - p)^t and is paid
m(t) + g; summing over all t gives the mean 100 % award

    A = (p·S + g - c) / (p + φ)

With no smaller awards this is S + g / p; p + φ is the level's share probability. It is the balance of one cycle: what
comes in is the seed once and g a wager, what goes out is the share p + φ of the mean meter and c. A reserve is left
out: it is taken to fund the next seed and nothing else. Limits and a floor are left out too. Where A does not come
out above zero the fixed pays eat more than the wagers bring, and there is no mean award.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import floor

from meterd.money import PPM_PER_WHOLE
from meterd.paytables.model import Pay, PayKind, PayTable, Row
from meterd.paytables.parsheet.sheet import MeterPar

#: Rows that pay, each with its chance.
Chances = Sequence[tuple[Row, Fraction]]


class Returns:
    """All that follows from the chances of a table's rows."""

    def __init__(
        self, table: PayTable, chances: Chances, seeds: Mapping[str, int], increments_ppm: Mapping[str, int]
    ) -> None:
        self._table = table
        self._chances = chances
        self._seeds = _known(table, table.seed_cents) | dict(seeds)
        self._increments = _known(table, table.increment_ppm) | dict(increments_ppm)

    @property
    def fixed(self) -> Fraction:
        """Expected return of everything that no meter pays, per unit wagered."""
        return sum((chance * fixed_return(row, self._table) for row, chance in self._chances), Fraction(0))

    @property
    def from_meter(self) -> Fraction:
        """Expected return of fixed sums out of meters that hold enough."""
        return sum((self._taken(level, None) for level in self._table.levels), Fraction(0)) / self._table.wager_cents

    @property
    def envy(self) -> Fraction:
        """Expected envy from one other player's hand, per unit wagered; nothing where envy goes to the dealer."""
        if self._table.envy_to != "players":
            return Fraction(0)
        return sum((chance * row.envy_cents for row, chance in self._chances), Fraction(0)) / self._table.wager_cents

    @property
    def edge_at_seed(self) -> Fraction | None:
        """What the house keeps of a unit while every level stands at its seed; None where a seed is not known."""
        paid = self.fixed
        for level in self._table.levels:
            worth = self._worth(level, self._seeds.get(level))
            if worth is None:
                return None
            paid += worth
        return 1 - paid

    def meters(self) -> dict[str, MeterPar]:
        """Every level the rows pay from."""
        return {
            level: MeterPar(self._share(level), self._break_even(level), self._mean_award(level))
            for level in self._table.levels
        }

    def _share(self, level: str) -> Fraction:
        return self._expected(lambda pay: _share_of(pay, level))

    def _taken(self, level: str, meter_cents: Fraction | None) -> Fraction:
        """Expected cents of fixed pays out of a level, none above the meter."""
        return self._expected(
            lambda pay: (
                min(Fraction(pay.cents), meter_cents if meter_cents is not None else Fraction(pay.cents))
                if pay.kind is PayKind.FIXED and pay.from_meter and (pay.level or "main") == level
                else Fraction(0)
            )
        )

    def _worth(self, level: str, meter_cents: int | Fraction | None) -> Fraction | None:
        """Expected return from a level at this meter, per unit wagered."""
        if meter_cents is None:
            return None
        cents = Fraction(meter_cents)
        return (self._share(level) * cents + self._taken(level, cents)) / self._table.wager_cents

    def _break_even(self, level: str) -> int | None:
        missing = 1 - self.fixed
        for other in self._table.levels:
            if other != level:
                worth = self._worth(other, self._seeds.get(other))
                if worth is None:
                    return None
                missing -= worth
        if missing <= 0:
            return 0
        steps = {
            Fraction(pay.cents)
            for row, _ in self._chances
            for pay in row.pays
            if pay.kind is PayKind.FIXED and pay.from_meter and (pay.level or "main") == level
        }
        below = Fraction(0)
        for step in sorted(steps):  # between two fixed pays the worth grows in a straight line
            worth = self._worth(level, step)
            if worth is not None and worth >= missing:
                return floor(self._between(level, below, step, missing))
            below = step
        share = self._share(level)
        if not share:
            return None
        at_last = self._worth(level, below) or Fraction(0)
        return floor(below + (missing - at_last) * self._table.wager_cents / share)

    def _between(self, level: str, low: Fraction, high: Fraction, missing: Fraction) -> Fraction:
        at_low, at_high = (self._worth(level, meter) or Fraction(0) for meter in (low, high))
        return low + (high - low) * (missing - at_low) / (at_high - at_low)

    def _mean_award(self, level: str) -> int | None:
        """The mean 100 % award in cents, half up."""
        seed, rate = self._seeds.get(level), self._increments.get(level)
        whole = self._expected(lambda pay: Fraction(_share_of(pay, level) == 1))
        if seed is None or rate is None or not whole:
            return None
        added = Fraction(self._table.wager_cents * rate, PPM_PER_WHOLE)
        award = (whole * seed + added - self._taken(level, None)) / self._share(level)
        return floor(award + Fraction(1, 2)) if award > 0 else None

    def _expected(self, value: Callable[[Pay], Fraction]) -> Fraction:
        return sum((chance * value(pay) for row, chance in self._chances for pay in row.pays), Fraction(0))


def fixed_return(row: Row, table: PayTable) -> Fraction:
    """What a row returns per unit wagered, apart from what a meter pays.

    ``N to 1`` gives the wager back on top, once for the whole row, unless the table says that it stays.
    """
    back = table.original_wager_returned and any(pay.kind is PayKind.ODDS_TO for pay in row.pays)
    return sum((_fixed_part(pay, table) for pay in row.pays), Fraction(int(back)))


def _fixed_part(pay: Pay, table: PayTable) -> Fraction:
    match pay.kind:
        case PayKind.ODDS_TO | PayKind.ODDS_FOR:
            return Fraction(pay.n, pay.d)
        case PayKind.FIXED:
            return Fraction(0) if pay.from_meter else Fraction(pay.cents, table.wager_cents)
        case PayKind.PUSH:
            return Fraction(1)
        case _:
            return Fraction(0)


def _share_of(pay: Pay, level: str) -> Fraction:
    if pay.kind is not PayKind.METER_PERCENT or (pay.level or "main") != level:
        return Fraction(0)
    return Fraction(pay.percent_ppm, PPM_PER_WHOLE)


def _known(table: PayTable, printed: int | None) -> dict[str, int]:
    """A printed seed or rate belongs to the table's only level; with several levels it is not known whose it is."""
    levels = table.levels
    return {levels[0]: printed} if printed is not None and len(levels) == 1 else {}
