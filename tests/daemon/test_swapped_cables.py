"""Two plugs swapped: no table opens, ledger and log say which module was found where; put right, they open."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from floor_rig import FLOOR, Floor, site_text

TABLES = (FLOOR[0], FLOOR[2])  # one on pit-1, one on pit-2


def test_swapped_sensor_cables_are_named_and_close_their_tables(
    make_floor: Callable[..., Floor], tmp_path: Path
) -> None:
    """Same unit id and kind of module on both lines; only their serial numbers, which the site file has, differ."""
    text = site_text(tmp_path / "floor" / "ports", TABLES, signs=False)
    for line, unit, serial in (("pit-1", 60, "SENSOR-A"), ("pit-2", 61, "SENSOR-B")):
        said = f'bus = "{line}", unit = {unit}, profile = "generic-sensors-16"'
        assert said in text
        text = text.replace(said, f'bus = "{line}", unit = 60, profile = "generic-sensors-16", serial = "{serial}"')
    floor = make_floor(site=text, tables=TABLES, people=False)
    right = floor.plan["buses"]
    floor.plan["buses"] = swapped(right)
    sim = floor.start_sim()
    run = floor.start_run()
    floor.until(lambda: len(strangers(floor)) == 2, "two modules in the wrong place", run, sim)
    assert {
        "pit-1/60": "wanted SENSOR-A at pit-1/60, found SENSOR-B, which belongs at pit-2/60",
        "pit-2/60": "wanted SENSOR-B at pit-2/60, found SENSOR-A, which belongs at pit-1/60",
    } == strangers(floor)
    floor.until(lambda: len(floor.of_kind("DeviceTrusted")) == 2, "both pads", run, sim)
    assert {"CLOSED"} == {table["state"] for table in floor.snapshot()["tables"].values()}
    assert 2 == sum("which belongs at" in str(event.get("found")) for event in run.log.read())
    floor.end(sim)
    floor.plan["buses"] = right
    sim = floor.start_sim()
    floor.until(
        lambda: {"OPEN"} == {table["state"] for table in floor.snapshot()["tables"].values()}, "open tables", run, sim
    )
    assert 0 == floor.end(run)


def test_silence_behind_a_wrong_plug_is_named_too(make_floor: Callable[..., Floor]) -> None:
    """Modules with unit ids of their own say nothing there: the line asks for those of others, and says who answers.

    The ports were away meanwhile, and are told as back: what stands in the way is not that any more.
    """
    floor = make_floor(tables=TABLES, people=False)
    right = floor.plan["buses"]
    sim = floor.start_sim()
    run = floor.start_run()

    def states() -> set[str]:
        return {table["state"] for table in floor.snapshot()["tables"].values()}

    floor.until(lambda: {"OPEN"} == states(), "open tables", run, sim)
    floor.end(sim)
    floor.plan["buses"] = swapped(right, "pit-1", "keys-1")
    sim = floor.start_sim()
    wanted = {
        "pit-1/60": "keys-1/80 answers here: are the plugs of pit-1 and keys-1 swapped?",
        "keys-1/80": "pit-1/60 answers here: are the plugs of keys-1 and pit-1 swapped?",
    }

    def found() -> dict[str, str]:
        devices = floor.snapshot()["devices"]
        return {name: state.get("found", "") for name, state in devices.items() if state["cause"] == "timeout"}

    floor.until(lambda: wanted == found(), "two lines that name the other", run, sim)
    assert {"CLOSED"} == states()

    def asked(*verb: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "meterd", *verb, "--socket", str(floor.socket)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    ports, table = asked("ports", "--config", str(floor.site_file)), asked("table", "show")
    assert (1, 0) == (ports.returncode, table.returncode)
    for device, words in wanted.items():
        assert f"{device}: timeout, {words}" in ports.stderr
        assert f"away: {device}: timeout, {words}" in table.stdout
    floor.end(sim)
    floor.plan["buses"] = right
    sim = floor.start_sim()
    floor.until(lambda: all(each["up"] for each in floor.snapshot()["devices"].values()), "trusted modules", run, sim)
    assert 0 == floor.end(run)


def swapped(buses: list[dict[str, Any]], one: str = "pit-1", two: str = "pit-2") -> list[dict[str, Any]]:
    """Two lines with each other's plug."""
    ports = {bus["id"]: bus["port"] for bus in buses}
    other = {one: two, two: one}
    return [{**bus, "port": ports[other.get(bus["id"], bus["id"])]} for bus in buses]


def strangers(floor: Floor) -> dict[str, str]:
    """What the ledger says was found, by the device that should be there."""
    bodies = [json.loads(record.body) for record in floor.of_kind("DeviceLost")]
    return {body["device"]: body["found"] for body in bodies if body["cause"] == "serial"}
