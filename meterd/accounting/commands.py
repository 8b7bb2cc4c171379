"""Commands: what somebody or some device asks for. Each is decided once, against the book as it then stands.

Rule 1: a command carries what was seen or keyed, never what it should lead to.
Rule 2: ``event`` is the identity of a device input (``device:epoch:count``); with it, no event counts twice (law 7).
Units: ``*_cents``; ``ms_*`` are milliseconds since the lock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from meterd.accounting.entries import Kind
from meterd.accounting.settings import LinkSettings, SiteSettings, TableSettings


class Role(StrEnum):
    """What a person or program may do."""

    DEALER = "dealer"
    SUPERVISOR = "supervisor"
    TECHNICIAN = "technician"
    ACCOUNTING = "accounting"
    ADMINISTRATOR = "administrator"
    REGULATOR = "regulator"  # reads and verifies; no act is theirs
    SYSTEM = "system"


class Actor(NamedTuple):
    """Who asks: an identity for the ledger and a role for the rules."""

    id: str
    role: Role


SYSTEM = Actor("meterd", Role.SYSTEM)


class Event(NamedTuple):
    """Identity of one device input: ``input`` as ``bus/unit/di3``, the epoch of trust, the unwrapped count."""

    input: str
    epoch: int
    count: int  # type: ignore[assignment]  # a count is what it is; tuple.count is not used

    def __str__(self) -> str:
        """The form stored in ``event_id``."""
        return f"{self.input}:{self.epoch}:{self.count}"


class WagerSeen(NamedTuple):
    """A seat's wager at the moment of LOCK. ``event`` is the identity of the sensor's edge, None in a scenario.

    ``base_cents``: the size of the base wager beside it, None where nothing tells it.
    """

    seat: int
    units: int = 1
    event: Event | None = None
    base: bool = True  # the base wager stands (M8: per game precondition)
    base_cents: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """Common to all commands.

    ``now_utc`` is the moment of deciding in the form of ``Book.at_utc``. Whoever decides commands fills it in, whatever
    the asker wrote; rules with a period in them compare it with moments that entries have put into the book.
    """

    actor: Actor
    device: str | None = None
    event: Event | None = None
    now_utc: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateLedger(Command):
    """The first entry of a new ledger."""

    site: str
    currency: str
    demo: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSite(Command):
    """Put the site's thresholds in force."""

    settings: SiteSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenLink(Command):
    """Put a link in force: its pay table and levels enter the ledger, the house puts up the seeds."""

    settings: LinkSettings
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DefineTable(Command):
    """Put a table in force. It begins CLOSED."""

    settings: TableSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Note(Command):
    """A fact without money: Started, Stopped, ClockStep, DeviceLost, CountMismatch, GameWin, Unreasonable."""

    kind: Kind
    table: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustDevice(Command):
    """Begin to trust a device: a new epoch and a baseline of raw counts per input (design section 6).

    ``counts`` maps input name (``bus/unit/di3``) to the raw counter now; ``modulus`` is 2**counter bits.
    Counts that moved since the book's mark become one MissedWhileAway entry and nothing else. Every table in
    ``tables`` that is OPEN becomes CLOSED ("device_returned") until END GAME; LOCKED stays LOCKED.
    """

    tables: tuple[str, ...]
    counts: Mapping[str, int]
    modulus: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTable(Command):
    """CLOSED → OPEN: all its devices are trusted. Refused TABLE_CLOSED where only END GAME may open it."""

    table: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseTable(Command):
    """OPEN → CLOSED with a reason; a LOCKED table stays LOCKED and notes the reason."""

    table: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock(Command):
    """The dealer ends betting: all seats seen become wagers, in one entry (M3). ``event`` is the lock's identity."""

    table: str
    wagers: tuple[WagerSeen, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LateBet(Command):
    """A wager after LOCK. No money moves."""

    table: str
    seat: int
    ms_min: int
    ms_max: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim(Command):
    """A seat and a hand keyed by the dealer (M4): ``hand`` or ``cards``. ``signs``: level → cents last shown.

    ``cards``: keys ``cards``, ``community``, ``dealer`` as card texts.
    """

    table: str
    seat: int
    hand: str | None = None
    cards: Mapping[str, str] | None = None
    signs: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirm(Command):
    """A supervisor confirms a pending award (M5)."""

    award: str
    cards: Mapping[str, str] | None = None
    second: Actor | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold(Command):
    """A disputed pending award stays pending and in the queue."""

    award: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Correct(Command):
    """A pending award's hand or seat changes and the claim keeps its place."""

    award: str
    hand: str | None = None
    seat: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Void(Command):
    """A pending award is undone as if it had never been claimed."""

    award: str
    reason: str
    second: Actor | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pay(Command):
    """A confirmed award is handed out.

    ``payee`` is a reference into a file of its own, and ``payee_sha256`` the digest of what stands there: a name in a
    ledger that is never edited could never be erased.
    """

    award: str
    slip: str = ""
    method: str = "cash"
    cashier: str = ""
    payee: str = ""
    payee_sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo(Command):
    """After confirm: a Correction by two people with a reference."""

    award: str
    second: Actor | None
    reference: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VoidSeat(Command):
    """One seat's wager of this round goes back. ``second``: who else voids its pending award, where two have to."""

    table: str
    seat: int
    second: Actor | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VoidRound(Command):
    """All wagers of this round go back. ``second`` as for one seat."""

    table: str
    second: Actor | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold(Command):
    """A seat folded its hand."""

    table: str
    seat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Join(Command):
    """Seats played by one person, for this round: no envy from each other (M9)."""

    table: str
    seats: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndGame(Command):
    """The round is over: envy is posted, the table opens again. Opens a CLOSED table whose devices are trusted."""

    table: str
