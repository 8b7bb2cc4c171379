"""A gaming day begins at the site's time of day, never goes back, and the money thread reads it when it is over."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from meterd.accounting.commands import SYSTEM, Actor, Claim, EndGame, Lock, OpenTable, Role, WagerSeen
from meterd.accounting.rules import Decision
from meterd.accounting.state import TableStatus
from meterd.app.create import create_ledger
from meterd.app.demo_floor import site_text
from meterd.app.gaming_day import GamingDay, wall_ns_of
from meterd.app.loop import Ask, MoneyLoop
from meterd.app.verify import verify
from meterd.app.volumes import open_standing
from meterd.config import Site, load_site
from meterd.edge.catalogue import catalogue
from meterd.edge.clock import Clock, Instant
from meterd.edge.store import Store, read_records
from meterd.errors import ConfigError
from meterd.ledger.note import Checkpoint

DENVER = "America/Denver"
DEALER = Actor("dealer@LIR-1", Role.DEALER)
LIMIT_S = 20


def ns(text: str, zone: str = DENVER) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()) * 10**9


@pytest.mark.parametrize(
    ("moment", "day"),
    [
        ("2026-12-01T06:00:00", "2026-12-01"),
        ("2026-12-02T05:59:59", "2026-12-01"),
        ("2028-02-29T06:00:00", "2028-02-29"),
        ("2028-03-01T05:00:00", "2028-02-29"),
        ("2026-03-08T06:00:00", "2026-03-08"),  # the day summer time began, at 02:00
        ("2026-11-01T05:59:00", "2026-10-31"),  # the day it ended
    ],
)
def test_the_day_a_moment_belongs_to(moment: str, day: str) -> None:
    """By the clock on the wall of the site, also on leap days and where summer time begins or ends."""
    assert day == GamingDay(DENVER, "06:00", "", ns(moment)).today


@pytest.mark.parametrize(("day", "hours"), [("2026-03-07", 23), ("2026-10-31", 25), ("2026-12-01", 24)])
def test_a_day_lasts_from_wall_clock_to_wall_clock(day: str, hours: int) -> None:
    """One over which summer time begins has 23 hours, one over which it ends 25."""
    gaming = GamingDay(DENVER, "06:00", day, 0)
    began = ns(f"{day}T06:00:00")
    assert gaming.next_at(began + hours * 3600 * 10**9 - 1) is None
    assert gaming.next_at(began + hours * 3600 * 10**9) is not None


def test_a_day_never_goes_back() -> None:
    """Two hours back over the border, or years: today stays today; the hour that comes twice changes nothing."""
    gaming = GamingDay(DENVER, "01:30", "2026-10-31", 0)
    first = ns("2026-11-01T01:30:00")
    assert "2026-11-01" == gaming.next_at(first)
    gaming.begin("2026-11-01")
    for hours in (0, 1, -2, -20_000):
        assert gaming.next_at(first + hours * 3600 * 10**9) is None
    assert "2026-11-02" == gaming.next_at(ns("2026-11-02T01:30:00"))


def test_days_without_a_daemon_are_one_step() -> None:
    """Started again a week later: the next day is that of today."""
    gaming = GamingDay("UTC", "06:00", "2026-12-01", 0)
    assert "2026-12-08" == gaming.next_at(wall_ns_of("2026-12-08T07:00:00.000000Z"))


def test_a_zone_the_machine_does_not_know_is_named() -> None:
    """Not a traceback: which key, and what is missing."""
    with pytest.raises(ConfigError, match="knows no zone 'Mars/Olympus'"):
        GamingDay("Mars/Olympus", "06:00", "", 0)


class SetClock(Clock):
    """A clock that is set by hand."""

    def __init__(self, at: str) -> None:
        self.wall_ns = ns(at)
        super().__init__()

    def now(self) -> Instant:
        self.wall_ns += 1_000_000
        at = datetime.fromtimestamp(self.wall_ns // 10**9, ZoneInfo("UTC")).strftime("%Y-%m-%dT%H:%M:%S")
        return Instant(f"{at}.{self.wall_ns % 10**9 // 1000:06d}Z", "boot-1", self.wall_ns, self.wall_ns)


@pytest.fixture
def site() -> Site:
    demo = load_site(site_text(Path("/nonexistent"), 100, 9477), "site.toml", catalogue())
    return replace(demo, timezone=DENVER, gaming_day_starts="06:00")


@contextmanager
def running(folder: Path, site: Site, clock: SetClock) -> Iterator[tuple[MoneyLoop, list[Checkpoint]]]:
    store = Store.open(folder)
    standing = open_standing(store)
    read: list[Checkpoint] = []
    loop = MoneyLoop(site, standing.book, store, clock, lambda _: None, standing=standing, day_read=read.append)
    thread = threading.Thread(target=loop.run)
    thread.start()
    try:
        yield loop, read
    finally:
        loop.stop()
        thread.join(LIMIT_S)
        store.close()
    assert loop.failure is None


def ask(loop: MoneyLoop, command: Any) -> Decision:
    future: Future[Decision] = Future()
    assert loop.inbox.offer(Ask(command, future), "test")
    return future.result(LIMIT_S)


def test_the_money_thread_ends_the_day_while_a_round_runs(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """06:00 comes between a claim and END GAME; an hour back after that; then a night without a daemon."""
    folder = tmp_path / "ledger"
    clock = SetClock("2026-12-01T05:30:00")
    monkeypatch.setattr("meterd.app.create.Clock", lambda: clock)
    create_ledger(folder, site, demo=True)
    with running(folder, site, clock) as (loop, read):
        ask(loop, OpenTable(actor=SYSTEM, table="LIR-1"))
        ask(loop, Lock(actor=DEALER, table="LIR-1", wagers=(WagerSeen(3), WagerSeen(5))))
        ask(loop, Claim(actor=DEALER, table="LIR-1", seat=3, hand="royal-flush"))
        clock.wall_ns = ns("2026-12-01T06:00:01")
        ask(loop, EndGame(actor=DEALER, table="LIR-1"))
        assert TableStatus.LOCKED is loop.book.tables["LIR-1"].state
        assert "2026-12-01" == loop.book.gaming_day
        assert 1 == len(read)
        clock.wall_ns = ns("2026-12-01T05:00:00")
        ask(loop, EndGame(actor=DEALER, table="LIR-1"))
        assert 1 == len(read)
    clock.wall_ns = ns("2026-12-02T09:00:00")
    with running(folder, site, clock) as (loop, again):
        ask(loop, EndGame(actor=DEALER, table="LIR-1"))
        assert "2026-12-02" == loop.book.gaming_day
        assert 1 == len(again)
    records = list(read_records(folder))
    readings = [json.loads(record.body) for record in records if record.kind == "DayRead"]
    assert [("2026-11-30", "2026-12-01"), ("2026-12-01", "2026-12-02")] == [(r["day"], r["next_day"]) for r in readings]
    assert 2 == readings[0]["links"]["nexus-1"]["wagers"]
    assert 0 == readings[1]["links"]["nexus-1"]["wagers"]
    assert 1 == readings[0]["links"]["nexus-1"]["awards"]["claimed"]["awards"]
    assert 3 == len([path for path in folder.iterdir() if path.name.startswith("ledger-") and path.suffix == ".db"])
    report = verify(folder, since=[*read, *again])
    assert report.ok, report.first_bad
    assert (read[0].size, again[0].size) == report.since
