"""How many seats of one round can hold envy hands: never more than said here, and seldom fewer.

Cards are dealt once from one deck: two seats share the board and nothing else. So the own cards of two holders have no
card in common, and a set of cards that meets every one of their hands has a card for each holder: its size is a bound.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from meterd.handrank.cards import Card
from meterd.paytables.lint_law import Law
from meterd.paytables.model import Game, PayTable, Row

#: Hand key → every set of cards that earns it: own and community cards together.
Hands = Mapping[str, Collection[frozenset[Card]]]


class Round(NamedTuple):
    """The dearest round of one game: who holds what, and the sum of their envy amounts in cents."""

    game: str
    holders: tuple[tuple[Row, int], ...]
    cents: int


def envy_rows(table: PayTable) -> list[Row]:
    """The rows that give envy, dearest first."""
    return sorted((row for row in table.rows if row.envy_cents and row.offered), key=lambda row: -row.envy_cents)


def dearest_round(table: PayTable, game: Game | None, seats: int, law: Law, hands: Hands) -> Round:
    """The dearest way to fill the seats. Where only the highest hand of a round gives envy there is one holder.

    ``hands`` may lack a row: then it has as many holders as hands, or, with cards in common or several decks, as seats.
    """
    rows, name = envy_rows(table), game.name if game is not None else table.game
    if table.envy_trigger == "highest":
        return _filled(name, rows[:1], [1], seats)
    own_only = table.decks == 1 and not table.common_outcome and not (game is not None and game.community_cards)
    crude = [min(seats, law.counts.get(row.hand, seats)) if own_only else seats for row in rows]
    rounds = [
        _filled(
            name,
            rows,
            [
                _hit(board[row.hand], seats) if row.hand in hands else bound
                for row, bound in zip(rows, crude, strict=True)
            ],
            seats,
        )
        for board in _boards(hands, game.community_cards if game is not None else 0)
    ]
    return max(rounds, key=lambda each: each.cents)


def _filled(game: str, rows: Sequence[Row], most: Sequence[int], seats: int) -> Round:
    """The seats filled with the dearest rows first, each with at most so many holders."""
    left, holders = seats, list[tuple[Row, int]]()
    for row, bound in zip(rows, most, strict=True):
        count = min(left, bound)
        if count:
            holders.append((row, count))
            left -= count
    return Round(game, tuple(holders), sum(row.envy_cents * count for row, count in holders))


def _boards(hands: Hands, community: int) -> Iterable[Mapping[str, list[frozenset[Card]]]]:
    """For each board that belongs to some hand: the own cards that make each row of it."""
    found: dict[frozenset[Card], dict[str, list[frozenset[Card]]]] = {frozenset(): {hand: [] for hand in hands}}
    for hand, sets in hands.items():
        for cards in sets:
            for board in map(frozenset, combinations(sorted(cards), community)):
                rows = found.setdefault(board, {each: [] for each in hands})
                rows[hand].append(cards - board)
    return found.values()


def _hit(sets: Collection[frozenset[Card]], seats: int) -> int:
    """A number of cards that meet all sets: the card that meets most first, until none is left.

    An empty set is a hand that the board makes alone: every seat holds it.
    """
    left, cards = list(sets), 0
    if frozenset() in left:
        return seats
    while left:
        ((most, _),) = Counter(card for each in left for card in each).most_common(1)
        left = [each for each in left if most not in each]
        cards += 1
    return cards
