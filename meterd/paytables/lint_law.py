"""What the linter asks about chances, whoever answers: the law of one table, and which rows hold together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Protocol

from meterd.errors import ConfigError
from meterd.handrank.cards import Card
from meterd.paytables.model import PayTable, Row

#: The wheel of a law, unless another is named.
DOUBLE_ZERO: Final = "double-zero"

#: Hand keys of the offered rows that each hold on their own → number of hands of which that is so.
Joint = Mapping[frozenset[str], int]


class NoLaw(ConfigError):  # noqa: N818 - a state of the table, not a fault
    """The chances of a table cannot be computed; the message says why."""


@dataclass(frozen=True, slots=True)
class Law:
    """The chances of a table's rows, each being the hand that is paid.

    ``counts`` are whole numbers in the proportion of the chances, ``universe`` their sum with the losing hands;
    ``apart``: each row is a wager of its own (a list of wagers), so no row takes a hand from another.
    """

    universe: int
    counts: Mapping[str, int]
    chances: Mapping[str, Fraction]
    apart: bool = False


class Laws(Protocol):
    """Whoever computes chances. The linter keeps nothing and may ask twice."""

    def law(self, table: PayTable, wheel: str = DOUBLE_ZERO) -> Law:
        """The law of a table, or of a table with some of its rows or games. Raises :class:`NoLaw`."""
        ...

    def others(self, table: PayTable) -> Iterator[tuple[str, Law]]:
        """The laws of the other decks and wheels the table may be played with, each with its name."""
        ...

    def hands(self, table: PayTable, rows: Collection[str]) -> Mapping[str, Collection[frozenset[Card]]]:
        """Every set of cards that earns one of these rows; a row is left out where that takes too long."""
        ...

    def joint(self, table: PayTable) -> Joint | None:
        """Which offered rows hold together, or None where that takes too long or has no meaning (spins, wagers)."""
        ...


def tried(table: PayTable) -> Sequence[Row]:
    """The offered rows in the order in which they are tried: best first."""
    return [row for index in table.trial_order if (row := table.rows[index]).offered]
