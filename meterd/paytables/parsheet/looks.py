"""Which cards of a deal the rows of a table look at, and so what has to be dealt and what can be told apart.

A *place* is one card of a deal: the player's first own card, the third community card, the dealer's up card. Places
that every row looks at together or not at all form one block: the order within it decides nothing. Places no row
looks at are not dealt.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from meterd.handrank.cards import RED, SUITS, parse_card
from meterd.paytables.decide import row_matches
from meterd.paytables.evaluators import EVALUATORS, Evaluator
from meterd.paytables.match import Match, Scope
from meterd.paytables.model import Game, PayTable, Row
from meterd.paytables.parsheet.sheet import NoParSheet
from meterd.paytables.qualifiers import Condition

OWN: Final = "own"
BOARD: Final = "board"
DEALER: Final = "dealer"

#: The three cards of a sevens hand: both of the first two, and the third.
SEVENS_FIRST: Final = 2
SEVENS_CARDS: Final = 3

#: Own cards that count against the dealer's in ``matches``, and in a blackjack.
OWN_TWO: Final = 2


class Place(NamedTuple):
    """One card of a deal: whose it is, and the how many-th of them, from 0."""

    whose: str
    number: int


Region = frozenset[Place]

#: Conditions that read the player's first two cards or the dealer's, whatever cards the row looks at.
ELSEWHERE: Final = frozenset({"blackjack", "up", "dealer", "dealer-ranks", "dealer-suited", "matches", "matches-down"})


#: Conditions that can name a card with its suit.
_CARDS: Final = frozenset({"cards", "holds", "up"})


class Look(NamedTuple):
    """One alternative of one row: the cards its category is asked of, and all that it looks at."""

    match: Match
    scope: Region
    regions: tuple[Region, ...]


@dataclass(frozen=True, slots=True)
class Looks:
    """All alternatives of a table as one of its games deals, and the blocks that follow from them."""

    game: str
    looks: tuple[Look, ...]
    blocks: tuple[tuple[Place, ...], ...]
    groups: tuple[str, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Cards of each block."""
        return tuple(map(len, self.blocks))

    @property
    def dealer_blocks(self) -> int:
        """How many of the last blocks are the dealer's alone; 0 where a row looks at his cards together with others."""
        mixed = (
            DEALER in owners and len(owners) > 1 for owners in ({p.whose for p in look.scope} for look in self.looks)
        )
        return 0 if any(mixed) else sum(block[0].whose == DEALER for block in self.blocks)

    @property
    def conditions(self) -> set[str]:
        """Names of all qualifiers that rows use, apart from those that say where to look."""
        return {_name(condition) for look in self.looks for condition in look.match.conditions}


def looks_of(table: PayTable) -> Looks:
    """What the table's rows look at.

    Raises:
        NoParSheet: a row looks at a hand that is drawn to, so its chance depends on how the hand is played.
    """
    evaluator = EVALUATORS[table.evaluator or ""]
    game = table.games[0]
    if evaluator.model == "sevens":
        looks = tuple(_sevens(match) for _, match in _matches(table))
    else:
        looks = tuple(_look(table, row, match, game, evaluator) for row, match in _matches(table))
    regions = [region for look in looks for region in (look.scope, *look.regions)]
    return Looks(game.name, looks, _blocks(regions), _groups(look.match for look in looks))


def _matches(table: PayTable) -> Iterator[tuple[Row, Match]]:
    for row in table.rows:
        if row.offered:
            for match in row_matches(table, row):
                yield row, match


def _sevens(match: Match) -> Look:
    """The order of the first two cards does not count, the third stands apart."""
    first, third = _places(OWN, SEVENS_FIRST), (Place(OWN, SEVENS_FIRST),)
    return Look(match, frozenset((*first, *third)), (frozenset(first),))


def _look(table: PayTable, row: Row, match: Match, game: Game, evaluator: Evaluator) -> Look:
    drawn = _drawn(match, game)
    if drawn:
        why = f"{row.printed_hand!r} looks at {drawn}, and how far that goes depends on how it is played"
        raise NoParSheet(f"{table.id} has no par sheet: {why}")
    regions = [region for condition in match.conditions for region in _condition_regions(condition, game)]
    scope = () if _reads_elsewhere(match) else _scope(match.scope, game, evaluator.cards_max)
    return Look(match, frozenset(scope), tuple(regions))


def _reads_elsewhere(match: Match) -> bool:
    """Any cards at all will do, and every condition is about fixed cards: the hand itself may grow."""
    names = {_name(condition) for condition in match.conditions}
    return match.category == "any" and bool(names) and names <= ELSEWHERE


def _drawn(match: Match, game: Game) -> str:
    """Which growing hand the row looks at, empty for none."""
    scope = match.scope
    names = {_name(condition) for condition in match.conditions}
    if scope.place == "of:dealer":
        grows = game.dealer_most > game.dealer_cards and (scope.first is None or scope.first > game.dealer_cards)
    else:
        grows = game.own_most > game.own_cards and scope.place != "board"
        grows = grows and (scope.first is None or scope.first > game.own_cards)
    if "beats-dealer" in names:
        return "the dealer's hand against the player's"
    if _reads_elsewhere(match):
        return ""
    if grows:
        return "the dealer's whole hand" if scope.place == "of:dealer" else "the player's whole hand"
    return ""


def _scope(scope: Scope, game: Game, cards_max: int) -> Sequence[Place]:
    """The places a scope looks at, as :func:`meterd.paytables.decide.looked_at` takes the cards."""
    if scope.place == "of:dealer":
        return _places(DEALER, game.dealer_most)[: scope.first]
    board = _places(BOARD, game.community_most)
    if scope.place == BOARD:
        return board[: scope.first]
    cards = (*_places(OWN, game.own_cards), *board)[: scope.first or cards_max]
    return (*cards, *_places(DEALER, scope.dealer))


def _condition_regions(condition: Condition, game: Game) -> list[Region]:
    name = _name(condition)
    if name == "own":
        return [frozenset(_places(OWN, game.own_cards))]
    if name == "blackjack":
        return [frozenset(_places(OWN, OWN_TWO))]
    if name == "matches":
        return [frozenset(_places(OWN, OWN_TWO)), frozenset({Place(DEALER, 0)})]
    if name == "matches-down":
        return [frozenset(_places(OWN, OWN_TWO)), frozenset({Place(DEALER, 1)})]
    return [frozenset(_places(DEALER, condition.dealer))] if condition.dealer else []


def _places(whose: str, count: int) -> tuple[Place, ...]:
    return tuple(Place(whose, number) for number in range(count))


def _blocks(regions: Sequence[Region]) -> tuple[tuple[Place, ...], ...]:
    """Places that lie in the same regions, in dealt order, the dealer's own blocks last."""
    blocks: dict[tuple[bool, ...], list[Place]] = {}
    for place in sorted({place for region in regions for place in region}, key=_dealt_order):
        blocks.setdefault(tuple(place in region for region in regions), []).append(place)
    return tuple(map(tuple, blocks.values()))


def _dealt_order(place: Place) -> tuple[int, int]:
    return (OWN, BOARD, DEALER).index(place.whose), place.number


def _groups(matches: Iterable[Match]) -> tuple[str, ...]:
    """Suits that no row tells apart."""
    conditions = [condition for match in matches for condition in match.conditions]
    alike: dict[tuple[tuple[str, ...], ...], str] = {}
    for suit in SUITS:
        key = tuple(_named(condition, suit) for condition in conditions)
        alike[key] = alike.get(key, "") + suit
    return tuple(alike.values())


def _named(condition: Condition, suit: str) -> tuple[str, ...]:
    """What a condition says of one suit; suits of which it says the same are alike to it."""
    name, _, argument = condition.word.partition(":")
    if name == "one-color":
        return (str(suit in RED),)
    if name == "suit":
        return (str(suit in argument),)
    if name in _CARDS and len(argument) % 2 == 0:  # AhAd: the ranks named with this suit; A and 2,3 name ranks alone
        cards = [parse_card(argument[place : place + 2]) for place in range(0, len(argument), 2)]
        return tuple(sorted(str(card.rank) for card in cards if card.suit == suit))
    return ()


def _name(condition: Condition) -> str:
    return condition.word.partition(":")[0]
