"""Pays as short text: how a pay-table file writes our reading of a printed cell.

100% meter · 10% mega        a share of the link's only level, or of a named one
500 for 1 · 250 to 1 · 2.5 to 1    odds, exact
$2,500 from meter · $100 from mega  a fixed sum out of a level
$1,000 · $1,000 unscaled     a fixed sum from the house; unscaled does not grow with the wager
push · loss
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from meterd.money import PPM_PER_WHOLE, format_cents, format_rate, parse_money, parse_rate
from meterd.paytables.model import Pay, PayKind
from meterd.paytables.place import shown

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
_NUMBER: Final = r"(?:[0-9]{1,3}(?:,[0-9]{3}){1,3}|[0-9]{1,12})"
_ODDS: Final = re.compile(rf"({_NUMBER}(?:\.[0-9]{{1,6}})?) (to|for) ([0-9]{{1,6}})")
_FIXED: Final = re.compile(rf"\$({_NUMBER}(?:\.[0-9]{{2}})?)( unscaled)?(?: from ([a-z][a-z0-9-]*))?")


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
    raise ValueError(f"{shown(text)!r} is not a pay; the forms are: {' · '.join(FORMS)}")


def pay_text(pay: Pay) -> str:
    """A pay as a file writes it, for a person: the inverse of :func:`parse_pay`."""
    level = pay.level or ONLY_LEVEL
    match pay.kind:
        case PayKind.METER_PERCENT:
            return f"{format_rate(pay.percent_ppm)} {level}"
        case PayKind.FIXED:
            amount = format_cents(pay.cents).removesuffix(".00")
            return f"${amount}{'' if pay.scales else ' unscaled'}{f' from {level}' if pay.from_meter else ''}"
        case PayKind.ODDS_TO:
            return f"{pay.n:,} to {pay.d}"
        case PayKind.ODDS_FOR:
            return f"{pay.n:,} for {pay.d}"
        case _:
            return pay.kind.value


def check_sum(pays: Sequence[Pay]) -> None:
    """Refuse pays that cannot be one row's together.

    Raises:
        ValueError: push or loss beside another pay, the same pay or two odds, or more of a level than it holds.
    """
    if len(pays) < 2:
        return
    alone = [pay.kind.value for pay in pays if pay.kind in {PayKind.PUSH, PayKind.LOSS}]
    if alone:
        raise ValueError(f"{alone[0]} stands alone: a row that is a {alone[0]} pays nothing else")
    if len(set(pays)) < len(pays):
        raise ValueError("the same pay stands twice; write one pay with the sum of both")
    if sum(pay.kind in {PayKind.ODDS_TO, PayKind.ODDS_FOR} for pay in pays) > 1:
        raise ValueError("a row has one pay in odds; write both as one")
    for level in {pay.level for pay in pays}:
        of_level = [pay for pay in pays if pay.level == level]
        share = sum(pay.percent_ppm for pay in of_level)
        if share > PPM_PER_WHOLE or (share == PPM_PER_WHOLE and any(pay.from_meter for pay in of_level)):
            raise ValueError(f"the pays take more than all of the level {level or ONLY_LEVEL}")


def _some(amount: int, text: str) -> int:
    if amount == 0:
        raise ValueError(f"{text!r} pays nothing; write loss")
    return amount


def _level(name: str) -> str | None:
    return None if name == ONLY_LEVEL else name
