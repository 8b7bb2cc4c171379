"""``meterd sim`` as a program: ports first, then play, then one line of what was seen."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from sim_floor import KEYPAD, LIMIT_S, plan_json

from meterd.cli.main import main
from meterd.sim.plan import Plan, PlanError
from meterd.sim.ports import Mode, close_port, open_port


def start(folder: Path, *more: str) -> subprocess.Popen[str]:
    (folder / "plan.json").write_text(json.dumps(plan_json(ports=str(folder / "ports"))))
    command = [sys.executable, "-m", "meterd", "sim", "--plan", str(folder / "plan.json"), *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_ports_stand_when_it_says_so_and_go_with_it(tmp_path: Path) -> None:
    """The first line names the ports, which exist; SIGTERM ends it with the summary and takes them away."""
    child = start(tmp_path, "--log", str(tmp_path / "log.jsonl"))
    assert child.stdout
    ready = json.loads(child.stdout.readline())
    port = Path(ready["ports"]["pit-1"])
    assert ready["ready"]
    assert port.is_symlink()
    assert port.exists()
    child.send_signal(signal.SIGTERM)
    out, err = child.communicate(timeout=LIMIT_S)
    assert ("", 0) == (err, child.returncode)
    summary = json.loads(out.splitlines()[-1])
    assert (0, 0, {"p50": None, "p99": None}) == (summary["rounds"], summary["steady_lamps_seen"], summary["lamp_ms"])
    assert not port.is_symlink()


def test_it_stops_by_itself(tmp_path: Path) -> None:
    """With --seconds it ends without a signal."""
    child = start(tmp_path, "--seconds", "0.2", "--speed", "20", "--seed", "3")
    out, _ = child.communicate(timeout=LIMIT_S)
    assert 0 == child.returncode
    assert 2 == len(out.splitlines())


def test_a_bad_plan_is_refused(tmp_path: Path) -> None:
    """A plan that is not there or says nothing playable is refused with exit 2 and one line."""
    keyless = plan_json(ports=str(tmp_path))
    keyless["buses"][0]["modules"][1]["profile"] = KEYPAD | {"keys": {"enter": 0}}
    other = '{"buses": [{"id": "x", "kind": "telex", "port": "p", "baud": 1}]}'
    for text in ("{", other, json.dumps(keyless)):
        (tmp_path / "plan.json").write_text(text)
        command = [sys.executable, "-m", "meterd", "sim", "--plan", str(tmp_path / "plan.json")]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT_S)
        assert 2 == done.returncode
        assert 1 == len(done.stderr.splitlines())
        assert not (tmp_path / "pit-1").is_symlink()


def test_each_fault_of_a_plan_is_named(tmp_path: Path) -> None:
    """In words of the plan, with its place, and never those of the program that reads it."""
    good = plan_json(ports=str(tmp_path))
    odd_game = {**good, "tables": [{**good["tables"][0], "evaluator": "five-crad"}]}
    for plan, says in (
        ({}, "the plan names no line: it needs buses"),
        ({"buses": [{"id": "x", "port": "p"}]}, "buses[0] lacks kind, baud"),
        ({"buses": {}}, "buses is no JSON list"),
        ({"buses": ["x"]}, "buses[0] is no JSON object"),
        ({"buses": [{**good["buses"][0], "modules": [1]}]}, "buses[0].modules[0] is no JSON object"),
        ({**good, "tables": [{"id": "T1"}]}, "tables[0] lacks game, seats"),
        (odd_game, "table T1: there is no evaluator 'five-crad'; there are five-card, three-card, sevens"),
    ):
        with pytest.raises(PlanError) as told:
            Plan.parse(json.dumps(plan))
        assert says in str(told.value)
        assert "__init__" not in str(told.value)


def test_a_plan_that_is_not_there_is_named(tmp_path: Path) -> None:
    """File and cause, without an error number."""
    told = CliRunner().invoke(main, ["sim", "--plan", str(tmp_path / "absent.json")])
    assert (2, f"meterd sim: {tmp_path / 'absent.json'}: No such file or directory\n") == (told.exit_code, told.stderr)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"baud": 0}, "bus pit-1: baud is a whole number from 1"),
        ({"noise": {"byte": 7}}, "noise.byte is a share from 0 to 0.333, not 7"),
        ({"noise": {"bite": 0.1}}, "noise has no bite: there are drop, flip, stray, byte"),
    ],
)
def test_a_line_that_cannot_be_is_named(tmp_path: Path, change: dict[str, object], says: str) -> None:
    """Numbers out of range and misspelt keys, before any port is made."""
    plan = plan_json(ports=str(tmp_path))
    plan["buses"][0] |= change
    assert says in refusal(tmp_path, json.dumps(plan))


def refusal(folder: Path, text: str | bytes) -> str:
    """What is said about a plan that is refused with exit 2."""
    file = folder / "plan.json"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    told = CliRunner().invoke(main, ["sim", "--plan", str(file), "--seconds", "0.01"])
    assert (2, []) == (told.exit_code, [*folder.glob("pit-*")])
    return told.stderr


def test_tables_and_devices_that_cannot_be_are_named(tmp_path: Path) -> None:
    """Seats without sensors, no deck, shares above one, what stands there twice, no text at all."""
    good = plan_json(ports=str(tmp_path))
    bus, table = good["buses"][0], good["tables"][0]
    for plan, says in (
        ({**good, "tables": [{**table, "seats": 99}]}, "seats is a whole number from 1 to 8, not 99"),
        ({**good, "tables": [{**table, "decks": 0}]}, "decks is a whole number from 1 to 8, not 0"),
        ({**good, "habits": {"lucky": 5}}, "habits.lucky is a share from 0 to 1, not 5"),
        ({**good, "buses": [bus, bus]}, "bus pit-1 stands there twice"),
        ({**good, "buses": [{**bus, "modules": [*bus["modules"], bus["modules"][0]]}]}, "two devices with the address"),
    ):
        assert says in refusal(tmp_path, json.dumps(plan))
    assert "no text" in refusal(tmp_path, b"\xff\xfe")


def test_no_number_is_no_time(tmp_path: Path) -> None:
    """``nan`` is within every range, and would never end."""
    told = CliRunner().invoke(main, ["sim", "--plan", str(tmp_path / "x"), "--seconds", "nan"])
    assert (2, True) == (told.exit_code, "nan is no number" in told.stderr)


def test_a_cable_takes_nothing_that_is_held_or_there(tmp_path: Path) -> None:
    """Exit 2 with the port and its holder, or the name that is taken; what was there stays."""
    master, slave = os.openpty()
    port = open_port(Path(os.ttyname(slave)), Mode())
    held = CliRunner().invoke(main, ["sim", "cable", str(tmp_path / "near"), str(port.port)])
    assert (2, f"held by another program: process {os.getpid()}" in held.stderr) == (held.exit_code, True)
    assert not (tmp_path / "near").is_symlink()
    close_port(port)
    (tmp_path / "mine").write_text("precious")
    taken = CliRunner().invoke(main, ["sim", "cable", str(tmp_path / "mine"), os.ttyname(slave)])
    assert (2, "precious") == (taken.exit_code, (tmp_path / "mine").read_text())
    absent = CliRunner().invoke(main, ["sim", "cable", str(tmp_path / "near"), str(tmp_path / "far")])
    assert (2, f"meterd sim cable: {tmp_path / 'far'} does not exist\n") == (absent.exit_code, absent.stderr)
    os.close(slave)
    os.close(master)
