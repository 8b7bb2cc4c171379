"""The money of one table: return, meters, envy, seed. Every number comes from the exact chances of its par sheet."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from meterd.money import PPM_PER_WHOLE, format_cents, format_rate
from meterd.paytables.lint_envy import Round
from meterd.paytables.lint_findings import Finding
from meterd.paytables.lint_law import Law
from meterd.paytables.lint_worth import ONLY_LEVEL, LevelTerms, Terms, decimal, money, one_in, percent, worth
from meterd.paytables.model import Pay, PayKind, PayTable, Row

#: New Jersey files a progressive only if it is won at least this often (N.J.A.C. 13:69D-1.52(e)).
RAREST: Final = Fraction(1, 100_000_000)


@dataclass(frozen=True, slots=True)
class Measured:
    """A table with its chances and the money it is judged with.

    ``dearest`` is the round with the most envy, None where a table gives none.
    """

    table: PayTable
    terms: Terms
    law: Law
    dearest: Round | None = None

    @property
    def scale(self) -> Fraction:
        """The wager played ÷ the wager printed."""
        return Fraction(self.terms.wager_cents, self.table.wager_cents)

    def chance(self, row: Row) -> Fraction:
        """How often this row is paid, per wager."""
        return self.law.chances.get(row.hand, Fraction(0))

    def finding(self, code: str, found: str, row: str | None = None) -> Finding:
        """A finding about this table."""
        return Finding(code, self.table.id, found, row)


def money_findings(measured: Measured) -> Iterator[Finding]:
    """All findings about the money of one table."""
    yield from _returns(measured)
    if measured.law.apart:
        return
    for level in measured.table.levels:
        yield from _fixed_sums(measured, level)
        yield from _seed(measured, level)
        yield from _too_rare(measured, level)
    yield from _break_even(measured)
    yield from _envy(measured)


def _returns(measured: Measured) -> Iterator[Finding]:
    table, terms = measured.table, measured.terms
    if measured.law.apart:
        for row in table.rows:
            back = measured.chance(row) * worth(row, table, terms).sure
            if back > 1:
                yield measured.finding("RETURN_ABOVE_WAGER", f"returns {percent(back)} of the wager on it", row.hand)
        return
    sure, at_seed = _expected(measured)
    back = sure if at_seed is None else at_seed
    if back > 1:
        what = _seeds_text(measured) if at_seed is not None else "whatever the meter shows"
        yield measured.finding("RETURN_ABOVE_WAGER", f"returns {percent(back)} of the wager, {what}")
        return
    envy = _envy_per_other(measured) * (terms.seats - 1)
    if envy and back + envy > 1:
        yield measured.finding(
            "RETURN_ABOVE_WAGER_WITH_ENVY",
            f"returns {percent(back)} of the wager and {percent(envy)} as envy of {terms.seats - 1} others,"
            f" {percent(back + envy)} together, {_seeds_text(measured)}",
        )


def _expected(measured: Measured) -> tuple[Fraction, Fraction | None]:
    """The expected return in wagers: without the meters' shares, and with each at its seed (None: one is not known)."""
    sure, at_seed = Fraction(0), Fraction(0)
    known = True
    for row in measured.table.rows:
        chance = measured.chance(row)
        if not chance:
            continue
        each = worth(row, measured.table, measured.terms)
        value = each.value(measured.terms)
        sure += chance * each.sure
        at_seed += chance * (value or 0)
        known = known and value is not None
    return sure, at_seed if known else None


def _seeds_text(measured: Measured) -> str:
    seeds = [
        f"{name} at its seed {format_cents(level.seed_cents)}"
        for name, level in measured.terms.levels.items()
        if level.seed_cents is not None
    ]
    return ", ".join(seeds) or "without a meter"


def _pays_of(measured: Measured, level: str, kind: PayKind) -> Iterator[tuple[Row, Pay]]:
    """The pays of this kind that come out of a level."""
    for row in measured.table.rows:
        for pay in row.pays:
            from_meter = pay.kind is PayKind.METER_PERCENT or pay.from_meter
            if pay.kind is kind and from_meter and (pay.level or ONLY_LEVEL) == level:
                yield row, pay


def _cents(measured: Measured, pay: Pay) -> Fraction:
    return measured.scale * pay.cents if pay.scales else Fraction(pay.cents)


def _fixed_sums(measured: Measured, level: str) -> Iterator[Finding]:
    """Whether what goes in carries the fixed sums that come out, and whether the seed covers the largest."""
    fixed = [(row, _cents(measured, pay)) for row, pay in _pays_of(measured, level, PayKind.FIXED)]
    if not fixed:
        return
    terms = measured.terms.levels.get(level, LevelTerms())
    out_cents = sum((measured.chance(row) * cents for row, cents in fixed), Fraction(0))
    share = out_cents / measured.terms.wager_cents
    hands = ", ".join(row.hand for row, _ in fixed)
    if terms.increment_ppm is None:
        yield measured.finding("METER_NEEDS_RATE", f"{hands} take {percent(share)} of each wager on average", level)
    elif share > Fraction(terms.increment_ppm, PPM_PER_WHOLE):
        yield measured.finding(
            "METER_CANNOT_CARRY",
            f"{hands} take {percent(share)} of each wager on average, the increment puts in"
            f" {format_rate(terms.increment_ppm)}: the meter runs dry",
            level,
        )
    row, most = max(fixed, key=lambda each: each[1])
    if terms.seed_cents is not None and most > terms.seed_cents:
        yield measured.finding(
            "FIXED_ABOVE_SEED",
            f"{row.hand} pays {money(most)}, the seed is {format_cents(terms.seed_cents)}:"
            f" up to {money(most - terms.seed_cents)} from the house",
            level,
        )


def _reset_chance(measured: Measured, level: str) -> Fraction:
    """How often a level is won whole, per wager."""
    rows = {row for row, pay in _pays_of(measured, level, PayKind.METER_PERCENT) if pay.percent_ppm == PPM_PER_WHOLE}
    return sum((measured.chance(row) for row in rows), Fraction(0))


def _seed(measured: Measured, level: str) -> Iterator[Finding]:
    """How long the reserve takes to pay the seed, against how often the seed is needed."""
    terms = measured.terms.levels.get(level, LevelTerms())
    chance = _reset_chance(measured, level)
    if not terms.seed_cents or not chance:
        return
    seed, wager = format_cents(terms.seed_cents), measured.terms.wager_cents
    cost = f"{one_in(chance)} wagers, {percent(chance * terms.seed_cents / wager)} of each wager"
    if terms.reserve_ppm is None:
        found = f"no reserve is printed; the seed of {seed} is needed again at every hit, {cost}"
    elif terms.reserve_ppm == 0:
        found = f"no reserve: the house pays the seed of {seed} at every hit, {cost}"
    else:
        rate = Fraction(terms.reserve_ppm, PPM_PER_WHOLE)
        wagers = math.ceil(terms.seed_cents / (rate * wager))
        found = (
            f"the reserve of {format_rate(terms.reserve_ppm)} has paid the seed of {seed} after {wagers:,} wagers;"
            f" {_before(measured, chance, wagers)}; {_between(rate, chance, terms.seed_cents, wager)}"
        )
    yield measured.finding("SEED_HORIZON", found, level)


def _before(measured: Measured, chance: Fraction, wagers: int) -> str:
    """The chance that the level is won first. Players of a common outcome win together, once a round."""
    seats = measured.terms.seats if measured.table.common_outcome else 1
    tries = math.ceil(wagers / seats)
    sooner = 1 - math.exp(tries * math.log1p(-chance.numerator / chance.denominator)) if chance < 1 else 1.0
    rounds = f" ({tries:,} rounds of {seats} seats)" if seats > 1 else ""
    first = percent(Fraction(round(sooner * 10**6), 10**6))
    return f"a hit comes first with {first}{rounds}, one being {one_in(chance)}"


def _between(rate: Fraction, chance: Fraction, seed_cents: int, wager_cents: int) -> str:
    """What the reserve gathers from hit to hit, against the seed."""
    gathered = rate * wager_cents / chance
    times = gathered / seed_cents
    verdict = "the reserve carries it" if times >= 1 else "the house pays the rest"
    return f"{money(gathered)} gather between two hits, {decimal(times, 2)} times the seed: {verdict}"


def _too_rare(measured: Measured, level: str) -> Iterator[Finding]:
    chance = _reset_chance(measured, level)
    if 0 < chance < RAREST:
        yield measured.finding("TOP_AWARD_TOO_RARE", f"won whole {one_in(chance)} wagers", level)


def _break_even(measured: Measured) -> Iterator[Finding]:
    """The meter of a table with one level at which the wager returns itself; nothing where it never does."""
    levels = measured.table.levels
    shares = sum(
        (
            measured.chance(row) * Fraction(pay.percent_ppm, PPM_PER_WHOLE)
            for row, pay in _pays_of(measured, levels[0], PayKind.METER_PERCENT)
        )
        if len(levels) == 1
        else (),
        Fraction(0),
    )
    sure, _ = _expected(measured)
    if not shares or sure >= 1:
        return
    cents = (1 - sure) * measured.terms.wager_cents / shares
    yield measured.finding(
        "BREAK_EVEN",
        f"the wager of {format_cents(measured.terms.wager_cents)} returns itself at a meter of"
        f" {format_cents(math.floor(cents))} ({percent(sure)} without the meter)",
        levels[0],
    )


def _envy_per_other(measured: Measured) -> Fraction:
    """Expected envy that a player gets from each other player's hand, in wagers."""
    if measured.table.envy_to != "players":
        return Fraction(0)
    return _envy_mean(measured)


def _envy_mean(measured: Measured) -> Fraction:
    """Expected envy amount of one hand, in wagers, for each who receives it."""
    cents = sum((measured.chance(row) * row.envy_cents for row in measured.table.rows), Fraction(0))
    return cents * _envy_scale(measured) / measured.terms.wager_cents


def _envy_scale(measured: Measured) -> Fraction:
    return measured.scale if measured.table.envy_scales else Fraction(1)


def _envy(measured: Measured) -> Iterator[Finding]:
    """What envy costs at most in one round, every seat with a wager of one unit, and on average."""
    table, seats, dearest = measured.table, measured.terms.seats, measured.dearest
    receivers = seats - 1 if table.envy_to == "players" else 1
    if dearest is None or not dearest.holders or not receivers:
        return
    each = _envy_scale(measured) * receivers
    top = dearest.holders[0][0]
    hands = ", ".join(f"{count} × {row.hand}" for row, count in dearest.holders)
    at = f" at {dearest.game}" if len(table.games) > 1 else ""
    to = f"{receivers} others" if table.envy_to == "players" else "the dealer"
    yield measured.finding(
        "ENVY_FULL_TABLE",
        f"{seats} seats: one {top.hand} costs {money(top.envy_cents * each)} (to {to}), a round at most"
        f" {money(dearest.cents * each)}{at} ({hands}); on average"
        f" {percent(_envy_mean(measured) * receivers)} of each wager",
        top.hand,
    )
