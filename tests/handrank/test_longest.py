"""Longest straight and longest flush, and the sizes that a row can ask for."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from naive_ranks import DECK

from meterd.handrank import CardError, PokerHand, longest_flush, longest_straight, parse_cards

SEED = 20261130


@pytest.mark.parametrize(
    ("text", "length", "top"),
    [
        ("4c 4d 5h 5s 6c 7d 7h", 4, 7),
        ("Kc Kd Ah As 2c 2d 7h", 2, 14),
        ("Ac 2d 3h 4s 9c Jd Kh", 4, 4),
        ("Ac 2d Kh Qs Jc 7d 3h", 4, 14),
        ("Ac 2d 3h 4s 5c 6d 7h", 7, 7),
        ("8c 9d Th Js Qc Kd Ah", 7, 14),
        ("2c 4d 6h 8s Tc Qd 2h", 1, 12),
        ("9c", 1, 9),
        ("Ac", 1, 14),
        ("2c 3d 5h 6s 8c 9d Jh Qs", 2, 12),
        ("Ac Ad Ah As", 1, 14),
        ("5c 6d 7h 8s 9c Td Jh Qs Kc", 9, 13),
        ("Ac 2d 3h 4s 5c 6d 7h 8s 9c Td Jh Qs Kc", 13, 14),
    ],
)
def test_the_longest_run_of_ranks(text: str, length: int, top: int) -> None:
    """Second cards of a rank neither break nor lengthen it; an ace is high or low; ties go to the top."""
    assert (length, top) == longest_straight(parse_cards(text))


@pytest.mark.parametrize(
    ("text", "length", "suit"),
    [
        ("2h 5h 9h Jh Kh 3c 4d", 5, "h"),
        ("2h 5h 9h Kc 3c 4c 7d", 3, "c"),
        ("Ah 5h 9h Ac 3c 4c 7d", 3, "h"),
        ("2c", 1, "c"),
        ("Ac Kd Qh Js", 1, "c"),
        ("2s 3s 4s 5s 6s 7s 8s", 7, "s"),
    ],
)
def test_the_longest_flush(text: str, length: int, suit: str) -> None:
    """Of two equally long ones the one with the highest cards."""
    assert (length, suit) == longest_flush(parse_cards(text))


def test_both_agree_with_counting() -> None:
    """2,000 random hands of one to eight cards: runs by walking, flushes by counting."""
    chooser = random.Random(SEED)
    for _ in range(2_000):
        cards = chooser.sample(DECK, chooser.randrange(1, 9))
        ranks = {card.rank for card in cards} | ({1} if any(card.rank == 14 for card in cards) else set())
        runs = [
            (length, top)
            for top in ranks
            for length in range(1, 14)
            if top > 1 and ranks >= set(range(top - length + 1, top + 1))
        ]
        assert max(runs) == longest_straight(cards), (SEED, cards)
        suits = Counter(card.suit for card in cards)
        length, suit = longest_flush(cards)
        assert (max(suits.values()), length) == (length, suits[suit]), (SEED, cards)


@pytest.mark.parametrize("text", ["", "As As", "As Jkr"])
def test_what_cannot_be_measured_is_refused(text: str) -> None:
    """No card, a card twice, a joker."""
    for measure in (longest_straight, longest_flush):
        with pytest.raises(CardError):
            measure(parse_cards(text))


@pytest.mark.parametrize(
    ("text", "category", "size", "used"),
    [
        ("Ah Kh Qh Jh Th 9h 8h", "royal-flush", 7, "Ah Kh Qh Jh Th 9h 8h"),
        ("Ah Kh Qh Jh Th 9h 3c", "royal-flush", 7, None),
        ("Ah Kh Qh Jh Th 9h 3c", "royal-flush", 6, "Ah Kh Qh Jh Th 9h"),
        ("Kh Qh Jh Th 9h 8h 3c", "royal-flush", 6, None),
        ("Kh Qh Jh Th 9h 8h 3c", "straight-flush", 6, "Kh Qh Jh Th 9h 8h"),
        ("Ah 2h 3h 4h 5h 6h 7h", "straight-flush", 7, "Ah 2h 3h 4h 5h 6h 7h"),
        ("Ah 2h 3h 4h 5h 6h 7h", "royal-flush", 7, None),
        ("Qh Kh Ah 2h 3h 4h 5h", "straight-flush", 6, None),
        ("2h 5h 9h Jc Kd 3s 4c", "flush", 3, "2h 5h 9h"),
        ("2h 5h 9h Jc Kd 3s 4c", "flush", 4, None),
        ("4c 5d 6h 7s 9c Jd Kh", "straight", 4, "4c 5d 6h 7s"),
        ("4c 5d 6h 7s 9c Jd Kh", "straight", 5, None),
        ("4c 5c 6c 9s Jd Kh 2d", "straight-flush", 3, "4c 5c 6c"),
    ],
)
def test_a_size_asks_for_longer_or_shorter_runs_and_flushes(
    text: str, category: str, size: int, used: str | None
) -> None:
    """Seven- and six-card straight flushes, three-card flushes, four-card straights of one five-card ranking."""
    value = PokerHand(parse_cards(text), "five-card").find(category, size)
    assert used == (None if value is None else " ".join(map(str, value.cards_used)))
