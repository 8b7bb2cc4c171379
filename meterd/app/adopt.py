"""Put a changed site file in force on a ledger that exists: additions, and what the rules of a live house allow.

The daemon must be stopped to adopt: the ledger has one writer, and its lock says so. To look, it need not be.
Rule 1: two people of two departments sign, with the reference of the approval. All of it enters in one transaction, or
nothing does.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from meterd.accounting.book import Book
from meterd.accounting.commands import Actor, Command, Role
from meterd.accounting.state import LinkState
from meterd.app.changes import Change, Signed, changes
from meterd.app.commit import Committer, resume
from meterd.app.parameters import additions, differences, next_step
from meterd.app.rows import stamps
from meterd.app.signatures import Signatures, said
from meterd.app.verify import audited_book
from meterd.config import Site
from meterd.edge.clock import Clock
from meterd.edge.files import universe_text
from meterd.edge.store import Store, read_records
from meterd.errors import ConfigError, MisuseError
from meterd.paytables.lint import SEATS, lint_change
from meterd.paytables.lint_pars import ParLaws
from meterd.paytables.lint_worth import LevelTerms, Terms
from meterd.paytables.model import PayTable

_NOBODY = Signed(Actor("", Role.ADMINISTRATOR), Actor("", Role.ACCOUNTING), "")


class Adopted(NamedTuple):
    """What came into force. ``changed``: in words, what was in force and now is otherwise."""

    links: tuple[str, ...]
    tables: tuple[str, ...]
    funds: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


class Outlook(NamedTuple):
    """What a site file asks of a ledger: ids that are new, what can be adopted besides, and what cannot, and why."""

    new: tuple[str, ...]
    can: tuple[str, ...]
    cannot: tuple[str, ...]


def look(folder: Path, site: Site) -> Outlook:
    """What adopting would do. Reads only, also beside the daemon; the rules are asked when two people sign.

    Raises:
        ConfigError: the ledger is another site's.
        LedgerError: there is none, or it cannot be read.
    """
    book = audited_book(read_records(folder))
    _require_ours(site, book)
    found = changes(site, book, _NOBODY, _judge)
    new = [line.partition(":")[0] for line in differences(site, book) if line.endswith("not yet in the ledger")]
    return Outlook(tuple(new), _said(found, can=True), _said(found, can=False))


def adopt(
    folder: Path,
    site: Site,
    *,
    first: str,
    second: str,
    reference: str,
    roles: tuple[Role, Role] | None = None,
    people: str = "",
) -> Adopted:
    """Adopt what ``site`` adds and changes, in one transaction, signed by two people with a reference.

    ``roles``: of two that PINs proved, by the file ``people``; without them the entries say that nothing proved the
    names.

    Raises:
        ConfigError: something of it cannot be adopted; nothing is changed.
        LedgerError: the ledger is missing, damaged or in use.
        MisuseError: the rules refused something; nothing is changed.
    """
    store = Store.open(folder)
    try:
        committer = resume(store, stamps(Clock()))
        book = committer.book
        _require_ours(site, book)
        signatures = Signatures(first, second, reference, roles, people)
        signatures.require_two()
        signed = Signed(*signatures.actors, reference)
        found = changes(site, book, signed, _judge)
        cannot = _said(found, can=False)
        if cannot:
            raise ConfigError("these cannot be adopted, so that nothing is:\n  " + "\n  ".join(cannot))
        before = (set(book.links), set(book.tables), set(book.funds))
        wanted = [change.command for change in found if change.command is not None]
        _decide(committer, [*wanted, *additions(site, book, _both(signed))], signatures)
        left = differences(site, book)
        if left:
            raise MisuseError("what was adopted is not the site file: " + "; ".join(left))
        committer.commit()
        return Adopted(
            tuple(sorted(set(book.links) - before[0])),
            tuple(sorted(set(book.tables) - before[1])),
            tuple(sorted(set(book.funds) - before[2])),
            _said(found, can=True),
        )
    finally:
        store.close()


def _said(found: list[Change], *, can: bool) -> tuple[str, ...]:
    return tuple(change.says for change in found if (change.command is not None) is can)


def _require_ours(site: Site, book: Book) -> None:
    if site.settings.id != book.site_id or book.site is None:
        raise ConfigError(f"nothing can be adopted: {differences(site, book)[0]}\n{next_step(site, book)}")


def _both(signed: Signed) -> Actor:
    """Who puts something new in force: both, in the right of the administrator among them."""
    roles = (signed.actor.role, signed.second.role)
    role = Role.ADMINISTRATOR if Role.ADMINISTRATOR in roles else signed.actor.role
    return Actor(f"{signed.actor.id}+{signed.second.id} ref {signed.reference}", role)


def _decide(committer: Committer, commands: list[Command], signatures: Signatures) -> None:
    """Decide all; the first refusal ends it, before anything is written."""
    asked = signatures.asked("adopt")
    for command in commands:
        refusal = committer.decide(command, asked).refusal
        if refusal is not None:
            raise MisuseError(f"nothing was adopted, for {type(command).__name__} was refused {said(refusal)}")


def _judge(old: PayTable, new: PayTable, site: Site, state: LinkState) -> tuple[str, ...]:
    """What the linter finds harder or less in ``new``, with the money of the link; easier is no objection."""
    link = state.settings
    levels = {
        level.name: LevelTerms(level.seed_cents, level.increment_ppm, level.reserve_ppm or 0) for level in link.levels
    }
    tables = [table.settings for table in site.tables if table.settings.link == link.id]
    seats = max((table.seats for table in tables), default=SEATS)
    games = frozenset(table.game for table in tables) or None
    terms = Terms(link.wager_cents, levels, seats, link.id, games)
    findings = lint_change(old, new, ParLaws(universe_text), terms=terms)
    return tuple(f"{each.row or new.id} {each.found}" for each in findings if each.code != "EASIER_TO_WIN")
