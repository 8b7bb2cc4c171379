"""Wheels: pockets of a roulette wheel, sections of a money wheel, and the chance of a bet on them.

Units: chances are fractions of a fair wheel. Which numbers a bet covers is the layout's; here only how many count.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from .cards import CardError
from .dice import Chance
from .streak import WHEEL

#: Sections of the Big Six wheel by symbol (CO 30-2702(1)): 54 in all.
BIG_SIX: Final[dict[str, int]] = {"$1": 23, "$2": 15, "$5": 8, "$10": 4, "$20": 2, "flag": 1, "joker": 1}

#: First words of the bets that :func:`chance` knows.
WORDS: Final = ("pockets", "sections")

_DOUBLE_ZERO: Final = "00"
_EXPECTED: Final = (
    "expected pockets:N with N of the 37 or 38 pockets, pockets:5/38 for a bet of one wheel only,"
    " or sections:N/ALL such as sections:23/54"
)


class NotOnThisWheel(CardError):  # noqa: N818 - a fact about the wheel, not a fault
    """The bet exists on the other roulette wheel only."""


def pockets(*, double_zero: bool) -> tuple[str, ...]:
    """The numbers of a wheel, lowest first: 38 with a double zero, else 37."""
    return WHEEL if double_zero else tuple(number for number in WHEEL if number != _DOUBLE_ZERO)


def chance(bet: str, *, double_zero: bool) -> Chance:
    """The chance of ``pockets:18`` on that roulette wheel, or of ``sections:23/54`` on a money wheel.

    ``pockets:5/38`` exists on a wheel of 38 pockets only: the five numbers that need a double zero.

    Raises:
        NotOnThisWheel: the bet needs the other wheel.
        CardError: names what was given and what was expected.
    """
    word, _, text = bet.partition(":")
    if word == "pockets":
        part, slash, whole = text.partition("/")
        here = str(len(pockets(double_zero=double_zero)))
        if slash and whole not in {"37", "38"}:
            raise CardError(f"{bet!r}: no wheel has {whole!r} pockets: {_EXPECTED}")
        share = _share(bet, part, whole or here)
        if slash and whole != here:
            raise NotOnThisWheel(f"{bet!r} is a bet on a wheel of {whole} pockets; this one has {here}")
        return share
    if word == "sections":
        part, _, whole = text.partition("/")
        return _share(bet, part, whole)
    raise CardError(f"{bet!r} is not a bet on a wheel: {_EXPECTED}")


def _share(bet: str, part: str, whole: str) -> Chance:
    for text in (part, whole):
        if not (text.isascii() and text.isdigit() and not text.startswith("0")):
            raise CardError(f"{bet!r}: {text!r} is not a whole number: {_EXPECTED}")
    if int(part) > int(whole):
        raise CardError(f"{bet!r}: {part} of {whole} is more than the wheel has: {_EXPECTED}")
    return Chance(Fraction(int(part), int(whole)))
