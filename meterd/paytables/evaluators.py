"""Evaluators: how the cards of a game become a hand value. A pay table names one of these.

``source``: ``cards`` are ranked as poker hands of ``ranking``, best hand of all that count; ``sevens`` reads a
blackjack hand as dealt; ``streak`` reads spins. A row's ``match`` may name its ``categories`` and ``qualifiers``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from meterd.handrank.rankings import RANKINGS
from meterd.handrank.shoe import SEVENS

#: Longest streak any wheel allows: one box for each of the 38 numbers in rising order.
STREAK_MAX: Final = 38


@dataclass(frozen=True, slots=True)
class Evaluator:
    """``cards_max``: of own and community cards in dealt order, only so many count."""

    name: str
    source: str
    categories: tuple[str, ...]
    qualifiers: tuple[str, ...] = ()
    ranking: str = ""
    cards_max: int = 0


def _poker(name: str, ranking: str, cards_max: int) -> Evaluator:
    qualifiers = ("top", "suit", "suited", "one-color", "first", "board", "own")
    return Evaluator(name, "cards", RANKINGS[ranking].order, qualifiers, ranking, cards_max)


EVALUATORS: Final[dict[str, Evaluator]] = {
    evaluator.name: evaluator
    for evaluator in (
        _poker("three-card", "three-card", 3),
        _poker("five-card", "five-card", 5),
        _poker("best-five-of-seven", "five-card", 7),
        Evaluator("sevens", "sevens", SEVENS, ("suit", "suited", "one-color")),
        Evaluator("rising-streak", "streak", tuple(f"streak-{length}" for length in range(1, STREAK_MAX + 1))),
    )
}
