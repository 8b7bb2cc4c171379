"""The shared hand-ranking core: cards in, outcome out.

Standard library only: any other program can import it alone.

>>> from meterd.handrank import parse_cards, rank
>>> print(rank(parse_cards("9h Th Jh Qh Kh"), "five-card"))
straight-flush K (9h Th Jh Qh Kh)
"""

from __future__ import annotations

from meterd.handrank.cards import JOKER, Card, CardError, check_decks, parse_card, parse_cards
from meterd.handrank.masks import Features, best_category
from meterd.handrank.rankings import RANKINGS, Ranking
from meterd.handrank.shoe import same_color, same_suit, sevens
from meterd.handrank.streak import Streak, parse_spins, rising_streak
from meterd.handrank.values import HandValue, rank

__all__ = [
    "JOKER",
    "RANKINGS",
    "Card",
    "CardError",
    "Features",
    "HandValue",
    "Ranking",
    "Streak",
    "best_category",
    "check_decks",
    "parse_card",
    "parse_cards",
    "parse_spins",
    "rank",
    "rising_streak",
    "same_color",
    "same_suit",
    "sevens",
]
