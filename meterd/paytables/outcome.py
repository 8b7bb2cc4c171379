"""Which row of a pay table some cards or spins earn, and which cards made the hand.

Rule 1: what was dealt is checked against the game before it is ranked: number of cards, repeats, jokers.
Rule 2: rows are tried in printed order; the first offered row that holds is the hand, and only it pays.
Rule 3: a table whose hands the rule text does not define has no evaluator and is never guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from meterd.errors import ConfigError
from meterd.handrank.cards import Card, CardError, check_decks, parse_cards
from meterd.handrank.poker import rank
from meterd.handrank.rankings import RANKINGS
from meterd.handrank.shoe import sevens
from meterd.handrank.streak import parse_spins, rising_streak
from meterd.handrank.values import HandValue
from meterd.paytables.evaluators import EVALUATORS, Evaluator
from meterd.paytables.hands import streak_key
from meterd.paytables.match import Match, parse_match
from meterd.paytables.model import Game, PayTable, Row

#: A blackjack hand has no upper bound short of this: eleven cards of low rank total 21 in one deck, 21 in many.
BLACKJACK_CARDS_MAX = 21


class NoEvaluator(ConfigError):  # noqa: N818 - a state of the table, not a fault
    """The table's hands are not defined by the rule text, so no program may decide them."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """``row`` is None for a losing hand; ``reached`` names what was held all the same (a category, a streak length)."""

    row: Row | None
    cards_used: tuple[str, ...]
    reached: str


def outcome(table: PayTable, *, cards: str = "", community: str = "", dealer: str = "", number: str = "") -> Outcome:
    """The row earned by ``cards`` (own, as dealt), ``community``, ``dealer`` (up card first) or ``number`` (spins).

    Raises:
        CardError: something is no card, cannot have been dealt, or is missing; or a streak still runs.
        NoEvaluator: the table has no evaluator; the message carries its note.
    """
    if table.evaluator is None:
        raise NoEvaluator(f"{table.id} cannot be evaluated: {table.note or 'the rule text does not define its hands'}")
    evaluator = EVALUATORS[table.evaluator]
    if evaluator.source == "streak":
        if cards or community or dealer:
            raise CardError(f"{table.id} looks at spins, not cards: give the numbers in order")
        return _streak(table, number)
    if number:
        raise CardError(f"{table.id} looks at cards, not numbers")
    own, board, held = parse_cards(cards), parse_cards(community), parse_cards(dealer)
    check_decks((*own, *board, *held), table.decks, jokers=int(table.joker))
    if evaluator.source == "sevens":
        return _sevens(table, evaluator, own, board)
    return _poker(table, evaluator, own, board)


def _streak(table: PayTable, number: str) -> Outcome:
    lengths = [int(row.hand.removeprefix("streak-")) for row in table.rows if row.offered]
    streak = rising_streak(parse_spins(number), max(lengths))
    if not streak.ended:
        running = f"length {streak.length} after {streak.numbers[-1]}"
        raise CardError(f"the streak still runs ({running}): give the spins up to the one that ends it")
    reached = streak_key(streak.length)
    row = table.row(reached)
    return Outcome(None if row is None or row.loses else row, streak.numbers, reached)


def _sevens(table: PayTable, evaluator: Evaluator, own: Sequence[Card], board: Sequence[Card]) -> Outcome:
    if board:
        raise CardError(f"{table.id} looks at the player's own cards only; community {_text(board)} given")
    if len(own) > BLACKJACK_CARDS_MAX:
        raise CardError(f"{len(own)} cards are more than a blackjack hand can hold")
    value = sevens(own)
    for row in table.rows:
        if row.offered and _match(row, evaluator).holds(value, own):
            return _won(row, value)
    return Outcome(None, (), value.category)


def _poker(table: PayTable, evaluator: Evaluator, own: Sequence[Card], board: Sequence[Card]) -> Outcome:
    _check_dealt(table, own, board)
    dealt = (*own, *board)[: evaluator.cards_max]
    values: dict[tuple[int | None, bool], HandValue | None] = {}
    for row in table.rows:
        match = _match(row, evaluator)
        looked_at = (match.first, match.board)
        if looked_at not in values:
            values[looked_at] = _looked_at(match, dealt, board, evaluator.ranking)
        value = values[looked_at]
        if row.offered and value is not None and match.holds(value, own):
            return _won(row, value)
    return Outcome(None, (), rank(dealt, evaluator.ranking).category)


def _looked_at(match: Match, dealt: Sequence[Card], board: Sequence[Card], ranking: str) -> HandValue | None:
    """The value of the cards a row looks at, or None while they are not all dealt."""
    cards = board if match.board else dealt[: match.first]
    if len(cards) < (match.first or RANKINGS[ranking].size):
        return None
    return rank(cards, ranking)


def _check_dealt(table: PayTable, own: Sequence[Card], board: Sequence[Card]) -> None:
    """Refuse a number of cards that none of the table's games deals."""
    if any(_fits(game, own, board) for game in table.games):
        return
    expected = " or ".join(_deals(table.games))
    given = f"{len(own)} own ({_text(own)}) and {len(board)} community ({_text(board)})"
    raise CardError(f"{table.id} takes {expected}; given were {given}")


def _fits(game: Game, own: Sequence[Card], board: Sequence[Card]) -> bool:
    return len(own) == game.own_cards and (
        game.community_cards <= len(board) <= max(game.community_cards, game.community_dealt)
    )


def _deals(games: Sequence[Game]) -> list[str]:
    """``2 own and 3 to 5 community cards``; games that deal the same number of own cards are one choice."""
    boards: dict[int, set[int]] = {}
    for game in games:
        most = max(game.community_cards, game.community_dealt)
        boards.setdefault(game.own_cards, set()).update(range(game.community_cards, most + 1))
    return [f"{own} own{_board(sorted(board))} cards" for own, board in boards.items()]


def _board(counts: Sequence[int]) -> str:
    if counts == [0]:
        return ""
    if len(counts) == 1:
        return f" and {counts[0]} community"
    unbroken = counts[-1] - counts[0] == len(counts) - 1
    many = f"{counts[0]} to {counts[-1]}" if unbroken else " or ".join(map(str, counts))
    return f" and {many} community"


def _match(row: Row, evaluator: Evaluator) -> Match:
    return parse_match(row.match or row.hand, evaluator)


def _won(row: Row, value: HandValue) -> Outcome:
    if row.loses:
        return Outcome(None, (), value.category)
    return Outcome(row, tuple(map(str, value.cards_used)), value.category)


def _text(cards: Sequence[Card]) -> str:
    return " ".join(map(str, cards)) or "none"
