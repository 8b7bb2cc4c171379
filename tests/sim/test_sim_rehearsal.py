"""``meterd sim`` as a rehearsal: a site prepared, orders while it runs, a bad cable between two ports."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO

from click.testing import CliRunner
from sim_floor import plan_json

from meterd.app.rehearsal import with_ports
from meterd.cli.main import main
from meterd.config import load_people, load_site
from meterd.edge.catalogue import catalogue
from meterd.edge.keypad_keys import read_keys
from meterd.edge.store import read_records
from meterd.sim.modules import SimModule
from meterd.sim.plan import Plan
from protocols.osdp_keys import DEFAULT_KEY

SAMPLE = Path(__file__).parents[2] / "docs" / "site.example.toml"
LIMIT_S = 20


def start(*words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "meterd", "sim", *words]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def line_with(stream: IO[str] | None, words: str, child: subprocess.Popen[str]) -> str:
    """The first line with these words; a watchdog ends a program that never says them."""
    assert stream is not None
    watchdog = threading.Timer(LIMIT_S, child.kill)
    watchdog.start()
    found = next((line for line in stream if words in line), "")
    watchdog.cancel()
    return found


def type_in(child: subprocess.Popen[str], text: str) -> None:
    assert child.stdin is not None
    child.stdin.write(text)
    child.stdin.flush()


def test_a_site_is_prepared(tmp_path: Path) -> None:
    """The same site on simulated ports, a plan that can be played, a ledger marked as a demo's, commands to run."""
    folder = tmp_path / "a folder"
    done = CliRunner().invoke(main, ["sim", "prepare", "--config", str(SAMPLE), str(folder)])
    assert 0 == done.exit_code, done.output
    real = load_site(SAMPLE.read_text("utf-8"), "site.toml", catalogue())
    text = (folder / "site.toml").read_text("utf-8")
    site = load_site(text, "site.toml", catalogue())
    assert {bus.id: str(folder / "ports" / bus.id) for bus in real.buses} == {bus.id: bus.port for bus in site.buses}
    assert (real.links, real.tables, real.signs) == (site.links, site.tables, site.signs)
    assert text == with_ports(SAMPLE.read_text("utf-8"), real, folder / "ports")
    plan = Plan.parse((folder / "plan.json").read_text())
    assert {bus.id for bus in site.buses} == {line.id for line in plan.lines}
    assert '"demo":true' in next(iter(read_records(folder / "ledger"))).body
    commands = [shlex.split(line) for line in done.stdout.splitlines() if not line.startswith("#")]
    assert {"meterd"} == {command[0] for command in commands}
    assert ["sim", "run", "web", "meters", "ports", "monitor", "act"] == [command[1] for command in commands]
    assert str(folder / "site.toml") in commands[1]

    again = CliRunner().invoke(main, ["sim", "prepare", "--config", str(SAMPLE), str(folder)])
    assert (2, True) == (again.exit_code, "is not empty" in again.stderr)
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("nonsense")
    assert 78 == CliRunner().invoke(main, ["sim", "prepare", "--config", str(wrong), str(tmp_path / "b")]).exit_code


GAMES = """
[[bus]]
id = "sas-1"
kind = "sas"
port = "/dev/ttyS9"
baud = 19200

[[sas]]
bus = "sas-1"
group = 1
parity = "mark-space"  # as on a real floor
levels = ["nexus-1/mega"]
games = [{ address = 1 }]
"""


def test_pads_and_games_are_prepared_too(tmp_path: Path) -> None:
    """OSDP pads get the key from the factory and their supervisor a badge; games go without the ninth bit."""
    text = SAMPLE.read_text("utf-8")
    pad = 'keypad = { bus = "keys-1", unit = 53, profile = "generic-keypad-32" }'
    assert pad in text
    text = text.replace(pad, 'keypad = { bus = "keys-2", unit = 5, profile = "osdp-keypad-16" }')
    text += GAMES + '\n[[bus]]\nid = "keys-2"\nkind = "osdp"\nport = "/dev/ttyS8"\nbaud = 38400\n'
    site = tmp_path / "site.toml"
    site.write_text(text)
    folder = tmp_path / "r"
    done = CliRunner().invoke(main, ["sim", "prepare", "--config", str(site), str(folder)])
    assert 0 == done.exit_code, done.output
    assert " sas --config " in done.stdout
    made = load_site((folder / "site.toml").read_text("utf-8"), "site.toml", catalogue())
    assert [True] == [each.rehearsal for each in made.sas]
    assert {"keys-2/5": DEFAULT_KEY} == read_keys(folder / "osdp-keys", ["keys-2/5"], demo=True)
    plan = Plan.parse((folder / "plan.json").read_text())
    people = load_people((folder / "people.toml").read_text(), "people.toml")
    (badge,) = [pad.badge for line in plan.lines for pad in line.pads]
    found = people.by_badge(str(badge))
    assert plan.pit is not None
    assert found is not None
    assert (plan.pit.people[0].id, "supervisor") == (found.id, found.role)


def test_orders_are_typed_while_it_runs(tmp_path: Path) -> None:
    """One works, one is refused with what there is, one is in time; the log notes those that were carried out."""
    (tmp_path / "plan.json").write_text(json.dumps(plan_json(ports=str(tmp_path / "ports"), tables=False)))
    child = start("--plan", str(tmp_path / "plan.json"), "--log", str(tmp_path / "log"), "--orders", "-")
    assert line_with(child.stdout, "ready", child)
    type_in(child, "unplug pit-1\npull pit-1\n")
    assert line_with(child.stderr, "done: unplug pit-1", child)
    assert not (tmp_path / "ports/pit-1").exists()
    assert "there are unplug" in line_with(child.stderr, "pull", child)
    type_in(child, "at 0.05 plug pit-1\nat noon plug pit-1\n")
    assert line_with(child.stderr, "noon", child)
    assert line_with(child.stderr, "done: plug pit-1", child)
    assert (tmp_path / "ports/pit-1").exists()
    child.terminate()
    child.communicate(timeout=LIMIT_S)
    assert 0 == child.returncode
    events = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert ["unplug pit-1", "plug pit-1"] == [event["text"] for event in events if event["what"] == "order"]


def test_orders_of_a_file_are_read_before_anything_begins(tmp_path: Path) -> None:
    """A mistake is named with its line, exit 2; a good file is played."""
    (tmp_path / "plan.json").write_text(json.dumps(plan_json(ports=str(tmp_path / "ports"), tables=False)))
    orders = tmp_path / "orders"
    orders.write_text("# a bad night\nat soon unplug pit-1\n")
    bad = start("--plan", str(tmp_path / "plan.json"), "--orders", str(orders))
    _, err = bad.communicate(timeout=LIMIT_S)
    assert (2, True) == (bad.returncode, "line 2: " in err)
    for order, why in (
        ("unplug pit-1 at 2", "1 word expected behind it, not 3: pit-1 at 2"),
        ("at 3 unplug pit-9", "no line pit-9: there are pit-1"),
        ("at 3 pull pit-1", "no order 'pull': there are unplug"),
        ("stick pit-1/60/di99 on", "pit-1/60 has the inputs di0 to"),
        ("slow pit-1/60 soon", "milliseconds: expected a number"),
        ("cable pit-1 flip 7", ""),
    ):
        orders.write_text(f"at 1 echo pit-1 on\n{order}\n")
        bad = start("--plan", str(tmp_path / "plan.json"), "--orders", str(orders), "--seconds", "0.3")
        out, err = bad.communicate(timeout=LIMIT_S)
        assert (2, True, False) == (bad.returncode, f"line 2: {why.removeprefix('line 2: ')}" in err, "ready" in out), (
            err
        )
    orders.write_text("cable pit-1 flip 0.01\n")
    good = start("--plan", str(tmp_path / "plan.json"), "--orders", str(orders), "--seconds", "0.3")
    _, err = good.communicate(timeout=LIMIT_S)
    assert (0, "done: cable pit-1 flip 0.01\n") == (good.returncode, err)
    alone = CliRunner().invoke(main, ["sim"])
    assert (2, True) == (alone.exit_code, "meterd sim prepare" in alone.stderr)


def test_a_serial_number_to_be_learnt_is_refused_as_on_a_floor(tmp_path: Path) -> None:
    """Its module says a number of its own, not the question mark of the site file."""
    text = SAMPLE.read_text("utf-8")
    place = 'profile = "generic-sensors-16"'
    assert place in text
    (tmp_path / "site.toml").write_text(text.replace(place, f'{place}, serial = "?"', 1), "utf-8")
    done = CliRunner().invoke(main, ["sim", "prepare", "--config", str(tmp_path / "site.toml"), str(tmp_path / "r")])
    assert 0 == done.exit_code, done.output
    plan = Plan.parse((tmp_path / "r" / "plan.json").read_text())
    (module,) = [module for line in plan.lines for module in line.modules if (line.id, module.unit) == ("pit-1", 40)]
    assert "SIM00040" == SimModule(module.unit, module.shape, module.serial).serial


def test_a_bad_cable_as_a_program(tmp_path: Path) -> None:
    """Between a port it makes and one that exists; typed lines pull it; what happened is counted at the end."""
    master, slave = os.openpty()
    child = start("cable", str(tmp_path / "near"), os.ttyname(slave), "--duplicate", "1", "--seed", "5")
    assert line_with(child.stdout, "ready", child)
    near = os.open(tmp_path / "near", os.O_RDWR | os.O_NOCTTY)
    os.write(near, b"ab")
    assert b"aabb" == read(master, 4)
    type_in(child, "pull\n")
    assert "there are unplug, plug, to PORT" in line_with(child.stderr, "pull", child)
    type_in(child, "unplug\nto /dev/null\n")
    until_gone(tmp_path / "near")
    child.terminate()
    out, _ = child.communicate(timeout=LIMIT_S)
    assert {"carried": 2, "duplicate": 2} == json.loads(out.splitlines()[-1])
    for each in (near, master, slave):
        os.close(each)
    refused = CliRunner().invoke(main, ["sim", "cable", "a", "b", "--drop", "0.6", "--flip", "0.6"])
    assert (2, True) == (refused.exit_code, "no more than 1" in refused.stderr)


def read(fd: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        data += os.read(fd, size)
    return data


def until_gone(path: Path) -> None:
    end_s = time.monotonic() + LIMIT_S
    while path.is_symlink():
        assert time.monotonic() < end_s
        time.sleep(0.01)
