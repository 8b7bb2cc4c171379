"""A rehearsal of a site: the same file with ports of the other end's, a plan for that end, and a ledger of its own.

The ledger is a demo's, so nothing rehearsed can ever be taken for real money. The people who sign there are made for
it, with PINs and badges that are drawn anew each time; the site's own people file is never read. Pads have the key from
the factory, which a demo alone takes.
"""

from __future__ import annotations

import json
import re
import secrets
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from meterd.app.create import create_ledger
from meterd.app.demo_floor import plan
from meterd.config import Site, load_site
from meterd.edge.catalogue import PEOPLE_FILE, catalogue, read_site
from meterd.edge.keypad_keys import NAME as KEYS_FILE
from meterd.edge.keypad_keys import pads_of
from meterd.edge.secrets import hash_pin
from meterd.errors import MisuseError
from meterd.sim.plan import EVALUATORS
from protocols.osdp_keys import DEFAULT_KEY

#: Lines whose other end is simulated.
KINDS = frozenset({"modbus", "alpha", "sas", "osdp"})
#: Who signs in a rehearsal. Two supervisors, since what is large takes two; and who else a technician may want to be.
PEOPLE: Final = (
    ("rehearsal-sup-1", "supervisor"),
    ("rehearsal-sup-2", "supervisor"),
    ("rehearsal-acc-1", "accounting"),
    ("rehearsal-adm-1", "administrator"),
)
_PEOPLE_HEAD: Final = """\
# REHEARSAL: written by `meterd sim prepare`. Nobody here is a person; their PINs lie beside, in pins/. Of no use on a
# real floor: never copy it there.
"""
_SAS_BLOCK: Final = re.compile(r"^\[\[sas\]\][^\n]*\n(?:(?!\[)[^\n]*\n?)*", re.MULTILINE)
_PARITY: Final = re.compile(r"^\s*parity\s*=[^\n]*\n", re.MULTILINE)
PORT_MAX: Final = 65535


class Person(NamedTuple):
    """Somebody of a rehearsal: nothing of it is anybody's."""

    id: str
    role: str
    pin: str
    badge: str


class Rehearsal(NamedTuple):
    """What was made: the commands that run it, each in a terminal of its own, and what could not be simulated.

    ``asks``: commands to ask it with, from one more terminal.
    """

    commands: tuple[str, ...]
    asks: tuple[str, ...]
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
    people = [_person(*each) for each in PEOPLE]
    (where / "site.toml").write_text(ours, encoding="utf-8")
    _write_people(where, people)
    if pads := pads_of(rehearsed):
        _write_secret(where / KEYS_FILE, "".join(f"{pad} {DEFAULT_KEY.hex()}\n" for pad in pads))
    _write_secret(where / "plan.json", json.dumps(_with_people(told, people, where / "control.sock"), indent=1))
    create_ledger(where / "ledger", rehearsed, demo=True)
    return Rehearsal(*_commands(where, rehearsed), left_out)


def _commands(where: Path, site: Site) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What runs a rehearsal, and what asks it. Its pages are on loopback, and not on the port of the real ones."""
    config, made, ledger, control, state, pin = (
        shlex.quote(str(where / name))
        for name in ("site.toml", "plan.json", "ledger", "control.sock", "sas", f"pins/{PEOPLE[0][0]}")
    )
    port = site.web.port + (1 if site.web.port < PORT_MAX else -1)
    runs = (
        f"meterd sim --plan {made} --orders -",
        f"meterd run --config {config} --ledger {ledger} --socket {control} --demo",
        *((f"meterd sas --config {config} --socket {control} --state {state}",) if site.sas else ()),
        f"meterd web --socket {control} --listen 127.0.0.1 --port {port}",
    )
    asks = (
        f"meterd meters --socket {control}",
        f"meterd ports --config {config} --socket {control}",
        f"meterd monitor {site.buses[0].id} --config {config} --socket {control}",
        f"meterd act 'hold A1' --by {PEOPLE[0][0]} --pins-from {pin} --socket {control}",
    )
    return runs, asks


def _person(name: str, role: str) -> Person:
    """With a PIN and a badge that nobody has."""
    bits = secrets.randbits(26)
    return Person(name, role, f"{secrets.randbelow(10**8):08}", f"26:{(bits << 6).to_bytes(4, 'big').hex().upper()}")


def _write_people(where: Path, people: Sequence[Person]) -> None:
    """The people file, and a file with the PIN of each, as ``meterd act --pins-from`` reads it."""
    text = _PEOPLE_HEAD
    (where / "pins").mkdir(mode=0o700)
    for each in people:
        text += f'\n[[person]]\nid = "{each.id}"\nrole = "{each.role}"\nbadge = "{each.badge}"\n'
        text += f'pin_hash = "{hash_pin(each.pin)}"\n'
        _write_secret(where / "pins" / each.id, f"{each.pin}\n")
    _write_secret(where / PEOPLE_FILE, text)


def _write_secret(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")


def _with_people(told: dict[str, Any], people: Sequence[Person], control: Path) -> dict[str, Any]:
    """The plan with the supervisors at the pit, one of whom is called to the tables with his badge."""
    supervisors = [each for each in people if each.role == "supervisor"]
    buses = [{**bus, "pads": [{**pad, "badge": supervisors[0].badge} for pad in bus["pads"]]} for bus in told["buses"]]
    signing = [{"id": each.id, "pin": each.pin} for each in supervisors]
    return {**told, "buses": buses, "pit": {"socket": str(control), "people": signing}}


def with_ports(text: str, site: Site, folder: Path) -> str:
    """The text of a site file with each bus on a port of ``folder``, named after it.

    Nothing else is changed but what a pseudo-terminal cannot do: a line of games goes without the ninth bit.
    """
    for bus in site.buses:
        found = re.compile(rf"""^(\s*port\s*=\s*)(["']){re.escape(bus.port)}\2""", re.MULTILINE)
        text = found.sub(lambda match, name=bus.id: f'{match[1]}"{folder / name}"', text, count=1)  # type: ignore[misc]
    return _SAS_BLOCK.sub(_without_ninth_bit, text)


def _without_ninth_bit(block: re.Match[str]) -> str:
    head, _, rest = block[0].partition("\n")
    return f'{head}\nparity = "none-for-rehearsal"\n{_PARITY.sub("", rest)}'


def _playable(told: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
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
