"""Days end inside and behind every page of rules: both verifiers agree with each reading and what is carried on."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from meterd import second_verifier
from meterd.accounting.commands import SYSTEM
from meterd.accounting.commands_day import ReadDay
from meterd.accounting.rules import decide
from meterd.app import scenario_world
from meterd.app.redecide import Judging
from meterd.app.rows import Stamp, draft_entry, entry_draft
from meterd.app.scenario import play
from meterd.app.scenario_parse import parse_page
from meterd.app.verify import Audit
from meterd.app.volumes import Standing, carries, next_volume
from meterd.edge.files import load_paytables
from meterd.ledger.canonical import canonical, parse
from meterd.ledger.chain import seal
from meterd.ledger.record import Record
from meterd.second_verifier import Entry, Ledger, Text

PAGES = sorted((Path(__file__).parents[1] / "scenarios").glob("*.scn"))
LONGEST = 3_000
#: Days end inside no more entries of a world than these: what lies behind them is played with the last day alone.
INSIDE = 250


def _theirs(record: Record) -> Entry:
    """A row as the second verifier reads it."""
    row = [Text(one.encode()) if isinstance(one, str) else one for one in record[:14]]
    postings = [(Text(account.encode()), amount) for account, amount in record.postings]
    return Entry(dict(zip(second_verifier.COLUMNS, row, strict=True)), postings)


class Days:
    """Feeds the entries of a page to both verifiers, and ends gaming days between them."""

    def __init__(self, page: str) -> None:
        self.page = page
        self.judging = Judging()
        self.audit = Audit(judge=self.judging.judge)
        self.ledger = Ledger([])
        self.last: Record | None = None
        self.days = 0

    def take(self, record: Record) -> None:
        """One more entry, in its place behind the days that ended before it."""
        if self.last is not None and self.last.seq + 1 != record.seq:
            draft = entry_draft(draft_entry(record), Stamp(record.at_utc, record.boot, record.mono_ns), record.site)
            record = seal(draft, self.last.seq + 1, self.last.hash)
        self._both(record, first=self.last is None)

    @property
    def standing(self) -> Standing:
        """Where both stand, behind the first entry."""
        assert self.audit.standing is not None
        return self.audit.standing

    @property
    def within_an_answer(self) -> bool:
        """What was decided in one answer has still to come: no day can end here."""
        return any(self.judging._rests)

    def end_day(self) -> None:
        """The reading, the first entry of the next volume, and that one alone."""
        self.read_day()
        first, _ = next_volume(self.standing)
        self.audit.begin_volume()
        self._both(first, first=True)
        self._second(Ledger([]), first, first=True)

    def read_day(self) -> None:
        """The reading alone."""
        assert self.last is not None
        self.days += 1
        day, next_day = (f"2026-01-{number:02}" for number in (self.days, self.days + 1))
        answer = decide(self.standing.book, ReadDay(actor=SYSTEM, day=day, next_day=next_day))
        stamp = Stamp(self.last.at_utc, self.last.boot, self.last.mono_ns)
        draft = entry_draft(answer.entries[0], stamp, self.last.site)
        self._both(seal(draft, self.last.seq + 1, self.last.hash), first=False)

    def _both(self, record: Record, *, first: bool) -> None:
        assert self.audit.take(record) is None, (self.page, record.seq)
        self._second(self.ledger, record, first=first)
        self.last = record

    def _second(self, ledger: Ledger, record: Record, *, first: bool) -> None:
        try:
            ledger.take(_theirs(record), first_of_file=first)
        except second_verifier.BadError as bad:
            pytest.fail(f"{self.page}: {bad.seq}: {record.kind}: {bad.reason}")


def test_days_end_inside_and_behind_every_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pools, streaks, tips, wagers that lie apart, links that end: no sound ledger is called unsound for a reading."""
    seed = int(os.environ.get("METERD_SEED", "20261130"))
    print(f"seed {seed}")
    numbers = random.Random(seed)
    worlds = _noted(monkeypatch)
    paytables = load_paytables()
    days = 0
    for page in PAGES:
        worlds.clear()
        play(str(page), parse_page(page.read_text(), str(page)), paytables=paytables, folder=page.parent)
        for world in worlds:
            records = world.records
            if not 0 < len(records) <= LONGEST:
                continue
            told = any(record.kind == "DayConfirmed" for record in records)  # of days, so that others would be odd
            inside = () if told else range(1, min(len(records), INSIDE))
            ended = _end_days(records, page.name, set(numbers.sample(inside, min(2, len(inside)))))
            days += ended
    assert days > 150


def test_a_day_ends_behind_every_entry_while_wagers_lie_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Strike-out wagers are in no pool until the hand is won, and a reading may come before that."""
    (page,) = (page for page in PAGES if page.name == "co-1099-20-home-run.scn")
    worlds = _noted(monkeypatch)
    play(str(page), parse_page(page.read_text(), str(page)), paytables=load_paytables(), folder=page.parent)
    (world,) = worlds
    for place in range(1, len(world.records)):
        _end_days(world.records, page.name, {place})


def test_runners_were_carried_in_the_order_of_their_keying_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """By an older version; another runner, or one less, is another book."""
    (page,) = (page for page in PAGES if page.name == "co-1099-20-home-run.scn")
    worlds = _noted(monkeypatch)
    play(str(page), parse_page(page.read_text(), str(page)), paytables=load_paytables(), folder=page.parent)
    days = Days(page.name)
    records = iter(worlds[0].records)
    days.take(next(records))
    while not (days.standing.book.funds.get("T3") and len(days.standing.book.funds["T3"].runners) > 1):
        days.take(next(records))
    days.read_day()
    first, _ = next_volume(days.standing)
    changes: dict[str, Callable[[list[list[int]]], object]] = {
        "reversed": lambda runners: runners.reverse(),
        "one less": lambda runners: runners.pop(),
        "another": lambda runners: runners.append([6, 1]),
    }
    for name, change in changes.items():
        body = parse(first.body)
        change(body["book"]["funds"][0]["runners"])
        changed = carries(days.standing, draft_entry(first._replace(body=canonical(body))))
        assert (name == "reversed") == (changed is None), (name, changed)


def _noted(monkeypatch: pytest.MonkeyPatch) -> list[scenario_world.World]:
    """The worlds that a page plays in."""
    worlds: list[scenario_world.World] = []
    create = scenario_world.World.create

    def noted() -> scenario_world.World:
        worlds.append(create())
        return worlds[-1]

    monkeypatch.setattr(scenario_world.World, "create", noted)
    return worlds


def _end_days(records: list[Record], page: str, behind: set[int]) -> int:
    """End a day behind each of these entries, or behind the answer that one is of, and behind the last."""
    days = Days(page)
    due = False
    for place, record in enumerate(records, 1):
        days.take(record)
        due = due or place in behind
        if due and not days.within_an_answer and place < len(records):
            due = False
            days.end_day()
    days.end_day()
    return days.days
