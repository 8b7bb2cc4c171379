"""What somebody kept on paper is held against the ledger: cut, replaced or changed, it does not start and is found."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from test_volumes import Shift, open_round, rest_of_round
from verify_ledger import a_few_rounds, opening

from meterd.app.checkpoints import (
    Keeper,
    keep,
    read_checkpoint,
    remembered,
    require_key_in_force,
    require_not_shorter,
    require_same,
)
from meterd.app.create import create_with
from meterd.app.key_change import put_in_force
from meterd.app.past import checkpoint_now, prove, standing_at
from meterd.app.past_stood import as_it_stood
from meterd.app.redecide import Judging
from meterd.app.verify import verify
from meterd.app.volumes import open_standing
from meterd.edge import volume
from meterd.edge.keys import SigningKey, new_key_file, read_key, signature_holds
from meterd.edge.store import Store, read_records
from meterd.errors import ConfigError, LedgerError, MisuseError
from meterd.ledger.chain import entry_hash
from meterd.ledger.merkle import included
from meterd.ledger.note import Checkpoint, parse_checkpoint, parse_key, parse_note, signed_by
from meterd.ledger.record import Record

KEY = SigningKey("riverside", bytes(range(32)))


@pytest.fixture(scope="module")
def three_days(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of three volumes, with an award that is pending at the first border and paid behind it."""
    folder = tmp_path_factory.mktemp("days") / "ledger"
    create_with(folder, opening())
    shift = Shift(folder)
    shift.play(*a_few_rounds(), *open_round())
    shift.end_day(1)
    shift.play(*rest_of_round(next(iter(shift.book.open_awards))))
    shift.end_day(2)
    shift.play(*open_round())
    shift.store.close()
    return folder


@pytest.fixture
def ledger(three_days: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "ledger"
    shutil.copytree(three_days, copy, symlinks=True)
    return copy


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "meterd", "ledger", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_ledger_that_goes_on_from_a_checkpoint_is_proved_to(ledger: Path) -> None:
    """Checkpoints of each volume's end and of now hold, and hold on when more entries come."""
    sizes = [record.seq for record in read_records(ledger) if record.kind == "DayRead"]
    kept = [_at(ledger, size) for size in sizes]
    shift = Shift(ledger)
    now = shift.standing.checkpoint
    shift.play(*rest_of_round(next(iter(shift.book.open_awards))))
    shift.end_day(3)
    shift.store.close()
    report = verify(ledger, since=[*kept, now])
    assert report.ok, report.first_bad
    assert (*sizes, now.size) == report.since


def _at(folder: Path, size: int) -> Checkpoint:
    proof = prove(folder, 1, size)
    return Checkpoint(proof["origin"], size, bytes.fromhex(proof["root"]))


def test_a_ledger_cut_off_cleanly_is_found_by_its_checkpoint_alone(ledger: Path) -> None:
    """Without one it holds; with one the first missing entry is named; no daemon starts on it."""
    keep(checkpoint_now(ledger), KEY, [ledger])
    kept = remembered([ledger])
    size = kept[-1].checkpoint.size
    last = volume.volumes(ledger)[-1]
    with closing(sqlite3.connect(last)) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("DELETE FROM posting WHERE seq = ?", (size,))
        connection.execute("DELETE FROM entry WHERE seq = ?", (size,))
        for _, sql in triggers:
            connection.execute(sql)
        connection.commit()
    assert verify(ledger).ok
    report = verify(ledger, since=[kept[-1].checkpoint])
    assert report.first_bad is not None
    assert size == report.first_bad.seq
    assert "it is missing" in report.first_bad.reason
    with closing(Store.open(ledger)) as store, pytest.raises(LedgerError, match=f"ends at entry {size - 1}, but"):
        require_not_shorter(store.seq, kept)


def test_a_ledger_written_anew_is_another(ledger: Path, tmp_path: Path) -> None:
    """The same acts in a new ledger: longer than the checkpoint, sound in itself, and not what it was made of."""
    kept = checkpoint_now(ledger)
    other = tmp_path / "other"
    create_with(other, opening())
    shift = Shift(other)
    shift.play(*a_few_rounds(), *open_round(), *a_few_rounds())
    shift.store.close()
    report = verify(other, since=[kept])
    assert report.first_bad is not None
    assert "another ledger" in report.first_bad.reason
    forged = Checkpoint(checkpoint_now(other).origin, 20, kept.root)
    report = verify(other, since=[forged])
    assert report.first_bad is not None
    assert "not those that the checkpoint was made of" in report.first_bad.reason
    with closing(Store.open(other)) as store:
        with pytest.raises(LedgerError, match="the first 20 entries are not those of"):
            open_standing(store, {20: kept.root})
        standing = open_standing(store)
    keep(kept, KEY, [other])
    with pytest.raises(LedgerError, match="this ledger is meterd/riverside/"):
        require_same(standing, remembered([other]))


def test_a_checkpoint_is_kept_once_and_in_both_places(ledger: Path, tmp_path: Path) -> None:
    """Again the same is nothing; another of that size is refused; a file that is none is not ignored."""
    second = tmp_path / "second"
    second.mkdir()
    made = checkpoint_now(ledger)
    path = keep(made, KEY, [ledger, second])
    assert path == keep(made, KEY, [ledger, second])
    name = f"checkpoint-{made.size}.txt"
    assert (ledger / name).read_bytes() == (second / name).read_bytes()
    assert (KEY.public,) == read_checkpoint(path, [str(KEY.public)]).signers
    with pytest.raises(LedgerError, match="other entries"):
        keep(made._replace(root=bytes(32)), KEY, [second])
    (second / "checkpoint-7.txt").write_text("7\n")
    with pytest.raises(LedgerError, match="checkpoint-7"):
        remembered([second])


def test_a_keeper_does_it_in_its_own_thread(ledger: Path, tmp_path: Path) -> None:
    """A second folder that is gone is told in the log and keeps nothing from the first."""
    made = checkpoint_now(ledger)
    keeper = Keeper(KEY, [tmp_path / "gone", ledger])
    keeper._keep(made, KEY)
    assert [made] == [kept.checkpoint for kept in remembered([ledger])]
    Keeper(None, [ledger]).take(made)


def test_a_key_comes_into_force_by_two_people(ledger: Path, tmp_path: Path) -> None:
    """By an entry; a daemon with another key does not start; an older key still verifies what it signed."""
    new_key_file(tmp_path / "a", "one")
    new_key_file(tmp_path / "b", "two")
    one, two = read_key(tmp_path / "a"), read_key(tmp_path / "b")
    with pytest.raises(MisuseError, match="SAME_PERSON"):
        put_in_force(ledger, one.public, first="adm-1", second="adm-1", reference="K-1")
    put_in_force(ledger, one.public, first="adm-1", second="acc-1", reference="K-1")
    with closing(Store.open(ledger)) as store:
        book = open_standing(store).book
    require_key_in_force(book, one)
    require_key_in_force(book, None)
    with pytest.raises(ConfigError, match="ledger key adopt"):
        require_key_in_force(book, two)
    put_in_force(ledger, two.public, first="adm-1", second="acc-1", reference="K-2")
    with closing(Shift(ledger).store) as store:
        assert (str(one.public), str(two.public)) == open_standing(store).book.keys
    shift = Shift(ledger)
    shift.end_day(3)
    assert (str(one.public), str(two.public)) == shift.book.keys
    shift.store.close()
    assert verify(ledger).ok


def test_every_entry_is_proved_up_to_the_end_and_to_its_own_day(ledger: Path) -> None:
    """A proof alone says what stood there: hash, path, root; for each entry, by two sizes of the tree."""
    records = list(read_records(ledger))
    sizes = [record.seq for record in records if record.kind == "DayRead"]
    for record in records:
        for size in (None, next((one for one in sizes if one >= record.seq), None)):
            proof = prove(ledger, record.seq, size)
            told = proof["entry"]
            again = Record(
                *[told[name] for name in Record._fields[:12]],
                bytes.fromhex(told["prev"]),
                bytes.fromhex(told["hash"]),
                tuple((account, amount) for account, amount in told["postings"]),
            )
            assert record == again
            path = [bytes.fromhex(node) for node in proof["path"]]
            root = bytes.fromhex(proof["root"])
            assert included(entry_hash(again), proof["leaf_index"], proof["tree_size"], path, root)
    with pytest.raises(MisuseError, match="no entry"):
        prove(ledger, len(records) + 1)


def test_how_it_stood_behind_each_entry(ledger: Path) -> None:
    """The state behind every entry is that of the fold up to it, whichever volume it lies in."""
    for record in read_records(ledger):
        found = as_it_stood(standing_at(ledger, record.seq), ledger)
        assert record.seq == found["seq"]
        assert 0 == found["residual_microcents"]
        for key, level in json.loads(record.body).get("levels", {}).items():
            link, _, name = key.partition("/")
            assert level["display_microcents"] == found["links"][link]["levels"][name]["display_microcents"]


def test_the_rules_decide_every_entry_again(ledger: Path) -> None:
    """All of it but a refused LOCK and first entries; a share of a cent too much is named with its account."""
    judging = Judging()
    report = verify(ledger, judge=judging.judge)
    assert report.ok, report.first_bad
    assert {"BookCarried", "Refused"} == set(judging.not_again)
    assert report.entries == judging.again.total() + judging.not_again.total()


def test_an_entry_the_rules_would_not_have_written_is_named(tmp_path: Path) -> None:
    """A ledger hashed and folded without a fault, whose increment was ten cents too high: only the rules tell."""
    folder = tmp_path / "ledger"
    create_with(folder, opening())
    shift = Shift(folder)
    rules = shift.book.links["nexus"].rules.levels["mega"]
    object.__setattr__(rules, "increment_ppm", rules.increment_ppm + 100_000)
    shift.play(*a_few_rounds()[:3])
    shift.store.close()
    assert verify(folder).ok
    report = verify(folder, judge=Judging().judge)
    assert report.first_bad is not None
    assert "meter/nexus/mega" in report.first_bad.reason


def test_the_verbs(ledger: Path, tmp_path: Path) -> None:
    """From a key to a proof that a stranger can check, with the documented exit codes."""
    made = run("key", "new", tmp_path / "key", "--name", "riverside")
    public = made.stdout.strip()
    assert public == run("key", "show", tmp_path / "key").stdout.strip()
    assert 78 == run("key", "new", tmp_path / "key").returncode
    assert 78 == run("checkpoint", ledger).returncode
    told: Any = json.loads(run("checkpoint", ledger, "--key", tmp_path / "key", "--json").stdout)
    assert public == told["key"]
    shown = run("checkpoint", ledger, "--key", tmp_path / "key")
    assert (shown.stdout, f"kept: {told['path']}\n") == (Path(told["path"]).read_text(), shown.stderr)
    since = run("verify", ledger, "--since", told["path"], "--key", public, "--rules", "--json")
    assert (0, "") == (since.returncode, since.stderr)
    assert [told["size"]] == json.loads(since.stdout)["since"]
    assert 1 == run("verify", ledger, "--since", told["path"], "--key", str(KEY.public)).returncode
    proof = json.loads(run("prove", ledger, 12).stdout)
    note = parse_note(proof["checkpoint"])
    assert signed_by(note, [parse_key(public)], signature_holds)
    assert (proof["tree_size"], proof["root"]) == (told["size"], parse_checkpoint(note.text).root.hex())
    assert 2 == run("prove", ledger, 9999).returncode
    lines = run("export", ledger).stdout.splitlines()
    assert [record.seq for record in read_records(ledger)] == [json.loads(line)["seq"] for line in lines]
    rows = run("export", ledger, "--format", "csv", "--from", 8, "--to", 9).stdout.splitlines()
    assert {"seq", "8", "9"} == {row.partition(",")[0] for row in rows}
    assert lines[-1] == run("tail", ledger, "-n", 1, "--json").stdout.strip()
    assert 20 == json.loads(run("at", ledger, 20, "--json").stdout)["seq"]
    by_time = json.loads(run("at", ledger, "2031-01-01", "--json").stdout)
    assert len(lines) == by_time["seq"]
    assert (2, 2) == (run("at", ledger, "1999-01-01").returncode, run("at", ledger, "noon").returncode)
