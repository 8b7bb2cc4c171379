"""Closed forms against trying out: joker and wild-rank hands agree with putting every card in a wild card's place."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from naive_ranks import DECK
from naive_wild import Best, substituted

from meterd.handrank import JOKER, RANKINGS, Card, parse_cards, rank
from meterd.handrank.classes import suit_classes

SEED = 20261130
WITH_JOKER = ("fortune", "pai-gow", "five-card-bug", "joker-wild", "deuces-and-joker-wild")
DEUCES = [card for card in DECK if card.rank == 2]
OTHERS = [card for card in DECK if card.rank != 2]


def found(cards: tuple[Card, ...], ranking: str) -> Best:
    value = rank(cards, ranking)
    return value.strength, value.tiebreak, -value.wilds


def related(chooser: random.Random, size: int) -> tuple[Card, ...]:
    """Cards that lean to one suit and a narrow band of ranks, so that straights and flushes are frequent."""
    low = chooser.randrange(2, 11)
    near = [card for card in DECK if low <= card.rank <= low + 4 or card.suit == "h" or card.rank == 14]
    return tuple(chooser.sample(near, size))


def joker_hands(count: int, size: int) -> Iterator[tuple[Card, ...]]:
    chooser = random.Random(SEED + size)
    for place in range(count):
        cards = [*(related(chooser, size - 1) if place % 2 else chooser.sample(DECK, size - 1)), JOKER]
        chooser.shuffle(cards)
        yield tuple(cards)


def hands_with(extra: tuple[Card, ...], size: int, ranks: range) -> Iterator[tuple[Card, ...]]:
    """Each class of so many cards of these ranks, one hand for all its suit permutations, with some cards more."""
    for masks, _ in suit_classes(size):
        cards = [Card(place + 2, suit) for mask, suit in zip(masks, "cdhs", strict=True) for place in ones(mask)]
        if all(card.rank in ranks for card in cards):
            yield (*cards, *extra)


def ones(mask: int) -> list[int]:
    return [place for place in range(13) if mask >> place & 1]


@pytest.mark.parametrize("ranking", ["pai-gow", pytest.param("five-card-bug", marks=pytest.mark.slow), "joker-wild"])
def test_all_five_card_hands_with_the_joker_agree_with_substitution(ranking: str) -> None:
    """All 270,725, one for all suit permutations of each: category, ranks, and wild cards used."""
    hands = list(hands_with((JOKER,), 4, range(2, 15)))
    assert 16_432 == len(hands)
    for cards in hands:
        assert substituted(cards, RANKINGS[ranking]) == found(cards, ranking), cards


@pytest.mark.slow
@pytest.mark.parametrize("deuces", ["c", "cd"])
def test_all_hands_with_one_or_two_wild_deuces_agree_with_substitution(deuces: str) -> None:
    """Every hand up to a permutation of suits, and a few of them twice, since the deuces' own suits are fixed."""
    extra = tuple(Card(2, suit) for suit in deuces)
    for cards in hands_with(extra, 5 - len(extra), range(3, 15)):
        assert substituted(cards, RANKINGS["deuces-wild"]) == found(cards, "deuces-wild"), cards


@pytest.mark.parametrize("ranking", ["fortune", "pai-gow", "five-card-bug", "joker-wild"])
@pytest.mark.parametrize("size", [6, 7])
def test_six_and_seven_cards_with_the_joker_agree_with_substitution(ranking: str, size: int) -> None:
    """The best five of more cards, and the seven-card hands of Fortune."""
    for cards in joker_hands(100, size):
        if ranking != "fortune" or size == 7:
            assert substituted(cards, RANKINGS[ranking]) == found(cards, ranking), (SEED, cards)


@pytest.mark.parametrize("ranking", WITH_JOKER)
def test_without_the_joker_the_same_rankings_agree(ranking: str) -> None:
    """Natural hands of the 53-card rankings; no deuce, so that nothing is wild."""
    chooser = random.Random(SEED)
    for _ in range(300):
        cards = tuple(chooser.sample(OTHERS, 7))
        assert substituted(cards, RANKINGS[ranking]) == found(cards, ranking), (SEED, cards)


@pytest.mark.parametrize(
    ("ranking", "jokers"), [("deuces-wild", 0), ("deuces-and-joker-wild", 0), ("deuces-and-joker-wild", 1)]
)
@pytest.mark.parametrize(("deuces", "count"), [(1, 200), (2, 20), (3, 1)])
def test_wild_deuces_agree_with_substitution(ranking: str, jokers: int, deuces: int, count: int) -> None:
    """One to three wild cards, a deuce as itself included."""
    if deuces + jokers > 3:
        return
    chooser = random.Random(SEED + deuces)
    for place in range(max(1, count // (20 if jokers else 1))):
        left = 5 - deuces - jokers
        pool = [card for card in OTHERS if card.suit == "h" or 3 <= card.rank <= 6] if place % 2 else OTHERS
        cards = [*chooser.sample(pool, left), *chooser.sample(DEUCES, deuces), *[JOKER] * jokers]
        chooser.shuffle(cards)
        assert substituted(cards, RANKINGS[ranking]) == found(tuple(cards), ranking), (SEED, cards)


@pytest.mark.parametrize("ranking", ["pai-gow", "joker-wild"])
@pytest.mark.parametrize(
    "text",
    [
        "Ac Ad Ah As Jkr",
        "Kc Kd Kh Ks Jkr",
        "2c 2d 2h 2s Jkr",
        "Ac Ad Ah Kc Jkr",
        "Ah Kh Qh Jh Jkr",
        "Kh Qh Jh Th Jkr",
        "2h 3h 4h 5h Jkr",
        "Ah 2h 3h 4h Jkr",
        "Ah 3h 4h 5h Jkr",
        "Ac 2d 3h 4s Jkr",
        "2c 3d 4h 5s Jkr",
        "Tc Jd Qh Ks Jkr",
        "Ac Kd Qh Js Jkr",
        "Ac Ad Kh Ks Jkr",
        "Kc Kd Qh Qs Jkr",
        "Ac Kd 9h 4s Jkr",
        "Kc Qd 9h 4s Jkr",
        "Ah Kh Qh 2h Jkr",
        "6h 7h 8h Th Jkr",
        "5c 5d 5h 9s Jkr",
    ],
)
def test_chosen_joker_hands_agree_with_substitution(ranking: str, text: str) -> None:
    """The hands at the edges: wheel, broadway, gaps at either end, two pair and a joker, four of each end."""
    cards = parse_cards(text)
    assert substituted(cards, RANKINGS[ranking]) == found(cards, ranking)
