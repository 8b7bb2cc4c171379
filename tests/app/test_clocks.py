"""The money thread looks at the clocks of the rules: the log tells once, a snapshot and the metric until it is done."""

from __future__ import annotations

from dataclasses import replace

import structlog
from prometheus_client import CollectorRegistry, generate_latest

from meterd.accounting.book import Book
from meterd.accounting.commands import SYSTEM, Actor, Command, CreateLedger, Role
from meterd.accounting.commands_pools import OpenFund, Post
from meterd.accounting.due import DueKind
from meterd.accounting.rules import decide
from meterd.accounting.settings_pools import FundSettings, PoolGame, PoolSettings
from meterd.app.clocks import EVERY_S, MOVED_EVERY_S, Clocks
from meterd.edge.web.metrics import DUE_KINDS, FloorCollector

SUPERVISOR = Actor("sup-1", Role.SUPERVISOR)


def apply(book: Book, at_utc: str, command: Command) -> None:
    for entry in decide(book, replace(command, now_utc=at_utc)).entries:
        book.apply(book.seq + 1, at_utc, entry)


def jackpot() -> Book:
    """A posted jackpot opened on the first of December at six."""
    book = Book()
    settings = FundSettings("P", PoolGame.POSTED, (PoolSettings("main", 1_000_000),), 200)
    apply(book, "2026-12-01T06:00:00Z", CreateLedger(actor=SYSTEM, site="s", currency="USD", demo=False))
    apply(book, "2026-12-01T06:00:00Z", OpenFund(actor=SYSTEM, settings=settings))
    return book


def test_what_has_become_due_is_told_once_and_stands_in_the_snapshot_until_it_is_done() -> None:
    """A posting that is missing: one warning, told again only after it was done and missed again."""
    book, now_s = jackpot(), [0.0]
    clocks = Clocks(lambda: now_s[0])
    with structlog.testing.capture_logs() as lines:
        assert not clocks.look(book, "2026-12-01T06:00:00Z", moved=False)
        now_s[0] += EVERY_S
        assert clocks.look(book, "2026-12-02T08:00:00Z", moved=False)
        now_s[0] += EVERY_S
        assert not clocks.look(book, "2026-12-02T08:01:00Z", moved=False)
    assert [("due", "warning", "posting", "P")] == [
        (o["event"], o["log_level"], o["kind"], o["subject"]) for o in lines
    ]
    assert [{"kind": "posting", "subject": "P", "since_utc": "2026-12-02T08:00:00.000000Z"}] == clocks.to_json()
    now_s[0] += MOVED_EVERY_S
    apply(book, "2026-12-02T08:02:00Z", Post(actor=SUPERVISOR, fund="P"))
    assert clocks.look(book, "2026-12-02T08:02:00Z", moved=True)
    assert [] == clocks.to_json()


def test_between_two_looks_nothing_is_reckoned() -> None:
    """A clock of days is not read five hundred times a second; an entry is reason enough to look at once."""
    book, now_s = jackpot(), [0.0]
    clocks = Clocks(lambda: now_s[0])
    clocks.look(book, "2026-12-01T06:00:00Z", moved=False)
    now_s[0] += EVERY_S / 2
    assert not clocks.look(book, "2026-12-09T06:00:00Z", moved=False)
    assert clocks.look(book, "2026-12-09T06:00:00Z", moved=True)


def test_the_metric_has_a_child_for_every_kind() -> None:
    """``meterd_due`` counts what is due by kind, 0 where nothing is, so that an alert never waits for a first one."""
    assert {kind.value for kind in DueKind} == set(DUE_KINDS)
    registry = CollectorRegistry()
    snapshot = {"due": [{"kind": "posting", "subject": "P", "since_utc": ""}, {"kind": "posting", "subject": "Q"}]}
    registry.register(FloorCollector(snapshot, {}, up=True))
    text = generate_latest(registry).decode()
    assert 'meterd_due{kind="posting"} 2.0' in text
    assert 'meterd_due{kind="pay_out"} 0.0' in text
