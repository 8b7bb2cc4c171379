"""Poker hands of one deck: ask whether some cards hold a category, or rank them.

Rule 1: each category is asked on its own (:meth:`PokerHand.find`), so any order of categories is a ranking.
Rule 2: cards are checked before they become masks: repeats, strangers, too few, too many.
Rule 3: of all ways to make a category the best ranks win, then the fewest wild cards, then the cards dealt first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final, NamedTuple

from .cards import ACE, JOKER, RANK_MIN, SUITS, Card, CardError, check_decks
from .masks import RANKS_IN_MASK, Levels, bit, ranks_of, run_mask, run_ranks, straight_tops
from .rankings import BUG, HIGH_CARD, LOW, RANKINGS, Ranking
from .values import HandValue
from .wild import best_groups, filled_flush

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


class Special(NamedTuple):
    """A name for another category, asked with a size or without wild cards."""

    category: str
    size: int | None
    natural: bool


SPECIALS: Final[dict[str, Special]] = {
    "natural-royal-flush": Special("royal-flush", None, natural=True),
    "seven-card-straight-flush": Special("straight-flush", 7, natural=True),
    "seven-card-straight-flush-with-joker": Special("straight-flush", 7, natural=False),
}


class Pick(NamedTuple):
    """Cards that a hand needs: ``ranks`` of one suit, or of any where ``suit`` is empty."""

    ranks: tuple[int, ...]
    suit: str = ""


#: What a question finds: the deciding ranks and the cards needed.
Found = tuple[tuple[int, ...], tuple[Pick, ...]]


class Holding:
    """The masks of some cards, suits in dealt order.

    ``wilds`` counts the wild cards; the others are in the masks. A bug is wild in straights and flushes and an ace in
    ``levels`` and ``sorted``, so ``spare`` does not count it again.
    """

    __slots__ = ("levels", "size", "sorted", "spare", "suits", "wheel", "wild_deuces", "wilds")

    def __init__(self, cards: Iterable[Card], ranking: Ranking, *, natural: bool = False) -> None:
        masks: dict[str, int] = {}
        ranks: list[int] = []
        self.wilds = self.wild_deuces = 0
        wild_ranks = () if natural else ranking.wild_ranks
        for rank_, suit in cards:
            if rank_ and rank_ not in wild_ranks:
                masks[suit] = masks.get(suit, 0) | 1 << (rank_ - RANK_MIN)
                ranks.append(rank_)
            elif not natural:
                self.wilds += 1
                self.wild_deuces += rank_ == RANK_MIN
        for suit in SUITS:
            masks.setdefault(suit, 0)
        self.suits = masks
        self.levels = Levels.of_masks(*masks.values())
        self.spare = self.wilds
        if self.wilds and ranking.wild == BUG:
            self.levels = self.levels.with_ace()
            ranks.append(ACE)
            self.spare -= 1
        ranks.sort(reverse=True)
        self.sorted = ranks
        self.size = ranking.size
        self.wheel = ranking.wheel

    @property
    def ranks(self) -> int:
        """All ranks of the natural cards."""
        clubs, diamonds, hearts, spades = self.suits.values()
        return clubs | diamonds | hearts | spades

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
    best, found = -1, None
    for suit, mask in hand.suits.items():
        natural = (mask & run_mask(ACE, size)).bit_count()
        if tops[mask] != ACE or natural <= best:
            continue
        for other, other_mask in hand.suits.items():
            if other != suit and other_mask & two == two:
                best, found = natural, ((ACE,), (Pick(run_ranks(ACE, size), suit), Pick(beside, other)))
    return found


def _flush(hand: Holding, size: int) -> Found | None:
    best = (0, 0)
    found: Found | None = None
    for suit, mask in hand.suits.items():
        filled = filled_flush(mask, hand.wilds, size)
        if (filled, (filled & mask).bit_count()) > best:
            best = filled, (filled & mask).bit_count()
            found = ranks_of(filled), (Pick(ranks_of(filled), suit),)
    return found


def _five_of_a_kind(hand: Holding, _size: int) -> Found | None:
    if hand.spare >= FIVE:
        return (ACE,), (Pick((ACE,) * FIVE),)
    enough = hand.levels[FIVE - 1 - hand.spare]
    rank_ = enough.bit_length() - 1 + RANK_MIN
    return ((rank_,), (Pick((rank_,) * FIVE),)) if enough else None


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
        for _ in range(count):
            if rank_ in rest:
                rest.remove(rank_)
            else:
                spare -= 1
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
        rank_ = free.bit_length() - 1 + RANK_MIN
        chosen.append(rank_)
        barred |= bit(rank_)
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

#: All that :meth:`PokerHand.find` can be asked for.
CATEGORIES: Final = (*QUESTIONS, *SPECIALS)


class PokerHand:
    """Some cards of one deck, to be asked what they hold. More cards than make a hand are allowed.

    Raises:
        CardError: too few or too many cards, a card twice, or a joker where the ranking has none.
        KeyError: there is no ranking of that name.
    """

    __slots__ = ("_holding", "_natural", "cards", "ranking")

    def __init__(self, cards: Sequence[Card], ranking: str | Ranking) -> None:
        self.ranking = RANKINGS[ranking] if isinstance(ranking, str) else ranking
        self.cards = tuple(cards)
        _check(self.cards, self.ranking)
        self._holding = Holding(self.cards, self.ranking)
        self._natural: Holding | None = None if self._holding.wilds else self._holding

    def find(self, category: str, size: int | None = None, *, natural: bool = False) -> HandValue | None:
        """The best hand of ``category`` that the cards hold, at least: four of a kind are also a pair. None for none.

        ``size`` cards make the straight, flush or straight flush instead of as many as the ranking says. ``natural``:
        every card plays as itself and a joker not at all. High card is held only where nothing above it in the
        ranking's order is.

        A value of another size, or of a category that the ranking's order does not list, compares only with its like.

        Raises:
            ValueError: there is no such category, or no run can have that size.
        """
        question, asked_size, asked_natural = SPECIALS.get(category, Special(category, size, natural))
        if question not in QUESTIONS:
            raise ValueError(f"there is no category {category!r}; there are {', '.join(CATEGORIES)}")
        if asked_size is not None and not 1 <= asked_size <= RANKS_IN_MASK:
            raise ValueError(f"no run or flush has {asked_size} cards: expected 1 to {RANKS_IN_MASK}")
        if question == HIGH_CARD and self.ranking.order[self._first()[0]] != HIGH_CARD:
            return None
        only_natural = natural or asked_natural
        found = QUESTIONS[question](self._of(natural=only_natural), asked_size or self.ranking.size)
        if found is None:
            return None
        return self._value(category, size, found, natural=only_natural)

    def best(self) -> HandValue:
        """The first category of the ranking's order that the cards hold."""
        place, found, natural = self._first()
        return self._value(self.ranking.order[place], None, found, natural=natural)

    def _first(self) -> tuple[int, Found, bool]:
        """Place in the order, what was found there, and whether only natural cards were asked."""
        for place, name in enumerate(self.ranking.order):
            category, size, natural = SPECIALS.get(name, Special(name, None, natural=False))
            found = QUESTIONS[category](self._of(natural=natural), size or self.ranking.size)
            if found is not None:
                return place, found, natural
        raise ValueError(f"ranking {self.ranking.name} has no category for every hand; end its order with high-card")

    def _of(self, *, natural: bool) -> Holding:
        if not natural:
            return self._holding
        if self._natural is None:
            self._natural = Holding(self.cards, self.ranking, natural=True)
        return self._natural

    def _value(self, category: str, size: int | None, found: Found, *, natural: bool) -> HandValue:
        tiebreak, picks = found
        order = self.ranking.order
        used, wilds = self._used(picks, natural=natural)
        if size in {None, self.ranking.size} and category in order:
            strength = len(order) - 1 - order.index(category)
            return HandValue(category, tiebreak, used, strength, self.ranking.name, wilds)
        apart = f"{self.ranking.name}: {category} of {size or self.ranking.size}"
        return HandValue(category, tiebreak, used, 0, apart, wilds)

    def _used(self, picks: Sequence[Pick], *, natural: bool) -> tuple[tuple[Card, ...], int]:
        """The cards needed, as dealt, and how many of them play as another card."""
        wild_ranks = () if natural else (JOKER.rank, *self.ranking.wild_ranks)
        places: list[int] = []
        stand_ins = 0
        for ranks, suit in picks:
            wanted = list(ranks)
            for wild in (False, True):  # natural cards first, then wild cards that are what is wanted
                for place, card in enumerate(self.cards):
                    if card.rank in wanted and (card.rank in wild_ranks) is wild and (not suit or card.suit == suit):
                        wanted.remove(card.rank)
                        places.append(place)
            for place, card in enumerate(self.cards):
                if wanted and card.rank in wild_ranks and place not in places:
                    wanted.pop()
                    places.append(place)
                    stand_ins += 1
        return tuple(self.cards[place] for place in sorted(places)), stand_ins


def rank(cards: Sequence[Card], ranking: str | Ranking) -> HandValue:
    """The best hand of ``ranking`` among cards of one deck; more cards than it needs are allowed.

    Raises:
        CardError: too few or too many cards, a card twice, or a joker where the ranking has none.
        KeyError: there is no ranking of that name.
    """
    return PokerHand(cards, ranking).best()


def longest_straight(cards: Sequence[Card]) -> tuple[int, int]:
    """Length and top of the longest run of ranks, the highest of equally long ones. An ace is high or low, never both.

    Raises:
        CardError: no card at all, a card twice, or a joker.
    """
    ranks = _checked(cards).ones
    for length in range(RANKS_IN_MASK, 1, -1):
        top = straight_tops(length)[ranks]
        if top:
            return length, top
    return 1, ranks_of(ranks)[0]


def longest_flush(cards: Sequence[Card]) -> tuple[int, str]:
    """Number of cards and suit of the longest flush, of equally long ones the one with the highest cards.

    Raises:
        CardError: no card at all, a card twice, or a joker.
    """
    _checked(cards)
    ranks = {suit: sorted((card.rank for card in cards if card.suit == suit), reverse=True) for _, suit in cards}
    suit = max(ranks, key=lambda each: (len(ranks[each]), ranks[each]))
    return len(ranks[suit]), suit


def _checked(cards: Sequence[Card]) -> Levels:
    """The levels of one or more cards of one deck without a joker."""
    if not cards:
        raise CardError("no card given: expected at least one")
    check_decks(cards)
    return Holding(cards, RANKINGS["five-card"]).levels


def _check(cards: tuple[Card, ...], ranking: Ranking) -> None:
    """Refuse cards that cannot be a hand of this ranking."""
    given = " ".join(map(str, cards)) or "none"
    if len(cards) < ranking.size:
        raise CardError(f"a {ranking.name} hand needs {ranking.size} cards; given: {given}")
    if len(cards) > ranking.most:
        raise CardError(f"a {ranking.name} hand is made of at most {ranking.most} cards; {len(cards)} given: {given}")
    check_decks(cards, jokers=ranking.jokers)
