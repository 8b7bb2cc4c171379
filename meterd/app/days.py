"""Ends gaming days: looks at the clock for the money thread, and has the day read when it is over."""

from __future__ import annotations

from collections.abc import Callable

from meterd.accounting.entries import Entry
from meterd.app.commit import Committer
from meterd.app.gaming_day import GamingDay, wall_ns_of
from meterd.config import Site
from meterd.ledger.note import Checkpoint


class Days:
    """The gaming days of a running ledger. Belongs to the money thread."""

    def __init__(self, site: Site, committer: Committer, read: Callable[[Checkpoint], None]) -> None:
        """``read`` is told the ledger up to each reading, once that is on the disk. It must not take long."""
        book = committer.book
        self._committer = committer
        self._read = read
        self._day = GamingDay(site.timezone, site.gaming_day_starts, book.gaming_day, wall_ns_of(book.at_utc))

    @property
    def today(self) -> str:
        """The gaming day that entries are written in."""
        return self._day.today

    def check(self, wall_ns: int) -> tuple[Entry, ...]:
        """Where the day is over: its reading, committed with all that waited, in a volume that is sealed by it."""
        next_day = self._day.next_at(wall_ns)
        if next_day is None:
            return ()
        entries, checkpoint = self._committer.end_day(self._day.today, next_day)
        self._day.begin(next_day)
        if checkpoint is not None:
            self._read(checkpoint)
        return entries
