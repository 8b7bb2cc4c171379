"""What ENTER would be answered now: the command decided on the book as it stands, and thrown away.

Rule 1: showing changes nothing.
Units: ``*_cents``.
"""

from __future__ import annotations

from typing import NamedTuple

from meterd.accounting.book import Book
from meterd.accounting.commands import Actor, Claim, Command, Correct, Role
from meterd.accounting.commands_streak import ClaimBoard
from meterd.accounting.entries import Entry, Kind
from meterd.accounting.refusals import Refused
from meterd.accounting.rules import decide
from meterd.accounting.settings import TableSettings


class Preview(NamedTuple):
    """What ENTER would be answered now. ``seats``: how many awards it would make."""

    amount_cents: int
    envy_cents: int
    refused: Refused | None
    seats: int = 1


def preview(book: Book, table: TableSettings, seat: int, hand: str) -> Preview:
    """A claim that nobody made."""
    return _decided(book, Claim(actor=_dealer(table), table=table.id, seat=seat, hand=hand))


def preview_board(book: Book, table: TableSettings, hand: str) -> Preview:
    """A hand of the board that nobody keyed: what all live seats would get together."""
    return _decided(book, ClaimBoard(actor=_dealer(table), table=table.id, hand=hand))


def preview_correct(book: Book, command: Correct) -> Preview:
    """A correction, before it is entered."""
    return _decided(book, command)


def _dealer(table: TableSettings) -> Actor:
    return Actor(f"dealer@{table.id}", Role.DEALER)


def _decided(book: Book, command: Command) -> Preview:
    decision = decide(book, command)
    for entry in decision.entries:
        if entry.kind in {Kind.CLAIMED, Kind.CORRECTED, Kind.COMMON_CLAIMED}:
            return _of(book, entry)
    return Preview(0, 0, decision.refusal, 0)


def _of(book: Book, entry: Entry) -> Preview:
    envy_cents = entry.body.get("envy_cents", 0)
    if entry.kind is Kind.CLAIMED:
        return Preview(entry.body["amount_cents"], envy_cents, None)
    if entry.kind is Kind.CORRECTED:
        name, awards = entry.body["award"], entry.body["awards"]
        cents = awards[name]["amount_cents"] if name in awards else book.awards[name].amount_cents
        return Preview(cents, envy_cents, None)
    claims = entry.body["claims"]
    total_cents = sum(claim["amount_cents"] for claim in claims)
    return Preview(total_cents, sum(claim["envy_cents"] for claim in claims), None, len(claims))
