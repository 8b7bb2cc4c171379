"""Ends gaming days: looks at the clock for the money thread, and has the day read when it is over.

Rule 1: a day that follows the one before begins by itself, whatever the clock did: a jump costs a day at most.
Rule 2: more than one day at once is believed where the monotonic clock of this boot bears it out: the daemon was off
        while the machine ran. Where the machine was off too, or the clock jumped, nothing tells one from the other. The
        day then stays, all counts into it, and that is told, until the clock is back, or two people confirm the day.
Rule 3: a ledger in which nothing was played yet begins on whatever day the clock shows.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import Final

from meterd.accounting.book import Book
from meterd.accounting.due import Due, DueKind
from meterd.accounting.entries import Entry
from meterd.app.commit import Committer
from meterd.app.gaming_day import GamingDay, wall_ns_of
from meterd.app.rows import Stamp
from meterd.config import Site
from meterd.edge.clock import Instant
from meterd.edge.store import Store, read_records
from meterd.ledger.note import Checkpoint

#: How far the wall clock may be ahead of the monotonic one since the day began: a day, and what a clock is set by.
AHEAD_NS: Final = 26 * 3_600 * 1_000_000_000
_DAY: Final = timedelta(days=1)


def began(store: Store) -> Stamp:
    """When the open volume began, by both clocks: its gaming day was today then."""
    first = next(read_records(store.path))
    return Stamp(first.at_utc, first.boot, first.mono_ns)


class Days:
    """The gaming days of a running ledger. Belongs to the money thread."""

    def __init__(self, site: Site, committer: Committer, read: Callable[[Checkpoint], None], began: Stamp) -> None:
        """``read`` is told the ledger up to each reading, once that is on the disk. It must not take long."""
        book = committer.book
        self._committer = committer
        self._read = read
        self._day = GamingDay(site.timezone, site.gaming_day_starts, book.gaming_day, wall_ns_of(began.at_utc))
        self._began = began
        self._due: Due | None = None

    @property
    def today(self) -> str:
        """The gaming day that entries are written in."""
        return self._day.today

    @property
    def waits(self) -> tuple[Due, ...]:
        """The gaming day that the clock shows and that is not believed; nothing where the two agree."""
        return () if self._due is None else (self._due,)

    def check(self, instant: Instant) -> tuple[Entry, ...]:
        """Where the day is over: its reading, committed with all that waited, in a volume that is sealed by it."""
        next_day = self._day.next_at(instant.wall_ns)
        if next_day is None or not self._believed(next_day, instant):
            since = instant.at_utc if self._due is None else self._due.since_utc
            self._due = None if next_day is None else Due(DueKind.GAMING_DAY, next_day, since)
            return ()
        self._due = None
        entries, checkpoint = self._committer.end_day(self._day.today, next_day)
        self._day.begin(next_day)
        self._began = Stamp(instant.at_utc, instant.boot, instant.mono_ns)
        if checkpoint is not None:
            self._read(checkpoint)
        return entries

    def _believed(self, next_day: str, instant: Instant) -> bool:
        """Whether a day may begin that the wall clock shows."""
        book = self._committer.book
        known = max(self._day.today, book.day_confirmed)
        if date.fromisoformat(next_day) - date.fromisoformat(known) <= _DAY or _untouched(book):
            return True
        wall_ns = instant.wall_ns - wall_ns_of(self._began.at_utc)
        return instant.boot == self._began.boot and wall_ns - (instant.mono_ns - self._began.mono_ns) <= AHEAD_NS


def _untouched(book: Book) -> bool:
    """No round was ever locked, no fund ever took money in."""
    return not any(account.startswith("drop/") for account in book.balances)
