"""Which row some cards earn: the rows of one table, read once and then asked of many deals.

Rule 1: rows are asked in the order of :attr:`PayTable.trial_order`; the first offered row that holds is the hand.
Rule 2: nothing is parsed or checked here. ``outcome`` checks what people write; a program that goes through millions
of deals of its own making (a par sheet) calls :func:`decide_row`, or keeps one :class:`Decider`.
Rule 3: a row that depends on dealer's cards which are not known is neither won nor lost: :class:`NeedsDealer`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Final, NamedTuple, Protocol

from meterd.handrank.badbeat import STRAIGHT_MIN, two_way_bad_beat
from meterd.handrank.blackjack import unbusted
from meterd.handrank.cards import Card, CardError
from meterd.handrank.poker import PokerHand
from meterd.handrank.rankings import RANKINGS, Ranking
from meterd.handrank.shoe import ShoeHand, sevens
from meterd.handrank.values import HandValue
from meterd.paytables.evaluators import BAD_BEAT_DEALER, EVALUATORS, Evaluator
from meterd.paytables.match import Match, Scope, parse_match
from meterd.paytables.model import PayTable, Row
from meterd.paytables.qualifiers import Condition, Deal

#: A shoe hand is made of all cards looked at, or of five where there are more.
SHOE_HAND_MAX: Final = 5


class NeedsDealer(CardError):  # noqa: N818 - something is missing, nothing is wrong
    """A row depends on dealer's cards: ``row`` is its index, ``cards`` how many must be known."""

    def __init__(self, row: int, cards: int) -> None:
        super().__init__(f"row {row + 1} depends on the dealer's first {cards} cards")
        self.row = row
        self.cards = cards


class Decision(NamedTuple):
    """``row``: index into the table's rows, None where no row holds. A row that pays a loss is a row."""

    row: int | None
    cards_used: tuple[Card, ...] = ()
    category: str = ""


class Hand(Protocol):
    """What a model makes of cards: its categories, each asked on its own."""

    def find(self, category: str, size: int | None = None) -> HandValue | None:
        """The best hand of this category, or None."""


class Ask(NamedTuple):
    """One alternative of one row, ready to be asked. ``least``: fewer cards than this cannot hold it."""

    scope: int
    category: str
    length: int | None
    least: int
    conditions: tuple[Condition, ...]


class Look(NamedTuple):
    """The cards of a scope, and what the model makes of them (None where no category is asked of them)."""

    cards: tuple[Card, ...]
    hand: Hand | None


class Decider:
    """The rows of one table with an evaluator of cards, read once."""

    def __init__(self, table: PayTable) -> None:
        self.evaluator: Evaluator = EVALUATORS[table.evaluator or ""]
        self.scopes: list[Scope] = []
        #: index of a row → its alternatives, in the order the rows are tried; rows that are not offered are left out.
        self.rows: dict[int, tuple[Ask, ...]] = {
            index: tuple(self._ask(match) for match in row_matches(table, table.rows[index]))
            for index in table.trial_order
            if table.rows[index].offered
        }

    def _ask(self, match: Match) -> Ask:
        if match.scope not in self.scopes:
            self.scopes.append(match.scope)
        single = self.evaluator.model == "single" and match.category != "any"
        least = match.length or match.scope.first or (RANKINGS[self.evaluator.ranking].size if single else 1)
        conditions = tuple(sorted(match.conditions, key=lambda condition: condition.dealer))
        return Ask(self.scopes.index(match.scope), match.category, match.length, least, conditions)

    def blank(self) -> list[Look | None]:
        """What :meth:`ask` remembers of one deal, empty: a place for each scope."""
        return [None] * len(self.scopes)

    def decide(self, own: Sequence[Card], board: Sequence[Card] = (), dealer: Sequence[Card] = ()) -> Decision:
        """The first row that holds.

        Raises:
            NeedsDealer: a row before it depends on dealer's cards that are not given.
            CardError: a hand that cannot have been dealt (only where the model has to notice).
        """
        deal = Deal(tuple(own), tuple(board), tuple(dealer))
        looks = self.blank()
        for index in self.rows:
            value = self.ask(index, deal, looks)
            if value is not None:
                if isinstance(value, int):
                    raise NeedsDealer(index, value)
                return Decision(index, value.cards_used, value.category)
        return Decision(None)

    def holding(self, own: Sequence[Card], board: Sequence[Card] = (), dealer: Sequence[Card] = ()) -> tuple[int, ...]:
        """Indexes of all rows that hold, each asked on its own.

        Raises:
            NeedsDealer: as :meth:`decide`.
        """
        deal = Deal(tuple(own), tuple(board), tuple(dealer))
        looks = self.blank()
        found = []
        for index in self.rows:
            value = self.ask(index, deal, looks)
            if isinstance(value, int):
                raise NeedsDealer(index, value)
            if value is not None:
                found.append(index)
        return tuple(found)

    def ask(self, index: int, deal: Deal, looks: list[Look | None]) -> HandValue | int | None:
        """The hand that makes row ``index``, None, or how many dealer's cards must be known to say.

        ``looks`` (:meth:`blank` at first) keeps what the scopes showed of this deal for the rows after this one.
        """
        needed = 0
        for ask in self.rows[index]:
            look = looks[ask.scope]
            if look is None:
                missing = self._missing(self.scopes[ask.scope], deal)
                if missing:
                    needed = max(needed, missing)
                    continue
                look = looks[ask.scope] = self._look(self.scopes[ask.scope], deal)
            value = self._answer(ask, look, deal)
            if isinstance(value, int):
                needed = max(needed, value)
            elif value is not None:
                return value
        return needed or None

    def ask_one(self, ask: Ask, deal: Deal) -> bool:
        """Whether one alternative holds; all of the dealer's cards that it needs are there."""
        return isinstance(self._answer(ask, self._look(self.scopes[ask.scope], deal), deal), HandValue)

    def _missing(self, scope: Scope, deal: Deal) -> int:
        """How many dealer's cards the scope needs, 0 if they are there."""
        needed = BAD_BEAT_DEALER if self.evaluator.model == "bad-beat" else scope.dealer
        return needed if len(deal.dealer) < needed else 0

    def _look(self, scope: Scope, deal: Deal) -> Look:
        cards = looked_at(scope, deal, self.evaluator.cards_max)
        model = self.evaluator.model
        if not cards:
            return Look((), None)
        if model == "single":
            return Look(cards, PokerHand(cards, single_ranking(self.evaluator.ranking, len(cards))))
        if model == "shoe":
            return Look(cards, ShoeHand(cards, min(len(cards), SHOE_HAND_MAX)))
        if model == "sevens":
            return Look(cards, _Fixed(sevens(cards)))
        return Look(cards, _BadBeat(cards, deal.dealer))

    def _answer(self, ask: Ask, look: Look, deal: Deal) -> HandValue | int | None:
        if look.hand is None or len(look.cards) < ask.least:
            return None
        if not ask.conditions and ask.category != "any":
            return look.hand.find(ask.category, ask.length)
        needed = 0
        for value in _readings(ask, look):
            for condition in ask.conditions:
                if condition.dealer > len(deal.dealer):
                    needed = max(needed, condition.dealer)
                    break
                if not condition.test(value, look.cards, deal):
                    break
            else:
                return value
        return needed or None


def looked_at(scope: Scope, deal: Deal, cards_max: int) -> tuple[Card, ...]:
    """The cards of a scope, in the order dealt; dealer's cards last. None while fewer are dealt than it asks for."""
    if scope.place == "of:dealer":
        cards = deal.dealer[: scope.first]
    elif scope.place == "board":
        cards = deal.board[: scope.first]
    else:
        own = unbusted(deal.own) if scope.unbusted else deal.own
        cards = (*own, *deal.board)[: scope.first or cards_max]
    if len(cards) < (scope.first or 0):
        return ()
    return (*cards, *deal.dealer[: scope.dealer]) if scope.place.startswith("with:") else cards


@cache
def single_ranking(name: str, cards: int) -> Ranking:
    """The ranking for so many cards: a hand of fewer cards than it has is made of those."""
    ranking = RANKINGS[name]
    return replace(ranking, size=cards) if cards < ranking.size else ranking


def _readings(ask: Ask, look: Look) -> Iterator[HandValue]:
    """Ways the cards make the category, best first: all of a shoe hand; of one deck the best, natural if asked for."""
    if ask.category == "any":
        yield HandValue("any", tuple(sorted([card.rank for card in look.cards], reverse=True)), look.cards, 0, "any")
    elif isinstance(look.hand, ShoeHand):
        yield from look.hand.each(ask.category, ask.length)
    elif isinstance(look.hand, PokerHand):
        value = look.hand.find(ask.category, ask.length)
        if value is not None:
            yield value
            if value.wilds and any(condition.word == "natural" for condition in ask.conditions):
                value = look.hand.find(ask.category, ask.length, natural=True)
                if value is not None:
                    yield value
    elif look.hand is not None:
        value = look.hand.find(ask.category, ask.length)
        if value is not None:
            yield value


class _Fixed:
    """A hand that is one thing and nothing else."""

    def __init__(self, value: HandValue) -> None:
        self._value = value

    def find(self, category: str, size: int | None = None) -> HandValue | None:
        del size
        return self._value if self._value.category == category else None


class _BadBeat:
    """The lower of two straights: a straight of ``size`` is what it is at least as long as."""

    def __init__(self, player: Sequence[Card], dealer: Sequence[Card]) -> None:
        self._beaten = two_way_bad_beat(player, dealer[:BAD_BEAT_DEALER])

    def find(self, category: str, size: int | None = None) -> HandValue | None:
        beaten = self._beaten
        if beaten is None or beaten.length < (size or STRAIGHT_MIN):
            return None
        return HandValue(category, (beaten.top,), beaten.cards_used, beaten.length, "two-way-bad-beat")


def row_matches(table: PayTable, row: Row) -> tuple[Match, ...]:
    """What a row means, in the words of the table's evaluator."""
    return parse_match(row.match or row.hand, EVALUATORS[table.evaluator or ""])


@lru_cache(maxsize=64)
def decider(table: PayTable) -> Decider:
    """The table's rows, read once. For a table with an evaluator of cards."""
    return Decider(table)


def reads_dealer(table: PayTable) -> bool:
    """Whether any row can depend on the dealer's cards."""
    model = EVALUATORS[table.evaluator].model if table.evaluator else ""
    if model in {"", "spins", "rolls", "wagers"}:
        return False
    return model == "bad-beat" or any(
        match.scope.dealer or any(condition.dealer for condition in match.conditions)
        for row in table.rows
        if row.offered
        for match in row_matches(table, row)
    )


def decide_row(
    table: PayTable, own: Sequence[Card], board: Sequence[Card] = (), dealer: Sequence[Card] = ()
) -> Decision:
    """The row that cards earn, without any check of how they can have been dealt: for par sheets, deal after deal.

    The same decision as ``outcome`` makes after its checks. ``dealer``: up card first.

    Raises:
        NeedsDealer: a row depends on dealer's cards that are not given.
    """
    return decider(table).decide(own, board, dealer)


def rows_holding(
    table: PayTable, own: Sequence[Card], board: Sequence[Card] = (), dealer: Sequence[Card] = ()
) -> tuple[Row, ...]:
    """Every offered row that holds, each asked on its own, in the order they are tried; unchecked as decide_row.

    Raises:
        NeedsDealer: a row depends on dealer's cards that are not given.
    """
    return tuple(table.rows[index] for index in decider(table).holding(own, board, dealer))
