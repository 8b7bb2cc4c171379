"""Pays as short text: how a pay-table file writes our reading of a printed cell.

100% meter · 10% mega        a share of the link's only level, or of a named one
500 for 1 · 250 to 1 · 2.5 to 1    odds, exact
$2,500 from meter · $100 from mega  a fixed sum out of a level
$1,000 · $1,000 unscaled     a fixed sum from the house; unscaled does not grow with the wager
push · loss
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from meterd.money import parse_money, parse_rate
from meterd.paytables.model import Pay, PayKind

#: The level name that means the link's only level.
ONLY_LEVEL: Final = "meter"

FORMS: Final = (
    "100% meter",
    "10% mega",
    "500 for 1",
    "250 to 1",
    "$2,500 from meter",
    "$1,000",
    "$1,000 unscaled",
    "push",
    "loss",
)

_SHARE: Final = re.compile(r"([0-9.]+%) ([a-z][a-z0-9-]*)")
_ODDS: Final = re.compile(r"([0-9,]+(?:\.[0-9]+)?) (to|for) ([0-9]+)")
_FIXED: Final = re.compile(r"\$([0-9,]+(?:\.[0-9]{2})?)( unscaled)?(?: from ([a-z][a-z0-9-]*))?")


def parse_pay(text: str) -> Pay:
    """One pay.

    Raises:
        ValueError: the text has none of the forms above, or an impossible number in one.
    """
    if text in {PayKind.PUSH.value, PayKind.LOSS.value}:
        return Pay(PayKind(text))
    if share := _SHARE.fullmatch(text):
        return Pay(PayKind.METER_PERCENT, percent_ppm=_some(parse_rate(share[1]), text), level=_level(share[2]))
    if odds := _ODDS.fullmatch(text):
        if int(odds[3]) == 0:
            raise ValueError(f"{text!r} divides by zero")
        ratio = Fraction(odds[1].replace(",", "")) / int(odds[3])
        kind = PayKind.ODDS_TO if odds[2] == "to" else PayKind.ODDS_FOR
        return Pay(kind, n=_some(ratio.numerator, text), d=ratio.denominator)
    if fixed := _FIXED.fullmatch(text):
        return Pay(
            PayKind.FIXED,
            cents=_some(parse_money(fixed[1]), text),
            scales=fixed[2] is None,
            from_meter=fixed[3] is not None,
            level=_level(fixed[3]) if fixed[3] else None,
        )
    raise ValueError(f"{text!r} is not a pay; the forms are: {' · '.join(FORMS)}")


def _some(amount: int, text: str) -> int:
    if amount == 0:
        raise ValueError(f"{text!r} pays nothing; write loss")
    return amount


def _level(name: str) -> str | None:
    return None if name == ONLY_LEVEL else name
