"""``rank``: which hand some cards make, how it compares, and which cards made it.

Higher is better. Equal means a tie; suits never break one. Values of two rankings do not compare.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import total_ordering
from typing import Final

from meterd.handrank.cards import ACE, JOKER, RANK_MIN, RANKS, Card, CardError, check_decks
from meterd.handrank.masks import Features, best_category, flush_suit, straight_flush_suit, straight_tops
from meterd.handrank.rankings import RANKINGS, Ranking

#: Groups of equal ranks that make a category; single cards fill the hand up, highest first.
GROUPS: Final[dict[str, tuple[int, ...]]] = {
    "four-of-a-kind": (4,),
    "full-house": (3, 2),
    "three-of-a-kind": (3,),
    "two-pair": (2, 2),
    "pair": (2,),
    "high-card": (),
}


@total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class HandValue:
    """A ranked hand: compare with ``<``, print it, use it as a key.

    ``tiebreak`` holds the ranks that decide within a category, ``cards_used`` the cards that made the hand, as dealt.
    ``strength`` counts the categories below this one; ``ranking`` names the order it belongs to.
    """

    category: str
    tiebreak: tuple[int, ...]
    cards_used: tuple[Card, ...]
    strength: int
    ranking: str

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


def rank(cards: Sequence[Card], ranking: str | Ranking) -> HandValue:
    """The best hand of ``ranking`` among cards of one deck; more cards than it needs are allowed.

    Raises:
        CardError: too few cards, a card twice, or a joker.
        KeyError: there is no ranking of that name.
    """
    order = RANKINGS[ranking] if isinstance(ranking, str) else ranking
    if len(cards) < order.size:
        given = " ".join(map(str, cards)) or "none"
        raise CardError(f"a {order.name} hand needs {order.size} cards; given: {given}")
    check_decks(cards)
    hand = Features.of_cards(cards)
    category = best_category(hand, order)
    tiebreak, used = _explain(category, hand, cards, order.size)
    return HandValue(category, tiebreak, used, len(order.order) - 1 - order.order.index(category), order.name)


def _explain(
    category: str, hand: Features, cards: Sequence[Card], size: int
) -> tuple[tuple[int, ...], tuple[Card, ...]]:
    """Deciding ranks, and the cards used in the order dealt."""
    if category in {"royal-flush", "straight-flush"}:
        top, suit = straight_flush_suit(hand, size)
        return (top,), _run([card for card in cards if card.suit == suit], top, size)
    if category == "straight":
        top = straight_tops(size)[hand.ranks1]
        return (top,), _run(cards, top, size)
    if category == "flush":
        suit = flush_suit(hand, size)
        ranks = sorted((card.rank for card in cards if card.suit == suit), reverse=True)[:size]
        return tuple(ranks), tuple(card for card in cards if card.suit == suit and card.rank in ranks)
    return _groups(GROUPS[category], cards, size)


def _run(cards: Sequence[Card], top: int, size: int) -> tuple[Card, ...]:
    """One card of each rank of a run; the first dealt where a rank occurs twice."""
    wanted = {ACE if rank == 1 else rank for rank in range(top - size + 1, top + 1)}
    used = []
    for card in cards:
        if card.rank in wanted:
            wanted.discard(card.rank)
            used.append(card)
    return tuple(used)


def _groups(groups: tuple[int, ...], cards: Sequence[Card], size: int) -> tuple[tuple[int, ...], tuple[Card, ...]]:
    """The highest rank for each group in turn, then the highest single cards."""
    rest = [card.rank for card in cards if card != JOKER]
    tiebreak: list[int] = []
    wanted: list[int] = []
    for count in groups:
        best = max(rank for rank in rest if rest.count(rank) >= count)
        tiebreak.append(best)
        wanted += [best] * count
        rest = [rank for rank in rest if rank != best]
    single = sorted(rest, reverse=True)[: size - len(wanted)]
    wanted += single
    used = []
    for card in cards:
        if card.rank in wanted:
            wanted.remove(card.rank)
            used.append(card)
    return (*tiebreak, *single), tuple(used)
