"""Commands that change a live link, and those about awards nobody claimed or claimed too late.

Rule 1: whoever changes what players are owed is two people of two departments, with the reference of an approval.
Rule 2: a command carries what was decided by people, never what it should lead to.
Units: ``*_cents``; a level is named ``link/level``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from meterd.accounting.commands import Actor, Command
from meterd.accounting.settings import SiteSettings, TableSettings
from meterd.paytables.model import PayTable


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoPeople(Command):
    """An act of two people: ``actor`` and ``second``. ``reference`` names the paper that approves it."""

    second: Actor | None = None
    reference: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuspendLink(Command):
    """Stop taking wagers on a link at once, for the stated reason."""

    link: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeLink(TwoPeople):
    """Take wagers on a suspended link again."""

    link: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjust(TwoPeople):
    """Put right what a meter shows: ``cents`` more, or less where an earlier adjustment is taken back."""

    level: str
    cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer(TwoPeople):
    """Move players' money from a meter to another, on the same link or on another one."""

    level: str
    target: str
    cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SetLimit(TwoPeople):
    """Another limit for a level; None for none. ``overflow`` where the level had no limit and so no overflow."""

    level: str
    limit_cents: int | None
    overflow: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoverSeed(TwoPeople):
    """The house takes back a part of its standing seed."""

    level: str
    cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Release(TwoPeople):
    """Money of a level's ``reserve`` or ``overflow`` becomes the house's income."""

    level: str
    part: str
    cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveNotice(TwoPeople):
    """The end of a link is announced to the players; its notice clock starts."""

    link: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Discontinue(TwoPeople):
    """End a link: standing seeds return to the house, all the rest goes to the approved target level.

    ``target`` None: nothing is owed, so nothing needs a target; or with ``licensee`` the rest leaves with its liability
    for another licensee. ``reference`` is needed then, and where the highest award has not been won.
    """

    link: str
    target: str | None = None
    licensee: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EaseRules(TwoPeople):
    """Another pay table for a live link. ``verdict`` is the linter's word on the change, ``easier`` or not."""

    link: str
    paytable: PayTable
    verdict: str
    findings: tuple[str, ...] = field(default=())
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkUnclaimed(Command):
    """A confirmed award that nobody collected within the site's days."""

    award: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispose(TwoPeople):
    """What becomes of an unclaimed award: a level, ``authority`` (handed over) or ``house`` (income, where allowed)."""

    award: str
    to: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjustClaim(TwoPeople):
    """An award proved after END GAME of its round (M4): paid by the house, whatever the meter shows by now."""

    table: str
    round: int
    seat: int
    hand: str
    cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PostCaps(TwoPeople):
    """Other aggregate limits are posted at a table; they hold 24 hours later. None is no limit."""

    table: str
    player_cents: int | None
    table_cents: int | None
    tip_cents: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSite(TwoPeople):
    """Other thresholds and permissions of the property, from now on."""

    settings: SiteSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeTable(TwoPeople):
    """Other settings of a table, from now on. Its link stays; its aggregate limits are posted (``PostCaps``)."""

    settings: TableSettings
