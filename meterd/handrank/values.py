"""What ranking some cards gives: a value that compares, prints itself, and knows the cards that made it.

Higher is better. Equal means a tie; suits never break one, nor do wild cards. Values of two rankings do not compare.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import total_ordering

from .cards import RANK_MIN, RANKS, Card


@total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class HandValue:
    """A ranked hand: compare with ``<``, print it, use it as a key.

    ``tiebreak`` holds the ranks that decide within a category, ``cards_used`` the cards that made the hand, as dealt.
    ``strength`` counts the categories below this one; ``ranking`` names the order it belongs to. ``wilds`` of the
    cards used play as another card; of equal hands the one with fewest is taken.
    """

    category: str
    tiebreak: tuple[int, ...]
    cards_used: tuple[Card, ...]
    strength: int
    ranking: str
    wilds: int = 0

    def __eq__(self, other: object) -> bool:
        """A tie."""
        if not isinstance(other, HandValue) or other.ranking != self.ranking:
            return NotImplemented
        return (self.strength, self.tiebreak) == (other.strength, other.tiebreak)

    def __lt__(self, other: HandValue) -> bool:
        """Worse than the other hand."""
        if not isinstance(other, HandValue) or other.ranking != self.ranking:
            return NotImplemented
        return (self.strength, self.tiebreak) < (other.strength, other.tiebreak)

    def __hash__(self) -> int:
        """Tied hands hash alike."""
        return hash((self.ranking, self.strength, self.tiebreak))

    def __str__(self) -> str:
        """Category, deciding ranks and cards: ``full-house 9 K (9c 9d 9s Kd Kh)``."""
        ranks = [RANKS[rank - RANK_MIN] for rank in self.tiebreak]
        return f"{' '.join([self.category, *ranks])} ({' '.join(map(str, self.cards_used))})"
