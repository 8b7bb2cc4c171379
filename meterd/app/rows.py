"""Where an entry of accounting becomes a row of the ledger, and back.

The two rooms do not know each other: accounting speaks of facts and money, the ledger of bytes and hashes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from meterd.accounting.entries import Entry, Kind, Posting
from meterd.edge.clock import Clock
from meterd.ledger.canonical import canonical, parse
from meterd.ledger.record import Draft, Record


class Stamp(NamedTuple):
    """When something was decided: wall clock for people, boot id and monotonic clock for intervals."""

    at_utc: str
    boot: str
    mono_ns: int


def stamps(clock: Clock) -> Callable[[], Stamp]:
    """What reads a clock for each entry."""

    def now() -> Stamp:
        return Stamp(*clock.now()[:3])

    return now


def entry_draft(entry: Entry, stamp: Stamp, site: str) -> Draft:
    """An entry as the ledger stores it, not yet in its place in the chain."""
    return Draft(
        at_utc=stamp.at_utc,
        boot=stamp.boot,
        mono_ns=stamp.mono_ns,
        kind=entry.kind.value,
        table_id=entry.table,
        link_id=entry.link,
        site=site,
        actor=entry.actor,
        device=entry.device,
        event_id=entry.event_id,
        body=canonical(entry.body),
        postings=tuple(entry.postings),
    )


def draft_entry(record: Record) -> Entry:
    """A row of the ledger as an entry for the fold.

    Raises:
        ValueError: the kind is not one this version knows, or the body is not a JSON object.
        InvariantBroken: the postings do not sum to zero.
    """
    body = parse(record.body)
    if not isinstance(body, dict):
        raise ValueError(f"entry {record.seq}: the body is no JSON object")  # noqa: TRY004 - one error class for bad rows
    return Entry(
        kind=Kind(record.kind),
        actor=record.actor,
        table=record.table_id,
        link=record.link_id,
        device=record.device,
        event_id=record.event_id,
        body=body,
        postings=tuple(map(Posting._make, record.postings)),
    )
