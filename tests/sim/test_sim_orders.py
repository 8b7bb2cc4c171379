"""Orders to a simulated floor: each fault can be made and taken back, and what cannot be is said with what there is."""

from __future__ import annotations

import asyncio
import io
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from sim_floor import plan_json
from test_sim_faults import Port, until

from meterd.sim.journal import Journal
from meterd.sim.orders import WORDS, OrderError, Orders, Timed, timed
from meterd.sim.plan import Plan
from meterd.sim.world import World, loop_factory
from protocols.alpha import (
    ClearMemory,
    ConfigureMemory,
    ReadInformation,
    StringFile,
    Transmission,
    transmission,
)
from protocols.modbus_crc import sealed

DOCS = Path(__file__).parents[2] / "docs" / "sim.md"
UNIT = 60


def plan(folder: Path) -> Plan:
    told = plan_json(ports=str(folder), tables=False)
    told["buses"][0]["modules"] = [module for module in told["buses"][0]["modules"] if module["unit"] == UNIT]
    other = {**told["buses"][0], "id": "pit-2", "port": f"{folder}/pit-2"}
    sign = {"id": "sign-1", "kind": "alpha", "port": f"{folder}/sign-1", "baud": 115200}
    told["buses"] = [told["buses"][0], other, {**sign, "signs": [{"id": "pit-sign"}]}]
    return Plan.parse(json.dumps(told))


class Rig:
    def __init__(self, folder: Path, world: World) -> None:
        loop = asyncio.get_running_loop()
        self.folder, self.world = folder, world
        self.orders = Orders(world, loop.time, loop.call_later)

    def do(self, text: str) -> None:
        self.orders.carry_out(text)

    async def ask(self, line: str, request: bytes, size: int) -> bytes:
        """What a port answers to a request; empty where it stays silent a fifth of a second."""
        port = Port(self.folder / line)
        os.write(port.fd, request)
        try:
            async with asyncio.timeout(0.2 if size == 0 else 20):
                while len(port.heard) < (size or 1):  # noqa: ASYNC110 - a pty announces nothing
                    await asyncio.sleep(0.002)
        except TimeoutError:
            pass
        port.close()
        return port.heard


@asynccontextmanager
async def rig(folder: Path) -> AsyncIterator[Rig]:
    world = World(plan(folder), Journal(io.StringIO()))
    world.start()
    try:
        yield Rig(folder, world)
    finally:
        await world.close()


def run(work: Any) -> None:
    with asyncio.Runner(loop_factory=loop_factory) as runner:
        runner.run(work)


INPUTS = sealed(bytes((UNIT, 2, 0, 0, 0, 16)))


def inputs(mask: int) -> bytes:
    return sealed(bytes((UNIT, 2, 2)) + mask.to_bytes(2, "little"))


def test_inputs_are_set_tapped_and_stuck(tmp_path: Path) -> None:
    """On, off, a press that comes and goes by itself, one that stays whatever lies there, and free again."""

    async def work() -> None:
        async with rig(tmp_path) as r:
            r.do(f"on pit-1/{UNIT}/di2")
            assert inputs(4) == await r.ask("pit-1", INPUTS, 7)
            r.do(f"off pit-1/{UNIT}/di2")
            r.do(f"stick pit-1/{UNIT}/di0 on")
            r.do(f"off pit-1/{UNIT}/di0")
            assert inputs(1) == await r.ask("pit-1", INPUTS, 7)
            r.do(f"free pit-1/{UNIT}/di0")
            r.do(f"off pit-1/{UNIT}/di0")
            module = r.world.modules["pit-1", UNIT]
            before = module.counter(8)
            r.do(f"tap pit-1/{UNIT}/di8")
            assert module.input(8)
            await until(lambda: not module.input(8))
            assert before + 1 == module.counter(8)
            assert inputs(0) == await r.ask("pit-1", INPUTS, 7)

    run(work())


def test_devices_are_rebooted_and_muted(tmp_path: Path) -> None:
    """A reboot loses counters and a sign's files; a mute device is heard again when it speaks."""

    async def work() -> None:
        async with rig(tmp_path) as r:
            module = r.world.modules["pit-1", UNIT]
            r.do(f"tap pit-1/{UNIT}/di8")
            assert 1 == module.counter(8)
            r.do(f"reboot pit-1/{UNIT}")
            assert 0 == module.counter(8)
            r.do(f"mute pit-1/{UNIT}")
            assert b"" == await r.ask("pit-1", INPUTS, 0)
            r.do(f"speak pit-1/{UNIT}")
            assert 7 == len(await r.ask("pit-1", INPUTS, 7))
            ask = transmission(ReadInformation())
            assert b"10404402" in await r.ask("sign-1", ask, 60)
            r.do("mute pit-sign")
            assert b"" == await r.ask("sign-1", ask, 0)
            r.do("speak pit-sign")
            sign = r.world.signs["pit-sign"]
            for n, command in enumerate((ClearMemory(), ConfigureMemory((StringFile("a", 16),)))):
                sign.hear(Transmission((command,)), 1e6 + 9 * n, 1e6 + 1 + 9 * n)
            assert {"a": ""} == sign.figures()
            r.do("reboot pit-sign")
            assert {} == sign.figures()

    run(work())


def test_a_pad_is_muted_and_restarted(tmp_path: Path) -> None:
    """An OSDP pad is ordered by its line and address, as the daemon names it; what it showed is gone."""

    async def work() -> None:
        pads = [{"address": 5, "keys": {"enter": [13]}}]
        told = {"id": "keys-2", "kind": "osdp", "port": f"{tmp_path}/keys-2", "baud": 38400, "pads": pads}
        world = World(Plan.parse(json.dumps({"buses": [told]})), Journal(io.StringIO()))
        loop = asyncio.get_running_loop()
        orders, pad = Orders(world, loop.time, loop.call_later), world.pads["keys-2", 5].pad
        try:
            orders.carry_out("mute keys-2/5")
            assert pad.mute
            orders.carry_out("speak keys-2/5")
            assert not pad.mute
            pad._write(1, 1, "OPEN")
            assert ("OPEN", "") == pad.text()
            orders.carry_out("reboot keys-2/5")
            assert ("", "") == pad.text()
            with pytest.raises(OrderError, match="there are none, and of other kinds keys-2/5"):
                orders.carry_out("mute keys-2/6")
        finally:
            await world.close()

    run(work())


def test_a_slow_module_holds_up_nobody_elses_reply(tmp_path: Path) -> None:
    """Its late reply comes when it comes; the neighbour that was asked meanwhile answers while it is still awaited."""

    async def work() -> None:
        world = World(Plan.parse(json.dumps(plan_json(ports=str(tmp_path), tables=False))), Journal(io.StringIO()))
        loop = asyncio.get_running_loop()
        Orders(world, loop.time, loop.call_later).carry_out("slow pit-1/60 60000")
        port = Port(tmp_path / "pit-1")
        try:
            line = world.lines["pit-1"]
            os.write(port.fd, sealed(bytes.fromhex("3c0200000010")))
            await until(lambda: len(line._due) == 1 and loop.time() > line._asked_at + 9 * line.character_s)
            os.write(port.fd, sealed(bytes.fromhex("500200000020")))
            await until(lambda: len(port.heard) >= 9)
            assert (0x50, 1) == (port.heard[0], len(line._due))
        finally:
            port.close()
            await world.close()

    run(work())


def test_cables_are_pulled_swapped_and_bent(tmp_path: Path) -> None:
    """A port goes and comes; two exchange their devices; bytes are lost, echoed, late; and all is good again."""

    async def work() -> None:
        async with rig(tmp_path) as r:
            r.do("unplug pit-1")
            assert not (tmp_path / "pit-1").exists()
            r.do("plug pit-1")
            r.do(f"on pit-2/{UNIT}/di1")
            r.do("swap pit-1 pit-2")
            assert inputs(2) == await r.ask("pit-1", INPUTS, 7)
            assert inputs(0) == await r.ask("pit-2", INPUTS, 7)
            r.do("swap pit-1 pit-2")
            r.do("cable pit-1 drop 1")
            assert b"" == await r.ask("pit-1", INPUTS, 0)
            r.do("cable pit-1 duplicate 0.5 flip 0.5")
            assert inputs(0) != await r.ask("pit-1", INPUTS, 0)
            r.do("cable pit-1 good")
            r.do("echo pit-1 on")
            assert INPUTS + inputs(0) == await r.ask("pit-1", INPUTS, 15)
            r.do("echo pit-1 off")
            r.do(f"slow pit-1/{UNIT} 300")
            assert b"" == await r.ask("pit-1", INPUTS, 0)
            r.do(f"slow pit-1/{UNIT} 2")
            assert 7 <= len(await r.ask("pit-1", INPUTS, 7))

    run(work())


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ("pull pit-1", "there are unplug, plug"),
        ("", "no order"),
        ("unplug pit-9", "no line pit-9: there are pit-1, pit-2, sign-1"),
        ("unplug", "1 word expected"),
        ("reboot pit-1/9", "there are pit-1/60, pit-2/60"),
        ("reboot", "1 word expected"),
        ("stick pit-1/60 on", "expected LINE/UNIT/diN"),
        ("stick pit-1/60/di99 on", "di0 to di15"),
        ("stick pit-1/60/di1 maybe", "on or off"),
        ("swap pit-1 pit-1", "cannot change places with itself"),
        ("cable pit-1 drop", "good, or has rates"),
        ("cable pit-1 bend 1", "good, or has rates"),
        ("cable pit-1 drop 2", "0 to 1"),
        ("cable pit-1 drop much", "expected a number from 0 up"),
        ("slow pit-1/60 -1", "expected a number from 0 up"),
    ],
)
def test_what_cannot_be_ordered(order: str, said: str, tmp_path: Path) -> None:
    """The cause, and what there is."""

    async def work() -> None:
        async with rig(tmp_path) as r:
            with pytest.raises(OrderError) as refused:
                r.do(order)
            assert said in str(refused.value)

    run(work())


def test_orders_have_their_time() -> None:
    """``at`` and seconds; without it now; comments and empty lines are none."""
    assert Timed(12.5, "unplug pit-1") == timed("at 12.5 unplug pit-1  # now")
    assert Timed(0.0, "plug pit-1") == timed("  plug pit-1 ")
    assert timed("# nothing") is timed("") is None
    with pytest.raises(OrderError):
        timed("at noon unplug pit-1")


def test_the_page_tells_every_order() -> None:
    """docs/sim.md lists each with its words."""
    page = DOCS.read_text("utf-8")
    assert [] == [words for words in WORDS if f"`{words}`" not in page]
    verbs = {words.split()[0] for words in WORDS}
    world: Any = type("None", (), {"lines": {}, "modules": {}, "signs": {}})()
    assert verbs == set(Orders(world, lambda: 0.0, print)._verbs)
