"""A link's pending awards in a form that acts on the past can be tried on, one after the other, away from the book.

Rule 1: a ``Timeline`` is a working copy; voiding or correcting on it gives the facts of an entry and the next timeline.
Rule 2: several voids in one answer are decided one on top of the other, as the fold will take them in.
Units: microcents in moves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from meterd.accounting.answer import award_facts, level_facts
from meterd.accounting.awards import LinkMoney
from meterd.accounting.book import Book
from meterd.accounting.journal import CapOp, ClaimOp, LockOp, Op, without_award
from meterd.accounting.marks import RoundMark
from meterd.accounting.meter import LinkRules, Moves
from meterd.accounting.replay import Pins, redecide
from meterd.accounting.state import Award
from meterd.errors import InvariantBroken


@dataclass(slots=True)
class Timeline:
    """A link now (``money``), the acts since its earliest pending claim (``ops``), its awards, and those pinned."""

    link: str
    rules: LinkRules
    money: LinkMoney
    ops: list[Op]
    amounts: dict[str, int]
    pending: list[str]
    pins: Pins

    @classmethod
    def of(cls, book: Book, link: str) -> Timeline:
        """The link as the book holds it."""
        state = book.links[link]
        ops = list(state.journal.ops) if state.journal is not None else []
        claimed = [op.facts.award for op in ops if isinstance(op, ClaimOp)]
        pins = {name: book.awards[name].parts for name in claimed if name not in state.pending}
        amounts = {name: book.awards[name].amount_cents for name in claimed}
        return cls(link, state.rules, book.money(link), ops, amounts, list(state.pending), pins)


@dataclass(slots=True)
class Retold:
    """A past decided again: the timeline after it, the facts an entry stores, its moves, awards with a new amount."""

    after: Timeline
    facts: dict[str, Any]
    moves: Moves
    revalued: dict[str, int]


def without(timeline: Timeline, award: Award) -> Retold:
    """The link as if a pending award had not been claimed."""
    retold = _retell(timeline, without_award(timeline.ops, award.id), award.table)
    retold.after.pending.remove(award.id)
    del retold.after.amounts[award.id]
    return retold


def closed_ties(money: LinkMoney, key: str, award: str) -> tuple[str, ...]:
    """Levels whose tie of a round is confirmed without this award: for it, the house alone pays (M7)."""
    mark = money.marks.get(key)
    ties = mark.ties if mark is not None else {}
    return tuple(sorted(name for name, tie in ties.items() if tie.closed and award not in tie.members))


def corrected(timeline: Timeline, award: Award, *, hand: str, seat: int, units: int) -> Retold:
    """The link as if a pending award had been keyed with this hand and seat, in its place.

    Choice: where the hand would join a tie that has been confirmed since, it comes after it.
    """
    late = closed_ties(timeline.money, f"{award.table}#{award.round}", award.id)
    ops: list[Op] = []
    for op in timeline.ops:
        if isinstance(op, ClaimOp) and op.facts.award == award.id:
            ops.append(ClaimOp(op.facts._replace(hand=hand, seat=seat, units=units, late=late), op.before))
        elif not (isinstance(op, CapOp) and op.award == award.id):
            ops.append(op)
    retold = _retell(timeline, ops, award.table)
    retold.facts["late"] = list(late)
    return retold


def _retell(timeline: Timeline, ops: list[Op], table: str) -> Retold:
    old = timeline.money
    if not timeline.ops:
        raise InvariantBroken("a pending award without a journal")
    again = redecide(timeline.rules, old, timeline.ops, ops, timeline.pins, table)
    marks = {key: _still_closed(mark, old.marks[key]) for key, mark in again.money.marks.items() if key in old.marks}
    parts = {**old.parts, **{award: settled.parts for award, settled in again.changed.items()}}
    money = LinkMoney(again.money.levels, marks, parts)
    amounts = {**timeline.amounts, **{award: settled.cents for award, settled in again.changed.items()}}
    stood = {op.key: op.sent for op in timeline.ops if isinstance(op, LockOp)}
    facts = {
        "awards": {award: award_facts(settled) for award, settled in again.changed.items()},
        "levels": level_facts(money.levels.values()),
        "marks": {key: mark.to_json() for key, mark in marks.items() if mark != old.marks[key]},
        "before": {
            op.facts.award: op.before.to_json()
            for op in again.ops
            if isinstance(op, ClaimOp) and op.facts.award in timeline.pending
        },
        "sent": {op.key: dict(op.sent) for op in again.ops if isinstance(op, LockOp) and op.sent != stood[op.key]},
        "shifts": [{"level": s.level, "microcents": s.microcents, "table": s.table} for s in again.shifts],
    }
    revalued = {
        award: settled.cents for award, settled in again.changed.items() if settled.cents != timeline.amounts[award]
    }
    after = Timeline(timeline.link, timeline.rules, money, again.ops, amounts, list(timeline.pending), timeline.pins)
    return Retold(after, facts, again.moves, revalued)


def _still_closed(mark: RoundMark, stands: RoundMark) -> RoundMark:
    """A tie confirmed since stays so: confirming is no act on the link's money, so a replay does not tell it."""
    ties = {
        name: replace(tie, closed=True) if name in stands.ties and stands.ties[name].closed else tie
        for name, tie in mark.ties.items()
    }
    return replace(mark, ties=ties)
