"""Big universes, worked out once and kept as data: classes of hands that answer every question a row may ask alike.

The text of a universe, one per file, is

    universe 7-of-52-five-card          its name: cards, deck, ranking
    total 133784560                     number of hands; the weights sum to it
    asks straight-flush/top straight/top straight:7 …
    whole straight-flush                hands that hold one of these are not lumped together by their answers
    classes 12345                       number of lines that follow
    4 AsKsQsJsTs9h8h                    a weight, and one hand of the class

An *ask* is a category, ``:size`` where it is asked for another size than the ranking's, ``/top`` where its first
deciding rank is part of the answer, ``/wild`` where it is part of the answer whether wild cards play. Two hands of
one class give the same answers to all asks, so whichever row asks nothing else is decided by the one hand that stands
there. The answers come from the evaluator; nothing here knows what a straight is.

Only one thing is taken for granted to save time while a universe is made: while no suit has as many cards (wild cards
counted) as the smallest flush asked for, a hand's answers depend on its ranks alone. The tests check samples without
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import Final

from meterd.handrank.cards import JOKER, RANK_MIN, RANKS, SUITS, Card, parse_card
from meterd.handrank.poker import PokerHand
from meterd.handrank.rankings import RANKINGS
from meterd.paytables.decide import single_ranking
from meterd.paytables.parsheet.classes import Masks, mask_classes
from meterd.paytables.parsheet.sheet import UniverseError

#: Categories whose answer depends on suits.
SUITED = (
    "royal-flush",
    "straight-flush",
    "flush",
    "royal-flush-and-suited-ace-king",
    "royal-flush-and-suited-king-queen",
)

#: Answers of one hand to all asks of a universe: what each way to read the hand shows, none where it does not hold.
Signature = tuple[tuple[tuple[int | bool, ...], ...], ...]


@dataclass(frozen=True, slots=True)
class Ask:
    """One question: a category, its size if not the ranking's, and whether top rank and wild cards matter."""

    category: str
    size: int | None = None
    top: bool = False
    wild: bool = False

    def __str__(self) -> str:
        """As in the file: ``straight-flush:7/top/wild``."""
        size = "" if self.size is None else f":{self.size}"
        return f"{self.category}{size}{'/top' if self.top else ''}{'/wild' if self.wild else ''}"

    @classmethod
    def parse(cls, text: str) -> Ask:
        """The inverse of ``str``."""
        question, *parts = text.split("/")
        category, _, size = question.partition(":")
        return cls(category, int(size) if size else None, "top" in parts, "wild" in parts)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a universe is to hold: ``size`` of 52 cards and ``jokers``, as hands of ``ranking``."""

    size: int
    ranking: str
    asks: tuple[Ask, ...]
    whole: tuple[str, ...] = ()
    jokers: int = 0

    @property
    def name(self) -> str:
        """``7-of-53-pai-gow``."""
        return f"{self.size}-of-{52 + self.jokers}-{self.ranking}"

    @property
    def total(self) -> int:
        """Number of hands."""
        return comb(52 + self.jokers, self.size)

    @property
    def flush_min(self) -> int:
        """The fewest cards of one suit that matter."""
        usual = single_ranking(self.ranking, self.size).size
        return min([ask.size or usual for ask in self.asks if ask.category in SUITED], default=self.size + 1)


@dataclass(frozen=True, slots=True)
class Universe:
    """A plan carried out: hands with the number of hands each stands for."""

    plan: Plan
    classes: tuple[tuple[tuple[Card, ...], int], ...]

    def render(self) -> str:
        """The text of the file."""
        head = [
            f"universe {self.plan.name}",
            f"total {self.plan.total}",
            f"asks {' '.join(map(str, self.plan.asks))}",
            f"whole {' '.join(self.plan.whole)}".strip(),
            f"classes {len(self.classes)}",
        ]
        return "\n".join([*head, *(f"{weight} {''.join(map(str, cards))}" for cards, weight in self.classes)]) + "\n"


def _asks(*words: str) -> tuple[Ask, ...]:
    return tuple(Ask.parse(word) for text in words for word in text.split())


#: What cards of equal rank can be asked, each with its top.
_GROUPED: Final = (
    "four-of-a-kind/top full-house/top three-of-a-kind/top three-pair/top two-pair/top pair/top high-card/top"
)

#: Of seven of 53 cards: the natural straight flush of seven apart from the one with the joker, and so on.
_WITH_JOKER: Final = (
    "royal-flush/wild straight-flush/top/wild straight-flush:7/top/wild five-of-a-kind/top"
    " royal-flush-and-suited-ace-king/wild royal-flush-and-suited-king-queen/wild flush/wild straight/wild"
)

#: The universes kept as data under ``schema/universes``. A row that asks more is worked out when it is asked.
PLANS: Final = (
    Plan(5, "five-card", _asks("royal-flush straight-flush/top flush/top straight/top", _GROUPED)),
    Plan(5, "four-card", _asks("straight-flush/top flush/top straight/top", _GROUPED)),
    Plan(
        7,
        "five-card",
        _asks(
            "royal-flush straight-flush/top straight-flush:6/top straight-flush:7/top flush straight",
            "straight:4 straight:6 straight:7",
            _GROUPED,
        ),
        whole=("straight-flush",),
    ),
    Plan(7, "five-card-bug", _asks(_WITH_JOKER, _GROUPED), jokers=1),
    Plan(7, "pai-gow", _asks(_WITH_JOKER, _GROUPED), jokers=1),
)


@lru_cache(maxsize=8)
def parse_universe(text: str) -> Universe:
    """The inverse of :meth:`Universe.render`.

    Raises:
        UniverseError: the text is not a universe, or its numbers do not agree with each other.
    """
    try:
        return _parsed(text)
    except UniverseError:
        raise
    except (ValueError, LookupError) as error:
        raise UniverseError(f"universe {text.partition(chr(10))[0][:80]!r} cannot be read: {error!r}") from error


def _parsed(text: str) -> Universe:
    lines = text.splitlines()
    head = {word: rest for word, _, rest in (line.partition(" ") for line in lines[:5])}
    size, _, deck, ranking = head["universe"].split("-", 3)
    asks = tuple(Ask.parse(ask) for ask in head["asks"].split())
    plan = Plan(int(size), ranking, asks, tuple(head["whole"].split()), int(deck) - 52)
    classes = tuple(_class(line) for line in lines[5:])
    if len(classes) != int(head["classes"]) or not int(head["total"]) == plan.total == sum(w for _, w in classes):
        raise UniverseError(f"universe {head['universe']}: its classes do not make up its total")
    return Universe(plan, classes)


def _class(line: str) -> tuple[tuple[Card, ...], int]:
    weight, _, cards = line.partition(" ")
    joker = cards.endswith(str(JOKER))
    plain = cards.removesuffix(str(JOKER))
    hand = tuple(parse_card(plain[place : place + 2]) for place in range(0, len(plain), 2))
    return (*hand, JOKER) if joker else hand, int(weight)


def signature(cards: Sequence[Card], plan: Plan) -> Signature:
    """The answers of some cards to all asks of a plan."""
    hand = PokerHand(cards, single_ranking(plan.ranking, plan.size))
    return tuple(_answer(hand, ask) for ask in plan.asks)


def _answer(hand: PokerHand, ask: Ask) -> tuple[tuple[int | bool, ...], ...]:
    """The hand as a row reads it: at its best, and without wild cards where they play in that."""
    value = hand.find(ask.category, ask.size)
    if value is None:
        return ()
    readings = [value]
    if value.wilds and (ask.top or ask.wild):
        natural = hand.find(ask.category, ask.size, natural=True)
        readings += [natural] if natural is not None else []
    return tuple(
        (
            *((reading.tiebreak[0],) if ask.top and reading.tiebreak else ()),
            *((reading.wilds == 0, JOKER in reading.cards_used) if ask.wild else ()),
        )
        for reading in readings
    )


def build(plan: Plan) -> Universe:
    """All hands of the plan, as classes with equal answers, in order of their first hand."""
    merged: dict[tuple[object, ...], tuple[tuple[Card, ...], int]] = {}
    for cards, weight in shapes(plan):
        answers = signature(cards, plan)
        held = {ask.category for ask, answer in zip(plan.asks, answers, strict=True) if answer}
        key: tuple[object, ...] = (answers, cards) if held & set(plan.whole) else (answers,)
        first, sum_so_far = merged.get(key, (cards, 0))
        merged[key] = first, sum_so_far + weight
    return Universe(plan, tuple(merged.values()))


def shapes(plan: Plan) -> Iterator[tuple[tuple[Card, ...], int]]:
    """All hands of a plan by shape: its ranks, and its suits too where one is long enough for a flush."""
    spread = [sum(1 << 4 * bit for bit in range(13) if mask >> bit & 1) for mask in range(1 << 13)]
    shortest, wild_ranks = plan.flush_min, sum(1 << rank - RANK_MIN for rank in RANKINGS[plan.ranking].wild_ranks)
    weights: dict[tuple[object, ...], int] = {}
    firsts: dict[tuple[object, ...], tuple[Masks, int]] = {}
    for masks, jokers, weight in mask_classes(plan.size, plan.jokers):
        a, b, c, d = masks
        wild = jokers + sum((mask & wild_ranks).bit_count() for mask in masks) if wild_ranks else jokers
        if a.bit_count() + wild >= shortest:
            key: tuple[object, ...] = (masks, jokers)
        else:
            key = (spread[a] + spread[b] + spread[c] + spread[d], jokers)
        if key in weights:
            weights[key] += weight
        else:
            weights[key], firsts[key] = weight, (masks, jokers)
    for key, weight in weights.items():
        yield cards_of(*firsts[key]), weight


def cards_of(masks: Iterable[int], jokers: int) -> tuple[Card, ...]:
    """The cards of four suit masks, highest first in each suit, jokers last."""
    cards = [
        Card(bit + RANK_MIN, suit)
        for suit, mask in zip(reversed(SUITS), masks, strict=True)
        for bit in range(len(RANKS) - 1, -1, -1)
        if mask >> bit & 1
    ]
    return (*cards, *(JOKER,) * jokers)
