"""How a daemon ends, and what it will not begin on."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from floor_laws import IN_FLIGHT_S, lamp_findings, ledger_findings, safe_findings
from floor_rig import Floor, fold, named

from meterd.errors import EXIT_CONFIG, EXIT_LEDGER


def test_a_clean_stop_leaves_a_safe_floor_and_the_next_start_opens_it(make_floor: Callable[..., Floor]) -> None:
    """SIGTERM: a Stopped entry, lamps dark, signs CLOSED, exit 0. The next start opens what was open by itself."""
    floor = make_floor()
    sim = floor.start_sim()
    run = floor.start_run()
    floor.until_kinds(5, "GameEnded", run, sim)
    floor.until(lambda: any(e["text"].startswith("$") for e in floor.seen("figure")), "a figure", run, sim)
    assert floor.end(run) == 0
    ended_s = time.monotonic()
    floor.until_none(safe_findings, "a safe floor", sim)
    assert [] == safe_findings(floor, ended_s + IN_FLIGHT_S), "the daemon closes; the modules' own watchdogs come later"

    records = floor.records()
    assert records[-1].kind == "Stopped"
    left = fold(records)
    closed = [name for name, table in left.tables.items() if table.state.value == "CLOSED"]
    assert {"stopped"} >= {left.tables[name].closed_reason for name in closed}

    run = floor.start_run()
    again = len(records)
    floor.until(
        lambda: set(closed) <= {r.table_id for r in floor.records()[again:] if r.kind == "TableOpened"},
        "tables open by themselves", run, sim,
    )  # fmt: skip
    floor.until_kinds(len(floor.of_kind("GameEnded")) + 4, "GameEnded", run, sim)
    assert floor.end(run) == 0
    records = floor.records()
    for name, table in left.tables.items():
        turns = [r.kind for r in records[again:] if r.table_id == name and r.kind in {"TableOpened", "GameEnded"}]
        assert turns[:1] in ([], ["GameEnded" if table.state.value == "LOCKED" else "TableOpened"])
    assert [] == ledger_findings(floor.ledger, records) + lamp_findings(floor, records)


def test_outputs_closed_after_a_kill(make_floor: Callable[..., Floor]) -> None:
    """What the service manager runs after any exit: a killed daemon's lamps go dark and its signs say CLOSED."""
    floor = make_floor()
    sim = floor.start_sim()
    run = floor.start_run()
    floor.until(lambda: any(e["text"].startswith("$") for e in floor.seen("figure")), "a figure", run, sim)
    floor.until_sim(3, "lamp", run, sim, lamp="steady")
    assert -signal.SIGKILL == floor.end(run, signal.SIGKILL)
    closing = floor.spawn("outputs", sys.executable, "-m", "meterd", "outputs", "closed", "--config",
                          str(floor.site_file))  # fmt: skip
    assert closing.wait() == 0, closing.log.path.read_text("utf-8")
    floor.until_none(safe_findings, "a safe floor", sim)
    run = floor.start_run()
    floor.until_kinds(len(floor.of_kind("GameEnded")) + 3, "GameEnded", run, sim)
    assert floor.end(run) == 0


def test_a_hangup_changes_nothing(make_floor: Callable[..., Floor]) -> None:
    """SIGHUP is told in the log and ignored: the floor plays on."""
    floor = make_floor()
    sim = floor.start_sim()
    run = floor.start_run()
    floor.until_kinds(1, "Locked", run, sim)
    run.process.send_signal(signal.SIGHUP)
    floor.until(lambda: named(run.log.read(), "run.sighup_ignored"), "a word about SIGHUP", run)
    floor.until_kinds(len(floor.of_kind("Locked")) + 3, "Locked", run, sim)
    assert floor.end(run) == 0


def test_without_a_ledger_nothing_runs_and_none_is_made(make_floor: Callable[..., Floor]) -> None:
    """Exit 74, a sentence that says what to do, and an untouched folder."""
    floor = make_floor()
    floor.ledger = floor.folder / "nothing"
    floor.ledger.mkdir()
    run = floor.spawn_run()
    assert run.wait() == EXIT_LEDGER
    assert "no ledger in" in said(run.log.path)
    assert "meterd ledger create" in said(run.log.path)
    assert [] == list(floor.ledger.iterdir())


@pytest.mark.parametrize("demo", [True, False], ids=["a demo's, really", "a real one, for a demo"])
def test_demo_and_real_ledgers_do_not_mix(make_floor: Callable[..., Floor], demo: bool) -> None:
    """A demo ledger is refused by plain ``run``, a real one by ``run --demo``; neither gets an entry."""
    floor = make_floor(demo=demo)
    before = floor.records()
    run = floor.spawn_run(demo=not demo)
    assert run.wait() == EXIT_LEDGER
    assert ("demo ledger" if demo else "real ledger") in said(run.log.path)
    assert before == floor.records()


def test_a_site_file_that_is_not_in_force_is_named(make_floor: Callable[..., Floor]) -> None:
    """Exit 78; each difference with its place, what the ledger holds and what the file says; no entry."""
    floor = make_floor()
    before = floor.records()
    text = floor.site_file.read_text("utf-8")
    floor.site_file.write_text(text.replace("increment_ppm = 200000", "increment_ppm = 210000"), "utf-8")
    run = floor.spawn_run()
    assert run.wait() == EXIT_CONFIG
    words = said(run.log.path)
    assert "link tcp-1.levels[0].increment_ppm: the ledger holds 200000, the site file says 210000" in words
    assert before == floor.records()


def test_one_ledger_has_one_daemon(make_floor: Callable[..., Floor]) -> None:
    """A second ``run`` on the same ledger ends with 74 and does not disturb the first."""
    floor = make_floor()
    sim = floor.start_sim()
    run = floor.start_run()
    second = floor.spawn_run()
    assert second.wait() == EXIT_LEDGER
    assert "held" in said(second.log.path)
    floor.until_kinds(2, "GameEnded", run, sim)
    assert floor.snapshot()["closed"] is None
    assert floor.end(run) == 0
    assert sum(record.kind == "Started" for record in floor.records()) == 1


def test_a_socket_that_answers_belongs_to_another_daemon(make_floor: Callable[..., Floor]) -> None:
    """A second floor given the first one's socket ends with 78 and no entry; the first one can still be asked."""
    floor, other = make_floor("first", people=False), make_floor("second", people=False)
    run = floor.start_run()
    other.socket = floor.socket
    before = other.records()
    second = other.spawn_run()
    assert second.wait() == EXIT_CONFIG
    assert f"another daemon answers at {floor.socket}" in said(second.log.path)
    assert before == other.records()
    assert floor.snapshot()["closed"] is None
    assert floor.end(run) == 0
    assert not floor.socket.exists()


@pytest.mark.parametrize("kind", ["a file", "no folder", "too long"])
def test_a_socket_that_cannot_be_opened_leaves_no_entry(make_floor: Callable[..., Floor], kind: str) -> None:
    """Exit 78, cause and next step in a sentence, nothing made or removed, no entry in the ledger."""
    floor = make_floor(people=False)
    path, words = {
        "a file": (floor.site_file, "something that is no socket is there. It was left as it is"),
        "no folder": (floor.folder / "none" / "c.sock", f"there is no folder {floor.folder / 'none'}. Make it"),
        "too long": (floor.folder / ("x" * 108), "longer than 107 bytes. Choose a shorter one"),
    }[kind]
    floor.socket = path
    before, text = floor.records(), floor.site_file.read_text("utf-8")
    run = floor.spawn_run()
    assert run.wait() == EXIT_CONFIG
    assert words in said(run.log.path)
    assert "Traceback" not in said(run.log.path)
    assert before == floor.records()
    assert text == floor.site_file.read_text("utf-8")
    assert not (floor.folder / "none").exists()


def said(log: Path) -> str:
    """What a daemon said on standard error, words broken over lines put together."""
    return json.dumps(log.read_text("utf-8"), ensure_ascii=False)
