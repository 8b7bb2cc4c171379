"""The gaming day ends while a floor of real processes plays: on a good disk, a failing, a full, a damaged one."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from floor_effects import unbacked
from floor_laws import (
    IN_FLIGHT_S,
    lamp_findings,
    ledger_findings,
    missed_findings,
    rounds,
    safe_findings,
    wager_findings,
)
from floor_rig import Child, Floor, fold, named, site_text
from test_stop_start import said

from meterd import second_verifier
from meterd.app.key_change import put_in_force
from meterd.edge import volume
from meterd.edge.control import ask
from meterd.edge.keys import new_key_file, read_key
from meterd.errors import EXIT_LEDGER

SET_CLOCK = str(Path(__file__).with_name("set_clock.py"))
SMALL_CACHE = str(Path(__file__).with_name("small_cache.py"))
SECOND = 10**9


class WallClock:
    """The wall clock of a daemon. It begins with the real time; days end at six, UTC."""

    def __init__(self, floor: Floor) -> None:
        self._file = floor.folder / "ahead"
        self.program = (SET_CLOCK, str(self._file))
        now = datetime.now(UTC) + timedelta(minutes=1)
        six = now.replace(hour=6, minute=0, second=0, microsecond=0)
        self._end = six if six > now else six + timedelta(days=1)
        self._write(0)

    def _write(self, ahead_ns: int) -> None:
        step = self._file.with_suffix(".new")
        step.write_text(str(ahead_ns), "ascii")
        step.replace(self._file)

    def set(self, after_end_s: float) -> None:
        """So many seconds after the end of the day; before it, where negative."""
        self._write(int(self._end.timestamp() + after_end_s) * SECOND - time.time_ns())

    def next_day(self) -> None:
        """The end that is meant is that of the next day."""
        self._end += timedelta(days=1)


def end_of_day(floor: Floor, n: int, *alive: Child) -> None:
    """Until the n-th day has been read and the next volume begun."""
    floor.until_kinds(n, "BookCarried", *alive)


def findings(floor: Floor) -> list[str]:
    """Whatever anybody was told stands in a ledger that holds, over all its volumes and by both verifiers."""
    records = floor.records()
    second = second_verifier.check([floor.ledger])["first_bad"]
    found = [] if second is None else [f"second verifier: {second}"]
    return found + ledger_findings(floor.ledger, records) + lamp_findings(floor, records) + unbacked(floor, records)


def test_days_end_while_tables_play(make_floor: Callable[..., Floor]) -> None:
    """No table closes; rounds that are open go on and end; lamps, signs and the day's figures are true.

    The first day ends as days do; before the next ones the clock jumps, each time while a table is locked; at the end
    it falls back by two hours.
    """
    floor = make_floor(habits={"lucky": 0.3, "late": 0.3})
    clock = WallClock(floor)
    sim = floor.start_sim()
    run = floor.start_run(program=clock.program)
    floor.until(lambda: any(e["text"].startswith("$") for e in floor.seen("figure")), "a figure", run, sim)
    floor.until_kinds(4, "GameEnded", run, sim)
    clock.set(-2)
    end_of_day(floor, 1, run, sim)
    for day in (2, 3, 4):
        clock.next_day()
        floor.until(lambda: "LOCKED" in {t["state"] for t in floor.snapshot()["tables"].values()}, "a LOCK", run, sim)
        clock.set(-1 if day == 3 else 3600)
        end_of_day(floor, day, run, sim)
        floor.until_kinds(len(floor.of_kind("GameEnded")) + 4, "GameEnded", run, sim)
    steps = len(floor.of_kind("ClockStep"))
    clock.set(-7200)
    floor.until_kinds(steps + 1, "ClockStep", run, sim)
    floor.until_kinds(len(floor.of_kind("GameEnded")) + 4, "GameEnded", run, sim)
    assert 4 == len(floor.of_kind("DayRead")), "two hours back over the end of a day: it does not come back"
    assert floor.snapshot()["closed"] is None
    assert 0 == floor.end(run)

    records = floor.records()
    assert {"stopped"} >= {json.loads(r.body)["reason"] for r in records if r.kind == "TableClosed"}
    assert not [r for r in records if r.kind in {"DeviceLost", "MissedWhileAway"}]
    unheard, missed = missed_findings(floor, records)
    assert 0 == missed
    assert [] == findings(floor) + wager_findings(floor, records) + unheard
    readings = [record for record in records if record.kind == "DayRead"]
    locked = [sum(t.state.value == "LOCKED" for t in fold(records[: r.seq]).tables.values()) for r in readings]
    print(f"{len(records)} entries, {len(rounds(records))} rounds; tables locked as a day ended: {locked}")
    assert sum(locked)
    days = [json.loads(reading.body) for reading in readings]
    assert [day["next_day"] for day in days[:-1]] == [day["day"] for day in days[1:]]
    before = 0
    for reading, day in zip(readings, days, strict=True):
        wagers: Counter[str] = Counter()
        for record in records[before : reading.seq]:
            if record.kind == "Locked":
                wagers[str(record.link_id)] += len(json.loads(record.body)["wagers"])
            elif record.kind == "WagerVoided":
                wagers[str(record.link_id)] -= len(json.loads(record.body)["seats"])
        assert dict(wagers) == {link: facts["wagers"] for link, facts in day["links"].items() if facts["wagers"]}
        before = reading.seq
    assert 5 == len(volume.volumes(floor.ledger))


@pytest.mark.peer
@pytest.mark.parametrize(
    ("fault", "read"),
    [
        ("fdatasync:error=EIO:when=1+", None),
        ("fsync:error=EIO:when=2", True),
        ("pwrite64:error=ENOSPC:when=1+", False),
        ("pwrite64:error=ENOSPC:when=24+", True),
        ("symlink:error=ENOSPC:when=1+", True),
    ],
    ids=["the reading", "the new volume's sync", "a full disk: no reading", "a full disk: no volume", "no link"],
)
def test_a_disk_that_fails_as_the_day_ends(make_floor: Callable[..., Floor], fault: str, read: bool | None) -> None:
    """The floor closes and says so, exit 74; once there is room the next start ends the day; tables wait for END GAME.

    ``read``: whether the reading is then in the ledger already; None: unknown, as the disk pleases.
    """
    floor = make_floor(people=False)
    clock = WallClock(floor)
    sim = floor.start_sim()
    run = floor.start_run(program=clock.program)
    floor.until(lambda: {t["state"] for t in floor.snapshot()["tables"].values()} == {"OPEN"}, "open tables", run, sim)
    floor.until(lambda: any(e["text"].startswith("$") for e in floor.seen("figure")), "a figure", run, sim)
    call = fault.partition(":")[0]
    strace = floor.spawn("strace", "strace", "-f", "-p", str(run.process.pid), "-o", "/dev/null",
                         "-e", f"trace={call}", "-e", f"inject={fault}")  # fmt: skip
    floor.until(lambda: traced(run), "strace at every thread", run, strace)
    clock.set(1)
    floor.until(lambda: run.code is not None, "the daemon ends by itself", sim)
    ended_s = time.monotonic()
    assert EXIT_LEDGER == run.code
    [closed] = named(run.log.read(), "money.closed")
    print(closed["cause"])
    assert ("unknown" if read is not True else "no new volume could be begun") in closed["cause"]
    floor.until_none(safe_findings, "a safe floor", sim)
    assert [] == safe_findings(floor, ended_s + IN_FLIGHT_S)
    assert [] == findings(floor)
    if read is not None:
        assert read == bool(floor.of_kind("DayRead"))

    run = floor.start_run(program=clock.program)
    floor.until_kinds(2 * 6, "DeviceTrusted", run, sim)
    end_of_day(floor, 1, run, sim)
    told = floor.snapshot()
    assert told["closed"] is None
    assert {("CLOSED", "crash")} == {(t["state"], t["closed_reason"]) for t in told["tables"].values()}
    assert 0 == floor.end(run)
    assert 1 == len(floor.of_kind("DayRead"))
    assert 2 == len(volume.volumes(floor.ledger))
    assert [] == findings(floor)


def traced(child: Child) -> bool:
    """Whether a tracer holds all threads of a child."""
    threads = Path(f"/proc/{child.process.pid}/task").iterdir()
    return all("TracerPid:\t0\n" not in (thread / "status").read_text("ascii") for thread in threads)


def test_a_second_folder_for_checkpoints_that_is_not_there(make_floor: Callable[..., Floor], tmp_path: Path) -> None:
    """It is told in the log; the checkpoint beside the ledger is kept, and the floor plays on."""
    gone = tmp_path / "unplugged" / "disk"
    text = site_text(tmp_path / "floor" / "ports").replace("[poll]", f'checkpoints_to = "{gone}"\n[poll]')
    floor = make_floor(site=text)
    new_key_file(tmp_path / "key", "bench")
    put_in_force(floor.ledger, read_key(tmp_path / "key").public, first="adm-1", second="acc-1", reference="K-1")
    clock = WallClock(floor)
    sim = floor.start_sim()
    places = ("--config", str(floor.site_file), "--ledger", str(floor.ledger), "--socket", str(floor.socket))
    options = ("--demo", "--key", str(tmp_path / "key"))
    run = floor.spawn("run", sys.executable, *clock.program, "run", *places, *options)
    floor.until(lambda: named(run.log.read(), "run.ready"), "run.ready", run)
    floor.until_kinds(2, "GameEnded", run, sim)
    clock.set(1)
    floor.until(lambda: named(run.log.read(), "ledger.checkpoint_failed"), "a word in the log", run, sim)
    floor.until_kinds(len(floor.of_kind("GameEnded")) + 4, "GameEnded", run, sim)
    assert floor.snapshot()["closed"] is None
    told = ask(floor.socket, {"op": "stats"})["checkpoints"]
    assert (1, 0, True) == (told["owed"], told["unsigned"], told["kept_at_s"] > 0)  # what an alert is made of
    assert 0 == floor.end(run)
    [failed] = named(run.log.read(), "ledger.checkpoint_failed")
    assert "error" == failed["level"]
    assert str(gone) in failed["cause"]
    [kept] = named(run.log.read(), "ledger.checkpoint")
    [reading] = floor.of_kind("DayRead")
    assert str(floor.ledger / f"checkpoint-{reading.seq}.txt") == kept["path"]
    assert [] == findings(floor)


def test_damage_found_while_it_runs_needs_a_person(make_floor: Callable[..., Floor]) -> None:
    """SQLITE_CORRUPT closes the floor, exit 74. The next start says so in words and changes nothing; so does verify."""
    floor = make_floor()
    sim = floor.start_sim()
    run = floor.start_run(program=(SMALL_CACHE,))
    floor.until_kinds(3, "GameEnded", run, sim)
    file = floor.ledger / "ledger-1.db"
    for path, keep in ((file, 4096), (file.with_name(file.name + "-wal"), 32)):
        with path.open("r+b") as stream:
            stream.seek(keep)
            stream.write(bytes([0xA5]) * max(0, path.stat().st_size - keep))
    floor.until(lambda: run.code is not None, "the daemon ends by itself", sim)
    ended_s = time.monotonic()
    assert EXIT_LEDGER == run.code
    [closed] = named(run.log.read(), "money.closed")
    print(closed["cause"])
    assert "SQLITE_CORRUPT" in closed["cause"]
    floor.until_none(safe_findings, "a safe floor", sim)
    assert [] == safe_findings(floor, ended_s + IN_FLIGHT_S)

    held = file.read_bytes()
    again = floor.spawn_run()
    assert EXIT_LEDGER == again.wait()
    print(said(again.log.path))
    assert re.search("SQLITE_CORRUPT|SQLITE_NOTADB", said(again.log.path))
    assert "and restore a verified backup" in said(again.log.path)
    assert "Traceback" not in said(again.log.path)
    assert held == file.read_bytes()
    command = [sys.executable, "-m", "meterd", "ledger", "verify", str(floor.ledger)]
    verified = subprocess.run(command, capture_output=True, text=True, check=False)
    print(verified.stdout, verified.stderr)
    assert 1 == verified.returncode
    assert "Traceback" not in verified.stderr
