"""What crashes and failing disks do to the ledger: rows acknowledged and lost, counted twice, corrupt.

    python bench/crash_matrix.py [--kills 100] [--states 1500] [--cuts 8] [--only NAME …] [--note TEXT]

A child commits entries through the store and tells each one on a pipe when its commit returned. Rows of the table:

kill         kill -9 at random moments; the ledger goes on from there
inject       one sync or write fails (EIO, ENOSPC) at every position in turn, once, and once with all later ones
replay       crash states: unsynced 512-byte sectors kept at random, from a trace of every write and sync
power        the child is stopped, the disk below its file system is copied as it is, and the copy is mounted (root)

After each, the ledger is opened as a start would open it: everything told is there, no entry twice (numbers without a
gap and one chain say so), every entry is the one that was committed. ``replay`` and ``power`` are done with
synchronous=NORMAL and OFF as well: controls, which must lose something, else the row proves nothing. Results are
appended to ``bench/results/crash_matrix.jsonl``.
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
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "crash_matrix.jsonl"
sys.path[:0] = [str(HERE.parent / "tests" / "edge")]

from crash_replay import crash  # noqa: E402 - and their own disk
from store_rows import acked, new_ledger  # noqa: E402 - the tests' own child
from test_store_crash import CHILD, _examine, _trace  # noqa: E402 - and their own eye

COMMITS = 45  # with a checkpoint among them
LOST = re.compile(r"were acknowledged")


class Row(NamedTuple):
    """One line of the table."""

    name: str
    synchronous: str
    runs: int
    lost: int
    other: int
    acknowledged: int
    words: str = ""


def verdict(found: list[str | None]) -> tuple[int, int, str]:
    """Runs that lost what was acknowledged, runs with anything else, and the first such thing in words."""
    wrong = [words for words in found if words is not None]
    lost = sum(1 for words in wrong if LOST.search(words))
    return lost, len(wrong) - lost, wrong[0] if wrong else ""


def kill(folder: Path, arguments: argparse.Namespace) -> Iterator[Row]:
    """Kill -9 at random moments."""
    draw = random.Random(arguments.seed)
    ledger = folder / "kill"
    new_ledger(ledger)
    told, found = 1, []
    for _ in range(arguments.kills):
        command = [sys.executable, CHILD, str(ledger), "FULL", "1000000", str(draw.choice([1, 3, 17]))]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            lines = [child.stdout.readline() for _ in range(draw.randint(1, 30))]
            os.kill(child.pid, signal.SIGKILL)
            lines += child.stdout.readlines()
        told = max(told, acked("".join(line for line in lines if line.endswith("\n"))))
        found.append(_examine(ledger, told))
    yield Row("kill", "FULL", len(found), *verdict(found)[:2], told, verdict(found)[2])


def calls_made(folder: Path) -> Counter[str]:
    """How many syncs and writes a child makes that nothing happens to."""
    new_ledger(folder)
    log = folder.with_suffix(".trace")
    command = [sys.executable, CHILD, str(folder), "FULL", str(COMMITS), "1"]
    trace = ["strace", "-f", "-o", str(log), "-e", "trace=fdatasync,fsync,pwrite64"]
    subprocess.run([*trace, *command], capture_output=True, check=True)
    return Counter(re.findall(r"^\d+ +(fdatasync|fsync|pwrite64)\(", log.read_text(), re.MULTILINE))


def inject(folder: Path, arguments: argparse.Namespace) -> Iterator[Row]:  # noqa: ARG001 - all rows take both
    """EIO and ENOSPC at every position."""
    made = calls_made(folder / "counted")
    for call, error in (("fdatasync", "EIO"), ("fsync", "EIO"), ("pwrite64", "EIO"), ("pwrite64", "ENOSPC")):
        for later in ("", "+"):
            found, told_sum = [], 0
            for position in range(1, made[call] + 1):
                ledger = folder / "inject"
                shutil.rmtree(ledger, ignore_errors=True)
                new_ledger(ledger)
                fault = f"inject={call}:error={error}:when={position}{later}"
                strace = ["strace", "-f", "-o", "/dev/null", "-e", fault]
                command = [sys.executable, CHILD, str(ledger), "FULL", str(COMMITS), "1"]
                done = subprocess.run([*strace, *command], capture_output=True, text=True, check=True)
                told = max(1, acked(done.stdout))
                told_sum += told
                wrong = _examine(ledger, told)
                if wrong is None and "failed" not in done.stdout:
                    wrong = f"{fault} was not noticed" if "done" not in done.stdout else None
                found.append(wrong)
            lost, other, words = verdict(found)
            yield Row(
                f"inject {call} {error} {'from there on' if later else 'once'}",
                "FULL",
                len(found),
                lost,
                other,
                told_sum,
                words,
            )


def replay(folder: Path, arguments: argparse.Namespace) -> Iterator[Row]:
    """Crash states of the FULL run and of the controls."""
    for synchronous in ("FULL", "NORMAL", "OFF"):
        place = folder / f"replay-{synchronous}"
        place.mkdir()
        base, events = _trace(place, synchronous)
        draw = random.Random(arguments.seed)
        found, told = [], 0
        for n in range(arguments.states):
            state = crash(base, events, draw.randint(1, len(events)), draw)
            ledger = place / f"state-{n}"
            ledger.mkdir()
            for name, data in state.files.items():
                (ledger / name).write_bytes(data)
            (ledger / "ledger.db").symlink_to("ledger-1.db")
            told += state.acked
            found.append(_examine(ledger, state.acked))
            shutil.rmtree(ledger)
        yield Row("replay", synchronous, len(found), *verdict(found)[:2], told, verdict(found)[2])


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
        found, told_sum = [], 0
        for n in range(arguments.cuts):
            image, copy = folder / f"{synchronous}-{n}.img", folder / f"{synchronous}-{n}-cut.img"
            with image.open("wb") as stream:
                stream.truncate(48 << 20)
            subprocess.run(["mkfs.ext4", "-q", str(image)], check=True)
            with mounted(image, folder / "disk") as disk:
                new_ledger(disk / "ledger")
                subprocess.run(["sync", "-f", str(disk)], check=True)
                told = _cut(disk / "ledger", synchronous, draw.randint(20, 200), image, copy)
            with mounted(copy, folder / "after") as disk:
                shutil.copytree(disk / "ledger", folder / "examined", symlinks=True)
            told_sum += told
            found.append(_examine(folder / "examined", told))
            shutil.rmtree(folder / "examined")
            image.unlink()
            copy.unlink()
        yield Row("power", synchronous, len(found), *verdict(found)[:2], told_sum, verdict(found)[2])


def _cut(ledger: Path, synchronous: str, after: int, image: Path, copy: Path) -> int:
    """Stop a child once it told so many commits, and copy the disk below it. What it had told by then."""
    command = [sys.executable, CHILD, str(ledger), synchronous, "1000000", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        lines = [child.stdout.readline() for _ in range(after)]
        child.send_signal(signal.SIGSTOP)
        shutil.copyfile(image, copy)
        told = acked("".join(lines))
        child.kill()
        child.stdout.read()
    return told


ROWS: dict[str, Callable[[Path, argparse.Namespace], Iterator[Row]]] = {
    "kill": kill,
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
    folder = Path(tempfile.mkdtemp(prefix="meterd-crash-"))
    rows: list[Row] = []
    try:
        for name in arguments.only:
            for row in ROWS[name](folder, arguments):
                rows.append(row)
                print(
                    f"{row.name:<38}{row.synchronous:<8}{row.runs:>6} runs  lost {row.lost:>5}  other {row.other:>5}"
                    f"  {row.words}"
                )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    with RESULTS.open("a", encoding="utf-8") as results:
        results.write(json.dumps(_result(arguments, rows)) + "\n")
    sound = all(row.lost == row.other == 0 for row in rows if row.synchronous == "FULL")
    controls = all(row.lost for row in rows if row.synchronous == "OFF")
    return 0 if sound and controls else 1


def _result(arguments: argparse.Namespace, rows: list[Row]) -> dict[str, Any]:
    return {
        "bench": "crash_matrix",
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "seed": arguments.seed,
        "note": arguments.note,
        "rows": [row._asdict() for row in rows],
    }


if __name__ == "__main__":
    sys.exit(main())
