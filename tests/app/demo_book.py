"""The demo's floor in force in a new ledger, and its book as a test plays on it: a set-up that is refused fails."""

from __future__ import annotations

from pathlib import Path

from meterd.accounting.book import Book
from meterd.accounting.commands import Command
from meterd.accounting.rules import Decision, decide
from meterd.app.create import create_ledger
from meterd.app.demo_floor import site_text
from meterd.app.verify import audited_book
from meterd.config import Site, load_site
from meterd.edge.catalogue import catalogue
from meterd.edge.store import read_records


def demo_site() -> Site:
    """The site of `meterd demo`."""
    return load_site(site_text(Path("/nonexistent"), 100, 9477), "site.toml", catalogue())


def book_of(folder: Path, site: Site) -> Book:
    """The book of a new ledger."""
    create_ledger(folder, site)
    return audited_book(read_records(folder))


def done(book: Book, *commands: Command) -> Decision:
    """Decide commands one after the other and take their entries in; none is refused."""
    for command in commands:
        decision = decide(book, command)
        assert decision.refusal is None, decision.refusal
        for entry in decision.entries:
            book.apply(book.seq + 1, "2026-12-01T06:00:00.000000Z", entry)
    return decision
