"""Failure modes of serial ports that users report: each with its cure, and failing without it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import termios
from collections.abc import Coroutine
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import serial
from cures import failure_mode, limit_s
from wire_rig import Cable, rig, until

from meterd.config import BusConfig, load_site
from meterd.edge import modbus_line, serialport
from meterd.edge.catalogue import catalogue
from meterd.edge.serialport import Backoff, close_port, open_port
from protocols.events import DeviceDown, DeviceUp

#: What is counted where bytes of a reply went missing; a busy machine makes timeouts and late replies, never these.
LOST = {"crc", "cut", "stray"}
ROOT = Path(__file__).resolve().parents[2]
SAMPLE = (ROOT / "docs" / "site.example.toml").read_text(encoding="utf-8")


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run a test; what an uncaught error in a callback would print is not wanted a thousand times."""

    async def quietly() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        await work

    asyncio.run(quietly())


@failure_mode(1, "one-kind-of-error")
def test_mode_01_whatever_a_pulled_adapter_raises_is_a_lost_port(monkeypatch: pytest.MonkeyPatch) -> None:
    """OSError, pyserial's own error, and termios.error (no OSError) all close the port and tell its modules."""

    async def work(fault: Exception) -> None:
        async with rig() as r:
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))
            taken = {name: getattr(os, name) for name in dir(os) if not name.startswith("__")}

            def gone(*_: object) -> bytes:
                raise fault

            with monkeypatch.context() as patch:
                patch.setattr(serialport, "os", SimpleNamespace(**{**taken, "read": gone}))
                await r.floor.until(lambda: bool(r.floor.of(DeviceDown)))
            assert "port_lost" == r.floor.of(DeviceDown)[0].cause
            await r.floor.until(lambda: len(r.floor.of(DeviceUp)) == 2)

    for fault in (OSError(5, "gone"), serial.SerialException("readiness to read, no data"), termios.error(5, "gone")):
        run(work(fault))


@failure_mode(1, "port-back-off")
def test_mode_01_a_port_that_is_away_is_tried_again_ever_more_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a second after the first failure, a whole one after the second; never in a tight loop."""
    tried: list[float] = []
    real = modbus_line.open_link

    async def noting(*arguments: Any, **more: Any) -> Any:
        tried.append(asyncio.get_running_loop().time())
        return await real(*arguments, **more)

    monkeypatch.setattr(modbus_line, "open_link", noting)

    async def work() -> None:
        async with rig(port="/nowhere/tty"):
            await until(lambda: len(tried) >= 3)
            assert tried[1] - tried[0] >= 0.49
            assert tried[2] - tried[1] >= 0.99

    run(work())


@failure_mode(2, "closed-at-once")
def test_mode_02_the_old_node_is_free_before_the_adapter_is_back(tmp_path: Path) -> None:
    """Held open, the node would make the adapter come back under the next number."""
    stable = tmp_path / "by-path"

    async def work() -> None:
        cable = Cable()
        stable.symlink_to(cable.port)
        async with rig(cable=cable, port=str(stable)) as r:
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))
            node = os.stat(cable.port).st_rdev  # noqa: PTH116 - the node itself, not the stable name
            assert node in _open_nodes()
            cable.unplug()
            await r.floor.until(lambda: bool(r.floor.of(DeviceDown)))
            assert node not in _open_nodes()
            cable.plug(stable)
            await r.floor.until(lambda: len(r.floor.of(DeviceUp)) == 2)

    run(work())


def _open_nodes() -> set[int]:
    """Device numbers of all character devices this process holds open."""
    nodes = set()
    for name in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            nodes.add(name.stat().st_rdev)
    return nodes


@failure_mode(2, "stable-names")
def test_mode_02_a_name_that_changes_with_the_order_of_plugging_is_warned_of() -> None:
    """ttyUSB0 may be another adapter tomorrow; check-config says which name stays."""
    first = re.search(r'port = "(/dev/[^"]+)"', SAMPLE)
    assert first is not None
    site = load_site(SAMPLE.replace(first[1], "/dev/ttyUSB0", 1), "site.toml", catalogue())
    assert ["bus[0].port"] == [warning.key for warning in site.warnings if "by-path" in warning.message]


@failure_mode(4, "exclusive")
def test_mode_04_a_second_program_gets_no_byte_of_a_port_that_is_taken() -> None:
    """The second bus on the port is refused with a cause; the first hears every reply."""

    async def work() -> None:
        async with rig() as r:
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))
            async with rig(port=r.cable.port) as thief:
                await until(lambda: "is held by another program" in thief.stats.port_cause)
                polls = r.stats.polls
                await until(lambda: r.stats.polls > polls + 20)
            assert [] == r.floor.of(DeviceDown)
            assert not LOST & set(r.stats.frames)

    run(work())


@failure_mode(11, "capped-back-off")
def test_mode_11_no_wait_is_longer_than_five_seconds() -> None:
    """However long an adapter was away: the wait grows to five seconds and no further; the library's own is off."""
    backoff = Backoff()
    waits = [backoff.next_s() for _ in range(12)]
    assert max(waits) <= 5
    backoff.reset()
    assert 0.5 == backoff.next_s()


@failure_mode(11, "hot-plug")
def test_mode_11_an_adapter_that_is_plugged_in_again_is_served_at_once(tmp_path: Path) -> None:
    """It does not wait for the back-off that grew while it was away: a second look every fifth of a second."""
    stable = tmp_path / "by-path"

    async def work() -> None:
        cable = Cable()
        async with rig(cable=cable, port=str(stable)) as r:
            r.bus._backoff._next_s = r.bus._backoff._max_s = 60.0
            await until(lambda: "does not exist" in r.stats.port_cause)
            stable.symlink_to(cable.port)
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))

    run(work())


@failure_mode(16, "low-latency")
def test_mode_16_an_adapter_is_asked_to_hand_replies_over_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """FTDI adapters wait 16 ms unless told; where an adapter knows no such thing, opening goes on."""
    asked: list[bool] = []
    monkeypatch.setattr(serial.Serial, "set_low_latency_mode", lambda _, on: asked.append(on))
    cable = Cable()
    port = open_port(BusConfig("b", "modbus", cable.port, 19200))
    close_port(port)
    os.close(cable.near)
    os.close(cable.far)
    assert [True] == asked


@failure_mode(16, "latency-told")
def test_mode_16_replies_that_are_held_back_are_told_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each reply comes 16 ms after the module gave it: the bus says so, and what to set. No dead module's cause."""
    monkeypatch.setattr("meterd.edge.modbus_line.on_usb", lambda _: True)

    async def work() -> None:
        async with rig() as r:
            later = asyncio.get_running_loop().call_later

            def held_back(data: bytes) -> list[bytes]:
                later(0.016, r.cable.inject, data)
                return []

            r.cable.to_daemon = held_back
            await until(lambda: "latency timer to 1 ms" in r.stats.hints()["advice"])
            assert (True, "") == (r.stats.late_ms > 10, r.stats.hints()["hint"])
            assert [] == r.floor.of(DeviceDown)
            r.cable.to_module = lambda _: []
            await r.floor.until(lambda: bool(r.floor.of(DeviceDown)))
            (down,) = r.floor.of(DeviceDown)
            assert ("timeout", "") == (down.cause, down.found)
            r.cable.to_module = r.cable.to_daemon = lambda data: [data]
            await until(lambda: r.stats.hints()["advice"] == "")  # the timer was set

    run(work())


def test_mode_16_what_is_no_adapter_gets_no_advice() -> None:
    """A pseudo-terminal has no latency timer, however late replies are on it."""

    async def work() -> None:
        async with rig() as r:
            later = asyncio.get_running_loop().call_later

            def held_back(data: bytes) -> list[bytes]:
                later(0.016, r.cable.inject, data)
                return []

            r.cable.to_daemon = held_back
            await until(lambda: r.stats.late_ms > 10 and r.stats.latency.words != "")
            assert {"hint": "", "advice": ""} == r.stats.hints()

    run(work())


def test_mode_16_the_udev_rule_sets_the_timer() -> None:
    """The rule that comes with the units sets 1 ms on every FTDI adapter."""
    rule = (ROOT / "systemd" / "60-meterd-serial.rules").read_text(encoding="utf-8")
    assert 'DRIVER=="ftdi_sio", ATTR{latency_timer}="1"' in rule


@failure_mode(17, "loss-told")
def test_mode_17_a_killed_port_is_told_to_every_module_once() -> None:
    """The transport ends with one word to its protocol, and the daemon's modules are down."""

    async def work() -> None:
        async with rig(units=(40, 41)) as r:
            await r.floor.until(lambda: len(r.floor.of(DeviceUp)) == 2)
            r.cable.unplug()
            await r.floor.until(lambda: len(r.floor.of(DeviceDown)) == 2)
            assert {"port_lost"} == {event.cause for event in r.floor.of(DeviceDown)}
            assert 1 == r.stats.port_losses

    run(work())


def test_one_ports_trouble_is_nobody_elses() -> None:
    """An adapter is pulled, another line babbles, a third port does not exist: the fourth line misses no reply."""

    async def work() -> None:
        async with (
            rig() as good,
            rig(name="pit-2") as pulled,
            rig(name="pit-3") as noisy,
            rig(port="/nowhere/tty") as none,
        ):
            await good.floor.until(lambda: bool(good.floor.of(DeviceUp)))
            await pulled.floor.until(lambda: bool(pulled.floor.of(DeviceUp)))
            noisy.cable.to_daemon = lambda data: [bytes(reversed(data))]
            pulled.cable.unplug()
            await pulled.floor.until(lambda: bool(pulled.floor.of(DeviceDown)))
            await noisy.floor.until(lambda: bool(noisy.floor.of(DeviceDown)))
            assert "does not exist" in none.stats.port_cause
            polls = good.stats.polls
            await until(lambda: good.stats.polls > polls + 20)
            assert [] == good.floor.of(DeviceDown)
            assert not LOST & set(good.stats.frames)

    run(work())


@failure_mode(23, "all-that-waits")
def test_mode_23_bytes_are_read_until_none_is_left() -> None:
    """A port that says "1" for a whole reply loses none of it."""

    async def work() -> None:
        async with rig() as r:
            await r.floor.until(lambda: bool(r.floor.events))
            assert [] == r.floor.of(DeviceDown)
            polls = r.stats.polls
            await until(lambda: r.stats.polls > polls + 10)
            assert not LOST & set(r.stats.frames)

    run(work())


@failure_mode(9, "deadline")
def test_mode_09_endless_noise_ends_no_exchange_late() -> None:
    """Noise without end: each exchange ends at its deadline, the module is given up, the bus goes on."""

    async def work() -> None:
        async with rig() as r:
            r.cable.to_module = lambda _: []
            loop = asyncio.get_running_loop()

            def babble() -> None:
                if r.cable.near >= 0:
                    with contextlib.suppress(BlockingIOError):
                        r.cable.inject(bytes(range(0x60, 0x70)))
                    loop.call_later(0.002, babble)

            babble()
            await r.floor.until(lambda: bool(r.floor.of(DeviceDown)))
            assert ["timeout"] == [event.cause for event in r.floor.of(DeviceDown)]
            gave_up = r.stats.frames["timeout"]
            await until(lambda: r.stats.frames["timeout"] > gave_up)

    run(work())


def test_the_limit_is_generous_with_every_cure() -> None:
    """Only a run without a cure is short."""
    assert 20 == limit_s()
