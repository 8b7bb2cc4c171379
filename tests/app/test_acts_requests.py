"""A request is found by its identity in the ledger: in the open volume and in those of the last days."""

from __future__ import annotations

from pathlib import Path

import pytest

from meterd.accounting.commands import SYSTEM, Actor, Note, Role
from meterd.accounting.commands_links import SuspendLink
from meterd.accounting.entries import Entry, Kind
from meterd.app.act_words import refusal_of, words
from meterd.app.asked import Asked, event_id
from meterd.app.commit import Committer, Stamp, entry_draft
from meterd.app.create import create_ledger
from meterd.app.demo_floor import site_text
from meterd.app.verify import audited_book
from meterd.config import load_site
from meterd.edge.catalogue import catalogue
from meterd.edge.requests import VOLUMES, answer_to
from meterd.edge.store import Store
from meterd.errors import LedgerError
from meterd.ledger.chain import seal
from meterd.ledger.record import Record

SUP = Actor("sup-1", Role.SUPERVISOR)
STAMP = Stamp("2026-12-01T06:00:00.000000Z", "b", 1)
SUSPEND = SuspendLink(actor=SUP, link="tcp-1", reason="fund short")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    create_ledger(tmp_path / "l", load_site(site_text(Path("/nonexistent"), 100, 9477), "s", catalogue()))
    return tmp_path / "l"


def row(store: Store, kind: Kind) -> Record:
    """The next entry of this kind, with nothing in it."""
    entry = entry_draft(Entry(kind, "meterd"), STAMP, "demo")
    return seal(entry, store.seq + 1, store.head)


def about(request: str) -> Asked:
    return Asked(1000, "suspend tcp-1 reason x", ("sup-1",), request)


def test_an_act_and_a_refusal_are_found_and_told_apart(folder: Path) -> None:
    """By the first entry's identity; what nobody asked is not found."""
    store = Store.open(folder)
    committer = Committer(audited_book(store.records()), store, lambda: STAMP)
    committer.decide(SUSPEND, about("r-1"))
    committer.decide(SUSPEND, about("r-2"))
    committer.decide(Note(actor=SYSTEM, kind=Kind.CLOCK_STEP))
    committer.commit()
    store.close()
    (done,), (refused,) = answer_to(folder, event_id("r-1")), answer_to(folder, event_id("r-2"))
    assert ("LinkSuspended", "sup-1", "tcp-1", None) == (done.kind, done.actor, done.link, refusal_of([done]))
    assert "tcp-1: suspended: no wagers, no claims (fund short)" == words([done], "USD", {})
    refusal = refusal_of([refused])
    assert refusal is not None
    assert "ALREADY_DONE" == refusal.refusal.value
    assert () == answer_to(folder, event_id("r-3"))


def test_it_is_found_after_the_day_has_ended_and_forgotten_after_a_week(folder: Path) -> None:
    """Each day is a file; the answer of the last days stands in the older ones."""
    store = Store.open(folder)
    committer = Committer(audited_book(store.records()), store, lambda: STAMP)
    committer.decide(SUSPEND, about("r-1"))
    committer.commit()
    found = []
    for _ in range(VOLUMES):
        store.commit([row(store, Kind.DAY_READ)])
        store.roll(row(store, Kind.BOOK_CARRIED))
        found.append(len(answer_to(folder, event_id("r-1"))))
    store.close()
    assert [1] * (VOLUMES - 1) + [0] == found


def test_a_ledger_that_cannot_be_read_is_said_to_be(tmp_path: Path) -> None:
    """Not taken for one that knows nothing: then an act could be done twice."""
    with pytest.raises(LedgerError):
        answer_to(tmp_path / "none", event_id("r-1"))
    (tmp_path / "ledger-1.db").write_bytes(b"no database")
    with pytest.raises(LedgerError):
        answer_to(tmp_path, event_id("r-1"))
