"""The sign line as bytes on a pty: frames, distance, memory, a peer that stops reading, an adapter that goes away."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sign_rig import sign_port
from wire_rig import LIMIT_S, raw_pty, until

from meterd.config import BusConfig, SignConfig, SignModel
from meterd.edge.sign import CLOSED, SignBus, SignWanted, WallTime, wall_time
from meterd.edge.sign_queue import Send
from meterd.sim.plan import SignPlan
from meterd.sim.sign import AlphaSign
from protocols.alpha import (
    ClearMemory,
    Command,
    ConfigureMemory,
    ReleasePriority,
    RunSequence,
    StringFile,
    TextFile,
    WriteString,
    text_size,
    transmission,
)
from protocols.alpha_pages import Figure, pages

SIGN = SignConfig(
    "pit",
    "sign-1",
    SignModel("betabrite", "^", "00", 13, 12, answers=False, clock=False),
    (("nexus", "mega"),),
    ("M",),
    (9,),
)
FILE = StringFile("a", 12)
(TEXT,) = pages([Figure("M", FILE, 9)], 13)
SETUP: list[Command] = [ClearMemory(), ConfigureMemory((TextFile("A", text_size(TEXT)), FILE))]
START: list[Command] = [WriteString("a", CLOSED), ReleasePriority(), TEXT, RunSequence("A")]


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


def wire(*commands: Command) -> bytes:
    return b"".join(transmission(command, "^", "00", checked=True) for command in commands)


class Time:
    """A clock that only sleeping moves; sleeps from ``longest`` on never end by themselves."""

    def __init__(self, longest: float) -> None:
        self.now = 50.0
        self.longest = longest

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        if seconds >= self.longest:
            await asyncio.Event().wait()
        await asyncio.sleep(0)
        self.now += max(seconds, 0)


class Bench:
    def __init__(self, port: str, memory: Path, master: int, longest: float) -> None:
        self.time = Time(longest)
        self.master = master
        self.bytes = b""
        self.times: list[float] = []
        self.traced: list[tuple[str, bytes]] = []
        self.bus = SignBus(
            BusConfig("sign-1", "alpha", port, 9600),
            [SIGN],
            memory,
            clock=self.time,
            sleep=self.time.sleep,
            wall=lambda: WallTime(14, 30, 3),
            trace=lambda direction, data: self.traced.append((direction, data)),
        )
        sent = self.bus._queue.sent

        def timed(step: Send, now_s: float) -> None:
            self.times.append(now_s)
            sent(step, now_s)

        self.bus._queue.sent = timed  # type: ignore[method-assign]

    def read(self) -> None:
        with contextlib.suppress(OSError):
            self.bytes += os.read(self.master, 65536)


@contextlib.asynccontextmanager
async def bench(memory: Path, *, reading: bool = True, longest: float = 60) -> AsyncIterator[Bench]:
    master, name = raw_pty()
    link = memory / "port"
    link.unlink(missing_ok=True)
    link.symlink_to(name)
    b = Bench(str(link), memory, master, longest)
    loop = asyncio.get_running_loop()
    if reading:
        loop.add_reader(master, b.read)
    task = asyncio.create_task(b.bus.run())
    try:
        yield b
    finally:
        task.cancel()
        await asyncio.wait([task])
        if b.master >= 0:
            loop.remove_reader(b.master)
            os.close(b.master)
        if not task.cancelled() and task.exception():
            raise task.exception()  # type: ignore[misc]


def test_the_bytes_are_the_codecs_and_the_plan_is_remembered(tmp_path: Path) -> None:
    """First start: configuration and all; second start: no configuration, CLOSED first; then figures only."""

    async def work() -> None:
        async with bench(tmp_path) as b:
            await until(lambda: b.bytes == wire(*SETUP, *START))
            b.bus.want("pit", SignWanted(3, ("$1,234.56",)))
            await until(lambda: b.bytes == wire(*SETUP, *START, WriteString("a", "$1,234.56")))
            assert ("$1,234.56",) == b.bus.shown("pit").values
            assert (123456,) == b.bus.shown_cents("pit")
            gaps = [after - before for before, after in zip(b.times, b.times[1:], strict=False)]
            assert min(gaps[:2]) >= 2.0
            assert min(gaps) >= 0.25
        async with bench(tmp_path) as b:
            b.bus.want("pit", SignWanted(4, ("$2.00",)))
            await until(lambda: b.bytes == wire(*START, WriteString("a", "$2.00")))

    run(work())


def test_a_crash_between_erasing_and_configuring_is_made_good(tmp_path: Path) -> None:
    """The memory file is gone before the sign is erased: whoever starts next configures again."""

    async def work() -> None:
        async with bench(tmp_path) as b:
            await until(lambda: b.bytes == wire(*SETUP, *START))
        remembered = (tmp_path / "pit.plan").read_text()
        (tmp_path / "pit.plan").write_text("another plan")
        async with bench(tmp_path, longest=2.04) as b:  # dies in the quiet time after E$, not in the one before it
            await until(lambda: b.bytes == wire(ClearMemory()))
            assert not (tmp_path / "pit.plan").exists()
        async with bench(tmp_path) as b:
            await until(lambda: b.bytes == wire(*SETUP, *START))
        assert remembered == (tmp_path / "pit.plan").read_text()

    run(work())


def test_a_peer_that_stops_reading_blocks_nobody(tmp_path: Path) -> None:
    """The driver's buffer fills, nothing queues behind it, the loop goes on, the line is tried again."""

    async def work() -> None:
        async with bench(tmp_path, reading=False) as b:
            values = iter(range(10_000_000))

            def busy() -> bool:
                n = next(values)
                b.bus.want("pit", SignWanted(n, (f"${n}.00",)))
                return b.bus.port_losses > 0

            await until(busy)
            asyncio.get_running_loop().add_reader(b.master, b.read)
            await until(lambda: b.bus.up)
            b.bus.want("pit", SignWanted(10_000_001, ("$77.00",)))
            await until(lambda: b.bytes.endswith(wire(WriteString("a", "$77.00"))))

    run(work())


def test_an_unplugged_sign_begins_with_closed_when_it_is_back(tmp_path: Path) -> None:
    """Down is known at once; the stable name may lead to another node."""

    async def work() -> None:
        async with bench(tmp_path) as b:
            b.bus.want("pit", SignWanted(1, ("$5.00",)))
            await until(lambda: b.bytes.endswith(wire(WriteString("a", "$5.00"))))
            asyncio.get_running_loop().remove_reader(b.master)
            os.close(b.master)
            b.master, name = raw_pty()
            await until(lambda: not b.bus.up)
            assert b.bus.status("pit")["up"] is False
            assert ("$5.00",) == b.bus.shown("pit").values
            b.bytes = b""
            asyncio.get_running_loop().add_reader(b.master, b.read)
            (tmp_path / "port").unlink()
            (tmp_path / "port").symlink_to(name)
            await until(lambda: b.bytes == wire(*START, WriteString("a", "$5.00")))

    run(work())


def test_going_closed_is_for_good(tmp_path: Path) -> None:
    """CLOSED is on the wire when the call returns, and no later value follows it."""

    async def work() -> None:
        async with bench(tmp_path) as b:
            b.bus.want("pit", SignWanted(1, ("$5.00",), "WIN T1 $5.00"))
            await until(lambda: b.bus.shown("pit").priority is not None and b.bus.shown("pit").values == ("$5.00",))
            async with asyncio.timeout(LIMIT_S):
                await b.bus.go_closed()
            b.bus.want("pit", SignWanted(2, ("$6.00",)))
            await until(lambda: b.bytes.endswith(wire(WriteString("a", CLOSED), ReleasePriority())))
            assert (CLOSED,) == b.bus.shown("pit").values

    run(work())


def test_a_fault_of_the_program_begins_the_line_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the driver did not foresee, the line is told to be down and opened again, closed first."""

    async def work() -> None:
        async with bench(tmp_path) as b:
            await until(lambda: b.bytes == wire(*SETUP, *START))
            with monkeypatch.context() as broken:
                broken.setattr(b.bus._queue, "next", lambda _now: 1 // 0)
                b.bus.want("pit", SignWanted(1, ("$5.00",)))
                await until(lambda: not b.bus.up)
            assert "ZeroDivisionError" in b.bus.cause
            await until(lambda: b.bytes == wire(*SETUP, *START, *START, WriteString("a", "$5.00")))

    run(work())


def test_a_figure_handed_to_a_port_that_is_lost_is_not_taken_as_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sign still stands at the older, higher figure: a claim must hear of that one."""

    async def work() -> None:
        async with bench(tmp_path) as b:
            b.bus.want("pit", SignWanted(1, ("$5.00",)))
            await until(lambda: (500,) == b.bus.shown_cents("pit"))
            sent = b.bus.sent
            with monkeypatch.context() as unplugged:
                unplugged.setattr("meterd.edge.serialport.os.write", _unplugged)
                b.bus.want("pit", SignWanted(2, ("$2.00",)))
                await until(lambda: not b.bus.up)
                assert (500,) == b.bus.shown_cents("pit")
                assert sent == b.bus.sent

    run(work())


def _unplugged(_fd: int, _data: bytes) -> int:
    raise OSError(5, "Input/output error")


def test_every_byte_is_traced_both_ways(tmp_path: Path) -> None:
    """Who records the wire sees what was sent and what a sign said to it."""

    async def work() -> None:
        async with bench(tmp_path) as b:
            await until(lambda: b.bytes == wire(*SETUP, *START))
            os.write(b.master, b"hello")
            await until(lambda: ("rx", b"hello") in b.traced)
            assert wire(*SETUP, *START) == b"".join(data for direction, data in b.traced if direction == "tx")

    run(work())


def test_the_floors_time_of_day() -> None:
    """Sunday is day 1, as signs count; a zone is the floor's own."""
    wall = wall_time("America/Denver")
    assert wall.hour in range(24)
    assert wall.minute in range(60)
    assert wall.day in range(1, 8)


def test_a_sign_that_was_without_power_is_set_up_again(tmp_path: Path) -> None:
    """The line never went down, so nobody told us: the sign itself says that it has no files."""

    async def work() -> None:
        told = AlphaSign(SignPlan("pit", "^", "00"))
        config = replace(SIGN, model=replace(SIGN.model, answers=True))
        with sign_port(told) as port:  # in real time: what is said too near is lost on the sign
            bus = SignBus(BusConfig("sign-1", "alpha", port.port, 9600), [config], tmp_path)
            (tmp_path / "pit.plan").write_text(bus._queue.signs["pit"].plan)
            bus._queue.signs["pit"].applied = bus._queue.signs["pit"].plan
            task = asyncio.create_task(bus.run())
            bus.want("pit", SignWanted(1, ("$5.00",)))
            await until(lambda: bus.set_up_again == 1)
            await until(lambda: b"E$A" in port.heard)
            task.cancel()
            await asyncio.wait([task])
        assert port.heard.index(b"F$") < port.heard.index(b"E$\x03") < port.heard.index(b"E$A")

    run(work())
