"""A floor of real processes: ``meterd run`` between its ledger and the simulated other end, on pseudo-terminals.

Times are seconds of the kernel's monotonic clock, the same in the other end's log and in the ledger's ``mono_ns``.
Nobody sleeps here to let something happen: every wait is for a named event, with one generous limit.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from meterd.accounting.book import Book
from meterd.app.commit import draft_entry
from meterd.app.create import create_ledger
from meterd.app.demo_floor import plan
from meterd.config import Site, load_site
from meterd.edge.catalogue import catalogue
from meterd.edge.control import ask
from meterd.edge.store import read_records
from meterd.ledger.record import Record

LIMIT_S = 20.0
LOOK_S = 0.01  # files announce nothing; how often one is read again

SENSORS = ("generic-sensors-16", 60)
PAD = ("generic-keypad-32", 80)
LOCK_INPUT = 8

NEXUS = """
[[link]]
id = "nexus-1"
paytable = "co/nexus/pmg-ml-02"
wager_cents = 100
units_max = 1
approval = "DEMO"
"""
TCP = """
[[link]]
id = "tcp-1"
paytable = "co/three-card-poker/progressive-1"
wager_cents = 100
units_max = 1
approval = "DEMO"
"""
LEVELS = {
    "nexus-1": (("mega", 5_000_000, 120_000), ("major", 500_000, 50_000), ("minor", 50_000, 40_000)),
    "tcp-1": (("main", 100_000, 200_000),),
}


class TableSpec(NamedTuple):
    """A table, its link, and the two lines it hangs on."""

    id: str
    game: str
    link: str
    seats: int
    sensors: str
    keys: str


FLOOR = (
    TableSpec("LIR-1", "let-it-ride", "nexus-1", 7, "pit-1", "keys-1"),
    TableSpec("THB-1", "texas-holdem-bonus", "nexus-1", 6, "pit-1", "keys-1"),
    TableSpec("TCP-1", "three-card-poker", "tcp-1", 7, "pit-2", "keys-2"),
)
SIGNS = {"nexus-1": ("pit-sign", "sign-1"), "tcp-1": ("tcp-sign", "sign-2")}


def site_text(
    ports: Path, tables: Sequence[TableSpec] = FLOOR, *, confirm_above: int = 0, signs: bool = True, levels_ms: int = 40
) -> str:
    """A site file of a few tables. Every award waits for a supervisor unless ``confirm_above`` (cents) says otherwise.

    ``levels_ms`` is how often a module is asked.
    """
    links = dict.fromkeys(table.link for table in tables)
    lines = ["[site]", 'id = "bench"', 'currency = "USD"', 'timezone = "UTC"', 'gaming_day_starts = "06:00"']
    lines += [f"confirm_above_cents = {confirm_above}", 'cards_above_cents = "none"', 'two_person_cents = "none"']
    lines += ['envy_confirm_above_cents = "none"', "[poll]", f"levels_ms = {levels_ms}"]
    for link in links:
        lines.append({"nexus-1": NEXUS, "tcp-1": TCP}[link])
        for name, seed, increment in LEVELS[link]:
            lines += ["[[link.level]]", f'name = "{name}"', f"seed_cents = {seed}", f"increment_ppm = {increment}"]
            lines += ["reserve_ppm = 10_000", 'reset = "seed_plus_reserve"', 'limit_cents = "none"']
            lines += ['overflow = "none"', 'ties = "sequential"', 'share_scales = "no"', 'floor = "none"']
    for place, table in enumerate(tables):
        lines += ["[[table]]", f'id = "{table.id}"', f'game = "{table.game}"', f'link = "{table.link}"']
        lines += [f"seats = {table.seats}"]
        for key, bus, (profile, unit) in (("sensors", table.sensors, SENSORS), ("keypad", table.keys, PAD)):
            lines += [f'{key} = {{ bus = "{bus}", unit = {unit + place}, profile = "{profile}" }}']
    for bus in dict.fromkeys(line for table in tables for line in (table.sensors, table.keys)):
        lines += ["[[bus]]", f'id = "{bus}"', 'kind = "modbus"', f'port = "{ports / bus}"', "baud = 115200"]
    for link in links if signs else ():
        sign, bus = SIGNS[link]
        lines += ["[[bus]]", f'id = "{bus}"', 'kind = "alpha"', f'port = "{ports / bus}"', "baud = 9600"]
        names = [name for name, _, _ in LEVELS[link]]
        lines += ["[[sign]]", f'id = "{sign}"', f'bus = "{bus}"', 'model = "betabrite-213c"']
        lines += [f"shows = {json.dumps([f'{link}/{name}' for name in names])}"]
        lines += [f"labels = {json.dumps([name.upper() for name in names])}"]
    return "\n".join(lines) + "\n"


class Log:
    """A growing file of JSON lines, read as it grows. What is no JSON is kept as ``{"line": text}``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.events: list[dict[str, Any]] = []
        self._at = 0

    def read(self) -> list[dict[str, Any]]:
        """All events so far."""
        with contextlib.suppress(FileNotFoundError), self.path.open("rb") as file:
            file.seek(self._at)
            fresh = file.read()
            whole = fresh[: fresh.rfind(b"\n") + 1]
            self._at += len(whole)
            self.events += [_event(line) for line in whole.splitlines()]
        return self.events


def _event(line: bytes) -> dict[str, Any]:
    with contextlib.suppress(ValueError):
        found = json.loads(line)
        if isinstance(found, dict):
            return found
    return {"line": line.decode("utf-8", "replace")}


class Child:
    """A process of ours and its log."""

    def __init__(self, name: str, process: subprocess.Popen[bytes], log: Log) -> None:
        self.name = name
        self.process = process
        self.log = log

    @property
    def code(self) -> int | None:
        """The exit code; None while it runs."""
        return self.process.poll()

    def wait(self) -> int:
        """The exit code, once it has ended."""
        return self.process.wait(LIMIT_S)


class Floor:
    """One site in one folder. Use as a context manager: whatever runs is ended at the end."""

    def __init__(
        self,
        folder: Path,
        *,
        tables: Sequence[TableSpec] = FLOOR,
        site: str | None = None,
        habits: Mapping[str, float] | None = None,
        speed: float = 20,
        seed: int = 0,
        people: bool = True,
        demo: bool = True,
    ) -> None:
        """Write site file, plan and ledger; start nothing."""
        self.folder = folder
        self.ports = folder / "ports"
        self.ports.mkdir(parents=True)
        self.site_file = folder / "site.toml"
        self.ledger = folder / "ledger"
        self.socket = folder / "control.sock"
        self.speed, self.seed = speed, seed
        text = site or site_text(self.ports, tables)
        self.site_file.write_text(text, encoding="utf-8")
        self.site: Site = load_site(text, "site.toml", catalogue())
        self.plan = plan(self.site)
        if habits:
            self.plan["habits"] = dict(habits)
        if not people:
            self.plan["tables"] = []
        create_ledger(self.ledger, self.site, demo=demo)
        self.sim_log = Log(folder / "sim.jsonl")
        self._children: list[Child] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for child in self._children:
            if child.code is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.process.pid, signal.SIGKILL)  # its own group; a tracer of ours is in it
                child.wait()

    # ---- processes

    def spawn(self, name: str, *command: str, cwd: Path | None = None) -> Child:
        """A child in a group of its own; both its outputs go to a log named after it."""
        log = Log(self.folder / f"{name}-{len(self._children)}.log")
        with log.path.open("wb") as out:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=cwd, start_new_session=True
            )
        child = Child(name, process, log)
        self._children.append(child)
        return child

    def start_sim(self, orders: str = "") -> Child:
        """The other end; its ports exist when this returns. ``orders``: what happens to its cables and devices.

        Hardware does not wait for a processor: where we may, the other end goes before whatever else runs here.
        """
        plan_file = self.folder / "plan.json"
        plan_file.write_text(json.dumps(self.plan), encoding="utf-8")
        arguments = ["--plan", str(plan_file), "--log", str(self.sim_log.path)]
        if orders:
            (self.folder / "orders").write_text(orders, encoding="utf-8")
            arguments += ["--orders", str(self.folder / "orders")]
        people = ("--speed", str(self.speed), "--seed", str(self.seed))
        sim = self.spawn("sim", "nice", "-n", "-10", sys.executable, "-m", "meterd", "sim", *arguments, *people)
        self.until(lambda: any("ready" in event for event in sim.log.read()), "the other end's ports", sim)
        return sim

    def spawn_run(self, *before: str, program: Sequence[str] = ("-m", "meterd"), demo: bool = True) -> Child:
        """The daemon, not waited for. ``before`` stands in front of its command line, as a tracer does."""
        places = ("--config", str(self.site_file), "--ledger", str(self.ledger), "--socket", str(self.socket))
        flag = ("--demo",) if demo else ()
        return self.spawn("run", *before, sys.executable, *program, "run", *places, *flag)

    def start_run(self, *before: str, program: Sequence[str] = ("-m", "meterd")) -> Child:
        """The daemon; it is ready when this returns."""
        run = self.spawn_run(*before, program=program)
        self.until(lambda: named(run.log.read(), "run.ready"), "run.ready", run)
        return run

    def end(self, child: Child, number: int = signal.SIGTERM) -> int:
        """Send a signal and wait for the end; the exit code."""
        child.process.send_signal(number)
        return child.wait()

    # ---- waiting

    def until(self, true: Callable[[], object], what: str, *alive: Child) -> None:
        """Until ``true()``. Fails when the limit is reached or one of ``alive`` has ended."""
        limit = time.monotonic() + LIMIT_S
        while not true():
            for child in alive:
                if child.code is not None and not true():
                    raise AssertionError(f"{what}: {child.name} ended with {child.code}\n{self._tail(child)}")
            if time.monotonic() > limit:
                tails = "\n".join(self._tail(child) for child in self._children[-2:])
                raise AssertionError(f"{what}: not within {LIMIT_S} s\n{tails}\n{self.sim_log.read()[-15:]}")
            time.sleep(LOOK_S)

    def until_sim(self, count: int, what: str, *alive: Child, since_s: float = 0.0, **facts: Any) -> None:
        """Until the other end has noted ``count`` events ``what`` with these facts after ``since_s``."""
        self.until(
            lambda: sum(e["t"] > since_s for e in self.seen(what, **facts)) >= count,
            f"{count} × {what} {facts}",
            *alive,
        )

    def until_none(self, findings: Callable[[Floor], list[str]], what: str, *alive: Child) -> None:
        """Until a check finds nothing any more; says what it still found at the limit."""
        left: list[str] = []

        def none_left() -> bool:
            left[:] = findings(self)
            return not left

        try:
            self.until(none_left, what, *alive)
        except AssertionError as error:
            raise AssertionError(f"{left}\n{error}") from None

    def until_kinds(self, count: int, kind: str, *alive: Child) -> None:
        """Until the ledger holds ``count`` entries of a kind."""
        self.until(lambda: len(self.of_kind(kind)) >= count, f"{count} × {kind} in the ledger", *alive)

    def _tail(self, child: Child) -> str:
        return f"── {child.name}\n" + child.log.path.read_text("utf-8", "replace")[-3000:]

    # ---- what was seen

    def seen(self, what: str, **facts: Any) -> list[dict[str, Any]]:
        """The other end's events of one name, with these facts."""
        return [e for e in self.sim_log.read() if e["what"] == what and facts.items() <= e.items()]

    def records(self) -> list[Record]:
        """The whole ledger as it is on disk now."""
        return list(read_records(self.ledger))

    def of_kind(self, kind: str) -> list[Record]:
        """Its entries of one kind."""
        return [record for record in self.records() if record.kind == kind]

    def snapshot(self) -> dict[str, Any]:
        """What the daemon says of itself."""
        return ask(self.socket, {"op": "snapshot"})


def named(events: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """The log lines of the daemon with one event name."""
    return [event for event in events if event.get("event") == name]


def fold(records: Sequence[Record]) -> Book:
    """The book that these entries make."""
    book = Book()
    for record in records:
        book.apply(record.seq, record.at_utc, draft_entry(record))
    return book


def books(records: Sequence[Record]) -> Iterator[tuple[Record, Book]]:
    """Each entry with the book behind it; one book, changed in place."""
    book = Book()
    for record in records:
        book.apply(record.seq, record.at_utc, draft_entry(record))
        yield record, book
