"""Wild cards in closed form: what some natural cards and a number of wild ones make, with no card tried out.

A wild card plays as any card that is not in the hand; five of a kind alone may hold a card twice. A bug counts as one
more ace in groups of equal ranks (``Levels.with_ace``) and as one wild card in straights and flushes.
"""

from __future__ import annotations

from collections.abc import Sequence

from .cards import ACE, RANK_MIN
from .masks import ALL_RANKS, Levels, bit, top_bits


def filled_flush(mask: int, wilds: int, size: int) -> int:
    """The best ``size`` ranks of one suit: each wild card is the highest rank still missing. 0 with too few cards."""
    if mask.bit_count() + wilds < size:
        return 0
    return top_bits(mask | top_bits(ALL_RANKS & ~mask, wilds), size)


def missing(levels: Levels, groups: Sequence[int], barred: int = 0) -> int:
    """How few wild cards complete all groups, each of its own rank and none of a barred one.

    The largest group comes first and has three cards at most.
    """
    free = ALL_RANKS & ~barred
    ones, twos, threes = [(level & free).bit_count() for level in levels[:3]]
    return sum(max(0, group - (ones > place) - (twos > place) - (threes > place)) for place, group in enumerate(groups))


def best_rank(levels: Levels, group: int, wilds: int) -> int:
    """The best rank of which ``group`` cards can be had, 0 for none."""
    if wilds >= group:
        return ACE
    enough = levels[group - wilds - 1]
    return enough.bit_length() - 1 + RANK_MIN if enough else 0


def best_groups(levels: Levels, groups: Sequence[int], wilds: int) -> tuple[int, ...] | None:
    """The best rank for each group in turn, such that the wild cards still complete the rest; None if they cannot."""
    if len(groups) == 1:
        rank = best_rank(levels, groups[0], wilds)
        return (rank,) if rank else None
    if missing(levels, groups) > wilds:
        return None
    chosen: list[int] = []
    barred = 0
    for place, group in enumerate(groups):
        for rank in range(ACE, RANK_MIN - 1, -1):
            if barred & bit(rank):
                continue
            left = wilds - max(0, group - levels.count(rank))
            if left >= missing(levels, groups[place + 1 :], barred | bit(rank)):
                chosen.append(rank)
                barred |= bit(rank)
                wilds = left
                break
    return tuple(chosen)
