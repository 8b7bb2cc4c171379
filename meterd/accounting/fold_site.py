"""The fold of the house around the rounds: ledger, site, links, tables, devices.

Rule 1: a handler reads facts of the entry and nothing else; only ``Book.apply`` calls it.
Units: as in the entries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from meterd.accounting.entries import Entry, Kind
from meterd.accounting.meter import LinkRules
from meterd.accounting.settings import LinkSettings, SiteSettings, TableSettings
from meterd.accounting.state import Caps, DeviceMark, LevelCounts, LinkState, TableState, TableStatus

if TYPE_CHECKING:
    from meterd.accounting.book import Book


def _ledger_created(book: Book, entry: Entry) -> None:
    book.site_id = entry.body["site"]
    book.currency = entry.body["currency"]
    book.demo = entry.body["demo"]


def _site_set(book: Book, entry: Entry) -> None:
    book.site = SiteSettings.from_json(entry.body["settings"])


def _link_opened(book: Book, entry: Entry) -> None:
    settings = LinkSettings.from_json(entry.body["settings"])
    rules = LinkRules.of(settings)
    counts = {name: LevelCounts() for name in rules.levels}
    book.links[settings.id] = LinkState(settings, rules, book.balances, counts)
    for name, level in rules.levels.items():
        book.counts_by_key[level.key] = counts[name]
    book.read_levels(entry.body["levels"])


def _table_defined(book: Book, entry: Entry) -> None:
    settings = TableSettings.from_json(entry.body["settings"])
    table = TableState(settings)
    table.caps = (Caps("", settings.cap_player_cents, settings.cap_table_cents, settings.cap_tip_cents),)
    book.tables[settings.id] = table


def _table_changed(book: Book, entry: Entry) -> None:
    settings = TableSettings.from_json(entry.body["settings"])
    table = book.tables[settings.id]
    table.seats_before = max(table.seats_before, table.settings.seats)
    table.settings = settings


def _started(book: Book, entry: Entry) -> None:  # noqa: ARG001 - all handlers look alike
    """The last run ended without closing its tables: what was open then may have missed chips since."""
    for table in book.tables.values():
        if table.state is TableStatus.OPEN:
            table.state = TableStatus.CLOSED
            table.closed_reason = "crash"
            table.needs_end_game = True


def _device_trusted(book: Book, entry: Entry) -> None:
    epoch = entry.body["epoch"]
    for name, count in entry.body["counts"].items():
        book.devices[name] = DeviceMark(epoch, count)


def _heard(book: Book, entry: Entry) -> None:
    """A device was lost, or the daemon stopped: what was heard of it until then was not missed."""
    for name, count in entry.body.get("heard", {}).items():
        mark = book.devices[name]
        book.devices[name] = DeviceMark(mark.epoch, max(mark.count, count))


def _table_opened(book: Book, entry: Entry) -> None:
    table = book.tables[entry.table or ""]
    table.state = TableStatus.OPEN
    table.closed_reason = ""
    table.needs_end_game = False
    table.groups = ()


def _table_closed(book: Book, entry: Entry) -> None:
    table = book.tables[entry.table or ""]
    table.closed_reason = entry.body["reason"]
    if table.state is not TableStatus.LOCKED:
        table.state = TableStatus.CLOSED
        table.needs_end_game = entry.body["needs_end_game"]


HANDLERS: Final[dict[Kind, Callable[[Book, Entry], None]]] = {
    Kind.LEDGER_CREATED: _ledger_created,
    Kind.SITE_SET: _site_set,
    Kind.LINK_OPENED: _link_opened,
    Kind.TABLE_DEFINED: _table_defined,
    Kind.TABLE_CHANGED: _table_changed,
    Kind.STARTED: _started,
    Kind.STOPPED: _heard,
    Kind.DEVICE_TRUSTED: _device_trusted,
    Kind.DEVICE_LOST: _heard,
    Kind.TABLE_OPENED: _table_opened,
    Kind.TABLE_CLOSED: _table_closed,
}
