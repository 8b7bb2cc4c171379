"""Whoever decides commands fills in the moment, whatever the asker wrote."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from meterd.accounting.book import Book
from meterd.accounting.commands import SYSTEM, Command, CreateLedger, Note, Void
from meterd.accounting.entries import Kind
from meterd.accounting.rules import Decision
from meterd.app import commit, scenario_world
from meterd.app.commit import Committer, Stamp, resume
from meterd.app.create import create_bare
from meterd.edge.store import Store


def test_the_committer_tells_the_rules_what_time_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that names a moment of its own is decided at the clock's."""
    create_bare(tmp_path, site="riverside", currency="USD")
    store = Store.open(tmp_path)
    try:
        told: list[str] = []

        def decide(_book: Book, command: Command) -> Decision:
            told.append(command.now_utc)
            return Decision((), None)

        monkeypatch.setattr(commit, "decide", decide)
        moment = "2026-05-05T05:05:05.000000Z"
        committer = Committer(Book(), store, lambda: Stamp(moment, "boot", 1))
        committer.decide(Note(actor=SYSTEM, kind=Kind.STARTED, now_utc="2099-01-01T00:00:00.000000Z"))
        assert [moment] == told
    finally:
        store.close()


def test_the_first_entry_carries_the_moment_it_was_decided_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that goes on between: "not before" decided just before it, and written just after, would be odd."""
    create_bare(tmp_path, site="riverside", currency="USD")
    told: list[str] = []
    real = commit.decide

    def decide(book: Book, command: Command) -> Decision:
        told.append(command.now_utc)
        return real(book, command)

    def now() -> Stamp:
        told.append("")
        return Stamp(f"2026-05-05T05:05:05.{len(told):06}Z", "boot", len(told))

    monkeypatch.setattr(commit, "decide", decide)
    with closing(Store.open(tmp_path)) as store:
        committer = resume(store, now)
        committer.decide(Void(actor=SYSTEM, award="A1", reason=""))
        committer.decide(Note(actor=SYSTEM, kind=Kind.COUNT_MISMATCH, facts={"accepted": 1}))
        committer.commit()
        written = [record.at_utc for record in store.records()][-2:]
    assert [moment for moment in told if moment] == written


def test_a_page_is_decided_at_its_virtual_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The moment told to the rules is the one the entries carry."""
    told: list[str] = []
    real: Any = vars(scenario_world)["decide"]

    def decide(book: Book, command: Command) -> Decision:
        told.append(command.now_utc)
        found: Decision = real(book, command)
        return found

    monkeypatch.setattr(scenario_world, "decide", decide)
    world = scenario_world.World()
    world.act(CreateLedger(actor=SYSTEM, site="scenario", currency="USD", demo=False))
    assert [world.book.at_utc] == told
