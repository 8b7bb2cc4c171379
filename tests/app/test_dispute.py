"""Dispute packs: one round in one file, checked by a program that shares nothing with the one that made it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner
from tampering import write
from test_volumes import Shift, open_round, rest_of_round
from verify_ledger import DEALER, SUPERVISOR, a_few_rounds, opening, tamper, write_ledger

from meterd import second_verifier
from meterd.accounting.commands import Confirm, EndGame, Lock, WagerSeen
from meterd.app.create import create_with
from meterd.app.dispute import find_round, frames_span, pack
from meterd.cli.main import main
from meterd.edge.keys import new_key_file, read_key
from meterd.edge.store import read_records
from meterd.errors import LedgerError, MisuseError


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ledger") / "ledger"
    write_ledger(folder)
    return folder


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("key") / "ledger-key"
    new_key_file(path, "riverside-2026")
    return path


def packed(ledger: Path, key: Path, table: str = "T1", number: int = 2) -> dict[str, Any]:
    signing = read_key(key)
    document = pack(find_round(read_records(ledger), table, number), sign=signing.sign_note)
    checked: dict[str, Any] = json.loads(json.dumps(document))
    return checked


def check(document: dict[str, Any], key: Path, folder: Path) -> dict[str, Any]:
    path = folder / "pack.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return second_verifier.check_pack(path, [], [str(read_key(key).public)])


@pytest.mark.parametrize("number", [1, 2, 3, 4])
@pytest.mark.parametrize("table", ["T1", "T2"])
def test_a_round_checked_by_the_second_verifier(
    ledger: Path, key: Path, tmp_path: Path, table: str, number: int
) -> None:
    """Everything the pack says of the round, the other program reads from the proven entries too."""
    found = check(packed(ledger, key, table, number), key, tmp_path)
    assert (None, True) == (found["reason"], found["ok"])


def test_what_a_pack_tells(ledger: Path, key: Path) -> None:
    """The round of the royal flush: who was in, the award, what the meters showed before and after."""
    summary = packed(ledger, key)["summary"]
    assert [1, 2, 3, 4, 5] == [wager["seat"] for wager in summary["accepted"]]
    assert ["A1"] == summary["awards"]
    before, after = (summary[f"levels_{when}"]["nexus/mega"]["display_microcents"] for when in ("before", "after"))
    assert before > after, "the royal flush took the mega, which began again at its seed"
    assert summary["ended_seq"] > summary["locked_seq"]


def test_the_lines_of_a_pack_are_those_of_all_devices_of_the_table(ledger: Path) -> None:
    """A key that nobody heard is what a dispute may be about: the pad's line is among them, whatever came over it."""
    records = list(read_records(ledger))
    ours = [record for record in records if record.table_id == "T1"]
    devices = {record.device or (record.event_id or "").partition(":")[0] for record in ours} - {""}
    lock = next(record for record in ours if record.kind == "Locked")
    found = find_round(records, "T1", 1)
    assert {device for device in devices if "/" in device} == found.devices
    found.kept["round"] = [lock]  # a round of which only the lock button was heard
    found.devices |= {"pit-1/40", "keys-1/50"}
    assert {"pit-1", "keys-1"} <= frames_span(found)[3]


CHANGES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a bet that was not accepted": lambda p: p["summary"]["accepted"].append({"seat": 7, "cents": 100}),
    "a lamp": lambda p: p["summary"]["lamps"].update({"7": "steady"}),
    "the instant of the lock": lambda p: p["summary"].update(locked_mono_ns=1),
    "the amounts before": lambda p: p["summary"]["levels_before"]["nexus/mega"].update(display_microcents=1),
    "the pay table": lambda p: p["summary"]["paytable"].update(sha256="0" * 64),
    "the link": lambda p: p.update(link="other"),
    "a word more": lambda p: p.update(verdict="the house is right"),
    "another form": lambda p: p.update(meterd_pack=99),
    "true for 1": lambda p: p["summary"]["accepted"][0].update(seat=True),
    "an entry twice": lambda p: p["entries"].append(p["entries"][-1]),
    "a figure in an entry": lambda p: p["entries"][-1]["entry"].update(actor="somebody"),
    "an entry left out": lambda p: p["entries"].pop(next(n for n, e in enumerate(p["entries"]) if e["why"] == "round")),
    "another round's number": lambda p: p.update(round=3),
    "a step of a path": lambda p: p["entries"][0]["path"].__setitem__(0, "00" * 32),
    "a shorter tree": lambda p: p.update(tree_size=p["tree_size"] - 1),
    "no signature": lambda p: p.update(checkpoint=None),
    "the root": lambda p: p.update(root="00" * 32),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_pack_is_found_out(ledger: Path, key: Path, tmp_path: Path, change: str) -> None:
    """Whatever somebody changes in the file, the other program says so."""
    document = packed(ledger, key)
    CHANGES[change](document)
    found = check(document, key, tmp_path)
    assert not found["ok"]
    assert found["reason"]


def test_each_entry_between_lock_and_end_is_needed(ledger: Path, key: Path, tmp_path: Path) -> None:
    """No entry of the round can be left out, of whatever table."""
    document = packed(ledger, key)
    locked = next(
        kept["entry"]["seq"]
        for kept in document["entries"]
        if kept["entry"]["kind"] == "Locked" and kept["why"] == "round"
    )
    ended = next(
        kept["entry"]["seq"]
        for kept in document["entries"]
        if kept["entry"]["kind"] == "GameEnded" and kept["entry"]["seq"] > locked and kept["entry"]["table_id"] == "T1"
    )
    assert ended - locked >= 3
    for seq in range(locked, ended + 1):
        without = {**document, "entries": [kept for kept in document["entries"] if kept["entry"]["seq"] != seq]}
        assert not check(without, key, tmp_path)["ok"], seq


def test_an_older_bet_is_not_this_rounds(tmp_path: Path, key: Path) -> None:
    """A proven late bet of an earlier round of the table, slipped into the pack, is no fact of this round."""
    folder = tmp_path / "ledger"
    write(folder, 200, Random(7))
    records = list(read_records(folder))
    late = next(record for record in records if record.kind == "LateBet")
    later = [
        json.loads(r.body)["round"]
        for r in records
        if r.kind == "Locked" and r.table_id == late.table_id and r.seq > late.seq
    ]
    found = find_round(read_records(folder), late.table_id or "", later[2])
    found.kept["award"].append(late)
    document = json.loads(json.dumps(pack(found, sign=read_key(key).sign_note)))
    checked = check(document, key, tmp_path)
    assert (None, True) == (checked["reason"], checked["ok"])
    assert all(bet["seat"] != 7 for bet in checked["summary"]["late"]) or late.seq > document["summary"]["locked_seq"]
    document["summary"]["late"].append({"seat": 7, "ms_min": 10, "ms_max": 90})
    assert not check(document, key, tmp_path)["ok"]


def test_every_round_of_an_ordinary_ledger(tmp_path: Path, key: Path) -> None:
    """LOCKs with the identity of their button, late bets and awards, days that end: each round's pack is taken."""
    folder = tmp_path / "ledger"
    write(folder, 200, Random(7))
    locks = [(r.table_id or "", json.loads(r.body)["round"]) for r in read_records(folder) if r.kind == "Locked"]
    assert len(locks) > 40
    for table, number in locks[::4]:
        found = check(packed(folder, key, table, number), key, tmp_path)
        assert (None, True) == (found["reason"], found["ok"]), (table, number)


def test_a_name_that_stands_twice(ledger: Path, key: Path, tmp_path: Path) -> None:
    """A file in which a reader may take the first of two values, and the program the last, is refused."""
    text = json.dumps(packed(ledger, key))
    (tmp_path / "pack.json").write_text(text.replace('"round": 2', '"round": 3, "round": 2', 1), encoding="utf-8")
    found = second_verifier.check_pack(tmp_path / "pack.json", [], [str(read_key(key).public)])
    assert (False, True) == (found["ok"], "twice" in found["reason"])


def test_a_forger_with_another_key(ledger: Path, key: Path, tmp_path: Path) -> None:
    """A pack signed by a key that nobody vouched for proves nothing."""
    other = tmp_path / "other-key"
    new_key_file(other, "riverside-2026")
    assert not check(packed(ledger, other), key, tmp_path)["ok"]


def test_no_such_round(ledger: Path) -> None:
    """An unknown table or round is named, with what there is."""
    with pytest.raises(MisuseError, match="table T1 has no round 99; its last is 4"):
        find_round(read_records(ledger), "T1", 99)
    with pytest.raises(MisuseError, match=r"no table T9\. It has: T1, T2"):
        find_round(read_records(ledger), "T9", 1)


def test_a_round_of_a_later_volume(key: Path, tmp_path: Path) -> None:
    """Rounds on both sides of a day's end, and one that spans it, are packed and checked like any other."""
    create_with(tmp_path / "ledger", opening())
    shift = Shift(tmp_path / "ledger")
    shift.play(*a_few_rounds(), *open_round())
    shift.end_day(1)
    shift.play(*rest_of_round(next(iter(shift.book.open_awards))))
    for award in tuple(shift.book.open_awards):
        shift.play(Confirm(actor=SUPERVISOR, award=award))
    shift.play(EndGame(actor=DEALER, table="T1"))
    wagers = tuple(WagerSeen(seat) for seat in (1, 2, 5))
    shift.play(Lock(actor=DEALER, table="T1", wagers=wagers), EndGame(actor=DEALER, table="T1"))
    shift.store.close()
    spanning = packed(tmp_path / "ledger", key, "T1", 5)
    assert {"DayRead", "BookCarried"} < {kept["entry"]["kind"] for kept in spanning["entries"]}
    for number in (1, 5, 6):
        found = check(packed(tmp_path / "ledger", key, "T1", number), key, tmp_path)
        assert (None, True) == (found["reason"], found["ok"]), number
    (tmp_path / "ledger" / "ledger-1.db").unlink()
    found = check(packed(tmp_path / "ledger", key, "T1", 6), key, tmp_path)
    assert (None, True) == (found["reason"], found["ok"]), "older volumes may lie elsewhere"


def test_a_ledger_that_does_not_hold(tmp_path: Path) -> None:
    """Its first bad row is the dispute; there is no pack."""
    tamper(write_ledger(tmp_path), "UPDATE entry SET actor = 'x' WHERE seq = 9")
    with pytest.raises(LedgerError, match="entry 9 does not hold"):
        find_round(read_records(tmp_path), "T1", 1)


def test_the_verb(ledger: Path, key: Path, tmp_path: Path) -> None:
    """The file it writes is the one the second verifier takes; wrong rounds end with 2."""
    out = tmp_path / "round.json"
    run = CliRunner().invoke
    done = run(main, ["dispute", str(ledger), "T1", "2", "--out", str(out), "--key", str(key)])
    assert (0, True) == (done.exit_code, second_verifier.check_pack(out, [], [str(read_key(key).public)])["ok"])
    assert 0 == second_verifier.main(["--key", str(read_key(key).public), "--pack", str(out)])
    assert 2 == run(main, ["dispute", str(ledger), "T1", "77"]).exit_code
