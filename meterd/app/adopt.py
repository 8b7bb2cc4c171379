"""Put additions of a site file in force on a ledger that exists: new links, tables and funds, by two people.

The daemon must be stopped: the ledger has one writer, and its lock says so.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from meterd.accounting.commands import Actor, Role
from meterd.accounting.rules import Decision
from meterd.app.commit import Committer, Stamp
from meterd.app.parameters import additions, differences, next_step
from meterd.app.verify import audited_book
from meterd.config import Site
from meterd.edge.clock import Clock
from meterd.edge.store import Store
from meterd.errors import ConfigError, MisuseError


class Adopted(NamedTuple):
    """What came into force."""

    links: tuple[str, ...]
    tables: tuple[str, ...]
    funds: tuple[str, ...] = ()


def adopt(folder: Path, site: Site, *, first: str, second: str, reference: str) -> Adopted:
    """Adopt what ``site`` adds, in one transaction, signed by two people with a reference.

    Raises:
        ConfigError: the site file differs in more than additions; nothing is changed.
        LedgerError: the ledger is missing, damaged or in use.
        MisuseError: an addition was refused.
    """
    store = Store.open(folder)
    try:
        book = audited_book(store.records())
        if site.settings.id != book.site_id or book.site is None:
            raise ConfigError(f"nothing can be adopted: {differences(site, book)[0]}\n{next_step(site, book)}")
        actor = Actor(f"{first}+{second} ref {reference}", Role.ADMINISTRATOR)
        wanted = additions(site, book, actor)
        clock = Clock()

        def now() -> Stamp:
            instant = clock.now()
            return Stamp(instant.at_utc, instant.boot, instant.mono_ns)

        before = (set(book.links), set(book.tables), set(book.funds))
        committer = Committer(book, store, now)
        decisions: list[Decision] = [committer.decide(command) for command in wanted]
        refused = [decision.refusal for decision in decisions if decision.refusal is not None]
        if refused:
            raise MisuseError(f"an addition was refused: {refused[0]}")
        left = differences(site, book)
        if left:
            raise ConfigError(
                "only new links, tables and funds can be adopted; these differ besides:\n  " + "\n  ".join(left)
            )
        committer.commit()
        return Adopted(
            tuple(set(book.links) - before[0]), tuple(set(book.tables) - before[1]), tuple(set(book.funds) - before[2])
        )
    finally:
        store.close()
