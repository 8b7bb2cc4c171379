"""Which row of a pay table some cards or spins earn, and which cards made the hand: the checked way in.

Rule 1: what was dealt is checked against the game before it is ranked: number of cards, repeats, jokers (``dealt``).
Rule 2: rows are tried best first; the first offered row that holds is the hand, and only it pays (``decide``).
Rule 3: a table whose hands the rule text does not define has no evaluator and is never guessed.
Rule 4: dealer's cards are asked for only where the row depends on what they can still be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Final

from meterd.errors import ConfigError
from meterd.handrank.badbeat import STRAIGHT_MIN
from meterd.handrank.cards import CardError, parse_cards
from meterd.handrank.dice import SEVEN, all_numbers, craps_points, parse_rolls
from meterd.handrank.poker import PokerHand, longest_straight
from meterd.handrank.shoe import ShoeHand, sevens
from meterd.handrank.streak import Streak, parse_spins, rising_streak
from meterd.handrank.values import HandValue
from meterd.paytables.dealt import check_dealt, deck_cards, fits_decks
from meterd.paytables.decide import SHOE_HAND_MAX, Ask, Decider, decider, looked_at, row_matches, single_ranking
from meterd.paytables.evaluators import EVALUATORS, STREAK_MAX, Evaluator
from meterd.paytables.hands import streak_key
from meterd.paytables.match import WHOLE
from meterd.paytables.model import PayTable, Row
from meterd.paytables.qualifiers import Deal, Unfinished

#: Dealer's cards beyond these are never guessed at: a row that needs more must be given them.
_GUESSED_MAX: Final = 2


class NoEvaluator(ConfigError):  # noqa: N818 - a state of the table, not a fault
    """The table's hands are not defined by the rule text, or it is a list of wagers: no program may decide them."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """``row`` is None for a losing hand; ``reached`` names what was held all the same (a category, a streak length)."""

    row: Row | None
    cards_used: tuple[str, ...]
    reached: str


def outcome(table: PayTable, *, cards: str = "", community: str = "", dealer: str = "", number: str = "") -> Outcome:
    """The row earned by ``cards`` (own, as dealt), ``community``, ``dealer`` (up card first) or ``number``.

    ``number`` holds spins (``00 4 9 9``) or rolls of two dice (``4 6 2+2 7``), in order.

    Raises:
        CardError: something is no card, cannot have been dealt, or is missing; or a streak still runs.
        NoEvaluator: the table has no evaluator, or its rows are wagers; the message says why.
    """
    if table.evaluator is None:
        raise NoEvaluator(f"{table.id} cannot be evaluated: {table.note or 'the rule text does not define its hands'}")
    evaluator = EVALUATORS[table.evaluator]
    if evaluator.model == "wagers":
        raise NoEvaluator(f"{table.id} is a list of wagers: each row is a bet of its own, and no hand wins one of them")
    if evaluator.model in {"spins", "rolls"}:
        if cards or community or dealer:
            raise CardError(f"{table.id} looks at {evaluator.model}, not cards: give the numbers in order")
        return _streak(table, evaluator, number)
    if number:
        raise CardError(f"{table.id} looks at cards, not numbers")
    deal = Deal(parse_cards(cards), parse_cards(community), parse_cards(dealer))
    check_dealt(table, evaluator, deal)
    return _hand(table, evaluator, deal)


def _streak(table: PayTable, evaluator: Evaluator, number: str) -> Outcome:
    """The row of the streak or collection that the numbers end with."""
    streak, reached = reached_by(table, evaluator, number)
    if not streak.ended:
        running = f"length {streak.length} after {streak.numbers[-1] if streak.numbers else 'nothing that counts'}"
        raise CardError(f"the streak still runs ({running}): give the {evaluator.model} up to the one that ends it")
    for index in table.trial_order:
        row = table.rows[index]
        if row.offered and any(match.category == reached for match in row_matches(table, row)):
            return Outcome(None if row.loses else row, streak.numbers, reached)
    return Outcome(None, streak.numbers, reached)


def reached_by(table: PayTable, evaluator: Evaluator, number: str) -> tuple[Streak, str]:
    """The streak that the numbers build, whether or not it has ended, and the category it has reached.

    Raises:
        CardError: something is no number of this game, or a number follows the one that ended the streak.
    """
    if evaluator.model == "spins":
        streak = rising_streak(parse_spins(number), _longest(table))
        return streak, streak_key(streak.length)
    rolls = parse_rolls(number)
    if evaluator.name == "craps-all-numbers":
        streak = all_numbers(rolls)
        won = streak.ended and rolls[-1].total != SEVEN
        return streak, "all-numbers" if won else f"numbers-{streak.length}"
    streak = craps_points(rolls, distinct=evaluator.name == "craps-distinct-points", most=_longest(table))
    return streak, f"points-{streak.length}"


def _longest(table: PayTable) -> int:
    """The longest streak that the table lists."""
    lengths = [
        int(match.category.rpartition("-")[2]) for row in table.rows if row.offered for match in row_matches(table, row)
    ]
    return max(lengths, default=STREAK_MAX)


def _hand(table: PayTable, evaluator: Evaluator, deal: Deal) -> Outcome:
    """The first row that holds; a row that needs unknown dealer's cards stops the search only if it can still hold."""
    rows = decider(table)
    looks = rows.blank()
    for index in rows.rows:
        value = rows.ask(index, deal, looks)
        if isinstance(value, int):
            if _can_hold(table, rows, index, deal):
                raise _ask_for_dealer(table, index, value, deal)
        elif value is not None:
            row = table.rows[index]
            reached = row.hand if value.category == "any" else value.category
            return Outcome(None, (), reached) if row.loses else Outcome(row, _text(value), reached)
    return Outcome(None, (), _best(table, evaluator, deal))


def _text(value: HandValue) -> tuple[str, ...]:
    return tuple(map(str, value.cards_used))


def _ask_for_dealer(table: PayTable, index: int, needed: int, deal: Deal) -> CardError:
    given = " ".join(map(str, deal.dealer)) or "none"
    name = table.rows[index].printed_hand or table.rows[index].hand
    return CardError(
        f"{table.id}: {name!r} depends on the dealer's cards: give at least {needed} of them, up card first; "
        f"given: {given}"
    )


def _can_hold(table: PayTable, rows: Decider, index: int, deal: Deal) -> bool:
    """Whether some cards that the dealer can still have would make the row hold."""
    if rows.evaluator.model == "bad-beat":
        return longest_straight((*deal.own, *deal.board))[0] >= STRAIGHT_MIN
    return any(_alternative_can_hold(table, rows, ask, deal) for ask in rows.rows[index])


def _alternative_can_hold(table: PayTable, rows: Decider, ask: Ask, deal: Deal) -> bool:
    scope = rows.scopes[ask.scope]
    if scope.place == "of:dealer":
        mine = [condition for condition in ask.conditions if condition.word == "blackjack"]
        return all(condition.test(_NOTHING, (), deal) for condition in mine)
    needed = max(scope.dealer, *(condition.dealer for condition in ask.conditions), 0)
    try:
        return any(rows.ask_one(ask, whole) for whole in _completed(table, deal, needed))
    except Unfinished:
        return True


def _completed(table: PayTable, deal: Deal, needed: int) -> Iterator[Deal]:
    """The deal with every choice of the dealer's cards that are missing."""
    missing = min(max(needed - len(deal.dealer), 0), _GUESSED_MAX)
    for more in product(deck_cards(table.without_ranks), repeat=missing):
        whole = deal._replace(dealer=(*deal.dealer, *more))
        if fits_decks(table, whole):
            yield whole


_NOTHING: Final = HandValue("any", (), (), 0, "any")


def _best(table: PayTable, evaluator: Evaluator, deal: Deal) -> str:
    """What the cards are, where they win nothing: of a shoe only what some row asks for is a hand."""
    cards = looked_at(WHOLE, deal, evaluator.cards_max)
    if evaluator.model == "sevens":
        return sevens(cards).category
    if evaluator.model == "bad-beat":
        return "no bad beat"
    if not cards:
        return "nothing"
    if evaluator.model == "single":
        return PokerHand(cards, single_ranking(evaluator.ranking, len(cards))).best().category
    asked = {match.category for row in table.rows for match in row_matches(table, row)}
    hand = ShoeHand(cards, min(len(cards), SHOE_HAND_MAX))
    return next((category for category in hand.order if category in asked and hand.find(category)), "nothing")
