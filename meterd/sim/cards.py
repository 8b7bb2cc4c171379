"""The cards of a simulated table: shuffled decks, a deck stacked for luck, and the dealer's reading of a hand.

The reading names a row of the table's pay table from the cards alone, by the shared ranking core; which rows there are
the plan says. A row that this dealer cannot name is never keyed.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from meterd.handrank import Card, rank, same_color, same_suit, sevens

RANKS: Final = tuple(range(2, 15))
SUITS: Final = "cdhs"
ACE: Final = 14
SEVEN: Final = 7
DIAMONDS: Final = "d"
SPADES: Final = "s"


def shuffled(chance: random.Random, decks: int = 1) -> list[Card]:
    """All cards of ``decks`` decks in a random order."""
    cards = [Card(rank_, suit) for _ in range(decks) for rank_ in RANKS for suit in SUITS]
    chance.shuffle(cards)
    return cards


def read_hand(evaluator: str, cards: Sequence[Card], hands: Sequence[str]) -> str | None:
    """The key of the best row that ``cards`` (own first, then community) make, or None for a losing hand."""
    return next((name for name in _names(evaluator, cards) if name in hands), None)


def _names(evaluator: str, cards: Sequence[Card]) -> list[str]:
    """What the cards can be called on a pay table, best name first."""
    if evaluator == "sevens":
        return _seven_names(cards)
    value = rank(cards, evaluator)
    names = [value.category]
    if evaluator == "three-card" and value.category == "straight-flush" and value.tiebreak[0] == ACE:
        suited = "akq-spades" if cards[0].suit == SPADES else "akq-hearts-diamonds-clubs"
        names.insert(0, suited)
    if value.category == "royal-flush":
        names.append("straight-flush")
    return names


def _seven_names(cards: Sequence[Card]) -> list[str]:
    value = sevens(cards)
    names = {
        "three-sevens": ["three-7s"],
        "two-sevens": ["first-two-cards-7"],
        "one-seven": ["either-of-the-first-two-cards-7"],
    }.get(value.category, [])
    if value.category == "three-sevens":
        if same_color(value.cards_used):
            names.insert(0, "three-7s-same-color")
        if same_suit(value.cards_used):
            names[:0] = ["three-7s-suited-other", "three-7s-same-suit"]
            if value.cards_used[0].suit == DIAMONDS:
                names.insert(0, "three-7s-diamonds")
    return names


def lucky_cards(evaluator: str, hand: str, chance: random.Random) -> list[Card] | None:
    """Cards that make ``hand``, in an order a dealer could have dealt; None where this dealer knows no such hand."""
    cards = _MAKERS[evaluator](hand, chance) if evaluator in _MAKERS else None
    if cards and evaluator != "sevens":
        chance.shuffle(cards)
    return cards


def stacked(deck: list[Card], wanted: Sequence[Card], places: Sequence[int]) -> list[Card]:
    """``deck`` with each wanted card brought to its place by a swap."""
    cards = list(deck)
    filled: set[int] = set()
    for card, place in zip(wanted, places, strict=True):
        found = next(at for at, each in enumerate(cards) if each == card and at not in filled)
        cards[found], cards[place] = cards[place], cards[found]
        filled.add(place)
    return cards


def _five_cards(hand: str, chance: random.Random) -> list[Card] | None:
    a, b, c = chance.sample(RANKS, 3)
    suits = chance.sample(SUITS, 4)
    low, high = chance.randrange(6, 14), chance.randrange(6, 15)
    made: dict[str, list[tuple[int, str]]] = {
        "royal-flush": [(rank_, suits[0]) for rank_ in range(10, 15)],
        "straight-flush": [(low - n, suits[0]) for n in range(5)],
        "four-of-a-kind": [*((a, suit) for suit in SUITS), (b, suits[0])],
        "full-house": [*((a, suit) for suit in suits[:3]), *((b, suit) for suit in suits[:2])],
        "flush": [(rank_, suits[0]) for rank_ in (2, 4, 7, 9, chance.choice((11, 12, 13, 14)))],
        "straight": [(high - n, suits[n % 2]) for n in range(5)],
        "three-of-a-kind": [*((a, suit) for suit in suits[:3]), (b, suits[0]), (c, suits[1])],
    }
    return [Card(rank_, suit) for rank_, suit in made[hand]] if hand in made else None


def _three_cards(hand: str, chance: random.Random) -> list[Card] | None:
    suits = chance.sample(SUITS, 3)
    match hand:
        case "akq-spades":
            return [Card(rank_, SPADES) for rank_ in (14, 13, 12)]
        case "akq-hearts-diamonds-clubs":
            suit = chance.choice("hdc")
            return [Card(rank_, suit) for rank_ in (14, 13, 12)]
        case "straight-flush":
            top = chance.randrange(4, 14)
            return [Card(rank_, suits[0]) for rank_ in range(top - 2, top + 1)]
        case "three-of-a-kind":
            rank_ = chance.choice(RANKS)
            return [Card(rank_, suit) for suit in suits]
        case "straight":
            top = chance.randrange(4, 15)
            return [Card(top - n, suits[n]) for n in range(3)]
    return None


def _seven_cards(hand: str, chance: random.Random) -> list[Card] | None:
    other = Card(chance.choice((4, 9, 10, 13)), chance.choice(SUITS))
    wanted = {
        "three-7s-diamonds": "ddd",
        "three-7s-suited-other": chance.choice("chs") * 3,
        "three-7s-same-suit": chance.choice(SUITS) * 3,
        "three-7s-same-color": chance.choice(("csc", "dhd", "hdh", "scc")),
        "three-7s": chance.choice(("cdh", "shd", "hcs")),
    }.get(hand)
    if wanted:
        return [Card(SEVEN, suit) for suit in wanted]
    if hand == "first-two-cards-7":
        return [Card(SEVEN, "c"), Card(SEVEN, "h"), other]
    return [Card(SEVEN, "c"), other, other] if hand == "either-of-the-first-two-cards-7" else None


_MAKERS: Final = {"five-card": _five_cards, "three-card": _three_cards, "sevens": _seven_cards}
