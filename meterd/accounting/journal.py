"""The journal of a link: the acts since its earliest pending claim, each a small record made from its entry alone.

Rule 1: a record says what was asked, and for a claim how the link stood before it; what became of it is told again.
Rule 2: a journal is part of the fold, so it survives a restart.
Units: microcents; ``cuts`` in cents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from meterd.accounting.awards import ClaimFacts, LinkMoney
from meterd.accounting.marks import Part


@dataclass(frozen=True, slots=True)
class LockOp:
    """A LOCK: (seat, units) per wager. ``sent`` per level what went on to another level, ``received`` what arrived."""

    table: str
    round: int
    wagers: tuple[tuple[int, int], ...]
    sent: Mapping[str, int] = field(default_factory=dict)
    received: Mapping[str, int] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Name of the round."""
        return f"{self.table}#{self.round}"


@dataclass(frozen=True, slots=True)
class ClaimOp:
    """A claim, with the link as it stood just before it."""

    facts: ClaimFacts
    before: LinkMoney


class WagersVoidedOp(NamedTuple):
    """Wagers of a round given back: (seat, units)."""

    table: str
    round: int
    wagers: tuple[tuple[int, int], ...]


class UndoOp(NamedTuple):
    """A confirmed (or paid) award undone. ``parts`` as they were, for an award claimed before the journal begins.

    ``account`` is what still owed it, where that is not its own payable account.
    """

    award: str
    table: str
    parts: tuple[Part, ...]
    paid: bool
    account: str = ""


class ShiftOp(NamedTuple):
    """Money that came to a level or left it by an act which no round tells of: a change of the live link, a void.

    ``what`` says whose money moved: ``meter`` (the players' part of the display), ``adjusted`` (the same, by an
    adjustment), ``seed`` (the house's standing seed), ``reserve`` or ``overflow``. What the level does not hold when
    the past is decided again, the house lays out at ``table``.
    """

    level: str
    microcents: int
    table: str
    what: str = "meter"


class LimitOp(NamedTuple):
    """A limit set on a level: ``limit_microcents`` is None for no limit."""

    level: str
    limit_microcents: int | None
    overflow_to: str | None


class CapOp(NamedTuple):
    """An aggregate limit that cut an award: cents off its parts, by their place."""

    award: str
    table: str
    cuts: tuple[int, ...]


Op = LockOp | ClaimOp | WagersVoidedOp | UndoOp | ShiftOp | LimitOp | CapOp


@dataclass(slots=True)
class Journal:
    """The acts on a link since its earliest pending claim, which is the first of them."""

    ops: list[Op]

    @property
    def first_table(self) -> str:
        """The table of the earliest pending claim."""
        first = self.ops[0]
        return first.facts.table if isinstance(first, ClaimOp) else ""

    def trim(self, pending: Mapping[str, Any]) -> Journal | None:
        """Drop what lies before the earliest claim still pending; None where none is."""
        for index, op in enumerate(self.ops):
            if isinstance(op, ClaimOp) and op.facts.award in pending:
                if index:
                    self.ops = self.ops[index:]
                return self
        return None


def without_award(ops: Sequence[Op], award: str) -> list[Op]:
    """The acts of a journal as if a claim had not been made: neither it nor what an aggregate limit cut off it."""
    return [
        op
        for op in ops
        if not (isinstance(op, ClaimOp) and op.facts.award == award)
        and not (isinstance(op, CapOp) and op.award == award)
    ]
