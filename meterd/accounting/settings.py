"""The parameters in force: what a site file says and an entry of the ledger stores.

Each class turns into plain JSON values and back, because a link or table enters the ledger by an entry and
the book is a fold of entries. Units: ``*_cents``, ``*_ppm``.
Source of the level settings: money rules M2.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

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


class EnvyTo(StrEnum):
    """Who receives envy: the other players, or the dealer, as a toke (CO 47.1-899.20(6))."""

    PLAYERS = "players"
    DEALER = "dealer"


class SplitHand(StrEnum):
    """What splitting a hand means for the wager of a link.

    ``two-hands``: an equal second wager, and both hands count (CO 47.1-1099.38); ``dead``: neither wins the wager
    (CO 47.1-899.16, procedures (4)(c)).
    """

    NO_EFFECT = "no-effect"
    TWO_HANDS = "two-hands"
    DEAD = "dead"


class Settlement(StrEnum):
    """In which order the seats of a table are settled: from the highest seat down, or from seat 1 up (R53, R54)."""

    COUNTER_CLOCKWISE = "counter-clockwise"
    CLOCKWISE = "clockwise"


class NumbersFrom(StrEnum):
    """Who gives the numbers of a table: the dealer's key, or the wheel that reports by itself; never both."""

    DEALER = "dealer"
    DEVICE = "device"


class EnvyRules(NamedTuple):
    """How envy is reckoned on a link. ``min_cents``: the smallest wager that receives it."""

    trigger: EnvyTrigger
    min_cents: int
    to: EnvyTo
    board_triggers: bool


def _word(value: StrEnum | None) -> str | None:
    return None if value is None else value.value


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

    ``envy_trigger`` (which of several envy hands of a round give envy), ``envy_min_cents`` (the smallest wager that
    receives it), ``envy_to`` and ``split`` are as the pay table prints them where they are None. ``board_triggers``: a
    hand that all seats have from the board counts as an envy hand of each; unless said it is nobody's. ``steps``: pay
    tables for larger bets at the same tables, each from the wager it is printed for.
    """

    id: str
    wager_cents: int
    units_max: int
    paytable: PayTable
    levels: tuple[LevelSettings, ...]
    envy_trigger: EnvyTrigger | None = None
    envy_min_cents: int | None = None
    envy_to: EnvyTo | None = None
    board_triggers: bool = False
    split: SplitHand | None = None
    steps: tuple[PayTable, ...] = ()

    @property
    def envy(self) -> EnvyRules:
        """How envy is reckoned: what the pay table prints, except where the link's own settings say otherwise."""
        printed = self.paytable
        highest = EnvyTrigger.HIGHEST if printed.envy_trigger == "highest" else EnvyTrigger.ALL
        return EnvyRules(
            trigger=highest if self.envy_trigger is None else self.envy_trigger,
            min_cents=printed.envy_min_cents if self.envy_min_cents is None else self.envy_min_cents,
            to=EnvyTo(printed.envy_to) if self.envy_to is None else self.envy_to,
            board_triggers=self.board_triggers,
        )

    @property
    def split_hand(self) -> SplitHand:
        """What splitting a hand means here; where the pay table does not say, it changes nothing."""
        return SplitHand(self.paytable.split or SplitHand.NO_EFFECT) if self.split is None else self.split

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, for an entry."""
        return {
            "id": self.id,
            "wager_cents": self.wager_cents,
            "units_max": self.units_max,
            "paytable": self.paytable.to_json(),
            "levels": [level.to_json() for level in self.levels],
            "envy_trigger": _word(self.envy_trigger),
            "envy_min_cents": self.envy_min_cents,
            "envy_to": _word(self.envy_to),
            "board_triggers": self.board_triggers,
            "split": _word(self.split),
            **({"steps": [table.to_json() for table in self.steps]} if self.steps else {}),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> LinkSettings:
        """The inverse of :meth:`to_json`.

        An entry from before ``envy_to`` says "all" and 0 where it means what the pay table prints.
        """
        trigger, smallest = data.get("envy_trigger"), data.get("envy_min_cents")
        if "envy_to" not in data:
            trigger = None if trigger == EnvyTrigger.ALL else trigger
            smallest = smallest or None
        to, split = data.get("envy_to"), data.get("split")
        return cls(
            id=data["id"],
            wager_cents=data["wager_cents"],
            units_max=data["units_max"],
            paytable=PayTable.from_json(data["paytable"]),
            levels=tuple(LevelSettings.from_json(level) for level in data["levels"]),
            envy_trigger=None if trigger is None else EnvyTrigger(trigger),
            envy_min_cents=smallest,
            envy_to=None if to is None else EnvyTo(to),
            board_triggers=data.get("board_triggers", False),
            split=None if split is None else SplitHand(split),
            steps=tuple(PayTable.from_json(table) for table in data.get("steps", ())),
        )


def split_problem(link: LinkSettings) -> str | None:
    """What is wrong with a link's way with split hands; None where nothing is."""
    if link.levels and link.split_hand is SplitHand.TWO_HANDS:
        return "a second wager for a split hand comes after LOCK, and a meter takes nothing then"
    return None


@dataclass(frozen=True, slots=True)
class TableSettings:
    """One gaming table. ``game`` is the game dealt; ``folded_live``: a folded hand still wins (R31-R33).

    ``cap_player_cents``, ``cap_table_cents``: the posted aggregate limits of one round, per player and for the whole
    table, and ``cap_tip_cents`` of one tip (CO 47.1-1047); None is no limit.
    ``settlement``: in which order the seats have their awards where all win by one outcome.
    ``numbers``: who gives the numbers of spins or rolls here. ``lowest_chip_cents``: the lowest denomination of chip
    at the table, to which odds of craps are rounded up (CO 47.1-2306(4)).
    """

    id: str
    link: str
    game: str
    seats: int
    folded_live: bool = True
    cap_player_cents: int | None = None
    cap_table_cents: int | None = None
    cap_tip_cents: int | None = None
    settlement: Settlement = Settlement.COUNTER_CLOCKWISE
    numbers: NumbersFrom = NumbersFrom.DEALER
    lowest_chip_cents: int = 1

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
            "cap_tip_cents": self.cap_tip_cents,
            "settlement": self.settlement.value,
            "numbers": self.numbers.value,
            "lowest_chip_cents": self.lowest_chip_cents,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> TableSettings:
        """The inverse of :meth:`to_json`."""
        settlement = Settlement(data.get("settlement", Settlement.COUNTER_CLOCKWISE))
        numbers = NumbersFrom(data.get("numbers", NumbersFrom.DEALER))
        return cls(**{**data, "settlement": settlement, "numbers": numbers})


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
