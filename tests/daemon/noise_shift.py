"""A shift through bad cables: people deal, bet and act on what they see; two accounts of it are held side by side.

The other end's log is the oracle: which chips lay on the sensors when LOCK was pressed, which lamps were seen steady.
Used by a short test and by the long run in ``bench/noise.py``.
"""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from floor_laws import FOREVER, lamp_findings, ledger_findings, rounds, seconds
from floor_rig import Floor, TableSpec, site_text

from meterd.edge.control import ask
from meterd.ledger.record import Record

GAMES = (("let-it-ride", "nexus-1", 7), ("texas-holdem-bonus", "nexus-1", 6), ("three-card-poker", "tcp-1", 7))
HABITS = {"lucky": 0.02, "late": 0.10, "mistype": 0.05, "void_seat": 0.0, "void_round": 0.0}
LOOK_S = 0.25
#: A press is answered within this, or its round did not come of it.
PRESS_S = 15.0
BEHIND_S = 3.0


def noisy_floor(
    folder: Path, tables: int, rate: float, *, seed: int = 1, speed: float = 40, levels_ms: int = 40
) -> Floor:
    """A floor of so many tables, each on two lines of its own, all of them through cables of this quality."""
    specs = [TableSpec(f"T-{n + 1}", *GAMES[n % len(GAMES)], f"pit-{n + 1}", f"keys-{n + 1}") for n in range(tables)]
    site = site_text(folder / "ports", specs, signs=False, confirm_above=1_000_000_00, levels_ms=levels_ms)
    floor = Floor(folder, tables=specs, site=site, habits=HABITS, speed=speed, seed=seed)
    for bus in floor.plan["buses"]:
        bus["noise"] = {"byte": rate}
    return floor


def shift(floor: Floor, wanted: int, limit_s: float) -> dict[str, Any]:
    """Play until ``wanted`` rounds were played to their end, or so long; then both accounts: numbers and findings."""
    sim, run = floor.start_sim(), floor.start_run()
    began_s = time.monotonic()
    done = 0
    while done < wanted and time.monotonic() - began_s < limit_s:
        time.sleep(LOOK_S)
        for child in (sim, run):
            assert child.code is None, f"{child.name} ended with {child.code}\n{floor._tail(child)}"
        tables = ask(floor.socket, {"op": "snapshot"}, 20.0)["tables"].values()
        done = sum(table["round"] - (table["state"] == "LOCKED") for table in tables)
    stats = ask(floor.socket, {"op": "stats"}, 20.0)
    lasted_s = time.monotonic() - began_s
    assert floor.end(run) == 0
    assert floor.end(sim) == 0
    records = floor.records()
    frames: Counter[str] = Counter()
    for bus in stats["buses"].values():
        frames.update(bus["frames"])
    kinds = Counter(record.kind for record in records)
    lost = Counter(_lost_by(record) for record in records if record.kind == "DeviceLost")
    return {
        "seconds": round(lasted_s, 1),
        "rounds": sum(each.ended_s < FOREVER for each in rounds(records)),
        "wagers": sum(len(each.seats) for each in rounds(records)),
        "steady_lamps": len({(e["table"], e["lock"], e["seat"]) for e in floor.seen("lamp", lamp="steady")}),
        "devices_lost": kinds["DeviceLost"],
        "lost_by": dict(lost.most_common()),
        "closings": sum(
            record.kind == "TableClosed" and bool(json.loads(record.body).get("needs_end_game")) for record in records
        ),
        "late_bets": kinds["LateBet"],
        "frames_ok": frames.pop("ok", 0),
        "frames_bad": dict(frames),
        "rounds_pad_behind": pads_behind(floor, records),
        **oracle(floor, records),
    }


def _lost_by(record: Record) -> str:
    """Which kind of device was lost, and why: ``keys: timeout``."""
    body = json.loads(record.body)
    facts = body.get("facts", body)
    return f"{(record.device or '?').partition('-')[0]}: {facts.get('cause')}"


def pads_behind(floor: Floor, records: Sequence[Record]) -> int:
    """Rounds in which the pad still said OPEN ``BEHIND_S`` after LOCK. No money hangs on it, but a dealer reads it."""
    texts: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for text in floor.seen("text"):
        texts[text["table"]].append((text["t"], text["lines"][0]))
    found = 0
    for each in rounds(records):
        looked_s = each.locked_s + BEHIND_S
        said = [line for at_s, line in texts[each.table] if at_s <= looked_s]
        found += each.ended_s > looked_s and bool(said) and said[-1].startswith("OPEN")
    return found


def oracle(floor: Floor, records: Sequence[Record]) -> dict[str, Any]:
    """What the ledger holds against what the other end saw.

    A wager whose module was lost before its lamp could be lit, and a chip that was on its way when LOCK was pressed,
    are told apart by name; everything else is a finding.
    """
    findings = ledger_findings(floor.ledger, records) + lamp_findings(floor, records)
    lamps: dict[tuple[str, int], list[float]] = defaultdict(list)
    for lamp in floor.seen("lamp", lamp="steady"):
        lamps[lamp["table"], lamp["seat"]].append(lamp["t"])
    presses: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for press in floor.seen("lock"):
        presses[press["table"]].append(press)
    lost = [(record.device or "", seconds(record)) for record in records if record.kind == "DeviceLost"]
    modules = {table.id: table.sensors.device for table in floor.site.tables}
    unlit = unpressed = phantom = overlooked = 0
    used: set[tuple[str, int]] = set()
    for each in rounds(records):
        before = [press for press in presses[each.table] if each.locked_s - PRESS_S < press["t"] <= each.locked_s]
        if not before:
            unpressed += 1
            findings.append(f"{each.table} round {each.number}: a LOCK that nobody pressed")
            continue
        press = before[-1]
        if (each.table, press["lock"]) in used:
            findings.append(f"{each.table} round {each.number}: press {press['lock']} locked twice")
        used.add((each.table, press["lock"]))
        chips = set(press["seats"])
        phantom += len(set(each.seats) - chips)
        findings += [f"{each.table} round {each.number}: seat {s} bet nothing" for s in sorted(set(each.seats) - chips)]
        overlooked += len(chips - set(each.seats))
        module = modules[each.table]
        disturbed = any(device == module and each.locked_s <= at_s <= each.ended_s for device, at_s in lost)
        for seat in each.seats:
            if any(each.locked_s < at_s < each.ended_s for at_s in lamps[each.table, seat]):
                continue
            if each.ended_s == FOREVER:
                continue
            unlit += 1
            if not disturbed:
                told = f"LOCK {each.locked_s - press['t']:.3f} s after its press, "
                told += f"END GAME {each.ended_s - each.locked_s:.3f} s later"
                findings.append(f"{each.table} round {each.number} seat {seat}: a wager without a lamp; {told}")
    return {
        "wagers_unlit_module_lost": unlit,
        "locks_unpressed": unpressed,
        "wagers_without_chip": phantom,
        "chips_not_in_round": overlooked,
        "presses": sum(map(len, presses.values())),
        "findings": findings,
    }
