"""The gaming day: which one a moment belongs to, and when the next one begins.

Rule 1: a gaming day begins at the site's own time of day and is named after the date it begins on.
Rule 2: it never goes back, whatever a clock does; a change to summer time makes it an hour shorter, no more.
Units: nanoseconds of the wall clock.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from meterd.errors import ConfigError

_SECOND_NS: Final = 1_000_000_000
_DAY: Final = timedelta(days=1)


class GamingDay:
    """The gaming day of a floor. ``today`` is its date, ``2026-12-01``."""

    def __init__(self, timezone: str, starts: str, today: str, wall_ns: int) -> None:
        """``starts`` is ``HH:MM`` in the timezone; ``today`` that of the open volume, "" to read it off ``wall_ns``.

        Raises:
            ConfigError: the machine does not know the timezone.
        """
        try:
            self._zone = ZoneInfo(timezone)
        except (ZoneInfoNotFoundError, ValueError) as cause:
            raise ConfigError(f"site.timezone: this machine knows no zone {timezone!r} (package tzdata)") from cause
        self._starts = time.fromisoformat(starts)
        self.today = today or self.of(wall_ns)
        self.begin(self.today)

    def of(self, wall_ns: int) -> str:
        """The gaming day a moment belongs to."""
        local = datetime.fromtimestamp(wall_ns // _SECOND_NS, self._zone)
        day = local.date() if local.time() >= self._starts else local.date() - _DAY
        return day.isoformat()

    def next_at(self, wall_ns: int) -> str | None:
        """The gaming day that has begun by now, where it is a later one than today."""
        if wall_ns < self._ends_ns:
            return None
        day = self.of(wall_ns)
        return day if day > self.today else None

    def past_at(self, wall_ns: int) -> str | None:
        """The gaming day that the clock shows, where it is earlier than the one before today."""
        return self.of(wall_ns) if wall_ns < self._back_ns else None

    def begin(self, day: str) -> None:
        """Another day is today from now on."""
        self.today = day
        begins = min(max(date.fromisoformat(day), date.min + 2 * _DAY), date.max - _DAY)  # the calendar has ends
        self._ends_ns = self._begin_ns(begins + _DAY)
        self._back_ns = self._begin_ns(begins - _DAY)

    def _begin_ns(self, day: date) -> int:
        return int(datetime.combine(day, self._starts, self._zone).timestamp()) * _SECOND_NS


def wall_ns_of(at_utc: str) -> int:
    """A moment of the ledger as nanoseconds since 1970, to the second."""
    return int(datetime.fromisoformat(at_utc).timestamp()) * _SECOND_NS
