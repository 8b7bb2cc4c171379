"""The floor that the demo plays: eight tables of four games on sixteen lines, and two signs.

Data, and two renderings of it.

The site file is what a technician would write for such a floor; the plan tells the other end what it is and who plays.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, NamedTuple

from meterd.config import ModuleRef, PadRef, Site
from meterd.config.wiring_checks import UNKNOWN_SERIAL


class DemoTable(NamedTuple):
    """One table of the demo. At speed 20 its modules are asked every 40 ms, so sensors and pad have a line each."""

    id: str
    game: str
    link: str
    seats: int


TABLES: Final = (
    DemoTable("LIR-1", "let-it-ride", "nexus-1", 7),
    DemoTable("LIR-2", "let-it-ride", "nexus-1", 7),
    DemoTable("THB-1", "texas-holdem-bonus", "nexus-1", 6),
    DemoTable("TCP-1", "three-card-poker", "tcp-1", 7),
    DemoTable("TCP-2", "three-card-poker", "tcp-1", 7),
    DemoTable("BJ-1", "blackjack", "sevens-1", 7),
    DemoTable("BJ-2", "blackjack", "sevens-1", 7),
    DemoTable("THB-2", "texas-holdem-bonus", "bonus-1", 6),
)

#: link → pay table, wager in cents, and per level: name, seed, increment and reserve in ppm, limit, overflow, reset
LINKS: Final[dict[str, tuple[str, int, tuple[tuple[Any, ...], ...]]]] = {
    "nexus-1": (
        "co/nexus/pmg-ml-02",
        100,
        (
            ("mega", 5_000_000, 120_000, 30_000, "none", "none", "seed_plus_reserve", "none"),
            ("major", 500_000, 50_000, 10_000, 10_000_000, "level:mega", "seed_plus_reserve", "none"),
            ("minor", 50_000, 40_000, '"none"', 500_000, "next_meter", "seed_plus_reserve", "none"),
        ),
    ),
    "tcp-1": (
        "co/three-card-poker/progressive-1",
        100,
        (("main", 100_000, 200_000, 40_000, "none", "none", "seed_plus_reserve", "none"),),
    ),
    "sevens-1": (
        "co/blazing-sevens/b7p3",
        100,
        (
            ("mega", 2_500_000, 100_000, 20_000, "none", "none", "seed_plus_reserve", "none"),
            ("major", 250_000, 60_000, 10_000, "none", "none", "reserve_funds_seed", "none"),
            ("minor", 25_000, 40_000, '"none"', "none", "none", "larger_of", "none"),
        ),
    ),
    "bonus-1": (
        "co/texas-holdem-bonus/thbp-6",
        500,
        (("main", 1_000_000, 180_000, 40_000, "none", "none", "seed_plus_reserve", "seed"),),
    ),
}

#: sign → its line and what it shows
SIGNS: Final = {
    "pit-sign": ("sign-1", ("nexus-1/mega", "nexus-1/major", "nexus-1/minor"), ("MEGA", "MAJOR", "MINOR")),
    "tcp-sign": ("sign-2", ("tcp-1/main",), ("JACKPOT",)),
}

#: How a site file begins that a demo wrote, and may write again.
MARK: Final = "# Written by `meterd demo`"

SENSOR_UNIT: Final = 60
PAD_UNIT: Final = 80
SENSOR_PROFILE: Final = "generic-sensors-16"
PAD_PROFILE: Final = "generic-keypad-32"


def _quoted(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) and not value.startswith('"') else str(value)


def site_text(ports: Path, levels_ms: int, port: int) -> str:
    """The site file of the demo floor, with its ports as links in the folder ``ports``."""
    lines = [
        f"{MARK}, and again at each start of a demo in this folder. No amount here is real money.",
        "[site]",
        'id = "demo"',
        'currency = "USD"',
        'timezone = "UTC"',
        'gaming_day_starts = "06:00"',
        "confirm_above_cents = 1_000_000_00",
        'cards_above_cents = "none"',
        'two_person_cents = "none"',
        'envy_confirm_above_cents = "none"',
        "",
        "[poll]",
        f"levels_ms = {levels_ms}",
        "timeout_ms = 500  # a busy machine plays both ends of these wires",
        "",
        "[web]",
        f"port = {port}",
    ]
    for link_id, (paytable, wager_cents, levels) in LINKS.items():
        lines += ["", "[[link]]", f'id = "{link_id}"', f'paytable = "{paytable}"']
        lines += [f"wager_cents = {wager_cents}", "units_max = 1", 'approval = "DEMO"']
        for name, seed, increment, reserve, limit, overflow, reset, floor in levels:
            lines += ["", "[[link.level]]", f'name = "{name}"', f"seed_cents = {seed}", f"increment_ppm = {increment}"]
            lines += [f"reserve_ppm = {reserve}", f'reset = "{reset}"', f"limit_cents = {_quoted(limit)}"]
            lines += [f'overflow = "{overflow}"', 'ties = "sequential"', 'share_scales = "no"', f'floor = "{floor}"']
    for place, table in enumerate(TABLES):
        line = place + 1
        lines += ["", "[[table]]", f'id = "{table.id}"', f'game = "{table.game}"', f'link = "{table.link}"']
        lines += [f"seats = {table.seats}"]
        lines += [f'sensors = {{ bus = "pit-{line}", unit = {SENSOR_UNIT + place}, profile = "{SENSOR_PROFILE}" }}']
        lines += [f'keypad = {{ bus = "keys-{line}", unit = {PAD_UNIT + place}, profile = "{PAD_PROFILE}" }}']
    for bus in (f"{kind}-{n + 1}" for kind in ("pit", "keys") for n in range(len(TABLES))):
        lines += ["", "[[bus]]", f'id = "{bus}"', 'kind = "modbus"', f'port = "{ports / bus}"', "baud = 115200"]
    for sign, (bus, shows, labels) in SIGNS.items():
        lines += ["", "[[bus]]", f'id = "{bus}"', 'kind = "alpha"', f'port = "{ports / bus}"', "baud = 9600"]
        lines += ["", "[[sign]]", f'id = "{sign}"', f'bus = "{bus}"', 'model = "betabrite-213c"']
        lines += [f"shows = [{', '.join(map(_quoted, shows))}]", f"labels = [{', '.join(map(_quoted, labels))}]"]
    return "\n".join(lines) + "\n"


def plan(site: Site) -> dict[str, Any]:
    """What the other end is told: the same lines and modules, and what its people know of their games."""
    links = {link.id: link for link in site.links}
    tables = []
    for table in site.tables:
        if table.keypad is None:
            continue
        paytable = links[table.settings.link].paytable
        game = paytable.game_named(table.settings.game)
        tables.append(
            {
                "id": table.settings.id,
                "game": table.settings.game,
                "seats": table.settings.seats,
                "sensors": [table.sensors.bus, table.sensors.unit],
                "keypad": [table.keypad.bus, table.keypad.unit],
                "evaluator": paytable.evaluator,
                "hands": [row.hand if row.offered else "" for row in paytable.rows],
                "own_cards": game.own_cards if game else 0,
                "community_cards": game.community_cards if game else 0,
                "decks": paytable.decks,
            }
        )
    buses = []
    for bus in site.buses:
        modules = [_module(module) for module in site.modules_of(bus.id)]
        signs = [
            {
                "id": sign.id,
                "type_code": sign.model.type_code,
                "address": sign.model.address,
                "columns": sign.model.columns,
            }
            for sign in site.signs
            if sign.bus == bus.id
        ]
        games = [
            {"address": game.address, "group": sas.group, "levels": sorted(sas.numbered)}
            for sas in site.sas
            if sas.bus == bus.id
            for game in sas.games
        ]
        pads = [_pad(pad) for pad in site.pads_of(bus.id) if bus.kind == "osdp"]
        buses.append(
            {
                "id": bus.id,
                "kind": bus.kind,
                "port": bus.port,
                "baud": bus.baud,
                "modules": modules,
                "signs": signs,
                "games": games,
                "pads": pads,
            }
        )
    return {"buses": buses, "tables": tables}


def _module(module: ModuleRef) -> dict[str, Any]:
    """A module that says the number the site file wants of it; where that is to be learnt, one of its own."""
    serial = None if module.serial == UNKNOWN_SERIAL else module.serial
    return {"unit": module.unit, "profile": asdict(module.profile), "serial": serial}


def _pad(pad: PadRef) -> dict[str, Any]:
    """An OSDP pad with the key from the factory, which a demo may use."""
    text = pad.profile.text
    size = {"lines": text.lines, "columns": text.columns} if text is not None else {"lines": 0}
    return {"address": pad.unit, "keys": {name: list(codes) for name, codes in pad.profile.keys.items()}, **size}
