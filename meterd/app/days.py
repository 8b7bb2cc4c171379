"""Ends gaming days: looks at the clock for the money thread, and has the day read when it is over.

Rule 1: a day that follows the one before begins by itself, whatever the clock did: a jump costs a day at most.
Rule 2: more than one day at once is believed where the monotonic clock of this boot bears it out (the daemon was off
        while the machine ran), and where the machine was off meanwhile, for ``OFF_NS`` at most, and a time server has
        set its clock since. Else nothing tells a jump from days gone by. The day then stays, all counts into it, and
        that is told, until the clock is back, or two people confirm the day that waits, and no other.
Rule 3: no day is taken back. A clock that is days behind is told; before the first reading, in which no entry has told
        a day yet, two people may confirm an earlier one.
Rule 4: a ledger in which nothing was played yet begins on whatever day the clock shows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from meterd.accounting.book import Book
from meterd.accounting.commands import Command
from meterd.accounting.commands_day import ConfirmDay
from meterd.accounting.due import Due, DueKind
from meterd.accounting.entries import Entry
from meterd.accounting.refusals import Refusal, Refused
from meterd.accounting.two_people import people_refusal
from meterd.accounting.when import follows, is_day
from meterd.app.commit import Committer
from meterd.app.gaming_day import GamingDay, wall_ns_of
from meterd.app.rows import Stamp
from meterd.config import Site
from meterd.edge.clock import Instant
from meterd.edge.store import Store, read_records
from meterd.ledger.note import Checkpoint

_MINUTE_NS: Final = 60 * 1_000_000_000
#: How far the wall clock may be ahead of the monotonic one since the day began: what a clock is set by.
AHEAD_NS: Final = 10 * _MINUTE_NS
#: For how long a machine may have been off that a time server is believed about: holidays, and no year.
OFF_NS: Final = 14 * 24 * 60 * _MINUTE_NS
_PLAYED: Final = "drop/"  # the accounts that wagers come from


def began(store: Store) -> Stamp:
    """When the open volume began, by both clocks: its gaming day was today then.

    In the first volume that is the first wager, as soon as there is one: before it the day is whatever the clock shows.
    """
    records = read_records(store.path)
    first = next(records)
    if first.seq == 1:
        moved = (one for one in records if any(account.startswith(_PLAYED) for account, _ in one.postings))
        first = next(moved, first)
    return Stamp(first.at_utc, first.boot, first.mono_ns)


class Days:
    """The gaming days of a running ledger. Belongs to the money thread."""

    def __init__(
        self,
        site: Site,
        committer: Committer,
        read: Callable[[Checkpoint], None],
        began: Stamp,
        synchronised: Callable[[Instant], bool],
    ) -> None:
        """``read`` is told the ledger up to each reading, once that is on the disk. It must not take long.

        ``synchronised`` says whether the system had the time from a time server not long before a moment.
        """
        book = committer.book
        self._committer = committer
        self._read = read
        self._synchronised = synchronised
        self._day = GamingDay(site.timezone, site.gaming_day_starts, book.gaming_day, wall_ns_of(began.at_utc))
        if not book.gaming_day and is_day(book.day_confirmed) and book.day_confirmed < self.today:
            self._day.begin(book.day_confirmed)
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

    def refuses(self, command: Command) -> Refused | None:
        """Why a day is not confirmed that the books alone might take: only the one that waits may be."""
        if not isinstance(command, ConfirmDay) or people_refusal(command) is not None or not is_day(command.day):
            return None
        if command.day <= self._committer.book.gaming_day or (self._due and self._due.subject == command.day):
            return None
        if command.day == self.today:
            return Refused(Refusal.ALREADY_DONE, f"the gaming day is {self.today}")
        if self._due is None:
            step = "The next day begins by itself; a day is confirmed where one waits."
            return Refused(Refusal.NOT_YET, f"no gaming day waits, today is {self.today}", step)
        waits = self._due.subject
        return Refused(
            Refusal.NOT_YET, f"the gaming day that waits is {waits}", f"Set the clock right, or name {waits}."
        )

    def check(self, instant: Instant) -> tuple[Entry, ...]:
        """Where the day is over: its reading, committed with all that waited, in a volume that is sealed by it."""
        shown = self._day.next_at(instant.wall_ns) or self._day.past_at(instant.wall_ns)
        if shown is None:
            self._due = None
            return ()
        if self._begins_anew(shown):
            self._begin(shown, instant)
            return ()
        if shown < self.today or not self._believed(shown, instant):
            self._due = Due(DueKind.GAMING_DAY, shown, self._due.since_utc if self._due else instant.at_utc)
            return ()
        entries, checkpoint = self._committer.end_day(self.today, shown)
        self._begin(shown, instant)
        if checkpoint is not None:
            self._read(checkpoint)
        return entries

    def _begin(self, day: str, instant: Instant) -> None:
        self._due = None
        self._day.begin(day)
        self._began = Stamp(instant.at_utc, instant.boot, instant.mono_ns)

    def _begins_anew(self, shown: str) -> bool:
        """Whether the first day becomes another without a reading: nothing was played, or people say it is earlier."""
        book = self._committer.book
        if book.gaming_day or follows(shown, self.today):
            return False
        vouched = is_day(book.day_confirmed) and book.day_confirmed <= shown < self.today
        return vouched or _untouched(book)

    def _believed(self, next_day: str, instant: Instant) -> bool:
        """Whether a later day may begin that the wall clock shows. Nothing that a ledger can hold makes this raise."""
        book = self._committer.book
        confirmed = is_day(book.day_confirmed) and self.today < book.day_confirmed <= next_day
        known = book.day_confirmed if confirmed else self.today
        if next_day == known or follows(next_day, known) or _untouched(book):
            return True
        wall_ns = instant.wall_ns - wall_ns_of(self._began.at_utc)
        if instant.boot == self._began.boot:
            return wall_ns - (instant.mono_ns - self._began.mono_ns) <= AHEAD_NS
        return wall_ns <= OFF_NS and self._synchronised(instant)


def _untouched(book: Book) -> bool:
    """No round was ever locked, no fund ever took money in."""
    return not any(account.startswith(_PLAYED) for account in book.balances)
