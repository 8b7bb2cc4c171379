"""The two-way bad beat of straights (CO 47.1-1099.39(16)): player and dealer both hold a long straight, one is beaten.

The longer straight is the higher hand, then the higher top card; suits do not count. A tie loses. The award follows the
lower of the two hands, whoever holds it. An ace plays high or low, never in the middle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from .cards import Card, CardError, check_decks
from .masks import run_ranks
from .poker import longest_straight

#: Cards dealt to each side (CO 47.1-1099.39(7)).
PLAYER_CARDS: Final = 7
DEALER_CARDS: Final = 8

#: The shortest straight that makes a hand here.
STRAIGHT_MIN: Final = 4


@dataclass(frozen=True, slots=True)
class BadBeat:
    """The lower hand: ``length`` and ``top`` rank of its straight, who held it, and its cards as dealt."""

    length: int
    top: int
    loser: Literal["player", "dealer"]
    cards_used: tuple[Card, ...]


def two_way_bad_beat(player: Sequence[Card], dealer: Sequence[Card], shortest: int = STRAIGHT_MIN) -> BadBeat | None:
    """The beaten hand, or None: a side without a straight of at least ``shortest`` cards, or a tie.

    The dealer's eight cards may hold a straight of eight, which beats every straight of seven.

    Raises:
        CardError: not seven and eight cards, a card twice, or a joker.
    """
    for side, cards, count in (("player", player, PLAYER_CARDS), ("dealer", dealer, DEALER_CARDS)):
        if len(cards) != count:
            given = " ".join(map(str, cards)) or "none"
            raise CardError(f"a two-way bad beat takes {count} cards of the {side}; given were {len(cards)}: {given}")
    check_decks((*player, *dealer))
    ours, theirs = longest_straight(player), longest_straight(dealer)
    if min(ours[0], theirs[0]) < shortest or ours == theirs:
        return None
    if ours < theirs:
        return BadBeat(*ours, "player", _run(player, *ours))
    return BadBeat(*theirs, "dealer", _run(dealer, *theirs))


def _run(cards: Sequence[Card], length: int, top: int) -> tuple[Card, ...]:
    """One card of each rank of the run, the first dealt."""
    wanted = set(run_ranks(top, length))
    used = []
    for card in cards:
        if card.rank in wanted:
            wanted.discard(card.rank)
            used.append(card)
    return tuple(used)
