"""Whatever the wall clock does: order, intervals and the totals of each gaming day are right, and no day comes back."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from test_gaming_day import DEALER, DENVER, LIMIT_S, ask

from meterd import second_verifier
from meterd.accounting.commands import SYSTEM, EndGame, Lock, OpenTable, WagerSeen
from meterd.accounting.state import TableStatus
from meterd.app.create import create_ledger
from meterd.app.demo_floor import site_text
from meterd.app.loop import MoneyLoop
from meterd.app.verify import verify
from meterd.app.volumes import open_standing
from meterd.config import Site, load_site
from meterd.edge.catalogue import catalogue
from meterd.edge.clock import Clock, Instant
from meterd.edge.store import Store, read_records

SECOND = 10**9
HOUR = 3600 * SECOND


class TwoClocks(Clock):
    """A wall clock that is set by hand and a monotonic one that only time moves."""

    def __init__(self, local: str) -> None:
        self.wall_ns = self.mono_ns = 0
        self.boot_now = "boot-1"
        self.by_server = False  # whether a time server has set the wall clock of late
        self.set(local)
        super().__init__()

    def set(self, local: str) -> None:
        """Somebody sets the wall clock, which shows Denver's time."""
        self.wall_ns = int(datetime.fromisoformat(local).replace(tzinfo=ZoneInfo(DENVER)).timestamp()) * SECOND

    def step(self, hours: float) -> None:
        """The wall clock jumps."""
        self.wall_ns += int(hours * HOUR)

    def wait(self, hours: float) -> None:
        """Time passes."""
        self.step(hours)
        self.mono_ns += int(hours * HOUR)

    def synchronised(self, instant: Instant) -> bool:
        return self.by_server

    def now(self) -> Instant:
        at = datetime.fromtimestamp(self.wall_ns // SECOND, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        return Instant(f"{at}.{self.wall_ns % SECOND // 1000:06d}Z", self.boot_now, self.mono_ns, self.wall_ns)


class House:
    """A daemon's money thread on a real ledger, with rounds of two wagers, each said to belong to a day."""

    def __init__(self, folder: Path, site: Site, clock: TwoClocks) -> None:
        self.folder, self.site, self.clock = folder, site, clock
        self.rounds: Counter[str] = Counter()
        self.asked_ns: list[int] = []
        self.start()

    def start(self) -> None:
        """The daemon starts."""
        Clock.__init__(self.clock)  # a new process measures steps from its own start
        self.store = Store.open(self.folder)
        standing = open_standing(self.store)
        self.loop = MoneyLoop(self.site, standing.book, self.store, self.clock, lambda _: None, standing=standing)
        self._thread = threading.Thread(target=self.loop.run)
        self._thread.start()
        self.loop.started.wait(LIMIT_S)

    def stop(self) -> None:
        """It is stopped."""
        self.loop.stop()
        self._thread.join(LIMIT_S)
        self.store.close()
        assert self.loop.failure is None

    def round(self, day: str) -> None:
        """A round, which is asked for now and belongs to this gaming day."""
        if self.loop.book.tables["LIR-1"].state is TableStatus.CLOSED:
            assert ask(self.loop, OpenTable(actor=SYSTEM, table="LIR-1")).refusal is None
        lock = Lock(actor=DEALER, table="LIR-1", wagers=(WagerSeen(3), WagerSeen(5)))
        assert ask(self.loop, lock).refusal is None
        assert ask(self.loop, EndGame(actor=DEALER, table="LIR-1")).refusal is None
        self.rounds[day] += 1
        self.asked_ns.append(self.clock.mono_ns)

    @property
    def today(self) -> str:
        """The gaming day that the money thread writes in."""
        days = self.loop._days
        assert days is not None
        return days.today

    def read_until(self, local: str) -> None:
        """Another day has begun, by this time of the wall clock, and the one before it is read."""
        last = datetime.fromisoformat(local).replace(tzinfo=ZoneInfo(DENVER)).timestamp()
        self.clock.wait((last * SECOND - self.clock.wall_ns) / HOUR)
        day = local[:10]
        self.round(day)
        assert day == self.today


@pytest.fixture
def site() -> Site:
    demo = load_site(site_text(Path("/nonexistent"), 100, 9477), "site.toml", catalogue())
    return replace(demo, timezone=DENVER, gaming_day_starts="06:00")


@pytest.fixture
def house(request: pytest.FixtureRequest, tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch) -> House:
    """A house that opens at a time of Denver's clock."""
    clock = TwoClocks(request.param)
    monkeypatch.setattr("meterd.app.create.Clock", lambda: clock)
    create_ledger(tmp_path / "ledger", site, demo=True)
    return House(tmp_path / "ledger", site, clock)


def begin(local: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("house", [local], indirect=True)


def hold(house: House, days: Sequence[str], steps_h: Sequence[float]) -> None:
    """What must hold afterwards: ``days`` were read in this order, and the clock was found to step by so much.

    Order is that of the numbers, intervals are those of the monotonic clock, each day's reading counts its own rounds.
    """
    house.stop()
    records = list(read_records(house.folder))
    assert list(range(1, len(records) + 1)) == [record.seq for record in records]
    locked = [record for record in records if record.kind == "Locked"]
    assert list(range(1, len(locked) + 1)) == [json.loads(record.body)["round"] for record in locked]
    assert house.asked_ns == [record.mono_ns for record in locked]
    assert sorted(record.mono_ns for record in records) == [record.mono_ns for record in records]
    bodies = [json.loads(record.body) for record in records if record.kind == "ClockStep"]
    assert [int(hours * 3_600_000) for hours in steps_h] == [body["step_ms"] for body in bodies]
    readings = [json.loads(record.body) for record in records if record.kind == "DayRead"]
    assert list(days) == [reading["day"] for reading in readings]
    assert list(days[1:]) == [reading["next_day"] for reading in readings[:-1]], "each reading names the next one's day"
    assert all(reading["day"] < reading["next_day"] for reading in readings)
    for reading in readings:
        assert 2 * house.rounds[reading["day"]] == reading["links"]["nexus-1"]["wagers"], reading["day"]
    report = verify(house.folder)
    assert report.ok, report.first_bad
    assert second_verifier.check([house.folder])["first_bad"] is None


@begin("2026-12-01T12:00:00")
def test_an_hour_forward_in_the_middle_of_a_day(house: House) -> None:
    """The step is an entry; the day goes on, an hour shorter."""
    house.round("2026-12-01")
    house.clock.step(1)
    house.round("2026-12-01")
    house.clock.wait(2)
    house.round("2026-12-01")
    house.read_until("2026-12-02T06:00:00")
    house.read_until("2026-12-03T06:00:01")
    hold(house, ["2026-12-01", "2026-12-02"], [1])


@begin("2026-12-01T12:00:00")
def test_two_hours_back_in_the_middle_of_a_day(house: House) -> None:
    """The step is an entry; what comes later has an earlier time and a higher number; the day is two hours longer."""
    house.round("2026-12-01")
    house.clock.wait(0.5)
    house.clock.step(-2)
    house.round("2026-12-01")
    house.clock.wait(17)
    house.round("2026-12-01")
    assert "2026-12-01" == house.today, "03:30"
    house.read_until("2026-12-02T06:00:00")
    house.read_until("2026-12-03T06:00:00")
    hold(house, ["2026-12-01", "2026-12-02"], [-2])


@begin("2026-12-02T05:30:00")
def test_an_hour_forward_over_the_end_of_a_day(house: House) -> None:
    """The day ends at once; the round behind the step belongs to the next."""
    house.round("2026-12-01")
    house.clock.step(1)
    house.round("2026-12-02")
    house.read_until("2026-12-03T06:00:00")
    hold(house, ["2026-12-01", "2026-12-02"], [1])


@begin("2026-12-02T05:59:59")
def test_two_hours_back_over_the_end_of_a_day(house: House) -> None:
    """The new day stays: 06:00 comes a second time and ends nothing; the day lasts 26 hours."""
    house.round("2026-12-01")
    house.clock.wait(0.5)
    house.round("2026-12-02")
    house.clock.step(-2)
    for hours in (0, 1.4, 0.2, 20):
        house.clock.wait(hours)
        house.round("2026-12-02")
    house.read_until("2026-12-03T06:00:00")
    house.read_until("2026-12-04T06:00:00")
    hold(house, ["2026-12-01", "2026-12-02", "2026-12-03"], [-2])


@begin("2026-12-02T05:59:59")
def test_a_clock_that_swings_around_the_end_of_a_day(house: House) -> None:
    """Forward and back again and again, as two time servers that disagree: one reading."""
    house.round("2026-12-01")
    house.clock.wait(1 / 3600)
    for _ in range(3):
        house.round("2026-12-02")
        house.clock.step(-0.01)
        house.round("2026-12-02")
        house.clock.step(0.01)
    house.read_until("2026-12-03T06:00:00")
    hold(house, ["2026-12-01", "2026-12-02"], [-0.01, 0.01] * 3)


@pytest.mark.parametrize(
    ("house", "day", "hours"),
    [("2026-03-07T06:00:00", "2026-03-07", 23), ("2026-10-31T06:00:00", "2026-10-31", 25)],
    indirect=["house"],
)
def test_summer_time_begins_and_ends(house: House, day: str, hours: int) -> None:
    """A round an hour: 23 of them on the day the clocks go forward, 25 where they go back; no step is found."""
    for _ in range(hours):
        house.round(day)
        assert day == house.today
        house.clock.wait(1)
    after = {"2026-03-07": "2026-03-08", "2026-10-31": "2026-11-01"}[day]
    for _ in range(24):
        house.round(after)
        assert after == house.today
        house.clock.wait(1)
    house.round(str(datetime.fromisoformat(after).date().replace(day=datetime.fromisoformat(after).day + 1)))
    assert {day: hours, after: 24} == {name: house.rounds[name] for name in (day, after)}
    hold(house, [day, after], [])


@begin("2028-02-28T12:00:00")
def test_a_leap_day_is_a_day(house: House) -> None:
    """The 29th of February is read like any other."""
    house.round("2028-02-28")
    house.read_until("2028-02-29T06:00:00")
    house.clock.wait(23.99)
    house.round("2028-02-29")
    house.read_until("2028-03-01T06:00:00")
    house.read_until("2028-03-02T06:00:00")
    hold(house, ["2028-02-28", "2028-02-29", "2028-03-01"], [])


@begin("2026-12-31T12:00:00")
def test_two_days_off(house: House) -> None:
    """Nobody was there over New Year: one reading of the day that was left, and the next one is today."""
    house.round("2026-12-31")
    house.stop()
    house.clock.wait(60)
    house.start()
    house.round("2027-01-02")
    assert "2027-01-02" == house.today
    house.read_until("2027-01-03T06:00:00")
    hold(house, ["2026-12-31", "2027-01-02"], [])


@begin("2026-12-01T12:00:00")
def test_a_machine_whose_clock_forgot_the_date(house: House) -> None:
    """Started in 1970 by its own belief, set right an hour later: the day stays what the ledger says it was."""
    house.round("2026-12-01")
    house.stop()
    house.clock.wait(1)
    house.clock.set("1970-01-01T00:00:00")
    house.start()
    house.round("2026-12-01")
    house.clock.wait(1)
    before = house.clock.wall_ns
    house.clock.set("2026-12-01T14:00:00")
    house.round("2026-12-01")
    house.read_until("2026-12-02T06:00:00")
    ahead = house.clock.wall_ns - before
    assert ahead > 0
    records = list(read_records(house.folder))
    (step,) = [json.loads(record.body)["step_ms"] for record in records if record.kind == "ClockStep"]
    hold(house, ["2026-12-01"], [step / 3_600_000])


@begin("2026-12-02T05:59:59")
def test_a_restart_with_the_clock_set_back_over_the_end_of_a_day(house: House) -> None:
    """The ledger remembers the day, whatever the clock of the next start says."""
    house.clock.wait(0.01)
    house.round("2026-12-02")
    house.stop()
    house.clock.step(-2)
    house.start()
    house.round("2026-12-02")
    house.clock.wait(3)
    house.round("2026-12-02")
    house.read_until("2026-12-03T06:00:00")
    hold(house, ["2026-12-01", "2026-12-02"], [])
