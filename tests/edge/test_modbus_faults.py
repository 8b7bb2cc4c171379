"""A bus on a bad cable: whatever the bytes, never a false reading, and each fault counted under its name."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import random
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from wire_rig import INPUTS, OUTPUTS, SENSORS, Rig, rig, until

from meterd.config import BitBlock, CounterBlock, UnitWanted
from protocols.events import DeviceDown, DeviceUp, Reading
from protocols.modbus_crc import sealed


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


async def more_polls(r: Rig, count: int) -> None:
    polls = r.stats.polls
    await until(lambda: r.stats.polls >= polls + count)


def test_a_stray_byte_before_each_reply_is_skipped_and_counted() -> None:
    """A byte that looks like a function code, as a turning RS-485 driver makes it, hides no reply."""

    async def work() -> None:
        async with rig() as r:
            r.cable.to_daemon = lambda data: [b"\x03" + data]
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))
            await more_polls(r, 10)
            assert [] == r.floor.of(DeviceDown)
            assert r.stats.resyncs >= 10
            assert {"ok", "stray"} == set(r.stats.frames)

    run(work())


def test_bytes_in_single_pieces_make_one_frame() -> None:
    """A reply that arrives byte by byte is one reply."""

    async def work() -> None:
        async with rig() as r:
            r.cable.to_daemon = lambda data: [data[i : i + 1] for i in range(len(data))]
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))
            await more_polls(r, 10)
            assert {"ok"} == set(r.stats.frames)

    run(work())


@pytest.mark.parametrize("told", [True, False])
def test_our_own_echo_is_no_reply(told: bool) -> None:
    """An adapter that repeats our request is lived with; if the site file does not say so, it is counted."""

    async def work() -> None:
        async with rig(echo=told) as r:

            def echoing(data: bytes) -> list[bytes]:
                r.cable.inject(data)
                return [data]

            r.cable.to_module = echoing
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))
            await until(lambda: r.module.coils[40][7])
            await more_polls(r, 10)
            assert [] == r.floor.of(DeviceDown)
            assert bool(r.stats.frames["echo"]) is not told

    run(work())


def test_an_echo_alone_is_a_dead_module() -> None:
    """Where nothing but our own request comes back, no write succeeded and nobody is up."""

    async def work() -> None:
        async with rig() as r:

            def only_echo(data: bytes) -> list[bytes]:
                r.cable.inject(data)
                return []

            r.cable.to_module = only_echo
            await r.floor.until(lambda: bool(r.floor.events))
            assert ["timeout"] == [e.cause for e in r.floor.of(DeviceDown)]
            assert r.stats.frames["echo"] >= 3
            assert 0 == r.stats.frames["ok"]

    run(work())


def test_the_reply_of_another_unit_is_nobodys() -> None:
    """A whole, well-sealed frame of a neighbour is counted as such and taken by no one."""

    async def work() -> None:
        async with rig() as r:
            r.cable.to_daemon = lambda data: [sealed(bytes((data[0] + 2,)) + data[1:-2])]
            await r.floor.until(lambda: bool(r.floor.events))
            assert ["timeout"] == [e.cause for e in r.floor.of(DeviceDown)]
            assert r.stats.frames["wrong_unit"] >= 3, r.stats.frames

    run(work())


@pytest.mark.parametrize("inputs", [8, 16])
def test_a_late_reply_is_never_taken_for_the_next_poll(inputs: int) -> None:
    """The chip was gone again when the late reply arrived, into the next poll of the same unit: nobody sees a chip."""
    profile = replace(SENSORS, inputs=BitBlock(2, 0, inputs), counters=CounterBlock(4, 0, 16))

    async def work() -> None:
        async with rig(profile=profile) as r:
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))
            held: list[bytes] = []
            late: list[bytes] = []

            def hold(data: bytes) -> list[bytes]:
                if not held and data[1] == 2:
                    held.append(data)
                    r.module.inputs[40][3] = False
                    return []
                if held and not late:
                    late.append(held[0])
                    return [held[0] + data]
                return [data]

            for _ in range(6):
                held.clear()
                late.clear()
                r.module.inputs[40][3] = True
                r.cable.to_daemon = hold
                await until(lambda: bool(late))
                await more_polls(r, 2)
                r.cable.to_daemon = lambda data: [data]
            await more_polls(r, 10)
            assert [] == [reading for reading in r.floor.of(Reading) if reading.levels[3]]
            assert [] == r.floor.of(DeviceDown)
            assert 6 == r.stats.frames["timeout"]
            assert sum(r.stats.frames[c] for c in ("wrong_function", "mismatch", "stray", "late")) >= 6

    run(work())


def test_what_arrives_unasked_is_counted_and_dropped() -> None:
    """A reply nobody waits for, sent twice by a repeater, changes nothing."""

    async def work() -> None:
        async with rig() as r:
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))
            later = asyncio.get_running_loop().call_later

            def twice(data: bytes) -> list[bytes]:
                later(0.002, r.cable.inject, data)
                return [data]

            r.cable.to_daemon = twice
            await more_polls(r, 20)
            r.cable.to_daemon = lambda data: [data]
            await more_polls(r, 2)
            assert [] == r.floor.of(Reading)
            assert [] == r.floor.of(DeviceDown)
            assert 0 == r.stats.frames["timeout"]
            assert r.stats.frames["late"] + r.stats.frames["stray"] > 0

    run(work())


def test_noise_makes_no_wager() -> None:
    """Flipped bits, lost bytes, inserted bytes: the module's levels never changed, and no reading says they did."""
    seed = 20260301
    print(f"seed {seed}")
    rng = random.Random(seed)

    def spoil(data: bytes) -> list[bytes]:
        if rng.random() < 0.8:
            return [data]
        raw = bytearray(data)
        at = rng.randrange(len(raw))
        kind = rng.randrange(3)
        if kind == 0:
            raw[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del raw[at]
        else:
            raw.insert(at, rng.randrange(256))
        return [bytes(raw)]

    async def work() -> None:
        async with rig() as r:
            r.cable.to_daemon = spoil
            await until(lambda: r.stats.frames["ok"] > 150)
            assert [] == r.floor.of(Reading)
            assert {up.reading.levels for up in r.floor.of(DeviceUp)} <= {(False,) * INPUTS}
            assert {up.reading.counts for up in r.floor.of(DeviceUp)} <= {(0,) * INPUTS}
            assert r.stats.frames["timeout"] > 0

    run(work())


def test_a_module_that_refuses_its_outputs_is_not_trusted() -> None:
    """It answers every read; a table whose lamps cannot be set does not open, and the loss says what was refused."""

    async def work() -> None:
        async with rig() as r:
            r.module.refuse.add(15)
            await r.floor.until(lambda: bool(r.floor.events))
            (down,) = r.floor.events
            assert ("outputs", True) == (down.cause, "unit 40 refused function 15" in down.found)
            assert 3 == r.stats.frames["refused"]
            assert -1 == r.bus.shown_seq(40)
            r.module.refuse.clear()
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))

    run(work())


@pytest.mark.parametrize("function", [2, 4])
def test_a_module_that_refuses_to_be_read_is_told(function: int) -> None:
    """Its identity fits and its outputs obey, but levels or counters are not where the profile has them."""

    async def work() -> None:
        async with rig() as r:
            r.module.refuse.add(function)
            await r.floor.until(lambda: bool(r.floor.events))
            (down,) = r.floor.events
            assert ("refused", True) == (down.cause, f"unit 40 refused function {function}" in down.found)
            r.module.refuse.clear()
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))
            r.module.refuse.add(function)
            await r.floor.until(lambda: len(r.floor.of(DeviceDown)) == 2)

    run(work())


def test_a_module_that_begins_to_refuse_its_outputs_closes_its_table_once() -> None:
    """Polls are answered all the while; after three refusals in a row it is lost, said once, and not trusted again."""

    async def work() -> None:
        async with rig(units=(40, 41)) as r:
            await r.floor.until(lambda: len(r.floor.of(DeviceUp)) == 2)
            r.module.refuse.add(15)
            await r.floor.until(lambda: len(r.floor.of(DeviceDown)) == 2)
            assert {"outputs"} == {down.cause for down in r.floor.of(DeviceDown)}
            refused = r.stats.frames["refused"]
            await until(lambda: r.stats.frames["refused"] > refused)
            assert 2 == len(r.floor.of(DeviceDown))
            assert 2 == len(r.floor.of(DeviceUp))

    run(work())


def test_an_output_that_does_not_follow_closes_its_table() -> None:
    """A relay that is stuck shows in the read-back: written again twice, then lost, with the lamp named."""

    async def work() -> None:
        async with rig() as r:
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))

            def dark(data: bytes) -> list[bytes]:
                if data[1] == 15 and data[3] == 0:  # the lamp of seat 3 never comes on
                    body = data[:7] + bytes((data[7] & ~4,))
                    return [sealed(body)]
                return [data]

            r.cable.to_module = dark
            r.bus.want(40, UnitWanted(5, (False, False, True, *[False] * 5), ()))
            await r.floor.until(lambda: bool(r.floor.of(DeviceDown)))
            (down,) = r.floor.of(DeviceDown)
            assert ("outputs", "pit-1/40: output 2 (lamp of seat 3) stays off whatever is written") == (
                down.cause,
                down.found,
            )
            assert r.bus.shown_seq(40) < 5

    run(work())


def test_a_module_that_answers_no_write_closes_its_table() -> None:
    """Polls are answered, writes are not: its lamps may show anything."""

    async def work() -> None:
        async with rig() as r:
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))
            r.cable.to_module = lambda data: [] if data[1] == 15 else [data]
            await r.floor.until(lambda: bool(r.floor.of(DeviceDown)))
            (down,) = r.floor.of(DeviceDown)
            assert ("outputs", True) == (down.cause, "no reply to function 15" in down.found)

    run(work())


def test_a_port_that_takes_no_bytes_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver held back by flow control: what waits is not sent later, the port is closed and opened again."""

    async def work() -> None:
        async with rig() as r:
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))
            with monkeypatch.context() as held:
                held.setattr("meterd.edge.serialport.SerialLink._send", lambda _, data: data)
                await r.floor.until(lambda: bool(r.floor.of(DeviceDown)))
                assert "takes no bytes" in r.stats.port_cause
            await r.floor.until(lambda: len(r.floor.of(DeviceUp)) == 2)

    run(work())


def test_another_module_put_in_place_of_a_silent_one_is_told() -> None:
    """One that was lost as silent and answers as another kind: the new obstacle is said, once."""

    async def work() -> None:
        async with rig(mute=(40,)) as r:
            await r.floor.until(lambda: bool(r.floor.of(DeviceDown)))
            r.module.identity = [1, 2]
            r.cable.to_module = lambda data: [data]
            await r.floor.until(lambda: len(r.floor.of(DeviceDown)) == 2)
            assert ["timeout", "identity"] == [down.cause for down in r.floor.of(DeviceDown)]

    run(work())


def test_a_module_that_stands_in_its_own_way_in_two_ways_is_told_of_each_once() -> None:
    """Refusing its outputs now, silent to them then, for as long as it likes: a word for each, not one for each try."""

    async def work() -> None:
        async with rig() as r:
            refuses = True

            def moody(data: bytes) -> list[bytes]:
                if data[1] != 15:
                    return [data]
                if refuses:
                    r.cable.inject(sealed(bytes((40, 0x8F, 4))))
                return []

            r.cable.to_module = moody

            def asked_again(before: int) -> bool:
                r.bus._units[40].due_s = 0.0  # now, not in two seconds
                r.bus._stir()
                return len(r.cable.requests) >= before + 8

            for refuses in (True, False, True, False):  # noqa: B007 - the cable looks at it
                await until(functools.partial(asked_again, len(r.cable.requests)))
            told = [(down.cause, down.found) for down in r.floor.of(DeviceDown)]
            assert len(set(told)) == len(told)
            assert len(told) <= 3

    run(work())


def test_every_byte_can_be_traced() -> None:
    """What went out and what came in, in order, as it was on the wire."""
    told: list[tuple[str, bytes]] = []

    async def work() -> None:
        async with rig(trace=lambda direction, data: told.append((direction, data))) as r:
            r.cable.to_daemon = lambda data: [data[:3], data[3:]]
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))
        sent = b"".join(data for direction, data in told if direction == "tx")
        assert b"".join(r.cable.requests) == sent
        assert r.stats.bytes_in == sum(len(data) for direction, data in told if direction == "rx")
        assert ("tx", r.cable.requests[0]) == told[0]

    run(work())


def test_an_unplugged_adapter_is_closed_at_once_and_found_again(tmp_path: Path) -> None:
    """Every module is down for that reason; the stable name may lead to another node when it comes back."""
    stable = tmp_path / "by-path"

    async def work() -> None:
        async with rig(units=(40, 41), port=str(stable)) as r:
            await r.floor.until(lambda: len(r.floor.events) == 2)  # the name leads nowhere yet
            assert ["port_lost"] * 2 == [e.cause for e in r.floor.of(DeviceDown)]
            assert "does not exist" in r.stats.port_cause
            stable.symlink_to(r.cable.port)
            await r.floor.until(lambda: len(r.floor.of(DeviceUp)) == 2)
            node = os.stat(r.cable.port).st_rdev  # noqa: PTH116 - the stable name does not matter here, the node does
            assert node in _open_nodes()
            r.cable.unplug()
            await r.floor.until(lambda: len(r.floor.of(DeviceDown)) == 4)
            assert {"port_lost"} == {e.cause for e in r.floor.of(DeviceDown)}
            assert node not in _open_nodes()
            assert 1 == r.stats.port_losses
            r.cable.plug(stable)
            await r.floor.until(lambda: len(r.floor.of(DeviceUp)) == 4)
            assert r.stats.port_up

    run(work())


def _open_nodes() -> set[int]:
    """Device numbers of all character devices this process holds open."""
    nodes = set()
    for name in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            nodes.add(name.stat().st_rdev)
    return nodes


def test_a_new_baseline_may_be_asked_for_at_any_moment_of_an_exchange() -> None:
    """Lost events begin every module anew, also while a reply is awaited; the bus lives on and takes the baseline."""

    async def work() -> None:
        async with rig() as r:
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))
            for times in range(10):
                asked = len(r.cable.requests)
                await until(lambda asked=asked: len(r.cable.requests) > asked)  # type: ignore[misc]
                r.bus.rebaseline()
                await r.floor.until(lambda times=times: len(r.floor.of(DeviceUp)) == times + 2)  # type: ignore[misc]
            assert [] == r.floor.of(DeviceDown)
            assert 1 == r.stats.units_up

    run(work())


def test_a_fault_of_the_program_closes_the_line_and_begins_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a driver did not foresee, its modules are told to be down and the port is opened again."""

    async def work() -> None:
        async with rig() as r:
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))
            with monkeypatch.context() as broken:
                broken.setattr("meterd.edge.modbus.counters_continue", lambda *_: 1 // 0)
                await r.floor.until(lambda: bool(r.floor.of(DeviceDown)))
            assert ("pit-1/40", "port_lost", True) == (
                r.floor.of(DeviceDown)[0].device,
                r.floor.of(DeviceDown)[0].cause,
                "ZeroDivisionError" in r.floor.of(DeviceDown)[0].found,
            )
            assert "ZeroDivisionError" in r.stats.port_cause
            await r.floor.until(lambda: len(r.floor.of(DeviceUp)) == 2)

    run(work())


def test_a_bad_cable_is_no_dead_module() -> None:
    """Garbled replies show that somebody is there: five in a row lose nothing, where three silences would."""

    async def work() -> None:
        async with rig() as r:
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))
            spoiled: list[bytes] = []

            def spoil(data: bytes) -> list[bytes]:
                if len(spoiled) == 5:
                    return [data]
                spoiled.append(data)
                return [data[:-1] + bytes((data[-1] ^ 1,))]

            r.cable.to_daemon = spoil
            await until(lambda: len(spoiled) == 5)
            await more_polls(r, 5)
            assert [] == r.floor.of(DeviceDown)
            r.cable.to_daemon = lambda data: [data[:-1] + bytes((data[-1] ^ 1,))]
            await r.floor.until(lambda: bool(r.floor.of(DeviceDown)))
            assert r.floor.of(DeviceDown)[0].cause in {"timeout", "unheard"}

    run(work())


def test_a_lamp_is_not_kept_waiting_by_two_lost_writes() -> None:
    """Two writes in a row that never arrive cost a few polls, not two seconds: a dealer looks for the lamps of LOCK.

    Three such seconds in a row once were a round of seven wagers and no lamp.
    """

    async def work() -> None:
        async with rig() as r:
            await until(lambda: r.module.coils[40][:OUTPUTS] == [False] * 7 + [True])
            await more_polls(r, 3)
            lost: list[int] = []

            def lose(data: bytes) -> list[bytes]:
                if data[1] == 15 and data[5] > 1 and len(lost) < 2:
                    lost.append(r.stats.polls)
                    return []
                return [data]

            r.cable.to_module = lose
            lit = (True, False, True, False, False, False, False, True)
            r.bus.want(40, UnitWanted(9, lit, ()))
            await until(lambda: tuple(r.module.coils[40][:OUTPUTS]) == lit)
            assert 2 == len(lost)
            assert r.stats.polls - lost[0] <= 20
            assert [] == r.floor.of(DeviceDown)

    run(work())


def test_the_safe_state_is_waited_for_while_replies_are_garbled() -> None:
    """A daemon that ends in the middle of noise leaves no lamp lit because a poll had just failed."""

    async def work() -> None:
        async with rig() as r:
            r.bus.want(40, UnitWanted(9, (True,) * 7 + (False,), ()))
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))
            await until(lambda: r.bus.shown_seq(40) == 9)
            spoiled: list[bytes] = []

            def spoil(data: bytes) -> list[bytes]:
                if len(spoiled) == 3:
                    return [data]
                spoiled.append(data)
                return [data[:-1] + bytes((data[-1] ^ 1,))]

            r.cable.to_daemon = spoil
            failed = r.stats.frames["timeout"]
            await until(lambda: r.stats.frames["timeout"] > failed)
            await r.bus.go_safe()
            assert [False] * 7 + [True] == list(r.module.coils[40][:OUTPUTS])
            assert [] == r.floor.of(DeviceDown)

    run(work())
