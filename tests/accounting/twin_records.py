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

    ``pays`` are ("percent", share, level), ("meter", cents, level, scales), ("house", cents, scales),
    ("to", n, d), ("for", n, d) or ("push",).
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
    name: str = "L"
    craps: bool = False
    chips: tuple[tuple[str, int], ...] = ()  # the lowest chip of a table, where it is not a cent

    def odds(self, numbers: list[int], cents: int, table: str) -> int:
        """Odds on a wager in whole cents: down, but those of craps, where not even dollars, up to a whole chip."""
        exact = Fraction(*numbers) * cents
        if not self.craps or exact % 100 == 0:
            return int(exact)
        chip = dict(self.chips).get(table, 1)
        return -int(-exact // chip) * chip

    def payable(self, table: str, units: int) -> bool:
        """Whether a wager of craps can be paid: in whole chips, and by some bet a chip at least."""
        chip, cents = dict(self.chips).get(table, 1), units * self.wager
        if not self.craps or chip == 1:
            return True
        numbers = [list(pay[1:]) for row in self.rows.values() for pay in row.pays if pay[0] in {"to", "for"}]
        odds = [Fraction(int(str(n)), int(str(d))) * cents for n, d in numbers]
        return cents % chip == 0 and (not odds or max(odds) >= chip)


@dataclass(frozen=True)
class Put:
    """A part of a wager and where it lies: ``kind`` is what account of a level, ``resets`` its count then."""

    level: str
    kind: str
    resets: int
    amount: Fraction


@dataclass
class Stake:
    """A seat's wager and exactly what it put where. ``lost`` is what cannot be found again: it went to the house."""

    units: int
    cents: int
    put: list[Put] = field(default_factory=list)
    lost: Fraction = Fraction(0)
    hold: Fraction = Fraction(0)


@dataclass
class Round:
    """A round of one table."""

    table: str
    number: int
    stakes: dict[int, Stake]
    folded: set[int] = field(default_factory=set)
    groups: list[set[int]] = field(default_factory=list)
    awards: list[str] = field(default_factory=list)
    ended: bool = False
    basis: dict[str, int] = field(default_factory=dict)
    resets_at_basis: dict[str, int] = field(default_factory=dict)
    ties: dict[str, Tie] = field(default_factory=dict)
    envy: list[tuple[int, int, str]] = field(default_factory=list)

    @property
    def key(self) -> tuple[str, int]:
        return self.table, self.number


@dataclass
class Tie:
    """The 100 % awards of one level in one round: what was frozen, who shares it, who came after it was closed.

    ``meter`` is what of the frozen amount came from the meter; a sign that showed more makes the house pay the rest.
    """

    frozen: int
    meter: int
    members: list[str]
    late: int = 0
    closed: bool = False


@dataclass
class Slice:
    """One part of an award, ``given`` what its level gave of ``cents``; ``tie`` where it is a share of a tie.

    ``seeded`` is what the house put up for it then, ``carried`` the standing seed that went with it, ``resets`` the
    level's count right after.
    """

    cents: int
    level: str = ""
    given: int = 0
    seeded: Fraction = Fraction(0)
    carried: Fraction = Fraction(0)
    resets: int = 0
    tie: bool = False


@dataclass
class Win:
    """An award."""

    id: str
    round: Round
    seat: int
    hand: str
    status: str = "pending"
    held: bool = False
    verified: bool = False
    undone: bool = False
    shown: set[str] = field(default_factory=set)  # what whoever verified it had besides
    percent: bool = False
    above: bool = False  # a sign showed more than the meter held
    empty: bool = False  # a part of it that a meter pays came to nothing when it was claimed
    slices: list[Slice] = field(default_factory=list)

    @property
    def levels(self) -> set[str]:
        return {part.level for part in self.slices if part.level}

    @property
    def tied(self) -> set[str]:
        return {part.level for part in self.slices if part.tie}

    @property
    def amount(self) -> int:
        return sum(part.cents for part in self.slices)

    @property
    def word(self) -> str:
        return "held" if self.held and self.status == "pending" else self.status
