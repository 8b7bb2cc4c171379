"""Somebody hashes a ledger anew after changing what moves no money: the rules find it where they decide it again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from forging import Body, forge_all
from test_volumes import Shift, open_round, rest_of_round
from verify_ledger import SUPERVISOR, a_few_rounds, opening

from meterd.accounting import rules_day
from meterd.accounting.commands import SYSTEM, Actor, Note, Role, Void
from meterd.accounting.commands_links import PostCaps, SetLimit
from meterd.accounting.entries import Kind
from meterd.app import redecide
from meterd.app.create import create_with
from meterd.app.redecide import Judging
from meterd.app.verify import verify
from meterd.app.volumes import stand
from meterd.edge import volume
from meterd.edge.store import read_records
from meterd.errors import LedgerError
from meterd.ledger.canonical import parse
from meterd.ledger.record import Record


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """Rounds, refusals of claims and of a void, a note, posted limits."""
    folder = tmp_path / "ledger"
    create_with(folder, opening())
    shift = Shift(folder)
    shift.play(
        *a_few_rounds(),
        Void(actor=SUPERVISOR, award="A99", reason="misread"),
        Note(actor=SYSTEM, kind=Kind.COUNT_MISMATCH, table="T1", facts={"accepted": 3}),
        PostCaps(
            actor=Actor("adm-1", Role.ADMINISTRATOR),
            second=Actor("acc-1", Role.ACCOUNTING),
            reference="N-1",
            table="T1",
            player_cents=5_000_000,
            table_cents=None,
        ),
    )
    shift.store.close()
    return folder


CHANGES: dict[str, tuple[str, Callable[[Body], object]]] = {
    "another reason": ("Refused", lambda body: body.update(refusal="SEAT_FOLDED")),
    "another seat": ("Refused", lambda body: body["keyed"].update(seat=2)),
    "a seat more": ("Refused", lambda body: body["keyed"].update(to="house")),
    "a limit that holds earlier": ("CapsPosted", lambda body: body.update(from_utc="2026-12-01T13:00:00.000000Z")),
    "a setting less": ("LinkOpened", lambda body: body["settings"].pop("wager_cents")),
    "a part less": ("Claimed", lambda body: body["parts"][0].popitem()),
}


@pytest.mark.parametrize(("kind", "change"), CHANGES.values(), ids=CHANGES.keys())
def test_what_the_rules_would_have_said_otherwise_is_found(
    ledger: Path, kind: str, change: Callable[[Body], object]
) -> None:
    """The first entry of the kind that tells enough is changed, and named."""
    at: list[int] = []

    def change_one(record: Record, body: Body) -> None:
        if record.kind == kind and not at and (kind != "Refused" or "hand" in body["keyed"]):
            at.append(record.seq)
            change(body)

    assert verify(ledger, judge=Judging().judge).ok
    forge_all(ledger, change_one)
    report = verify(ledger, judge=Judging().judge)
    assert report.first_bad is not None
    assert at == [report.first_bad.seq]


def test_the_cause_told_is_that_of_whoever_may_ask(ledger: Path) -> None:
    """Roles are tried one after the other; that others may not ask at all is not what is wrong."""

    def change(record: Record, body: Body) -> None:
        if record.kind == "CapsPosted":
            body.update(table_cents=-1)

    forge_all(ledger, change)
    report = verify(ledger, judge=Judging().judge)
    assert report.first_bad is not None
    assert report.first_bad.reason.startswith("decided again, it is refused: AMOUNT_OUT_OF_BOUNDS")


def test_a_refusal_of_an_older_version_may_lack_what_was_asked(tmp_path: Path) -> None:
    """The overflow of a refused limit was not repeated once: such an entry is counted, not found wrong."""
    folder = tmp_path / "ledger"
    create_with(folder, opening())
    shift = Shift(folder)
    people = {"actor": Actor("adm-1", Role.ADMINISTRATOR), "second": Actor("acc-1", Role.ACCOUNTING)}
    limit = SetLimit(**people, reference="N-1", level="nexus/mega", limit_cents=9_000_000, overflow="level:grand")
    shift.play(replace(limit, overflow="next_meter"), limit)
    shift.store.close()
    judging = Judging()
    assert verify(folder, judge=judging.judge).ok
    assert {} == judging.not_again
    forge_all(folder, lambda _, body: body.get("keyed", {}).pop("overflow", None) and None)
    judging = Judging()
    report = verify(folder, judge=judging.judge)
    assert report.ok, report.first_bad
    assert {"Refused": 1} == judging.not_again


def test_refusals_are_decided_again_and_counted(ledger: Path) -> None:
    """All that tell what was asked; a note is counted among those that are not, with the reason."""
    judging = Judging()
    report = verify(ledger, judge=judging.judge)
    assert report.ok, report.first_bad
    assert {"CountMismatch": 1} == judging.to_json()["not_again"]
    assert 9 == judging.again["Refused"]
    assert report.entries == judging.again.total() + judging.not_again.total()
    assert "not decided again: 1 entry\n  CountMismatch 1: told from outside" in judging.words()


def test_what_is_not_settled_does_not_leave(tmp_path: Path) -> None:
    """A reading that lets go of an award nobody was paid: plain verification says so, of any version's reading."""
    folder = _a_day_with_awards(tmp_path)

    def change(record: Record, body: Body) -> None:
        if record.kind == "DayRead":
            body["left"]["awards"] = ["A1"]
        if record.kind == "BookCarried":
            body["book"]["awards"] = [one for one in body["book"]["awards"] if one[0] != "A1"]
            body["book"]["gone_awards"] = 1

    forge_all(folder, change)
    report = verify(folder)
    assert report.first_bad is not None
    assert "the day's reading lets A1 leave the book, and it is not settled" == report.first_bad.reason
    sealed, following = volume.volumes(folder)[:2]
    with pytest.raises(LedgerError, match="lets A1 leave the book, and it is not settled"):
        stand(read_records(sealed))
    with pytest.raises(LedgerError, match="lacks A1, which is not settled"):
        stand(read_records(following))


def test_how_many_settled_awards_stay_each_version_says_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ledger of one that kept fewer is right by the rules of one that keeps more, if it is in the list; else not."""
    with monkeypatch.context() as patched:
        patched.setattr(rules_day, "SETTLED_KEPT", 1)
        patched.setattr(rules_day, "SHARES_OF_METERS_KEPT", 1)
        folder = _a_day_with_awards(tmp_path)
    readings = [parse(record.body)["left"]["awards"] for record in read_records(folder) if record.kind == "DayRead"]
    assert any(readings)
    odd = verify(folder, judge=Judging().judge).first_bad
    assert odd is not None
    assert odd.reason.startswith("decided again, it differs: left {'awards': [], 'shares': []}, not {'awards': ['A2'")
    monkeypatch.setattr(redecide, "EARLIER", (rules_day.Keeping(1, 1, clocks=False),))
    report = verify(folder, judge=Judging().judge)
    assert report.ok, report.first_bad


def _a_day_with_awards(tmp_path: Path) -> Path:
    folder = tmp_path / "ledger"
    create_with(folder, opening())
    shift = Shift(folder)
    shift.play(*a_few_rounds())
    for day in (1, 2, 3):
        for _ in range(4):
            shift.play(*open_round())
            award = list(shift.book.open_awards)[-1]
            shift.play(*rest_of_round(award))
        shift.end_day(day)
    shift.store.close()
    return folder
