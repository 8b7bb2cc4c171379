"""Whether some cards can have been dealt in one of a table's games: how many, how often each, and no card too late."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from meterd.handrank.blackjack import (
    DEALER_STANDS,
    busts,
    check_drawn,
    dealer_finished,
    player_finished,
    total,
    unbusted,
)
from meterd.handrank.cards import ACE, JOKER, RANK_MIN, RANKS, SUITS, Card, CardError, check_decks, listed
from meterd.paytables.evaluators import Evaluator
from meterd.paytables.match import parse_match
from meterd.paytables.model import Game, PayTable
from meterd.paytables.qualifiers import Deal

#: Cards of a blackjack hand before it is drawn to.
STOOD_MIN: Final = 2


def check_dealt(table: PayTable, evaluator: Evaluator, deal: Deal) -> None:
    """Refuse what none of the table's games deals.

    Raises:
        CardError: names the cards that are too many, too few, twice, not in the deck, or dealt to a finished hand.
    """
    check_decks((*deal.own, *deal.board, *deal.dealer), most_decks(table), jokers=_jokers(table))
    for card in (*deal.own, *deal.board, *deal.dealer):
        if card != JOKER and RANKS[card.rank - RANK_MIN] in table.without_ranks:
            raise CardError(f"{card} is not in these decks: {table.id} is dealt without {table.without_ranks}")
    if evaluator.model == "sevens":
        _check_sevens(table, evaluator, deal)
        return
    if not any(_fits(game, deal) for game in table.games):
        expected = " or ".join(_deals(table.games, deal.dealer))
        given = f"{len(deal.own)} own ({listed(deal.own)}) and {len(deal.board)} community ({listed(deal.board)})"
        dealer = f" and {len(deal.dealer)} of the dealer ({listed(deal.dealer)})" if deal.dealer else ""
        raise CardError(f"{table.id} takes {expected}; given were {given}{dealer}")
    if evaluator.model != "shoe":
        return
    if any(game.own_dealt > game.own_cards for game in table.games):
        _check_player(table, deal)
    if any(game.dealer_dealt > game.dealer_cards for game in table.games):
        check_drawn(deal.dealer, dealer_finished)
        _check_dealer(table, evaluator, deal)


def most_decks(table: PayTable) -> int:
    """The largest number of decks the table may be dealt from."""
    return max(table.decks, *table.decks_allowed) if table.decks_allowed else table.decks


def fits_decks(table: PayTable, deal: Deal) -> bool:
    """Whether the decks hold these cards."""
    try:
        check_decks((*deal.own, *deal.board, *deal.dealer), most_decks(table), jokers=_jokers(table))
    except CardError:
        return False
    return True


@lru_cache(maxsize=8)
def deck_cards(without_ranks: str) -> tuple[Card, ...]:
    """The cards of one deck, the joker left out."""
    return tuple(
        Card(rank, suit)
        for rank in range(RANK_MIN, ACE + 1)
        if RANKS[rank - RANK_MIN] not in without_ranks
        for suit in SUITS
    )


def _jokers(table: PayTable) -> int:
    return int(table.joker)


def _check_sevens(table: PayTable, evaluator: Evaluator, deal: Deal) -> None:
    """A blackjack hand has no fixed number of cards; the first three decide."""
    if deal.board:
        raise CardError(f"{table.id} looks at the player's own cards only; community {listed(deal.board)} given")
    if len(deal.own) > evaluator.cards_max:
        raise CardError(f"{len(deal.own)} cards are more than a blackjack hand can hold")
    _check_player(table, deal)


def _check_player(table: PayTable, deal: Deal) -> None:
    """No card is drawn to 21, but in Spanish 21, where it may be doubled on (CO 47.1-899.16)."""
    if table.without_ranks:
        unbusted(deal.own)
    else:
        check_drawn(deal.own, player_finished)


def _check_dealer(table: PayTable, evaluator: Evaluator, deal: Deal) -> None:
    """All of the dealer's cards are read when he has drawn the last; only a live hand wagers on his going over 21."""
    rows = [parse_match(row.match or row.hand, evaluator) for row in table.rows if row.offered]
    whole = [match for matches in rows for match in matches if match.scope.place == "of:dealer"]
    if any(condition.word == "bust" for match in whole for condition in match.conditions) and busts(deal.own):
        held = f"{listed(deal.own)} is {total(deal.own)}"
        raise CardError(f"{table.id} is a wager of a live hand, made before the dealer draws; {held}")
    if whole and deal.dealer and total(deal.dealer).value < DEALER_STANDS:
        stands = f"{total(deal.dealer).value} ({listed(deal.dealer)})"
        raise CardError(f"{table.id} looks at all of the dealer's cards; his hand stands at {stands}: give the rest")


def _own_least(game: Game) -> int:
    """A hand that is drawn to may stand on two cards, also where its first three decide."""
    return min(game.own_cards, STOOD_MIN) if game.own_dealt > game.own_cards else game.own_cards


def _fits(game: Game, deal: Deal) -> bool:
    return (
        _own_least(game) <= len(deal.own) <= game.own_most
        and game.community_cards <= len(deal.board) <= game.community_most
        and (not game.dealer_most or len(deal.dealer) <= game.dealer_most)
    )


def _deals(games: Iterable[Game], dealer: Sequence[Card]) -> list[str]:
    """``2 own and 3 to 5 community cards``; games that deal the same number of own cards are one choice."""
    boards: dict[str, set[int]] = {}
    most = 0
    for game in games:
        own = _span(range(_own_least(game), game.own_most + 1))
        boards.setdefault(own, set()).update(range(game.community_cards, game.community_most + 1))
        most = max(most, game.dealer_most)
    theirs = f", and at most {most} of the dealer" if dealer and most else ""
    return [f"{own} own{_board(sorted(board))} cards{theirs}" for own, board in boards.items()]


def _board(counts: Sequence[int]) -> str:
    return "" if counts == [0] else f" and {_span(counts)} community"


def _span(counts: Sequence[int]) -> str:
    """``3``, ``3 to 5``, ``0 or 3``."""
    if len(counts) == 1:
        return str(counts[0])
    unbroken = counts[-1] - counts[0] == len(counts) - 1
    return f"{counts[0]} to {counts[-1]}" if unbroken else " or ".join(map(str, counts))
