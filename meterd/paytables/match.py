"""Which hands a row means: a category of the evaluator, which cards are looked at, and what must hold besides.

    straight-flush top:A suit:s                an ace-high straight flush of spades
    pair top:J+ · pair top:6-T                 a pair of jacks or better, of sixes to tens
    royal-flush first:5 · royal-flush board    the first five cards in dealt order; the community cards alone
    straight-flush with:up                     the player's cards and the dealer's up card
    straight length:4 | flush length:4         either of two
    any ranks:AK suited                        any cards at all, if they are an ace and a king of one suit

Each alternative is asked on its own: a royal flush is a straight flush too. Rows are tried best first and the first
that holds is the hand, so the order of a game's hands is the order of its rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Final, NamedTuple

from meterd.handrank import dice, wheel
from meterd.handrank.badbeat import STRAIGHT_MIN
from meterd.paytables.evaluators import RUNS, Evaluator
from meterd.paytables.qualifiers import CONDITIONS, Condition, read_condition

#: Words that say which cards are looked at, and the length of a run or flush.
SCOPES: Final = ("first:5", "board", "with:up", "with:dealer", "of:dealer", "unbusted", "length:4")

#: Where the cards looked at come from, by the word that says so, and how many dealer's cards they need.
_PLACES: Final = {"board": 0, "with:up": 1, "with:dealer": 2, "of:dealer": 1}

_RUN_MAX: Final = 14

#: Conditions that may stand twice, with another card each: all of them must hold.
_SEVERAL: Final = ("holds",)

#: The forms of a row of a list of wagers.
WAGERS: Final = (
    "pockets:18",
    "pockets:5/38",
    "sections:23/54",
    "roll:7",
    "roll:2,3,12",
    "hop:1-3",
    "before:4/7",
    "hard:4",
    "pass",
    "dont-pass",
    "unsaid",
)
#: A wager of the list whose chance the rule text does not tell; it may stand in no alternative.
UNSAID: Final = "unsaid"
_ONE_ROLL: Final = ("roll", "hop")


class Scope(NamedTuple):
    """The cards looked at: from ``place`` (own and community unless a word says otherwise), the ``first`` so many.

    ``dealer``: how many of the dealer's cards belong to them. ``unbusted``: without the card that busts the hand.
    """

    place: str = ""
    first: int | None = None
    unbusted: bool = False

    @property
    def dealer(self) -> int:
        """Dealer's cards that must be known."""
        return _PLACES.get(self.place, 0)


#: Own and community cards, as many as count.
WHOLE: Final = Scope()


@dataclass(frozen=True, slots=True)
class Match:
    """One alternative: ``category`` among the cards of ``scope``, with every condition.

    ``length``: how many cards make the run or flush, where the row says so.
    """

    category: str
    scope: Scope = WHOLE
    length: int | None = None
    conditions: tuple[Condition, ...] = ()


@cache
def parse_match(text: str, evaluator: Evaluator) -> tuple[Match, ...]:
    """A row's ``match`` text as its alternatives, in the words of its evaluator.

    Raises:
        ValueError: names the word that is unknown or impossible there, and the nearest known one.
    """
    if not text.isprintable():
        raise ValueError(f"{text!r}: one line of words with spaces between them")
    alternatives = text.split(" | ")
    if evaluator.model == "wagers":
        return tuple(_wager(alternative, len(alternatives)) for alternative in alternatives)
    return tuple(_alternative(alternative, evaluator) for alternative in alternatives)


def _wager(bet: str, among: int) -> Match:
    """A bet in words: what the dice and wheels know the chance of. Only bets on one roll can be alternatives."""
    word = bet.partition(":")[0]
    if bet != UNSAID and word not in (*dice.WORDS, *wheel.WORDS):
        raise ValueError(f"unknown wager {bet!r}{nearest(bet, WAGERS)}")
    if among > 1 and word not in _ONE_ROLL:
        raise ValueError(f"only bets on one roll ({', '.join(_ONE_ROLL)}) can be alternatives, not {bet!r}")
    if word in dice.WORDS:
        dice.chance(bet)
    elif word in wheel.WORDS:
        wheel.chance(bet, double_zero=not bet.endswith("/37"))
    return Match(bet)


def _alternative(text: str, evaluator: Evaluator) -> Match:
    category, *words = text.split() or [""]
    if category not in evaluator.categories:
        raise ValueError(f"unknown category {category!r}{nearest(category, evaluator.categories)}")
    scope, length, conditions = Scope(), None, []
    said: set[str] = set()
    for word in words:
        name, _, argument = word.partition(":")
        try:
            if name in said and (name not in _SEVERAL or words.count(word) > 1):
                raise ValueError(f"{name} is said already")  # noqa: TRY301
            said.add(name)
            if name not in evaluator.qualifiers:
                raise ValueError("not here")  # noqa: TRY301 - one message for all that is wrong with a word
            if name == "length":
                shortest = STRAIGHT_MIN if evaluator.model == "bad-beat" else 2
                length = _count(argument, shortest, min(evaluator.cards_max, _RUN_MAX))
            elif name in CONDITIONS:
                conditions.append(read_condition(word, evaluator.ranking))
            else:
                scope = _narrowed(scope, word, evaluator)
        except ValueError as error:
            raise ValueError(_unknown(word, error, evaluator)) from error
    if length is not None and category not in RUNS:
        raise ValueError(f"length:{length} belongs to {', '.join(RUNS)}, not to {category!r}")
    if scope.unbusted and scope.place:
        raise ValueError(f"unbusted is about the player's own cards; it cannot stand with {scope.place}")
    return Match(category, scope, length, tuple(conditions))


def _narrowed(scope: Scope, word: str, evaluator: Evaluator) -> Scope:
    """The scope with one word more."""
    if word in _PLACES:
        if scope.place:
            raise ValueError(f"{scope.place} is said already")
        return scope._replace(place=word)
    if word == "unbusted":
        return scope._replace(unbusted=True)
    name, _, argument = word.partition(":")
    if name != "first":
        raise ValueError("no such cards")
    return scope._replace(first=_count(argument, 1, evaluator.cards_max))


def _count(argument: str, low: int, high: int) -> int:
    if not argument.isdecimal() or not argument.isascii() or len(argument) > 2 or not low <= int(argument) <= high:
        raise ValueError(f"expected a number from {low} to {high}")
    return int(argument)


def _unknown(word: str, error: ValueError, evaluator: Evaluator) -> str:
    """The word, the nearest known one, and what is wrong if the word itself is known."""
    name = word.partition(":")[0]
    known = [example for example in examples() if example.partition(":")[0] in evaluator.qualifiers]
    if word in known:
        return f"qualifier {word!r}: {error}"
    why = f" ({error})" if name in evaluator.qualifiers else ""
    return f"unknown qualifier {word!r}{why}{nearest(word, known)}"


@cache
def examples() -> tuple[str, ...]:
    """Every form of qualifier as an example."""
    return (*SCOPES, *(example for each in CONDITIONS.values() for example in each.example.split()))


def nearest(word: str, known: Sequence[str]) -> str:
    """``; did you mean …?`` for a near miss, else the list of what is known."""
    close = get_close_matches(word, known, n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else f"; known are: {', '.join(known)}"
