"""The parameters in force stand in the ledger, not in the site file. Here the two are compared.

Rule 1: a ledger is created from a site file; from then on the file must agree with it.
Rule 2: additions (new links, tables, funds) may be adopted by two people; what else of a changed file may be is told by
``changes``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from meterd.accounting.book import Book
from meterd.accounting.commands import Actor, Command, DefineTable, OpenLink, SetSite
from meterd.accounting.commands_pools import OpenFund
from meterd.accounting.settings import TableSettings
from meterd.config import Site

#: Settings of a table whose key in a site file is another.
KEYS_OF_A_TABLE: Final = {
    "cap_player_cents": "player_cap_cents",
    "cap_table_cents": "table_cap_cents",
    "cap_tip_cents": "tip_cap_cents",
}

_NOT_YET: Final = "in the site file, not yet in the ledger"


def opening_commands(site: Site, actor: Actor) -> tuple[Command, ...]:
    """The commands that put a whole site file in force, in order: site, links, tables, funds."""
    return (
        SetSite(actor=actor, settings=site.settings),
        *(_open_link(site, link, actor) for link in site.links),
        *(DefineTable(actor=actor, settings=table.settings) for table in site.tables),
        *(OpenFund(actor=actor, settings=fund) for fund in site.funds),
    )


def _open_link(site: Site, link: Any, actor: Actor) -> OpenLink:
    return OpenLink(actor=actor, settings=link, sha256=site.link_sha256.get(link.id, ""))


def additions(site: Site, book: Book, actor: Actor) -> tuple[Command, ...]:
    """Commands for the links, tables and funds that the site file has and the ledger does not."""
    return (
        *(_open_link(site, link, actor) for link in site.links if link.id not in book.links),
        *(DefineTable(actor=actor, settings=t.settings) for t in site.tables if t.settings.id not in book.tables),
        *(OpenFund(actor=actor, settings=fund) for fund in site.funds if fund.id not in book.funds),
    )


def differences(site: Site, book: Book) -> list[str]:
    """Where the site file and the ledger disagree, one line each, with what the ledger holds. Empty when they agree.

    A ledger of another site, or one made without a site file, is one difference: nothing in it can be compared.
    """
    return list(_differences(site, book))


def next_step(site: Site, book: Book) -> str:
    """What a person can do about the differences, as far as it can help."""
    if site.settings.id != book.site_id:
        return "One of the two is not this floor's: name the right ledger or the right site file"
    if book.site is None:
        return "Create a ledger in a new folder: `meterd ledger create DIR --config SITE.toml`"
    if all(line.endswith(_NOT_YET) for line in _differences(site, book)):
        return (
            "Let two people adopt them, with the daemon stopped:"
            " `meterd ledger adopt DIR --config SITE.toml --by A --and B --reference TEXT`"
        )
    return (
        "Put the site file back as it was; or see what of it can be adopted, and how the rest is done:"
        " `meterd ledger adopt DIR --config SITE.toml`. With the daemon stopped and"
        " `--by A --and B --reference TEXT` two people adopt it"
    )


def _differences(site: Site, book: Book) -> Iterator[str]:
    if site.settings.id != book.site_id:
        yield f"site.id: the ledger belongs to {book.site_id!r}, the site file says {site.settings.id!r}"
        return
    if book.site is None:
        yield "the ledger was made without a site file: it holds no parameters"
        return
    yield from compare("site", book.site.to_json(), site.settings.to_json())
    yield from _differing_links(site, book)
    yield from _differing_tables(site, book)
    yield from _differing_funds(site, book)


def _differing_links(site: Site, book: Book) -> Iterator[str]:
    file_links = {link.id: link for link in site.links}
    for link_id, state in book.links.items():
        if link_id not in file_links and state.discontinued:
            continue
        if link_id not in file_links:
            yield f"link {link_id}: in force in the ledger, missing in the site file"
        else:
            yield from compare(f"link {link_id}", state.settings.to_json(), file_links[link_id].to_json())
    for link_id in file_links:
        if link_id not in book.links:
            yield f"link {link_id}: {_NOT_YET}"


def _differing_tables(site: Site, book: Book) -> Iterator[str]:
    file_tables = {table.settings.id: table.settings for table in site.tables}
    for table_id, held in book.tables.items():
        if table_id not in file_tables and book.links[held.settings.link].discontinued:
            continue
        if table_id not in file_tables:
            yield f"table {table_id}: in force in the ledger, missing in the site file"
        else:
            yield from compare(f"table {table_id}", *map(as_in_the_file, (held.settings, file_tables[table_id])))
    for table_id in file_tables:
        if table_id not in book.tables:
            yield f"table {table_id}: {_NOT_YET}"


def as_in_the_file(table: TableSettings) -> dict[str, Any]:
    """The settings of a table by the names that a site file gives them."""
    return {KEYS_OF_A_TABLE.get(name, name): value for name, value in table.to_json().items()}


def _differing_funds(site: Site, book: Book) -> Iterator[str]:
    file_funds = {fund.id: fund for fund in site.funds}
    for fund_id, held in book.funds.items():
        if fund_id not in file_funds:
            yield f"fund {fund_id}: in force in the ledger, missing in the site file"
        else:
            yield from compare(f"fund {fund_id}", held.settings.to_json(), file_funds[fund_id].to_json())
    for fund_id in file_funds:
        if fund_id not in book.funds:
            yield f"fund {fund_id}: {_NOT_YET}"


def compare(where: str, held: Any, wanted: Any) -> Iterator[str]:
    """Walk two JSON values side by side and name each leaf that differs."""
    if isinstance(held, dict) and isinstance(wanted, dict):
        for key in dict.fromkeys((*held, *wanted)):
            yield from compare(f"{where}.{key}", held.get(key), wanted.get(key))
    elif isinstance(held, list) and isinstance(wanted, list) and len(held) == len(wanted):
        for index, (left, right) in enumerate(zip(held, wanted, strict=True)):
            yield from compare(f"{where}[{index}]", left, right)
    elif held != wanted:
        yield f"{where}: the ledger holds {_shown(held)}, the site file says {_shown(wanted)}"


def _shown(value: Any) -> str:
    """A value in the words of a site file."""
    return "none" if value is None else json.dumps(value, ensure_ascii=False)
