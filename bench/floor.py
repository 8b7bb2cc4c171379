"""A hundred tables on 25 lines, one dead module on each: is the cycle kept, and how fast are lamps and keys?

    .venv/bin/python bench/floor.py [--minutes 10] [--lines 25] [--units 4] [--baud 0] [--watchers 100] [--note TEXT]

Each line carries ``--units`` modules that work and one that never answers, at the slowest usual speed the line budget
allows (``--baud`` for another); levels are read ten times a second, counters once. The other end holds each reply back
by its line time and the module's turnaround. At every table chips come and go; eight tables on two further lines have
keypads, and whole rounds are dealt there. With ``--watchers`` a ``meterd web`` runs beside it with so many pages that
hear its events, and each second somebody reads its whole snapshot, its metrics, and the ledger as it stood a hundred
entries ago (``meterd ledger at``). Measured from the other end: from a chip on a sensor to its flashing lamp,
from LOCK to the steady lamp, from a key to the pad's answer, and the longest time each working module was not asked.
From the kernel: the daemon's share of a core and its memory, minute by minute. One line goes to
``bench/results/floor.jsonl``.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "daemon")]

from floor_rig import LEVELS, NEXUS, Child, Floor, Log  # noqa: E402 - a neighbour of the tests

from meterd.config import BusConfig, ModuleRef, PollConfig  # noqa: E402
from meterd.config.budget import bus_budget  # noqa: E402
from meterd.edge.catalogue import catalogue  # noqa: E402
from meterd.edge.control import ask  # noqa: E402
from meterd.sim.journal import Journal, quantile  # noqa: E402
from meterd.sim.modules import Lamp, SimModule  # noqa: E402
from meterd.sim.plan import Plan  # noqa: E402
from meterd.sim.world import World, loop_factory  # noqa: E402

RESULTS = ROOT / "bench" / "results" / "floor.jsonl"
SENSORS, PAD = "generic-sensors-16", "generic-keypad-32"
BAUDS = (9600, 19200, 38400, 57600, 115200)
PADS, PADS_A_LINE, PAD_BAUD = 8, 4, 115_200
SEATS = 7
WARM_S = 15.0
#: Limits of the design: milliseconds, share of a core, megabytes.
LIMITS = {"lock_to_lamp_p50": 95.0, "lock_to_lamp_p99": 150.0, "cpu": 0.50, "rss_mb": 150.0}


def slowest_baud(units: int) -> int:
    """The slowest usual speed at which so many sensor modules fit the line budget."""
    profile = catalogue().profiles[SENSORS]
    modules = [ModuleRef("x", 32 + n, profile) for n in range(units)]
    return next(baud for baud in BAUDS if bus_budget(BusConfig("x", "modbus", "/x", baud), modules, PollConfig()).fits)


def site_text(ports: Path, lines: int, units: int, baud: int) -> str:
    """One link, ``units`` + 1 tables on each line; the last module of each line is the dead one."""
    text = ["[site]", 'id = "bench"', 'currency = "USD"', 'timezone = "UTC"', 'gaming_day_starts = "06:00"']
    text += ["confirm_above_cents = 100_000_000", 'cards_above_cents = "none"', 'two_person_cents = "none"']
    text += ['envy_confirm_above_cents = "none"', NEXUS]
    for name, seed, increment in LEVELS["nexus-1"]:
        text += ["[[link.level]]", f'name = "{name}"', f"seed_cents = {seed}", f"increment_ppm = {increment}"]
        text += ["reserve_ppm = 10_000", 'reset = "seed_plus_reserve"', 'limit_cents = "none"', 'overflow = "none"']
        text += ['ties = "sequential"', 'share_scales = "no"', 'floor = "none"']
    padded = 0
    for line in range(lines):
        for unit in range(units + 1):
            dead = unit == units
            name = f"{'D' if dead else 'T'}-{line + 1}-{unit + 1}"
            text += ["[[table]]", f'id = "{name}"', 'game = "let-it-ride"', 'link = "nexus-1"', f"seats = {SEATS}"]
            text += [f'sensors = {{ bus = "pit-{line + 1}", unit = {50 + unit}, profile = "{SENSORS}" }}']
            if not dead and unit == 0 and padded < PADS:
                bus = f"keys-{padded // PADS_A_LINE + 1}"
                text += [f'keypad = {{ bus = "{bus}", unit = {80 + padded}, profile = "{PAD}" }}']
                padded += 1
    for bus, speed in [(f"pit-{n + 1}", baud) for n in range(lines)] + [
        (f"keys-{n + 1}", PAD_BAUD) for n in range(-(-padded // PADS_A_LINE))
    ]:
        text += ["[[bus]]", f'id = "{bus}"', 'kind = "modbus"', f'port = "{ports / bus}"', f"baud = {speed}"]
    return "\n".join(text) + "\n"


# ---- the other end: `bench/floor.py --other-end PLAN LOG`


async def other_end(plan: Plan, journal: Journal) -> None:
    """Modules, dealers at the tables with pads, and chips that come and go at the others."""
    world = World(plan, journal, seed=1, speed=2.0)
    gaps = {name: _watched(module) for name, module in world.modules.items()}
    with_pads = {table.sensors for table in plan.tables}
    world.start()
    movers = [
        asyncio.create_task(_chips(f"{bus}/{unit}", module, journal, random.Random(f"{bus}/{unit}")))
        for (bus, unit), module in world.modules.items()
        if (bus, unit) not in with_pads and bus.startswith("pit-")
    ]
    print(json.dumps({"ready": True}), flush=True)
    stop = asyncio.Event()
    for number in (15, 2):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await stop.wait()
    for mover in movers:
        mover.cancel()
    for (bus, unit), gap in gaps.items():
        journal.note("gap", module=f"{bus}/{unit}", **next(gap))
    journal.note("summary", **journal.summary())
    await world.close()


def _watched(module: SimModule) -> Iterator[dict[str, float]]:
    """From now on the longest time between two requests is kept; the iterator tells it."""
    held = {"last": 0.0, "longest": 0.0, "over_200_ms": 0.0, "requests": 0.0}
    warm_s = time.monotonic() + WARM_S
    told = module.asked

    def asked(at: float) -> None:
        now = time.monotonic()
        if held["last"] > warm_s:
            gap = now - held["last"]
            held["longest"] = max(held["longest"], gap)
            held["over_200_ms"] += gap > 0.2
            held["requests"] += 1
        held["last"] = now
        told(at)

    module.asked = asked  # type: ignore[method-assign]

    def tell() -> Iterator[dict[str, float]]:
        yield {
            "longest_ms": round(held["longest"] * 1000, 1),
            "over_200_ms": held["over_200_ms"],
            "requests": held["requests"],
        }

    return tell()


async def _chips(name: str, module: SimModule, journal: Journal, chance: random.Random) -> None:
    """Players put chips and take them away again; each lamp that begins to flash is timed."""
    loop = asyncio.get_running_loop()
    put: dict[int, float] = {}

    def look(at: float) -> None:
        for seat in [seat for seat in put if module.lamp(module.shape.lamps[seat]) is Lamp.FLASH]:
            journal.note("chip_lamp", at, module=name, ms=round((at - put.pop(seat)) * 1000, 2))

    module.listeners.append(look)
    while True:
        await asyncio.sleep(chance.uniform(2.0, 6.0))
        seats = chance.sample(range(SEATS), chance.randint(1, SEATS))
        for seat in seats:
            await asyncio.sleep(chance.uniform(0.05, 0.3))
            put[seat] = loop.time()
            module.set_input(module.shape.seats[seat], on=True, at=loop.time())
        await asyncio.sleep(chance.uniform(1.0, 3.0))
        for seat in seats:
            module.set_input(module.shape.seats[seat], on=False, at=loop.time())
            if put.pop(seat, None) is not None:
                journal.note("chip_unseen", module=name)


# ---- those who look on: `bench/floor.py --look-on PORT WATCHERS LEDGER`


async def look_on(port: int, watchers: int, ledger: str) -> None:
    """Pages that hear every event, and a reader of reports each second; what they heard is told at the end."""
    heard: Counter[str] = Counter()
    pages = [asyncio.create_task(_page(port, heard)) for _ in range(watchers)]
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(15, stop.set)
    while not stop.is_set():
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), 1.0)
        for path in ("/api/snapshot", "/metrics"):
            heard[f"{path} {await _get(port, path)}"] += 1
        snapshot = json.loads(await _body(port, "/api/snapshot"))
        command = (sys.executable, "-m", "meterd", "ledger", "at", ledger, str(max(1, snapshot["seq"] - 100)))
        report = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.DEVNULL)
        heard[f"ledger at {await report.wait()}"] += 1
    for page in pages:
        page.cancel()
    print(json.dumps(heard), flush=True)


async def _page(port: int, heard: Counter[str]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    heard["pages"] += 1
    while line := await reader.readline():
        heard["events"] += line.startswith(b"data:")
    heard["pages cut"] += 1


async def _body(port: int, path: str) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    head, _, body = (await reader.read(-1)).partition(b"\r\n\r\n")
    writer.close()
    return body if head.split()[1] == b"200" else b""


async def _get(port: int, path: str) -> str:
    return "ok" if await _body(port, path) else "failed"


def start_watchers(floor: Floor, watchers: int) -> tuple[Child, Child]:
    """``meterd web`` on a free port, and those who look on."""
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    meterd = (sys.executable, "-m", "meterd")
    web = floor.spawn("web", *meterd, "web", "--socket", str(floor.socket), "--port", str(port))

    def listens() -> bool:
        with contextlib.suppress(OSError), closing(socket.create_connection(("127.0.0.1", port))):
            return True
        return False

    floor.until(listens, "meterd web", web)
    look = (sys.executable, __file__, "--look-on", str(port), str(watchers), str(floor.ledger))
    return web, floor.spawn("watchers", *look)


# ---- the measurement


def before_others(*pids: int) -> None:
    """Sessions share the processors as equals, whatever the niceness inside: raise ours, where we may."""
    for pid in pids:
        with contextlib.suppress(OSError):
            Path(f"/proc/{pid}/autogroup").write_text("-15")


def cpu_seconds(pid: int) -> float:
    """User and system time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rss_mb(pid: int) -> float:
    """Resident memory."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def measure(folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Run the floor and return the row."""
    baud = given.baud or slowest_baud(given.units + 1)
    site = site_text(folder / "floor" / "ports", given.lines, given.units, baud)
    with Floor(folder / "floor", site=site) as floor:
        for bus in floor.plan["buses"]:
            if bus["kind"] == "modbus" and bus["id"].startswith("pit-"):
                bus["modules"].pop()  # the dead one
        plan_file = floor.folder / "plan.json"
        plan_file.write_text(json.dumps(floor.plan), encoding="utf-8")
        end = floor.spawn(
            "sim", "nice", "-n", "-10", sys.executable, __file__, "--other-end", str(plan_file), str(floor.sim_log.path)
        )
        floor.until(lambda: any("ready" in event for event in end.log.read()), "the other end", end)
        run = floor.start_run()
        pid = run.process.pid
        if given.first:
            before_others(end.process.pid, pid)
        watching = start_watchers(floor, given.watchers) if given.watchers else ()
        time.sleep(WARM_S)
        before = ask(floor.socket, {"op": "stats"}, 20.0)
        began_s, began_cpu = time.monotonic(), cpu_seconds(pid)
        sim_cpu = cpu_seconds(end.process.pid)
        minutes = [rss_mb(pid)]
        while time.monotonic() - began_s < given.minutes * 60:
            time.sleep(1.0)
            if time.monotonic() - began_s >= 60 * len(minutes):
                minutes.append(rss_mb(pid))
            assert run.code is None, run.log.path.read_text("utf-8")[-2000:]
            assert end.code is None, end.log.path.read_text("utf-8")[-2000:]
            assert all(one.code is None for one in watching), [one.log.path.read_text("utf-8") for one in watching]
        lasted_s = time.monotonic() - began_s
        cpu, memory = (cpu_seconds(pid) - began_cpu) / lasted_s, rss_mb(pid)
        sim_cpu = (cpu_seconds(end.process.pid) - sim_cpu) / lasted_s
        stats = ask(floor.socket, {"op": "stats"}, 20.0)
        watched = {"web_rss_mb": round(rss_mb(watching[0].process.pid), 1)} if watching else {}
        for one in reversed(watching):
            floor.end(one)
        if watching:
            watched["watched"] = watching[1].log.read()[-1]
        assert floor.end(end) == 0
        assert floor.end(run) == 0
        return {
            **about(given, baud, lasted_s),
            **polls(before, stats),
            **seen(floor.sim_log, began_s),
            "cpu": round(cpu, 3),
            "other_end_cpu": round(sim_cpu, 3),
            "rss_mb": round(memory, 1),
            "rss_mb_by_minute": [round(megabytes, 1) for megabytes in minutes],
            **watched,
            "loop_lag_ms_max": round(stats["loop_lag_seconds_max"] * 1000, 1),
        }


def about(given: argparse.Namespace, baud: int, lasted_s: float) -> dict[str, Any]:
    """Which run this was, and on what."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "commit": commit.stdout.strip(),
        "note": given.note,
        "load": round(os.getloadavg()[0], 1),
        "cores": os.cpu_count(),
        "first": given.first,
        "tables": given.lines * given.units,
        "dead": given.lines,
        "lines": given.lines,
        "baud": baud,
        "seconds": round(lasted_s, 1),
    }


def polls(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """What the daemon says of its own cycle, over the measured time and all lines."""

    def grown(key: str) -> int:
        return sum(after["buses"][bus][key] - before["buses"][bus][key] for bus in after["buses"])

    return {"polls": grown("polls"), "late_polls": grown("late_polls")}


def seen(log: Log, began_s: float) -> dict[str, Any]:
    """What the other end saw. A chip that was put before every table was open has no lamp."""
    events = [event for event in log.read() if event["t"] >= began_s]
    chips = sorted(event["ms"] for event in events if event["what"] == "chip_lamp")
    gaps = [event for event in events if event["what"] == "gap" and event["module"].startswith("pit-")]
    summary = next(event for event in events if event["what"] == "summary")
    keys = sorted(_key_ms(events))
    return {
        "asked_longest_ms": max((gap["longest_ms"] for gap in gaps), default=None),
        "asked_over_200_ms": int(sum(gap["over_200_ms"] for gap in gaps)),
        "modules_asked": sum(gap["requests"] > 0 for gap in gaps),
        "chips": len(chips),
        "chips_unseen": sum(event["what"] == "chip_unseen" for event in events),
        "chip_to_lamp_p50": quantile(chips, 0.50),
        "chip_to_lamp_p99": quantile(chips, 0.99),
        "locks": summary["rounds"],
        "lock_to_lamp_p50": summary["lamp_ms"]["p50"],
        "lock_to_lamp_p99": summary["lamp_ms"]["p99"],
        "keys": summary["keys"],
        "keys_unanswered": summary["keys_unanswered"],
        "key_to_answer_p50": quantile(keys, 0.50),
        "key_to_answer_p99": quantile(keys, 0.99),
    }


def _key_ms(events: list[dict[str, Any]]) -> Iterator[float]:
    """From each key to the next change of its pad's text."""
    waiting: dict[str, float] = {}
    for event in events:
        if event["what"] == "key":
            waiting[event["table"]] = event["t"]
        elif event["what"] == "text" and event["table"] in waiting:
            yield round((event["t"] - waiting.pop(event["table"])) * 1000, 2)


def main() -> int:
    """Measure once, print beside the limits, keep the row."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--minutes", type=float, default=10.0)
    arguments.add_argument("--lines", type=int, default=25)
    arguments.add_argument("--units", type=int, default=4, help="modules that work on each line")
    arguments.add_argument("--baud", type=int, default=0, help="0: the slowest that the line budget allows")
    arguments.add_argument("--note", default="")
    arguments.add_argument("--first", action="store_true", help="go before whatever else runs here (as root)")
    arguments.add_argument("--watchers", type=int, default=0, help="pages of a `meterd web` that hear every event")
    arguments.add_argument("--look-on", nargs=3, metavar=("PORT", "WATCHERS", "LEDGER"), help=argparse.SUPPRESS)
    arguments.add_argument("--other-end", nargs=2, metavar=("PLAN", "LOG"), help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.other_end:
        plan_file, log_file = map(Path, given.other_end)
        with asyncio.Runner(loop_factory=loop_factory) as runner, log_file.open("a", encoding="utf-8") as log:
            runner.run(other_end(Plan.parse(plan_file.read_text("utf-8")), Journal(log)))
        return 0
    if given.look_on:
        asyncio.run(look_on(int(given.look_on[0]), int(given.look_on[1]), given.look_on[2]))
        return 0
    with tempfile.TemporaryDirectory(prefix="floor-") as folder:
        row = measure(Path(folder), given)
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    for key, value in row.items():
        limit = LIMITS.get(key)
        kept = "" if limit is None or value is None else "kept" if value <= limit else "MISSED"
        print(f"{key:>20}  {value}" + (f"   limit {limit:g}: {kept}" if kept else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
