"""The safe state of a floor whose daemon is dead."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from osdp_rig import KEY, OTHER_KEY, cable
from osdp_rig import ref as pad_ref
from wire_rig import HEARTBEAT, KEYPAD, SENSORS, Cable, PymodbusModule, raw_pty

from meterd.cli.outputs import outputs
from meterd.config import BusConfig, ModuleRef, SignConfig, SignModel
from meterd.edge import outputs as closing_outputs
from meterd.edge.keypad_osdp import OsdpLine
from meterd.edge.keypad_pad import Pad
from meterd.edge.modbus_line import Line, ModuleRefusedError, NoReplyError, Reply, Request
from meterd.edge.outputs import Closing, close_all
from meterd.sim.osdp_pad import OsdpPad
from protocols.alpha import ReleasePriority, WriteString, transmission

SAMPLE = Path(__file__).resolve().parents[2] / "docs" / "site.example.toml"
MODEL = SignModel("betabrite", "^", "00", 13, 12)


@dataclass
class Floor:
    """As much of a site as the wires know."""

    tables: tuple[Any, ...]
    buses: tuple[BusConfig, ...]
    signs: tuple[SignConfig, ...]


def table(*modules: ModuleRef) -> Any:
    return SimpleNamespace(modules=modules)


def test_lamps_go_dark_and_signs_say_closed_and_what_is_missing_is_named() -> None:
    """Lamps of a module that answers, figures of a sign that is there; a dead module and an absent port by name."""

    async def work() -> None:
        cable = Cable()
        module = PymodbusModule(cable.peer_port, (40, 41))
        module.coils[40][:8] = [True] * 8
        cable.to_module = lambda data: [] if data[0] == 42 else [data]
        await module.start()
        cable.start()
        master, name = raw_pty()
        said = bytearray()

        def read() -> None:
            with contextlib.suppress(OSError):  # EIO until the port is opened
                said.extend(os.read(master, 4096))

        asyncio.get_running_loop().add_reader(master, read)
        site = Floor(
            (
                table(ModuleRef("pit", 40, SENSORS), ModuleRef("pit", 41, KEYPAD)),
                table(ModuleRef("pit", 42, SENSORS), ModuleRef("away", 50, SENSORS)),
            ),
            (
                BusConfig("pit", "modbus", cable.port, 115200),
                BusConfig("away", "modbus", "/nowhere/tty", 115200),
                BusConfig("sign-1", "alpha", name, 9600),
            ),
            (SignConfig("pit-sign", "sign-1", MODEL, (("nexus", "mega"), ("nexus", "major"))),),
        )
        closings = await asyncio.to_thread(close_all, site)  # type: ignore[arg-type]
        causes = {closing.name: closing.cause for closing in closings}
        assert {"pit/40", "pit/41", "pit-sign"} == {name for name, cause in causes.items() if not cause}
        assert "it does not answer: look at its power, cable and unit number" == causes["pit/42"]
        assert "/nowhere/tty does not exist" == causes["away/50"]
        assert [False] * 7 + [True] == module.coils[40][:8]
        assert [0x434C, 0x4F53, 0x4544] == module.registers[41][:3]
        for command in (WriteString("a", "CLOSED"), WriteString("b", "CLOSED"), ReleasePriority()):
            assert transmission(command, "^", "00", checked=True) in bytes(said)
        assert b"E$" not in bytes(said)
        asyncio.get_running_loop().remove_reader(master)
        os.close(master)
        await module.stop()
        cable.close()

    asyncio.run(work())


def test_a_pad_is_closed_where_it_took_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that answers, and does not get or take the text in time, is missed; and not for its key."""
    pads = [OsdpPad(5, KEY), OsdpPad(6, KEY), OsdpPad(7, OTHER_KEY)]
    plain = OsdpLine._show

    def show(line: OsdpLine, pad: Pad) -> None:
        if pad.ref.unit != 6:
            plain(line, pad)

    monkeypatch.setattr(OsdpLine, "_show", show)
    refs = [pad_ref(unit) for unit in (5, 6, 7, 8)]
    site = SimpleNamespace(
        tables=(),
        signs=(),
        buses=(BusConfig("keys-1", "osdp", str(tmp_path / "keys-1"), 115200),),
        pads_of=lambda _: refs,
    )
    with cable(tmp_path / "keys-1", *pads):
        closings = close_all(site, {ref.device: KEY for ref in refs[:3]})  # type: ignore[arg-type]
    assert {
        "keys-1/5": "",
        "keys-1/6": "it does not take what is written",
        "keys-1/7": "it does not answer, or not to its key",
        "keys-1/8": "there is no key for it",
    } == {closing.name: closing.cause for closing in closings}
    assert ("CLOSED", "") == pads[0].text()


def test_a_port_that_the_daemon_still_holds_is_not_shared() -> None:
    """While somebody has the port, nothing is written to it and the cause says why."""
    master, name = raw_pty()
    from meterd.edge.serialport import close_port, open_port  # noqa: PLC0415

    bus = BusConfig("sign-1", "alpha", name, 9600)
    port = open_port(bus)
    sign = SignConfig("pit-sign", "sign-1", MODEL, (("nexus", "mega"),))
    assert close_all(Floor((), (bus,), (sign,))) == (  # type: ignore[arg-type]
        Closing("pit-sign", f"{name} is held by another program"),
    )
    close_port(port)
    os.close(master)


def test_what_is_no_serial_port_is_said_in_words(tmp_path: Path) -> None:
    """A file, a folder, a device of another kind: no error numbers, no words of the library."""
    (tmp_path / "file").touch()
    sign = SignConfig("pit-sign", "b", MODEL, (("nexus", "mega"),))
    for port in (str(tmp_path / "file"), str(tmp_path), "/dev/null"):
        bus = BusConfig("b", "alpha", port, 9600)
        assert close_all(Floor((), (bus,), (sign,))) == (Closing("pit-sign", f"{port} is no serial port"),)  # type: ignore[arg-type]


def test_a_module_that_refuses_is_asked_for_its_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """The profile is named, in place of function numbers."""

    async def refuse(_line: Line, _request: Request, _limit_s: float) -> Reply:
        raise ModuleRefusedError("unit 40 refused function 15: ExceptionResponse(...)")

    monkeypatch.setattr(Line, "ask", refuse)
    master, name = raw_pty()
    site = Floor((table(ModuleRef("pit", 40, SENSORS)),), (BusConfig("pit", "modbus", name, 115200),), ())
    (closing,) = close_all(site)  # type: ignore[arg-type]
    assert f"it refuses what {SENSORS.id} writes: is it such a module?" == closing.cause
    os.close(master)


def test_a_module_is_beaten_before_the_look_and_says_closed_whatever_its_lamps_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both values of the heartbeat before the lamps are read back; the text also where they are read back as others."""
    asked: list[Request] = []

    async def answer(_line: Line, request: Request, _limit_s: float) -> Reply:
        asked.append(request)
        return Reply((0,) * request.count, 0.0, 0.0)

    monkeypatch.setattr(Line, "ask", answer)
    master, name = raw_pty()
    module = ModuleRef("pit", 40, replace(SENSORS, text=KEYPAD.text))
    (closing,) = close_all(Floor((table(module),), (BusConfig("pit", "modbus", name, 115200),), ()))  # type: ignore[arg-type]
    assert "unit 40 took the outputs and shows others" == closing.cause
    lamps, text, *look = asked[:6]
    assert (15, 0) == (lamps.function, lamps.address)
    assert (16, (0x434C, 0x4F53, 0x4544)) == (text.function, text.values[:3])
    assert [(HEARTBEAT, (1,)), (HEARTBEAT, (0,))] == [(each.address, each.values) for each in look[:2]]
    assert [lamps, Request(40, 1, 0, 8)] == look[2:]
    os.close(master)


def test_a_bad_cable_is_no_dead_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eleven read-backs garbled or missing, then a good one: dark, for sure. Garbled for ever: told, after twelve."""
    bad = [True] + [False] * 3 + [True] * 7
    for good_after, cause in ((len(bad), ""), (99, "unit 40 gave no reply to function 1")):
        asked: list[Request] = []

        async def answer(
            _line: Line, request: Request, _limit_s: float, until: int = good_after, seen: list[Request] = asked
        ) -> Reply:
            seen.append(request)
            tries = sum(each == request for each in seen)
            if tries <= until:
                garbled = bad[(tries - 1) % len(bad)]
                raise NoReplyError(f"unit 40 gave no reply to function {request.function}", garbled=garbled)
            return Reply(tuple(request.values) or (0, 0, 0, 0, 0, 0, 0, 1), 0.0, 0.0)

        monkeypatch.setattr(Line, "ask", answer)
        master, name = raw_pty()
        module = ModuleRef("pit", 40, replace(SENSORS, heartbeat=None))
        site = Floor((table(module),), (BusConfig("pit", "modbus", name, 115200),), ())
        assert (Closing("pit/40", cause),) == close_all(site)  # type: ignore[arg-type]
        assert 12 == sum(each.function == 1 for each in asked)
        os.close(master)


def test_lamps_go_dark_where_every_reply_is_garbled(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written arrives, and nobody can say so: lamps dark, display CLOSED, and the module is told as missed."""
    monkeypatch.setattr(closing_outputs, "ROUNDS", 1)

    async def work() -> None:
        cable = Cable()
        module = PymodbusModule(cable.peer_port, (40, 41))
        for unit in (40, 41):
            module.coils[unit][:8] = [True] * 8
        cable.to_daemon = lambda data: [data[:1] + bytes(byte ^ 0x55 for byte in data[1:])]
        await module.start()
        cable.start()
        modules = (ModuleRef("pit", 40, SENSORS), ModuleRef("pit", 41, replace(SENSORS, text=KEYPAD.text)))
        site = Floor((table(*modules),), (BusConfig("pit", "modbus", cable.port, 115200),), ())
        closings = await asyncio.to_thread(close_all, site)  # type: ignore[arg-type]
        assert ["unit 40 gave no reply to function 1", "unit 41 gave no reply to function 1"] == [
            closing.cause for closing in closings
        ]
        for unit in (40, 41):
            assert [False] * 7 + [True] == module.coils[unit][:8]
        assert [0x434C, 0x4F53, 0x4544] == module.registers[41][:3]
        await module.stop()
        cable.close()

    asyncio.run(work())


@pytest.mark.parametrize("garbled", [True, False])
def test_a_line_of_many_modules_ends_while_the_unit_still_waits(
    monkeypatch: pytest.MonkeyPatch, *, garbled: bool
) -> None:
    """Sixteen with lamps and displays, no good reply: every lamp is written to in the first seconds, then all ends."""
    now_s = 1000.0
    written: dict[int, float] = {}
    texts: set[int] = set()

    async def nothing(_line: Line, request: Request, limit_s: float) -> Reply:
        nonlocal now_s
        now_s += limit_s + 0.02
        if request.function == 15 and request.address == 0:
            written.setdefault(request.unit, now_s - 1000)
        if request.function == 16:
            texts.add(request.unit)
        raise NoReplyError("no reply", garbled=garbled)

    monkeypatch.setattr(Line, "ask", nothing)
    monkeypatch.setattr(closing_outputs, "time", SimpleNamespace(monotonic=lambda: now_s))
    master, name = raw_pty()
    modules = [ModuleRef("pit", unit, replace(SENSORS, text=KEYPAD.text)) for unit in range(40, 56)]
    closings = close_all(Floor((table(*modules),), (BusConfig("pit", "modbus", name, 38400),), ()))  # type: ignore[arg-type]
    assert all(closing.cause for closing in closings)
    assert 16 == len(written)
    assert max(written.values()) < 5
    assert (16 if garbled else 0) == len(texts), "a module that says nothing at all is not waited for once more"
    unit = (SAMPLE.parents[1] / "systemd" / "meterd.service").read_text(encoding="utf-8")
    (limit,) = re.findall(r"TimeoutStopSec=(\d+)s", unit)
    assert now_s - 1000 < closing_outputs.LINE_LIMIT_S + 0.5
    assert closing_outputs.LINE_LIMIT_S + 5 < int(limit), "and the program has to start"
    os.close(master)


def test_the_command_names_what_it_could_not_reach(tmp_path: Path) -> None:
    """Exit 1 and one line for each where the ports are absent; 78 where the site file cannot be used."""
    site = tmp_path / "site.toml"
    text = SAMPLE.read_text(encoding="utf-8")
    site.write_text(re.sub(r'port = "/dev/', 'port = "/nowhere/', text), encoding="utf-8")
    result = CliRunner().invoke(outputs, ["closed", "--config", str(site), "--json"])
    assert result.exit_code == 1, result.output
    document = json.loads(result.stdout)
    assert [] == document["closed"]
    assert "pit-1/40" in document["missed"]
    assert "does not exist" in document["missed"]["pit-1/40"]
    assert "pit-1/40 not closed: " in result.stderr
    site.write_text("nonsense", encoding="utf-8")
    assert 78 == CliRunner().invoke(outputs, ["closed", "--config", str(site)]).exit_code
