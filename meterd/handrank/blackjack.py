"""Blackjack totals. Suits do not count here; cards are in the order dealt.

Units: points; an ace is 11 where that does not pass 21, else 1; ten, jack, queen and king are 10.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from .cards import ACE, RANK_MIN, Card, CardError, check_known

TWENTY_ONE: Final = 21
TEN: Final = 10

#: A dealer draws to every total below this one.
DEALER_STANDS: Final = 17


_POINTS: Final = {rank: min(rank, TEN) for rank in range(RANK_MIN, ACE)} | {ACE: 1}


class Total(NamedTuple):
    """``value`` is the best total, over 21 only if every total is; ``soft`` says that an ace counts 11 in it."""

    value: int
    soft: bool

    def __str__(self) -> str:
        """``soft 17``, ``21``."""
        return f"soft {self.value}" if self.soft else str(self.value)


def points(card: Card) -> int:
    """Points of one card, an ace as 1.

    Raises:
        CardError: a joker, which has no points, or what is no card at all.
    """
    found = _POINTS.get(card.rank)
    if found is None:
        check_known([card])
        raise CardError(f"{card} has no points: blackjack is dealt without jokers")
    return found


def total(cards: Sequence[Card]) -> Total:
    """The best total of the cards; no cards total 0.

    Raises:
        CardError: a joker.
    """
    hard = sum(map(points, cards))
    soft = hard + 10 <= TWENTY_ONE and any(card.rank == ACE for card in cards)
    return Total(hard + 10 if soft else hard, soft)


def is_blackjack(cards: Sequence[Card]) -> bool:
    """An ace and a card of ten points, and no third card. Whether a hand after a split may be one is the caller's."""
    return len(cards) == 2 and total(cards).value == TWENTY_ONE


def busts(cards: Sequence[Card]) -> bool:
    """Over 21 with every ace as 1."""
    return total(cards).value > TWENTY_ONE


def unbusted(cards: Sequence[Card]) -> tuple[Card, ...]:
    """The cards before the one that took the hand over 21, or all of them (CO 47.1-2109(8), 47.1-899.13(18)).

    Raises:
        CardError: a joker, or a card dealt to a hand that had already gone over 21.
    """
    hard = 0
    for place, card in enumerate(cards):
        hard += points(card)
        if hard > TWENTY_ONE:
            if place + 1 < len(cards):
                raise CardError(f"{card} took the hand to {hard}; {cards[place + 1]} cannot have been dealt after it")
            return tuple(cards[:place])
    return tuple(cards)


def player_finished(cards: Sequence[Card]) -> bool:
    """A total of 21, hard or soft, or more: no card is drawn to it."""
    return total(cards).value >= TWENTY_ONE


def dealer_finished(cards: Sequence[Card]) -> bool:
    """A hard 17 or a soft 18, or more, where no dealer draws; at a soft 17 some do (CO 47.1-826(2))."""
    value, soft = total(cards)
    return value >= DEALER_STANDS + soft


def check_drawn(cards: Sequence[Card], finished: Callable[[Sequence[Card]], bool]) -> None:
    """Refuse a card that was dealt to a hand already ``finished``.

    Raises:
        CardError: names the hand, and the card that cannot have been dealt to it; or a joker.
    """
    for place in range(2, len(cards)):
        if finished(cards[:place]):
            held = f"{' '.join(map(str, cards[:place]))} is {total(cards[:place])}"
            raise CardError(f"{held} and draws no card; {cards[place]} cannot have been dealt to it")


def compare(player: Sequence[Card], dealer: Sequence[Card]) -> int:
    """1 if the player's hand wins, 0 if it ties, -1 if it loses; a player over 21 loses whatever the dealer does.

    A blackjack beats any other 21. Rules that pay a player's 21 always, or push a dealer's 22, are the caller's.
    """
    if busts(player):
        return -1
    if busts(dealer):
        return 1
    ours, theirs = ((total(hand).value, is_blackjack(hand)) for hand in (player, dealer))
    return (ours > theirs) - (ours < theirs)
