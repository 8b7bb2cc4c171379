"""What crashes and failing disks do to the ledger: rows acknowledged and lost, counted twice, corrupt.

    python bench/crash_matrix.py [--kills 100] [--states 1500] [--cuts 8] [--only NAME …] [--note TEXT]

A child plays at a table through the committer, ends a gaming day every few rounds (a reading, a new volume), and tells
each commit on a pipe when it returned. Rows of the table:

kill         kill -9 at random moments, half of them while a day ends; the ledger goes on from there
kill at      kill -9 at every sync, write and change of a name in turn, over two ends of a day
inject       one of them fails (EIO, ENOSPC) at every position in turn, once, and once with all later ones
replay       crash states: unsynced 512-byte sectors and names kept at random, from a trace of every call
power        the child is stopped, the disk below its file system is copied as it is, and the copy is mounted (root)

After each, the ledger is opened as a start would open it, which finishes an interrupted end of a day: everything told
is there, the entries are those of a run that nothing happened to (so none is lost, doubled or changed, and the chain
holds over all volumes), ``meterd ledger verify`` and the second verifier say so too. ``replay`` and ``power`` are done
with synchronous=NORMAL and OFF as well: controls, which must lose or break something, else the row proves nothing.

"in a roll" counts the runs that ended between the last entry of a day and the word that the next volume stands;
"unseen" those whose fault changed nothing that the child did: it told all of its commits. Those are SQLite's own syncs
of the folder, which it does not look at (the store syncs the folder itself behind each), and the names of an emptied
WAL, which it removes as it closes. Results are appended to ``bench/results/crash_matrix.jsonl``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "crash_matrix.jsonl"
sys.path[:0] = [str(HERE.parent / "tests" / "edge")]

from crash_replay import crash  # noqa: E402 - and their own disk
from roll_rows import acked, examine, in_a_roll, play, seeded  # noqa: E402 - the tests' own child and eye
from test_roll_crash import BEFORE, PLAYED, nearly_over, roll_spans, traced  # noqa: E402 - and their own trace

LOST = re.compile(r"were acknowledged")
KILLS_A_LEDGER = 12  # kills of one ledger; a longer one takes longer to look at than to kill
SYNCS = ("fdatasync", "fsync")
NAMES = ("ftruncate", "rename", "symlink", "unlink")


class Row(NamedTuple):
    """One line of the table."""

    name: str
    synchronous: str
    runs: int
    in_a_roll: int
    lost: int
    other: int
    acknowledged: int
    unseen: int = 0
    words: str = ""


class Tally:
    """What was found, run by run."""

    def __init__(self) -> None:
        self.runs = self.rolls = self.lost = self.other = self.told = self.unseen = 0
        self.words = ""

    def add(self, wrong: str | None, told: int, *, rolling: bool) -> None:
        """One run."""
        self.runs += 1
        self.rolls += rolling
        self.told += told
        if wrong is not None:
            self.words = self.words or wrong
            self.lost += bool(LOST.search(wrong))
            self.other += not LOST.search(wrong)

    def row(self, name: str, synchronous: str = "FULL") -> Row:
        """The line."""
        return Row(name, synchronous, self.runs, self.rolls, self.lost, self.other, self.told, self.unseen, self.words)


class Child:
    """The tests' child, forked from this process, which saves it half a second of imports. It waits for :meth:`go`."""

    def __init__(self, ledger: Path, synchronous: str, count: int, group: int) -> None:
        told, telling = os.pipe()
        waiting, self._go = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            os.dup2(telling, 1)
            os.close(self._go)
            os.read(waiting, 1)
            try:
                play(ledger, synchronous, count, group)
            finally:
                os.write(1, f"broke {traceback.format_exc(limit=-2)!r}\n".encode())
                os._exit(1)
        os.close(telling)
        os.close(waiting)
        self._told = os.fdopen(told, "r")
        self.lines: list[str] = []

    def go(self) -> None:
        """Begin."""
        os.close(self._go)

    def line(self) -> str:
        """The next thing it tells; nothing when it has ended."""
        line = self._told.readline()
        self.lines.append(line if line.endswith("\n") else "")
        return line

    def end(self, number: int | None = None) -> str:
        """Wait for its end, after a signal where one is given; all that it told."""
        if number is not None:
            os.kill(self.pid, number)
        while self.line():
            pass
        self._told.close()
        os.waitpid(self.pid, 0)
        return "".join(self.lines)


def traced_child(ledger: Path, *strace: str) -> str:
    """What a child told that strace did something to."""
    child = Child(ledger, "FULL", PLAYED, 1)
    tracer = subprocess.Popen(["strace", "-p", str(child.pid), *strace], stderr=subprocess.DEVNULL)
    status = Path(f"/proc/{child.pid}/status")
    while "TracerPid:\t0" in status.read_text() and tracer.poll() is None:
        time.sleep(0.0005)
    child.go()
    told = child.end()
    tracer.wait()
    return told


def calls_made(folder: Path) -> Counter[str]:
    """How many of each call a child makes that nothing happens to."""
    ledger, log = folder / "counted", folder / "counted.trace"
    shutil.rmtree(ledger, ignore_errors=True)
    nearly_over(ledger)
    calls = ",".join((*SYNCS, "pwrite64", *NAMES))
    told = traced_child(ledger, "-o", str(log), "-e", f"trace={calls}")
    assert "done" in told
    return Counter(re.findall(r"^(\w+)\(", log.read_text(), re.MULTILINE))


def positions(folder: Path, call: str, fault: str, made: int, name: str) -> Row:
    """One fault of one call at each of its positions."""
    tally = Tally()
    for position in range(1, made + 1):
        ledger = folder / "struck"
        shutil.rmtree(ledger, ignore_errors=True)
        nearly_over(ledger)
        inject = f"inject={call}:{fault.format(position)}"
        output = traced_child(ledger, "-o", "/dev/null", "-e", f"trace={call}", "-e", inject)
        told = max(BEFORE, acked(output))
        wrong = examine(ledger, told, 1)
        if wrong is None and "broke" in output:
            wrong = output[output.index("broke") :]
        if wrong is None and "failed" in output and "cannot be opened" not in output and "refused" not in output:
            wrong = f"after {inject} more was taken: {output[-200:]!r}"
        tally.add(wrong, told, rolling=in_a_roll(output))
        tally.unseen += "done" in output
    return tally.row(name)


def kill_at(folder: Path, arguments: argparse.Namespace) -> Iterator[Row]:  # noqa: ARG001 - all rows take both
    """Kill -9 at every position."""
    made = calls_made(folder)
    for call in (*SYNCS, "pwrite64", *NAMES):
        yield positions(folder, call, "signal=KILL:when={}", made[call], f"kill at {call}")


def inject(folder: Path, arguments: argparse.Namespace) -> Iterator[Row]:  # noqa: ARG001
    """EIO and ENOSPC at every position."""
    made = calls_made(folder)
    faults = [*((call, "EIO") for call in (*SYNCS, "pwrite64", *NAMES)), ("pwrite64", "ENOSPC"), ("symlink", "ENOSPC")]
    for call, error in faults:
        for later, words in (("", "once"), ("+", "from there on")):
            fault = f"error={error}:when={{}}{later}"
            yield positions(folder, call, fault, made[call], f"inject {call} {error} {words}")


def kill(folder: Path, arguments: argparse.Namespace) -> Iterator[Row]:
    """Kill -9 at random moments, every other one at the end of a day."""
    draw = random.Random(arguments.seed)
    tally = Tally()
    group, told = 1, 0
    ledger = folder / "kill"
    for n in range(arguments.kills):
        if n % KILLS_A_LEDGER == 0:
            shutil.rmtree(ledger, ignore_errors=True)
            seeded(ledger)
            group, told = draw.choice([1, 3, 4]), 0
        child = Child(ledger, "FULL", 1_000_000, group)
        child.go()
        for _ in range(draw.randint(1, 20)):
            child.line()
        if n % 2:
            while not child.lines[-1].startswith("rolling"):
                child.line()
        time.sleep(draw.uniform(0, 0.01))
        output = child.end(signal.SIGKILL)
        told = max(told, acked(output))
        tally.add(examine(ledger, told, group), told, rolling=in_a_roll(output))
    yield tally.row("kill at random")


def replay(folder: Path, arguments: argparse.Namespace) -> Iterator[Row]:
    """Crash states of the FULL run and of the controls, every other one at the end of a day."""
    for synchronous in ("FULL", "NORMAL", "OFF"):
        place = folder / f"replay-{synchronous}"
        place.mkdir()
        base, links, events = traced(place, synchronous)
        spans = roll_spans(events)
        draw = random.Random(arguments.seed)
        tally = Tally()
        for n in range(arguments.states):
            at = draw.choice(draw.choice(spans)) if n % 2 else draw.randint(1, len(events))
            state = crash(base, events, at, draw, links)
            ledger = place / "state"
            state.write(ledger)
            wrong = examine(ledger, state.acked, 1)
            tally.add(wrong, state.acked, rolling=any(at in span for span in spans))
            shutil.rmtree(ledger)
        yield tally.row("replay", synchronous)


@contextmanager
def mounted(image: Path, at: Path) -> Iterator[Path]:
    """An image with a file system, mounted."""
    at.mkdir(exist_ok=True)
    subprocess.run(["mount", "-o", "loop", str(image), str(at)], check=True)
    try:
        yield at
    finally:
        subprocess.run(["umount", str(at)], check=True)


def power(folder: Path, arguments: argparse.Namespace) -> Iterator[Row]:
    """The disk as it is at one moment, everything that was only in memory gone."""
    if os.geteuid():
        return
    draw = random.Random(arguments.seed)
    for synchronous in ("FULL", "NORMAL", "OFF"):
        tally = Tally()
        for n in range(arguments.cuts):
            image, copy = folder / f"{synchronous}-{n}.img", folder / f"{synchronous}-{n}-cut.img"
            with image.open("wb") as stream:
                stream.truncate(48 << 20)
            subprocess.run(["mkfs.ext4", "-q", str(image)], check=True)
            with mounted(image, folder / "disk") as disk:
                seeded(disk / "ledger")
                subprocess.run(["sync", "-f", str(disk)], check=True)
                output = _cut(disk / "ledger", synchronous, draw, image, copy, at_a_roll=bool(n % 2))
            with mounted(copy, folder / "after") as disk:
                shutil.copytree(disk / "ledger", folder / "examined", symlinks=True)
            told = acked(output)
            tally.add(examine(folder / "examined", told, 1), told, rolling=in_a_roll(output))
            shutil.rmtree(folder / "examined")
            image.unlink()
            copy.unlink()
        yield tally.row("power", synchronous)


def _cut(ledger: Path, synchronous: str, draw: random.Random, image: Path, copy: Path, *, at_a_roll: bool) -> str:
    """Stop a child and copy the disk below it. What it had told by then."""
    child = Child(ledger, synchronous, 1_000_000, 1)
    child.go()
    for _ in range(draw.randint(20, 90)):
        child.line()
    while at_a_roll and not child.lines[-1].startswith("rolling"):
        child.line()
    time.sleep(draw.uniform(0, 0.02) if at_a_roll else 0)
    told = "".join(child.lines)  # what it says until it stands still came in time, and is not asked for here
    os.kill(child.pid, signal.SIGSTOP)
    shutil.copyfile(image, copy)
    child.end(signal.SIGKILL)
    return told


ROWS: dict[str, Callable[[Path, argparse.Namespace], Iterator[Row]]] = {
    "kill": kill,
    "kill-at": kill_at,
    "inject": inject,
    "replay": replay,
    "power": power,
}


def main() -> int:
    """Make the table and append it to the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--states", type=int, default=1500)
    parser.add_argument("--cuts", type=int, default=8)
    parser.add_argument("--seed", type=int, default=20261130)
    parser.add_argument("--only", nargs="+", choices=list(ROWS), default=list(ROWS))
    parser.add_argument("--note", default="")
    arguments = parser.parse_args()
    os.nice(10)
    print(f"seed {arguments.seed}")
    print(f"{'':<40}{'':<8}{'runs':>6}{'in a roll':>11}{'lost':>6}{'other':>7}{'unseen':>8}", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="meterd-crash-"))
    rows: list[Row] = []
    began = time.monotonic()
    try:
        for name in arguments.only:
            for row in ROWS[name](folder, arguments):
                rows.append(row)
                print(
                    f"{row.name:<40}{row.synchronous:<8}{row.runs:>6}{row.in_a_roll:>11}{row.lost:>6}{row.other:>7}"
                    f"{row.unseen:>8}  {row.words}",
                    flush=True,
                )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    with RESULTS.open("a", encoding="utf-8") as results:
        results.write(json.dumps(_result(arguments, rows, time.monotonic() - began)) + "\n")
    sound = all(row.lost == row.other == 0 for row in rows if row.synchronous == "FULL")
    controls = all(row.lost + row.other for row in rows if row.synchronous != "FULL")
    return 0 if sound and controls else 1


def _result(arguments: argparse.Namespace, rows: Sequence[Row], took_s: float) -> dict[str, Any]:
    return {
        "bench": "crash_matrix",
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "seed": arguments.seed,
        "took_s": round(took_s),
        "note": arguments.note,
        "rows": [row._asdict() for row in rows],
    }


if __name__ == "__main__":
    sys.exit(main())
