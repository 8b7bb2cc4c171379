"""Cross checks of tables, buses and signs: who is wired to what, and whether the lines can carry it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from meterd.config.devices import ModuleRef, Profile
from meterd.config.findings import Document, Node, all_named, check_bus_of, check_unique, named, nearest, path_text
from meterd.config.pads import PAD_BUSES, PadProfile
from meterd.config.signs import check_signs
from meterd.config.site import Catalogue
from meterd.paytables.model import PayTable

#: After one stray byte, a unit id that looks like a function code costs every reply; these do not.
UNIT_ADVISED: Final = range(32, 128)
UNIT_LIKE_FUNCTION: Final = 43
#: Names that change when adapters are plugged in another order.
_UNSTABLE_PORT: Final = re.compile(r"/dev/tty(USB|ACM)\d+")
#: Stands for a serial number that nobody has read yet.
UNKNOWN_SERIAL: Final = "?"
#: Makers of adapters without a serial number of their own: two of them share one name.
_SHARED_NAME: Final = re.compile(r"/dev/serial/by-id/usb-(1a86|Prolific_Technology)")


class Wired(NamedTuple):
    """A module as the file names it: the table of the document that says so, and what it could be resolved to."""

    node: Node
    key: str
    table: Node
    bus: str | None
    unit: int | None
    profile: Profile | None
    pad: PadProfile | None = None

    @property
    def bus_kind(self) -> str:
        """The kind of bus that carries it."""
        return PAD_BUSES[self.pad.kind] if self.pad is not None else "modbus"


def check_wiring(document: Document, catalogue: Catalogue) -> None:
    """Note everything about tables, buses and signs that single values cannot show."""
    root = document.root()
    for what in ("link", "table", "bus", "sign"):
        check_unique(list(root.nodes(what)), "id", what)
    _check_buses(root)
    wired = list(_wired(root, catalogue))
    _check_modules(root, wired)
    for table in root.nodes("table"):
        _check_table(root, table, catalogue, {each.key: each for each in wired if each.table.path == table.path})
    check_signs(root, catalogue)
    _check_poll(root)
    _check_unused(root, wired)
    listen = web.text("listen") if (web := root.node("web")) is not None else None
    if web is not None and listen not in {None, "127.0.0.1", "::1", "localhost"}:
        web.warning("listen", "the pages can be reached from other machines: put them behind something that signs in")


def _wired(root: Node, catalogue: Catalogue) -> Iterator[Wired]:
    for table in root.nodes("table"):
        for key in ("sensors", "keypad"):
            node = table.node(key)
            if node is not None:
                profile = catalogue.profiles.get(node.text("profile") or "")
                module, pad = (None, profile) if isinstance(profile, PadProfile) else (profile, None)
                yield Wired(node, key, table, node.text("bus"), node.number("unit"), module, pad)


def _check_buses(root: Node) -> None:
    ports: dict[str, str] = {}
    for bus in root.nodes("bus"):
        port, name = bus.text("port"), bus.text("id") or "another bus"
        if port is None:
            continue
        if port in ports:
            bus.finding("port", f'the port is used by bus "{ports[port]}" already')
        ports.setdefault(port, name)
        if _UNSTABLE_PORT.fullmatch(port):
            bus.warning("port", "this name changes with the order of plugging: use /dev/serial/by-path/…")
        if _SHARED_NAME.match(port):
            bus.warning("port", "adapters of this make have no number of their own, two share this name: use by-path")


def _check_modules(root: Node, wired: list[Wired]) -> None:
    """Buses and unit ids: known, of the right kind, used once."""
    buses = named(list(root.nodes("bus")))
    units: dict[tuple[str, int], Wired] = {}
    for each in wired:
        known = each.profile is not None or each.pad is not None
        check_bus_of(each.node, each.bus, buses, each.bus_kind if known else None)
        if each.bus is None or each.unit is None or each.pad is not None:
            continue
        first = units.setdefault((each.bus, each.unit), each)
        if first is not each:
            where = f"{path_text(first.node.path)} in line {first.node.document.line((*first.node.path, 'unit'))}"
            each.node.finding("unit", f'unit {each.unit} of bus "{each.bus}" is used by {where} already')
        if each.unit not in UNIT_ADVISED or each.unit == UNIT_LIKE_FUNCTION:
            each.node.warning(
                "unit",
                f"unit {each.unit} looks like a function code, so one stray byte can cost replies: "
                "32 to 127 without 43 are safe",
            )
    _check_serials(wired)
    _check_swaps(wired)


def _check_serials(wired: list[Wired]) -> None:
    """A serial number is of a module that tells it, and of one module."""
    taken: dict[str, Wired] = {}
    for each in wired:
        serial = each.node.text("serial")
        if serial is None:
            continue
        if each.profile is not None and each.profile.serial is None:
            each.node.finding("serial", f'"{each.profile.id}" has no registers that tell a serial number')
        if serial == UNKNOWN_SERIAL:
            each.node.warning("serial", "the module is refused until this is what its loss says was found")
            continue
        _check_told(each, serial)
        first = taken.setdefault(serial, each)
        if first is not each:
            line = first.node.document.line((*first.node.path, "serial"))
            each.node.finding("serial", f'"{serial}" is the module in line {line} already')


def _check_told(each: Wired, serial: str) -> None:
    """A serial number that its registers cannot tell is a module that is never trusted."""
    block = each.profile.serial if each.profile is not None else None
    if block is None or each.profile is None:
        return
    if not all(" " < c <= "~" for c in serial.replace(" ", "")) or serial != serial.strip():
        each.node.finding("serial", "a serial number is ASCII, without blanks around it")
    elif len(serial) > 2 * block.words:
        each.node.finding(
            "serial", f'"{each.profile.id}" tells at most {2 * block.words} characters, not {len(serial)}'
        )


def _check_swaps(wired: list[Wired]) -> None:
    """Two lines with the same unit ids and kinds of modules: swapped plugs would show one table's bets at the other."""
    first: dict[tuple[int, str], Wired] = {}
    told: set[tuple[str, str]] = set()
    for each in wired:
        if each.bus is None or each.unit is None or each.profile is None or each.node.text("serial") is not None:
            continue
        other = first.setdefault((each.unit, each.profile.id), each)
        pair = (other.bus or "", each.bus)
        if other.bus != each.bus and pair not in told:
            told.add(pair)
            cure = "unit ids of their own" if each.profile.serial is None else 'unit ids of their own, or a "serial"'
            each.node.warning(
                "unit",
                f'bus "{other.bus}" has a "{each.profile.id}" of unit {each.unit} too, so nobody would notice swapped '
                f"plugs: give the modules {cure}",
            )


def _check_table(root: Node, table: Node, catalogue: Catalogue, wired: dict[str, Wired]) -> None:
    for each in wired.values():
        _check_profile_of(each, catalogue)
    links = named(list(root.nodes("link")))
    link = table.text("link")
    if link is not None and link not in links and all_named(root.nodes("link")):
        table.finding("link", f'there is no link "{link}"', nearest(link, links))
    mine = links.get(link or "")
    paytable = catalogue.paytables.get(mine.text("paytable") or "") if mine is not None else None
    game = table.text("game")
    if paytable is not None and game is not None and paytable.game_named(game) is None:
        known = [each.name for each in paytable.games]
        message = f'"{paytable.id}" is not approved for "{game}", only for {", ".join(known)}'
        table.finding("game", message, nearest(game, known))
    _check_seats(table, wired.get("sensors"))
    _check_keys(table, wired, paytable)


def _check_profile_of(wired: Wired, catalogue: Catalogue) -> None:
    name, kind = wired.node.text("profile"), wired.key
    if name is None:
        return
    kinds = {kind, *PAD_BUSES} if kind == "keypad" else {kind}
    fitting = [each.id for each in catalogue.profiles.values() if each.kind in kinds]
    profile = wired.profile or wired.pad
    if profile is None:
        wired.node.finding("profile", f'there is no module profile "{name}"', nearest(name, fitting))
    elif profile.kind not in kinds:
        wired.node.finding("profile", f'"{name}" is a profile of kind "{profile.kind}": expected "{kind}"')


def _check_seats(table: Node, sensors: Wired | None) -> None:
    seats = table.number("seats")
    profile = sensors.profile if sensors is not None else None
    if profile is None or seats is None or profile.kind != "sensors":
        return
    if seats > len(profile.seats):
        table.finding("seats", f'"{profile.id}" has sensors for {len(profile.seats)} seats')
    elif not profile.lamps:
        table.warning(("sensors",), f'"{profile.id}" has no lamps: players will not see that a wager was accepted')


def _check_keys(table: Node, wired: dict[str, Wired], paytable: PayTable | None) -> None:
    """Somebody can end betting, and every hand of the pay table can be keyed."""
    sensors, keypad = wired.get("sensors"), wired.get("keypad")
    pad = (keypad.profile or keypad.pad) if keypad is not None else None
    if sensors is None or sensors.profile is None or (keypad is not None and pad is None):
        return
    keys: Collection[str] = pad.keys if pad is not None else ()
    if sensors.profile.lock is None and "lock" not in keys:
        table.finding(
            ("sensors",),
            f'nothing can end betting: "{sensors.profile.id}" has no lock button with a counter, and no keypad with a'
            ' "lock" key is wired',
        )
    if paytable is not None and keypad is not None:
        hands = sum(key.startswith("hand-") for key in keys)
        if hands < len(paytable.rows):
            table.warning(("keypad",), f'{hands} hand keys for the {len(paytable.rows)} rows of "{paytable.id}"')


def _check_poll(root: Node) -> None:
    poll = root.node("poll")
    if poll is None:
        return
    levels, counters = poll.number("levels_ms"), poll.number("counters_ms")
    if levels is not None and counters is not None and counters < levels:
        poll.finding("counters_ms", f"counters are not read more often than levels ({levels} ms)")
    if levels is not None and levels > 100:
        poll.warning("levels_ms", "a lamp answers within 150 ms only where levels are read every 100 ms")


def _check_unused(root: Node, wired: list[Wired]) -> None:
    """What nobody uses was probably meant for something."""
    links = {table.text("link") for table in root.nodes("table")}
    buses = {each.bus for each in wired} | {node.text("bus") for what in ("sign", "sas") for node in root.nodes(what)}
    for what, used in (("link", links), ("bus", buses)):
        for node in root.nodes(what):
            if node.text("id") not in {None, *used}:
                node.warning("id", "no table plays on this link" if what == "link" else "nothing is wired to this bus")


def wired_modules(root: Node, catalogue: Catalogue) -> list[tuple[Wired, ModuleRef]]:
    """The modules whose bus, unit and profile are known."""
    return [
        (each, ModuleRef(each.bus, each.unit, each.profile))
        for each in _wired(root, catalogue)
        if each.bus is not None and each.unit is not None and each.profile is not None
    ]
