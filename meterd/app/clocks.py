"""The clocks of the rules, looked at by the money thread: what is due is told in the log once and in every snapshot.

Rule 1: it reads the book and never changes it. Nothing due is done by the program; people decide.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import structlog

from meterd.accounting.book import Book
from meterd.accounting.due import Due, DueKind, due

#: How often the clocks are looked at, which run for days and months; and where entries may have settled what was due.
EVERY_S: Final = 30.0
MOVED_EVERY_S: Final = 1.0

_ADVICE: Final = {
    DueKind.AWARD_UNCLAIMED: "nobody collected it in the site's days: accounting marks it unclaimed",
    DueKind.SHARE_UNCLAIMED: "nobody claimed it in the fund's days: accounting marks it unclaimed",
    DueKind.PAY_OUT: "its rake stopped six months ago: pay it out, or petition for another disbursement",
    DueKind.NOTICE_OVER: "its notice has run: the link may be discontinued",
    DueKind.GAMING_DAY: "the clock is days off the gaming day: it jumped, or nobody was there for days. Set it right, "
    "or let two people confirm the day (`meterd act 'gaming-day DAY'`); until then all counts into the day that was",
    DueKind.POSTING: "its amounts were not posted for a gaming day: post them after soft count",
}

log = structlog.get_logger()


class Clocks:
    """What is due now. ``monotonic`` gives seconds that never step."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        """Nothing is due before the first look, which is the first that is asked for."""
        self.found: tuple[Due, ...] = ()
        self._monotonic = monotonic
        self._looked_s: float | None = None
        self._besides: tuple[Due, ...] = ()

    def look(self, book: Book, now_utc: str, *, moved: bool, besides: tuple[Due, ...] = ()) -> bool:
        """Look again where it is time, or where entries have ``moved`` the book; whether anything is other than before.

        ``besides`` is due too, and at once: what a clock of the machine says rather than one of the rules. What has
        become due is told in the log.
        """
        now_s = self._monotonic()
        every_s = MOVED_EVERY_S if moved else EVERY_S
        if self._looked_s is not None and now_s - self._looked_s < every_s and besides == self._besides:
            return False
        self._looked_s, self._besides = now_s, besides
        before, self.found = self.found, (*besides, *due(book, now_utc))
        for one in self.found:
            if one not in before:
                log.warning(
                    "due", kind=one.kind.value, subject=one.subject, since=one.since_utc, advice=_ADVICE[one.kind]
                )
        return before != self.found

    def to_json(self) -> list[dict[str, Any]]:
        """Plain JSON values, for a snapshot."""
        return [{"kind": one.kind.value, "subject": one.subject, "since_utc": one.since_utc} for one in self.found]
