"""Shoe hands: several decks, so a card may occur twice. Cards are a multiset here; masks hold ranks only.

Rule 1: a category is asked on its own (:meth:`ShoeHand.find`), so the order of a pay table's rows is the order of its
game; :func:`rank_shoe` compares hands where there is no pay table.
Rule 2: how many copies a shoe holds is checked before the cards come here (``check_decks``). There are no jokers.
Rule 3: a run of ranks ignores second cards of a rank; a flush counts them (CO 47.1-2107: a flush may hold a pair or
three of a kind). A royal flush is the highest run of its size in one suit: A-K-Q-J for four cards
(CO 47.1-1099.38, Quick Draw (3)), A-K-Q for three.
Rule 4: two pair are two ranks, a full house is two ranks: four sevens are no two pair.

Sevens (CO 47.1-899.13(11), (18)): only the player's own hand counts, as dealt. The first three cards decide: three
sevens total 21, so a card that busts the hand is never one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import combinations, product
from typing import Final

from .cards import ACE, JOKER, RED, Card, CardError, check_known, listed
from .masks import bit, run_mask, run_ranks, run_tops
from .values import HandValue

SEVEN: Final = 7

#: Categories of :func:`sevens`, best first.
SEVENS: Final = ("three-sevens", "two-sevens", "one-seven", "no-seven")

#: Cards of equal rank that make a category, each group of its own rank; single cards fill the hand up, highest first.
GROUPS: Final[dict[str, tuple[int, ...]]] = {
    "five-of-a-kind": (5,),
    "four-of-a-kind": (4,),
    "full-house": (3, 2),
    "three-pair": (2, 2, 2),
    "three-of-a-kind": (3,),
    "two-pair": (2, 2),
    "pair": (2,),
}

#: Number of cards in a hand → its categories, best first. Two and three cards: the rarer in six and eight decks, the
#: better. Four and five cards: the usual order of one deck, and five of a kind above four.
SHOE_ORDERS: Final[dict[int, tuple[str, ...]]] = {
    2: ("straight-flush", "pair", "straight", "flush", "high-card"),
    3: ("straight-flush", "three-of-a-kind", "straight", "flush", "pair", "high-card"),
    4: (
        "four-of-a-kind",
        "straight-flush",
        "three-of-a-kind",
        "flush",
        "straight",
        "two-pair",
        "pair",
        "high-card",
    ),
    5: (
        "royal-flush",
        "straight-flush",
        "five-of-a-kind",
        "four-of-a-kind",
        "full-house",
        "flush",
        "straight",
        "three-of-a-kind",
        "two-pair",
        "pair",
        "high-card",
    ),
}


class ShoeHand:
    """Cards as dealt, repeats welcome, of which the best ``size`` make the hand (all of them if no size is given).

    ``order`` lists the categories the hand is compared by, best first; only ``high-card`` depends on it.

    Raises:
        CardError: fewer than ``size`` cards, no card, a joker, or what is no card at all.
        ValueError: a size below 1.
    """

    __slots__ = ("_by_rank", "_by_suit", "cards", "order", "size")

    def __init__(self, cards: Sequence[Card], size: int | None = None, order: Sequence[str] = ()) -> None:
        self.cards = tuple(cards)
        self.size = len(self.cards) if size is None else size
        _check_size(size)
        if len(self.cards) < max(self.size, 1):
            raise CardError(f"a hand of {max(self.size, 1)} needs as many cards; given: {listed(self.cards)}")
        check_known(self.cards)
        if JOKER in self.cards:
            raise CardError(f"{JOKER} in {listed(self.cards)}, but a shoe holds no joker")
        self.order = tuple(order) or SHOE_ORDERS.get(self.size, SHOE_ORDERS[5])
        by_rank: dict[int, list[int]] = {}  # places in the order dealt
        by_suit: dict[str, list[int]] = {}
        for place, card in enumerate(self.cards):
            by_rank.setdefault(card.rank, []).append(place)
            by_suit.setdefault(card.suit, []).append(place)
        self._by_rank = dict(sorted(by_rank.items(), reverse=True))
        self._by_suit = by_suit

    def find(self, category: str, size: int | None = None, *, suited: bool = False) -> HandValue | None:
        """The best hand of ``category`` among the cards, or None; it may hold better categories as well.

        ``size`` makes the hand (and its run or flush) that many cards instead of the hand's own size. ``suited`` asks
        for the cards that make the category (not those that fill it up) in one suit: a suited pair.

        Raises:
            KeyError: there is no such category.
            ValueError: a size below 1.
        """
        for value in self.each(category, size):
            if not suited or same_suit(makers(value)):
                return value
        return None

    def each(self, category: str, size: int | None = None) -> Iterator[HandValue]:
        """Every reading of the cards as ``category``, best first: each rank, run, suit and choice of cards.

        A condition on a hand ("a pair of kings", "with the ace of spades") is to be tried on each reading: nines may
        be a suited pair beside a higher pair that is not. Between equal readings, cards dealt earlier come first.

        Raises:
            KeyError: there is no such category.
        """
        _check_size(size)
        wanted = self.size if size is None else size
        if wanted > len(self.cards):
            return
        if category in GROUPS:
            readings = self._groups(GROUPS[category], wanted)
        elif category in _OTHERS:
            readings = _OTHERS[category](self, wanted)
        else:
            raise KeyError(f"no category {category!r}; expected one of {' '.join((*GROUPS, *_OTHERS))}")
        strength, name = _strength(category, self.order), _name(self.size, self.order)
        for tiebreak, places in readings:
            used = tuple([self.cards[place] for place in sorted(places)])
            yield HandValue(category, tiebreak, used, strength, name)

    def _groups(self, groups: tuple[int, ...], size: int) -> Iterator[Reading]:
        left = size - sum(groups)
        if left < 0:
            return
        for ranks in _choose(groups, self._by_rank, ()):
            rest = [place for rank, places in self._by_rank.items() if rank not in ranks for place in places][:left]
            tiebreak = (*ranks, *(self.cards[place].rank for place in rest))
            choices = [combinations(self._by_rank[rank], count) for rank, count in zip(ranks, groups, strict=True)]
            for chosen in product(*choices):
                yield tiebreak, [*(place for group in chosen for place in group), *rest]

    def _straights(self, size: int) -> Iterator[Reading]:
        for top in held_runs(self._by_rank.keys(), size):
            for places in product(*(self._by_rank[rank] for rank in run_ranks(top, size))):
                yield (top,), places

    def _straight_flushes(self, size: int, top: int = 0) -> Iterator[Reading]:
        found = []
        for suit, places in self._by_suit.items():
            if len(places) < size:
                continue
            first: dict[int, int] = {}
            for place in places:
                first.setdefault(self.cards[place].rank, place)
            found += [
                (high, suit, [first[rank] for rank in run_ranks(high, size)])
                for high in held_runs(first.keys(), size)
                if top in {0, high}
            ]
        for high, _suit, run in sorted(found, key=lambda one: -one[0]):
            yield (high,), run

    def _royal_flushes(self, size: int) -> Iterator[Reading]:
        return self._straight_flushes(size, ACE)

    def _flushes(self, size: int) -> Iterator[Reading]:
        """Every choice of ranks in every suit, best first; of suits alike the one dealt first."""
        suits = [_choices(self.cards, places, size) for places in self._by_suit.values()]
        heads = {suit: head for suit, choices in enumerate(suits) if (head := next(choices, None))}
        while heads:
            best = max(heads, key=lambda suit: heads[suit][0])
            yield heads[best]
            following = next(suits[best], None)
            if following:
                heads[best] = following
            else:
                del heads[best]

    def _high_cards(self, size: int) -> Iterator[Reading]:
        above = self.order[: self.order.index("high-card")] if "high-card" in self.order else self.order
        if any(self.find(category, size) for category in above):
            return
        best = [place for places in self._by_rank.values() for place in places][:size]
        yield tuple([self.cards[place].rank for place in best]), best


#: Deciding ranks, and places of the cards used.
Reading = tuple[tuple[int, ...], Sequence[int]]

_OTHERS: Final = {
    "royal-flush": ShoeHand._royal_flushes,  # noqa: SLF001 - the class's own table of readings
    "straight-flush": ShoeHand._straight_flushes,  # noqa: SLF001
    "flush": ShoeHand._flushes,  # noqa: SLF001
    "straight": ShoeHand._straights,  # noqa: SLF001
    "high-card": ShoeHand._high_cards,  # noqa: SLF001
}


def rank_shoe(cards: Sequence[Card], size: int | None = None, order: Sequence[str] = ()) -> HandValue:
    """The best hand of ``size`` cards, compared by ``order`` (default: :data:`SHOE_ORDERS` of that size).

    Raises:
        CardError: fewer than ``size`` cards, no card, or a joker.
        ValueError: no order for that size is known and none given, or the order names nothing for these cards.
        KeyError: the order names an unknown category.
    """
    hand = ShoeHand(cards, size, order)
    if not order and hand.size not in SHOE_ORDERS:
        known = ", ".join(map(str, SHOE_ORDERS))
        raise ValueError(f"no order for hands of {hand.size} cards: give one, or a size of {known}")
    for category in hand.order:
        value = hand.find(category)
        if value is not None:
            return value
    raise ValueError(f"the order {' '.join(hand.order)} has no category for {listed(cards)}; end it with high-card")


def _check_size(size: int | None) -> None:
    if size is not None and size < 1:
        raise ValueError(f"no hand has {size} cards: expected 1 or more")


def makers(value: HandValue) -> tuple[Card, ...]:
    """The cards that make the category, without those that only fill the hand up: the two nines of a pair."""
    if value.category not in GROUPS:
        return value.cards_used
    ranks = value.tiebreak[: len(GROUPS[value.category])]
    return tuple([card for card in value.cards_used if card.rank in ranks])


def held_runs(ranks: AbstractSet[int], size: int) -> list[int]:
    """Tops of all runs of ``size`` different ranks that are held, highest first; an ace also plays below the deuce."""
    if len(ranks) < size:
        return []
    missing = ~sum(bit(rank) for rank in ranks)
    return [top for top in reversed(run_tops(size)) if not run_mask(top, size) & missing]


def same_suit(cards: Sequence[Card]) -> bool:
    """All of one suit."""
    return len({card.suit for card in cards}) == 1


def same_color(cards: Sequence[Card]) -> bool:
    """All red or all black."""
    return len({card.suit in RED for card in cards}) == 1


def sevens(cards: Sequence[Card]) -> HandValue:
    """Sevens in dealt order: all of the first three cards, both of the first two, or one of the first two.

    Raises:
        CardError: fewer than two cards.
    """
    check_known(cards)
    if len(cards) < 2:
        raise CardError(f"a blackjack hand has at least two cards; given: {listed(cards)}")
    first_two = tuple(card for card in cards[:2] if card.rank == SEVEN)
    if len(first_two) == 2 and len(cards) > 2 and cards[2].rank == SEVEN:
        return _sevens("three-sevens", tuple(cards[:3]))
    return _sevens({2: "two-sevens", 1: "one-seven", 0: "no-seven"}[len(first_two)], first_two)


def _sevens(category: str, used: tuple[Card, ...]) -> HandValue:
    return HandValue(category, (), used, len(SEVENS) - 1 - SEVENS.index(category), "sevens")


def _choose(
    groups: tuple[int, ...], by_rank: dict[int, list[int]], chosen: tuple[int, ...]
) -> Iterator[tuple[int, ...]]:
    """Ranks for the groups, highest first; of two groups of one size the higher comes first."""
    if len(chosen) == len(groups):
        yield chosen
        return
    count = groups[len(chosen)]
    below = chosen[-1] if chosen and groups[len(chosen) - 1] == count else ACE + 1
    for rank, places in by_rank.items():
        if rank < below and rank not in chosen and len(places) >= count:
            yield from _choose(groups, by_rank, (*chosen, rank))


def _choices(cards: Sequence[Card], places: Sequence[int], size: int) -> Iterator[Reading]:
    """Every choice of ranks among cards of one suit, best first: which copy of a card it is makes no difference."""
    seen: set[tuple[int, ...]] = set()
    for chosen in combinations(sorted(places, key=lambda place: -cards[place].rank), size):
        ranks = tuple([cards[place].rank for place in chosen])
        if ranks not in seen:
            seen.add(ranks)
            yield ranks, chosen


@cache
def _strength(category: str, order: tuple[str, ...]) -> int:
    """Categories of the order below this one; a royal counts as the straight flush where it has no place of its own."""
    if category not in order and category == "royal-flush":
        category = "straight-flush"
    return len(order) - 1 - order.index(category) if category in order else -1


@cache
def _name(size: int, order: tuple[str, ...]) -> str:
    usual = SHOE_ORDERS.get(size, SHOE_ORDERS[5])
    return f"shoe-{size}" if order == usual else f"shoe-{size}: {' '.join(order)}"
