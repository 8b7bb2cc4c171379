"""Amounts at the edge of the ledger's integers: exact, or refused; never wrapped."""

from __future__ import annotations

from meterd.accounting.book import Book
from meterd.accounting.commands import (
    SYSTEM,
    Actor,
    Command,
    CreateLedger,
    DefineTable,
    EndGame,
    Lock,
    OpenLink,
    OpenTable,
    Role,
    SetSite,
    WagerSeen,
)
from meterd.accounting.entries import Entry, Kind, Posting
from meterd.accounting.refusals import Refusal
from meterd.accounting.rules import Decision, beyond_bounds, decide
from meterd.accounting.settings import (
    Floor,
    LevelSettings,
    LinkSettings,
    ResetMode,
    SiteSettings,
    TableSettings,
    Ties,
)
from meterd.edge.files import paytable
from meterd.money import AMOUNT_CENTS_MAX, MICROCENTS_MAX

DEALER = Actor("dealer@T1", Role.DEALER)


def _act(book: Book, command: Command) -> Decision:
    decision = decide(book, command)
    for entry in decision.entries:
        book.apply(book.seq + 1, "2026-12-01T06:00:00.000000Z", entry)
    return decision


def test_a_lock_that_would_pass_the_largest_amount_is_refused_and_changes_no_account() -> None:
    """The display stands one wager below the bound: one more LOCK fits exactly, the next is AMOUNT_OUT_OF_BOUNDS."""
    wager = 100_000_000
    level = LevelSettings(
        "main", AMOUNT_CENTS_MAX - wager, 1_000_000, None, ResetMode.SEED_PLUS_RESERVE, Ties.SEQUENTIAL, Floor.NONE
    )
    link = LinkSettings("l", wager, 1, paytable("co/three-card-poker/progressive-1"), (level,))
    book = Book()
    for command in (
        CreateLedger(actor=SYSTEM, site="s", currency="USD", demo=False),
        SetSite(actor=SYSTEM, settings=SiteSettings("s")),
        OpenLink(actor=SYSTEM, settings=link),
        DefineTable(actor=SYSTEM, settings=TableSettings("T1", "l", "three-card-poker", 7)),
        OpenTable(actor=SYSTEM, table="T1"),
        Lock(actor=DEALER, table="T1", wagers=(WagerSeen(1),)),
        EndGame(actor=DEALER, table="T1"),
    ):
        assert None is _act(book, command).refusal
    assert MICROCENTS_MAX == book.links["l"].levels["main"].display_microcents
    before = dict(book.balances)
    refused = _act(book, Lock(actor=DEALER, table="T1", wagers=(WagerSeen(1),)))
    assert refused.refusal is not None
    assert Refusal.AMOUNT_OUT_OF_BOUNDS is refused.refusal.refusal
    assert before == book.balances
    assert "OPEN" == book.tables["T1"].state


def test_a_posting_too_large_for_the_ledger_is_refused_though_its_account_would_hold_the_outcome() -> None:
    """From the lowest to the highest amount is twice the largest, and no column holds that."""
    book = Book()
    book.balances["house/pays/T1"] = -MICROCENTS_MAX
    book.balances["paid/T1"] = MICROCENTS_MAX
    moved = [MICROCENTS_MAX, MICROCENTS_MAX + 1]
    entries = [
        Entry(Kind.PAID, "x", postings=(Posting("house/pays/T1", cents), Posting("paid/T1", -cents))) for cents in moved
    ]
    assert [None, "house/pays/T1"] == [beyond_bounds(book, (entry,)) for entry in entries]
