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
        """Expected return of fixed sums out of meters, shortfalls that the house pays included."""
        return sum((self._taken(level) for level in self._table.levels), Fraction(0)) / self._table.wager_cents

    @property
    def envy(self) -> Fraction:
        """Expected envy from one other player's hand, per unit wagered; nothing where envy goes to the dealer."""
        if self._table.envy_to != "players":
            return Fraction(0)
        return sum((chance * row.envy_cents for row, chance in self._chances), Fraction(0)) / self._table.wager_cents

    @property
    def edge_at_seed(self) -> Fraction | None:
        """What the house keeps of a unit while every level stands at its seed; None where a seed is not known."""
        shares = [self._shared(level) for level in self._table.levels]
        known = [share for share in shares if share is not None]
        return 1 - self.fixed - self.from_meter - sum(known, Fraction(0)) if len(known) == len(shares) else None

    def meters(self) -> dict[str, MeterPar]:
        """Every level the rows pay from."""
        return {
            level: MeterPar(self._share(level), self._break_even(level), self._mean_award(level))
            for level in self._table.levels
        }

    def _share(self, level: str) -> Fraction:
        return self._expected(lambda pay: _share_of(pay, level))

    def _taken(self, level: str) -> Fraction:
        """Expected cents of fixed pays out of a level, be it empty or not."""
        return self._expected(lambda pay: Fraction(pay.cents if _is_taken(pay, level) else 0))

    def _shared(self, level: str) -> Fraction | None:
        """Expected return from shares of a level at its seed, per unit wagered; None where that is not known."""
        share, seed = self._share(level), self._seeds.get(level)
        if not share:
            return Fraction(0)
        return None if seed is None else share * seed / self._table.wager_cents

    def _break_even(self, level: str) -> int | None:
        missing = 1 - self.fixed - self.from_meter
        for other in self._table.levels:
            if other != level:
                worth = self._shared(other)
                if worth is None:
                    return None
                missing -= worth
        if missing <= 0:
            return 0
        share = self._share(level)
        return floor(missing * self._table.wager_cents / share) if share else None

    def _mean_award(self, level: str) -> int | None:
        """The mean 100 % award in cents, half up."""
        seed, rate = self._seeds.get(level), self._increments.get(level)
        whole = self._expected(lambda pay: Fraction(_share_of(pay, level) == 1))
        if seed is None or rate is None or not whole or self._dearest(level) > seed:
            return None
        added = Fraction(self._table.wager_cents * rate, PPM_PER_WHOLE)
        award = (whole * seed + added - self._taken(level)) / self._share(level)
        return floor(award + Fraction(1, 2)) if award > 0 else None

    def _dearest(self, level: str) -> int:
        """The largest fixed sum out of a level."""
        pays = [pay for row, chance in self._chances if chance for pay in row.pays]
        return max((pay.cents for pay in pays if _is_taken(pay, level)), default=0)

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


def _is_taken(pay: Pay, level: str) -> bool:
    """Whether this is a fixed sum out of that level."""
    return pay.kind is PayKind.FIXED and pay.from_meter and (pay.level or "main") == level


def _share_of(pay: Pay, level: str) -> Fraction:
    if pay.kind is not PayKind.METER_PERCENT or (pay.level or "main") != level:
        return Fraction(0)
    return Fraction(pay.percent_ppm, PPM_PER_WHOLE)


def _known(table: PayTable, printed: int | None) -> dict[str, int]:
    """A printed seed or rate belongs to the table's only level; with several levels it is not known whose it is."""
    levels = table.levels
    return {levels[0]: printed} if printed is not None and len(levels) == 1 else {}
