"""Evaluators: how the cards of a game become a hand. A pay table names one of these, its rows name categories of it.

``model`` says what the cards are read as:

* ``single``: poker hands of ``ranking`` from one deck, jokers and wild cards as the ranking says;
* ``shoe``: hands of any number of cards from several decks, and blackjack totals;
* ``sevens``: a blackjack hand as dealt; ``bad-beat``: the lower of two longest straights;
* ``spins``, ``rolls``: numbers instead of cards; ``wagers``: no hand at all, each row is a bet of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from meterd.handrank.shoe import SEVENS

#: Longest streak any wheel allows: one box for each of the 38 numbers in rising order.
STREAK_MAX: Final = 38

#: Most points of a craps streak that any pay table lists.
POINTS_MAX: Final = 10

#: A blackjack hand has no upper bound short of this: eleven cards of low rank total 21 in one deck, 21 in many.
BLACKJACK_CARDS_MAX: Final = 21

#: Cards of each hand of the two-way bad beat: the player's own and the shared ones, and the dealer's.
BAD_BEAT_PLAYER: Final = 7
BAD_BEAT_DEALER: Final = 8

#: Categories that take ``length:N``.
RUNS: Final = ("royal-flush", "straight-flush", "flush", "straight")

_SEEN: Final = ("first", "board", "with", "of", "unbusted")
_HELD: Final = ("top", "suit", "suited", "one-color", "own", "ranks", "cards", "holds", "count", "length")
_DEALER: Final = ("dealer-ranks", "dealer-suited", "dealer-same-suit", "beats-dealer", "ties-dealer")
_WILD: Final = ("natural", "joker")
_BLACKJACK: Final = ("total", "blackjack", "bust", "up", "dealer", "matches", "matches-down")


@dataclass(frozen=True, slots=True)
class Evaluator:
    """``cards_max``: of own and community cards as dealt, only so many count. ``jokers``: most a hand can hold."""

    name: str
    model: str
    categories: tuple[str, ...]
    qualifiers: tuple[str, ...] = ()
    ranking: str = ""
    cards_max: int = 0
    jokers: int = 0


_THREE: Final = ("straight-flush", "three-of-a-kind", "straight", "flush", "pair", "high-card", "any")
_FOUR: Final = (
    "royal-flush",
    "four-of-a-kind",
    "straight-flush",
    "three-of-a-kind",
    "flush",
    "straight",
    "two-pair",
    "pair",
    "high-card",
    "any",
)
_FIVE: Final = (
    "royal-flush",
    "straight-flush",
    "four-of-a-kind",
    "full-house",
    "flush",
    "straight",
    "three-of-a-kind",
    "two-pair",
    "pair",
    "high-card",
    "any",
)
_SEVEN: Final = (*_FIVE, "three-pair")
_BUG: Final = (
    "five-of-a-kind",
    *_SEVEN,
    "royal-flush-and-suited-ace-king",
    "royal-flush-and-suited-king-queen",
    "seven-card-straight-flush",
    "seven-card-straight-flush-with-joker",
)
_WILD_HANDS: Final = ("natural-royal-flush", "five-of-a-kind", "five-aces", *_SEVEN)


_WITHOUT_WILD: Final = ("three-card", "four-card", "five-card")


def _single(name: str, ranking: str, categories: tuple[str, ...], cards_max: int, jokers: int = 0) -> Evaluator:
    qualifiers = (*_HELD, *_SEEN, *_DEALER, *(_WILD if ranking not in _WITHOUT_WILD else ()))
    return Evaluator(name, "single", categories, qualifiers, ranking, cards_max, jokers)


EVALUATORS: Final[dict[str, Evaluator]] = {
    evaluator.name: evaluator
    for evaluator in (
        _single("three-card", "three-card", _THREE, 3),
        _single("four-card", "four-card", _FOUR, 4),
        _single("best-four-of-five", "four-card", _FOUR, 5),
        _single("five-card", "five-card", _FIVE, 5),
        _single("best-five-of-six", "five-card", _SEVEN, 6),
        _single("best-five-of-seven", "five-card", _SEVEN, 7),
        _single("five-card-bug", "five-card-bug", _BUG, 7, jokers=1),
        _single("pai-gow", "pai-gow", _BUG, 7, jokers=1),
        _single("joker-wild", "joker-wild", _WILD_HANDS, 7, jokers=1),
        _single("deuces-wild", "deuces-wild", (*_WILD_HANDS, "four-deuces"), 7),
        _single(
            "deuces-and-joker-wild",
            "deuces-and-joker-wild",
            (*_WILD_HANDS, "four-deuces", "five-wilds"),
            7,
            jokers=1,
        ),
        Evaluator(
            "shoe",
            "shoe",
            ("five-of-a-kind", *_SEVEN),
            (*_HELD, *_SEEN, *_DEALER, *_BLACKJACK),
            cards_max=BLACKJACK_CARDS_MAX,
        ),
        Evaluator("sevens", "sevens", SEVENS, ("suit", "suited", "one-color"), cards_max=BLACKJACK_CARDS_MAX),
        Evaluator("two-way-bad-beat", "bad-beat", ("straight",), ("length",), cards_max=BAD_BEAT_PLAYER),
        Evaluator("rising-streak", "spins", tuple(f"streak-{length}" for length in range(1, STREAK_MAX + 1))),
        Evaluator("craps-points", "rolls", tuple(f"points-{points}" for points in range(POINTS_MAX + 1))),
        Evaluator("craps-distinct-points", "rolls", tuple(f"points-{points}" for points in range(7))),
        Evaluator("craps-all-numbers", "rolls", ("all-numbers",)),
        Evaluator("wagers", "wagers", ()),
    )
}
