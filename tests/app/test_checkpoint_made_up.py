"""A day's checkpoint that its run did not come to is made at the next start, or behind the next reading."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from forging import write_anew
from test_volumes import Shift
from verify_ledger import a_few_rounds, opening

from meterd import second_verifier
from meterd.app import checkpoints
from meterd.app.checkpoints import Keeper, keep, keeper_for, read_checkpoint, remembered
from meterd.app.compose import Daemon, Places
from meterd.app.create import create_ledger, create_with
from meterd.app.demo_floor import site_text
from meterd.app.key_change import put_in_force
from meterd.app.past import checkpoint_now, prove
from meterd.app.verify import verify
from meterd.app.volumes import open_standing
from meterd.config import load_site
from meterd.edge import volume
from meterd.edge.catalogue import catalogue
from meterd.edge.keys import SigningKey
from meterd.edge.store import Store, read_records
from meterd.errors import LedgerError
from meterd.ledger.canonical import canonical, parse
from meterd.ledger.chain import seal
from meterd.ledger.merkle import Tree
from meterd.ledger.note import Checkpoint
from meterd.ledger.record import Draft, Record

KEY = SigningKey("riverside", bytes(range(32)))
LIMIT_S = 20

#: Ends the day on a ledger and dies: behind the reading, behind the new volume, or behind the first of two files.
DIES = """
import os, signal, sys
sys.path[:0] = sys.argv[1].split(os.pathsep)
from pathlib import Path
from test_volumes import Shift
from test_checkpoint_made_up import KEY
from meterd.app import checkpoints, commit
step, folder, second = sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4])
die = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
kept = checkpoints.keep
if step == "reading":
    commit.Committer.begin_volume = die
elif step == "volume":
    checkpoints.keep = die
else:
    checkpoints.keep = lambda made, key, where: kept(made, key, where) if folder in where else die()
shift = Shift(folder)
checkpoints.Keeper(KEY, [folder, second])._keep(shift.end_day(1), KEY)
"""


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    folder = tmp_path / "ledger"
    create_with(folder, opening())
    put_in_force(folder, KEY.public, first="adm-1", second="acc-1", reference="K-1")
    shift = Shift(folder)
    shift.play(*a_few_rounds())
    shift.store.close()
    return folder


def started(folder: Path, *folders: Path, key: SigningKey = KEY) -> dict[str, Any]:
    """What a start does about checkpoints."""
    with closing(Store.open(folder)) as store:
        kept = remembered(folders)
        standing = open_standing(store, {one.checkpoint.size: one.checkpoint.root for one in kept})
        keeper = keeper_for(store, standing, key, folders, kept)
    _wait()
    return keeper.state()


def _wait() -> None:
    for thread in threading.enumerate():
        if thread.name == "checkpoint":
            thread.join(LIMIT_S)
            assert not thread.is_alive()


def _forge_tree(folder: Path) -> Callable[[], None]:
    """Let the open volume follow entries that never were; gives back how to undo it."""
    path = volume.volumes(folder)[-1]
    true = path.read_bytes()
    forged, tree = [], Tree()
    records = list(read_records(path))
    for n in range(records[0].seq - 1):
        tree.append(bytes([n % 256]) * 32)
    for record in records:
        body = parse(record.body)
        if record.kind == "BookCarried":
            nodes = [node.hex() for node in tree.frontier]
            body["tree"] = {"size": tree.size, "root": tree.root().hex(), "frontier": nodes}
        seq, head = (forged[-1].seq + 1, forged[-1].hash) if forged else (record.seq, record.prev)
        forged.append(seal(Draft(*record._replace(body=canonical(body))[1:12], record.postings), seq, head))
    write_anew(path, forged)
    return lambda: bool(path.write_bytes(true)) and None


@pytest.mark.parametrize("step", ["reading", "volume", "first file"])
def test_killed_before_the_file_was_there(ledger: Path, tmp_path: Path, step: str) -> None:
    """Between the day's reading and its checkpoint: after the next start it is there, in both places, and right."""
    second = tmp_path / "second"
    second.mkdir()
    places = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    command = [sys.executable, "-c", DIES, places, step, str(ledger), str(second)]
    died = subprocess.run(command, capture_output=True, text=True, check=False)
    assert -signal.SIGKILL == died.returncode, died.stderr
    reading = next(record.seq for record in read_records(ledger) if record.kind == "DayRead")
    assert (step == "first file") == (ledger / f"checkpoint-{reading}.txt").exists()
    assert (0, 0 if step == "first file" else 2) == itemgetter("owed", "made_up")(started(ledger, ledger, second))
    assert 0 == started(ledger, ledger, second)["made_up"]
    for folder in (ledger, second):
        (kept,) = remembered([folder])
        assert (reading, prove(ledger, 1, reading)["root"]) == (kept.checkpoint.size, kept.checkpoint.root.hex())
        assert (KEY.public,) == read_checkpoint(kept.path, [str(KEY.public)]).signers
    notes = [second / f"checkpoint-{reading}.txt"]
    assert verify(ledger, notes=notes).ok
    assert second_verifier.check([ledger], notes)["ok"]


def test_a_start_makes_nothing_that_is_there_or_that_nobody_signs(ledger: Path) -> None:
    """No reading yet, no key, or a file of another key that says the same: left as it is."""
    started(ledger, ledger)
    assert [] == remembered([ledger])
    shift = Shift(ledger)
    made = shift.end_day(1)
    shift.store.close()
    Keeper(None, [ledger]).make_up(made, [])
    assert [] == remembered([ledger])
    keep(made, SigningKey("older", bytes(32)), [ledger])
    before = (ledger / f"checkpoint-{made.size}.txt").read_bytes()
    started(ledger, ledger)
    assert before == (ledger / f"checkpoint-{made.size}.txt").read_bytes()


def test_what_a_folder_lacks_is_made_behind_the_next_reading(ledger: Path, tmp_path: Path) -> None:
    """The second folder was away at the first reading and is back at the second."""
    second = tmp_path / "second"
    keeper = Keeper(KEY, [ledger, second])
    shift = Shift(ledger)
    first = shift.end_day(1)
    keeper._keep(first, KEY)
    second.mkdir()
    later = shift.end_day(2)
    keeper._keep(later, KEY)
    shift.store.close()
    for folder in (ledger, second):
        assert [first, later] == [kept.checkpoint for kept in remembered([folder])]


def test_the_daemon_makes_it_when_it_starts(tmp_path: Path) -> None:
    """From the unit's key, before the first entry of the new run."""
    text = site_text(tmp_path / "ports", 100, 9477)
    site = load_site(text, "site.toml", catalogue())
    folder = tmp_path / "ledger"
    create_ledger(folder, site, demo=True)
    put_in_force(folder, KEY.public, first="adm-1", second="acc-1", reference="K-1")
    shift = Shift(folder)
    made = shift.end_day(1)
    shift.store.close()
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy, symlinks=True)
    daemon = Daemon(site, text, Places(folder, tmp_path / "socket", tmp_path / "memory"), demo=True, key=KEY)
    _wait()
    daemon._store.close()
    assert [made] == [kept.checkpoint for kept in remembered([folder])]
    assert prove(copy, 1, made.size)["root"] == made.root.hex()


def test_what_is_owed_and_when_it_was_kept_is_told(ledger: Path, tmp_path: Path) -> None:
    """For alerts: a folder that takes nothing, a reading that nobody signed, the time of the newest file at a start."""
    second = tmp_path / "second"
    shift = Shift(ledger)
    made = shift.end_day(1)
    shift.store.close()
    keeper = Keeper(KEY, [ledger, second])
    began_s = keeper.state()["kept_at_s"]
    keeper._keep(made, KEY)
    state = keeper.state()
    assert (1, 0, True) == (state["owed"], state["unsigned"], state["kept_at_s"] >= began_s)
    second.mkdir()
    keeper._keep(made, KEY)
    assert 0 == keeper.state()["owed"]
    (kept,) = remembered([second])
    os.utime(kept.path, (1_000_000_000, 1_000_000_000))
    again = Keeper(KEY, [second])
    again.make_up(None, [kept])
    assert 1_000_000_000 == again.state()["kept_at_s"]
    unsigned = Keeper(None, [ledger])
    unsigned.take(made)
    assert {"owed": 0, "unsigned": 1, "made_up": 0, "kept_at_s": None} == unsigned.state()


def test_one_that_no_key_of_the_ledger_signed_is_none(ledger: Path, tmp_path: Path) -> None:
    """The right text under a stranger's name, and of a time to come: it stays, is owed, and counts for no moment."""
    shift = Shift(ledger)
    made = shift.end_day(1)
    shift.store.close()
    path = ledger / f"checkpoint-{made.size}.txt"
    theirs = SigningKey("nobody", bytes(range(1, 33))).sign_note(made.text)
    path.write_text(theirs, encoding="utf-8")
    os.utime(path, (4_000_000_000, 4_000_000_000))
    second = tmp_path / "second"
    second.mkdir()
    state = started(ledger, ledger, second)
    assert 1 == state["owed"]
    assert 4_000_000_000 > state["kept_at_s"]
    assert theirs == path.read_text(encoding="utf-8")
    (kept,) = remembered([second])
    assert (KEY.public,) == read_checkpoint(kept.path, [str(KEY.public)]).signers


def test_a_history_that_the_volumes_do_not_bear_out_is_not_signed(ledger: Path) -> None:
    """The open volume is forged to follow invented entries, the last checkpoint is gone: this run signs nothing."""
    shift = Shift(ledger)
    keep(shift.end_day(1), KEY, [ledger])
    shift.play(*a_few_rounds()[:3])
    last = shift.end_day(2)
    shift.store.close()
    true = _forge_tree(ledger)
    with closing(Store.open(ledger)) as store:
        standing = open_standing(store)
        keeper = keeper_for(store, standing, KEY, [ledger], remembered([ledger]))
        _wait()
        assert 1 == keeper.state()["owed"]
        keeper.take(standing.checkpoint)
        _wait()
    assert 1 == len(remembered([ledger]))
    true()
    assert 0 == started(ledger, ledger)["owed"]
    assert last in [kept.checkpoint for kept in remembered([ledger])]


def test_volumes_that_are_not_at_hand_bear_nothing_out(ledger: Path) -> None:
    """Nothing is signed of them by itself; whoever verified the ledger elsewhere signs it by hand."""
    shift = Shift(ledger)
    shift.end_day(1)
    shift.store.close()
    (ledger / "ledger-1.db").rename(ledger.parent / "ledger-1.db")
    assert 1 == started(ledger, ledger)["owed"]
    assert [] == remembered([ledger])
    keep(checkpoint_now(ledger), KEY, [ledger])
    assert 0 == started(ledger, ledger)["owed"]
    assert 2 == len(remembered([ledger]))


NEXT = SigningKey("riverside-2", bytes(range(5, 37)))


def _three_days(ledger: Path, keeps: int) -> list[Checkpoint]:
    """Three readings, the first of them kept by the key in force; then another key, and the first volume elsewhere."""
    shift, made = Shift(ledger), []
    for day in (1, 2, 3):
        made.append(shift.end_day(day))
        shift.play(*a_few_rounds()[:3])
    shift.store.close()
    for one in made[:keeps]:
        keep(one, KEY, [ledger])
    put_in_force(ledger, NEXT.public, first="adm-1", second="acc-1", reference="K-2")
    (ledger / "ledger-1.db").rename(ledger.parent / "ledger-1.db")
    return made


@pytest.mark.parametrize("keeps", [3, 2])
def test_what_a_key_signed_while_it_was_in_force_counts_behind_a_change_of_keys(ledger: Path, keeps: int) -> None:
    """The first volume is elsewhere, as it was before the change: this reading and the next are signed."""
    made = _three_days(ledger, keeps)
    assert 0 == started(ledger, ledger, key=NEXT)["owed"]
    shift = Shift(ledger)
    made.append(shift.end_day(4))
    shift.store.close()
    assert 0 == started(ledger, ledger, key=NEXT)["owed"]
    assert made == [one.checkpoint for one in remembered([ledger])]
    assert (NEXT.public,) == read_checkpoint(ledger / f"checkpoint-{made[-1].size}.txt", [str(NEXT.public)]).signers


def test_a_key_that_was_not_in_force_yet_or_any_more_counts_for_nothing(ledger: Path) -> None:
    """A retired key is used on: what it signs of a later reading proves nothing."""
    _three_days(ledger, 0)
    shift = Shift(ledger)
    last = shift.end_day(4)
    shift.store.close()
    keep(last, KEY, [ledger])
    assert 1 == started(ledger, ledger, key=NEXT)["owed"]
    assert 1 == len(remembered([ledger]))


def test_a_retired_key_counts_up_to_the_first_signature_of_the_one_in_force(ledger: Path) -> None:
    """Behind that it was no longer in force, whatever an open volume says of it."""
    made = _three_days(ledger, 3)
    (ledger / f"checkpoint-{made[1].size}.txt").unlink()
    keep(made[1], NEXT, [ledger])
    names = [str(KEY.public), str(NEXT.public)]
    signed = [read_checkpoint(one.path, names) for one in remembered([ledger])]
    with closing(Store.open(ledger)) as store:
        book = open_standing(store).book
    assert [made[1], made[0]] == checkpoints._proofs(ledger, book, NEXT.public, signed)
    assert [made[2]] == checkpoints._proofs(ledger, book, NEXT.public, [signed[0], signed[2]])


def test_a_folder_that_is_new_gets_its_copy_and_nobody_is_alarmed(ledger: Path, tmp_path: Path) -> None:
    """The run that read the day signed it: the file that another folder lacked was not made in its place."""
    shift = Shift(ledger)
    keep(shift.end_day(1), KEY, [ledger])
    shift.store.close()
    second = tmp_path / "second"
    second.mkdir()
    assert (0, 0) == itemgetter("owed", "made_up")(started(ledger, ledger, second))
    assert 1 == len(remembered([second]))
    for path in (*ledger.glob("checkpoint-*"), *second.glob("checkpoint-*")):
        path.unlink()
    assert 2 == started(ledger, ledger, second)["made_up"]


def test_a_kept_checkpoint_that_says_otherwise_is_heard(ledger: Path) -> None:
    """One of a size inside the sealed volume, whoever signed it."""
    shift = Shift(ledger)
    made = shift.end_day(1)
    shift.store.close()
    other = Checkpoint(made.origin, made.size - 2, made.root)
    (ledger / f"checkpoint-{other.size}.txt").write_text(KEY.sign_note(other.text), encoding="utf-8")
    assert 1 == started(ledger, ledger)["owed"]


def test_what_is_owed_is_not_forgotten_by_an_unforeseen_fault(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is tried again behind the next reading."""
    shift = Shift(ledger)
    first = shift.end_day(1)
    second = shift.end_day(2)
    shift.store.close()
    keeper = Keeper(KEY, [ledger])

    def breaks(*_: object) -> Path:
        raise RuntimeError("unforeseen")

    with monkeypatch.context() as patched:
        patched.setattr("meterd.app.checkpoints.keep", breaks)
        keeper._keep(first, KEY)
    assert 1 == keeper.state()["owed"]
    keeper._keep(second, KEY)
    assert 0 == keeper.state()["owed"]
    assert [first, second] == [kept.checkpoint for kept in remembered([ledger])]


def test_a_start_keeps_nothing_and_so_is_no_moment_of_keeping(ledger: Path) -> None:
    """Where no checkpoint lies, the open volume's beginning counts, whatever the number of restarts."""
    began = next(read_records(ledger)).at_utc
    with closing(Store.open(ledger)) as store:
        keeper = keeper_for(store, open_standing(store), KEY, [ledger], [])
    assert min(time.time(), datetime.fromisoformat(began).timestamp()) == pytest.approx(
        keeper.state()["kept_at_s"], abs=LIMIT_S
    )


def test_a_volume_that_begins_with_another_book_than_was_read_is_not_gone_on_with(ledger: Path) -> None:
    """The checkpoint of the reading ends before that book: a start holds it against the reading itself."""
    shift = Shift(ledger)
    keep(shift.end_day(1), KEY, [ledger])
    shift.store.close()
    path = volume.volumes(ledger)[-1]
    forged: list[Record] = []
    for record in list(read_records(path)):
        body = parse(record.body)
        if record.kind == "BookCarried":
            body["balances"]["meter/nexus/mega"] += 1_000_000
            body["balances"]["drop/T1"] -= 1_000_000
            body["levels"]["nexus/mega"]["display_microcents"] += 1_000_000
        seq, head = (forged[-1].seq + 1, forged[-1].hash) if forged else (record.seq, record.prev)
        forged.append(seal(Draft(*record._replace(body=canonical(body))[1:12], record.postings), seq, head))
    write_anew(path, forged)
    with pytest.raises(LedgerError, match="it does not carry on levels of the reading before it"):
        started(ledger, ledger)
