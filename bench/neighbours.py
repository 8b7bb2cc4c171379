"""Whether four readers of the ledger disturb its writer: commit times beside the same four on another file.

    python bench/neighbours.py [--runs 5] [--seconds 6] [--datasette PROGRAM] [--note TEXT]

The writer is the money thread's path (decide, hash, commit) for LOCKs of seven seats, one every few milliseconds, on a
ledger with some thousand entries. Beside it run, each as a process of its own and without a pause: a ``mode=ro`` reader
that sums the meters, a Datasette that serves an export and is asked for pages, ``meterd backup``, ``meterd ledger
verify``. Runs alternate: nobody, the four on a copy of the ledger, the four on the ledger itself. What counts is the
ratio of the last to the one before: 2 or less. Results are appended to ``bench/results/neighbours.jsonl``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from locks import WholePath, lock

from meterd.accounting.commands import EndGame
from meterd.edge import sqlite

RESULTS = Path(__file__).with_name("results") / "neighbours.jsonl"
LIMIT = 2.0
PAUSE_S = 0.004
TABLES = 100
WARM_S = 1.5

READER = """
import sqlite3, sys
while True:
    c = sqlite3.connect(f"file:{sys.argv[1]}/ledger.db?mode=ro", uri=True)
    c.execute("SELECT account, sum(microcents) FROM posting GROUP BY account").fetchall()
    c.close()
"""
PAGES = """
import sys, time, urllib.request
while True:
    try:
        for page in ("ledger/entry.json?_size=100", "ledger/posting.csv?_size=100", "ledger"):
            urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/{page}", timeout=20).read()
    except OSError:
        time.sleep(0.1)
"""
AGAIN = """
import shutil, subprocess, sys
while True:
    subprocess.run(["setpriv", "--pdeathsig", "KILL", *sys.argv[2:]], stdout=subprocess.DEVNULL)
    shutil.rmtree(sys.argv[1], ignore_errors=True)
"""


class Times(NamedTuple):
    """Commit times of one run, milliseconds."""

    p50: float
    p99: float
    commits: int


@contextmanager
def neighbours(ledger: Path | None, export: Path, scratch: Path, datasette: str, port: int) -> Iterator[None]:
    """The four, on this ledger; nobody where there is none."""
    commands: list[list[str]] = []
    if ledger is not None:
        python, meterd = sys.executable, [sys.executable, "-m", "meterd"]
        commands = [
            [python, "-c", READER, str(ledger)],
            [datasette, "serve", "--immutable", str(export), "--port", str(port)],
            [python, "-c", PAGES, str(port)],
            [python, "-c", AGAIN, str(scratch), *meterd, "backup", str(ledger), str(scratch)],
            [python, "-c", AGAIN, "/nonexistent", *meterd, "ledger", "verify", str(ledger)],
        ]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    bound = ["setpriv", "--pdeathsig", "KILL"]  # they end with us, however we end
    started = [
        subprocess.Popen([*bound, *command], start_new_session=True, **quiet)  # type: ignore[call-overload]
        for command in commands
    ]
    try:
        time.sleep(WARM_S if started else 0)
        yield
    finally:
        for process in started:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def write(path: WholePath, seconds: float) -> Times:
    """LOCKs one by one, each its own commit, with a pause between; only the commit is timed."""
    took = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        path.count += 1
        for n in range(TABLES):
            began = time.perf_counter()
            decision = path.committer.decide(lock(n, path.count))
            path.committer.commit()
            took.append(time.perf_counter() - began)
            assert decision.refusal is None, decision.refusal
            time.sleep(PAUSE_S)
        for n in range(TABLES):
            path.committer.decide(EndGame(actor=lock(n, 1).actor, table=f"T{n}"))
        path.committer.commit()
        path.store.checkpoint()
        path.store.written.clear()
    quantiles = statistics.quantiles(took, n=100)
    return Times(1000 * quantiles[49], 1000 * quantiles[98], len(took))


def main() -> int:
    """Measure, print, append."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--datasette", default="datasette")
    parser.add_argument("--port", type=int, default=18001)
    parser.add_argument("--note", default="")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="meterd-neighbours-"))
    cases: dict[str, list[Times]] = {"nobody": [], "on a copy": [], "on the ledger": []}
    try:
        path = WholePath(folder / "ledger")
        write(path, arguments.seconds)  # some thousand entries, warm caches
        path.store.checkpoint()
        # By another process: who closes a file of SQLite's in the process that has it open loses SQLite's locks on it.
        subprocess.run(["cp", "-a", str(folder / "ledger"), str(folder / "copy")], check=True)
        export = folder / "served" / "ledger.db"
        export.parent.mkdir()
        sqlite.copy(folder / "copy" / "ledger-1.db", export)
        for _ in range(arguments.runs):
            for name, where in (("nobody", None), ("on a copy", "copy"), ("on the ledger", "ledger")):
                place = folder / where if where else None
                with neighbours(place, export, folder / "backup", arguments.datasette, arguments.port):
                    cases[name].append(write(path, arguments.seconds))
        path.store.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    rows = {
        name: {
            "p50_ms": round(statistics.median(run.p50 for run in runs), 2),
            "p99_ms": round(statistics.median(run.p99 for run in runs), 2),
            "commits": sum(run.commits for run in runs),
        }
        for name, runs in cases.items()
    }
    ratio = statistics.median(
        there.p99 / copy.p99 for copy, there in zip(cases["on a copy"], cases["on the ledger"], strict=True)
    )
    for name, row in rows.items():
        print(f"{name:<16}{row}")
    print(f"p99 on the ledger / on a copy: {ratio:.2f} (limit {LIMIT})")
    result = {
        "bench": "neighbours",
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "note": arguments.note,
        "rows": rows,
        "ratio": round(ratio, 2),
    }
    with RESULTS.open("a", encoding="utf-8") as results:
        results.write(json.dumps(result) + "\n")
    return 0 if ratio <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
