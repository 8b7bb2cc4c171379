"""Hands that numbers make: spins of a wheel, rolls of two dice, over one round (PA 617b.4; CO 47.1-2399).

Rule 1: which number ends a round, and which row it has reached then, is the ranking core's answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from meterd.accounting.refusals import Refusal, Refused
from meterd.paytables.model import PayTable, Row


class Progress(NamedTuple):
    """How far some numbers have come. ``row`` is what they have reached once they have ended; None pays nothing."""

    length: int
    ended: bool
    row: Row | None


def by_numbers(table: PayTable) -> bool:
    """Whether spins or rolls make the hands of a pay table."""
    if table.evaluator is None:
        return False
    from meterd.paytables.evaluators import EVALUATORS  # noqa: PLC0415 - a fold without such tables never needs it

    return table.evaluator in EVALUATORS and EVALUATORS[table.evaluator].model in {"spins", "rolls"}


def by_cards(table: PayTable) -> bool:
    """Whether cards make the hands of a pay table: neither numbers, nor is it a list of wagers."""
    if table.evaluator is None:
        return False
    from meterd.paytables.evaluators import EVALUATORS  # noqa: PLC0415 - the ranking core loads when it is needed

    return table.evaluator in EVALUATORS and EVALUATORS[table.evaluator].model not in {"spins", "rolls", "wagers"}


def progress(table: PayTable, numbers: Sequence[str]) -> Progress | Refused:
    """What the numbers of a round make, or CARDS_DISAGREE where the last is no number of this game."""
    from meterd.paytables.evaluators import EVALUATORS  # noqa: PLC0415 - the ranking core loads when it is needed
    from meterd.paytables.outcome import outcome, reached_by  # noqa: PLC0415

    odd = next((number for number in numbers if number.split() != [number]), None)
    if odd is not None:
        return Refused(Refusal.CARDS_DISAGREE, f"{odd!r} is not one number", "Key the number again.")
    text = " ".join(numbers)
    try:
        streak, _ = reached_by(table, EVALUATORS[table.evaluator or ""], text)
        return Progress(streak.length, streak.ended, outcome(table, number=text).row if streak.ended else None)
    except ValueError as error:
        return Refused(Refusal.CARDS_DISAGREE, str(error), "Key the number again.")
