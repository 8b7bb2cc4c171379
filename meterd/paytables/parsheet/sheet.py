"""What a par sheet says, exactly. Every number is a fraction per unit wagered; the wager is the one the table prints.

Units: ``*_cents`` are whole cents for that wager; a probability or a return is a :class:`~fractions.Fraction`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from meterd.errors import ConfigError


class NoParSheet(ConfigError):  # noqa: N818 - a property of the table, not a fault
    """The table allows no exact par sheet; the message says what stands in the way."""


class UniverseError(ConfigError, ValueError):
    """A universe kept as data is damaged; the message names its file."""


@dataclass(frozen=True, slots=True)
class ParRow:
    """One paying row: in how many deals of the universe it is the hand.

    Where each row is a bet of its own (roulette, craps), ``push_probability``, ``returned`` (the expected return of one
    unit on that bet) and ``house_edge`` are given, else None; rows of one bet show its return and edge alike.
    """

    hand: str
    count: int
    probability: Fraction
    push_probability: Fraction | None = None
    returned: Fraction | None = None
    house_edge: Fraction | None = None

    def to_json(self) -> dict[str, Any]:
        """Whole numbers and fractions as strings."""
        document = {"hand": self.hand, "count": str(self.count), "probability": str(self.probability)}
        if self.returned is not None:
            document |= {
                "push_probability": str(self.push_probability),
                "return": str(self.returned),
                "house_edge": str(self.house_edge),
            }
        return document


@dataclass(frozen=True, slots=True)
class MeterPar:
    """One level: the expected share of it that a wager wins, and what follows from it.

    ``break_even_cents`` is the meter at which the wager's expected return equals the wager, rounded down, the other
    levels at seed. ``mean_award_cents`` is what a 100 % award pays on average in the long run, rounded half up. None
    where the figure has no meaning, or a seed or rate it needs is not known.
    """

    share_probability: Fraction
    break_even_cents: int | None
    mean_award_cents: int | None

    def to_json(self) -> dict[str, Any]:
        """Cents as strings, unknown ones as null."""
        return {
            "share_probability": str(self.share_probability),
            "break_even_cents": _text(self.break_even_cents),
            "mean_award_cents": _text(self.mean_award_cents),
        }


@dataclass(frozen=True, slots=True)
class ParSheet:
    """The whole sheet. ``universe`` counts equally likely deals (or is the common denominator of all chances).

    ``fixed_return`` is the expected return of all that does not come from a meter, wagers given back included;
    ``from_meter_return`` that of fixed sums out of a meter that can pay them. ``house_edge_at_seed`` counts every
    level at its seed, and is None where a seed is not known. Envy is in neither. ``lose_probability`` is the chance
    that no paying row holds. All of these are None where each row is a bet of its own. ``note`` says what was assumed
    or left out.
    """

    paytable: str
    universe: int
    rows: tuple[ParRow, ...]
    lose_probability: Fraction | None
    fixed_return: Fraction | None
    from_meter_return: Fraction | None = None
    meters: dict[str, MeterPar] = field(default_factory=dict)
    envy_return_per_other_player: Fraction = Fraction(0)
    house_edge_at_seed: Fraction | None = None
    decks: int | None = None
    wheel: str | None = None
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """The public form: probabilities in lowest terms, whole numbers as strings."""
        return {
            "paytable": self.paytable,
            "universe": str(self.universe),
            "rows": [row.to_json() for row in self.rows],
            "lose_probability": _text(self.lose_probability),
            "fixed_return": _text(self.fixed_return),
            "from_meter_return": _text(self.from_meter_return),
            "meters": {level: meter.to_json() for level, meter in self.meters.items()},
            "envy_return_per_other_player": str(self.envy_return_per_other_player),
            "house_edge_at_seed": _text(self.house_edge_at_seed),
            "decks": self.decks,
            "wheel": self.wheel,
            "note": self.note,
        }


def _text(value: object) -> str | None:
    return None if value is None else str(value)
