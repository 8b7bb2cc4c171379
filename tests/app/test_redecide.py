"""What the pages of rules write is what the rules decide again: every page, entry by entry, from its entries alone."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from meterd.accounting.book import Book
from meterd.accounting.entries import Entry, Kind
from meterd.app import scenario_world
from meterd.app.redecide import Judging
from meterd.app.redecide_commands import BEHIND, MAKERS, NOT_AGAIN
from meterd.app.rows import Stamp, entry_draft
from meterd.app.scenario import play
from meterd.app.scenario_parse import parse_page
from meterd.app.verify import Audit
from meterd.edge.files import load_paytables
from meterd.ledger.chain import GENESIS, seal
from meterd.ledger.record import Draft, Record

PAGES = sorted((Path(__file__).parents[1] / "scenarios").glob("*.scn"))
#: Pages of many rounds say nothing new about an entry.
LONGEST = 1_500


def test_every_page_is_decided_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """All pages; each kind that has a command is met, and none but those said is left out."""
    worlds: list[scenario_world.World] = []
    create = scenario_world.World.create

    def noted() -> scenario_world.World:
        worlds.append(create())
        return worlds[-1]

    monkeypatch.setattr(scenario_world.World, "create", noted)
    paytables = load_paytables()
    again: Counter[str] = Counter()
    not_again: Counter[str] = Counter()
    for page in PAGES:
        worlds.clear()
        play(str(page), parse_page(page.read_text(), str(page)), paytables=paytables, folder=page.parent)
        for world in worlds:
            judging = Judging()
            audit = Audit(judge=judging.judge)
            for record in world.records[:LONGEST]:
                assert None is audit.take(record), (page.name, record.seq)
            again += judging.again
            not_again += judging.not_again
    met = {kind for kind in MAKERS if again[kind]}
    assert len(met) > 50
    assert not {kind for kind in not_again if kind in MAKERS}
    assert {"PotWon", "PoolTransferred", "RolledOver", "RulesEased", "Refused"} <= again.keys()
    assert not_again.keys() <= NOT_AGAIN.keys()
    assert again["Refused"] > 10 * not_again["Refused"]


def _played(name: str, monkeypatch: pytest.MonkeyPatch) -> list[Record]:
    """The entries of a page's first world."""
    (page,) = (page for page in PAGES if page.name == name)
    worlds: list[scenario_world.World] = []
    create = scenario_world.World.create

    def noted() -> scenario_world.World:
        worlds.append(create())
        return worlds[-1]

    monkeypatch.setattr(scenario_world.World, "create", noted)
    play(str(page), parse_page(page.read_text(), str(page)), paytables=load_paytables(), folder=page.parent)
    return worlds[0].records


def test_an_entry_may_be_a_moment_later_than_what_was_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    """A version that read the clock twice: the moments that a pool tells of lie microseconds before the entry's own."""
    records = _played("co-1046-7-cap-stops-the-rake.scn", monkeypatch)
    audit = Audit(judge=Judging().judge)
    head = GENESIS
    for record in records:
        later = f"{record.at_utc[:-4]}{int(record.at_utc[-4:-1]) + 7:03}Z"
        sealed = seal(Draft(*record._replace(at_utc=later)[1:12], record.postings), record.seq, head)
        head = sealed.hash
        assert None is audit.take(sealed), record.seq
    assert any('"capped_at":"2' in record.body for record in records)


def test_a_ledger_that_ends_within_an_answer_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The entries of an answer are committed at once: one that lacks the rest, such as a limit's, was cut."""
    records = _played("co-1047-6-a-limit-posted-the-day-before.scn", monkeypatch)
    judging = Judging()
    audit = Audit(judge=judging.judge)
    cuts = []
    for record, following in zip(records, [*records[1:], None], strict=True):
        assert None is audit.take(record), record.seq
        if (missing := judging.unfinished()) is not None:
            assert following is not None
            assert missing.endswith(f"goes on with {following.kind}")
            cuts.append(following.kind)
    assert "Capped" in cuts


@pytest.mark.parametrize(
    ("day", "at_utc", "holds"),
    [
        ("2026-12-02", "2026-12-02T13:00:00.000000Z", True),  # the day that follows
        ("2026-12-04", "2026-12-06T23:59:59.000000Z", True),  # up to three days behind its midnight
        ("2026-12-04", "2026-12-07T00:00:00.000000Z", False),
        ("2026-12-01", "2026-12-02T13:00:00.000000Z", False),
    ],
)
def test_a_day_confirmed_as_an_earlier_version_took_it(day: str, at_utc: str, holds: bool) -> None:
    """Two people confirmed the day that follows, or one long past: right by the rule of then, and no further."""
    book = Book()
    book.gaming_day = "2026-12-01"
    body = {"day": day, "was": "2026-12-01", "second": "acc-1", "reference": "R-1"}
    entry = Entry(Kind.DAY_CONFIRMED, "adm-1", body=body)
    draft = entry_draft(entry, Stamp(at_utc, "boot-1", 1), "riverside")
    judged = Judging().judge(book, seal(draft, 2, GENESIS), entry)
    assert holds == (judged is None), judged


#: What becomes of each kind. "again": its command is decided again. "behind": with the entry before it. Else why not.
TABLE = {
    **dict.fromkeys(MAKERS, "again"),
    **dict.fromkeys(BEHIND, "behind"),
    **NOT_AGAIN,
}


def test_every_kind_is_decided_again_or_is_said_not_to_be() -> None:
    """A kind that is added gets its command, or its reason; what has a command is in no other list."""
    assert set(Kind) == set(TABLE)
    assert not MAKERS.keys() & BEHIND
    assert not NOT_AGAIN.keys() & (MAKERS.keys() | BEHIND)
    notes = {kind for kind, why in NOT_AGAIN.items() if why.startswith("told from outside")}
    assert {Kind.BOOK_CARRIED, Kind.REFUSED} == NOT_AGAIN.keys() - notes
    assert all(why for why in NOT_AGAIN.values())
