"""What some cards of one deck hold of a category: the deciding ranks, and the cards that are needed for it.

Rule 1: each category is asked on its own, so any order of them is a ranking.
Rule 2: at least: four of a kind are also a pair, and a straight flush is also a straight.
Rule 3: of all ways to make a category the best ranks win, then the fewest wild cards, then the suit dealt first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final, NamedTuple

from .cards import ACE, JOKER, RANK_MIN, SUITS, Card
from .masks import Levels, bit, ranks_of, run_mask, run_ranks, straight_tops
from .rankings import BUG, LOW, Ranking
from .wild import best_groups, best_rank, filled_flush

FIVE: Final = 5

#: Groups of equal ranks that make a category; single cards fill the hand up, highest first.
GROUPS: Final[dict[str, tuple[int, ...]]] = {
    "four-of-a-kind": (4,),
    "full-house": (3, 2),
    "three-of-a-kind": (3,),
    "three-pair": (2, 2, 2),
    "two-pair": (2, 2),
    "pair": (2,),
}


class Pick(NamedTuple):
    """Cards that a hand needs: ``ranks`` of one suit, or of any where ``suit`` is empty."""

    ranks: tuple[int, ...]
    suit: str = ""


#: What a question finds: the deciding ranks and the cards needed.
Found = tuple[tuple[int, ...], tuple[Pick, ...]]


class Holding:
    """The masks of some cards, suits in dealt order; ``repeated``: a mask has lost a second copy of a card.

    ``wilds`` counts the wild cards; the others are in the masks. A bug is wild in straights and flushes and an ace in
    ``levels`` and ``sorted``, so ``spare`` does not count it again.
    """

    __slots__ = ("levels", "ranks", "repeated", "size", "sorted", "spare", "suits", "wheel", "wild_deuces", "wilds")

    def __init__(self, cards: Iterable[Card], ranking: Ranking, *, natural: bool = False) -> None:
        masks: dict[str, int] = {}
        ranks: list[int] = []
        wild: list[int] = []
        self.repeated = False
        wild_ranks = () if natural else ranking.wild_ranks
        for rank_, suit in cards:
            if rank_ and rank_ not in wild_ranks:
                held, own = masks.get(suit, 0), 1 << (rank_ - RANK_MIN)
                if held & own:
                    self.repeated = True
                masks[suit] = held | own
                ranks.append(rank_)
            elif not natural:
                wild.append(rank_)
        for suit in SUITS:
            if suit not in masks:
                masks[suit] = 0
        ranks.sort(reverse=True)
        levels = Levels.of_masks(*masks.values())
        self.suits = masks
        self.ranks = levels[0]
        self.wilds = self.spare = len(wild)
        self.wild_deuces = wild.count(RANK_MIN)
        if wild and ranking.wild == BUG:
            levels = levels.with_ace()
            ranks.insert(0, ACE)
            self.spare -= 1
        self.levels = levels
        self.sorted = ranks
        self.size = ranking.size
        self.wheel = ranking.wheel

    def runs(self, size: int) -> tuple[bytes, str]:
        """The table of runs for these cards, and the place of the wheel; only a run of the ranking's size moves it."""
        wheel = self.wheel if size == self.size else LOW
        return straight_tops(size, min(self.wilds, size), wheel), wheel


def _run_value(top: int, size: int, wheel: str) -> tuple[int, ...]:
    """What decides between runs. With the five-high straight second its ace counts, so two ranks decide."""
    return (top,) if wheel == LOW else tuple(sorted(run_ranks(top, size), reverse=True)[:2])


def _straight(hand: Holding, size: int) -> Found | None:
    tops, wheel = hand.runs(size)
    top = tops[hand.ranks]
    return (_run_value(top, size, wheel), (Pick(run_ranks(top, size)),)) if top else None


def _straight_flush(hand: Holding, size: int) -> Found | None:
    tops, wheel = hand.runs(size)
    best: tuple[int, ...] = ()
    found: Found | None = None
    for suit, mask in hand.suits.items():
        top = tops[mask]
        if top:
            value = _run_value(top, size, wheel)
            natural = (mask & run_mask(top, size)).bit_count()
            if (*value, natural) > best:
                best = (*value, natural)
                found = value, (Pick(run_ranks(top, size), suit),)
    return found


def _royal_flush(hand: Holding, size: int) -> Found | None:
    found = _straight_flush(hand, size)
    return found if found and found[1][0].ranks == run_ranks(ACE, size) else None


def _royal_and_two(beside: tuple[int, int], hand: Holding, size: int) -> Found | None:
    """A royal flush, and beside it two natural cards of another suit."""
    tops, _ = hand.runs(size)
    two = bit(beside[0]) | bit(beside[1])
    for suit, mask in hand.suits.items():
        if tops[mask] == ACE:
            for other, other_mask in hand.suits.items():
                if other != suit and other_mask & two == two:
                    return (ACE,), (Pick(run_ranks(ACE, size), suit), Pick(beside, other))
    return None


def _flush(hand: Holding, size: int) -> Found | None:
    best = (0, 0)
    found: Found | None = None
    for suit, mask in hand.suits.items():
        if mask.bit_count() + hand.wilds < size:
            continue
        filled = filled_flush(mask, hand.wilds, size)
        if (filled, (filled & mask).bit_count()) > best:
            best = filled, (filled & mask).bit_count()
            found = ranks_of(filled), (Pick(ranks_of(filled), suit),)
    return found


def _five_of_a_kind(hand: Holding, _size: int) -> Found | None:
    rank = best_rank(hand.levels, FIVE, hand.spare)
    return ((rank,), (Pick((rank,) * FIVE),)) if rank else None


def _five_aces(hand: Holding, _size: int) -> Found | None:
    aces = hand.levels.count(ACE) + hand.spare
    return ((ACE,), (Pick((ACE,) * FIVE),)) if aces >= FIVE else None


def _four_deuces(hand: Holding, _size: int) -> Found | None:
    deuces = hand.levels.count(RANK_MIN) + hand.wild_deuces
    return ((), (Pick((RANK_MIN,) * 4),)) if deuces == 4 else None


def _five_wilds(hand: Holding, _size: int) -> Found | None:
    return ((), (Pick((JOKER.rank,) * FIVE),)) if hand.wilds >= FIVE else None


def _groups(groups: tuple[int, ...], hand: Holding, _size: int) -> Found | None:
    ranks = _natural_groups(groups, hand.levels) if not hand.spare else best_groups(hand.levels, groups, hand.spare)
    if ranks is None:
        return None
    wanted: list[int] = []
    rest, spare = hand.sorted.copy(), hand.spare
    for rank_, count in zip(ranks, groups, strict=True):
        wanted += [rank_] * count
        held = min(count, rest.count(rank_))
        if held:
            first = rest.index(rank_)
            del rest[first : first + held]
        spare -= count - held
    single = ([ACE] * spare + rest)[: max(0, hand.size - len(wanted))]
    return (*ranks, *single), (Pick((*wanted, *single)),)


def _natural_groups(groups: Sequence[int], levels: Levels) -> tuple[int, ...] | None:
    """The highest rank for each group in turn. A rank that fits the first group fits no worse for the next."""
    chosen: list[int] = []
    barred = 0
    for count in groups:
        free = levels[count - 1] & ~barred
        if not free:
            return None
        place = free.bit_length() - 1
        barred |= 1 << place
        chosen.append(place + RANK_MIN)
    return tuple(chosen)


def _high_card(hand: Holding, _size: int) -> Found:
    ranks = tuple(([ACE] * hand.spare + hand.sorted)[: hand.size])
    return ranks, (Pick(ranks),)


#: category → what the cards hold of it. Each is asked on its own, so any order of them is a ranking.
QUESTIONS: Final[dict[str, Callable[[Holding, int], Found | None]]] = {
    "royal-flush": _royal_flush,
    "straight-flush": _straight_flush,
    "five-of-a-kind": _five_of_a_kind,
    "five-aces": _five_aces,
    "flush": _flush,
    "straight": _straight,
    **{category: partial(_groups, groups) for category, groups in GROUPS.items()},
    "four-deuces": _four_deuces,
    "five-wilds": _five_wilds,
    "royal-flush-and-suited-ace-king": partial(_royal_and_two, (ACE, ACE - 1)),
    "royal-flush-and-suited-king-queen": partial(_royal_and_two, (ACE - 1, ACE - 2)),
    "high-card": _high_card,
}
