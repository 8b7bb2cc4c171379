"""Somebody with the files writes all hashes anew: what a volume carries over and what a reading tells is found."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from forging import Body, forge_all
from tampering import write_unsigned
from test_volumes import Shift

from meterd import second_verifier
from meterd.app.key_change import put_in_force
from meterd.app.redecide import Judging
from meterd.app.verify import verify
from meterd.edge import volume
from meterd.edge.keys import SigningKey
from meterd.edge.store import read_records
from meterd.ledger.record import Record


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_unsigned(tmp_path_factory.mktemp("original") / "ledger", 240)


@pytest.fixture
def ledger(original: Path, tmp_path: Path) -> Path:
    shutil.copytree(original, tmp_path / "ledger", symlinks=True)
    return tmp_path / "ledger"


def _less_money(body: Body) -> None:
    """Awards and what was dropped for them: they sum to zero, so what is left does too."""
    accounts = body["balances"]
    owed = sum(accounts.pop(account) for account in list(accounts) if account.startswith("payable/"))
    assert owed > 0
    accounts["drop/T1"] += owed


CARRIED: dict[str, Callable[[Body], object]] = {
    "awards gone": _less_money,
    "balances gone": lambda body: body.update(balances={}),
    "sealed gone": lambda body: body.update(sealed={}),
    "sealed first": lambda body: body["sealed"].update(first_seq=1),
    "root gone": lambda body: body["tree"].pop("root"),
    "tree gone": lambda body: body.update(tree={}),
    "levels gone": lambda body: body.update(levels={}),
    "seed of a level gone": lambda body: body["levels"]["nexus/mega"].pop("standing_seed_microcents"),
    "seed of a level": lambda body: body["levels"]["nexus/mega"].update(standing_seed_microcents=1),
    "a pool more": lambda body: body.update(pools={"x/y": {"microcents": 0}}),
    "day": lambda body: body.update(day="2027-01-01"),
    "keys": lambda body: body.update(keys=["a+b+c"]),
    "format": lambda body: body.update(format=99),
    "format in words": lambda body: body.update(format="x"),
}
READ: dict[str, Callable[[Body], object]] = {
    "moved gone": lambda body: body.update(moved={}),
    "moved": lambda body: body["moved"].update({"paid/T1": 1}),
    "links gone": lambda body: body.update(links={}),
    "tables gone": lambda body: body.update(tables={}),
    "levels gone": lambda body: body.update(levels={}),
    "a table's money": lambda body: body["tables"]["T1"].update(dropped_microcents=1),
    "liability": lambda body: body["links"]["nexus"].update(liability_microcents=1),
    "since": lambda body: body.update(since_seq=7),
    "since when": lambda body: body.update(since_utc="x"),
    "a day back": lambda body: body.update(next_day="2026-11-01"),
    "facts missing": lambda body: [body.pop(name) for name in ("moved", "links", "tables", "levels")],
}


@pytest.mark.parametrize(
    ("kind", "change"),
    [pytest.param("BookCarried", change, id=f"book: {name}") for name, change in CARRIED.items()]
    + [pytest.param("DayRead", change, id=f"reading: {name}") for name, change in READ.items()],
)
def test_what_stands_at_a_border_is_what_the_entries_make(
    ledger: Path, kind: str, change: Callable[[Body], object]
) -> None:
    """Left out or changed, both verifiers name the entry, whatever else was hashed anew."""
    at: list[int] = []

    def change_last(record: Record, body: Body) -> None:
        if record.kind == kind and record.seq > 100:
            at.append(record.seq)
            change(body)

    forge_all(ledger, change_last)
    first, second = verify(ledger), second_verifier.check([ledger])
    assert first.first_bad is not None
    assert at == [first.first_bad.seq]
    assert at == [second["first_bad"] and second["first_bad"]["seq"]]


@pytest.mark.parametrize("change", [CARRIED["levels gone"], CARRIED["balances gone"], CARRIED["format"]])
def test_a_later_volume_alone(ledger: Path, change: Callable[[Body], object]) -> None:
    """What can be held against nothing before it must at least agree with itself."""
    last = volume.volumes(ledger)[-1]
    assert verify(last).ok
    assert second_verifier.check([last])["ok"]

    def change_first(record: Record, body: Body) -> None:
        if record.kind == "BookCarried":
            change(body)

    forge_all(ledger, change_first)
    assert not verify(last).ok
    assert not second_verifier.check([last])["ok"]


@pytest.mark.parametrize(("kind", "name"), [("Confirmed", "by"), ("GameEnded", "round"), ("LateBet", "round")])
def test_a_fact_left_out_is_missed_by_the_rules(ledger: Path, kind: str, name: str) -> None:
    """Who signed, or of which round: no sum tells, so the entry is decided again."""
    at: list[int] = []

    def change(record: Record, body: Body) -> None:
        if record.kind == kind and not at:
            at.append(record.seq)
            del body[name]

    forge_all(ledger, change)
    report = verify(ledger, judge=Judging().judge)
    assert report.first_bad is not None
    assert at == [report.first_bad.seq]


def test_a_volume_is_named_by_its_first_entry(ledger: Path) -> None:
    """Under another number both say so."""
    last = volume.volumes(ledger)[-1]
    number = volume.first_seq_of(last) or 0
    last.rename(ledger / f"ledger-{number + 8}.db")
    (ledger / "ledger.db").unlink()
    (ledger / "ledger.db").symlink_to(f"ledger-{number + 8}.db")
    first = verify(ledger)
    assert first.first_bad is not None
    assert f"begins with {number}" in first.first_bad.reason
    assert f"begins with entry {number}" in second_verifier.check([ledger])["first_bad"]["reason"]


@pytest.mark.parametrize("key", ["garbage", 5, None])
def test_a_key_that_is_none_or_in_force_already(ledger: Path, key: object) -> None:
    """``None`` stands for the key before it."""
    keys = [SigningKey(name, bytes([number]) * 32).public for number, name in enumerate(("one", "two"))]
    for public in keys:
        put_in_force(ledger, public, first="adm-1", second="acc-1", reference="K-1")
    assert verify(ledger).ok
    assert second_verifier.check([ledger])["ok"]
    last = max(record.seq for record in read_records(ledger))

    def change(record: Record, body: Body) -> None:
        if record.seq == last:
            body["key"] = str(keys[0]) if key is None else key

    forge_all(ledger, change)
    first, second = verify(ledger), second_verifier.check([ledger])
    assert (False, False) == (first.ok, second["ok"])
    assert first.first_bad is not None
    assert last == first.first_bad.seq


def test_a_retired_key_signs_nothing_new(ledger: Path, tmp_path: Path) -> None:
    """What it signed while it was in force counts for ever; what it signs of a later size does not."""
    one, two = (SigningKey(name, bytes([number]) * 32) for number, name in enumerate(("one", "two")))
    put_in_force(ledger, one.public, first="adm-1", second="acc-1", reference="K-1")
    notes = {}
    for turn in ("early", "late"):
        shift = Shift(ledger)
        note = shift.standing.checkpoint
        shift.store.close()
        for key in (one, two):
            notes[turn, key.public.name] = tmp_path / f"{turn}-{key.public.name}"
            notes[turn, key.public.name].write_text(key.sign_note(note.text), encoding="utf-8")
        if turn == "early":
            put_in_force(ledger, two.public, first="adm-1", second="acc-1", reference="K-2")
    for keys in ([], [str(one.public), str(two.public)]):
        for (turn, name), path in notes.items():
            good = (turn, name) != ("late", "one")
            first, second = verify(ledger, notes=[path], keys=keys), second_verifier.check([ledger], [path], keys)
            assert (good, good) == (first.ok, second["ok"]), (turn, name, first.first_bad, second["first_bad"])
            if not good:
                assert first.first_bad is not None
                assert "had replaced" in first.first_bad.reason
                assert "had replaced" in second["first_bad"]["reason"]
