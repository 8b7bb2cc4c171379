"""What the twin knows of a link: settings, wagers, rounds, ties and awards. Imports nothing of meterd.

Units: every amount is a Fraction of cents; whole numbers are whole cents.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

WHOLE = Fraction(1)


@dataclass(frozen=True)
class Level:
    """One level's settings; ``reserve`` None is none, ``limit`` None is none."""

    seed: int
    rate: Fraction
    reserve: Fraction | None
    reset: str
    ties: str
    floor: str
    limit: int | None = None
    overflow: str | None = None
    share_scales: bool = False


@dataclass(frozen=True)
class Row:
    """A row of a pay table.

    ``pays`` are ("percent", share, level), ("meter", cents, level), ("house", cents, scales), ("to", n, d),
    ("for", n, d) or ("push",).
    """

    pays: tuple[tuple[object, ...], ...]
    envy: int = 0


@dataclass(frozen=True)
class Rules:
    """A link with its tables: table name → (seats, folded hands live)."""

    wager: int
    units_max: int
    printed: int
    returned: bool
    envy_scales: bool
    levels: dict[str, Level]
    rows: dict[str, Row]
    tables: dict[str, tuple[int, bool]]
    confirm_above: int = 0


@dataclass
class Stake:
    """A seat's wager and exactly what it put where: level → (resets then, meter, overflow, reserve)."""

    units: int
    cents: int
    put: dict[str, tuple[int, Fraction, Fraction, Fraction]] = field(default_factory=dict)
    hold: Fraction = Fraction(0)


@dataclass
class Round:
    """A round of one table."""

    table: str
    stakes: dict[int, Stake]
    folded: set[int] = field(default_factory=set)
    groups: list[set[int]] = field(default_factory=list)
    awards: list[str] = field(default_factory=list)
    ended: bool = False
    basis: dict[str, int] = field(default_factory=dict)
    resets_at_basis: dict[str, int] = field(default_factory=dict)
    ties: dict[str, Tie] = field(default_factory=dict)
    envy: list[tuple[int, int, str]] = field(default_factory=list)


@dataclass
class Tie:
    """The 100 % awards of one level in one round: what was frozen, who shares it, who came after it was closed."""

    frozen: int
    members: list[str]
    late: int = 0
    closed: bool = False


@dataclass
class Win:
    """An award. ``took`` is what each level gave, ``seeded`` the house's part of the reset it caused."""

    id: str
    round: Round
    seat: int
    hand: str
    status: str = "pending"
    held: bool = False
    verified: bool = False
    own: int = 0  # what is not a share of a tie
    shared: int = 0
    tied: set[str] = field(default_factory=set)
    levels: set[str] = field(default_factory=set)
    percent: bool = False
    took: dict[str, int] = field(default_factory=dict)
    house: int = 0
    seeded: dict[str, tuple[int, Fraction]] = field(default_factory=dict)
    carried: dict[str, Fraction] = field(default_factory=dict)

    @property
    def amount(self) -> int:
        return self.own + self.shared

    @property
    def word(self) -> str:
        return "held" if self.held and self.status == "pending" else self.status
