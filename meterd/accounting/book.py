"""The book: the fold of all entries. What is true now, and nothing that an entry did not say.

Rule 1: ``apply`` adds postings and reads facts; it consults no rate and no pay table.
Rule 2: a level's display, reserve and overflow are its balances, so there is one truth. ``stored_levels(entry)`` is
        what an entry says they are after it; an audit compares that with ``Book.level_values`` (``check_levels``).
Rule 3: only ``apply`` changes a book. ``decide`` reads it.
Units: balances are microcents; what the house holds or laid out is negative, what it owes or handed out positive.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from meterd.accounting.awards import ClaimFacts, LinkMoney, Part, RoundMark
from meterd.accounting.entries import Entry, Kind
from meterd.accounting.meter import LevelMoney, LinkRules
from meterd.accounting.replay import ClaimOp, Journal, LockOp, Op, ShiftOp, UndoOp, WagersVoidedOp
from meterd.accounting.settings import LinkSettings, SiteSettings, TableSettings
from meterd.accounting.state import (
    Award,
    AwardStatus,
    DeviceMark,
    EnvyShare,
    LevelCounts,
    LinkState,
    TableState,
    TableStatus,
    Wager,
)


class Book:
    """All meters, tables, rounds, awards, device marks and parameters in force. Changed by ``apply`` alone."""

    def __init__(self) -> None:
        self.seq = 0
        self.at_utc = ""
        self.site_id = ""
        self.currency = ""
        self.demo = False
        self.site: SiteSettings | None = None
        self.links: dict[str, LinkState] = {}
        self.tables: dict[str, TableState] = {}
        self.awards: dict[str, Award] = {}
        self.open_awards: dict[str, None] = {}  # neither voided nor paid, oldest first
        self.balances: dict[str, int] = {}
        self.devices: dict[str, DeviceMark] = {}
        self._counts: dict[str, LevelCounts] = {}

    def apply(self, seq: int, at_utc: str, entry: Entry) -> None:
        """Take one entry in, in place. ``seq`` is its place in the ledger, ``at_utc`` its time."""
        self.seq = seq
        self.at_utc = at_utc
        handler = _HANDLERS.get(entry.kind)
        before = handler is _claimed
        if before:
            _claimed(self, entry)
        balances = self.balances
        for account, microcents in entry.postings:
            balances[account] = balances.get(account, 0) + microcents
        levels = entry.body.get("levels")
        if levels and entry.kind is not Kind.LINK_OPENED:
            self._read_levels(levels)
        if entry.event_id is not None:
            self._mark_event(entry.event_id)
        if handler is not None and not before:
            handler(self, entry)

    def residual_microcents(self) -> int:
        """Sum of all balances. Anything but 0 means that money no longer adds up."""
        return sum(self.balances.values())

    def liability_microcents(self, link: str) -> int:
        """What the house owes the players of a link: meters above standing seed, reserves, overflow, awards (M1)."""
        state = self.links[link]
        total = self.balances.get(f"unclaimed/{link}", 0)
        for level in state.levels.values():
            total += level.display_microcents - level.standing_seed_microcents
            total += level.reserve_microcents + level.overflow_microcents
        for award in self.open_awards:
            if self.awards[award].link == link:
                total += self.balances.get(f"payable/{award}", 0)
        return total

    def level_values(self, key: str) -> dict[str, int]:
        """Display, reserve and overflow of ``link/level`` by this fold, in microcents, as entries store them."""
        get = self.balances.get
        return {
            "display_microcents": get(f"meter/{key}", 0),
            "reserve_microcents": get(f"reserve/{key}", 0),
            "overflow_microcents": get(f"overflow/{key}", 0),
        }

    def check_levels(self, entry: Entry) -> str | None:
        """After ``apply(entry)``: None where the entry's stored values are the fold's, else what differs."""
        for key, stored in stored_levels(entry).items():
            for name, value in self.level_values(key).items():
                if stored.get(name) != value:
                    return f"{key} {name}: stored {stored.get(name)}, by the postings {value}"
        return None

    def money(self, link: str) -> LinkMoney:
        """A working copy of a link as it stands, with the parts of its pending awards."""
        state = self.links[link]
        get = self.balances.get
        levels = {}
        for name, rules in state.rules.levels.items():
            counts = state.counts[name]
            levels[name] = LevelMoney(
                rules,
                get(rules.meter, 0),
                get(rules.reserve, 0),
                get(rules.overflow, 0),
                counts.standing,
                counts.resets,
                counts.hits,
                counts.won_cents,
            )
        parts = {award: self.awards[award].parts for award in state.pending}
        return LinkMoney(levels, dict(state.marks), parts)

    def _read_levels(self, levels: Mapping[str, Mapping[str, int]]) -> None:
        for key, facts in levels.items():
            if "resets" in facts:
                counts = self._counts[key]
                counts.standing = facts["standing_seed_microcents"]
                counts.resets = facts["resets"]
                counts.hits = facts["hits"]
                counts.won_cents = facts["won_cents"]

    def _mark_event(self, event_id: str) -> None:
        name, epoch, count = event_id.rsplit(":", 2)
        mark = DeviceMark(int(epoch), int(count))
        old = self.devices.get(name)
        if old is None or mark > old:
            self.devices[name] = mark


def stored_levels(entry: Entry) -> Mapping[str, Mapping[str, int]]:
    """The level values an entry stores: ``link/level`` → values after it. Empty where it moves none."""
    levels: Mapping[str, Mapping[str, int]] = entry.body.get("levels", {})
    return levels


def _ledger_created(book: Book, entry: Entry) -> None:
    book.site_id = entry.body["site"]
    book.currency = entry.body["currency"]
    book.demo = entry.body["demo"]


def _site_set(book: Book, entry: Entry) -> None:
    book.site = SiteSettings.from_json(entry.body["settings"])


def _link_opened(book: Book, entry: Entry) -> None:
    settings = LinkSettings.from_json(entry.body["settings"])
    rules = LinkRules.of(settings)
    counts = {name: LevelCounts() for name in rules.levels}
    book.links[settings.id] = LinkState(settings, rules, book.balances, counts)
    for name, level in rules.levels.items():
        book._counts[level.key] = counts[name]  # noqa: SLF001 - the fold's own functions
    book._read_levels(entry.body["levels"])  # noqa: SLF001


def _table_defined(book: Book, entry: Entry) -> None:
    settings = TableSettings.from_json(entry.body["settings"])
    book.tables[settings.id] = TableState(settings)


def _started(book: Book, entry: Entry) -> None:  # noqa: ARG001 - all handlers look alike
    """The last run ended without closing its tables: what was open then may have missed chips since."""
    for table in book.tables.values():
        if table.state is TableStatus.OPEN:
            table.state = TableStatus.CLOSED
            table.closed_reason = "crash"
            table.needs_end_game = True


def _device_trusted(book: Book, entry: Entry) -> None:
    epoch = entry.body["epoch"]
    for name, count in entry.body["counts"].items():
        book.devices[name] = DeviceMark(epoch, count)


def _table_opened(book: Book, entry: Entry) -> None:
    table = book.tables[entry.table or ""]
    table.state = TableStatus.OPEN
    table.closed_reason = ""
    table.needs_end_game = False


def _table_closed(book: Book, entry: Entry) -> None:
    table = book.tables[entry.table or ""]
    table.closed_reason = entry.body["reason"]
    if table.state is not TableStatus.LOCKED:
        table.state = TableStatus.CLOSED
        table.needs_end_game = entry.body["needs_end_game"]


def _locked(book: Book, entry: Entry) -> None:
    body = entry.body
    table = book.tables[entry.table or ""]
    link = book.links[table.settings.link]
    table.state = TableStatus.LOCKED
    table.round = body["round"]
    table.lock_event = entry.event_id
    table.late = 0
    table.folded = frozenset()
    table.groups = ()
    table.awards = ()
    table.last_envy = ()
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


def _claimed(book: Book, entry: Entry) -> None:
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
        award = replace(award, status=AwardStatus.CONFIRMED, held=False, confirmed_by=award.verified_by or entry.actor)
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
    _reread_journal(
        book, link, entry.body, [op for op in ops if not (isinstance(op, ClaimOp) and op.facts.award == name)]
    )
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
        else:
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
        link.journal.ops.append(UndoOp(award.id, award.table, award.parts, paid))


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


_HANDLERS: Final[dict[Kind, Callable[[Book, Entry], None]]] = {
    Kind.LEDGER_CREATED: _ledger_created,
    Kind.SITE_SET: _site_set,
    Kind.LINK_OPENED: _link_opened,
    Kind.TABLE_DEFINED: _table_defined,
    Kind.STARTED: _started,
    Kind.DEVICE_TRUSTED: _device_trusted,
    Kind.TABLE_OPENED: _table_opened,
    Kind.TABLE_CLOSED: _table_closed,
    Kind.LOCKED: _locked,
    Kind.LATE_BET: _late_bet,
    Kind.CLAIMED: _claimed,
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
