"""The fold of claims: how an accepted claim enters the book, and how entries tell of awards and marks.

Rule 1: as in ``fold``: facts of the entry and nothing else.
Rule 2: a claim enters before its entry's postings are added: the journal keeps the link as it stood before it.
Units: as in the entries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from meterd.accounting.awards import ClaimFacts, LinkMoney
from meterd.accounting.entries import Entry
from meterd.accounting.journal import ClaimOp, Journal
from meterd.accounting.marks import Part, RoundMark
from meterd.accounting.state import Award, LinkState, TableState

if TYPE_CHECKING:
    from meterd.accounting.book import Book


def parts_from(data: list[dict[str, Any]]) -> tuple[Part, ...]:
    """Parts of an award as an entry tells them."""
    return tuple(Part(**part) for part in data)


def read_awards(book: Book, changed: Mapping[str, Mapping[str, Any]]) -> None:
    """Take in what an entry says of awards that it changes: amount, parts, flags."""
    for award, facts in changed.items():
        flags = facts["flags"]
        book.awards[award] = replace(
            book.awards[award],
            amount_cents=facts["amount_cents"],
            parts=parts_from(facts["parts"]),
            sign_above_meter="SIGN_ABOVE_METER" in flags,
            meter_empty="METER_EMPTY" in flags,
        )


def read_marks(link: LinkState, marks: Mapping[str, Any]) -> None:
    """Take in what an entry says of rounds."""
    for key, mark in marks.items():
        link.marks[key] = RoundMark.from_json(mark)


def claimed(book: Book, entry: Entry) -> None:
    """A claim of one seat."""
    table = book.tables[entry.table or ""]
    link = book.links[table.settings.link]
    _enter(book, entry, table, link, {**entry.body, "common": False}, book.money(link.settings.id).copy())
    read_awards(book, entry.body["awards"])
    read_marks(link, entry.body["marks"])


def common_claimed(book: Book, entry: Entry) -> None:
    """Claims of several seats by one outcome: each after the first tells how the link stood before it."""
    body = entry.body
    table = book.tables[entry.table or ""]
    link = book.links[table.settings.link]
    before = book.money(link.settings.id).copy()
    for claim in body["claims"]:
        stood = before
        if "before" in claim:
            stood = LinkMoney.from_json(link.rules, claim["before"])
            stood.marks = {**before.marks, **stood.marks}
        _enter(book, entry, table, link, {**claim, "round": body["round"], "hand": body["hand"], "common": True}, stood)
    read_awards(book, body["awards"])
    read_marks(link, body["marks"])


def _enter(
    book: Book, entry: Entry, table: TableState, link: LinkState, body: Mapping[str, Any], before: LinkMoney
) -> None:
    facts = ClaimFacts(
        body["award"],
        table.settings.id,
        body["round"],
        body["seat"],
        body["hand"],
        body["units"],
        body["signs"],
        tuple(body["late"]),
        body.get("chip_cents", 1),
    )
    if link.journal is None:
        link.journal = Journal([])
    link.journal.ops.append(ClaimOp(facts, before))
    book.awards[facts.award] = Award(
        id=facts.award,
        link=link.settings.id,
        table=facts.table,
        round=facts.round,
        seat=facts.seat,
        hand=facts.hand,
        units=facts.units,
        amount_cents=body["amount_cents"],
        keyed_by=entry.actor,
        at_utc=book.at_utc,
        parts=parts_from(body["parts"]),
        envy_cents=body["envy_cents"],
        sign_above_meter="SIGN_ABOVE_METER" in body["flags"],
        meter_empty="METER_EMPTY" in body["flags"],
        common=body["common"],
        out_of_order=bool(body.get("out_of_order_after")),
    )
    link.pending[facts.award] = None
    book.open_awards[facts.award] = None
    table.awards = (*table.awards, facts.award)
