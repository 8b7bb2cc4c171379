"""A new ledger: its first entries, decided like all others, put on disk before anything may run on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from meterd.accounting.book import Book
from meterd.accounting.commands import SYSTEM, Actor, Command, CreateLedger
from meterd.accounting.rules import decide
from meterd.app.parameters import opening_commands
from meterd.app.rows import Stamp, entry_draft, stamps
from meterd.config import Site
from meterd.edge.clock import Clock
from meterd.edge.store import Store
from meterd.errors import ConfigError
from meterd.ledger.record import Draft


def create_ledger(folder: Path, site: Site, *, demo: bool = False, actor: Actor = SYSTEM) -> None:
    """Make the ledger of a site file in ``folder``: the site, its links with their seeds, its tables.

    Raises:
        ConfigError: the rules refuse something of the site file.
        LedgerError: something of a ledger is there already, or the disk failed.
    """
    settings = site.settings
    created = CreateLedger(actor=actor, site=settings.id, currency=settings.currency, demo=demo)
    create_with(folder, (created, *opening_commands(site, actor)))


def create_bare(folder: Path, *, site: str, currency: str, actor: Actor = SYSTEM) -> None:
    """Make a ledger that knows its site and currency and nothing else yet.

    Raises:
        LedgerError: something of a ledger is there already, or the disk failed.
    """
    create_with(folder, (CreateLedger(actor=actor, site=site, currency=currency, demo=False),))


def create_with(folder: Path, commands: Iterable[Command]) -> None:
    """Make a ledger whose first entries these commands decide; the first must be ``CreateLedger``."""
    Store.create(folder, opening_drafts(commands, stamps(Clock())))


def opening_drafts(commands: Iterable[Command], now: Callable[[], Stamp]) -> list[Draft]:
    """The first entries of a ledger.

    Raises:
        ConfigError: the rules refuse a command.
    """
    book = Book()
    drafts: list[Draft] = []
    for command in commands:
        decision = decide(book, replace(command, now_utc=now().at_utc))
        if decision.refusal is not None:
            raise ConfigError(f"{type(command).__name__}: {decision.refusal.refusal.value} {decision.refusal.detail}")
        for entry in decision.entries:
            stamp = now()
            book.apply(len(drafts) + 1, stamp.at_utc, entry)
            drafts.append(entry_draft(entry, stamp, book.site_id))
    return drafts
