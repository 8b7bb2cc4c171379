"""Somebody hashes everything anew after leaving facts out, adding some, or carrying another book over: both find it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from forging import Body, forge_all
from tampering import write_unsigned

from meterd import second_verifier
from meterd.accounting.entries import Kind
from meterd.accounting.facts import FACTS, TABLE
from meterd.app.redecide import Judging
from meterd.app.verify import verify
from meterd.edge import volume
from meterd.edge.store import read_records
from meterd.ledger.canonical import parse
from meterd.ledger.record import Record


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_unsigned(tmp_path_factory.mktemp("original") / "ledger", 240)


@pytest.fixture
def ledger(original: Path, tmp_path: Path) -> Path:
    shutil.copytree(original, tmp_path / "ledger", symlinks=True)
    return tmp_path / "ledger"


def forged_at(ledger: Path, kind: str, change: Callable[[Body], object], after: int = 0) -> int:
    """Change the first entry of a kind behind a number, hash all anew, and say which it was."""
    at: list[int] = []

    def change_one(record: Record, body: Body) -> None:
        if record.kind == kind and record.seq > after and not at:
            at.append(record.seq)
            change(body)

    forge_all(ledger, change_one)
    (seq,) = at
    return seq


def first_bad(ledger: Path) -> tuple[int | None, int | None]:
    first, second = verify(ledger), second_verifier.check([ledger])
    return first.first_bad and first.first_bad.seq, second["first_bad"] and second["first_bad"]["seq"]


def test_one_table_of_facts() -> None:
    """The page, the program and the second verifier have the same one, and it names every kind."""
    page = (Path(__file__).parents[2] / "schema" / "README.md").read_text(encoding="utf-8")
    (written,) = re.findall(r"```text(\nAdjusted .*?\n)```", page, re.DOTALL)
    assert TABLE == written
    assert TABLE == second_verifier.KINDS
    assert set(Kind) == FACTS.keys()


def _written(ledger: Path) -> list[tuple[str, str]]:
    found: dict[str, set[str]] = {}
    for record in read_records(ledger):
        found[record.kind] = found.get(record.kind, set()) | parse(record.body).keys()
    return [(kind, name) for kind, names in sorted(found.items()) for name in sorted(names & FACTS[Kind(kind)].always)]


def test_no_fact_is_left_out(ledger: Path, tmp_path: Path) -> None:
    """Each that every version wrote, of each kind in the ledger, once: both name the entry."""
    cases = _written(ledger)
    assert len(cases) > 60
    for number, (kind, name) in enumerate(cases):
        copy = tmp_path / str(number)
        shutil.copytree(ledger, copy, symlinks=True)
        seq = forged_at(copy, kind, lambda body, name=name: body.pop(name))  # type: ignore[misc]
        assert (seq, seq) == first_bad(copy), (kind, name)
        shutil.rmtree(copy)


@pytest.mark.parametrize("name", ["second", "tokes", "toke_cents"])
def test_who_approved_second_is_not_erased(ledger: Path, name: str) -> None:
    """Nor the dealer's share: of every award that a supervisor confirmed they are told, be it with null."""
    confirmed = [r for r in read_records(ledger) if r.kind == "Confirmed" and '"by":"supervisor"' in r.body]
    seq = forged_at(ledger, "Confirmed", lambda body: body.pop(name), after=confirmed[0].seq - 1)
    assert (seq, seq) == first_bad(ledger)


@pytest.mark.parametrize("kind", ["LedgerCreated", "Locked", "GameEnded", "LateBet", "DayRead", "TableOpened"])
def test_no_fact_is_added(ledger: Path, kind: str) -> None:
    """Nor one that no such entry tells."""
    seq = forged_at(ledger, kind, lambda body: body.update(remark="paid"))
    assert (seq, seq) == first_bad(ledger)


@pytest.mark.parametrize("form", [0, 3, True, "2", None])
def test_the_format_a_ledger_began_in(ledger: Path, form: object) -> None:
    """One of those that there are."""
    assert (1, 1) == (forged_at(ledger, "LedgerCreated", lambda body: body.update(format=form)), first_bad(ledger)[0])
    assert (1, 1) == first_bad(ledger)


COLUMNS: dict[str, tuple[str, Callable[[Record], Record]]] = {
    "a moment in words": ("Locked", lambda record: record._replace(at_utc="yesterday")),
    "a moment without fractions": ("Locked", lambda record: record._replace(at_utc="2026-12-01T13:00:00Z")),
    "another site": ("GameEnded", lambda record: record._replace(site="elsewhere")),
    "no kind": ("LateBet", lambda record: record._replace(kind="Early")),
    "a table cut off": ("LateBet", lambda record: record._replace(table_id="T1\0")),
    "a table that is none": ("GameEnded", lambda record: record._replace(table_id="T9")),
    "money in what moves none": ("LateBet", lambda record: record._replace(postings=(("paid/T1", 5), ("drop/T1", -5)))),
}


@pytest.mark.parametrize(("kind", "change"), COLUMNS.values(), ids=COLUMNS.keys())
def test_columns_are_of_their_form(ledger: Path, kind: str, change: Callable[[Record], Record]) -> None:
    """Times, sites, kinds, tables and money where there is none."""
    at: list[int] = []

    def change_one(record: Record, _body: Body) -> Record | None:
        if record.kind == kind and not at:
            at.append(record.seq)
            return change(record)
        return None

    forge_all(ledger, change_one)
    assert (at[0], at[0]) == first_bad(ledger)


def _thing(name: str, **facts: object) -> Callable[[Body], object]:
    """Other facts in the first of a list of the book, which holds things or pairs of a name and a thing."""

    def change(body: Body) -> object:
        first = body["book"][name][0]
        thing = first[1] if isinstance(first, list) else first
        assert all(thing.get(fact) != value for fact, value in facts.items())
        return thing.update(facts)

    return change


def _settings(name: str, **facts: object) -> Callable[[Body], object]:
    def change(body: Body) -> object:
        first = body["book"][name][0]
        return (first[1] if isinstance(first, list) else first)["settings"].update(facts)

    return change


BOOK: dict[str, Callable[[Body], object]] = {
    "a name more": lambda body: body["book"].update(remark="x"),
    "a list more": lambda body: body["book"].update(notes=[]),
    "currency": lambda body: body["book"].update(currency="EUR"),
    "demo": lambda body: body["book"].update(demo=True),
    "awards gone": lambda body: body["book"].update(gone_awards=7),
    "an award's worth": _thing("awards", amount_cents=1),
    "an award paid": _thing("awards", status="paid"),
    "an award keyed by another": _thing("awards", keyed_by="dealer@T9"),
    "an award less": lambda body: body["book"]["awards"].pop(),
    "no award open": lambda body: body["book"].update(open_awards=[]),
    "a table's round": _thing("tables", round=1),
    "a table's state": _thing("tables", state="LOCKED"),
    "a table's seats": _settings("tables", seats=9),
    "a link's wagers": _thing("links", wagers=1),
    "a link's wager": _settings("links", wager_cents=500),
    "a level's hits": lambda body: body["book"]["links"][0]["counts"][0][1].update(hits=99),
    "a standing seed": lambda body: body["book"]["links"][0]["counts"][0][1].update(standing=1),
    "thresholds": lambda body: body["book"]["site"].update(two_person_cents=1),
    "a device's count": lambda body: body["book"]["devices"][0][1].__setitem__(1, 10**9),
    "no shares": lambda body: body["book"].pop("fund_awards"),
    "nothing gone": lambda body: body["book"].pop("gone_awards"),
    "a device less": lambda body: body["book"]["devices"].pop(),
}
#: In parts of the book that are the writer's own the second verifier cannot know; the first reads them whole.
OWN: dict[str, Callable[[Body], object]] = {
    "a name in a row": lambda body: body["book"]["tables"][0][1]["caps"][0].append("x"),
    "an award's flag": _thing("awards", held=True),
    "who confirmed": _thing("awards", confirmed_by="sup-9"),
    "when caps hold": lambda body: body["book"]["tables"][0][1]["caps"][0].__setitem__(0, "x"),
    "true for one": lambda body: body["book"]["awards"][0][1].update(envy_cents=True),
}


@pytest.mark.parametrize("change", BOOK.values(), ids=BOOK.keys())
def test_a_book_that_the_entries_did_not_make(ledger: Path, change: Callable[[Body], object]) -> None:
    """Names and values that follow from entries: both verifiers name the entry that carries another one over."""
    seq = forged_at(ledger, "BookCarried", change, after=100)
    assert (seq, seq) == first_bad(ledger)


@pytest.mark.parametrize("change", OWN.values(), ids=OWN.keys())
def test_what_only_the_first_can_know_of_a_book(ledger: Path, change: Callable[[Body], object]) -> None:
    """The writer's own forms are made anew and compared whole."""
    seq = forged_at(ledger, "BookCarried", change, after=100)
    assert seq == first_bad(ledger)[0]


@pytest.mark.parametrize("name", ["a name more", "a list more"])
def test_names_nobody_reads_in_a_volume_alone(ledger: Path, name: str) -> None:
    """Without the volumes before it no value is known, but what names there are."""
    forged_at(ledger, "BookCarried", BOOK[name], after=100)
    last = volume.volumes(ledger)[-1]
    assert not verify(last).ok
    assert not second_verifier.check([last])["ok"]


TOLD: dict[str, tuple[str, Callable[[Body], object]]] = {
    "the day read": ("DayRead", lambda body: body.update(day="2026-11-30")),
    "no date": ("DayRead", lambda body: body.update(next_day="next")),
    "wagers of a day": ("DayRead", lambda body: body["links"]["nexus"].update(wagers=1)),
    "hits of a day": ("DayRead", lambda body: body["links"]["nexus"]["levels"]["mega"].update(hits=9)),
    "awards of a day": ("DayRead", lambda body: body["links"]["nexus"]["awards"]["claimed"].update(cents=9)),
    "rounds of a day": ("DayRead", lambda body: body["tables"]["T1"].update(rounds=1)),
    "a table's state at the reading": ("DayRead", lambda body: body["tables"]["T1"].update(state="LOCKED")),
}


@pytest.mark.parametrize(("kind", "change"), TOLD.values(), ids=TOLD.keys())
def test_what_a_reading_tells(ledger: Path, kind: str, change: Callable[[Body], object]) -> None:
    """By both verifiers, from the entries alone."""
    seq = forged_at(ledger, kind, change, after=100)
    assert (seq, seq) == first_bad(ledger)


SUMS: dict[str, tuple[str, Callable[[Body], object]]] = {
    "cents of a wager": ("Locked", lambda body: body["wagers"][0].update(cents=99)),
    "a round": ("Locked", lambda body: body.update(round=body["round"] + 1)),
    "a late bet of another round": ("LateBet", lambda body: body.update(round=body["round"] - 1)),
    "an award's worth": ("Claimed", lambda body: body.update(amount_cents=body["amount_cents"] - 1)),
    "a seed that does not stand": (
        "LinkOpened",
        lambda body: body["levels"]["nexus/mega"].update(standing_seed_microcents=0),
    ),
}


@pytest.mark.parametrize(("kind", "change"), SUMS.values(), ids=SUMS.keys())
def test_what_the_second_verifier_and_the_rules_find(ledger: Path, kind: str, change: Callable[[Body], object]) -> None:
    """Cents against postings, rounds in their order: without the rules by the second, with them by the first too."""
    seq = forged_at(ledger, kind, change)
    report = verify(ledger, judge=Judging().judge)
    assert report.first_bad is not None
    assert seq == report.first_bad.seq
    second = second_verifier.check([ledger])["first_bad"]
    assert seq == (second and second["seq"])


@pytest.mark.parametrize("kind", ["Locked", "LinkOpened", "DayRead"])
def test_what_is_told_of_a_level(ledger: Path, kind: str) -> None:
    """A LOCK tells of its money alone, other entries of what it counts too, a reading what was told before."""

    def change(body: Body) -> None:
        told = body["levels"]["nexus/mega"]
        if kind == "LinkOpened":
            del told["hits"]
        else:
            told.update({"standing_seed_microcents": 1, "resets": 0, "hits": 0, "won_cents": 0})

    seq = forged_at(ledger, kind, change)
    assert (seq, seq) == first_bad(ledger)
