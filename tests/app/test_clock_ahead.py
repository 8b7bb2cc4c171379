"""A wall clock that is days ahead of the gaming day: nothing but it says so, and the day stays until somebody does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_clock_days import House, TwoClocks, begin
from test_gaming_day import LIMIT_S

from meterd import second_verifier
from meterd.accounting.commands import Actor, Role
from meterd.accounting.commands_day import ConfirmDay
from meterd.accounting.refusals import Refusal, Refused
from meterd.accounting.rules import Decision
from meterd.accounting.when import is_day
from meterd.app.asked import Asked
from meterd.app.create import create_ledger
from meterd.app.demo_floor import site_text
from meterd.app.loop import Ask
from meterd.app.redecide import Judging
from meterd.app.verify import verify
from meterd.config import Site, load_site
from meterd.edge.catalogue import catalogue
from meterd.edge.store import read_records

YEARS_H = 5 * 365 * 24
#: No days, though they look like some; each would pass for one that is near 1 December 2026.
NO_DAYS = [
    "2026-11-31",
    "2026-11-32",
    "2026-12-00",
    "２０２６-12-01",
    "tomorrow",
    "20261201",
    "2026-W49-2",
    "2026-12-01 ",
    "",
]
ADMIN, ACCOUNTING = Actor("adm-1", Role.ADMINISTRATOR), Actor("acc-1", Role.ACCOUNTING)


@pytest.fixture
def site() -> Site:
    demo = load_site(site_text(Path("/nonexistent"), 100, 9477), "site.toml", catalogue())
    return replace(demo, timezone="America/Denver", gaming_day_starts="06:00")


@pytest.fixture
def house(
    request: pytest.FixtureRequest, tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> Iterator[House]:
    """A house that opens at a time of Denver's clock."""
    clock = TwoClocks(request.param)
    monkeypatch.setattr("meterd.app.create.Clock", lambda: clock)
    create_ledger(tmp_path / "ledger", site, demo=True)
    house = House(tmp_path / "ledger", site, clock)
    yield house
    house.loop.stop()


def waits(house: House) -> list[str]:
    """The gaming days that are told to wait, in the snapshot that pages and metrics read."""
    due: list[dict[str, Any]] = house.loop._snapshot()["due"]
    return [one["subject"] for one in due if one["kind"] == "gaming_day"]


def said(house: House, day: str, **other: Any) -> Refused | None:
    """Two people say which day it is, over the socket; the answer."""
    command = ConfirmDay(**{"actor": ADMIN, "second": ACCOUNTING, "reference": "CLK-1", "day": day, **other})
    future: Future[Decision] = Future()
    assert house.loop.inbox.offer(Ask(command, future, Asked(1000, f"gaming-day {day}", ("adm-1", "acc-1"))), "test")
    return future.result(LIMIT_S).refusal


def confirm(house: House, day: str, **other: Any) -> Refusal | None:
    """The same; why they are refused."""
    refused = said(house, day, **other)
    return None if refused is None else refused.refusal


def hold(house: House, *days: str) -> None:
    """These days were read, each with its own rounds, and the ledger holds by both verifiers and by the rules."""
    house.stop()
    bodies = [json.loads(record.body) for record in read_records(house.folder) if record.kind == "DayRead"]
    assert list(days) == [body["day"] for body in bodies]
    for body in bodies:
        assert 2 * house.rounds[body["day"]] == body["links"]["nexus-1"]["wagers"]
    report = verify(house.folder, judge=Judging().judge)
    assert report.ok, report.first_bad
    assert second_verifier.check([house.folder])["first_bad"] is None


@begin("2026-12-01T12:00:00")
def test_years_ahead_and_back(house: House) -> None:
    """A time server goes wrong and is set right: the day stays, is told to wait, and ends when it is over."""
    house.round("2026-12-01")
    house.clock.step(YEARS_H)
    house.round("2026-12-01")
    assert ["2031-11-30"] == waits(house)
    house.clock.wait(24)
    house.round("2026-12-01")
    assert ["2031-12-01"] == waits(house), "it goes on being wrong"
    house.clock.step(-YEARS_H)
    house.clock.wait(0.5)
    house.round("2026-12-02")
    assert [] == waits(house)
    house.read_until("2026-12-03T06:00:00")
    hold(house, "2026-12-01", "2026-12-02")


@begin("2026-12-01T12:00:00")
def test_two_people_say_that_the_clock_is_right(house: House) -> None:
    """The day is read at once; another day than the clock's, one person, or one department is refused."""
    house.round("2026-12-01")
    house.clock.step(80)
    house.round("2026-12-01")
    assert ["2026-12-04"] == waits(house)
    assert Refusal.NOT_YET is confirm(house, "2026-12-24")
    for near in ("2026-12-02", "2026-12-03", "2026-12-05"):
        refused = said(house, near)
        assert refused is not None
        assert Refusal.NOT_YET is refused.refusal
        assert "2026-12-04" in f"{refused.detail} {refused.step}", "the next step names the day that waits"
    for none in NO_DAYS:
        assert Refusal.NOT_YET is confirm(house, none), none
    assert Refusal.ALREADY_DONE is confirm(house, "2026-12-01"), "today, of which no entry tells yet"
    assert Refusal.SECOND_PERSON_REQUIRED is confirm(house, "2026-12-04", second=None)
    assert Refusal.SECOND_PERSON_REQUIRED is confirm(house, "2026-12-04", reference=" ")
    assert Refusal.NOT_AUTHORISED is confirm(house, "2026-12-04", actor=Actor("d", Role.DEALER))
    assert ["2026-12-04"] == waits(house)
    assert confirm(house, "2026-12-04") is None
    house.round("2026-12-04")
    assert ("2026-12-04", []) == (house.today, waits(house))
    assert "" == house.loop.book.day_confirmed
    house.read_until("2026-12-05T06:00:00")
    assert Refusal.ALREADY_DONE is confirm(house, "2026-12-05")
    hold(house, "2026-12-01", "2026-12-04")


@begin("2026-12-01T12:00:00")
def test_a_day_confirmed_at_its_very_end(house: House) -> None:
    """The next one begins before the daemon looked: the one after the confirmed day is believed too."""
    house.round("2026-12-01")
    house.clock.step(48)
    house.clock.wait(18 - 0.5 / 3600)
    house.round("2026-12-01")
    assert ["2026-12-03"] == waits(house)
    house.loop._days.check = lambda _: ()  # type: ignore[union-attr, method-assign, assignment]
    assert confirm(house, "2026-12-03") is None
    house.clock.wait(1 / 3600)
    del house.loop._days.check  # type: ignore[union-attr]
    house.round("2026-12-04")
    assert "2026-12-04" == house.today
    hold(house, "2026-12-01")


@begin("2026-12-01T12:00:00")
def test_a_restart_does_not_make_it_believed(house: House) -> None:
    """The last entries have the wrong time themselves; when the day began is what counts."""
    house.round("2026-12-01")
    house.clock.step(YEARS_H)
    house.round("2026-12-01")
    for boot in ("boot-1", "boot-2"):
        house.stop()
        house.clock.boot_now = boot
        house.clock.wait(0.5)
        house.start()
        house.round("2026-12-01")
        assert ["2031-11-30"] == waits(house), boot
    house.clock.step(-YEARS_H)
    house.read_until("2026-12-02T06:00:00")
    hold(house, "2026-12-01")


@pytest.mark.parametrize(
    ("house", "hours", "boot", "day"),
    [
        ("2026-12-01T12:00:00", 72, "boot-1", "2026-12-04"),  # the machine ran, and its clock bears the days out
        ("2026-12-01T12:00:00", 72, "boot-2", "2026-12-01"),  # it was off: nothing does
        ("2026-12-01T12:00:00", 24, "boot-2", "2026-12-02"),  # one border needs nothing
        ("2026-12-01T12:00:00", 41, "boot-2", "2026-12-02"),
    ],
    indirect=["house"],
)
def test_a_daemon_that_was_off(house: House, hours: float, boot: str, day: str) -> None:
    """Over one border the next day begins by itself; over several where the monotonic clock bears it out."""
    house.round("2026-12-01")
    house.stop()
    house.clock.boot_now = boot
    house.clock.wait(hours)
    house.start()
    house.round(day)
    assert day == house.today
    if hours == 72 and boot == "boot-2":
        assert ["2026-12-04"] == waits(house)
        assert confirm(house, "2026-12-04") is None
        house.round("2026-12-04")
    assert [] == waits(house)
    hold(house, "2026-12-01")


@begin("2026-12-01T12:00:00")
def test_a_jump_over_one_border_costs_a_day_at_most(house: House) -> None:
    """It ends the day at once; the one that begins lasts until its date is over."""
    house.round("2026-12-01")
    house.clock.step(30)
    house.round("2026-12-02")
    house.clock.step(-30)
    house.clock.wait(30)
    house.round("2026-12-02")
    house.read_until("2026-12-03T06:00:00")
    hold(house, "2026-12-01", "2026-12-02")


@begin("2026-12-01T12:00:00")
def test_a_ledger_that_was_made_days_before_its_first_round(house: House) -> None:
    """Nothing was played: there is no day to keep, on whatever day the floor opens."""
    house.stop()
    house.clock.boot_now = "boot-2"
    house.clock.wait(24 * 20)
    house.start()
    house.round("2026-12-21")
    assert ("2026-12-21", []) == (house.today, waits(house))
    house.read_until("2026-12-22T06:00:00")
    hold(house, "2026-12-21")


@begin("2026-12-01T12:00:00")
def test_a_jump_over_two_borders_by_little_more_than_a_day(house: House) -> None:
    """Half an hour before a border, 25 hours ahead: the day between is not skipped."""
    house.round("2026-12-01")
    house.clock.wait(17.5)
    house.clock.step(25)
    house.round("2026-12-01")
    assert ("2026-12-01", ["2026-12-03"]) == (house.today, waits(house))
    house.clock.step(-25)
    house.read_until("2026-12-02T06:00:00")
    assert [] == waits(house)
    house.read_until("2026-12-03T06:00:00")
    hold(house, "2026-12-01", "2026-12-02")


@begin("2026-12-01T12:00:00")
def test_a_day_is_not_confirmed_in_advance(house: House) -> None:
    """Where none waits there is nothing to confirm: not tomorrow, which would make a later jump believed, nor today."""
    house.round("2026-12-01")
    for day, because in {
        "2026-12-02": Refusal.NOT_YET,
        "2026-11-30": Refusal.NOT_YET,
        "2026-12-01": Refusal.ALREADY_DONE,
    }.items():
        refused = said(house, day)
        assert refused is not None
        assert because is refused.refusal
        assert because is Refusal.ALREADY_DONE or "waits" in refused.step
    assert "" == house.loop.book.day_confirmed
    house.clock.step(48)
    house.round("2026-12-01")
    assert ["2026-12-03"] == waits(house)
    assert confirm(house, "2026-12-03") is None
    house.round("2026-12-03")
    assert Refusal.ALREADY_DONE is confirm(house, "2026-12-02"), "not over again"
    hold(house, "2026-12-01")


@begin("2026-11-30T12:00:00")
def test_a_day_that_no_calendar_has(house: House) -> None:
    """It is refused on the day on which it would stand for the next one, in the first volume and behind it."""
    for day in ("2026-11-30", "2026-12-01"):
        house.round(day)
        house.clock.wait(18)
        for none in NO_DAYS:
            refused = said(house, none)
            assert refused is not None
            assert (Refusal.NOT_YET, "Name a day that the calendar has.") == (refused.refusal, refused.step), none
        house.clock.wait(6)
    house.round("2026-12-02")
    hold(house, "2026-11-30", "2026-12-01")


@pytest.mark.parametrize("day", [*NO_DAYS[:-1], "9999-12-31", "0001-01-01"])
@begin("2026-11-30T12:00:00")
def test_a_ledger_that_holds_such_a_day_already(house: House, day: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry of an earlier version, or a forged one, stops no floor: the day is read when it is over."""
    house.round("2026-11-30")
    house.stop()
    with monkeypatch.context() as patch:
        patch.setattr("meterd.accounting.rules_day.is_day", lambda _: True)
        patch.setattr("meterd.app.days.is_day", lambda _: False)
        patch.setattr("meterd.accounting.rules_day.microseconds", lambda _: 0)
        house.start()
        assert confirm(house, day) is None
        house.stop()
    house.start()
    assert day == house.loop.book.day_confirmed
    if day < "0002":  # somebody's earlier day; the monotonic clock bears out that the clock's has come since
        house.round("")
        assert ("2026-11-30", []) == (house.today, waits(house))
    else:
        house.clock.wait(5)
        house.read_until("2026-12-01T06:00:00")
        assert "" == house.loop.book.day_confirmed
    house.stop()
    assert not verify(house.folder).ok or is_day(day)
    assert (second_verifier.check([house.folder])["first_bad"] is None) == is_day(day)
    house.start()


@pytest.fixture
def from_2031(tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    """A ledger that was made on a new machine, whose clock was five years ahead and is set right before it opens."""
    clock = TwoClocks("2031-12-01T12:00:00")
    monkeypatch.setattr("meterd.app.create.Clock", lambda: clock)
    create_ledger(tmp_path / "ledger", site, demo=True)
    clock.set("2026-12-01T12:00:00")
    house = House(tmp_path / "ledger", site, clock)
    yield house
    house.loop.stop()


def test_a_ledger_that_was_made_with_the_clock_ahead(from_2031: House) -> None:
    """Nothing was played: the day is what the clock shows, after a restart as well."""
    house = from_2031
    house.round("2026-12-01")
    assert ("2026-12-01", []) == (house.today, waits(house))
    house.stop()
    house.clock.boot_now = "boot-2"
    house.start()
    house.round("2026-12-01")
    assert ("2026-12-01", []) == (house.today, waits(house))
    house.read_until("2026-12-02T06:00:00")
    hold(house, "2026-12-01")


@begin("2031-12-01T12:00:00")
def test_a_ledger_whose_first_rounds_were_played_with_the_clock_ahead(house: House) -> None:
    """It is told that the clock is far behind; before the first reading two people may say which day it is."""
    house.round("2026-12-01")
    house.clock.set("2026-12-01T12:00:00")
    house.round("2026-12-01")
    assert ("2031-12-01", ["2026-12-01"]) == (house.today, waits(house))
    house.clock.wait(24)
    house.stop()
    house.start()
    house.round("2026-12-02")
    assert ("2031-12-01", ["2026-12-02"]) == (house.today, waits(house))
    assert Refusal.NOT_YET is confirm(house, "2026-12-01")
    assert confirm(house, "2026-12-02") is None
    for _ in range(2):
        house.round("2026-12-02")
        assert ("2026-12-02", []) == (house.today, waits(house))
        house.stop()
        house.start()
    house.rounds["2026-12-02"] += house.rounds.pop("2026-12-01")
    house.read_until("2026-12-03T06:00:00")
    hold(house, "2026-12-02")


@begin("2026-12-01T12:00:00")
def test_a_clock_that_is_days_behind(house: House) -> None:
    """It is told as well; a day that has been read is not taken back, whoever says so."""
    house.round("2026-12-01")
    house.read_until("2026-12-02T06:00:00")
    house.clock.step(-20)
    house.round("2026-12-02")
    assert [] == waits(house), "the day before lasts until it is over"
    house.clock.step(-400 * 24)
    house.round("2026-12-02")
    (told,) = waits(house)
    assert "2025" == told[:4]
    refused = said(house, told)
    assert refused is not None
    assert Refusal.ALREADY_DONE is refused.refusal
    assert "never taken back" in refused.step
    house.clock.step(400 * 24 + 20)
    house.round("2026-12-02")
    assert [] == waits(house)
    hold(house, "2026-12-01")


@pytest.mark.parametrize(
    ("boot", "off_h", "jump_h", "day"),
    [
        ("boot-2", 72, 0, "2026-12-04"),  # a weekend: the clock was set by a server after the start
        ("boot-2", 13 * 24, 0, "2026-12-14"),
        ("boot-2", 15 * 24, 0, "2026-12-01"),  # more than holidays: people say so
        ("boot-1", 0, 72, "2026-12-01"),  # the machine ran: its own clock counts, and a server may be wrong
        ("boot-2", 1, YEARS_H, "2026-12-01"),
    ],
)
@begin("2026-12-01T12:00:00")
def test_a_clock_that_a_time_server_has_set(house: House, boot: str, off_h: float, jump_h: float, day: str) -> None:
    """Over several borders it is believed where the machine was off, for a fortnight at most; else people say so."""
    house.round("2026-12-01")
    house.stop()
    house.clock.boot_now = boot
    house.clock.wait(off_h)
    house.clock.step(jump_h)
    house.start()
    house.round("2026-12-01")
    assert 1 == len(waits(house)), "not before the clock is set"
    house.clock.by_server = True
    house.round(day)
    assert day == house.today
    hold(house, *(["2026-12-01"] if day != "2026-12-01" else []))
