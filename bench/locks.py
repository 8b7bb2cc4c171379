"""The first row of the scoreboard: a LOCK's whole path against a bare SQLite writer of the same rows.

    python bench/locks.py [--runs 7] [--locks 3000] [--groups 1 10 100] [--folder DIR] [--note TEXT]

Whole path: a LOCK of 7 seats on a link of 3 levels with reserves (8 postings, one per account) waits in the queue of
the money thread, is decided, hashed and committed together with others, and answered to the thread that sent it. Bare:
`sqlite3` and nothing else, which writes the very same rows, in the same groups, to a file with the same tables and
triggers and the same settings (WAL, synchronous=FULL). END GAME between the LOCKs is written by both and not timed.
Runs alternate, so that both see the same disk and the same neighbours; each figure is the median, and a ratio is the
median of the ratios of neighbouring runs.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sqlite3
import statistics
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

from meterd.accounting.commands import (
    SYSTEM,
    Actor,
    Command,
    CreateLedger,
    DefineTable,
    EndGame,
    Event,
    Lock,
    OpenLink,
    OpenTable,
    Role,
    SetSite,
    WagerSeen,
)
from meterd.accounting.rules import Decision
from meterd.accounting.settings import Floor, LevelSettings, LinkSettings, ResetMode, SiteSettings, TableSettings, Ties
from meterd.app import inbox
from meterd.app.commit import Committer, Stamp
from meterd.app.create import create_with
from meterd.app.memory import settle
from meterd.app.volumes import open_standing
from meterd.edge.clock import Clock
from meterd.edge.files import load_paytables
from meterd.edge.store import Store
from meterd.edge.volume import schema_sql
from meterd.ledger.record import Record

TABLES = 100
SEATS = 7
RESULTS = Path(__file__).with_name("results") / "locks.jsonl"
TARGETS = {1: 0.75, 10: 0.55, 100: 0.40}


def opening() -> list[Command]:
    """100 tables on one link of three levels, each with a reserve."""
    levels = tuple(
        LevelSettings(name, seed, rate, reserve, ResetMode.SEED_PLUS_RESERVE, Ties.SEQUENTIAL, Floor.NONE)
        for name, seed, rate, reserve in (
            ("mega", 5_000_000, 120_000, 30_000),
            ("major", 500_000, 50_000, 10_000),
            ("minor", 50_000, 20_000, 5_000),
        )
    )
    link = LinkSettings("nexus", 100, 1, load_paytables()["co/nexus/pmg-ml-02"], levels)
    tables = [TableSettings(f"T{n}", "nexus", "let-it-ride", SEATS) for n in range(TABLES)]
    return [
        CreateLedger(actor=SYSTEM, site="bench", currency="USD", demo=False),
        SetSite(actor=SYSTEM, settings=SiteSettings("bench")),
        OpenLink(actor=SYSTEM, settings=link),
        *(DefineTable(actor=SYSTEM, settings=table) for table in tables),
    ]


def lock(table: int, count: int) -> Lock:
    """A LOCK as a table session asks for it, with the identity of the key and of each seat's sensor."""
    device = f"pit-{table // 16}/{table % 16}"
    wagers = tuple(WagerSeen(seat, event=Event(f"{device}/di{seat - 1}", 1, count)) for seat in range(1, SEATS + 1))
    actor = Actor(f"dealer@T{table}", Role.DEALER)
    return Lock(actor=actor, device=device, event=Event(f"{device}/di7", 1, count), table=f"T{table}", wagers=wagers)


class RecordingStore(Store):
    """A store that remembers what it committed, so that the bare writer can write the same."""

    written: list[Record]

    def commit(self, records: Sequence[Record]) -> None:
        """Commit, then remember."""
        super().commit(records)
        self.written.extend(records)


class WholePath:
    """The money thread's path: queue, decide, hash, commit, answer."""

    def __init__(self, folder: Path) -> None:
        create_with(folder, opening())
        self.store = RecordingStore.open(folder)
        self.store.written = list(self.store.records())
        standing = open_standing(self.store)
        clock = Clock()

        def now() -> Stamp:
            return Stamp(*clock.now()[:3])

        self.committer = Committer(standing.book, self.store, now, standing)
        for n in range(TABLES):
            self.committer.decide(OpenTable(actor=SYSTEM, table=f"T{n}"))
        self.committer.commit()
        self.count = 0
        settle()

    def round(self, locks: int) -> float:
        """Lock so many tables and end their games; the seconds from the first LOCK sent to the last one answered."""
        self.count += 1
        commands = [lock(n, self.count) for n in range(locks)]
        queue = inbox.Inbox()
        answers: SimpleQueue[list[Decision]] = SimpleQueue()
        money = threading.Thread(target=self._money, args=(queue, answers, locks))
        money.start()
        began = time.perf_counter()
        for command in commands:
            queue.offer(command, "bench")
        answered = 0
        while answered < locks:
            for decision in answers.get(timeout=60):
                assert decision.refusal is None
                answered += 1
        took = time.perf_counter() - began
        money.join()
        for command in commands:
            self.committer.decide(EndGame(actor=command.actor, table=command.table))
        self.committer.commit()
        return took

    def _money(self, queue: inbox.Inbox, answers: SimpleQueue[list[Decision]], locks: int) -> None:
        """What the money thread does with a batch; its answers go back together, as the daemon's effects do."""
        answered = 0
        while answered < locks:
            _, commands = queue.take(1.0)
            decisions = [self.committer.decide(command) for command in commands]
            self.committer.commit()
            answers.put(decisions)
            answered += len(decisions)


class Bare:
    """sqlite3 and nothing else."""

    def __init__(self, folder: Path, group: int) -> None:
        folder.mkdir()
        self.connection = sqlite3.connect(folder / "bare.db", isolation_level=None)
        self.connection.executescript(schema_sql())
        self.connection.execute("PRAGMA journal_mode=WAL")
        self.connection.execute("PRAGMA synchronous=FULL")
        self.group = group

    def write(self, records: list[Record]) -> float:
        """Write these rows in groups; the seconds it took."""
        entries = [record[:14] for record in records]
        postings = [[(r.seq, n, a, m) for n, (a, m) in enumerate(r.postings, 1)] for r in records]
        execute, executemany = self.connection.execute, self.connection.executemany
        began = time.perf_counter()
        for start in range(0, len(entries), self.group):
            end = start + self.group
            execute("BEGIN IMMEDIATE")
            executemany("INSERT INTO posting VALUES (?,?,?,?)", [row for rows in postings[start:end] for row in rows])
            executemany("INSERT INTO entry VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)", entries[start:end])
            execute("COMMIT")
        return time.perf_counter() - began


class Pair:
    """One whole path and one bare writer that write the same rows, round by round."""

    def __init__(self, folder: Path, group: int) -> None:
        self.whole = WholePath(folder / "whole")
        self.bare = Bare(folder / "bare", group)
        self.group = group
        self._copy()

    def run(self, locks: int) -> tuple[float, float]:
        """LOCKs per second of the whole path and of the bare writer, over so many locks in rounds of all tables."""
        inbox.BATCH_MAX = self.group  # type: ignore[misc]  # the daemon's is 64
        whole = bare = 0.0
        rounds = max(1, locks // TABLES)
        for _ in range(rounds):
            whole += self.whole.round(TABLES)
            bare += self._copy()
        return rounds * TABLES / whole, rounds * TABLES / bare

    def _copy(self) -> float:
        """Write what the whole path wrote since the last time; the seconds its LOCKs took."""
        written = self.whole.store.written
        locks = [record for record in written if record.kind == "Locked"]
        rest = [record for record in written if record.kind != "Locked"]
        first, then = (locks, rest) if locks else (rest, [])
        took = self.bare.write(first)
        self.bare.write(then)
        written.clear()
        return took

    def close(self) -> None:
        """Close both files."""
        self.whole.store.close()
        self.bare.connection.close()


class Row(NamedTuple):
    """One line of the table."""

    group: int
    whole: float
    bare: float
    ratio: float

    @property
    def met(self) -> bool:
        """Whether the target holds: the ratio, and at group 10 the locks per second."""
        return self.ratio >= TARGETS.get(self.group, 0) and (self.group != 10 or self.whole >= 3000)


def measure(folder: Path, group: int, runs: int, locks: int) -> Row:
    """Alternate whole path and bare writer and take the medians."""
    pair = Pair(folder / f"group-{group}", group)
    try:
        pair.run(locks // 3)  # warm caches, not counted
        figures = [pair.run(locks) for _ in range(runs)]
    finally:
        pair.close()
    return Row(
        group,
        statistics.median(whole for whole, _ in figures),
        statistics.median(bare for _, bare in figures),
        statistics.median(whole / bare for whole, bare in figures),
    )


def main() -> None:
    """Measure, print the table, append it to the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--locks", type=int, default=3000, help="LOCKs per run")
    parser.add_argument("--groups", type=int, nargs="+", default=[1, 10, 100])
    parser.add_argument("--folder", type=Path, help="a folder on the disk to measure")
    parser.add_argument("--note", default="", help="a word for the results")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="meterd-bench-", dir=arguments.folder))
    try:
        rows = [measure(folder, group, arguments.runs, arguments.locks) for group in arguments.groups]
    finally:
        shutil.rmtree(folder)
    print(f"{'group':>6}{'whole path':>14}{'bare sqlite3':>14}{'ratio':>8}{'target':>8}")
    for row in rows:
        target = TARGETS.get(row.group, 0)
        verdict = "" if row.met else "  missed"
        print(f"{row.group:>6}{row.whole:>12,.0f}/s{row.bare:>12,.0f}/s{row.ratio:>8.2f}{target:>8.2f}{verdict}")
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("a", encoding="utf-8") as results:
        results.write(json.dumps(_result(arguments, rows)) + "\n")


def _result(arguments: argparse.Namespace, rows: list[Row]) -> dict[str, Any]:
    return {
        "bench": "locks",
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "runs": arguments.runs,
        "note": arguments.note,
        "rows": [{name: round(value, 2) for name, value in row._asdict().items()} for row in rows],
    }


if __name__ == "__main__":
    main()
