"""Which hands a row means: a category of the evaluator and what must hold besides.

    straight-flush top:A suit:s     an ace-high straight flush of spades
    pair top:J+ · pair top:6-T      a pair of jacks or better, of sixes to tens
    royal-flush first:5             the best hand of the first five cards in dealt order
    royal-flush board               the community cards alone
    royal-flush own                 at least one of the player's own cards is in the hand
    three-sevens suited · three-sevens one-color

Rows are tried in printed order and the first that holds is the hand. Ranks are 2 to 14.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from typing import Any, Final

from meterd.handrank.cards import ACE, RANK_MIN, RANKS, SUITS, Card
from meterd.handrank.shoe import same_color, same_suit
from meterd.handrank.values import HandValue
from meterd.paytables.evaluators import Evaluator

QUALIFIERS: Final = (
    "top:A",
    "top:J+",
    "top:6-T",
    "suit:s",
    "suit:hdc",
    "suited",
    "one-color",
    "first:5",
    "board",
    "own",
)

#: Qualifiers that take no argument, and the field each sets.
_FLAGS: Final = {"suited": "suited", "one-color": "one_color", "board": "board", "own": "own"}


@dataclass(frozen=True, slots=True)
class Match:
    """A category and its qualifiers. ``first`` and ``board`` say which cards are looked at, the rest what must hold."""

    category: str
    top: tuple[int, int] | None = None
    suits: str | None = None
    suited: bool = False
    one_color: bool = False
    first: int | None = None
    board: bool = False
    own: bool = False

    def holds(self, value: HandValue, own: Sequence[Card]) -> bool:
        """Whether this value is the hand meant; ``own`` are the player's own cards."""
        used = value.cards_used
        return (
            value.category == self.category
            and (self.top is None or self.top[0] <= value.tiebreak[0] <= self.top[1])
            and (self.suits is None or (same_suit(used) and used[0].suit in self.suits))
            and (not self.suited or same_suit(used))
            and (not self.one_color or same_color(used))
            and (not self.own or any(card in own for card in used))
        )


@cache
def parse_match(text: str, evaluator: Evaluator) -> Match:
    """A row's ``match`` text in the words of its evaluator.

    Raises:
        ValueError: names the word that is unknown or impossible there, and the nearest known one.
    """
    category, *words = text.split() or [""]
    if category not in evaluator.categories:
        raise ValueError(f"unknown category {category!r}{nearest(category, evaluator.categories)}")
    match = Match(category)
    for word in words:
        name, _, argument = word.partition(":")
        qualified = _qualified(match, name, argument, evaluator) if name in evaluator.qualifiers else None
        if qualified is None:
            known = [example for example in QUALIFIERS if example.partition(":")[0] in evaluator.qualifiers]
            raise ValueError(f"unknown qualifier {word!r}{nearest(word, known)}")
        match = qualified
    return match


def _qualified(match: Match, name: str, argument: str, evaluator: Evaluator) -> Match | None:
    """The match narrowed by one qualifier, or None if the argument makes no sense."""
    if name in _FLAGS:
        flag: dict[str, Any] = {_FLAGS[name]: True}
        return None if argument else replace(match, **flag)
    if name == "first" and argument.isdecimal() and 0 < int(argument) <= evaluator.cards_max:
        return replace(match, first=int(argument))
    if name == "suit" and argument and set(argument) <= set(SUITS):
        return replace(match, suits=argument)
    top = _rank_range(argument) if name == "top" else None
    return replace(match, top=top) if top else None


def _rank_range(text: str) -> tuple[int, int] | None:
    """``A`` as 14-14, ``J+`` as 11-14, ``6-T`` as 6-10; None for anything else."""
    low, dash, high = text.removesuffix("+").partition("-")
    if low not in RANKS or len(low) != 1:
        return None
    first = RANKS.index(low) + RANK_MIN
    if text.endswith("+"):
        return None if dash else (first, ACE)
    if not dash:
        return first, first
    if high not in RANKS or len(high) != 1:
        return None
    return first, RANKS.index(high) + RANK_MIN


def nearest(word: str, known: Sequence[str]) -> str:
    """``; did you mean …?`` for a near miss, else the list of what is known."""
    close = get_close_matches(word, known, n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else f"; known are: {', '.join(known)}"
