"""Streaks of roulette numbers that keep rising (PA 617b.4(f), (g)).

The first number starts the streak at length 1. Each number greater than the one before adds 1. The streak ends at a
number that is not greater, at 36, or at the longest length the pay table lists. With a double zero 0 < 00 < 1 < … < 36.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from .cards import CardError, quoted

#: All numbers of a double-zero wheel, lowest first.
WHEEL: Final = ("0", "00", *(str(number) for number in range(1, 37)))
_PLACE: Final = {number: place for place, number in enumerate(WHEEL)}


@dataclass(frozen=True, slots=True)
class Streak:
    """``length`` reached, whether it has ``ended``, and the ``numbers`` that built it."""

    length: int
    ended: bool
    numbers: tuple[str, ...]


def parse_spins(text: str) -> tuple[str, ...]:
    """Spins separated by spaces, in order.

    Raises:
        CardError: names the first thing that is no roulette number.
    """
    for word in text.split():
        _check_number(word)
    return tuple(text.split())


def _check_number(word: str) -> None:
    if word not in _PLACE:
        raise CardError(f"{quoted(word)} is not a roulette number: expected 0, 00 or 1 to 36")


def rising_streak(spins: Sequence[str], longest: int) -> Streak:
    """The streak that ``spins`` build; ``longest`` is the longest length the pay table lists.

    Raises:
        CardError: no spin at all, one that is no roulette number, or spins after the one that ended it.
        ValueError: the pay table lists no streak.
    """
    if longest < 1:
        raise ValueError(f"no streak has a length of {longest}: expected 1 or more")
    for spin in spins:
        _check_number(spin)
    if not spins:
        raise CardError("no spin given: expected the numbers in order, such as 00 4 9 9")
    built = [spins[0]]
    ended = _is_last(spins[0], 1, longest)
    for index, number in enumerate(spins[1:], start=1):
        if ended:
            raise CardError(f"the streak ended with {spins[index - 1]}; {number} comes after it")
        if _PLACE[number] <= _PLACE[built[-1]]:
            ended = True
        else:
            built.append(number)
            ended = _is_last(number, len(built), longest)
    return Streak(len(built), ended, tuple(built))


def _is_last(number: str, length: int, longest: int) -> bool:
    return number == WHEEL[-1] or length >= longest
