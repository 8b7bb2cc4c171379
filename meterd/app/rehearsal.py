"""A rehearsal of a site: the same file with ports of the other end's, a plan for that end, and a ledger of its own.

The ledger is a demo's, so nothing rehearsed can ever be taken for real money.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import NamedTuple

from meterd.app.create import create_ledger
from meterd.app.demo_floor import plan
from meterd.config import Site, load_site
from meterd.edge.catalogue import catalogue, read_site
from meterd.errors import MisuseError
from meterd.sim.plan import EVALUATORS

#: Lines whose other end is simulated.
KINDS = frozenset({"modbus", "alpha", "sas", "osdp"})


class Rehearsal(NamedTuple):
    """What was made: the commands that run it, each in a terminal of its own, and what could not be simulated."""

    commands: tuple[str, ...]
    left_out: tuple[str, ...]


def prepare(config: Path, folder: Path) -> Rehearsal:
    """Make a rehearsal of the site file ``config`` in a new or empty ``folder``.

    Raises:
        ConfigError: the site file has findings.
        LedgerError: the ledger cannot be made.
        MisuseError: the folder is in use.
        OSError: it cannot be written to.
    """
    site, text = read_site(config)
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise MisuseError(f"{folder} is not empty: give a rehearsal a folder of its own")
    where = folder.resolve()
    ours = with_ports(text, site, where / "ports")
    rehearsed = load_site(ours, str(where / "site.toml"), catalogue())
    told, left_out = _playable(plan(rehearsed))
    (where / "site.toml").write_text(ours, encoding="utf-8")
    (where / "plan.json").write_text(json.dumps(told, indent=1), encoding="utf-8")
    create_ledger(where / "ledger", rehearsed, demo=True)
    quoted = {name: shlex.quote(str(where / name)) for name in ("site.toml", "plan.json", "ledger", "control.sock")}
    places = f"--config {quoted['site.toml']} --ledger {quoted['ledger']} --socket {quoted['control.sock']}"
    commands = (
        f"meterd sim --plan {quoted['plan.json']} --orders -",
        f"meterd run {places} --demo",
        f"meterd ports --config {quoted['site.toml']} --socket {quoted['control.sock']}",
    )
    return Rehearsal(commands, left_out)


def with_ports(text: str, site: Site, folder: Path) -> str:
    """The text of a site file with each bus on a port of ``folder``, named after it; nothing else is changed."""
    for bus in site.buses:
        found = re.compile(rf"""^(\s*port\s*=\s*)(["']){re.escape(bus.port)}\2""", re.MULTILINE)
        text = found.sub(lambda match, name=bus.id: f'{match[1]}"{folder / name}"', text, count=1)  # type: ignore[misc]
    return text


def _playable(told: dict[str, list[dict[str, object]]]) -> tuple[dict[str, object], tuple[str, ...]]:
    """The plan without lines whose other end is not simulated, and without tables that hang on them."""
    buses = [bus for bus in told["buses"] if bus["kind"] in KINDS]
    known = {bus["id"] for bus in buses}
    tables, left_out = [], [f"line {bus['id']}: no {bus['kind']} here" for bus in told["buses"] if bus not in buses]
    for table in told["tables"]:
        ends = (table["sensors"], table["keypad"])
        if not all(isinstance(end, list) and end[0] in known for end in ends):
            left_out.append(f"table {table['id']}: nobody plays there, its keypad is not simulated")
        elif table["evaluator"] not in EVALUATORS:
            left_out.append(f"table {table['id']}: nobody plays there, its game is not dealt here")
        else:
            tables.append(table)
    return {**told, "buses": buses, "tables": tables}, tuple(left_out)
