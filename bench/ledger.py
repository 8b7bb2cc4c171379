"""The ledger's own rows of the scoreboard, beside their limits: verify, start, a day's end, a burst of LOCKs.

    python bench/ledger.py [--only verify start roll burst] [--runs 5] [--entries 300000] [--keep DIR] [--note TEXT]

verify   ``meterd ledger verify`` of a day of LOCKs (seven seats, three levels, a posting an account) and END GAMEs
start    ``meterd run`` on that day as a service manager starts it, from the first instruction to READY=1
roll     the pause of the money thread at the end of a day: 100 tables, all locked, 1,000 settled awards; also while
         somebody reads the volume that is being closed
burst    100 tables LOCK at once in a running money thread, beside 1,000 readings a second: from the first decision to
         the moment the last table's lamps are handed out; and with 10 ms added to each commit's sync

Wall times are this machine's, whatever else it does; beside them stands the processor's time, which is the program's.
``--keep`` makes the day once and leaves it there. Results are appended to ``bench/results/ledger.jsonl``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager, redirect_stderr
from pathlib import Path
from typing import Any, NamedTuple

from floor import site_text
from roll import Floor as FloorAtItsEnd

from meterd.accounting.commands import SYSTEM, Actor, EndGame, Event, Lock, OpenTable, Role, WagerSeen
from meterd.app.commit import Stamp, resume
from meterd.app.create import create_ledger
from meterd.app.effects import Effects
from meterd.app.loop import Ask, MoneyLoop
from meterd.app.memory import settle
from meterd.app.volumes import open_standing
from meterd.config import Site, load_site
from meterd.edge import journal, sqlite
from meterd.edge.catalogue import catalogue
from meterd.edge.clock import Clock
from meterd.edge.store import Store
from protocols.events import DeviceUp, Reading

RESULTS = Path(__file__).with_name("results") / "ledger.jsonl"
LINES, UNITS, SEATS = 21, 4, 7
TABLES = 100  # of the 105; another one is read all the time
BURST_WARM, READINGS_S = 2, 1000
SYNC_S = 0.010


class Row(NamedTuple):
    """One line of the table; ``limit`` None: the design names none."""

    name: str
    value: float
    unit: str
    limit: float | None
    cpu: float | None = None
    more_is_better: bool = False

    @property
    def met(self) -> bool:
        """Whether the limit is kept."""
        if self.limit is None:
            return True
        return self.value >= self.limit if self.more_is_better else self.value <= self.limit


def site_of(folder: Path) -> tuple[Site, Path]:
    """A site of a hundred tables and some, on lines that are not there, and its file."""
    file = folder / "site.toml"
    text = site_text(folder / "ports", LINES, UNITS, 57600)
    file.write_text(text, encoding="utf-8")
    return load_site(text, "site.toml", catalogue()), file


def a_day(folder: Path, entries: int) -> Path:
    """The ledger of a full gaming day; made once."""
    folder.mkdir(parents=True, exist_ok=True)
    ledger = folder / "ledger"
    site, _ = site_of(folder)
    if ledger.exists():
        return ledger
    create_ledger(ledger, site, demo=True)
    clock = Clock()
    with closing(Store.open(ledger)) as store:
        committer = resume(store, lambda: Stamp(*clock.now()[:3]))
        for table in site.tables:
            committer.decide(OpenTable(actor=SYSTEM, table=table.settings.id))
        committer.commit()
        count = 0
        while store.seq < entries:
            count += 1
            for table in site.tables:
                device, dealer = table.sensors.device, Actor(f"dealer@{table.settings.id}", Role.DEALER)
                wagers = tuple(
                    WagerSeen(seat, event=Event(f"{device}/di{seat - 1}", 1, count)) for seat in range(1, SEATS + 1)
                )
                event = Event(f"{device}/di8", 1, count)
                locked = Lock(actor=dealer, device=device, event=event, table=table.settings.id, wagers=wagers)
                refusal = committer.decide(locked).refusal
                if refusal is not None:
                    raise SystemExit(f"{refusal}")
                committer.decide(EndGame(actor=dealer, table=table.settings.id))
            committer.commit()
            store.checkpoint()
    return ledger


def verify(arguments: argparse.Namespace, folder: Path) -> Iterator[Row]:
    """The whole day, by the program that an auditor runs."""
    ledger = a_day(folder, arguments.entries)
    with closing(Store.open(ledger)) as store:
        entries = store.seq
    walls, cpus = [], []
    for _ in range(arguments.runs):
        wall, cpu = _timed([sys.executable, "-m", "meterd", "ledger", "verify", str(ledger)])
        walls.append(wall)
        cpus.append(cpu)
    wall, cpu = statistics.median(walls), statistics.median(cpus)
    yield Row(f"verify a day of {entries:,} entries", wall, "s", 15.0 * entries / 300_000, cpu)
    yield Row("verify, by the processor", entries / cpu, "entries/s", 20_000, more_is_better=True)


def _timed(command: list[str]) -> tuple[float, float]:
    """Seconds that a command took, by the wall and of the processor."""
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{command}: exit code {child.returncode}")
    return time.perf_counter() - began, usage.ru_utime + usage.ru_stime


def start(arguments: argparse.Namespace, folder: Path) -> Iterator[Row]:
    """From the first instruction to READY=1. The daemon is killed then, so that each start finds an unclean end."""
    ledger = a_day(folder, arguments.entries)
    _, site_file = site_of(folder)
    places = ["--config", str(site_file), "--ledger", str(ledger), "--socket", str(folder / "control.sock")]
    command = [sys.executable, "-m", "meterd", "run", *places, "--demo"]
    walls, cpus = [], []
    for _ in range(arguments.runs):
        with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as manager:
            (folder / "notify").unlink(missing_ok=True)
            manager.bind(str(folder / "notify"))
            manager.settimeout(120)
            began = time.perf_counter()
            with subprocess.Popen(
                command, env={**os.environ, "NOTIFY_SOCKET": str(folder / "notify")}, stderr=subprocess.DEVNULL
            ) as child:
                while b"READY=1" not in manager.recv(4096):
                    pass
                walls.append(time.perf_counter() - began)
                child.kill()
                _, status, usage = os.wait4(child.pid, 0)
                child.returncode = os.waitstatus_to_exitcode(status)
                cpus.append(usage.ru_utime + usage.ru_stime)
    wall, cpu = statistics.median(walls), statistics.median(cpus)
    yield Row(f"start on {arguments.entries:,} entries to READY", wall, "s", 6.0, cpu)


def roll(arguments: argparse.Namespace, folder: Path) -> Iterator[Row]:
    """The pause at the end of a day."""
    floor = FloorAtItsEnd(folder / "roll", 1000)
    rolls = [floor.roll() for _ in range(max(3, arguments.runs))]
    yield Row(
        "pause at a day's end",
        statistics.median(w for w, _ in rolls),
        "ms",
        None,
        statistics.median(c for _, c in rolls),
    )
    beside = []
    for _ in range(max(3, arguments.runs)):
        with closing(sqlite.reader(floor.store.path)):
            beside.append(floor.roll())
    yield Row("the same beside a reader", statistics.median(w for w, _ in beside), "ms", None)
    floor.store.close()


class SlowStore(Store):
    """A store on a disk that takes longer to sync."""

    added_s = 0.0

    def commit(self, records: Any) -> None:
        """Sync more slowly."""
        time.sleep(self.added_s)
        super().commit(records)


class Burst:
    """A running money thread, and the hundred tables that hand their readings to it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.site, _ = site_of(folder)
        create_ledger(folder / "ledger", self.site, demo=True)
        self.store = SlowStore.open(folder / "ledger")
        standing = open_standing(self.store)
        self._news = threading.Condition()
        self._states: dict[str, str] = {}
        self.locked_s: list[float] = []
        self.loop = MoneyLoop(self.site, standing.book, self.store, Clock(), self._publish, standing=standing)
        decide = self.loop.committer.decide

        def noted(command: Any, asked: Any = None) -> Any:
            if isinstance(command, Lock):
                self.locked_s.append(time.perf_counter())
            return decide(command, asked)

        self.loop.committer.decide = noted  # type: ignore[method-assign]
        self._thread = threading.Thread(target=self.loop.run)
        self._thread.start()
        self.tables, self.polled_table = self.site.tables[:TABLES], self.site.tables[TABLES]
        self.counts = {table.settings.id: 0 for table in self.site.tables}
        for table in self.site.tables:
            for module in table.modules:
                reading = self._reading(module, (False,) * module.profile.inputs.count, 0)
                self.loop.inbox.offer(DeviceUp(module.device, reading, module.profile.modulus), module.bus)
        self.wait(lambda: set(self._states.values()) == {"OPEN"})
        settle()

    def _all(self, state: str) -> bool:
        return all(self._states[table.settings.id] == state for table in self.tables)

    def _reading(self, module: Any, levels: tuple[bool, ...], locks: int) -> Reading:
        now = time.monotonic_ns() // 1_000_000
        counts = tuple(locks if n == module.profile.lock else 0 for n in range(len(levels)))
        return Reading(module.device, now, now, now, levels, counts)

    def _publish(self, effects: Effects) -> None:
        with self._news:
            self._states = {name: table["state"] for name, table in effects.snapshot["tables"].items()}
            self._news.notify_all()

    def wait(self, true: Callable[[], bool]) -> float:
        """The moment at which it became true."""
        with self._news:
            if not self._news.wait_for(true, 60):
                raise SystemExit(f"not within a minute: {self.loop.failure}")
            return time.perf_counter()

    def run(self) -> tuple[float, float]:
        """Chips on all seats, LOCK at all tables, END GAME.

        Milliseconds from the first decision to the last lamp, and of the processor from the first reading on.
        """
        for table in self.tables:
            self._offer(table, chips=True)
        self.wait(lambda: not len(self.loop.inbox))
        self.locked_s.clear()
        cpu = time.process_time()
        for table in self.tables:
            self.counts[table.settings.id] += 1
            self._offer(table, chips=True)
        last = self.wait(lambda: self._all("LOCKED"))
        took, cpu = 1000 * (last - self.locked_s[0]), 1000 * (time.process_time() - cpu)
        if len(self.locked_s) != TABLES:
            raise SystemExit(f"{len(self.locked_s)} LOCKs")
        for table in self.tables:
            self._offer(table, chips=False)
            command = EndGame(actor=Actor(f"dealer@{table.settings.id}", Role.DEALER), table=table.settings.id)
            self.loop.inbox.offer(Ask(command, Future()), "bench")
        self.wait(lambda: self._all("OPEN"))
        return took, cpu

    def _offer(self, table: Any, *, chips: bool) -> None:
        module = table.sensors
        seats = {module.profile.seats[n] for n in range(table.settings.seats)} if chips else set()
        levels = tuple(n in seats for n in range(module.profile.inputs.count))
        self.loop.inbox.offer(self._reading(module, levels, self.counts[table.settings.id]), module.bus)

    @contextmanager
    def polled(self) -> Iterator[None]:
        """A thousand readings a second that change nothing, of one more table."""
        ended = threading.Event()

        def poll() -> None:
            while not ended.wait(0.01):
                for _ in range(READINGS_S // 100):
                    self._offer(self.polled_table, chips=True)

        poller = threading.Thread(target=poll)
        poller.start()
        try:
            yield
        finally:
            ended.set()
            poller.join()

    def close(self) -> None:
        """Stop it."""
        self.loop.stop()
        self._thread.join()
        self.store.close()


def burst(arguments: argparse.Namespace, folder: Path) -> Iterator[Row]:
    """A hundred tables at once."""
    journal.start()  # a log line costs what it costs in the daemon; nobody reads it
    rig = Burst(folder / "burst")
    runs = max(5, arguments.runs)
    try:
        for added_s, limit in ((0.0, 50.0), (SYNC_S, 120.0)):
            rig.store.added_s = added_s
            for _ in range(BURST_WARM):
                rig.run()
            with rig.polled():
                took = [rig.run() for _ in range(runs)]
            words = f", {1000 * added_s:.0f} ms added to a sync" if added_s else ""
            cpu = statistics.median(cpu for _, cpu in took)
            yield Row(f"burst of {TABLES} LOCKs{words}", statistics.median(ms for ms, _ in took), "ms", limit, cpu)
            yield Row("  the slowest of them", max(ms for ms, _ in took), "ms", None)
    finally:
        rig.close()


ROWS: dict[str, Callable[[argparse.Namespace, Path], Iterator[Row]]] = {
    "verify": verify,
    "start": start,
    "roll": roll,
    "burst": burst,
}


def main() -> int:
    """Measure, print the table, append it to the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(ROWS), default=list(ROWS))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--entries", type=int, default=300_000)
    parser.add_argument("--keep", type=Path, help="a folder for the day's ledger that stays")
    parser.add_argument("--note", default="")
    arguments = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="meterd-bench-"))
    rows: list[Row] = []
    try:
        for name in arguments.only:
            place = (arguments.keep or scratch / "day") if name in {"verify", "start"} else scratch
            with Path(os.devnull).open("w") as nowhere, redirect_stderr(nowhere):
                found = list(ROWS[name](arguments, place))
            for row in found:
                rows.append(row)
                limit = "" if row.limit is None else f"{'≥' if row.more_is_better else '≤'} {row.limit:,.0f}"
                cpu = "" if row.cpu is None else f"processor {row.cpu:,.1f}"
                missed = "" if row.met else "missed"
                print(f"{row.name:<52}{row.value:>12,.1f} {row.unit:<10}{limit:>10}  {missed:<7}{cpu}", flush=True)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("a", encoding="utf-8") as results:
        results.write(json.dumps(_result(arguments, rows)) + "\n")
    return 0 if all(row.met for row in rows) else 1


def _result(arguments: argparse.Namespace, rows: list[Row]) -> dict[str, Any]:
    return {
        "bench": "ledger",
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "runs": arguments.runs,
        "note": arguments.note,
        "rows": [row._asdict() | {"met": row.met} for row in rows],
    }


if __name__ == "__main__":
    sys.exit(main())
