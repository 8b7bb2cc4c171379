"""The pause at the end of a gaming day: how long the money thread reads the day, seals its volume and begins the next.

    python bench/roll.py [--runs 7] [--awards 1000] [--folder DIR]

100 tables on one link of three levels, every one locked with seven wagers, so many settled awards (of which a step may
let the oldest go) and five pending ones with their journal. Told are wall time and processor time of the whole step,
and of its parts in Python: the reading, and the first entry of the next volume (book to text, hashed).
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from locks import SEATS, TABLES, lock, opening

from meterd.accounting.commands import SYSTEM, Actor, Claim, Command, Confirm, EndGame, OpenTable, Pay, Role
from meterd.accounting.commands_day import ReadDay
from meterd.accounting.rules import decide
from meterd.app.commit import Committer, Stamp
from meterd.app.create import create_with
from meterd.app.memory import settle
from meterd.app.volumes import next_volume, open_standing
from meterd.edge.clock import Clock
from meterd.edge.store import Store

SUPERVISOR = Actor("sup-1", Role.SUPERVISOR)
PENDING = 5


class Floor:
    """A floor in the middle of its work."""

    def __init__(self, folder: Path, awards: int) -> None:
        create_with(folder, opening())
        self.store = Store.open(folder)
        self.standing = open_standing(self.store)
        clock = Clock()
        self.committer = Committer(self.standing.book, self.store, lambda: Stamp(*clock.now()[:3]), self.standing)
        for n in range(TABLES):
            self._do(OpenTable(actor=SYSTEM, table=f"T{n}"))
        count = 0
        while len(self.standing.book.awards) < awards:
            count += 1
            for n in range(TABLES):
                table = f"T{n}"
                dealer = Actor(f"dealer@{table}", Role.DEALER)
                self._do(lock(n, count))
                award = self.standing.book.award_name()
                self._do(Claim(actor=dealer, table=table, seat=1 + n % SEATS, hand="full-house"))
                self._do(Confirm(actor=SUPERVISOR, award=award), Pay(actor=SUPERVISOR, award=award))
                self._do(EndGame(actor=dealer, table=table))
            self.committer.commit()
        for n in range(TABLES):
            self._do(lock(n, count + 1))
        for n in range(PENDING):
            self._do(Claim(actor=Actor(f"dealer@T{n}", Role.DEALER), table=f"T{n}", seat=2, hand="royal-flush"))
        self.committer.commit()
        self.store.checkpoint()
        self.day = 0
        settle()

    def _do(self, *commands: Command) -> None:
        for command in commands:
            refusal = self.committer.decide(command).refusal
            if refusal is not None:
                raise SystemExit(f"{command}: {refusal}")

    def parts(self) -> tuple[float, float, int]:
        """Milliseconds of the reading and of the first entry, bytes of that entry."""
        book = self.standing.book
        began = time.process_time()
        decide(book, ReadDay(actor=SYSTEM, day="2026-01-01", next_day="2099-01-01"))
        read = time.process_time()
        record, _ = next_volume(self.standing)
        return 1000 * (read - began), 1000 * (time.process_time() - read), len(record.body)

    def roll(self) -> tuple[float, float]:
        """Milliseconds of a whole step: by the wall, and of the processor."""
        self.day += 1
        wall, cpu = time.perf_counter(), time.process_time()
        _, checkpoint = self.committer.end_day(f"2026-01-{self.day:02d}", f"2026-01-{self.day + 1:02d}")
        if checkpoint is None:
            raise SystemExit("the reading was refused")
        return 1000 * (time.perf_counter() - wall), 1000 * (time.process_time() - cpu)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--awards", type=int, default=1000)
    parser.add_argument("--folder", type=Path, help="a folder on the disk to measure")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="meterd-bench-", dir=arguments.folder))
    try:
        floor = Floor(folder / "ledger", arguments.awards)
        rolls = [floor.roll() for _ in range(arguments.runs)]
        parts = [floor.parts() for _ in range(arguments.runs)]
        floor.store.close()
    finally:
        shutil.rmtree(folder)
    print(f"{TABLES} tables, {arguments.awards} settled awards, {PENDING} pending; medians of {arguments.runs}")
    print(f"  whole step   {statistics.median(w for w, _ in rolls):7.1f} ms by the wall", end="")
    print(f", {statistics.median(c for _, c in rolls):.1f} ms of the processor")
    print(f"  the reading  {statistics.median(r for r, _, _ in parts):7.1f} ms")
    print(f"  first entry  {statistics.median(f for _, f, _ in parts):7.1f} ms, {parts[0][2] / 1024:,.0f} KiB")


if __name__ == "__main__":
    main()
