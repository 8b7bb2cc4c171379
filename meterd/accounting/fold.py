"""The fold, entry by entry: what each kind of entry changes in the book besides its postings.

Rule 1: a handler reads facts of the entry and nothing else: no rate, no pay table, no clock.
Rule 2: these functions belong to ``Book.apply`` alone; nobody else calls them.
Units: as in the entries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from meterd.accounting import fold_links, fold_pools, fold_site
from meterd.accounting.awards import ClaimFacts, LinkMoney
from meterd.accounting.entries import Entry, Kind
from meterd.accounting.journal import (
    CapOp,
    ClaimOp,
    Journal,
    LockOp,
    Op,
    ShiftOp,
    UndoOp,
    WagersVoidedOp,
    without_award,
)
from meterd.accounting.landing import landed_from
from meterd.accounting.marks import Part, RoundMark
from meterd.accounting.state import (
    Award,
    AwardStatus,
    DeviceMark,
    EnvyShare,
    LinkState,
    TableStatus,
    Wager,
)

if TYPE_CHECKING:
    from meterd.accounting.book import Book


def _locked(book: Book, entry: Entry) -> None:
    body = entry.body
    table = book.tables[entry.table or ""]
    link = book.links[table.settings.link]
    table.state = TableStatus.LOCKED
    table.round = body["round"]
    table.lock_event = entry.event_id
    table.late = 0
    table.folded = frozenset()
    table.awards = ()
    table.last_envy = ()
    table.round_caps = table.caps_at(book.at_utc)
    wagers = {}
    devices = book.devices
    total = 0
    for seen in body["wagers"]:
        units = seen["units"]
        total += units
        wagers[seen["seat"]] = Wager(units, seen["cents"])
        event = seen.get("event")
        if event is not None:
            name, epoch, count = event.rsplit(":", 2)
            devices[name] = DeviceMark(int(epoch), int(count))
    table.wagers = wagers
    link.wagers += len(wagers)
    link.units += total
    over = body.get("over")
    link.marks[table.key] = RoundMark(
        {name: counts.resets for name, counts in link.counts.items()},
        {n: {int(seat): amount for seat, amount in seats.items()} for n, seats in over.items()} if over else {},
        landed=landed_from(body.get("landed", {})),
    )
    if link.journal is not None:
        sent = body.get("sent", {})
        staked = tuple((seat, wager.units) for seat, wager in wagers.items())
        link.journal.ops.append(LockOp(table.settings.id, table.round, staked, sent, sent))


def _late_bet(book: Book, entry: Entry) -> None:
    book.tables[entry.table or ""].late += 1


def _parts(data: list[dict[str, Any]]) -> tuple[Part, ...]:
    return tuple(Part(**part) for part in data)


def _read_awards(book: Book, changed: Mapping[str, Mapping[str, Any]]) -> None:
    for award, facts in changed.items():
        flags = facts["flags"]
        book.awards[award] = replace(
            book.awards[award],
            amount_cents=facts["amount_cents"],
            parts=_parts(facts["parts"]),
            sign_above_meter="SIGN_ABOVE_METER" in flags,
            meter_empty="METER_EMPTY" in flags,
        )


def _read_marks(link: LinkState, marks: Mapping[str, Any]) -> None:
    for key, mark in marks.items():
        link.marks[key] = RoundMark.from_json(mark)


def claimed(book: Book, entry: Entry) -> None:
    """Called before the postings are added: the journal keeps the link as it stood before the claim."""
    body = entry.body
    table = book.tables[entry.table or ""]
    link = book.links[table.settings.link]
    facts = ClaimFacts(
        body["award"],
        table.settings.id,
        body["round"],
        body["seat"],
        body["hand"],
        body["units"],
        body["signs"],
        tuple(body["late"]),
    )
    op = ClaimOp(facts, book.money(table.settings.link).copy())
    if link.journal is None:
        link.journal = Journal([])
    link.journal.ops.append(op)
    book.awards[facts.award] = Award(
        id=facts.award,
        link=link.settings.id,
        table=facts.table,
        round=facts.round,
        seat=facts.seat,
        hand=facts.hand,
        units=facts.units,
        amount_cents=body["amount_cents"],
        keyed_by=entry.actor,
        at_utc=book.at_utc,
        parts=_parts(body["parts"]),
        envy_cents=body["envy_cents"],
        sign_above_meter="SIGN_ABOVE_METER" in body["flags"],
        meter_empty="METER_EMPTY" in body["flags"],
    )
    link.pending[facts.award] = None
    book.open_awards[facts.award] = None
    table.awards = (*table.awards, facts.award)
    _read_awards(book, body["awards"])
    _read_marks(link, body["marks"])


def _settled(book: Book, award: Award) -> None:
    """An award is no longer pending: the journal shortens, and an ended round is forgotten with its last open award."""
    link = book.links[award.link]
    link.pending.pop(award.id, None)
    if link.journal is not None:
        link.journal = link.journal.trim(link.pending)
    table = book.tables[award.table]
    if award.round in table.past and not any(
        book.awards[other].round == award.round and book.awards[other].table == award.table for other in link.pending
    ):
        del table.past[award.round]
        link.marks.pop(f"{award.table}#{award.round}", None)


def _confirmed(book: Book, entry: Entry) -> None:
    body = entry.body
    name = body["award"]
    if body["verified"]:
        book.awards[name] = replace(book.awards[name], verified_by=entry.actor)
    link = book.links[book.awards[name].link]
    _read_marks(link, body["marks"])
    for member in body["awards"]:
        award = book.awards[member]
        award = replace(
            award,
            status=AwardStatus.CONFIRMED,
            held=False,
            confirmed_by=award.verified_by or entry.actor,
            confirmed_at_utc=book.at_utc,
        )
        book.awards[member] = award
        _settled(book, award)


def _held(book: Book, entry: Entry) -> None:
    name = entry.body["award"]
    book.awards[name] = replace(book.awards[name], held=True)


def _reread_journal(book: Book, link: LinkState, body: Mapping[str, Any], ops: list[Op]) -> None:
    """Take in what a decision about the past said: amounts, marks, and the journal's own states."""
    _read_awards(book, body["awards"])
    _read_marks(link, body["marks"])
    before = body["before"]
    sent = body["sent"]
    again: list[Op] = []
    for op in ops:
        if isinstance(op, ClaimOp) and op.facts.award in before:
            again.append(ClaimOp(op.facts, LinkMoney.from_json(link.rules, before[op.facts.award])))
        elif isinstance(op, LockOp) and op.key in sent:
            again.append(replace(op, sent=sent[op.key]))
        elif isinstance(op, UndoOp) and op.award in body["awards"]:
            again.append(op._replace(parts=book.awards[op.award].parts))
        else:
            again.append(op)
    again.extend(ShiftOp(s["level"], s["microcents"], s["table"]) for s in body["shifts"])
    link.journal = Journal(again)


def _voided(book: Book, entry: Entry) -> None:
    name = entry.body["award"]
    award = replace(book.awards[name], status=AwardStatus.VOIDED, held=False)
    book.open_awards.pop(name, None)
    book.awards[name] = award
    link = book.links[award.link]
    ops = link.journal.ops if link.journal is not None else []
    _reread_journal(book, link, entry.body, without_award(ops, name))
    _settled(book, award)


def _corrected(book: Book, entry: Entry) -> None:
    body = entry.body
    award = book.awards[body["award"]]
    link = book.links[award.link]
    ops: list[Op] = []
    for op in link.journal.ops if link.journal is not None else []:
        if isinstance(op, ClaimOp) and op.facts.award == award.id:
            facts = op.facts._replace(
                hand=body["hand"], seat=body["seat"], units=body["units"], late=tuple(body["late"])
            )
            ops.append(ClaimOp(facts, op.before))
        elif not (isinstance(op, CapOp) and op.award == award.id):
            ops.append(op)
    book.awards[award.id] = replace(
        award,
        hand=body["hand"],
        seat=body["seat"],
        units=body["units"],
        envy_cents=body["envy_cents"],
        corrected_by=(*award.corrected_by, entry.actor),
        verified_by=None,
    )
    _reread_journal(book, link, body, ops)


def _paid(book: Book, entry: Entry) -> None:
    name = entry.body["award"]
    book.awards[name] = replace(book.awards[name], status=AwardStatus.PAID)
    book.open_awards.pop(name, None)


def _correction(book: Book, entry: Entry) -> None:
    award = book.awards[entry.body["award"]]
    book.awards[award.id] = replace(award, status=AwardStatus.VOIDED, undone=True)
    book.open_awards.pop(award.id, None)
    link = book.links[award.link]
    if link.journal is not None:
        paid = award.status is AwardStatus.PAID
        link.journal.ops.append(UndoOp(award.id, award.table, award.parts, paid, award.owed_account))


def _wager_voided(book: Book, entry: Entry) -> None:
    table = book.tables[entry.table or ""]
    link = book.links[table.settings.link]
    gone = [(seat, table.wagers[seat].units) for seat in entry.body["seats"]]
    table.wagers = {seat: wager for seat, wager in table.wagers.items() if seat not in set(entry.body["seats"])}
    link.wagers -= len(gone)
    link.units -= sum(units for _, units in gone)
    if link.journal is not None:
        link.journal.ops.append(WagersVoidedOp(table.settings.id, table.round, tuple(gone)))


def _folded(book: Book, entry: Entry) -> None:
    table = book.tables[entry.table or ""]
    table.folded = table.folded | {entry.body["seat"]}


def _joined(book: Book, entry: Entry) -> None:
    table = book.tables[entry.table or ""]
    joined = frozenset(entry.body["seats"])
    apart = []
    for group in table.groups:
        if group & joined:
            joined |= group
        else:
            apart.append(group)
    table.groups = (*apart, joined)


def _game_ended(book: Book, entry: Entry) -> None:
    table = book.tables[entry.table or ""]
    link = book.links[table.settings.link]
    if table.state is TableStatus.LOCKED:
        if any(book.awards[name].pending for name in table.awards):
            table.past[table.round] = table.seats
        else:
            link.marks.pop(table.key, None)
        table.last_envy = tuple(EnvyShare(*share) for share in entry.body["envy"])
    table.state = TableStatus.OPEN
    table.closed_reason = ""
    table.needs_end_game = False
    table.wagers = {}
    table.folded = frozenset()
    table.groups = ()
    table.awards = ()


HANDLERS: Final[dict[Kind, Callable[[Book, Entry], None]]] = {
    **fold_site.HANDLERS,
    **fold_links.HANDLERS,
    **fold_pools.HANDLERS,
    Kind.LOCKED: _locked,
    Kind.LATE_BET: _late_bet,
    Kind.CLAIMED: claimed,
    Kind.CONFIRMED: _confirmed,
    Kind.HELD: _held,
    Kind.VOIDED: _voided,
    Kind.CORRECTED: _corrected,
    Kind.PAID: _paid,
    Kind.CORRECTION: _correction,
    Kind.WAGER_VOIDED: _wager_voided,
    Kind.FOLDED: _folded,
    Kind.JOINED: _joined,
    Kind.GAME_ENDED: _game_ended,
}
