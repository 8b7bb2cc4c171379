"""Single-deck hands as four 13-bit suit masks, and what is read off them.

Rule 1: a mask has no room for a second copy of a card. Shoe hands never come here (``shoe.py``).
Rule 2: a table answers for all 8,192 sets of ranks at once and is made when it is first asked for.
Units: bit 0 is the deuce, bit 12 the ace; a *top* is the rank 2 to 14 of the highest card of a run, 0 for none.
"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from .cards import ACE, RANK_MIN
from .rankings import LOW

RANKS_IN_MASK: Final = 13
ALL_RANKS: Final = (1 << RANKS_IN_MASK) - 1
ACE_BIT: Final = 1 << (ACE - RANK_MIN)

# Places in the five-card order, best first.
ROYAL, STRAIGHT_FLUSH, QUADS, FULL_HOUSE, FLUSH, STRAIGHT, TRIPS, TWO_PAIR, PAIR, NO_PAIR = range(10)


def bit(rank: int) -> int:
    """The bit of a rank; rank 1 is the ace below the deuce."""
    return ACE_BIT if rank < RANK_MIN else 1 << (rank - RANK_MIN)


def run_ranks(top: int, length: int) -> tuple[int, ...]:
    """The ranks of a run, highest first; an ace below the deuce is rank 14."""
    return tuple(rank if rank >= RANK_MIN else ACE for rank in range(top, top - length, -1))


@cache
def run_mask(top: int, length: int) -> int:
    """The mask of a run."""
    return sum(bit(rank) for rank in run_ranks(top, length))


@cache
def straight_tops(length: int, gaps: int = 0, wheel: str = LOW) -> bytes:
    """For each set of ranks the top of its best run of ``length`` ranks, of which ``gaps`` may be missing; 0 for none.

    An ace also plays below the deuce. Such a run is the lowest, or with ``wheel`` second only the ace-high one is
    better.
    """
    tops = bytearray(1 << RANKS_IN_MASK)
    for top in run_tops(length, wheel):  # worst first, so that the best stands
        run, enough = run_mask(top, length), length - gaps
        for mask in range(1 << RANKS_IN_MASK):
            if (mask & run).bit_count() >= enough:
                tops[mask] = top
    return bytes(tops)


def run_tops(length: int, wheel: str = LOW) -> tuple[int, ...]:
    """The tops of all runs of a length, worst first."""
    if length > RANKS_IN_MASK:
        return ()
    low_to_high = tuple(range(length, ACE + 1))
    return low_to_high if wheel == LOW else (*low_to_high[1:-1], length, ACE)


def top_bits(mask: int, count: int) -> int:
    """The highest ``count`` bits of a mask."""
    while mask.bit_count() > count:
        mask &= mask - 1
    return mask


def ranks_of(mask: int) -> tuple[int, ...]:
    """The ranks in a mask, highest first."""
    return tuple(rank for rank in range(ACE, RANK_MIN - 1, -1) if mask >> (rank - RANK_MIN) & 1)


class Levels(NamedTuple):
    """The ranks that occur at least once, twice … five times; a hand with a bug can hold five aces."""

    ones: int
    twos: int
    threes: int
    fours: int
    fives: int = 0

    @classmethod
    def of_masks(cls, clubs: int, diamonds: int, hearts: int, spades: int) -> Levels:
        """The levels of four suit masks."""
        black1, black2 = clubs | spades, clubs & spades
        red1, red2 = diamonds | hearts, diamonds & hearts
        return cls(black1 | red1, black2 | red2 | black1 & red1, black2 & red1 | red2 & black1, black2 & red2)

    def with_ace(self) -> Levels:
        """The levels with one ace more."""
        ones, twos, threes, fours, fives = self
        return Levels(
            ones | ACE_BIT,
            twos | ones & ACE_BIT,
            threes | twos & ACE_BIT,
            fours | threes & ACE_BIT,
            fives | fours & ACE_BIT,
        )

    def count(self, rank: int) -> int:
        """How often a rank occurs."""
        place = rank - RANK_MIN
        return sum(level >> place & 1 for level in self)


@cache
def suited_categories() -> bytes:
    """For each set of ranks in one suit: its place in the five-card order plus one, 0 with fewer than five cards."""
    tops = straight_tops(5)
    places = bytearray(1 << RANKS_IN_MASK)
    for mask in range(1 << RANKS_IN_MASK):
        if mask.bit_count() >= 5:
            places[mask] = 1 + (ROYAL if tops[mask] == ACE else STRAIGHT_FLUSH if tops[mask] else FLUSH)
    return bytes(places)


_SUITED: Final = suited_categories()
_STRAIGHT: Final = straight_tops(5)


def category(clubs: int, diamonds: int, hearts: int, spades: int) -> int:  # noqa: PLR0911 - one for each category
    """The place in the five-card order (0 a royal flush, 9 high card) of the best five of five to seven cards.

    With five to seven cards of one deck no flush leaves room for a full house, so a flush is asked first. More cards
    need ``PokerHand``.
    """
    suited = _SUITED[clubs] or _SUITED[diamonds] or _SUITED[hearts] or _SUITED[spades]
    if suited:
        return suited - 1
    black1, black2 = clubs | spades, clubs & spades
    red1, red2 = diamonds | hearts, diamonds & hearts
    twos = black2 | red2 | black1 & red1
    if not twos:
        return STRAIGHT if _STRAIGHT[black1 | red1] else NO_PAIR
    if black2 & red2:
        return QUADS
    threes = black2 & red1 | red2 & black1
    if threes and twos & (twos - 1):
        return FULL_HOUSE
    if _STRAIGHT[black1 | red1]:
        return STRAIGHT
    if threes:
        return TRIPS
    return TWO_PAIR if twos & (twos - 1) else PAIR
