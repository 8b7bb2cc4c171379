"""Two hands of one deck against each other, where only the ranks present on each side count: the two-way bad beat.

Rule 1: the evaluator alone says what a run is; here only deals are counted.
Rule 2: how many deals show the ranks P on one side and D on the other depends only on how many ranks are in both, in P
alone and in D alone. So pairs of rank sets are counted by these three numbers, for each pair of runs at once.

Weights are exact: they sum to C(52, 7) x C(45, 8) for the real game.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import comb
from typing import Final

from meterd.handrank.cards import RANK_MIN, SUITS, Card
from meterd.handrank.poker import longest_straight

#: Length and top of a hand's longest run.
Run = tuple[int, int]

#: Bits that hold one number of rank sets while many are added at once: there are 8,192 rank sets.
_SLOT: Final = 16


@dataclass(frozen=True, slots=True)
class TwoHands:
    """The deck (``ranks`` from the deuce up, ``copies`` of each) and how many cards each side is dealt."""

    player: int
    dealer: int
    ranks: int = 13
    copies: int = len(SUITS)

    @property
    def deals(self) -> int:
        """Number of deals."""
        deck = self.ranks * self.copies
        return comb(deck, self.player) * comb(deck - self.player, self.dealer)


def run_pairs(hands: TwoHands) -> Iterator[tuple[tuple[Card, ...], tuple[Card, ...], int]]:
    """For each pair of longest runs the two sides can hold: one deal of them, and in how many deals they occur."""
    player, dealer = _by_run(hands, hands.player), _by_run(hands, hands.dealer)
    for ours, our_masks in player.items():
        overlaps = _overlaps(hands.ranks, our_masks)
        for theirs, their_masks in dealer.items():
            weight = _deals_of(hands, overlaps, their_masks)
            if weight:
                yield *_example(hands, our_masks, their_masks, (ours, theirs)), weight


def _by_run(hands: TwoHands, cards: int) -> dict[Run, list[int]]:
    """The rank sets so many cards can show, by their longest run."""
    found: dict[Run, list[int]] = defaultdict(list)
    for mask in range(1, 1 << hands.ranks):
        if mask.bit_count() <= cards <= mask.bit_count() * hands.copies:
            found[longest_straight([Card(rank, SUITS[0]) for rank in _ranks(mask)])].append(mask)
    return found


def _overlaps(ranks: int, masks: Sequence[int]) -> list[int]:
    """For every rank set D: how many of ``masks`` have so many ranks, and so many of them in D.

    Each number stands in its own slot of one integer: slot (ranks of the mask) x (ranks + 1) + (ranks in D).
    """
    sums = [0] * (1 << ranks)
    for mask in masks:
        sums[mask] += 1 << _SLOT * (ranks + 1) * mask.bit_count()
    for bit in range(ranks):
        step = 1 << bit
        for base in range(0, 1 << ranks, 2 * step):
            for mask in range(base, base + step):
                without, having = sums[mask], sums[mask + step]
                sums[mask], sums[mask + step] = without + having, without + (having << _SLOT)
    return sums


def _deals_of(hands: TwoHands, overlaps: Sequence[int], masks: Sequence[int]) -> int:
    """Deals in which the dealer's ranks are one of ``masks``, and the player's one of those in ``overlaps``."""
    by_size: dict[int, int] = defaultdict(int)
    for mask in masks:
        by_size[mask.bit_count()] += overlaps[mask]
    wide = hands.ranks + 1
    deals = 0
    for theirs, sums in by_size.items():
        for slot in range(wide * wide):
            pairs = sums >> _SLOT * slot & (1 << _SLOT) - 1
            if pairs:
                ours, both = divmod(slot, wide)
                deals += pairs * _ways(hands, both, ours - both, theirs - both)
    return deals


@cache
def _ways(hands: TwoHands, both: int, ours: int, theirs: int) -> int:
    """Deals that show given ranks: so many on both sides, on the player's only, on the dealer's only."""
    copies = hands.copies
    takes = {
        "both": [
            (a, b, comb(copies, a) * comb(copies - a, b)) for a in range(1, copies) for b in range(1, copies - a + 1)
        ],
        "ours": [(a, 0, comb(copies, a)) for a in range(1, copies + 1)],
        "theirs": [(0, b, comb(copies, b)) for b in range(1, copies + 1)],
    }
    found = {(0, 0): 1}
    for kind, count in (("both", both), ("ours", ours), ("theirs", theirs)):
        for _ in range(count):
            grown: dict[tuple[int, int], int] = defaultdict(int)
            for (a, b), ways in found.items():
                for more_a, more_b, choices in takes[kind]:
                    if a + more_a <= hands.player and b + more_b <= hands.dealer:
                        grown[a + more_a, b + more_b] += ways * choices
            found = grown
    return found.get((hands.player, hands.dealer), 0)


def _example(
    hands: TwoHands, ours: Sequence[int], theirs: Sequence[int], runs: tuple[Run, Run]
) -> tuple[tuple[Card, ...], tuple[Card, ...]]:
    """One deal with the ranks of one mask on each side."""
    for one, other in product(sorted(ours, key=lambda mask: -mask.bit_count()), theirs):
        left = {rank: list(SUITS[: hands.copies]) for rank in range(RANK_MIN, RANK_MIN + hands.ranks)}
        player = _dealt(one, hands.player, left, other)
        dealer = _dealt(other, hands.dealer, left, 0) if player else None
        if player and dealer:
            return player, dealer
    raise ValueError(f"no deal shows {runs}")


def _dealt(mask: int, cards: int, left: dict[int, list[str]], wanted_too: int) -> tuple[Card, ...] | None:
    """So many cards of exactly these ranks, at first one of each; ranks the other side needs keep a card for it."""
    ranks = _ranks(mask)
    taken = [Card(rank, left[rank].pop()) for rank in ranks if left[rank]]
    if len(taken) < len(ranks):
        return None
    for rank in sorted(ranks, key=lambda rank: wanted_too >> (rank - RANK_MIN) & 1):
        keep = wanted_too >> (rank - RANK_MIN) & 1
        while len(taken) < cards and len(left[rank]) > keep:
            taken.append(Card(rank, left[rank].pop()))
    return tuple(taken) if len(taken) == cards else None


def _ranks(mask: int) -> list[int]:
    return [bit + RANK_MIN for bit in range(mask.bit_length()) if mask >> bit & 1]
