"""Evaluators: how the cards of a game become a hand value. A pay table names one of these.

``source``: ``cards`` are ranked as poker hands of ``ranking``, best hand of all that count; ``sevens`` reads a blackjack hand in
dealt order; ``streak`` reads spins. ``categories`` are what a row's ``match`` may name.
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
    ranking: str = ""
    cards_max: int = 0


EVALUATORS: Final[dict[str, Evaluator]] = {
    evaluator.name: evaluator
    for evaluator in (
        Evaluator("three-card", "cards", RANKINGS["three-card"].order, "three-card", 3),
        Evaluator("five-card", "cards", RANKINGS["five-card"].order, "five-card", 5),
        Evaluator("best-five-of-seven", "cards", RANKINGS["five-card"].order, "five-card", 7),
        Evaluator("sevens", "sevens", SEVENS),
        Evaluator("rising-streak", "streak", tuple(f"streak-{length}" for length in range(1, STREAK_MAX + 1))),
    )
}
