"""A wall clock that is days ahead of the gaming day: nothing but it says so, and the day stays until somebody does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_clock_days import House, TwoClocks, begin
from test_gaming_day import ask

from meterd import second_verifier
from meterd.accounting.commands import Actor, Role
from meterd.accounting.commands_day import ConfirmDay
from meterd.accounting.refusals import Refusal
from meterd.app.create import create_ledger
from meterd.app.demo_floor import site_text
from meterd.app.redecide import Judging
from meterd.app.verify import verify
from meterd.config import Site, load_site
from meterd.edge.catalogue import catalogue
from meterd.edge.store import read_records

YEARS_H = 5 * 365 * 24
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


def confirm(house: House, day: str, **other: Any) -> Refusal | None:
    """Two people say which day it is; why they are refused."""
    command = ConfirmDay(**{"actor": ADMIN, "second": ACCOUNTING, "reference": "CLK-1", "day": day, **other})
    refused = ask(house.loop, command).refusal
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
    assert Refusal.NOT_YET is confirm(house, "tomorrow")
    assert Refusal.ALREADY_DONE is confirm(house, "2026-12-01") or house.loop.book.gaming_day == ""
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
    house.clock.step(80)
    house.round("2026-12-01")
    assert confirm(house, "2026-12-03") is None
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
    hold(house, "2026-12-01", "2026-12-21")
