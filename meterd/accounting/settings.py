"""The parameters in force: what a site file says and an entry of the ledger stores.

Each class turns into plain JSON values and back, because a link or table enters the ledger by an entry and
the book is a fold of entries. Units: ``*_cents``, ``*_ppm``.
Source of the level settings: money rules M2.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from meterd.paytables.model import PayTable


class ResetMode(StrEnum):
    """How a level starts again after a 100 % award (CO 47.1-1099.11(10)(j); M4)."""

    SEED_PLUS_RESERVE = "seed_plus_reserve"
    RESERVE_FUNDS_SEED = "reserve_funds_seed"
    LARGER_OF = "larger_of"


class Ties(StrEnum):
    """How several awards of one level in one round share it (M7)."""

    SEQUENTIAL = "sequential"
    SPLIT = "split"
    FULL_EACH = "full_each"


class Floor(StrEnum):
    """Whether the house lifts a display back to the seed after a partial award (M2)."""

    NONE = "none"
    SEED = "seed"


class EnvyTrigger(StrEnum):
    """Which envy hands of a round give envy (M9)."""

    ALL = "all"
    HIGHEST = "highest"


@dataclass(frozen=True, slots=True)
class LevelSettings:
    """One level of a link. ``reserve_ppm`` None is "none" and not 0; ``overflow`` is None when ``limit_cents`` is.

    ``overflow``: ``"next_meter"``, ``"house"`` or ``"level:NAME"``.
    """

    name: str
    seed_cents: int
    increment_ppm: int
    reserve_ppm: int | None
    reset: ResetMode
    ties: Ties
    floor: Floor
    limit_cents: int | None = None
    overflow: str | None = None
    share_scales: bool = False

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, for an entry."""
        return {
            "name": self.name,
            "seed_cents": self.seed_cents,
            "increment_ppm": self.increment_ppm,
            "reserve_ppm": self.reserve_ppm,
            "reset": self.reset.value,
            "ties": self.ties.value,
            "floor": self.floor.value,
            "limit_cents": self.limit_cents,
            "overflow": self.overflow,
            "share_scales": self.share_scales,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> LevelSettings:
        """The inverse of :meth:`to_json`."""
        return cls(
            name=data["name"],
            seed_cents=data["seed_cents"],
            increment_ppm=data["increment_ppm"],
            reserve_ppm=data["reserve_ppm"],
            reset=ResetMode(data["reset"]),
            ties=Ties(data["ties"]),
            floor=Floor(data["floor"]),
            limit_cents=data["limit_cents"],
            overflow=data["overflow"],
            share_scales=data["share_scales"],
        )


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """One or more tables feeding the same meters.

    ``envy_trigger``: which of several envy hands of one round give envy; ``envy_min_cents``: the smallest wager of a
    seat that receives it.
    """

    id: str
    wager_cents: int
    units_max: int
    paytable: PayTable
    levels: tuple[LevelSettings, ...]
    envy_trigger: EnvyTrigger = EnvyTrigger.ALL
    envy_min_cents: int = 0

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, for an entry."""
        return {
            "id": self.id,
            "wager_cents": self.wager_cents,
            "units_max": self.units_max,
            "paytable": self.paytable.to_json(),
            "levels": [level.to_json() for level in self.levels],
            "envy_trigger": self.envy_trigger.value,
            "envy_min_cents": self.envy_min_cents,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> LinkSettings:
        """The inverse of :meth:`to_json`."""
        return cls(
            id=data["id"],
            wager_cents=data["wager_cents"],
            units_max=data["units_max"],
            paytable=PayTable.from_json(data["paytable"]),
            levels=tuple(LevelSettings.from_json(level) for level in data["levels"]),
            envy_trigger=EnvyTrigger(data.get("envy_trigger", "all")),
            envy_min_cents=data.get("envy_min_cents", 0),
        )


@dataclass(frozen=True, slots=True)
class TableSettings:
    """One gaming table. ``game`` is the game dealt; ``folded_live``: a folded hand still wins (R31-R33).

    ``cap_player_cents``, ``cap_table_cents``: the posted aggregate limits of one round, per player and for the whole
    table (CO 47.1-1047); None is no limit.
    """

    id: str
    link: str
    game: str
    seats: int
    folded_live: bool = True
    cap_player_cents: int | None = None
    cap_table_cents: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, for an entry."""
        return {
            "id": self.id,
            "link": self.link,
            "game": self.game,
            "seats": self.seats,
            "folded_live": self.folded_live,
            "cap_player_cents": self.cap_player_cents,
            "cap_table_cents": self.cap_table_cents,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> TableSettings:
        """The inverse of :meth:`to_json`."""
        return cls(**data)


@dataclass(frozen=True, slots=True)
class SiteSettings:
    """What holds for the whole property. ``None`` amounts mean "no such threshold".

    ``seed_recovery``: the house may take a standing seed back; ``release_to_house``: players' money may leave as the
    house's income (a reserve or overflow released, an unclaimed award). ``unclaimed_days`` after its confirmation an
    award counts as unclaimed, None never; ``discontinue_notice_days`` pass between notice and the end of a link.
    """

    id: str
    currency: str = "USD"
    confirm_above_cents: int = 0
    cards_above_cents: int | None = None
    two_person_cents: int | None = None
    envy_confirm_above_cents: int | None = None
    seed_recovery: bool = False
    release_to_house: bool = False
    unclaimed_days: int | None = None
    discontinue_notice_days: int = 0

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, for an entry."""
        return {
            "id": self.id,
            "currency": self.currency,
            "confirm_above_cents": self.confirm_above_cents,
            "cards_above_cents": self.cards_above_cents,
            "two_person_cents": self.two_person_cents,
            "envy_confirm_above_cents": self.envy_confirm_above_cents,
            "seed_recovery": self.seed_recovery,
            "release_to_house": self.release_to_house,
            "unclaimed_days": self.unclaimed_days,
            "discontinue_notice_days": self.discontinue_notice_days,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> SiteSettings:
        """The inverse of :meth:`to_json`."""
        return cls(**data)
