"""The fold of numbers and splits: what a keyed number, a number taken back and a split hand change in the book.

Rule 1: as in ``fold``: facts of the entry and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from meterd.accounting.entries import Entry, Kind
from meterd.accounting.state import StreakMark, TableState

if TYPE_CHECKING:
    from meterd.accounting.book import Book


def forget(table: TableState) -> None:
    """A round begins or has ended: no number was keyed, no hand is split."""
    table.streak = None
    table.split = table.doubled = frozenset()


def _numbers(book: Book, entry: Entry) -> None:
    body = entry.body
    numbers = tuple(body["numbers"])
    streak = StreakMark(numbers, body["length"], body["ended"], body["hand"]) if numbers else None
    book.tables[entry.table or ""].streak = streak


def _hand_split(book: Book, entry: Entry) -> None:
    body = entry.body
    table = book.tables[entry.table or ""]
    table.split |= {body["seat"]}
    if body["units"]:
        table.doubled |= {body["seat"]}
        link = book.links[table.settings.link]
        link.wagers += 1
        link.units += body["units"]


def _tip_paid(book: Book, entry: Entry) -> None:
    name = entry.body["award"]
    book.awards[name] = replace(book.awards[name], tip_cents=entry.body["amount_cents"])


def _tip_undone(book: Book, entry: Entry) -> None:
    name = entry.body["award"]
    book.awards[name] = replace(book.awards[name], tip_cents=0)


HANDLERS: Final[dict[Kind, Callable[[Book, Entry], None]]] = {
    Kind.NUMBER_KEYED: _numbers,
    Kind.SPIN_VOIDED: _numbers,
    Kind.HAND_SPLIT: _hand_split,
    Kind.TIP_PAID: _tip_paid,
    Kind.TIP_UNDONE: _tip_undone,
}
