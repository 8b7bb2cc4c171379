"""What a changed site file asks of a ledger that exists: which act brings each difference into force, or why none does.

Rule 1: what players play for changes only as the rules of a live link allow it; everything else ends a link and opens
another.
Rule 2: nothing is half adopted: a file with one difference that cannot be is not adopted at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any, NamedTuple

from meterd.accounting.book import Book
from meterd.accounting.commands import Actor, Command
from meterd.accounting.commands_links import ChangeSite, ChangeTable, EaseRules, PostCaps, SetLimit
from meterd.accounting.rules_links import EASIER
from meterd.accounting.settings import LevelSettings, LinkSettings, TableSettings
from meterd.accounting.state import LinkState, TableState
from meterd.app.parameters import as_in_the_file, compare
from meterd.config import Site
from meterd.money import format_cents
from meterd.paytables.model import PayTable


class Signed(NamedTuple):
    """Two people and the paper that approves what they sign."""

    actor: Actor
    second: Actor
    reference: str


class Change(NamedTuple):
    """One thing that differs. ``command`` brings it into force; None where nothing does, and ``says`` is why not."""

    says: str
    command: Command | None = None


#: ``(old, new, site, link)`` → what the linter has against taking ``new`` for ``old``; empty where it is only easier.
Judge = Callable[[PayTable, PayTable, Site, LinkState], tuple[str, ...]]


def changes(site: Site, book: Book, signed: Signed, judge: Judge) -> list[Change]:
    """All that differs in what both know; what only the site file knows are ``parameters.additions``."""
    return [
        *_site(site, book, signed),
        *_links(site, book, signed, judge),
        *_tables(site, book, signed),
        *_funds(site, book),
    ]


def _who(signed: Signed) -> dict[str, Any]:
    return {"actor": signed.actor, "second": signed.second, "reference": signed.reference}


def _site(site: Site, book: Book, signed: Signed) -> Iterator[Change]:
    held, wanted = book.site, site.settings
    if held is None or held == wanted:
        return
    if held.currency != wanted.currency:
        yield Change("site.currency: a ledger is in one currency: close this one and create another")
        return
    said = "; ".join(compare("site", held.to_json(), wanted.to_json()))
    yield Change(said, ChangeSite(settings=wanted, **_who(signed)))


def _links(site: Site, book: Book, signed: Signed, judge: Judge) -> Iterator[Change]:
    wanted = {link.id: link for link in site.links}
    for link_id, state in book.links.items():
        where = f"link {link_id}"
        link = wanted.get(link_id)
        if link is None:
            if not state.discontinued:
                yield Change(
                    f"{where}: the ledger has it and the site file does not: a link ends by"
                    f' `meterd act "discontinue {link_id} to LINK/LEVEL"`; until then put it back into the site file'
                )
        elif link != state.settings and state.discontinued:
            yield Change(f"{where}: it is discontinued: remove it from the site file, or put it back as it was")
        elif link != state.settings:
            yield from _link(site, link, state, signed, judge)


def _link(site: Site, link: LinkSettings, state: LinkState, signed: Signed, judge: Judge) -> Iterator[Change]:
    held, where = state.settings, f"link {link.id}"
    fixed = {key: value for key, value in held.to_json().items() if key not in {"paytable", "levels"}}
    for said in compare(where, fixed, {key: link.to_json().get(key) for key in fixed}):
        yield Change(f"{said}: {_ANOTHER_LINK}")
    if link.paytable != held.paytable:
        against = judge(held.paytable, link.paytable, site, state)
        said = f"{where}.paytable: {held.paytable.id} is in force, the site file says {link.paytable.id}"
        if against:
            yield Change(f"{said}: a running award may only become easier to win: {'; '.join(against)}")
        else:
            command = EaseRules(
                link=link.id,
                paytable=link.paytable,
                verdict=EASIER,
                sha256=site.link_sha256.get(link.id, ""),
                **_who(signed),
            )
            yield Change(said, command)
    if [level.name for level in held.levels] != [level.name for level in link.levels]:
        yield Change(f"{where}.levels: a live link keeps its levels: {_ANOTHER_LINK}")
        return
    for was, now in zip(held.levels, link.levels, strict=True):
        yield from _level(link.id, was, now, signed)


def _level(link_id: str, was: LevelSettings, now: LevelSettings, signed: Signed) -> Iterator[Change]:
    key = f"{link_id}/{now.name}"
    same = replace(was, limit_cents=now.limit_cents, overflow=now.overflow)
    for said in compare(f"level {key}", same.to_json(), now.to_json()):
        yield Change(f"{said}: {_ANOTHER_LINK}")
    if same == was:
        return
    amounts = ["none" if cents is None else format_cents(cents) for cents in (was.limit_cents, now.limit_cents)]
    moved = [
        f"its {what} goes from {old or 'none'} to {new or 'none'}"
        for what, old, new in (("limit", *amounts), ("overflow", was.overflow, now.overflow))
        if old != new
    ]
    command = SetLimit(level=key, limit_cents=now.limit_cents, overflow=now.overflow, **_who(signed))
    yield Change(f"level {key}: {', '.join(moved)}", command)


def _tables(site: Site, book: Book, signed: Signed) -> Iterator[Change]:
    wanted = {table.settings.id: table.settings for table in site.tables}
    for table_id, held in book.tables.items():
        where = f"table {table_id}"
        now = wanted.get(table_id)
        if now is None:
            if not book.links[held.settings.link].discontinued:
                yield Change(
                    f"{where}: the ledger has it and the site file does not: a table stays as long as its link. Put it"
                    f' back into the site file; `meterd act "close-table {table_id} reason WORD"` keeps it closed'
                )
        elif now.link != held.settings.link:
            yield Change(f"{where}.link: a table keeps its link {held.settings.link}: give it another id on {now.link}")
        else:
            yield from _table(held, now, signed)


def _table(held: TableState, now: TableSettings, signed: Signed) -> Iterator[Change]:
    was = held.settings  # with the limits that were posted last
    where = f"table {now.id}"
    caps: dict[str, Any] = {each.name: getattr(now, each.name) for each in fields(now) if each.name.startswith("cap_")}
    rest = replace(was, **caps)
    if rest != was:
        said = "; ".join(compare(where, *map(as_in_the_file, (was, rest))))
        limits = {name.removeprefix("cap_"): cents for name, cents in caps.items()}
        yield Change(f"{said}; it holds 24 hours after it is posted", PostCaps(table=now.id, **limits, **_who(signed)))
    if rest != now:
        said = "; ".join(compare(where, *map(as_in_the_file, (rest, now))))
        yield Change(said, ChangeTable(settings=now, **_who(signed)))


def _funds(site: Site, book: Book) -> Iterator[Change]:
    wanted = {fund.id: fund for fund in site.funds}
    for fund_id, held in book.funds.items():
        where = f"fund {fund_id}"
        now = wanted.get(fund_id)
        if now is None:
            yield Change(
                f"{where}: the ledger has it and the site file does not: a jackpot stays. Put it back into the site"
                f' file; `meterd act "transfer-pool {fund_id}/POOL to FUND/POOL"` empties a pool, `close` closes it'
            )
        elif now != held.settings:
            said = "; ".join(compare(where, held.settings.to_json(), now.to_json()))
            yield Change(
                f'{said}: a jackpot keeps what was posted with it: close it (`meterd act "close {fund_id}"`), transfer'
                " its pools, and open one with another id"
            )


_ANOTHER_LINK = (
    'a live link keeps it: give notice, end the link (`meterd act "discontinue …"`), and open one with another id'
)
