"""Cross checks of pads that tell their presses one by one: their buses, addresses and line budget.

Units: ``*_us`` microseconds of line time in one second.
"""

from __future__ import annotations

import re
from typing import Final

from meterd.config.budget import LIMIT_PERCENT, pad_budget
from meterd.config.findings import Document, Node, path_text
from meterd.config.pads import HID, HID_UNITS, OSDP, OSDP_ADDRESSES, PAD_BUSES, PadProfile, PadRef
from meterd.config.shapes import BAUD_EXPECTED, BusShape
from meterd.config.site import BusConfig, Catalogue

#: Names of input devices that change when they are plugged in another order.
_UNSTABLE_INPUT: Final = re.compile(r"/dev/input/event\d+")


def check_pads(document: Document, catalogue: Catalogue) -> None:
    """Note everything about pads that single values cannot show."""
    root = document.root()
    for bus in root.nodes("bus"):
        _check_bus(bus)
    taken: dict[tuple[str, int], Node] = {}
    pads: dict[str, list[PadRef]] = {}
    for table in root.nodes("table"):
        keypad = table.node("keypad")
        profile = catalogue.profiles.get(keypad.text("profile") or "") if keypad is not None else None
        if keypad is None:
            continue
        if isinstance(profile, PadProfile):
            _check_pad(keypad, profile, taken)
            bus_id, unit = keypad.text("bus"), keypad.number("unit")
            if profile.kind == OSDP and bus_id is not None and unit is not None:
                pads.setdefault(bus_id, []).append(PadRef(bus_id, unit, profile))
        elif profile is not None:
            _check_wired_keys(keypad, profile.id)
    for bus_node in root.nodes("bus"):
        if bus_node.text("kind") == "osdp" and bus_node.text("id") in pads:
            _check_budget(bus_node, pads[bus_node.text("id") or ""])


def _check_wired_keys(keypad: Node, profile: str) -> None:
    """A keypad on the inputs of a Modbus module has a unit id and no word of its own for what it is."""
    if keypad.has("identity") and not keypad.wrong("identity"):
        keypad.finding("identity", f'"{profile}" tells what it is by its registers: its profile holds them')
    if keypad.number("unit") == 0:
        keypad.finding("unit", "0 is every module of a Modbus line: expected a unit id, 1 to 247")


def _check_bus(bus: Node) -> None:
    kind, port = bus.text("kind"), bus.text("port")
    if kind in {"modbus", "alpha", "sas", "osdp"} and not bus.has("baud"):
        bus.finding("baud", f"missing: expected {BAUD_EXPECTED}")
    if kind == "hid" and bus.value("baud") is not None:
        bus.finding("baud", "a USB keyboard has no speed: leave it out")
    if kind == "hid" and port is not None and _UNSTABLE_INPUT.fullmatch(port):
        bus.warning("port", "this name changes with the order of plugging: use /dev/input/by-path/…-event-kbd")
    if kind == "osdp" and (bus.number("bytesize") not in {None, 8} or bus.text("parity") not in {None, "N"}):
        bus.finding("parity", "OSDP lines are 8N1: leave bytesize, parity and stopbits out")


def _check_pad(pad: Node, profile: PadProfile, taken: dict[tuple[str, int], Node]) -> None:
    bus, unit = pad.text("bus"), pad.number("unit")
    wanted = PAD_BUSES[profile.kind]
    if pad.value("serial") is not None:
        pad.finding("serial", f'"{profile.id}" has no registers: what it says it is stands in identity')
    identity = pad.text("identity")
    if identity is not None and (":" in identity) != (profile.kind == HID):
        form = '"04D9:1203"' if profile.kind == HID else '"00BEBA-02-0000004D"'
        pad.finding("identity", f"expected the form of a {wanted} device, such as {form}")
    if bus is None or unit is None:
        return
    allowed = HID_UNITS if profile.kind == HID else OSDP_ADDRESSES
    if unit not in allowed:
        what = "a USB keyboard is alone on its bus: expected 1" if profile.kind == HID else "expected 0 to 126"
        pad.finding("unit", f"{what}, found {unit}")
    first = taken.setdefault((bus, unit), pad)
    if first is not pad:
        where = f"{path_text(first.path)} in line {first.document.line((*first.path, 'unit'))}"
        pad.finding("unit", f'address {unit} of bus "{bus}" is used by {where} already')


def _check_budget(bus: Node, pads: list[PadRef]) -> None:
    """No line of pads is asked for more than 80 % of its time. A bus whose own settings are wrong is left alone."""
    try:
        shape = BusShape.model_validate(bus.raw)
    except ValueError:
        return
    if shape.baud is None:
        return
    budget = pad_budget(BusConfig(**{**shape.model_dump(), "baud": shape.baud}), pads)
    if not budget.fits:
        bus.finding(
            "baud",
            f'bus "{shape.id}" is busy {budget.percent} % of each second, at most {LIMIT_PERCENT} % is allowed: set a '
            f"higher baud, or move {budget.units[-1].name} to another bus",
        )
