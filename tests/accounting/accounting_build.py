"""Small casinos for the accounting tests: pay tables built inline, and a floor that decides and folds.

``Casino`` sends commands through ``decide`` and ``Book.apply``. After each it insists on what must always hold: the
book did not change while deciding, entries balance, stored level values are the fold's, the residual is 0.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from meterd.accounting.book import Book
from meterd.accounting.commands import (
    SYSTEM,
    Actor,
    Claim,
    Command,
    Confirm,
    Correct,
    DefineTable,
    EndGame,
    Event,
    Lock,
    OpenLink,
    OpenTable,
    Role,
    SetSite,
    Void,
    VoidRound,
    VoidSeat,
    WagerSeen,
)
from meterd.accounting.commands import Pay as PayAward
from meterd.accounting.entries import Entry, Kind, Posting
from meterd.accounting.refusals import Refusal
from meterd.accounting.rules import Decision, decide
from meterd.accounting.settings import (
    Floor,
    LevelSettings,
    LinkSettings,
    ResetMode,
    SiteSettings,
    TableSettings,
    Ties,
)
from meterd.money import parse_money, parse_rate
from meterd.paytables.model import Pay, PayKind, PayTable, Row

DEALER = Actor("dealer@T1", Role.DEALER)
SUPERVISOR = Actor("sup-1", Role.SUPERVISOR)
OTHER = Actor("sup-2", Role.SUPERVISOR)
ADMINISTRATOR = Actor("adm-1", Role.ADMINISTRATOR)
ACCOUNTANT = Actor("acc-1", Role.ACCOUNTING)


def percent(share: str, level: str | None = None) -> Pay:
    return Pay(PayKind.METER_PERCENT, percent_ppm=parse_rate(share), level=level)


def fixed(money: str, *, from_meter: bool = False, level: str | None = None, scales: bool = True) -> Pay:
    return Pay(PayKind.FIXED, cents=parse_money(money), from_meter=from_meter, level=level, scales=scales)


def row(hand: str, *pays: Pay, envy: str = "0") -> Row:
    return Row(hand, hand, "", None, pays, parse_money(envy))


def paytable(*rows: Row, **more: Any) -> PayTable:
    facts: dict[str, Any] = {
        "id": "test/table",
        "game": "Test",
        "wager": "progressive",
        "kind": "progressive",
        "sources": (),
        "basis": "",
        "evaluator": None,
        "games": (),
        "rows": rows,
    }
    return PayTable(**{**facts, **more})


#: One meter, all of it, a tenth of it, and envy (as examples 1 to 6 of the money rules need them).
ROYAL = paytable(
    row("royal-flush", percent("100%"), envy="1000"),
    row("straight-flush", percent("10%"), envy="300"),
    row("five-to-one", Pay(PayKind.ODDS_TO, n=5)),
    row("five-for-one", Pay(PayKind.ODDS_FOR, n=5)),
    row("push", Pay(PayKind.PUSH)),
    row("fixed-fifty", fixed("50.00")),
    row("mega-and-odds", percent("100%"), Pay(PayKind.ODDS_TO, n=250)),
    row("nothing", Pay(PayKind.LOSS)),
)

#: Fixed pays out of the meter for a $5 wager, as THBP-6 of CO 47.1-1099.26.
THBP_6 = paytable(
    row("royal-flush", percent("100%")),
    row("straight-flush", percent("10%")),
    row("four-of-a-kind", fixed("2500.00", from_meter=True)),
    row("full-house", fixed("500.00", from_meter=True)),
    row("flush", fixed("300.00", from_meter=True)),
    wager_cents=500,
)

#: Three levels and envy, as PMG-ML-02.
THREE = paytable(
    row("royal-flush", percent("100%", "mega"), envy="1000"),
    row("straight-flush", percent("100%", "major"), envy="300"),
    row("four-of-a-kind", percent("100%", "minor")),
    row("full-house", fixed("50.00")),
    row("flush", Pay(PayKind.ODDS_FOR, n=40)),
)

#: Envy $25 on one row, as Three Card Poker prints it.
TCP = paytable(row("mini-royal", fixed("500.00"), envy="25"), row("straight-flush", fixed("70.00")))


def level(
    name: str = "main",
    seed: str = "10000",
    increment: str = "20%",
    reserve: str | None = "4%",
    reset: str = "seed_plus_reserve",
    ties: str = "sequential",
    floor: str = "none",
    limit: str | None = None,
    overflow: str | None = None,
    share_scales: bool = False,
) -> LevelSettings:
    return LevelSettings(
        name,
        parse_money(seed),
        parse_rate(increment),
        None if reserve is None else parse_rate(reserve),
        ResetMode(reset),
        Ties(ties),
        Floor(floor),
        None if limit is None else parse_money(limit),
        overflow,
        share_scales,
    )


def link(
    *levels: LevelSettings, table: PayTable = ROYAL, wager: str = "1.00", units: int = 5, name: str = "nexus"
) -> LinkSettings:
    return LinkSettings(name, parse_money(wager), units, table, levels or (level(),))


def frozen(book: Book) -> str:
    """The whole book as text, to compare two moments."""
    parts: list[Any] = [
        book.seq,
        sorted((a, m) for a, m in book.balances.items() if m),
        [(name, repr(award)) for name, award in book.awards.items()],
        [(name, repr(table)) for name, table in book.tables.items()],
        [
            (
                name,
                state.wagers,
                state.units,
                repr(state.counts),
                repr(state.marks),
                repr(state.pending),
                repr(state.journal),
            )
            for name, state in book.links.items()
        ],
        [(name, tuple(mark)) for name, mark in book.devices.items()],
        repr(book.site),
    ]
    return json.dumps(parts)


class Casino:
    """A book with its entries. ``strict`` compares the whole book around every decision."""

    def __init__(
        self, *links: LinkSettings, site: SiteSettings | None = None, tables: int = 2, strict: bool = True
    ) -> None:
        self.book = Book()
        self.entries: list[Entry] = []
        self.strict = strict
        self.do(SetSite(actor=SYSTEM, settings=site or SiteSettings("test")))
        number = 0
        for settings in links or (link(),):
            self.do(OpenLink(actor=SYSTEM, settings=settings))
            for _ in range(tables):
                number += 1
                self.do(DefineTable(actor=SYSTEM, settings=TableSettings(f"T{number}", settings.id, "Test", 7)))
                self.do(OpenTable(actor=SYSTEM, table=f"T{number}"))

    def decide(self, command: Command) -> Decision:
        before = frozen(self.book) if self.strict else ""
        decision = decide(self.book, command)
        if self.strict:
            assert before == frozen(self.book), "deciding changed the book"
        return decision

    def take(self, decision: Decision) -> None:
        for entry in decision.entries:
            json.dumps(dict(entry.body))
            self.entries.append(entry)
            self.book.apply(self.book.seq + 1, "2026-01-01T00:00:00.000000Z", entry)
            assert self.book.check_levels(entry) is None
        if self.strict:
            assert self.book.residual_microcents() == 0

    def do(self, command: Command) -> Decision:
        """Must be accepted."""
        decision = self.decide(command)
        assert decision.refusal is None, decision.refusal
        self.take(decision)
        return decision

    def refuses(self, command: Command) -> Refusal:
        """Must be refused; returns why."""
        decision = self.decide(command)
        assert decision.refusal is not None
        money = dict(self.book.balances)
        self.take(decision)
        assert money == self.book.balances
        return decision.refusal.refusal

    def folded(self, *, by_name: bool = False) -> Book:
        """A new book from the same entries, as read back from a ledger; there the names in a body are sorted."""
        book = Book()
        for seq, entry in enumerate(self.entries, start=1):
            again = Entry(
                entry.kind,
                entry.actor,
                entry.table,
                entry.link,
                entry.device,
                entry.event_id,
                json.loads(json.dumps(dict(entry.body), sort_keys=by_name)),
                entry.postings,
            )
            book.apply(seq, "2026-01-01T00:00:00.000000Z", again)
        return book

    # the words of a page

    def lock(self, seats: Sequence[int] | dict[int, int] = (1,), table: str = "T1") -> None:
        units = seats if isinstance(seats, dict) else dict.fromkeys(seats, 1)
        self.do(Lock(actor=DEALER, table=table, wagers=tuple(WagerSeen(s, u) for s, u in units.items())))

    def end(self, table: str = "T1") -> None:
        self.do(EndGame(actor=DEALER, table=table))

    def rounds(self, count: int, seats: Sequence[int] | dict[int, int] = (1,), table: str = "T2") -> None:
        strict, self.strict = self.strict, False
        for _ in range(count):
            self.lock(seats, table)
            self.end(table)
        self.strict = strict

    def wagers(self, count: int, table: str = "T2") -> None:
        """So many single wagers, five seats at a time."""
        self.rounds(count // 5, (1, 2, 3, 4, 5), table)
        if count % 5:
            self.rounds(1, range(1, count % 5 + 1), table)

    def claim(self, seat: int, hand: str, table: str = "T1", signs: dict[str, int] | None = None) -> str:
        self.do(Claim(actor=DEALER, table=table, seat=seat, hand=hand, signs=signs or {}))
        return next(reversed(self.book.awards))

    def confirm(self, award: str, by: Actor = SUPERVISOR) -> None:
        self.do(Confirm(actor=by, award=award))

    def void(self, award: str, by: Actor = SUPERVISOR) -> None:
        self.do(Void(actor=by, award=award, reason="misread"))

    def correct(self, award: str, hand: str | None = None, seat: int | None = None, by: Actor = SUPERVISOR) -> None:
        self.do(Correct(actor=by, award=award, hand=hand, seat=seat))

    def pay(self, award: str) -> None:
        self.do(PayAward(actor=DEALER, award=award))

    def void_seat(self, seat: int, table: str = "T1") -> None:
        self.do(VoidSeat(actor=SUPERVISOR, table=table, seat=seat))

    def void_round(self, table: str = "T1") -> None:
        self.do(VoidRound(actor=SUPERVISOR, table=table))

    def amount(self, award: str) -> str:
        return cents(self.book.awards[award].amount_cents)

    def account(self, name: str) -> str:
        return cents(int(self.book.balances.get(name, 0) / 1_000_000))

    def microcents(self, name: str) -> int:
        return self.book.balances.get(name, 0)

    def display(self, level: str = "nexus/main") -> str:
        return cents(self.book.balances.get(f"meter/{level}", 0) // 1_000_000)

    def reserve(self, level: str = "nexus/main") -> str:
        return cents(self.book.balances.get(f"reserve/{level}", 0) // 1_000_000)

    def overflow(self, level: str = "nexus/main") -> str:
        return cents(self.book.balances.get(f"overflow/{level}", 0) // 1_000_000)

    def seed(self, level: str = "nexus/main") -> str:
        return self.account(f"house/seed/{level}")

    def liability(self, link: str = "nexus") -> str:
        return cents(self.book.liability_microcents(link) // 1_000_000)


def cents(amount: int) -> str:
    sign = "-" if amount < 0 else ""
    return f"{sign}{abs(amount) // 100:,}.{abs(amount) % 100:02d}"


def put(casino: Casino, meter: str, reserve: str = "0", overflow: str = "0", level_: str = "nexus/main") -> None:
    """Set a level to given values by hand: a correction of the test's own, balanced against house/revenue."""
    moves: dict[str, int] = {}
    for account, text in ((f"meter/{level_}", meter), (f"reserve/{level_}", reserve), (f"overflow/{level_}", overflow)):
        moves[account] = parse_money(text) * 1_000_000 - casino.book.balances.get(account, 0)
    moves["house/revenue"] = -sum(moves.values())
    posted = tuple(Posting(a, m) for a, m in moves.items() if m)
    casino.take(Decision((Entry(Kind.CLOCK_STEP, "test", body={}, postings=posted),), None))


def event(count: int, input_: str = "pit-1/40/di3", epoch: int = 1) -> Event:
    return Event(input_, epoch, count)
