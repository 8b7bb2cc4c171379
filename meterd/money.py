"""Money: whole microcents, rates in ppm, no fraction anywhere.

Rule 1: an amount is an ``int`` of microcents (1 cent = 1,000,000 microcents) or of cents; the name says which.
Rule 2: a rate is an ``int`` of ppm; cents × ppm is exact in microcents, so no division is ever needed to accrue.
Rule 3: a pay-out is whole cents, rounded down; the fraction stays where it was.
Units: ``*_microcents``, ``*_cents``, ``*_ppm``.
"""

from __future__ import annotations

import re
from typing import Final

MICROCENTS_PER_CENT: Final = 1_000_000
CENTS_PER_UNIT: Final = 100
PPM_PER_WHOLE: Final = 1_000_000

#: Largest amount accepted anywhere, in cents: $90 billion. As microcents it is 9.0e18, below the 9.22e18 of a
#: signed 64-bit integer, which is what the ledger's columns hold.
AMOUNT_CENTS_MAX: Final = 9_000_000_000_000
MICROCENTS_MAX: Final = AMOUNT_CENTS_MAX * MICROCENTS_PER_CENT

_MONEY = re.compile(r"(-?)(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d{1,2}))?")
_RATE = re.compile(r"(\d{1,3})(?:\.(\d{1,4}))?%")


def contribution_microcents(wager_cents: int, rate_ppm: int) -> int:
    """Share of a wager, exact, in microcents."""
    return wager_cents * rate_ppm


def to_microcents(cents: int) -> int:
    """Whole cents as microcents."""
    return cents * MICROCENTS_PER_CENT


def whole_cents(microcents: int) -> int:
    """What may be paid or shown of an amount: whole cents, rounded down. ``microcents`` must not be negative."""
    if microcents < 0:
        raise ValueError(f"whole_cents takes no negative amount: {microcents}")
    return microcents // MICROCENTS_PER_CENT


def percent_cents(display_microcents: int, share_ppm: int) -> int:
    """A percentage of a displayed meter, whole cents, rounded down.

    The share is taken of the whole cents on the sign, because that is what the player reads
    (CO 47.1-1099.11(10)(g): a share of the displayed jackpot).
    """
    return whole_cents(display_microcents) * share_ppm // PPM_PER_WHOLE


def parse_money(text: str) -> int:
    """``"1,234.56"`` or ``"1234.5"`` as cents.

    Raises:
        ValueError: not an amount, a fraction of a cent, or beyond ``AMOUNT_CENTS_MAX``.
    """
    match = _MONEY.fullmatch(text.strip())
    if match is None or not text.isascii():
        raise ValueError(f"{text!r} is not an amount in whole cents such as 1234.56")
    sign, units, cents = match.groups()
    value = int(units.replace(",", "")) * CENTS_PER_UNIT + int((cents or "0").ljust(2, "0"))
    if value > AMOUNT_CENTS_MAX:
        raise ValueError(f"{text} is above the largest amount, {format_cents(AMOUNT_CENTS_MAX)}")
    return -value if sign else value


def format_cents(cents: int) -> str:
    """Cents as ``1,234.56`` (with a leading minus where negative)."""
    sign = "-" if cents < 0 else ""
    units, rest = divmod(abs(cents), CENTS_PER_UNIT)
    return f"{sign}{units:,}.{rest:02d}"


def parse_rate(text: str) -> int:
    """``"2.375%"`` as ppm. More than four decimals of a percent are refused, never rounded.

    Raises:
        ValueError: not a percentage, too fine, or above 100 %.
    """
    match = _RATE.fullmatch(text.strip())
    if match is None or not text.isascii():
        raise ValueError(f"{text!r} is not a rate such as 12% or 2.375% (at most four decimals)")
    whole, part = match.groups()
    ppm = int(whole) * 10_000 + int((part or "0").ljust(4, "0"))
    if ppm > PPM_PER_WHOLE:
        raise ValueError(f"{text} is above 100%")
    return ppm


def format_rate(ppm: int) -> str:
    """A rate in ppm as ``2.375%``, no trailing zeros."""
    whole, part = divmod(ppm, 10_000)
    tail = f"{part:04d}".rstrip("0")
    return f"{whole}.{tail}%" if tail else f"{whole}%"
