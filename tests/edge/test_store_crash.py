from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from crash_replay import TRACED, Acked, Event, Synced, Wrote, crash, read_trace
from store_rows import acked, draft, new_ledger

from meterd.edge.store import Store
from meterd.errors import LedgerError
from meterd.ledger.record import Draft
from meterd.ledger.verify import check_chain

CHILD = str(Path(__file__).with_name("store_rows.py"))
STATES = 400


def _examine(folder: Path, told: int) -> str | None:
    """What a crash did to a ledger that must hold at least the entries told, each as it was committed."""
    try:
        store = Store.open(folder)
    except LedgerError as error:
        return f"does not open: {error}"
    try:
        records = list(store.records())
    except LedgerError as error:
        return f"cannot be read: {error}"
    finally:
        store.close()
    report = check_chain(records)
    if report.first_bad is not None:
        return f"entry {report.first_bad.seq}: {report.first_bad.reason}"
    if report.entries < told:
        return f"{told} entries were acknowledged, {report.entries} are there"
    if any(Draft(*record[1:12], record.postings) != draft(record.seq) for record in records):
        return "an entry is not the one that was committed"
    return None


@pytest.mark.parametrize("seed", [1])
def test_kill_9_loses_nothing_acknowledged(tmp_path: Path, seed: int) -> None:
    """A committing child is killed twelve times at random; every entry it had told is there, and the chain holds."""
    print(f"seed {seed}")
    draw = random.Random(seed)
    folder = tmp_path / "ledger"
    new_ledger(folder)
    told = 1
    for _ in range(12):
        command = [sys.executable, CHILD, str(folder), "FULL", "1000000", str(draw.choice([1, 3, 17]))]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            lines = [child.stdout.readline() for _ in range(draw.randint(1, 30))]
            os.kill(child.pid, signal.SIGKILL)
            lines += child.stdout.readlines()
        told = max(told, acked("".join(line for line in lines if line.endswith("\n"))))
        assert _examine(folder, told) is None
    assert told > 12


def _trace(tmp_path: Path, synchronous: str) -> tuple[dict[str, bytes], list[Event]]:
    """What a committing child did to its files, and the files before."""
    folder = (tmp_path / "traced").resolve()
    new_ledger(folder)
    Store.open(folder).close()  # once in WAL mode, the file says so
    base = {"ledger-1.db": (folder / "ledger-1.db").read_bytes()}
    log = tmp_path / "trace"
    strace = [
        "strace",
        "-f",
        "-xx",
        "-y",
        "-s",
        "9999999",
        "-e",
        "signal=none",
        "-e",
        f"trace={TRACED}",
        "-o",
        str(log),
    ]
    command = [*strace, sys.executable, CHILD, str(folder), synchronous, "150", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert "done" in done.stdout
    with log.open(encoding="ascii") as lines:
        return base, list(read_trace(lines, folder, set(base)))


def _replay(tmp_path: Path, base: dict[str, bytes], events: list[Event], seed: int) -> list[str]:
    """Examine many crash states; what was wrong with those that did not hold."""
    print(f"seed {seed}, {len(events)} events, {STATES} states")
    draw = random.Random(seed)
    wrong = []
    for n in range(STATES):
        state = crash(base, events, draw.randint(1, len(events)), draw, {"ledger.db": "ledger-1.db"})
        folder = tmp_path / f"state-{n}"
        state.write(folder)
        found = _examine(folder, state.acked)
        if found is not None:
            wrong.append(f"state {n}: {found}")
    return wrong


@pytest.mark.peer
def test_power_cuts_lose_nothing_acknowledged(tmp_path: Path) -> None:
    """Whatever unsynced sectors a power cut keeps, each acknowledged entry is there and the chain holds."""
    base, events = _trace(tmp_path, "FULL")
    assert any(isinstance(event, Wrote) and event.name == "ledger-1.db" for event in events), "no checkpoint was traced"
    assert sum(isinstance(event, Acked) for event in events) <= sum(isinstance(event, Synced) for event in events)
    assert [] == _replay(tmp_path, base, events, seed=20261130)


@pytest.mark.peer
def test_the_same_cuts_without_syncs_do_lose(tmp_path: Path) -> None:
    """The control: with synchronous=OFF the same examination finds acknowledged entries lost."""
    base, events = _trace(tmp_path, "OFF")
    wrong = _replay(tmp_path, base, events, seed=20261130)
    assert any("were acknowledged" in words for words in wrong)
    print(f"{len(wrong)} of {STATES} states do not hold without syncs, such as {wrong[0]}")
