"""How long a daemon reads its ledger before it is READY: a gaming day of 300,000 entries.

    python bench/start.py [--entries 300000] [--runs 3] [--folder DIR] [--keep]

The day is 100 tables of one link of three levels: a LOCK of seven wagers (8 postings) and an END GAME in turn. Told are
the wall time of the whole reading (two processes: one folds, one checks every hash), the processor time of this one,
and, side by side, of its parts: the rows alone, the rows as entries, the fold; and of `ledger verify` over the same.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from locks import TABLES, lock, opening

from meterd.accounting.book import Book
from meterd.accounting.commands import SYSTEM, EndGame, OpenTable
from meterd.app.commit import Committer, Stamp
from meterd.app.create import create_with
from meterd.app.rows import draft_entry
from meterd.app.verify import verify
from meterd.app.volumes import open_standing
from meterd.edge.clock import Clock
from meterd.edge.store import Store, read_records


def make(folder: Path, entries: int) -> None:
    """Play until the ledger has so many entries."""
    create_with(folder, opening())
    with closing(Store.open(folder)) as store:
        clock = Clock()
        standing = open_standing(store)
        committer = Committer(standing.book, store, lambda: Stamp(*clock.now()[:3]), standing)
        for n in range(TABLES):
            committer.decide(OpenTable(actor=SYSTEM, table=f"T{n}"))
        count = 0
        while store.seq < entries:
            count += 1
            for n in range(TABLES):
                command = lock(n, count)
                committer.decide(command)
                committer.decide(EndGame(actor=command.actor, table=command.table))
            committer.commit()
            store.checkpoint()


def start(folder: Path) -> tuple[float, float]:
    """Seconds of the wall and of this process for opening and reading."""
    wall, cpu = time.perf_counter(), time.process_time()
    with closing(Store.open(folder)) as store:
        open_standing(store)
        return time.perf_counter() - wall, time.process_time() - cpu


def rows(folder: Path) -> None:
    """Only read."""
    for _ in read_records(folder):
        pass


def entries_of(folder: Path) -> None:
    """Read and make entries."""
    for record in read_records(folder):
        draft_entry(record)


def fold(folder: Path) -> None:
    """Read, make entries and fold."""
    book = Book()
    for record in read_records(folder):
        book.apply(record.seq, record.at_utc, draft_entry(record))


def cpu_of(what: Callable[[Path], object], folder: Path) -> float:
    """Processor seconds of one part."""
    began = time.process_time()
    what(folder)
    return time.process_time() - began


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=300_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="a folder for the ledger; one that is there already is read again")
    parser.add_argument("--keep", action="store_true", help="leave the ledger there")
    arguments = parser.parse_args()
    folder = arguments.folder or Path(tempfile.mkdtemp(prefix="meterd-bench-")) / "ledger"
    if not folder.exists():
        make(folder, arguments.entries)
    try:
        starts = [start(folder) for _ in range(arguments.runs)]
        parts = {what.__name__: cpu_of(what, folder) for what in (rows, entries_of, fold, verify)}
    finally:
        if not arguments.keep:
            shutil.rmtree(folder)
    wall, cpu = (statistics.median(column) for column in zip(*starts, strict=True))
    print(f"start: {wall:.2f} s by the wall, {cpu:.2f} s of this process; medians of {arguments.runs}")
    for name, seconds in parts.items():
        print(f"  {name:<12}{seconds:6.2f} s, {arguments.entries / seconds:10,.0f} entries/s")


if __name__ == "__main__":
    main()
