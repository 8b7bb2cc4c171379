from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from store_rows import acked, following, new_ledger

from meterd.edge.store import Store
from meterd.errors import InvariantBroken
from meterd.ledger.verify import check_chain

CHILD = str(Path(__file__).with_name("store_rows.py"))


def _run(folder: Path, *before: str, limit: Callable[[], None] | None = None) -> str:
    """What a child told that commits 60 entries, one by one, while something fails."""
    command = [*before, sys.executable, CHILD, str(folder), "FULL", "60", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, preexec_fn=limit)
    return done.stdout


def _check_afterwards(folder: Path, told: str) -> None:
    """The failure was told as unknown, nothing was taken after it, and what was acknowledged is there."""
    assert "failed" in told
    assert "done" not in told
    if "cannot be opened" not in told:
        assert "outcome is unknown" in told or "a checkpoint failed" in told
        assert "refused" == told.splitlines()[-1]
    with closing(Store.open(folder)) as store:
        assert store.seq - max(1, acked(told)) in {0, 1}
        assert check_chain(store.records()).first_bad is None


@pytest.mark.peer
@pytest.mark.parametrize("when", [2, 3, 5, 8, 20])
@pytest.mark.parametrize(
    "fault",
    ["fdatasync:error=EIO:when={}+", "pwrite64:error=EIO:when={}+", "pwrite64:error=ENOSPC:when={}+"],
)
def test_a_failing_disk_is_an_unknown_outcome(tmp_path: Path, fault: str, when: int) -> None:
    """A sync or a write fails at the n-th call: the commit is unknown, no later one is taken, nothing told is lost."""
    new_ledger(tmp_path)
    told = _run(tmp_path, "strace", "-f", "-o", "/dev/null", "-e", f"inject={fault.format(when)}")
    _check_afterwards(tmp_path, told)


@pytest.mark.peer
def test_one_failing_sync_is_enough(tmp_path: Path) -> None:
    """Only one sync fails, and all later ones would succeed: still nothing more is taken."""
    new_ledger(tmp_path)
    told = _run(tmp_path, "strace", "-f", "-o", "/dev/null", "-e", "inject=fdatasync:error=EIO:when=10")
    assert "outcome is unknown" in told
    _check_afterwards(tmp_path, told)


@pytest.mark.peer
def test_the_folder_must_be_synced(tmp_path: Path) -> None:
    """SQLite ignores a folder that cannot be synced, so that a new WAL could vanish; the store does not."""
    new_ledger(tmp_path)
    told = _run(tmp_path, "strace", "-f", "-o", "/dev/null", "-e", "inject=fsync:error=EIO:when=1")
    assert "cannot be opened" in told
    _check_afterwards(tmp_path, told)


def test_a_full_disk_is_an_unknown_outcome(tmp_path: Path) -> None:
    """Files may not grow any more, in the middle of a commit: the same."""
    path = new_ledger(tmp_path)
    room = path.stat().st_size + 200_000
    told = _run(tmp_path, limit=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)))
    assert acked(told) > 2
    _check_afterwards(tmp_path, told)


def test_a_ledger_that_failed_is_left_as_it_is(tmp_path: Path) -> None:
    """SQLite would move the WAL into the file as the last connection closes; after a failure only a start may."""
    path = new_ledger(tmp_path)
    store = Store.open(tmp_path)
    for _ in range(5):
        store.commit(following(store, 1))
    twice = following(store, 1)[0]._replace(event_id="pit-1/40/di7:1:2")
    with pytest.raises(InvariantBroken):
        store.commit([twice])
    files = {file: file.read_bytes() for file in (path, path.with_name(path.name + "-wal"))}
    store.close()
    assert files == {file: file.read_bytes() for file in files}
    with closing(Store.open(tmp_path)) as again:
        assert 6 == again.seq
    assert not path.with_name(path.name + "-wal").exists(), "closed well, all of it is in the file"
