"""The shared hand-ranking core: cards in, outcome out.

Standard library only: any other program can import it alone. Blackjack totals, dice and wheels are modules of their
own (``blackjack``, ``dice``, ``wheel``).

>>> from meterd.handrank import parse_cards, rank
>>> print(rank(parse_cards("9h Th Jh Qh Kh"), "five-card"))
straight-flush K (9h Th Jh Qh Kh)
"""

from __future__ import annotations

from .badbeat import BadBeat, two_way_bad_beat
from .cards import JOKER, Card, CardError, check_decks, parse_card, parse_cards
from .masks import category
from .poker import CATEGORIES, PokerHand, longest_flush, longest_straight, rank
from .rankings import FIVE_CARD, RANKINGS, Ranking
from .shoe import ShoeHand, rank_shoe, same_color, same_suit, sevens
from .streak import Streak, parse_spins, rising_streak
from .values import HandValue

__all__ = [
    "CATEGORIES",
    "FIVE_CARD",
    "JOKER",
    "RANKINGS",
    "BadBeat",
    "Card",
    "CardError",
    "HandValue",
    "PokerHand",
    "Ranking",
    "ShoeHand",
    "Streak",
    "category",
    "check_decks",
    "longest_flush",
    "longest_straight",
    "parse_card",
    "parse_cards",
    "parse_spins",
    "rank",
    "rank_shoe",
    "rising_streak",
    "same_color",
    "same_suit",
    "sevens",
    "two_way_bad_beat",
]
