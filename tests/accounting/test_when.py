"""Periods between moments, against the calendar of the standard library."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meterd import second_verifier
from meterd.accounting.when import follows, is_day, microseconds, plus_days, plus_hours, plus_months, reached

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


@pytest.mark.parametrize("text", ["2026-12-01", "2028-02-29", "2000-02-29", "0001-01-01", "9999-12-31", "1969-12-31"])
def test_a_day(text: str) -> None:
    """One that a calendar has, in its one form; the other verifier finds the same."""
    assert (True, True) == (is_day(text), second_verifier.is_day(text))


@pytest.mark.parametrize(
    "text",
    [
        20261201,
        None,
        ["2026-12-01"],
        "2026-11-31",
        "2027-02-29",
        "1900-02-29",
        "2026-13-01",
        "2026-00-01",
        "2026-12-00",
        "2026-12-32",
        "0000-01-01",
        "２０２６-12-01",
        "2026-12-1",
        "20261201",
        "2026-W49-2",
        "2026-12-01 ",
        "2026-12-01\n",
        "tomorrow",
        "",
        "+026-12-01",
    ],
)
def test_no_day(text: object) -> None:
    """Neither for the rules nor for the other verifier."""
    assert (False, False) == (is_day(text), second_verifier.is_day(text))


def test_the_day_that_follows() -> None:
    """Over the ends of months and years, and over leap days."""
    days = ["2027-12-30", "2027-12-31", "2028-01-01"], ["2028-02-28", "2028-02-29", "2028-03-01"]
    for first, second, third in days:
        assert (True, True) == (follows(second, first), follows(third, second))
        assert (False, False, False) == (follows(third, first), follows(first, second), follows(first, first))
