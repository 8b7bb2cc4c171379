"""Periods: days, months and hours between moments that are written as text. No clock is read here.

Rule 1: a moment is ``YYYY-MM-DDTHH:MM:SS`` with an optional fraction and an optional ``Z``, in UTC.
Rule 2: a period runs from moment to moment, not from midnight: 24 hours after 10:15:00 is the next day at 10:15:00.
Units: days are 24 hours; months those of the calendar.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from meterd.accounting.book import Book
    from meterd.accounting.commands import Command

DAY_US: Final = 86_400_000_000
HOUR_US: Final = 3_600_000_000
_SECOND_US: Final = 1_000_000
_MOMENT: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?Z?")
_DAY: Final = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MONTH_DAYS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def now(book: Book, command: Command) -> str:
    """The moment a command is decided at; where nobody filled it in, that of the last entry."""
    return command.now_utc or book.at_utc


def microseconds(at_utc: str) -> int:
    """A moment as microseconds since the year 0, so that two can be compared.

    Raises:
        ValueError: the text is no moment.
    """
    match = _MOMENT.fullmatch(at_utc)
    if match is None:
        raise ValueError(f"{at_utc!r} is no moment such as 2026-12-01T06:00:00Z")
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    seconds = (hour * 60 + minute) * 60 + second
    return _days(year, month, day) * DAY_US + seconds * _SECOND_US + int((match[7] or "").ljust(6, "0"))


def is_day(text: object) -> bool:
    """Whether something, of whatever type, is a day that a calendar has, in the one form of days: ``2026-12-01``."""
    if not isinstance(text, str) or not _DAY.fullmatch(text) or text < "0001":
        return False
    return _moment(microseconds(f"{text}T00:00:00Z"))[:10] == text


def follows(day: str, before: str) -> bool:
    """Whether a day is the next one after another. Both are days of a calendar."""
    return plus_days(f"{before}T00:00:00Z", 1)[:10] == day


def plus_hours(at_utc: str, hours: int) -> str:
    """The moment so many hours later."""
    return _moment(microseconds(at_utc) + hours * HOUR_US)


def plus_days(at_utc: str, days: int) -> str:
    """The moment so many days of 24 hours later."""
    return _moment(microseconds(at_utc) + days * DAY_US)


def plus_months(at_utc: str, months: int) -> str:
    """The same day and time so many calendar months later; a day the month lacks is its last day."""
    at = microseconds(at_utc)
    year, month, day = (int(part) for part in at_utc[:10].split("-"))
    index = year * 12 + month - 1 + months
    year, month = divmod(index, 12)
    day = min(day, _MONTH_DAYS[month] + (month == 1 and _leap(year)))
    return _moment(_days(year, month + 1, day) * DAY_US + at % DAY_US)


def reached(moment: str, until: str) -> bool:
    """Whether a moment is at or after another."""
    return microseconds(moment) >= microseconds(until)


def _leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _days(year: int, month: int, day: int) -> int:
    """Days from the first of January of the year 0 (Gregorian calendar) to a date."""
    past = year - 1
    leaps = past // 4 - past // 100 + past // 400 + 1 if year else 0
    return year * 365 + leaps + sum(_MONTH_DAYS[: month - 1]) + (month > 2 and _leap(year)) + day - 1


def _moment(at_us: int) -> str:
    days, rest = divmod(at_us, DAY_US)
    year = days * 400 // 146_097 + 1
    while _days(year, 1, 1) > days:
        year -= 1
    month = 12
    while _days(year, month, 1) > days:
        month -= 1
    seconds, fraction = divmod(rest, _SECOND_US)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    day = days - _days(year, month, 1) + 1
    return f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}.{fraction:06d}Z"
