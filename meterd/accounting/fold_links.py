"""The fold of changes of a live link, of unclaimed and late awards, and of aggregate limits.

Rule 1: a handler reads facts of the entry and nothing else; only ``Book.apply`` calls it.
Rule 2: an act that moves a level while an award of its link is pending is told in the link's journal, so that a later
        void or correction decides again with it in its place. What a level then no longer holds is laid out by the
        house at the table of the link's earliest pending award.
Units: as in the entries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from meterd.accounting.entries import Entry, Kind
from meterd.accounting.journal import CapOp, ClaimOp, LimitOp, ShiftOp
from meterd.accounting.marks import Part
from meterd.accounting.meter import LinkRules
from meterd.accounting.settings import LinkSettings
from meterd.accounting.state import Award, AwardStatus, Caps, LinkState
from meterd.money import MICROCENTS_PER_CENT
from meterd.paytables.model import PayTable

if TYPE_CHECKING:
    from meterd.accounting.book import Book


def _link(book: Book, entry: Entry) -> LinkState:
    return book.links[entry.link or ""]


def _suspended(book: Book, entry: Entry) -> None:
    _link(book, entry).suspended = entry.body["reason"]


def _resumed(book: Book, entry: Entry) -> None:
    _link(book, entry).suspended = None


def _shifted(book: Book, shifts: list[Mapping[str, Any]]) -> None:
    """Tell what came to levels or left them in the journals of their links."""
    for facts in shifts:
        link, _, level = facts["level"].partition("/")
        journal = book.links[link].journal
        if journal is not None:
            journal.ops.append(ShiftOp(level, facts["microcents"], journal.first_table, facts["what"]))


def _moved(book: Book, entry: Entry) -> None:
    _shifted(book, entry.body["shifts"])


def _limit_set(book: Book, entry: Entry) -> None:
    body = entry.body
    link = _link(book, entry)
    name = body["level"].partition("/")[2]
    limit, overflow = body["limit_cents"], body["overflow"]
    levels = tuple(
        replace(level, limit_cents=limit, overflow=overflow) if level.name == name else level
        for level in link.settings.levels
    )
    _put_in_force(link, replace(link.settings, levels=levels))
    if link.journal is not None:
        microcents = None if limit is None else limit * MICROCENTS_PER_CENT
        link.journal.ops.append(LimitOp(name, microcents, overflow))


def _put_in_force(link: LinkState, settings: LinkSettings) -> None:
    link.settings = settings
    link.rules = LinkRules.of(settings)


def _rules_eased(book: Book, entry: Entry) -> None:
    link = _link(book, entry)
    _put_in_force(link, replace(link.settings, paytable=PayTable.from_json(entry.body["paytable"])))


def _notice_given(book: Book, entry: Entry) -> None:
    _link(book, entry).notice_utc = book.at_utc


def _discontinued(book: Book, entry: Entry) -> None:
    link = _link(book, entry)
    link.discontinued = True
    link.suspended = "discontinued"
    _shifted(book, entry.body["shifts"])


def _unclaimed(book: Book, entry: Entry) -> None:
    name = entry.body["award"]
    book.awards[name] = replace(book.awards[name], unclaimed=True)


def _disposed(book: Book, entry: Entry) -> None:
    name = entry.body["award"]
    book.awards[name] = replace(book.awards[name], status=AwardStatus.DISPOSED)
    book.open_awards.pop(name, None)
    _shifted(book, entry.body["shifts"])


def _adjustment(book: Book, entry: Entry) -> None:
    """A late award is confirmed from the start and belongs to no tie, no journal and no open round."""
    body = entry.body
    cents = body["amount_cents"]
    award = Award(
        id=body["award"],
        link=entry.link or "",
        table=entry.table or "",
        round=body["round"],
        seat=body["seat"],
        hand=body["hand"],
        units=0,
        amount_cents=cents,
        keyed_by=entry.actor,
        at_utc=book.at_utc,
        status=AwardStatus.CONFIRMED,
        parts=(Part("adjustment", cents, house_cents=cents),),
        confirmed_by=body["second"],
        confirmed_at_utc=book.at_utc,
    )
    book.awards[award.id] = award
    book.open_awards[award.id] = None


def _caps_posted(book: Book, entry: Entry) -> None:
    body = entry.body
    table = book.tables[entry.table or ""]
    player, whole, tip = body["player_cents"], body["table_cents"], body.get("tip_cents")
    table.caps = (*table.caps, Caps(body["from_utc"], player, whole, tip))
    table.settings = replace(table.settings, cap_player_cents=player, cap_table_cents=whole, cap_tip_cents=tip)


def _capped(book: Book, entry: Entry) -> None:
    body = entry.body
    name = body["award"]
    award = book.awards[name]
    parts = tuple(Part(**part) for part in body["parts"])
    book.awards[name] = replace(award, amount_cents=body["amount_cents"], parts=parts)
    journal = book.links[award.link].journal
    if journal is not None and any(isinstance(op, ClaimOp) and op.facts.award == name for op in journal.ops):
        journal.ops.append(CapOp(name, award.table, tuple(body["cuts"])))


HANDLERS: Final[dict[Kind, Callable[[Book, Entry], None]]] = {
    Kind.LINK_SUSPENDED: _suspended,
    Kind.LINK_RESUMED: _resumed,
    Kind.ADJUSTED: _moved,
    Kind.TRANSFERRED: _moved,
    Kind.LIMIT_SET: _limit_set,
    Kind.SEED_RECOVERED: _moved,
    Kind.RELEASED: _moved,
    Kind.NOTICE_GIVEN: _notice_given,
    Kind.DISCONTINUED: _discontinued,
    Kind.RULES_EASED: _rules_eased,
    Kind.UNCLAIMED: _unclaimed,
    Kind.DISPOSED: _disposed,
    Kind.ADJUSTMENT: _adjustment,
    Kind.CAPS_POSTED: _caps_posted,
    Kind.CAPPED: _capped,
}
