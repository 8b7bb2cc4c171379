"""What the rules alone know of a gaming day that people vouch for: no time zone, and no clock but UTC."""

from __future__ import annotations

import pytest
from accounting_build import ACCOUNTANT, ADMINISTRATOR, Casino

from meterd.accounting.commands import SYSTEM
from meterd.accounting.commands_day import ConfirmDay, ReadDay
from meterd.accounting.refusals import Refusal, Refused

DAY = "2026-12-04"


def said(house: Casino, now_utc: str, day: str = DAY) -> Refused | None:
    """Two people name the day at a moment; the answer of the rules, which changes nothing."""
    return house.decide(
        ConfirmDay(actor=ADMINISTRATOR, second=ACCOUNTANT, reference="clock 1", day=day, now_utc=now_utc)
    ).refusal


@pytest.mark.parametrize(
    ("now_utc", "may_be"),
    [
        ("2026-12-03T09:59:59.999999Z", False),
        ("2026-12-03T10:00:00.000000Z", True),  # midnight at UTC+14
        ("2026-12-06T11:59:59.999999Z", True),  # the day that began at 23:59 at UTC-12 is nearly over
        ("2026-12-06T12:00:00.000000Z", False),
    ],
)
def test_a_moment_that_belongs_to_the_day_in_some_time_zone(now_utc: str, may_be: bool) -> None:
    """In any other the clock shows another day: the step is to name that, or to set the clock."""
    refused = said(Casino(), now_utc)
    assert may_be == (refused is None)
    assert refused is None or (Refusal.NOT_YET, True) == (refused.refusal, "clock" in refused.step)


@pytest.mark.parametrize(
    ("day", "refusal", "word"),
    [
        ("2026-12-02", Refusal.ALREADY_DONE, "never taken back"),
        ("2026-12-01", Refusal.ALREADY_DONE, "never taken back"),
        ("2026-12-03", Refusal.NOT_YET, "begins by itself"),
        ("2026-11-31", Refusal.NOT_YET, "calendar"),
        ("２０２６-12-04", Refusal.NOT_YET, "calendar"),
        (DAY, None, ""),
    ],
)
def test_a_day_by_the_one_that_is_running(day: str, refusal: Refusal | None, word: str) -> None:
    """Behind a reading: neither today nor earlier, and not tomorrow, which needs nobody."""
    house = Casino()
    house.do(ReadDay(actor=SYSTEM, day="2026-12-01", next_day="2026-12-02"))
    refused = said(house, "2026-12-04T12:00:00.000000Z", day)
    assert refusal == (None if refused is None else refused.refusal)
    assert refused is None or word in refused.step


@pytest.mark.parametrize(("day", "next_day"), [("2026-11-30", "2026-11-31"), ("2026-11-31", "2026-12-02")])
def test_a_reading_is_of_days_that_there_are(day: str, next_day: str) -> None:
    """Whoever asks for it."""
    refused = Casino().decide(ReadDay(actor=SYSTEM, day=day, next_day=next_day)).refusal
    assert refused is not None
    assert (Refusal.NOT_YET, "2026-11-31 is no day such as 2026-12-01") == (refused.refusal, refused.detail)
