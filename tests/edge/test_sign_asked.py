"""``meterd sign test``: what a sign is, whether its files are ours, which settings it hears; and what it says else."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sign_rig import sign_port
from wire_rig import raw_pty

from meterd.cli.sign import sign as verb
from meterd.config import BusConfig, SignConfig, SignModel
from meterd.edge import sign_test
from meterd.edge.serialport import PortLostError, SerialLink, close_port, open_link, open_port
from meterd.edge.sign_queue import SignQueue
from meterd.edge.sign_test import Found, SignTest, setting_text
from meterd.sim.plan import SignPlan
from meterd.sim.sign import AlphaSign
from protocols.alpha import ClearMemory, ReadInformation, ReadMemory, Transmission, transmission

SAMPLE = Path(__file__).parents[2] / "docs" / "site.example.toml"
MODEL = SignModel("betabrite", "^", "01", 13, 16)
SIGN = SignConfig("pit", "sign-1", MODEL, (("nexus", "mega"), ("nexus", "major")), ("MEGA", "MAJOR"), (13, 11))
QUICK: dict[str, Any] = {"pattern_s": 0.0, "answer_s": 0.4}


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


def bus(port: str, **set_to: Any) -> BusConfig:
    return replace(BusConfig("sign-1", "alpha", port, 9600), **set_to)


def a_sign(*, ready: bool = True, **plan: Any) -> AlphaSign:
    """A sign; ``ready``: with the files that the daemon gives it."""
    sign = AlphaSign(SignPlan("pit", "^", "01", 13, **plan))
    if ready:
        memory = SignQueue(bus("/dev/x"), [SIGN]).signs["pit"].memory
        for n, command in enumerate((ClearMemory(), memory)):
            sign.hear(Transmission((command,), "^", "01"), -100.0 + 5 * n, -99.0 + 5 * n)
    return sign


def said(found: Found) -> str:
    return "\n".join(found.says)


def test_a_sign_that_is_set_up() -> None:
    """Firmware, clock, memory, files as planned; the pattern came and went; its files are untouched."""

    async def work() -> None:
        sign = a_sign()
        shown: list[str] = []
        sign.listeners.append(lambda _: shown.append(sign.shows()))
        with sign_port(sign) as port:
            found = await SignTest(bus(port.port), SIGN, **QUICK).run()
        assert found.ok
        assert found.information is not None
        assert ("10404402", "as planned", True) == (*(found.information.firmware, found.memory, found.hears_checksum),)
        assert "pit 888888888" in shown
        assert "" == sign.shows()
        assert {} == sign.faults
        assert b"E$" not in port.heard
        assert "It answers: firmware 10404402A of 06/99" in said(found)

    run(work())


def test_beeps_are_given_their_time() -> None:
    """A sign is deaf while it sounds: the pattern behind the beeps is not lost."""

    async def work() -> None:
        sign = a_sign()
        with sign_port(sign) as port:
            await SignTest(bus(port.port), SIGN, beep=True, **QUICK).run()
        assert {} == sign.faults

    run(work())


def test_a_sign_without_files_and_one_with_others() -> None:
    """The first is set up by the daemon; the second never would be, so the step is named."""

    async def work() -> None:
        with sign_port(a_sign(ready=False)) as port:
            found = await SignTest(bus(port.port), SIGN, **QUICK).run()
        assert ("empty", True) == (found.memory, found.ok)
        other = replace(SIGN, shows=SIGN.shows[:1], labels=SIGN.labels[:1], widest=(13,))
        with sign_port(a_sign()) as port:
            found = await SignTest(bus(port.port), other, **QUICK).run()
        assert ("other", False) == (found.memory, found.ok)
        assert ".plan" in said(found)

    run(work())


class Settings:
    """Stands in for a line's settings, which a pseudo-terminal has none of: only the right one reaches the sign."""

    def __init__(self, right: str, reachable: str, deaf: str, refused: str = "") -> None:
        self.right, self.reachable, self.deaf, self.refused = right, reachable, deaf, refused
        self.opened: list[str] = []

    async def open_link(self, asked: BusConfig, peer: asyncio.Protocol, *, dtr: bool | None = None) -> SerialLink:
        self.opened.append(setting_text(asked))
        if setting_text(asked) == self.refused:
            raise PortLostError(f"{asked.port} does not take {setting_text(asked)}")
        port = self.reachable if setting_text(asked) == self.right else self.deaf
        return await open_link(bus(port), peer, dtr=dtr)


@pytest.mark.parametrize(
    ("right", "written"), [("9600 7E1", 'bytesize = 7, parity = "E"'), ("4800 7E2", "baud = 4800")]
)
def test_the_setting_it_hears_is_found(right: str, written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wrong data bits: silence. What signs are sold with is tried, and the right one named as it is written."""

    async def work() -> None:
        with sign_port(a_sign()) as port, sign_port(AlphaSign(SignPlan("deaf", deaf=True))) as deaf:
            settings = Settings(right, port.port, deaf.port, refused="9600 7E2")
            monkeypatch.setattr(sign_test, "open_link", settings.open_link)
            found = await SignTest(bus("/dev/sign"), SIGN, **QUICK).run()
        assert (False, right) == (found.ok, found.answers_at)
        assert f"It answers at {right}" in said(found)
        assert written in said(found)

    run(work())


def test_a_sign_that_answers_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that was tried is named, and what else to look at."""

    async def work() -> None:
        with sign_port(AlphaSign(SignPlan("deaf", deaf=True))) as deaf:
            settings = Settings("", deaf.port, deaf.port)
            monkeypatch.setattr(sign_test, "open_link", settings.open_link)
            found = await SignTest(bus("/dev/sign"), SIGN, pattern_s=0.0, answer_s=0.05).run()
        assert (False, None) == (found.ok, found.answers_at)
        for setting in ("9600 8N1", "9600 7E1", "4800 7E2", "its power", "address (01"):
            assert setting in said(found)

    run(work())


def test_a_sign_that_hears_no_checksums() -> None:
    """Answered only without: the key to write is named, and what it costs."""

    async def work() -> None:
        sign = a_sign()
        answer = sign.answer
        with sign_port(sign) as port:
            sign.answer = lambda command: b"" if port.heard.endswith(CHECKED) else answer(command)  # type: ignore[method-assign]
            found = await SignTest(bus(port.port), SIGN, **QUICK).run()
        assert (False, False, "without checksums") == (found.ok, found.hears_checksum, found.answers_at)
        assert "checksum = false" in said(found)

    run(work())


CHECKED = transmission(ReadInformation(), "^", "01", checked=True)


def test_a_sign_that_answers_no_reads() -> None:
    """It is not asked; the pattern is shown, and whether it came only eyes can tell."""

    async def work() -> None:
        sign = a_sign(answers=False)
        with sign_port(sign) as port:
            found = await SignTest(bus(port.port), replace(SIGN, model=replace(MODEL, answers=False)), **QUICK).run()
        assert found.ok
        assert transmission(ReadMemory(), "^", "01", checked=True) not in port.heard
        assert "Was the pattern on it?" in said(found)

    run(work())


def site_with(port: str, folder: Path) -> str:
    path = folder / "site.toml"
    text = SAMPLE.read_text("utf-8")
    path.write_text(re.sub(r'(id = "sign-1"\nkind = "alpha"\nport = )"[^"]*"', rf'\1"{port}"', text), "utf-8")
    return str(path)


def test_the_verb_refuses_a_port_that_is_held(tmp_path: Path) -> None:
    """By whom it is held, and the next step; exit 1."""
    master, name = raw_pty()
    port = open_port(bus(name))
    result = CliRunner().invoke(verb, ["test", "pit-sign", "--config", site_with(name, tmp_path)])
    close_port(port)
    os.close(master)
    assert 1 == result.exit_code
    assert f"process {os.getpid()} (" in result.stderr
    assert "held by another program" in result.stderr
    assert "systemctl stop meterd" in result.stderr


def test_the_verb_names_signs_and_ports_that_are_not_there(tmp_path: Path) -> None:
    """Exit 2 for no such sign, 1 for no such port, 78 for a site file that cannot be used."""
    site = site_with(str(tmp_path / "nothing"), tmp_path)
    unknown = CliRunner().invoke(verb, ["test", "bar-sign", "--config", site])
    assert (2, True) == (unknown.exit_code, "there are pit-sign, tcp-sign" in unknown.stderr)
    absent = CliRunner().invoke(verb, ["test", "pit-sign", "--config", site])
    assert (1, True) == (absent.exit_code, "does not exist" in absent.stderr)
    (tmp_path / "site.toml").write_text("nonsense")
    assert 78 == CliRunner().invoke(verb, ["test", "pit-sign", "--config", site]).exit_code


def test_the_verb_prints_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One document on standard output; the sentences go to standard error."""

    async def run_it(asked: SignTest) -> Found:
        asked._say("It answers")
        asked.found.ok = True
        return asked.found

    monkeypatch.setattr(SignTest, "run", run_it)
    result = CliRunner().invoke(verb, ["test", "pit-sign", "--config", site_with("/dev/x", tmp_path), "--json"])
    assert 0 == result.exit_code
    assert ("pit-sign", "9600 8N1", ["It answers"]) == (
        *(json.loads(result.stdout)[key] for key in ("sign", "setting", "says")),
    )
    assert "It answers" in result.stderr
