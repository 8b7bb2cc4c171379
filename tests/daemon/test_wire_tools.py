"""What a technician has at three in the morning, against a floor that plays: ports, monitor, record, sign test."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from floor_rig import LIMIT_S, Floor, TableSpec, site_text

from meterd.app.wire_words import words_of
from meterd.edge.trace import read_wire
from protocols.osdp_keys import DEFAULT_KEY


def meterd(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "meterd", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)


def recorded(floor: Floor, line: str) -> list[str]:
    """A line in words, from what the daemon still has of it."""
    file = floor.folder / f"{line}-{len(list(floor.folder.glob('*.jsonl')))}.wire.jsonl"
    done = meterd("wire", "record", file, "--port", line, "--socket", floor.socket, "--seconds", "0.2")
    assert 0 == done.returncode, done.stderr
    with file.open() as lines:
        recording = read_wire(lines)
    assert 0 == recording.lost
    return [said.words for said in words_of(recording.head, recording.pieces, floor.site)]


def test_a_floor_is_looked_at_while_it_plays(make_floor: Callable[..., Floor]) -> None:
    """Ports all up; modules, pads and signs in words; a sign is not tested while the daemon has it, and is after."""
    floor = make_floor(speed=4)
    sim, run = floor.start_sim(), floor.start_run()
    floor.until_sim(3, "lock", run, sim)
    floor.until_sim(3, "figure", run, sim, sign="pit-sign")

    told = meterd("ports", "--config", floor.site_file, "--socket", floor.socket, "--json")
    assert 0 == told.returncode, told.stderr
    lines = json.loads(told.stdout)["lines"]
    assert {True} == {line["daemon"]["up"] for line in lines.values()}
    assert {(run.process.pid,)} == {tuple(holder["pid"] for holder in line["holders"]) for line in lines.values()}
    assert all(lines[bus]["daemon"]["heard_ms_ago"] < 1000 for bus in ("pit-1", "pit-2", "keys-1", "keys-2"))

    floor.until(lambda: any("lock button +" in words for words in recorded(floor, "pit-1")), "a lock", run, sim)
    floor.until(lambda: any("key digit-" in words for words in recorded(floor, "keys-1")), "a key", run, sim)
    figure = "to all signs: figure a: "
    floor.until(lambda: any(w.startswith(figure) for w in recorded(floor, "sign-1")), "a figure", run, sim)
    signs = recorded(floor, "sign-1")
    assert not [words for words in signs if "not understood" in words]

    seen = meterd(
        "monitor", floor.ports / "pit-1", "--socket", floor.socket, "--config", floor.site_file, "--seconds", 2
    )
    assert 0 == seen.returncode, seen.stderr
    assert "< pit-1/" in seen.stdout

    held = meterd("sign", "test", "pit-sign", "--config", floor.site_file, "--seconds", "0")
    assert 1 == held.returncode
    assert f"process {run.process.pid} (" in held.stderr
    assert 0 == floor.end(run)
    asked = meterd("sign", "test", "pit-sign", "--config", floor.site_file, "--seconds", "0.5", "--json")
    assert 0 == asked.returncode, asked.stderr
    document = json.loads(asked.stdout)
    assert ("as planned", True) == (document["memory"], document["ok"])
    floor.until_sim(1, "display", sim, sign="pit-sign", text=pattern(document["sign"]))
    assert 0 == floor.end(sim)


def pattern(sign: str) -> str:
    return f"{sign[:11]} {'8' * 13}"[:13]


def test_a_recorded_line_serves_a_rehearsal(make_floor: Callable[..., Floor], tmp_path: Path) -> None:
    """The daemon trusts modules that answer from a recording, and hears them."""
    floor = make_floor(people=False)
    sim, run = floor.start_sim(), floor.start_run()
    floor.until(lambda: all(device["up"] for device in floor.snapshot()["devices"].values()), "devices", run, sim)
    file = tmp_path / "pit-1.jsonl"
    done = meterd("wire", "record", file, "--port", "pit-1", "--socket", floor.socket, "--seconds", "3")
    assert 0 == done.returncode, done.stderr
    assert 0 == floor.end(run)
    assert 0 == floor.end(sim)
    served = floor.spawn(
        "serve", sys.executable, "-m", "meterd", "wire", "replay", str(file), "--serve", str(port(floor))
    )
    floor.until(lambda: port(floor).exists(), "a port", served)
    again = floor.start_run()
    trusted = {module.device for table in floor.site.tables for module in table.modules if module.bus == "pit-1"}

    def up() -> set[str]:
        return {device for device, state in floor.snapshot()["devices"].items() if state["up"]}

    floor.until(lambda: trusted <= up(), "trusted", again, served)
    assert 0 == floor.end(again)
    floor.end(served)


def test_a_line_of_osdp_pads_is_listened_to(make_floor: Callable[..., Floor], tmp_path: Path) -> None:
    """From the first question to the secure channel, whose contents stay in it; nothing is left over."""
    table = TableSpec("LIR-1", "let-it-ride", "nexus-1", 7, "pit-1", "keys-1")
    text = site_text(tmp_path / "floor" / "ports", (table,), signs=False)
    text = text.replace('unit = 80, profile = "generic-keypad-32"', 'unit = 5, profile = "osdp-keypad-16"')
    text = text.replace('id = "keys-1"\nkind = "modbus"', 'id = "keys-1"\nkind = "osdp"')
    floor = make_floor(site=text, people=False)
    keys = floor.folder / "osdp-keys"
    keys.write_text(f"keys-1/5 {DEFAULT_KEY.hex()}\n")
    keys.chmod(0o600)
    sim, run = floor.start_sim(), floor.start_run()
    floor.until(lambda: floor.snapshot()["devices"].get("keys-1/5", {}).get("up"), "the pad is up", run, sim)
    words = recorded(floor, "keys-1")
    for said in ("who are you?", "who I am", "secure channel: challenge", "poll, secured", "acknowledged, secured"):
        assert any(line.startswith("pad 5, ") and line.endswith(said) for line in words), (said, words[:40])
    assert not [line for line in words[:-1] if "stray" in line or "no packet" in line or "message" in line]
    assert 0 == floor.end(run)
    assert 0 == floor.end(sim)


def port(floor: Floor) -> Path:
    return floor.ports / "pit-1"
