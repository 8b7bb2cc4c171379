"""Where an entry of accounting becomes a row of the ledger, and back.

The two rooms do not know each other: accounting speaks of facts and money, the ledger of bytes and hashes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from meterd.accounting.answer import refused_entry
from meterd.accounting.book import Book
from meterd.accounting.commands import Command
from meterd.accounting.entries import Entry, Kind, Posting
from meterd.accounting.refusals import Refused
from meterd.accounting.rules import Decision, decide
from meterd.app.asked import Asked
from meterd.edge.store import Store
from meterd.ledger.canonical import canonical, parse
from meterd.ledger.chain import seal
from meterd.ledger.record import Draft, Record


class Stamp(NamedTuple):
    """When something was decided: wall clock for people, boot id and monotonic clock for intervals."""

    at_utc: str
    boot: str
    mono_ns: int


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
        postings=tuple(Posting(account, microcents) for account, microcents in record.postings),
    )


class Committer:
    """Decides commands one by one, seals their entries into the chain, and commits all of them at once.

    The book already holds an entry before its commit, so that the next command of the batch is decided on it. Nothing
    of that leaves the money thread before :meth:`commit` returned; if it raises, the process ends and the book with it.
    """

    def __init__(self, book: Book, store: Store, now: Callable[[], Stamp]) -> None:
        """``now`` reads the clock; each entry carries its own moment."""
        self.book = book
        self._store = store
        self._now = now
        self._seq = store.seq
        self._head = store.head
        self._records: list[Record] = []
        self._entries: list[Entry] = []

    @property
    def waiting(self) -> int:
        """Entries decided and not yet committed."""
        return len(self._records)

    def decide(self, command: Command, asked: Asked | None = None) -> Decision:
        """Decide one command on the book as it stands, now, and put its entries in their place in the chain.

        ``asked`` tells of the people who asked for it, where it was people.
        """
        return self._take(decide(self.book, replace(command, now_utc=self._now().at_utc)), asked)

    def refuse(self, command: Command, refused: Refused, asked: Asked | None = None) -> Decision:
        """Refuse a command for what the book does not know: a module that is not heard."""
        return self._take(Decision((refused_entry(command, refused),), refused), asked)

    def _take(self, decision: Decision, asked: Asked | None) -> Decision:
        if asked is not None:
            decision = decision._replace(entries=asked.on(decision.entries))
        for entry in decision.entries:
            stamp = self._now()
            record = seal(entry_draft(entry, stamp, self.book.site_id), self._seq + 1, self._head)
            self.book.apply(record.seq, stamp.at_utc, entry)
            self._seq, self._head = record.seq, record.hash
            self._records.append(record)
            self._entries.append(entry)
        return decision

    def commit(self) -> tuple[Entry, ...]:
        """Make all of it durable and return the entries; law 1 holds from here on.

        Raises:
            LedgerError: the outcome is unknown; nothing may be decided any more.
        """
        entries = tuple(self._entries)
        if self._records:
            self._store.commit(self._records)
            self._records = []
            self._entries = []
        return entries
