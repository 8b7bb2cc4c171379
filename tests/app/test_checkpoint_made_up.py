"""A day's checkpoint that its run did not come to is made at the next start, or behind the next reading."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from test_volumes import Shift
from verify_ledger import a_few_rounds, opening

from meterd import second_verifier
from meterd.app.checkpoints import Keeper, keep, keeper_for, read_checkpoint, remembered
from meterd.app.compose import Daemon, Places
from meterd.app.create import create_ledger, create_with
from meterd.app.demo_floor import site_text
from meterd.app.key_change import put_in_force
from meterd.app.past import prove
from meterd.app.verify import verify
from meterd.app.volumes import open_standing
from meterd.config import load_site
from meterd.edge.catalogue import catalogue
from meterd.edge.keys import SigningKey
from meterd.edge.store import Store, read_records

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


def started(folder: Path, *folders: Path) -> None:
    """What a start does about checkpoints."""
    with closing(Store.open(folder)) as store:
        standing = open_standing(store)
        keeper_for(store, standing, KEY, folders, remembered(folders))
    for thread in threading.enumerate():
        if thread.name == "checkpoint":
            thread.join(LIMIT_S)


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
    started(ledger, ledger, second)
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
    for thread in threading.enumerate():
        if thread.name == "checkpoint":
            thread.join(LIMIT_S)
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
    assert {"owed": 0, "unsigned": 1, "kept_at_s": None} == unsigned.state()
