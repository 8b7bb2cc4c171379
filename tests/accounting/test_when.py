"""Periods between moments, against the calendar of the standard library."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meterd.accounting.when import microseconds, plus_days, plus_hours, plus_months, reached

FORM = "%Y-%m-%dT%H:%M:%S.%fZ"
MOMENTS = st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(2900, 1, 1))  # noqa: DTZ001 - UTC by form


def text(moment: datetime) -> str:
    return moment.replace(tzinfo=UTC).strftime(FORM)


@given(MOMENTS, st.integers(0, 100_000))
def test_days_and_hours_are_those_of_the_calendar(moment: datetime, count: int) -> None:
    """Any moment, any number of days or hours: the same as the standard library's."""
    assert text(moment + timedelta(days=count)) == plus_days(text(moment), count)
    assert text(moment + timedelta(hours=count)) == plus_hours(text(moment), count)


@given(MOMENTS, MOMENTS)
def test_moments_are_ordered_as_time_is(one: datetime, other: datetime) -> None:
    """A later moment is a larger number, and a moment has reached itself."""
    assert (one >= other) == reached(text(one), text(other))
    assert (one - other) // timedelta(microseconds=1) == microseconds(text(one)) - microseconds(text(other))


@pytest.mark.parametrize(
    ("at", "months", "expected"),
    [
        ("2026-01-15T10:00:00.000000Z", 6, "2026-07-15T10:00:00.000000Z"),
        ("2026-08-31T10:00:00.000000Z", 6, "2027-02-28T10:00:00.000000Z"),
        ("2027-08-31T10:00:00.000000Z", 6, "2028-02-29T10:00:00.000000Z"),
        ("2026-12-01T00:00:00.000001Z", 1, "2027-01-01T00:00:00.000001Z"),
    ],
)
def test_months_are_those_of_the_calendar(at: str, months: int, expected: str) -> None:
    """The same day of a later month, or its last day."""
    assert expected == plus_months(at, months)


def test_a_text_that_is_no_moment_is_an_error() -> None:
    """A moment is never guessed."""
    with pytest.raises(ValueError, match="no moment"):
        microseconds("yesterday")
