"""The committer: decides, seals into the chain, commits, and ends the gaming day."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from meterd.accounting.answer import refused_entry
from meterd.accounting.book import Book
from meterd.accounting.commands import SYSTEM, Command
from meterd.accounting.commands_day import ReadDay
from meterd.accounting.entries import Entry, Kind
from meterd.accounting.refusals import Refused
from meterd.accounting.rules import Decision, decide
from meterd.app.asked import Asked
from meterd.app.rows import Stamp, draft_entry, entry_draft
from meterd.app.volumes import Standing, begin, carries, next_volume, open_standing
from meterd.edge.store import Store
from meterd.errors import MisuseError
from meterd.ledger.chain import seal
from meterd.ledger.note import Checkpoint
from meterd.ledger.record import Record
from meterd.ledger.verify import check_record

__all__ = ["Committer", "Stamp", "draft_entry", "entry_draft", "resume"]


class Committer:
    """Decides commands one by one, seals their entries into the chain, and commits all of them at once.

    The book already holds an entry before its commit, so that the next command of the batch is decided on it. Nothing
    of that leaves the money thread before :meth:`commit` returned; if it raises, the process ends and the book with it.
    """

    def __init__(self, book: Book, store: Store, now: Callable[[], Stamp], standing: Standing | None = None) -> None:
        """``now`` reads the clock; each entry carries its own moment. Without ``standing`` no day can be ended."""
        self.book = book
        self._standing = standing
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
        stamp = self._now()
        return self._take(decide(self.book, replace(command, now_utc=stamp.at_utc)), asked, stamp)

    def refuse(self, command: Command, refused: Refused, asked: Asked | None = None) -> Decision:
        """Refuse a command for what the book does not know: a module that is not heard."""
        return self._take(Decision((refused_entry(command, refused),), refused), asked, self._now())

    def _take(self, decision: Decision, asked: Asked | None, stamp: Stamp) -> Decision:
        """The first entry's moment is that of deciding: a rule that hangs on it is decided again by the entry's own."""
        if asked is not None:
            decision = decision._replace(entries=asked.on(decision.entries))
        for place, entry in enumerate(decision.entries):
            stamp = self._now() if place else stamp
            record = seal(entry_draft(entry, stamp, self.book.site_id), self._seq + 1, self._head)
            # As it will be read back: the order of a body's keys must not be known to this book and to no later one. A
            # LOCK, nearly every second entry, brings nothing into the book that stands in the order of keys.
            told = entry if entry.kind is Kind.LOCKED else draft_entry(record)
            self.book.apply(record.seq, stamp.at_utc, told)
            self._seq, self._head = record.seq, record.hash
            if self._standing is not None:
                self._standing.waiting.append(record.hash)
                self._standing.last = record
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

    def tidy(self) -> None:
        """Nobody waits: take into the tree what came since."""
        if self._standing is not None:
            self._standing.grow()

    def end_day(self, day: str, next_day: str) -> tuple[tuple[Entry, ...], Checkpoint | None]:
        """Read the gaming day that is over, seal its volume and begin the next one.

        Tables stay as they are, open and locked. Returns what was committed, the reading last, and the ledger up to
        there, to be signed; None where the reading was refused.

        Raises:
            LedgerError: the outcome is unknown; nothing may be decided any more.
        """
        standing = self._standing
        if standing is None:
            raise MisuseError("no day can be ended without the tree of the ledger")
        decision = self.decide(ReadDay(actor=SYSTEM, day=day, next_day=next_day))
        entries = self.commit()
        if decision.refusal is not None:
            return entries, None
        checkpoint = standing.checkpoint
        self.begin_volume()
        return entries, checkpoint

    def begin_volume(self) -> None:
        """Go on in a new volume; the last entry has sealed the one before, now or in a run that was interrupted."""
        standing = self._standing
        if standing is None:
            raise MisuseError("no volume can be begun without the tree of the ledger")
        record, entry = next_volume(standing)

        def as_good(found: Record) -> bool:
            wrong = check_record(found, record.seq, record.prev) or carries(standing, draft_entry(found))
            return wrong is None

        stands = self._store.roll(record, as_good)
        if stands != record:
            record, entry = stands, draft_entry(stands)
        begin(standing, record, entry)
        self._seq, self._head = record.seq, record.hash


def resume(store: Store, now: Callable[[], Stamp]) -> Committer:
    """A committer on the ledger of a store as it stands, for a tool that writes a few entries.

    Raises:
        LedgerError: an entry does not hold.
    """
    standing = open_standing(store)
    committer = Committer(standing.book, store, now, standing)
    if store.sealed:
        committer.begin_volume()
    return committer
