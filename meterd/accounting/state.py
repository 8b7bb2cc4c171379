"""What the book holds: tables, awards, links, device marks. Plain records; the fold in ``book`` is what changes them.

Rule 1: records that leave the room are frozen; the fold replaces them.
Rule 2: a level's money is nowhere but in the balances of its accounts; what stands here beside it is counted, not owed.
Units: ``*_cents`` whole cents, ``*_microcents`` a millionth of a cent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from meterd.accounting.journal import Journal
from meterd.accounting.marks import Part, RoundMark
from meterd.accounting.meter import LinkRules
from meterd.accounting.settings import LinkSettings, SiteSettings, TableSettings


class TableStatus(StrEnum):
    """Where a table's progressive stands."""

    CLOSED = "CLOSED"
    OPEN = "OPEN"
    LOCKED = "LOCKED"


class AwardStatus(StrEnum):
    """Where an award stands. A held award is pending with a flag."""

    PENDING = "pending"
    CONFIRMED = "confirmed"
    PAID = "paid"
    VOIDED = "voided"
    DISPOSED = "disposed"


#: Where what the dealer receives (a toke) stands beside what seats receive; no seat has this number.
DEALER_SEAT: Final = 0


class EnvyShare(NamedTuple):
    """What one seat receives because of one trigger."""

    seat: int
    cents: int
    trigger_award: str


class Caps(NamedTuple):
    """Aggregate limits of a table and since when they hold; None is no limit. ``tip_cents`` is that of one tip."""

    from_utc: str
    player_cents: int | None
    table_cents: int | None
    tip_cents: int | None = None


class Wager(NamedTuple):
    """An accepted wager of the running round."""

    units: int
    wager_cents: int


class StreakMark(NamedTuple):
    """How far the numbers of a round have come. ``hand`` is the row they have reached, None where it pays nothing."""

    numbers: tuple[str, ...]
    length: int
    ended: bool
    hand: str | None


class RoundSeats(NamedTuple):
    """Who sat where in a round: enough to reckon envy, also after END GAME for an award still pending.

    ``split`` are the seats whose hand was split in two, ``doubled`` those of them with a second wager for the second
    hand. ``streak``: what the numbers of the round made. ``handed``: the envy that has been handed out for a round that
    has ended.
    """

    wagers: dict[int, Wager]
    groups: tuple[frozenset[int], ...]
    folded: frozenset[int]
    awards: tuple[str, ...] = ()
    caps: Caps | None = None
    split: frozenset[int] = frozenset()
    doubled: frozenset[int] = frozenset()
    streak: StreakMark | None = None
    handed: tuple[EnvyShare, ...] = ()

    def hands(self, seat: int) -> int:
        """How many wagers a seat has in the round, each for a hand of its own."""
        return 2 if seat in self.doubled else 1


class DeviceMark(NamedTuple):
    """Nothing at or below this counts again: the epoch of trust and the unwrapped count of one input."""

    epoch: int
    count: int  # type: ignore[assignment]  # a count is what it is; tuple.count is not used


@dataclass(frozen=True, slots=True)
class Award:
    """A claim that was accepted, and what became of it.

    Neither ``keyed_by`` nor any of ``corrected_by`` may confirm it: a correction keys the hand anew.
    ``amount_cents`` of a voided award is what it had, for the record; ``highest_cents`` is the most it ever had.
    ``envy_cents`` is what it gives to other seats, as far as the round then showed. ``verified_by`` is set on a member
    of a tie that waits for the others.
    ``shown`` is what whoever verified it had: cards, a second person. ``envy_waits``: it is confirmed, but whether it
    gives envy depends on a higher hand of its round that is still pending.
    ``common``: all live seats had the hand at once, from a streak or the board. ``out_of_order``: keyed after an award
    that the order of settlement puts behind it. ``tip_cents``: what a tip that won with it came to.
    """

    id: str
    link: str
    table: str
    round: int
    seat: int
    hand: str
    units: int
    amount_cents: int
    keyed_by: str
    at_utc: str
    status: AwardStatus = AwardStatus.PENDING
    held: bool = False
    parts: tuple[Part, ...] = ()
    envy_cents: int = 0
    sign_above_meter: bool = False
    meter_empty: bool = False
    corrected_by: tuple[str, ...] = ()
    verified_by: str | None = None
    shown: frozenset[str] = frozenset()
    envy_waits: bool = False
    confirmed_by: str | None = None
    undone: bool = False
    confirmed_at_utc: str = ""
    unclaimed: bool = False
    common: bool = False
    highest_cents: int = 0
    out_of_order: bool = False
    tip_cents: int = 0

    def __post_init__(self) -> None:
        """Whatever changes an award carries the highest amount along."""
        object.__setattr__(self, "highest_cents", max(self.highest_cents, self.amount_cents))

    @property
    def late(self) -> bool:
        """Proved after END GAME and paid by the house: no meter ever paid it."""
        return any(part.kind == "adjustment" for part in self.parts)

    @property
    def key(self) -> str:
        """Name of its round for the marks of a link."""
        return f"{self.table}#{self.round}"

    @property
    def pending(self) -> bool:
        """Claimed, and neither confirmed nor voided. A held award is pending."""
        return self.status is AwardStatus.PENDING

    @property
    def stands(self) -> bool:
        """Confirmed, paid or disposed of, and not undone."""
        return self.status in {AwardStatus.CONFIRMED, AwardStatus.PAID, AwardStatus.DISPOSED}

    @property
    def owed_account(self) -> str:
        """The account that holds what is still owed for it."""
        return f"unclaimed/{self.link}" if self.unclaimed else f"payable/{self.id}"

    @property
    def state_word(self) -> str:
        """The word used on pages: pending, held, confirmed, paid, voided or disposed."""
        return "held" if self.held and self.pending else self.status.value

    @property
    def levels(self) -> frozenset[str]:
        """Levels whose meter this award takes or could take from."""
        return frozenset(part.level for part in self.parts if part.level is not None)

    @property
    def has_percent(self) -> bool:
        """Whether any part is a share of a meter, so that its amount depends on earlier awards."""
        return any(part.kind == "meter_percent" for part in self.parts)


@dataclass(frozen=True, slots=True)
class LevelState:
    """One level as it stands. Derived from the balances at the moment it is asked for."""

    display_microcents: int
    reserve_microcents: int
    overflow_microcents: int
    standing_seed_microcents: int
    wagers: int
    units: int
    hits: int
    won_cents: int
    resets: int = 0


@dataclass(slots=True)
class LevelCounts:
    """What a level counts beside its money. ``hits`` awards that touched its meter, ``resets`` its restarts.

    ``adjusted``: what adjustments have put into this meter since its last restart.
    """

    standing: int = 0
    resets: int = 0
    hits: int = 0
    won_cents: int = 0
    adjusted: int = 0


@dataclass(slots=True)
class LinkState:
    """One link in force. ``rules`` are its settings worked out once; ``marks`` of rounds by ``TABLE#ROUND``.

    ``pending`` are its pending awards in ledger order. ``journal`` is there while one is: what is needed to decide
    again. ``suspended`` is why no wager is taken; ``discontinued``: and none will be. ``notice_utc``: when its end was
    announced.
    """

    settings: LinkSettings
    rules: LinkRules
    balances: dict[str, int]
    counts: dict[str, LevelCounts]
    wagers: int = 0
    units: int = 0
    suspended: str | None = None
    marks: dict[str, RoundMark] = field(default_factory=dict)
    journal: Journal | None = None
    pending: dict[str, None] = field(default_factory=dict)
    discontinued: bool = False
    notice_utc: str = ""

    def gives_to_house(self, site: SiteSettings | None) -> bool:
        """Whether players' money can become income here, which a sign, a reading and the rules sheet must then say."""
        released = site is not None and site.release_to_house
        return released or any(level.overflow == "house" for level in self.settings.levels)

    @property
    def levels(self) -> dict[str, LevelState]:
        """Every level as it stands, read off the balances."""
        return {name: self.level(name) for name in self.rules.levels}

    def level(self, name: str) -> LevelState:
        """One level as it stands, read off the balances."""
        rules = self.rules.levels[name]
        counts = self.counts[name]
        get = self.balances.get
        return LevelState(
            display_microcents=get(rules.meter, 0),
            reserve_microcents=get(rules.reserve, 0),
            overflow_microcents=get(rules.overflow, 0),
            standing_seed_microcents=counts.standing,
            wagers=self.wagers,
            units=self.units,
            hits=counts.hits,
            won_cents=counts.won_cents,
            resets=counts.resets,
        )


@dataclass(slots=True)
class TableState:
    """One table. ``round`` counts LOCKs; ``past`` keeps who sat where in ended rounds with an award still pending.

    ``caps`` are the aggregate limits posted so far, oldest first; the newest may not hold yet. ``round_caps`` are those
    under which the running round was locked, ``round_tip_cents`` that of a tip.
    ``caps_since`` are those of all rounds: from which round on which were played under.
    ``streak`` is there once a number was keyed in the round. ``last_toke_cents`` is the dealer's of the round just
    ended. ``left_round`` is the latest round of which an award has left the book for good. ``seats_before`` is the most
    seats it ever had before its settings changed.
    """

    settings: TableSettings
    state: TableStatus = TableStatus.CLOSED
    closed_reason: str = "new"
    needs_end_game: bool = False
    round: int = 0
    wagers: dict[int, Wager] = field(default_factory=dict)
    folded: frozenset[int] = frozenset()
    groups: tuple[frozenset[int], ...] = ()
    awards: tuple[str, ...] = ()
    lock_event: str | None = None
    late: int = 0
    last_envy: tuple[EnvyShare, ...] = ()
    past: dict[int, RoundSeats] = field(default_factory=dict)
    caps: tuple[Caps, ...] = ()
    round_caps: Caps | None = None
    caps_since: tuple[tuple[int, Caps | None], ...] = ()
    split: frozenset[int] = frozenset()
    doubled: frozenset[int] = frozenset()
    streak: StreakMark | None = None
    last_toke_cents: int = 0
    round_tip_cents: int | None = None
    left_round: int = 0
    seats_before: int = 0

    @property
    def key(self) -> str:
        """Name of the round for the marks of a link."""
        return f"{self.settings.id}#{self.round}"

    def caps_at(self, moment: str) -> Caps | None:
        """The aggregate limits that hold at a moment: the newest posted long enough ago; None where there are none.

        Moments of the ledger are texts of one form, so they sort as time does.
        """
        found = self._posted_at(moment)
        return None if found is None or (found.player_cents, found.table_cents) == (None, None) else found

    def tip_limit_at(self, moment: str) -> int | None:
        """The most that one tip may be paid, by what is posted; None for no limit."""
        found = self._posted_at(moment)
        return None if found is None else found.tip_cents

    def _posted_at(self, moment: str) -> Caps | None:
        return next((caps for caps in reversed(self.caps) if caps.from_utc <= moment), None)

    def caps_of_round(self, number: int) -> Caps | None:
        """The aggregate limits a round was locked under, however long ago."""
        return next((caps for first, caps in reversed(self.caps_since) if first <= number), None)

    @property
    def seats(self) -> RoundSeats:
        """Who sits where in the running round."""
        return RoundSeats(
            self.wagers,
            self.groups,
            self.folded,
            self.awards,
            self.round_caps,
            self.split,
            self.doubled,
            self.streak,
        )
