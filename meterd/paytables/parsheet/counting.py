"""In how many deals each row of a table of cards is the hand. The rows are decided by the table's own decider.

Three ways, from cheap to dear, all exact:

* a universe kept as data, where it answers all that the rows ask;
* the shapes of all hands of one deck (ranks, and suits only where a flush may be), where rows ask no more of suits;
* classes of whole deals, where rows name suits or colours, look at several hands apart, or several decks are dealt.

Where rows of one deck ask *when* a hand was complete (after five cards, on the board), hands are made as sets first;
only those that hold what such a row asks for are then dealt in every order. A set that does not hold it cannot hold
it in part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb, factorial, prod
from typing import Final

from meterd.handrank.cards import JOKER, RANK_MIN, RANKS, Card
from meterd.handrank.poker import PokerHand
from meterd.handrank.rankings import RANKINGS
from meterd.paytables.decide import Decider, NeedsDealer, single_ranking
from meterd.paytables.evaluators import EVALUATORS
from meterd.paytables.model import PayTable
from meterd.paytables.parsheet.classes import ALL_RANKS, Deal, Shoe, deals, deals_of_rest, universe
from meterd.paytables.parsheet.looks import BOARD, DEALER, OWN, Look, Looks, Place, looks_of
from meterd.paytables.parsheet.sheet import NoParSheet, UniverseError
from meterd.paytables.parsheet.universes import Ask, Plan, Universe, parse_universe, shapes

#: Gives the text of a universe by name, None where there is none.
Cached = Callable[[str], str | None]

#: Row index → number of deals; None for no row.
Tally = dict[int | None, int]

#: Conditions on one deck's hand that depend on the answer to one question, not on suits or on other hands.
_ANSWERED: Final = frozenset({"top", "natural", "joker", "own", "count"})

#: Categories that a hand does not need to hold in order that a part of it does.
_NOT_INHERITED: Final = frozenset({"high-card", "any"})

#: Seconds per class that is made, and that is made and decided, on a slow machine.
_SECONDS_MADE: Final = 6e-6
_SECONDS_DECIDED: Final = 2e-5


@dataclass(frozen=True)
class Counting:
    """How the rows of one table are counted."""

    table: PayTable
    looks: Looks
    shoe: Shoe
    cached: Cached

    @classmethod
    def of(cls, table: PayTable, cached: Cached) -> Counting:
        """The cheapest way for this table.

        Raises:
            NoParSheet: a row depends on how a hand is played, or the cards of the game cannot be dealt.
        """
        evaluator = EVALUATORS[table.evaluator or ""]
        ranks = tuple(rank for rank in ALL_RANKS if RANKS[rank - RANK_MIN] not in table.without_ranks)
        one_deck = evaluator.model == "single"
        shoe = Shoe(1 if one_deck else table.decks, int(table.joker) if evaluator.jokers else 0, ranks)
        looks = looks_of(table)
        game = table.games[0]
        dealt = max(sum(looks.sizes), game.own_cards + game.community_most + game.dealer_cards)
        if not looks.sizes:
            why = f"its rows look at no card that {game.name} deals" if looks.looks else "no row is offered"
            raise NoParSheet(f"{table.id} has no par sheet: {why}")
        if dealt > shoe.cards:
            raise NoParSheet(f"{table.id} has no par sheet: {dealt} cards are dealt out of {shoe.cards}")
        return cls(table, looks, shoe, cached)

    @property
    def universe(self) -> int:
        """Number of deals."""
        return universe(self.looks.sizes, self.shoe)

    @property
    def seconds(self) -> int:
        """About how long :meth:`tally` takes; 0 for a moment."""
        if self._kept is not None:
            return 0
        size = sum(self.looks.sizes)
        if self._by_shape:
            return round(comb(self.shoe.cards, size) / 20 * _SECONDS_MADE)
        types = self.shoe.cards // self.shoe.decks
        sizes = self.looks.sizes[: len(self.looks.sizes) - self.looks.dealer_blocks]
        sorts = min(prod(comb(types + size - 1, size) for size in sizes), universe(sizes, self.shoe))
        return round(sorts / prod(factorial(len(group)) for group in self.looks.groups) * _SECONDS_DECIDED)

    @property
    def note(self) -> str:
        """Which game was taken, where the table's games deal differently and that matters."""
        dealt = {(game.own_cards, game.community_most) for game in self.table.games}
        if len(dealt) == 1 or not any(self._in_part(look) for look in self.looks.looks):
            return ""
        return f"as dealt in {self.looks.game}"

    def uses(self, universe_name: str) -> bool:
        """Whether the deals are counted by the universe of this name, kept as data."""
        return self._kept is not None and self._plan.name == universe_name

    def tally(self) -> Tally:
        """The number of deals in which each row is the hand."""
        if self._kept is not None:
            return self._sets(self._kept.classes)
        if self._by_shape:
            return self._sets(shapes(self._plan))
        return self._deals()

    @cached_property
    def _plan(self) -> Plan:
        """What the rows ask, as a universe would have to answer it."""
        asks = {self._ask_of(look): None for look in self.looks.looks}
        ranking = EVALUATORS[self.table.evaluator or ""].ranking
        return Plan(sum(self.looks.sizes), ranking, tuple(asks), (), self.shoe.jokers)

    @cached_property
    def _by_shape(self) -> bool:
        """Whether hands may be made by shape: one full deck, no suit told apart, one hand looked at."""
        evaluator = EVALUATORS[self.table.evaluator or ""]
        return (
            evaluator.model == "single"
            and self.shoe.ranks == ALL_RANKS
            and self.looks.conditions <= _ANSWERED
            and not any(look.match.category == "any" for look in self.looks.looks)
            and not any(place.whose == DEALER for block in self.looks.blocks for place in block)
        )

    @cached_property
    def _kept(self) -> Universe | None:
        """The universe kept as data, if it answers all that the rows ask."""
        if not self._by_shape:
            return None
        text = kept_text(self.cached, self._plan.name)
        if text is None:
            return None
        try:
            kept = parse_universe(text)
        except UniverseError as error:
            raise UniverseError(f"universes/{self._plan.name}.txt: {error}") from error
        if kept.plan.name != self._plan.name:
            raise UniverseError(f"universes/{self._plan.name}.txt holds the universe {kept.plan.name}")
        answered = {(ask.category, ask.size): ask for ask in kept.plan.asks}
        for look in self.looks.looks:
            wanted = self._ask_of(look)
            ask = answered.get((wanted.category, wanted.size))
            if ask is None or (wanted.top and not ask.top) or (wanted.wild and not ask.wild):
                return None
            if self._in_part(look) and wanted.category not in kept.plan.whole and not self._implied(wanted, kept.plan):
                return None
        return kept

    @staticmethod
    def _implied(ask: Ask, plan: Plan) -> bool:
        """A royal flush is a straight flush: hands kept whole for the one are whole for the other."""
        return ask.category == "royal-flush" and "straight-flush" in plan.whole

    def _ask_of(self, look: Look) -> Ask:
        """What a row asks of a hand. Of fewer cards than the ranking's hands have, it asks for a hand of those."""
        words = {condition.word.partition(":")[0] for condition in look.match.conditions}
        usual = RANKINGS[EVALUATORS[self.table.evaluator or ""].ranking].size
        size = look.match.length or min(usual, len(look.scope))
        wild = bool(words & {"natural", "joker"})
        return Ask(look.match.category, None if size == usual else size, "top" in words, wild)

    def _in_part(self, look: Look) -> bool:
        """Whether a row depends on where in the deal the cards lie."""
        everything = {place for block in self.looks.blocks for place in block}
        return look.scope != everything or any(region != everything for region in look.regions)

    def _sets(self, sets: Sequence[tuple[tuple[Card, ...], int]] | Iterator[tuple[tuple[Card, ...], int]]) -> Tally:
        """Count hands made as sets, dealt in every order where the order may count."""
        found: Tally = {}
        orders = _orders(self.looks.sizes)
        ranking = single_ranking(EVALUATORS[self.table.evaluator or ""].ranking, sum(self.looks.sizes))
        asks = {self._ask_of(look) for look in self.looks.looks if self._in_part(look)}
        in_part = {(ask.category, ask.size) for ask in asks}
        inherited = not any(category in _NOT_INHERITED for category, _ in in_part)
        for cards, weight in sets:
            matters = bool(in_part)
            if matters and inherited:
                hand = PokerHand(cards, ranking)
                matters = any(hand.find(category, length) for category, length in in_part)
            if matters:
                for deal in _splits(cards, self.looks.sizes):
                    self._add(found, deal, weight)
            else:
                first = next(_splits(cards, self.looks.sizes))
                self._add(found, first, weight * orders)
        return found

    def _deals(self) -> Tally:
        """Count classes of whole deals; the dealer's cards are dealt only where a row depends on them."""
        found: Tally = {}
        theirs = self.looks.dealer_blocks
        ours = len(self.looks.sizes) - theirs
        first, last = self.looks.sizes[:ours], self.looks.sizes[ours:]
        rest = self.universe // universe(first, self.shoe)
        for deal, weight in deals(first, self.shoe, self.looks.groups):
            try:
                self._add(found, deal, weight * rest)
            except NeedsDealer:
                left = self.shoe.without(card for block in deal for card in block)
                for more, ways in deals_of_rest(last, left):
                    self._add(found, (*deal, *more), weight * ways)
        return found

    def _add(self, found: Tally, deal: Deal, weight: int) -> None:
        row = self._decider.decide(*self._hands(deal)).row
        found[row] = found.get(row, 0) + weight

    @cached_property
    def _decider(self) -> Decider:
        return Decider(self.table)

    def _hands(self, deal: Deal) -> tuple[tuple[Card, ...], tuple[Card, ...], tuple[Card, ...]]:
        """Own, community and dealer's cards of a deal, each where it lies; a joker where no row looks."""
        own, board, dealer = (
            tuple(
                [JOKER if block is None else deal[block][number] for block, number in where if (block or 0) < len(deal)]
            )
            for where in self._places
        )
        return own, board, dealer

    @cached_property
    def _places(self) -> list[list[tuple[int | None, int]]]:
        """For each own, community and dealer's card up to the last that is looked at: its block and place in it."""
        lies = {
            place: (index, number)
            for index, block in enumerate(self.looks.blocks)
            for number, place in enumerate(block)
        }
        counts = {
            whose: max((p.number + 1 for p in lies if p.whose == whose), default=0) for whose in (OWN, BOARD, DEALER)
        }
        return [
            [lies.get(Place(whose, number), (None, 0)) for number in range(count)] for whose, count in counts.items()
        ]


def kept_text(cached: Cached, name: str) -> str | None:
    """The text of a universe, None where none is kept.

    Raises:
        UniverseError: there is one that cannot be read.
    """
    try:
        return cached(name)
    except (OSError, ValueError) as error:
        raise UniverseError(f"universes/{name}.txt cannot be read: {error}") from error


def _orders(sizes: Sequence[int]) -> int:
    """In how many ways a set of cards falls into blocks."""
    left, ways = sum(sizes), 1
    for size in sizes:
        ways *= comb(left, size)
        left -= size
    return ways


def _splits(cards: tuple[Card, ...], sizes: Sequence[int]) -> Iterator[Deal]:
    """Every way to deal a set of cards into blocks."""
    if len(sizes) == 1:
        yield (cards,)
        return
    for block in combinations(cards, sizes[0]):
        rest = tuple(card for card in cards if card not in block)
        for others in _splits(rest, sizes[1:]):
            yield (block, *others)
