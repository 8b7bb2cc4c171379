"""Category orders: data, best first. A game that orders its hands otherwise is one more entry here.

A category that is left out of an order is not seen: its cards count as the next category that holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

#: What the joker is (``Ranking.wild``), and where the five-high straight stands (``Ranking.wheel``).
BUG: Final = "bug"
FULL: Final = "full"
LOW: Final = "low"
SECOND: Final = "second"

#: The category that every hand is left with.
HIGH_CARD: Final = "high-card"


@dataclass(frozen=True, slots=True)
class Ranking:
    """``size`` cards make a hand, chosen from at most ``most``; ``order`` lists the categories, best first.

    ``wild``: what the one joker of the deck is. Empty: there is none. ``bug``: it completes a straight, a flush or a
    straight flush, else it is an ace. ``full``: it is any card. Cards of a rank in ``wild_ranks`` are any card too.
    ``wheel``: the place of A-2-3-4-5 among the straights, ``low`` or ``second``.
    """

    name: str
    size: int
    order: tuple[str, ...]
    wild: str = ""
    wild_ranks: tuple[int, ...] = ()
    wheel: str = LOW
    most: int = 7

    @property
    def jokers(self) -> int:
        """How many jokers the deck holds."""
        return 1 if self.wild else 0


FIVE_CARD: Final = (
    "royal-flush",
    "straight-flush",
    "four-of-a-kind",
    "full-house",
    "flush",
    "straight",
    "three-of-a-kind",
    "two-pair",
    "pair",
    HIGH_CARD,
)

#: Fortune Pai Gow's bonus (CO 47.1-1099.37(1)): three of a kind above a straight. Its royal match is a king and a
#: queen of one suit; three pair is printed below the straight.
FORTUNE: Final = (
    "seven-card-straight-flush",
    "royal-flush-and-suited-king-queen",
    "seven-card-straight-flush-with-joker",
    "five-of-a-kind",
    "royal-flush",
    "straight-flush",
    "four-of-a-kind",
    "full-house",
    "flush",
    "three-of-a-kind",
    "straight",
    "three-pair",
    "two-pair",
    "pair",
    HIGH_CARD,
)

RANKINGS: Final[dict[str, Ranking]] = {
    ranking.name: ranking
    for ranking in (
        Ranking("five-card", 5, FIVE_CARD),
        # With three cards a straight is rarer than a flush, and three of a kind rarer than both.
        Ranking("three-card", 3, ("straight-flush", "three-of-a-kind", "straight", "flush", "pair", HIGH_CARD)),
        Ranking(
            "four-card",
            4,
            (
                "four-of-a-kind",
                "straight-flush",
                "three-of-a-kind",
                "flush",
                "straight",
                "two-pair",
                "pair",
                HIGH_CARD,
            ),
        ),
        Ranking("fortune", 5, FORTUNE, wild=BUG),
        # CO 47.1-1099.36(35)(o) note: the five-high straight is the second highest.
        Ranking("pai-gow", 5, ("five-of-a-kind", *FIVE_CARD), wild=BUG, wheel=SECOND),
        # High Five (CO 47.1-1099.32(16)): five aces above the royal.
        Ranking("five-card-bug", 5, ("five-of-a-kind", *FIVE_CARD), wild=BUG),
        Ranking("joker-wild", 5, ("natural-royal-flush", "five-of-a-kind", *FIVE_CARD), wild=FULL),
        Ranking(
            "deuces-wild",
            5,
            ("natural-royal-flush", "four-deuces", "royal-flush", "five-of-a-kind", *FIVE_CARD[1:]),
            wild_ranks=(2,),
        ),
        # DJ Wild: a royal, natural or not, is one category, above five of a kind.
        Ranking(
            "deuces-and-joker-wild",
            5,
            ("five-wilds", "royal-flush", "five-of-a-kind", *FIVE_CARD[1:]),
            wild=FULL,
            wild_ranks=(2,),
        ),
    )
}
