"""A bus against foreign peers on ptys: baselines, readings, outputs, cadence."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

import pytest
from wire_rig import HEARTBEAT, INPUTS, KEYPAD, LIMIT_S, OUTPUTS, SENSORS, rig, until

from meterd.config import BitBlock, PollConfig, UnitWanted
from meterd.edge.modbus_line import Line
from protocols.events import DeviceDown, DeviceUp, Reading

PEERS = ["pymodbus", pytest.param("libmodbus", marks=pytest.mark.peer)]


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


@pytest.mark.parametrize("peer", PEERS)
def test_a_module_begins_with_a_baseline_and_then_only_changes_are_told(peer: str) -> None:
    """Counters that stood at some value before we listened are the baseline; a chip is one reading with its count."""

    async def work() -> None:
        async with rig(peer=peer) as r:
            r.module.counters[40][2] = 117  # before the first request can have been sent
            await r.floor.until(lambda: bool(r.floor.events))
            (up,) = r.floor.events
            assert isinstance(up, DeviceUp)
            assert "pit-1/40" == up.device
            assert 65536 == up.modulus
            assert (False,) * INPUTS == up.reading.levels
            assert 117 == up.reading.counts[2]
            polls = r.stats.polls
            await until(lambda: r.stats.polls > polls + 20)
            assert [] == r.floor.of(Reading)
            r.module.counters[40][2] = 118
            r.module.inputs[40][2] = True
            await r.floor.until(lambda: bool(r.floor.of(Reading)) and r.floor.of(Reading)[-1].levels[2])
            seen = r.floor.of(Reading)[-1]
            assert 118 == seen.counts[2]
            assert seen.previous_ended_ms <= seen.began_ms <= seen.ended_ms
            assert {"ok"} == set(r.stats.frames)

    run(work())


@pytest.mark.parametrize("peer", PEERS)
def test_a_press_too_short_for_the_levels_arrives_by_its_counter(peer: str) -> None:
    """A counter that moved while the level looks unchanged is an event all the same."""

    async def work() -> None:
        async with rig(peer=peer) as r:
            await r.floor.until(lambda: bool(r.floor.events))
            r.module.counters[40][7] += 1
            await r.floor.until(lambda: bool(r.floor.of(Reading)))
            (seen,) = r.floor.of(Reading)
            assert (False,) * INPUTS == seen.levels
            assert 1 == seen.counts[7]

    run(work())


@pytest.mark.parametrize("peer", PEERS)
def test_a_pad_is_told_by_counters_alone(peer: str) -> None:
    """A keypad's keys are counters; its levels are not read."""

    async def work() -> None:
        async with rig(peer=peer, profile=KEYPAD, poll=PollConfig(levels_ms=25, counters_ms=5000, timeout_ms=100)) as r:
            await r.floor.until(lambda: bool(r.floor.events))
            r.module.inputs[40][1] = True
            r.module.counters[40][1] += 1
            await r.floor.until(lambda: bool(r.floor.of(Reading)))
            (seen,) = r.floor.of(Reading)
            assert 1 == seen.counts[1]
            assert (False,) * INPUTS == seen.levels
            assert {request[1] for request in r.cable.requests} <= {4, 16}

    run(work())


def test_counters_that_fell_are_a_restart_and_never_bets() -> None:
    """A module that lost power is told as down for that reason and comes up with a new baseline."""

    async def work() -> None:
        async with rig() as r:
            r.module.counters[40][:] = [500] * INPUTS  # before the first request can have been sent
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))
            wired = max(*SENSORS.seats, SENSORS.lock or 0) + 1  # the others are not read and stand as 0
            assert (500,) * wired + (0,) * (INPUTS - wired) == r.floor.of(DeviceUp)[0].reading.counts
            r.module.counters[40][:] = [0] * INPUTS
            r.module.coils[40][:] = [False] * 48
            await r.floor.until(lambda: len(r.floor.of(DeviceUp)) == 2)
            down = r.floor.of(DeviceDown)
            assert ["restarted"] == [event.cause for event in down]
            assert (0,) * INPUTS == r.floor.of(DeviceUp)[1].reading.counts
            assert [] == r.floor.of(Reading)
            await until(lambda: r.module.coils[40][7])

    run(work())


def test_a_module_of_another_kind_is_not_trusted() -> None:
    """What does not say what the profile expects stays down, for that reason."""

    async def work() -> None:
        async with rig() as r:
            r.module.identity = [1, 2]
            await r.floor.until(lambda: bool(r.floor.events))
            assert [("pit-1/40", "identity")] == [(e.device, e.cause) for e in r.floor.of(DeviceDown)]
            assert [] == r.floor.of(DeviceUp)

    run(work())


@pytest.mark.parametrize("peer", PEERS)
def test_wanted_outputs_are_written_read_back_and_written_again_when_they_differ(peer: str) -> None:
    """Before anybody wants something: dark, and "betting closed" lit. Then the newest wanted value, whoever meddles."""

    async def work() -> None:
        async with rig(peer=peer) as r:
            await until(lambda: r.module.coils[40][:OUTPUTS] == [False] * 7 + [True])
            lit = (True, False, True, False, False, False, False, False)
            r.bus.want(40, UnitWanted(9, lit, ()))
            r.bus.want(40, UnitWanted(7, (True,) * 8, ()))
            await until(lambda: r.bus.shown_seq(40) == 9)
            assert lit == tuple(r.module.coils[40][:OUTPUTS])
            r.module.coils[40][2] = False
            await until(lambda: r.module.coils[40][2] is True)
            assert 1 == r.stats.rewrites
            beats = set()
            await until(lambda: beats.add(bool(r.module.coils[40][HEARTBEAT])) or len(beats) == 2)
            await r.bus.go_safe()
            assert [False] * 7 + [True] == list(r.module.coils[40][:OUTPUTS])
            r.bus.want(40, UnitWanted(99, lit, ()))
            checks = r.stats.polls
            await until(lambda: r.stats.polls > checks + 10)
            assert [False] * 7 + [True] == list(r.module.coils[40][:OUTPUTS])

    run(work())


@pytest.mark.parametrize("peer", PEERS)
def test_lamps_flash_by_the_modules_own_bank_where_it_has_one(peer: str) -> None:
    """Side by side, outputs and flash bank are one write: the flash bit and the output it applies to."""
    profile = replace(SENSORS, flash=BitBlock(1, OUTPUTS, OUTPUTS))

    async def work() -> None:
        async with rig(peer=peer, profile=profile) as r:
            await r.floor.until(lambda: bool(r.floor.events))
            r.bus.want(40, UnitWanted(1, (True, True, False, *[False] * 5), (False, True, True, *[False] * 5)))
            await until(lambda: r.bus.shown_seq(40) == 1)
            assert [True, True, True, *[False] * 5, False, True, True, *[False] * 5] == r.module.coils[40][:16]
            writes = [request for request in r.cable.requests if request[1] == 15 and request[3] == 0]
            assert all(request[5] == 16 for request in writes)

    run(work())


def test_lamps_are_toggled_where_the_module_cannot_flash() -> None:
    """Without a bank the driver switches the lamp on and off; the steady one beside it never goes dark."""

    async def work() -> None:
        async with rig() as r:
            await r.floor.until(lambda: bool(r.floor.events))
            r.bus.want(40, UnitWanted(1, (True, *[False] * 7), (False, True, *[False] * 6)))
            seen: list[tuple[bool, bool]] = []

            def both() -> bool:
                state = (r.module.coils[40][0], r.module.coils[40][1])
                if state[0] and (not seen or seen[-1] != state):
                    seen.append(state)
                return len(seen) >= 5

            await until(both)
            assert {True} == {state[0] for state in seen}
            assert [state[1] for state in seen[:4]] in ([True, False] * 2, [False, True] * 2)
            await until(lambda: r.bus.shown_seq(40) == 1)

    run(work())


@pytest.mark.parametrize("peer", PEERS)
def test_text_is_written_when_it_changed_and_only_the_line_that_did(peer: str) -> None:
    """Two ASCII characters a register, high byte first; an unchanged line travels once."""

    async def work() -> None:
        async with rig(peer=peer, profile=KEYPAD) as r:
            await r.floor.until(lambda: bool(r.floor.events))
            r.bus.want(40, UnitWanted(1, (), (), ("OPEN  3 BETS", "")))
            await until(lambda: r.module.registers[40][0] == ord("O") << 8 | ord("P"))
            r.bus.want(40, UnitWanted(2, (), (), ("OPEN  3 BETS", "S3 ROYAL")))
            await until(lambda: r.module.registers[40][8] == ord("S") << 8 | ord("3"))
            writes = [request for request in r.cable.requests if request[1] == 16]
            assert [(0, 16), (8, 8)] == [(request[3], request[5]) for request in writes]
            raw = b"".join(word.to_bytes(2, "big") for word in r.module.registers[40][:16])
            assert b"OPEN  3 BETS".ljust(16) + b"S3 ROYAL".ljust(16) == raw

    run(work())


@pytest.mark.parametrize("peer", PEERS)
def test_a_text_that_never_arrived_is_written_again(peer: str) -> None:
    """The reply to a write of registers says how many, not which words: only what is read back is believed."""

    async def work() -> None:
        async with rig(peer=peer, profile=KEYPAD) as r:
            await r.floor.until(lambda: bool(r.floor.events))
            r.bus.want(40, UnitWanted(1, (), (), ("LOCKED", "3 BETS")))
            await until(lambda: r.module.registers[40][0] == ord("L") << 8 | ord("O"))
            await until(lambda: any(request[1:4] == bytes([3, 0, 0]) for request in r.cable.requests))  # read back once
            r.module.registers[40][0] = ord("O") << 8 | ord("P")  # as if the write had been taken for another's
            await until(lambda: r.module.registers[40][0] == ord("L") << 8 | ord("O"))
            assert r.stats.rewrites >= 1
            assert [] == r.floor.of(DeviceDown)

    run(work())


def test_a_dead_module_costs_its_neighbours_no_cycle() -> None:
    """One of four units answers nothing: it is reported down once, the others keep their cadence."""

    async def work() -> None:
        poll = PollConfig(levels_ms=100, counters_ms=1000, timeout_ms=100)
        async with rig(units=(40, 41, 42, 44), mute=(42,), poll=poll) as r:
            await r.floor.until(lambda: len(r.floor.events) >= 4)
            assert [("pit-1/42", "timeout")] == [(e.device, e.cause) for e in r.floor.of(DeviceDown)]
            polls = r.stats.polls
            probes = r.stats.frames["timeout"]
            await until(lambda: r.stats.frames["timeout"] > probes)
            assert r.stats.polls - polls >= 40
            assert r.stats.late_polls < 5  # a busy machine may hold the loop up; a dead module would do it each cycle
            assert 3 == r.stats.units_up
            assert 1 == len(r.floor.of(DeviceDown))

    run(work())


def test_a_bus_stops_even_when_its_reply_arrives_at_that_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cancelled in the very callback that completes an exchange, the task ends all the same."""
    real = Line._trace
    tasks: list[asyncio.Task[None]] = []

    def cancelling(self: Line, sending: bool, data: bytes) -> bytes:
        frame = real(self, sending, data)
        if frame and not sending:
            for task in tasks:
                task.cancel()
        return frame

    monkeypatch.setattr(Line, "_trace", cancelling)

    async def work() -> None:
        async with rig() as r:
            await until(lambda: r.stats.polls > 3)
            tasks.extend(task for task in asyncio.all_tasks() if "ModbusBus.run" in repr(task))
            assert 1 == len(tasks)
            async with asyncio.timeout(LIMIT_S):
                await asyncio.wait(tasks)
            assert tasks[0].cancelled()
            assert r.stats.port_up is False

    run(work())
