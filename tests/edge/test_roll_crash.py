"""Crashes and failing disks while gaming days end: nothing told is lost, and what was cut short is finished."""

from __future__ import annotations

import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from crash_replay import TRACED, Acked, Event, Linked, Made, Moved, crash, read_trace
from roll_rows import Shift, acked, examine, in_a_roll, new_ledger, seeded

from meterd.edge import volume

CHILD = str(Path(__file__).with_name("roll_rows.py"))
BEFORE = 73  # entries of a ledger whose fifth day is nearly over: one more, then it ends
PLAYED = 24  # entries behind them, with two ends of a day
STATES = 300


@cache
def _nearly_over() -> TemporaryDirectory[str]:
    place = TemporaryDirectory(prefix="meterd-nearly-over-")
    ledger = Path(place.name) / "ledger"
    seeded(ledger)
    shift = Shift(ledger)
    while shift.store.seq < BEFORE:
        shift.step(1)
    assert BEFORE == shift.store.seq
    shift.store.close()
    return place


def nearly_over(folder: Path) -> None:
    """A ledger of a few days, closed well."""
    shutil.copytree(Path(_nearly_over().name) / "ledger", folder, symlinks=True)


def play(folder: Path, *before: str, limit: Callable[[], None] | None = None) -> subprocess.CompletedProcess[str]:
    """A child that plays over two ends of a day, while something happens to it."""
    command = [*before, sys.executable, CHILD, str(folder), "FULL", str(PLAYED), "1"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, preexec_fn=limit)  # noqa: PLW1510


def traced(place: Path, synchronous: str) -> tuple[dict[str, bytes], dict[str, str], list[Event]]:
    """What a child did to its files over some days, and the files and links before."""
    folder = (place / "traced").resolve()
    seeded(folder)
    Shift(folder).store.close()  # once in WAL mode, the file says so
    base = {path.name: path.read_bytes() for path in volume.volumes(folder)}
    links = {volume.LINK: str((folder / volume.LINK).readlink())}
    log = place / "trace"
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
    command = [*strace, sys.executable, CHILD, str(folder), synchronous, "80", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert "done" in done.stdout, done.stdout[-500:]
    with log.open(encoding="ascii") as lines:
        return base, links, list(read_trace(lines, folder, {*base, *links, "lock"}))


def roll_spans(events: Sequence[Event]) -> list[range]:
    """Where a day ends: from the word of the last commit before its reading to the word that it is over."""
    told = [(n, event.seq) for n, event in enumerate(events) if isinstance(event, Acked)]
    return [range(n + 1, after + 1) for (n, seq), (after, then) in pairwise(told) if then == seq + 2]


@pytest.mark.parametrize("seed", [1])
def test_kill_9_while_days_end(tmp_path: Path, seed: int) -> None:
    """A child is killed a few times while a day ends: what it told is there, the day's end is finished, one chain."""
    print(f"seed {seed}")
    draw = random.Random(seed)
    folder = tmp_path / "ledger"
    seeded(folder)
    told = rolls = 0
    for _ in range(8):
        command = [sys.executable, CHILD, str(folder), "FULL", "1000000", "1"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            lines = [child.stdout.readline() for _ in range(draw.randint(1, 8))]
            while not lines[-1].startswith("rolling"):
                lines.append(child.stdout.readline())
            os.kill(child.pid, signal.SIGKILL)
            lines += child.stdout.readlines()
        output = "".join(line for line in lines if line.endswith("\n"))
        told = max(told, acked(output))
        rolls += in_a_roll(output)
        assert examine(folder, told, 1) is None
    assert told > 60
    assert rolls


def test_a_disk_that_fills_up_at_a_days_end(tmp_path: Path) -> None:
    """No file may grow beyond what the day's reading needs: the failure is told, and the next start ends the day."""
    outputs = []
    for room in range(32_768, 40_960, 2048):
        folder = tmp_path / f"room-{room}"
        nearly_over(folder)
        limit = (room, room)
        done = play(folder, limit=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))  # noqa: B023
        outputs.append(done.stdout)
        assert "failed" in done.stdout
        assert examine(folder, max(BEFORE, acked(done.stdout)), 1) is None
    assert any("no new volume could be begun" in output for output in outputs), outputs


@pytest.mark.peer
@pytest.mark.parametrize(
    ("call", "fault"),
    [
        ("fsync", "error=EIO:when={}"),
        ("pwrite64", "error=ENOSPC:when={}+"),
        ("rename", "error=EIO:when={}"),
        ("symlink", "error=ENOSPC:when={}"),
        ("fsync", "signal=KILL:when={}"),
        ("rename", "signal=KILL:when={}"),
    ],
)
def test_a_call_fails_at_a_days_end(tmp_path: Path, call: str, fault: str) -> None:
    """At each sync and rename of the first end of a day, and at some writes; ``bench/crash_matrix.py`` does all."""
    ledger, log = tmp_path / "counted", tmp_path / "trace"
    nearly_over(ledger)
    play(ledger, "strace", "-f", "-o", str(log), "-e", f"trace={call}")
    made = len(re.findall(rf" {call}\(", log.read_text()))
    assert made
    ends = 0
    for position in range(1, made + 1, max(1, made // 5)):
        ledger = tmp_path / f"struck-{position}"
        nearly_over(ledger)
        struck = ["-e", f"trace={call}", "-e", f"inject={call}:{fault.format(position)}"]
        done = play(ledger, "strace", "-f", "-o", "/dev/null", *struck)
        assert examine(ledger, max(BEFORE, acked(done.stdout)), 1) is None
        ends += in_a_roll(done.stdout)
    assert ends


@pytest.mark.peer
def test_power_cuts_over_ends_of_days(tmp_path: Path) -> None:
    """Whatever unsynced sectors and names a power cut keeps: what was told is there, and the day's end is finished."""
    base, links, events = traced(tmp_path, "FULL")
    assert {Made, Linked, Moved} <= {type(event) for event in events}
    spans = roll_spans(events)
    assert len(spans) > 3
    draw = random.Random(20261130)
    print(f"seed 20261130, {len(events)} events, {len(spans)} ends of a day, {STATES} states")
    for n in range(STATES):
        at = draw.choice(draw.choice(spans)) if n % 2 else draw.randint(1, len(events))
        state = crash(base, events, at, draw, links)
        state.write(tmp_path / f"state-{n}")
        assert examine(tmp_path / f"state-{n}", state.acked, 1) is None, (n, at)


@pytest.mark.peer
def test_the_same_cuts_without_syncs_are_found_to_lose(tmp_path: Path) -> None:
    """The control: with synchronous=OFF the same eye finds entries lost that were told."""
    base, links, events = traced(tmp_path, "OFF")
    draw = random.Random(20261130)
    found = []
    for n in range(STATES // 3):
        state = crash(base, events, draw.randint(1, len(events)), draw, links)
        state.write(tmp_path / f"state-{n}")
        found.append(examine(tmp_path / f"state-{n}", state.acked, 1))
    assert any(words is not None and "were acknowledged" in words for words in found)


def test_a_new_ledger_is_that_of_the_child(tmp_path: Path) -> None:
    """The eye looks at what it should: an undisturbed child's ledger passes, one entry less than told does not."""
    new_ledger(tmp_path / "fresh")
    ledger = tmp_path / "ledger"
    nearly_over(ledger)
    assert "done" in play(ledger).stdout
    assert examine(ledger, BEFORE + PLAYED, 1) is None
    wrong = examine(ledger, BEFORE + PLAYED + 3, 1)
    assert wrong is not None
    assert "were acknowledged" in wrong
