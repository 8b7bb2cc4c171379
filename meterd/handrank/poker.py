"""Poker hands of one deck: ask whether some cards hold a category, or rank them.

Rule: cards are checked before they become masks: repeats, strangers, too few, too many.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from .cards import JOKER, Card, CardError, check_decks, check_known, listed
from .masks import RANKS_IN_MASK, Levels, ranks_of, straight_tops
from .masks import category as five_card_place
from .questions import QUESTIONS, Found, Holding, Pick
from .rankings import HIGH_CARD, RANKINGS, Ranking
from .values import HandValue


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


_FIVE_CARD: Final = RANKINGS["five-card"]

#: All that :meth:`PokerHand.find` can be asked for.
CATEGORIES: Final = (*QUESTIONS, *SPECIALS)


class PokerHand:
    """Some cards of one deck, to be asked what they hold. More cards than make a hand are allowed.

    Raises:
        CardError: too few or too many cards, a card twice, a joker where the ranking has none, or no card at all.
        KeyError: there is no ranking of that name.
    """

    __slots__ = ("_holding", "_natural", "cards", "ranking")

    def __init__(self, cards: Sequence[Card], ranking: str | Ranking) -> None:
        self.ranking = RANKINGS[ranking] if isinstance(ranking, str) else ranking
        self.cards = tuple(cards)
        if not self.ranking.size <= len(self.cards) <= self.ranking.most:
            raise CardError(_wrong_number(self.cards, self.ranking))
        check_known(self.cards)
        self._holding = Holding(self.cards, self.ranking)
        if self._holding.repeated or (self._holding.wilds and _doubtful(self.cards, self.ranking)):
            check_decks(self.cards, jokers=self.ranking.jokers)
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
        place, (tiebreak, picks), natural = self._first()
        used, wilds = self._used(picks, natural=natural)
        order = self.ranking.order
        return HandValue(order[place], tiebreak, used, len(order) - 1 - place, self.ranking.name, wilds)

    def _first(self) -> tuple[int, Found, bool]:
        """Place in the order, what was found there, and whether only natural cards were asked."""
        order, size = self.ranking.order, self.ranking.size
        if self.ranking is _FIVE_CARD:
            place = five_card_place(*self._holding.suits.values())
            found = QUESTIONS[order[place]](self._holding, size)
            if found is not None:
                return place, found, False
        for place, name in enumerate(order):
            special = SPECIALS.get(name)
            found = QUESTIONS[name](self._holding, size) if special is None else self._special(special)
            if found is not None:
                return place, found, special is not None and special.natural
        raise ValueError(f"ranking {self.ranking.name} has no category for every hand; end its order with high-card")

    def _special(self, special: Special) -> Found | None:
        size = special.size or self.ranking.size
        found = QUESTIONS[special.category](self._holding, size)
        if found is None or not special.natural:
            return found
        return QUESTIONS[special.category](self._of(natural=True), size)

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
        if not self._holding.wilds and len(picks) == 1:
            return _dealt(picks[0], self.cards), 0
        return _dealt_wild(picks, self.cards, () if natural else (JOKER.rank, *self.ranking.wild_ranks))


def _dealt(pick: Pick, cards: tuple[Card, ...]) -> tuple[Card, ...]:
    """The natural cards needed, as dealt."""
    ranks, suit = pick
    wanted = list(ranks)
    if len(wanted) == len(cards):
        return cards
    used = []
    for card in cards:
        if card[0] in wanted and (not suit or card[1] == suit):
            wanted.remove(card[0])
            used.append(card)
    return tuple(used)


def _dealt_wild(
    picks: Sequence[Pick], cards: tuple[Card, ...], wild_ranks: tuple[int, ...]
) -> tuple[tuple[Card, ...], int]:
    """Natural cards first, then wild cards that are what is wanted, then wild cards as what is still missing."""
    places: list[int] = []
    stand_ins = 0
    for ranks, suit in picks:
        wanted = list(ranks)
        wild: list[int] = []
        for place, (rank_, own_suit) in enumerate(cards):
            if rank_ in wild_ranks:
                wild.append(place)
            elif rank_ in wanted and (not suit or own_suit == suit):
                wanted.remove(rank_)
                places.append(place)
        if not wanted:
            continue
        for place in wild:
            if cards[place].rank in wanted and (not suit or cards[place].suit == suit):
                wanted.remove(cards[place].rank)
                places.append(place)
        for place in [place for place in wild if place not in places][: len(wanted)]:
            places.append(place)
            stand_ins += 1
    return tuple(cards[place] for place in sorted(places)), stand_ins


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
    return Holding(cards, _FIVE_CARD).levels


def _doubtful(cards: tuple[Card, ...], ranking: Ranking) -> bool:
    """Whether a wild card occurs twice, or a joker where there is none: quick, and leaves the words to others."""
    return len(set(cards)) < len(cards) or cards.count(JOKER) > ranking.jokers


def _wrong_number(cards: tuple[Card, ...], ranking: Ranking) -> str:
    given = listed(cards)
    if len(cards) < ranking.size:
        return f"a {ranking.name} hand needs {ranking.size} cards; given: {given}"
    return f"a {ranking.name} hand is made of at most {ranking.most} cards; {len(cards)} given: {given}"
