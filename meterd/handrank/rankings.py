"""Category orders: data, best first. A game that orders its hands otherwise is one more entry here.

A category that is left out of an order is not seen: its cards count as the next category that holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Ranking:
    """``size`` cards make a hand; ``order`` lists its categories, best first."""

    name: str
    size: int
    order: tuple[str, ...]


RANKINGS: Final[dict[str, Ranking]] = {
    ranking.name: ranking
    for ranking in (
        Ranking(
            "five-card",
            5,
            (
                "royal-flush",
                "straight-flush",
                "four-of-a-kind",
                "full-house",
                "flush",
                "straight",
                "three-of-a-kind",
                "two-pair",
                "pair",
                "high-card",
            ),
        ),
        # With three cards a straight is rarer than a flush, and three of a kind rarer than both.
        Ranking("three-card", 3, ("straight-flush", "three-of-a-kind", "straight", "flush", "pair", "high-card")),
    )
}
