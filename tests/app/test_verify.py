# ruff: noqa: S608 - the statements of this file are an attacker's
from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from verify_ledger import forge, tamper, write_ledger

from meterd.app.verify import Report, verify
from meterd.cli.ledger import ledger
from meterd.edge.store import Store, read_records
from meterd.ledger.record import Record


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("original")
    write_ledger(folder)
    return folder


@pytest.fixture
def volume(original: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    shutil.copytree(original, tmp_path / "ledger", symlinks=True)
    return tmp_path / "ledger" / "ledger-1.db"


def _bad(report: Report) -> tuple[int | None, str]:
    assert not report.ok
    assert report.first_bad is not None
    return report.first_bad.seq, report.first_bad.reason


def test_a_sound_ledger(original: Path) -> None:
    """Folder and file give the same report: every entry, the last hash, and what each level holds."""
    records = list(read_records(original))
    report = verify(original)
    assert report == verify(original / "ledger-1.db")._replace(file=report.file)
    assert (True, len(records), records[-1].hash) == (report.ok, report.entries, report.head)
    assert ["nexus/major", "nexus/mega", "nexus/minor"] == sorted(report.levels)
    mega = sum(a for r in records for account, a in r.postings if account == "meter/nexus/mega")
    assert mega == report.levels["nexus/mega"]["display_microcents"]


def test_beside_a_running_writer(volume: Path) -> None:
    """Verify reads while the writer has the ledger open, and takes nothing from it."""
    store = Store.open(volume.parent)
    assert verify(volume.parent).ok
    store.close()


def _locked(path: Path) -> int:
    """The number of the third LOCK."""
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("SELECT seq FROM entry WHERE kind = 'Locked' LIMIT 1 OFFSET 2").fetchone()[0])


COLUMNS = {
    "at_utc": "'2030-01-01T00:00:00.000000Z'",
    "boot": "'another'",
    "mono_ns": "mono_ns + 1",
    "kind": "'Stopped'",
    "table_id": "NULL",
    "link_id": "'other'",
    "site": "''",
    "actor": "'somebody'",
    "device": "'x'",
    "event_id": "'pit-9/1/di0:1:1'",
    "body": "replace(body, '1', '2')",
    "prev": "zeroblob(32)",
    "hash": "zeroblob(32)",
}


@pytest.mark.parametrize("column", sorted(COLUMNS))
def test_an_edited_column_is_named(volume: Path, column: str) -> None:
    """Whatever column of an entry is edited, verify names that entry and counts those before it."""
    seq = _locked(volume)
    tamper(volume, f"UPDATE entry SET {column} = {COLUMNS[column]} WHERE seq = {seq}")
    report = verify(volume.parent)
    assert seq == _bad(report)[0]
    assert seq - 1 == report.entries


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE posting SET microcents = microcents + 1 WHERE seq = {seq} AND n = 1",
        "UPDATE posting SET account = 'paid/T1' WHERE seq = {seq} AND n = 1",
        "DELETE FROM posting WHERE seq = {seq}",
        "DELETE FROM posting WHERE seq = {seq} AND n = 1",
        "DELETE FROM posting WHERE seq = {seq} AND n = (SELECT max(n) FROM posting WHERE seq = {seq})",
        "UPDATE posting SET n = n + 10 WHERE seq = {seq}",
        "UPDATE posting SET rowid = 1000000 + rowid WHERE seq = {seq}",
        "DELETE FROM entry WHERE seq = {seq}",
        "UPDATE posting SET seq = seq + 1000 WHERE seq = {seq}",
    ],
)
def test_edited_postings_and_missing_entries_are_named(volume: Path, statement: str) -> None:
    """Postings changed, taken away, renumbered or moved, an entry taken out of the middle: the entry is named."""
    seq = _locked(volume)
    tamper(volume, statement.format(seq=seq))
    assert seq == _bad(verify(volume.parent))[0]


def test_swapped_entries_are_named(volume: Path) -> None:
    """Two entries that changed places: the first of them is named."""
    seq = _locked(volume)
    tamper(
        volume,
        f"UPDATE entry SET seq = -1 WHERE seq = {seq}",
        f"UPDATE entry SET seq = {seq} WHERE seq = {seq + 1}",
        f"UPDATE entry SET seq = {seq + 1} WHERE seq = -1",
    )
    bad = _bad(verify(volume.parent))
    assert seq == bad[0]


def _body(change: Callable[[dict[str, Any]], Any]) -> Callable[[Record], str]:
    def changed(record: Record) -> str:
        body = json.loads(record.body)
        result = change(body)
        return json.dumps(body if result is None else result, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    return changed


def _raise_level(body: dict[str, Any]) -> None:
    body["levels"]["nexus/mega"]["display_microcents"] += 1


def _shift(record: Record, account: str, amount: int) -> tuple[tuple[str, int], ...]:
    return tuple((name, value + amount if name == account else value) for name, value in record.postings)


FORGERIES: list[tuple[str, Callable[[Record], Record], str]] = [
    ("a level", lambda r: r._replace(body=_body(_raise_level)(r)), "nexus/mega display_microcents: stored"),
    (
        "level left out",
        lambda r: r._replace(body=_body(lambda b: b["levels"].pop("nexus/mega") and None)(r)),
        "does not store",
    ),
    ("no levels", lambda r: r._replace(body=_body(lambda b: b.pop("levels") and None)(r)), "does not store"),
    ("a cent", lambda r: r._replace(postings=_shift(r, "meter/nexus/mega", 1)), "do not balance"),
    (
        "a balanced cent",
        lambda r: r._replace(
            postings=_shift(r._replace(postings=_shift(r, "meter/nexus/mega", 1)), "house/hold/T1", -1)
        ),
        "stored",
    ),
    ("twice", lambda r: r._replace(postings=(*r.postings, ("drop/T1", 5), ("drop/T1", -5))), "do not balance"),
    ("no JSON", lambda r: r._replace(body="{"), "cannot be folded"),
    ("a list", lambda r: r._replace(body="[]"), "cannot be folded"),
    ("spaces", lambda r: r._replace(body=r.body.replace(":", ": ")), "not canonical"),
    ("a float", lambda r: r._replace(body='{"levels":{},"x":1.5}'), "1.5 is not a whole number"),
    ("deep", lambda r: r._replace(body="[" * 100_000), "cannot be folded"),
    ("long number", lambda r: r._replace(body='{"x":' + "9" * 6000 + "}"), "cannot be folded"),
    ("empty", lambda r: r._replace(body="{}"), ""),
    ("kind", lambda r: r._replace(kind="Gift"), "cannot be folded"),
    ("a table nobody knows", lambda r: r._replace(table_id="T9"), "cannot be folded"),
    ("no table", lambda r: r._replace(table_id=None), "cannot be folded"),
    ("a strange event", lambda r: r._replace(event_id="no numbers"), "cannot be folded"),
    (
        "created again",
        lambda r: r._replace(kind="LedgerCreated", body='{"currency":"USD","demo":false,"site":"x"}'),
        "holds no other",
    ),
    ("a level that is a word", lambda r: r._replace(body=_body(lambda b: b.update(levels="much"))(r)), ""),
    ("levels of words", lambda r: r._replace(body=_body(lambda b: b.update(levels={"nexus/mega": "x"}))(r)), ""),
]


@pytest.mark.parametrize(("change", "words"), [f[1:] for f in FORGERIES], ids=[f[0] for f in FORGERIES])
def test_a_forged_chain_is_found_by_the_fold(volume: Path, change: Callable[[Record], Record], words: str) -> None:
    """Somebody who hashes the whole chain anew still has to make the money agree: the fold names the entry."""
    seq = _locked(volume)
    forge(volume, lambda record: change(record) if record.seq == seq else record)
    found, reason = _bad(verify(volume.parent))
    assert seq == found
    assert words in reason


def test_a_forger_who_leaves_out_a_lock(volume: Path) -> None:
    """A whole LOCK taken out and everything after it hashed anew: the next stored level does not agree."""
    seq = _locked(volume)
    forge(volume, lambda record: None if record.seq == seq else record)
    found, _ = _bad(verify(volume.parent))
    assert found is not None
    assert found >= seq


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        (["SELECT 1"], "trigger entry_continues is missing"),
        (["CREATE TABLE more (x)"], "table more is none of ours"),
        (["PRAGMA user_version = 9"], "format 9"),
        (["PRAGMA application_id = 9"], "no meterd ledger"),
        (["DROP TABLE posting"], "posting"),
        (["DROP TABLE entry"], "entry"),
        (["ALTER TABLE entry RENAME COLUMN body TO corpse"], "table entry was changed"),
        (["DROP TABLE entry", "CREATE TABLE entry (x)"], "entry"),
    ],
)
def test_a_file_of_another_shape(volume: Path, statements: list[str], words: str) -> None:
    """Dropped triggers and tables, foreign ones, another format: found, though every row may hold."""
    tamper(volume, *statements, keep=True)
    seq, reason = _bad(verify(volume.parent))
    assert words in reason
    assert seq is None or "read" in reason


def test_a_row_is_named_before_a_trigger(volume: Path) -> None:
    """Who drops a trigger does it to edit a row: the row is what verify names."""
    tamper(volume, "UPDATE entry SET actor = 'x' WHERE seq = 5", keep=True)
    assert 5 == _bad(verify(volume.parent))[0]


def test_loose_types(volume: Path) -> None:
    """Tables rebuilt without strict types, holding text and fractions where numbers belong."""
    loose = [
        "CREATE TABLE p AS SELECT * FROM posting",
        "DROP TABLE posting",
        "ALTER TABLE p RENAME TO posting",
    ]
    for change in (
        "UPDATE posting SET microcents = '12' WHERE seq = (SELECT max(seq) FROM posting)",
        "UPDATE posting SET microcents = 0.5 WHERE rowid = 3",
        "UPDATE posting SET seq = 'two' WHERE rowid = 3",
        "UPDATE posting SET n = NULL WHERE rowid = 3",
        "UPDATE posting SET account = x'ff' WHERE rowid = 3",
        "UPDATE posting SET account = CAST(x'ff' AS TEXT) WHERE rowid = 3",
    ):
        copy = volume.with_name("ledger-2.db")
        shutil.copy(volume, copy)
        tamper(copy, *loose, change, keep=True)
        assert _bad(verify(copy))[1]


@pytest.mark.parametrize("content", [b"", b"text " * 1000, bytes(8192), b"SQLite format 3\0" + bytes(4080)])
def test_what_is_no_ledger(tmp_path: Path, content: bytes) -> None:
    """An empty file, text, zeros, half a header: a finding without a row."""
    path = tmp_path / "ledger-1.db"
    path.write_bytes(content)
    report = verify(path)
    assert _bad(report)[0] is None
    assert 0 == report.entries


def test_nothing_there(tmp_path: Path) -> None:
    """An empty folder, a file that is missing, a folder where a file should be: findings."""
    assert (None, "there is no ledger here") == _bad(verify(tmp_path))
    assert _bad(verify(tmp_path / "absent.db"))[0] is None
    (tmp_path / "ledger-1.db").mkdir()
    assert _bad(verify(tmp_path))[0] is None


def test_a_link_that_leads_elsewhere(volume: Path) -> None:
    """The folder's link must lead to its newest volume."""
    (volume.parent / "ledger.db").unlink()
    assert "leads nowhere" in _bad(verify(volume.parent))[1]


def test_any_damage_is_a_finding(volume: Path) -> None:
    """Bytes overwritten or cut off anywhere: no exception; where verify says ok, nothing of the ledger changed."""
    seed = 7
    print(f"seed {seed}")
    draw = random.Random(seed)
    sound = volume.read_bytes()
    head = verify(volume).head
    found = 0
    for _ in range(150):
        data = bytearray(sound)
        if draw.random() < 0.2:
            del data[draw.randrange(len(data)) :]
        for _ in range(draw.choice([1, 1, 3, 50])):
            at = draw.randrange(max(1, len(data)))
            data[at : at + draw.choice([1, 1, 16])] = draw.randbytes(1)
        volume.write_bytes(data)
        report = verify(volume)
        found += not report.ok
        assert not report.ok or head == report.head
        json.dumps(report.to_json())
    assert found > 75


def _cli(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "meterd", "ledger", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=60, env={**os.environ, "LANG": "C"}
    )


def test_the_verb(volume: Path) -> None:
    """Exit 0 and the documented JSON for a sound ledger; exit 1 and the first bad row, without a traceback, else."""
    done = _cli("verify", str(volume.parent), "--json")
    report = json.loads(done.stdout)
    assert (0, "") == (done.returncode, done.stderr)
    assert ["ok", "entries", "head", "first_bad", "levels"] == list(report)[:5]
    assert {"first_seq", "origin", "root", "since"} <= report.keys()
    assert {"display_microcents", "reserve_microcents", "overflow_microcents"} == set(report["levels"]["nexus/mega"])
    assert report["first_bad"] is None
    seq = _locked(volume)
    tamper(volume, f"UPDATE entry SET body = '{{}}' WHERE seq = {seq}")
    done = _cli("verify", str(volume.parent), "--json")
    assert 1 == done.returncode
    assert "" == done.stderr
    assert seq == json.loads(done.stdout)["first_bad"]["seq"]
    done = _cli("verify", str(volume))
    assert 1 == done.returncode
    assert f"entry {seq}: the hash does not match" in done.stdout


def test_create_and_verify(tmp_path: Path) -> None:
    """A new ledger verifies; a second one in the same folder is refused with exit 74; odd arguments with 2."""
    run = CliRunner()
    folder = str(tmp_path / "new")
    made = run.invoke(ledger, ["create", folder, "--site", "riverside", "--currency", "USD"])
    assert 0 == made.exit_code, made.output
    assert (
        '{"currency":"USD","demo":false,"format":2,"site":"riverside"}' == next(iter(read_records(Path(folder)))).body
    )
    assert 0 == run.invoke(ledger, ["verify", folder]).exit_code
    assert 74 == run.invoke(ledger, ["create", folder, "--site", "riverside", "--currency", "USD"]).exit_code
    for wrong in (
        ["--site", "x"],
        ["--currency", "USD"],
        [],
        ["--site", "x", "--currency", "usd"],
        ["--site", " ", "--currency", "USD"],
    ):
        assert 2 == run.invoke(ledger, ["create", str(tmp_path / "other"), *wrong]).exit_code
    assert not (tmp_path / "other").exists()


def test_create_from_a_site_file(tmp_path: Path) -> None:
    """With a site file its links and tables are in force from the first entry on; a wrong one creates nothing."""
    example = Path(__file__).parents[2] / "docs" / "site.example.toml"
    run = CliRunner()
    made = run.invoke(ledger, ["create", str(tmp_path / "new"), "--config", str(example)])
    assert 0 == made.exit_code, made.output
    kinds = [record.kind for record in read_records(tmp_path / "new")]
    assert ["LedgerCreated", "SiteSet", "LinkOpened"] == kinds[:3]
    assert {"LedgerCreated", "SiteSet", "LinkOpened", "TableDefined"} == set(kinds)
    assert verify(tmp_path / "new").ok
    (tmp_path / "wrong.toml").write_text("[site]\nidd = 1\n")
    assert (
        78 == run.invoke(ledger, ["create", str(tmp_path / "no"), "--config", str(tmp_path / "wrong.toml")]).exit_code
    )
    assert not (tmp_path / "no").exists()


def test_the_collector_is_settled_once() -> None:
    """After settle what exists is out of the collector's sight, and it looks seldom at what is new."""
    script = "import gc; from meterd.app.memory import settle; settle()"
    script += "; print(gc.get_freeze_count() > 0, gc.get_threshold()[0])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=20)
    assert "True 50000\n" == done.stdout
