"""A day ends behind every page of rules: both verifiers agree with its reading and what the next volume carries."""

from __future__ import annotations

from pathlib import Path

import pytest

from meterd import second_verifier
from meterd.accounting.commands import SYSTEM
from meterd.accounting.commands_day import ReadDay
from meterd.accounting.rules import decide
from meterd.app import scenario_world
from meterd.app.rows import Stamp, entry_draft
from meterd.app.scenario import play
from meterd.app.scenario_parse import parse_page
from meterd.app.verify import Audit
from meterd.app.volumes import next_volume
from meterd.edge.files import load_paytables
from meterd.ledger.chain import seal
from meterd.ledger.record import Record
from meterd.second_verifier import Entry, Ledger, Text

PAGES = sorted((Path(__file__).parents[1] / "scenarios").glob("*.scn"))
LONGEST = 3_000


def _theirs(record: Record) -> Entry:
    """A row as the second verifier reads it."""
    row = [Text(one.encode()) if isinstance(one, str) else one for one in record[:14]]
    postings = [(Text(account.encode()), amount) for account, amount in record.postings]
    return Entry(dict(zip(second_verifier.COLUMNS, row, strict=True)), postings)


def test_a_day_ends_behind_every_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pools, streaks, tips, links that end: no sound ledger is called unsound for its reading."""
    worlds: list[scenario_world.World] = []
    create = scenario_world.World.create

    def noted() -> scenario_world.World:
        worlds.append(create())
        return worlds[-1]

    monkeypatch.setattr(scenario_world.World, "create", noted)
    paytables = load_paytables()
    ends = 0
    for page in PAGES:
        worlds.clear()
        play(str(page), parse_page(page.read_text(), str(page)), paytables=paytables, folder=page.parent)
        for world in worlds:
            if not 0 < len(world.records) <= LONGEST:
                continue
            _end_day(world.records, page.name)
            ends += 1
    assert ends > 50


def _end_day(records: list[Record], page: str) -> None:
    audit, ledger = Audit(), Ledger([])
    for place, record in enumerate(records):
        assert audit.take(record) is None, page
        ledger.take(_theirs(record), first_of_file=place == 0)
    standing = audit.standing
    assert standing is not None
    answer = decide(standing.book, ReadDay(actor=SYSTEM, day="2099-12-01", next_day="2099-12-02"))
    last = records[-1]
    draft = entry_draft(answer.entries[0], Stamp(last.at_utc, last.boot, last.mono_ns), last.site)
    reading = seal(draft, last.seq + 1, last.hash)
    assert audit.take(reading) is None, page
    try:
        ledger.take(_theirs(reading), first_of_file=False)
        first, _ = next_volume(standing)
        audit.begin_volume()
        ledger.take(_theirs(first), first_of_file=True)
        assert audit.take(first) is None, page
        alone = Ledger([])
        alone.take(_theirs(first), first_of_file=True)
    except second_verifier.BadError as bad:
        pytest.fail(f"{page}: {bad.seq}: {bad.reason}")
