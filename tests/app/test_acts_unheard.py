"""Acts on a table that is not heard: no window opens where a chip would not be seen, and entries say who asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from demo_book import book_of, demo_site, done

from meterd.accounting.book import Book
from meterd.accounting.commands import SYSTEM, Actor, Command, EndGame, Fold, Lock, OpenTable, Role, WagerSeen
from meterd.accounting.entries import Kind
from meterd.accounting.refusals import Refusal
from meterd.accounting.rules import decide
from meterd.accounting.state import DeviceMark
from meterd.app.asked import Asked, following, unheard
from meterd.config import Site
from meterd.floor.session import TableSession

SUP = Actor("sup-1", Role.SUPERVISOR)
ASKED = Asked(1000, "fold LIR-1 seat 1", ("sup-1",), "r-1")


@pytest.fixture
def site() -> Site:
    return demo_site()


@pytest.fixture
def book(tmp_path: Path, site: Site) -> Book:
    return book_of(tmp_path / "l", site)


@pytest.mark.parametrize("command", [OpenTable(actor=SUP, table="LIR-1"), EndGame(actor=SUP, table="LIR-1")])
def test_nobody_opens_a_table_from_afar_whose_modules_are_not_heard(book: Book, site: Site, command: Command) -> None:
    """Where all are heard, and on a table that has no session here, the rules alone decide."""
    session = TableSession(site.tables[0])
    refused = unheard(command, {"LIR-1": session}, book)
    assert refused is not None
    assert Refusal.TABLE_CLOSED is refused.refusal
    assert unheard(command, {}, book) is None
    assert unheard(Fold(actor=SUP, table="LIR-1", seat=1), {"LIR-1": session}, book) is None


def test_a_round_that_ends_from_afar_opens_no_window_on_a_deaf_table(book: Book, site: Site) -> None:
    """It was locked when its module was lost: END GAME is allowed, and the table is closed in the same breath."""
    seen = (WagerSeen(1), WagerSeen(2))
    done(book, OpenTable(actor=SYSTEM, table="LIR-1"), Lock(actor=SYSTEM, table="LIR-1", wagers=seen))
    end = EndGame(actor=SUP, table="LIR-1")
    sessions = {"LIR-1": TableSession(site.tables[0])}
    assert unheard(end, sessions, book) is None
    decision = done(book, end)
    (close,) = following(end, decision, sessions)
    done(book, close)
    table = book.tables["LIR-1"]
    assert ("CLOSED", "device_lost", True) == (table.state.value, table.closed_reason, table.needs_end_game)
    assert [] == following(end, decision, {})
    assert [] == following(end, decide(book, replace(end, table="LIR-9")), sessions)


def test_who_asked_is_a_fact_of_each_entry_and_the_first_has_the_identity(book: Book) -> None:
    """A refusal's too; it marks no device, and nothing of the entry is lost."""
    decision = decide(book, Fold(actor=SUP, table="LIR-1", seat=1))
    (entry,) = ASKED.on(decision.entries)
    assert Kind.REFUSED is entry.kind
    assert "request:r-1" == entry.event_id
    asked = {"uid": 1000, "by": ["sup-1"], "statement": "fold LIR-1 seat 1", "request": "r-1"}
    assert {**decision.entries[0].body, "asked": asked} == entry.body
    before = dict(book.devices)
    book.apply(book.seq + 1, "2026-12-01T06:00:00.000000Z", entry)
    assert before == book.devices
    two = ASKED.on(decision.entries * 2)
    assert ["request:r-1", None] == [each.event_id for each in two]
    (without,) = ASKED._replace(request="").on(decision.entries)
    assert (None, None) == (without.event_id, without.body["asked"]["request"])


def test_other_events_still_mark_their_device(book: Book) -> None:
    """Only requests are left out."""
    entry = replace(ASKED.on(decide(book, Fold(actor=SUP, table="LIR-1", seat=1)).entries)[0], event_id="p/1/di3:2:7")
    book.apply(book.seq + 1, "2026-12-01T06:00:00.000000Z", entry)
    assert DeviceMark(2, 7) == book.devices["p/1/di3"]
