"""An independent client on the daemon's side of a simulated line: real bytes, real delays, bad cables, unplugging."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from pymodbus.client import AsyncModbusSerialClient
from sim_floor import LIMIT_S, the_plan

from meterd.sim.journal import Journal
from meterd.sim.lines import Line, Noise
from meterd.sim.plan import NoisePlan
from meterd.sim.world import World, loop_factory
from protocols.errors import Cause
from protocols.modbus_crc import sealed
from protocols.modbus_guard import Guard
from protocols.modbus_slave import unpack_bits

Scene = Callable[[World, AsyncModbusSerialClient, Guard], Awaitable[None]]


def on_a_line(folder: Path, scene: Scene, **bus: Any) -> None:
    """Run a scene with a world of one line and a connected client behind the guard."""

    async def play() -> None:
        world = World(the_plan(ports=str(folder), tables=False, **bus), Journal())
        guard = Guard()
        client = AsyncModbusSerialClient(
            str(folder / "pit-1"), baudrate=115200, retries=0, timeout=1, reconnect_delay=0, trace_packet=guard
        )
        try:
            assert await client.connect()
            await asyncio.wait_for(scene(world, client, guard), LIMIT_S)
        finally:
            client.close()
            await world.close()

    with asyncio.Runner(loop_factory=loop_factory) as runner:
        runner.run(play())


def test_pymodbus_reads_and_writes_a_module(tmp_path: Path) -> None:
    """Levels, counters, outputs, text and identity, as an independent client sees them; refusals are exceptions."""

    async def scene(world: World, client: AsyncModbusSerialClient, guard: Guard) -> None:
        module, pad = world.modules["pit-1", 60], world.modules["pit-1", 80]
        module.set_input(3, on=True, at=0)
        levels = await client.read_discrete_inputs(0, count=16, device_id=60)
        assert [3] == [n for n, on in enumerate(levels.bits) if on]
        counters = await client.read_input_registers(0, count=32, device_id=60)
        assert [0, 1] == counters.registers[6:8]
        identity = await client.read_input_registers(256, count=2, device_id=60)
        assert [0x4D53, 0x3136] == identity.registers
        await client.write_coils(0, [True, False] * 16, device_id=60)
        assert bytes([1, 0] * 16) == bytes(module.bank.coils)
        coils = await client.read_coils(0, count=16, device_id=60)
        assert [True, False] * 8 == coils.bits
        await client.write_registers(0, [0x4F50, 0x454E], device_id=80)
        assert "OPEN" == pad.text()[0]
        assert (await client.read_discrete_inputs(0, count=17, device_id=60)).isError()
        assert not guard.counts

    on_a_line(tmp_path, scene)


def test_a_reply_takes_its_time(tmp_path: Path) -> None:
    """No reply comes before the line time of request and reply and the module's turnaround have passed."""

    async def scene(world: World, client: AsyncModbusSerialClient, _: Guard) -> None:
        loop = asyncio.get_running_loop()
        for count, reply in ((16, 7), (8, 6)):
            began = loop.time()
            await client.read_discrete_inputs(0, count=count, device_id=60)
            assert loop.time() - began >= (8 + reply) * 11 / 1200 + 0.002

    on_a_line(tmp_path, scene, baud=1200)


def test_a_bad_cable_never_lies(tmp_path: Path) -> None:
    """With drops, flips and stray bytes, whatever the guard lets through is the truth."""

    async def scene(world: World, client: AsyncModbusSerialClient, guard: Guard) -> None:
        client.ctx.comm_params.timeout_connect = 0.05
        world.modules["pit-1", 60].set_input(5, on=True, at=0)
        heard = failed = 0
        while heard < 40:
            try:
                reply = await client.read_discrete_inputs(0, count=16, device_id=60)
            except Exception:  # noqa: BLE001 - any failure is one
                failed += 1
                continue
            assert [5] == [n for n, on in enumerate(reply.bits) if on]
            heard += 1
        assert failed
        assert set(guard.counts) <= {Cause.CRC, Cause.STRAY, Cause.CUT}

    on_a_line(tmp_path, scene, noise={"drop": 0.1, "flip": 0.2, "stray": 0.2})


def test_noise_is_off_unless_asked_for() -> None:
    """A line carries what it is given; a noisy one is the same for the same seed."""
    assert b"abc" == Noise().carry(b"abc")
    plan = NoisePlan(0.2, 0.5, 0.5)
    first, second = ([Noise.of(plan, "7/pit-1").carry(b"abcdef")] for _ in range(2))
    assert first == second
    assert b"" == Noise(drop=1).carry(b"abc")


def test_unplug_and_plug(tmp_path: Path) -> None:
    """Whoever holds an unplugged port reads an end; under the same path a new port serves."""

    async def scene(world: World, client: AsyncModbusSerialClient, _: Guard) -> None:
        path, line = tmp_path / "pit-1", world.lines["pit-1"]
        held = os.open(path, os.O_RDWR | os.O_NOCTTY)
        line.unplug()
        assert not path.exists()
        with pytest.raises(OSError, match=r".*"):
            os.write(held, b"x")
        os.close(held)
        client.close()
        line.plug()
        again = AsyncModbusSerialClient(str(path), baudrate=115200, retries=0, timeout=1)
        assert await again.connect()
        assert not (await again.read_coils(0, count=8, device_id=60)).isError()
        again.close()

    on_a_line(tmp_path, scene)


def test_nobody_but_the_daemon_holds_its_end(tmp_path: Path) -> None:
    """A client may close and open the port as often as it likes, and is heard each time."""

    async def scene(world: World, client: AsyncModbusSerialClient, _: Guard) -> None:
        client.close()
        for _n in range(3):
            again = AsyncModbusSerialClient(str(tmp_path / "pit-1"), baudrate=115200, retries=0, timeout=1)
            assert await again.connect()
            assert not (await again.read_coils(0, count=8, device_id=60)).isError()
            again.close()

    on_a_line(tmp_path, scene)


def test_another_program_may_serve_the_devices(tmp_path: Path) -> None:
    """With a device port the relay stays ours, and what stands behind it is somebody else's."""

    async def scene(world: World, client: AsyncModbusSerialClient, _: Guard) -> None:
        fd = os.open(tmp_path / "device", os.O_RDWR | os.O_NOCTTY)

        def other_program() -> None:
            request = b""
            while len(request) < 8:
                request += os.read(fd, 256)
            os.write(fd, sealed(bytes.fromhex("3c02020d80")))

        thread = threading.Thread(target=other_program)
        thread.start()
        reply = await client.read_discrete_inputs(0, count=16, device_id=60)
        thread.join(LIMIT_S)
        os.close(fd)
        assert list(unpack_bits(b"\x0d\x80", 16)) == [int(bit) for bit in reply.bits]

    on_a_line(tmp_path, scene, device_port=str(tmp_path / "device"))


def test_a_line_gives_its_paths_back(tmp_path: Path) -> None:
    """Closing a line takes its links away."""
    seen: list[Path] = []

    async def scene() -> None:
        line = Line(tmp_path / "a", 9600, device_path=tmp_path / "b")
        seen.extend(each for each in (line.path, line.device_path) if each and each.is_symlink())
        line.close()

    asyncio.run(scene())
    assert [tmp_path / "a", tmp_path / "b"] == seen
    assert [] == list(tmp_path.iterdir())
