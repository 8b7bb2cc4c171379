"""The fold, entry by entry: what each kind of entry changes in the book besides its postings.

Rule 1: a handler reads facts of the entry and nothing else: no rate, no pay table, no clock.
Rule 2: these functions belong to ``Book.apply`` alone; nobody else calls them.
Units: as in the entries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from meterd.accounting import fold_day, fold_links, fold_pools, fold_site, fold_streak
from meterd.accounting.awards import LinkMoney
from meterd.accounting.entries import Entry, Kind
from meterd.accounting.fold_claims import claimed, common_claimed, read_awards, read_marks
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
from meterd.accounting.marks import RoundMark
from meterd.accounting.state import (
    DEALER_SEAT,
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
    table.round_tip_cents = table.tip_limit_at(book.at_utc)
    if table.round_caps != (table.caps_since[-1][1] if table.caps_since else None):
        table.caps_since = (*table.caps_since, (table.round, table.round_caps))
    fold_streak.forget(table)
    table.last_toke_cents = 0
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


def _handed(body: Mapping[str, Any]) -> tuple[EnvyShare, ...]:
    """The envy that an entry hands out, the dealer's with that of the seats."""
    tokes = tuple(EnvyShare(DEALER_SEAT, *toke) for toke in body.get("tokes", ()))
    return (*(EnvyShare(*share) for share in body["envy"]), *tokes)


def _late_bet(book: Book, entry: Entry) -> None:
    book.tables[entry.table or ""].late += 1


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
        shown = {proof for proof in ("cards", "second") if body.get(proof)}
        award = book.awards[name]
        book.awards[name] = replace(award, verified_by=entry.actor, shown=award.shown | shown)
    link = book.links[book.awards[name].link]
    read_marks(link, body["marks"])
    _read_waits(book, body)
    past = book.tables[book.awards[name].table].past
    number = book.awards[name].round
    if number in past:
        past[number] = past[number]._replace(handed=(*past[number].handed, *_handed(body)))
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


def _read_waits(book: Book, body: Mapping[str, Any]) -> None:
    """Which confirmed awards wait with their envy, and which no longer."""
    for waiting, waits in body.get("envy_waits", {}).items():
        book.awards[waiting] = replace(book.awards[waiting], envy_waits=waits)


def _held(book: Book, entry: Entry) -> None:
    award = book.awards[entry.body["award"]]
    if entry.body.get("verified") is False:
        award = replace(award, verified_by=None, shown=frozenset())
    book.awards[award.id] = replace(award, held=True)


def _reread_journal(book: Book, link: LinkState, body: Mapping[str, Any], ops: list[Op]) -> None:
    """Take in what a decision about the past said: amounts, marks, and the journal's own states."""
    read_awards(book, body["awards"])
    read_marks(link, body["marks"])
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
        common=award.common and body["hand"] == award.hand,
        corrected_by=(*award.corrected_by, entry.actor),
        verified_by=None,
        shown=frozenset(),
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
    hands = table.seats.hands
    gone = [(seat, table.wagers[seat].units * hands(seat)) for seat in entry.body["seats"]]
    table.wagers = {seat: wager for seat, wager in table.wagers.items() if seat not in set(entry.body["seats"])}
    link.wagers -= sum(hands(seat) for seat, _ in gone)
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
            table.past[table.round] = table.seats._replace(handed=_handed(entry.body))
            _read_waits(book, entry.body)
        else:
            link.marks.pop(table.key, None)
        table.last_envy = tuple(EnvyShare(*share) for share in entry.body["envy"])
        table.last_toke_cents = entry.body.get("toke_cents", 0)
    table.state = TableStatus.OPEN
    table.closed_reason = ""
    table.needs_end_game = False
    table.wagers = {}
    table.folded = frozenset()
    table.groups = ()
    table.awards = ()
    fold_streak.forget(table)


HANDLERS: Final[dict[Kind, Callable[[Book, Entry], None]]] = {
    **fold_site.HANDLERS,
    **fold_links.HANDLERS,
    **fold_pools.HANDLERS,
    Kind.LOCKED: _locked,
    Kind.LATE_BET: _late_bet,
    Kind.CLAIMED: claimed,
    Kind.COMMON_CLAIMED: common_claimed,
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
    **fold_streak.HANDLERS,
    **fold_day.HANDLERS,
}

#: Handlers that read the book as it stood before the entry's postings.
BEFORE_POSTINGS: Final = frozenset({claimed, common_claimed, fold_day.book_carried})
