"""Failure modes of Modbus lines that users report: each with its cure, and failing without it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cures import failure_mode, limit_s
from wire_rig import INPUTS, SENSORS, Cable, Rig, rig, until

from meterd.config import BitBlock, BusConfig, CounterBlock, ModuleRef, PollConfig, UnitWanted, load_site
from meterd.edge.catalogue import catalogue
from meterd.edge.modbus_identity import Identities
from meterd.edge.modbus_line import BusStats, Line, Reply, Request
from meterd.edge.modbus_unit import Unit
from protocols.events import DeviceDown, DeviceUp, InputStuck, Reading
from protocols.modbus_crc import sealed

SAMPLE = (Path(__file__).resolve().parents[2] / "docs" / "site.example.toml").read_text(encoding="utf-8")
SECOND = replace(SENSORS, id="bench-other", identity=replace(SENSORS.identity, expected=(0x4B42, 0x3031)))  # type: ignore[type-var]


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


async def more_polls(r: Rig, count: int) -> None:
    polls = r.stats.polls
    await until(lambda: r.stats.polls >= polls + count)


async def first_loss(r: Rig) -> DeviceDown:
    """The first word about a module, which must be that it is lost."""
    await r.floor.until(lambda: bool(r.floor.events))
    first = r.floor.events[0]
    assert isinstance(first, DeviceDown), first
    return first


@contextlib.asynccontextmanager
async def scripted(answer: Callable[[int, bytes], list[bytes]]) -> AsyncIterator[Line]:
    """A line whose other end says what a script says: ``answer`` gets the number of the request and its bytes."""
    cable = Cable()
    asked = 0

    def heard(data: bytes) -> list[bytes]:
        nonlocal asked
        asked += 1
        for piece in answer(asked, data):
            cable.inject(piece)
        return []

    cable.to_module = heard
    cable.start()
    line = Line(BusConfig("pit-1", "modbus", cable.port, 115200), BusStats())
    await line.open()
    try:
        yield line
    finally:
        line.close()
        cable.close()


# ── 3: swapped cables ───────────────────────────────────────────────────────────────────────────────────────────────


@failure_mode(3, "kind-asked")
def test_mode_03_another_kind_of_module_is_named_and_no_table_opens() -> None:
    """What answers says it is another kind: it is not trusted; the word is who was wanted and who was found."""
    known = Identities.of([ModuleRef("pit-1", 40, SENSORS), ModuleRef("pit-2", 40, SECOND)])

    async def work() -> None:
        async with rig(identities=known) as r:
            r.module.identity = [0x4B42, 0x3031]
            down = await first_loss(r)
            assert "identity" == down.cause
            assert 'wanted a "bench-sensors" (MTRD) at pit-1/40, found KB01, which is a "bench-other"' == down.found
            asked = len(r.cable.requests)
            await until(lambda: len(r.cable.requests) > asked)  # it is asked again, and no more is said
            assert [down] == r.floor.events
            assert [] == r.floor.of(DeviceUp)

    run(work())


@failure_mode(3, "serial-asked")
def test_mode_03_two_swapped_cables_are_told_with_the_place_each_belongs_to() -> None:
    """Two lines with the same unit id and kind, their plugs swapped: neither table opens, both words are right."""
    serials = {"pit-1": "00000111", "pit-2": "00000222"}
    known = Identities.of(ModuleRef(name, 40, SENSORS, serial) for name, serial in serials.items())

    async def work() -> None:
        async with (
            rig(name="pit-1", serials={40: serials["pit-1"]}, identities=known) as one,
            rig(name="pit-2", serials={40: serials["pit-2"]}, identities=known) as two,
        ):
            one.module.serials[40], two.module.serials[40] = b"00000222", b"00000111"  # the plugs are swapped
            first, second = await first_loss(one), await first_loss(two)
            assert ["serial", "serial"] == [first.cause, second.cause]
            assert "wanted 00000111 at pit-1/40, found 00000222, which belongs at pit-2/40" == first.found
            assert "wanted 00000222 at pit-2/40, found 00000111, which belongs at pit-1/40" == second.found
            assert [] == [*one.floor.of(DeviceUp), *two.floor.of(DeviceUp)]
            one.module.serials[40], two.module.serials[40] = b"00000111", b"00000222"  # and put right
            for r in (one, two):
                await r.floor.until(lambda r=r: bool(r.floor.of(DeviceUp)))  # type: ignore[misc]

    run(work())


# ── 5: late replies ─────────────────────────────────────────────────────────────────────────────────────────────────


@failure_mode(5, "guard")
def test_mode_05_a_late_reply_of_another_function_is_not_taken() -> None:
    """The reply to a read of inputs comes while registers are read: the registers are what the module says they are."""
    late, true = sealed(bytes.fromhex("280202aaaa")), sealed(bytes.fromhex("2804020007"))

    async def work() -> None:
        async with scripted(lambda _, __: [late, true]) as line:
            reply = await line.ask(Request(40, 4, 0, 1), limit_s())
            assert (7,) == reply.values

    run(work())


@failure_mode(5, "alternation")
def test_mode_05_a_repeated_reply_to_the_poll_before_is_not_taken() -> None:
    """A repeater says the last reply again, into the next poll; the chip it shows was taken away since."""
    unit = Unit(ModuleRef("pit-1", 40, SENSORS))

    def reply(request: bytes, first: int) -> bytes:
        size = (request[5] + 7) // 8
        return sealed(bytes((40, 2, size)) + bytes((first,)) + bytes(size - 1))

    heard: list[bytes] = []

    def answer(number: int, request: bytes) -> list[bytes]:
        heard.append(reply(request, 0b1000 if number == 1 else 0))
        return heard[-2:]

    async def work() -> None:
        async with scripted(answer) as line:
            assert (await line.ask(unit.levels_request(), limit_s())).values[3] == 1
            assert (await line.ask(unit.levels_request(), limit_s())).values[3] == 0

    run(work())


@failure_mode(5, "late-reply-let-pass")
def test_mode_05_after_a_timeout_a_late_reply_is_let_pass() -> None:
    """Eight inputs leave no second length to alternate with: something else is asked first, and the late one passes."""
    profile = replace(SENSORS, inputs=BitBlock(2, 0, 8), counters=CounterBlock(4, 0, 16))

    async def work() -> None:
        async with rig(profile=profile) as r:
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))
            held: list[bytes] = []
            late: list[bytes] = []

            def hold(data: bytes) -> list[bytes]:
                if not held and data[1] == 2:
                    held.append(data)
                    r.module.inputs[40][3] = False  # the chip is gone when the reply that shows it arrives
                    return []
                if held and not late:
                    late.append(held[0])
                    return [held[0] + data]
                return [data]

            r.module.inputs[40][3] = True
            r.cable.to_daemon = hold
            await until(lambda: bool(late))
            await more_polls(r, 4)
            assert [] == [reading for reading in r.floor.of(Reading) if reading.levels[3]]
            assert [] == r.floor.of(DeviceDown)

    run(work())


# ── 6: a stray byte ─────────────────────────────────────────────────────────────────────────────────────────────────


@failure_mode(6, "guard")
def test_mode_06_a_stray_byte_before_each_reply_hides_none() -> None:
    """Unit 1, whose id looks like a function code, behind a line that turns round with a byte."""

    async def work() -> None:
        async with rig(units=(1,)) as r:
            r.cable.to_daemon = lambda data: [b"\x00" + data]
            await r.floor.until(lambda: bool(r.floor.events))
            assert isinstance(r.floor.events[0], DeviceUp)
            await more_polls(r, 10)
            assert [] == r.floor.of(DeviceDown)

    run(work())


@failure_mode(6, "unit-advice")
@pytest.mark.parametrize("unit", [1, 43, 200])
def test_mode_06_unit_ids_that_look_like_function_codes_are_warned_of(unit: int) -> None:
    """32 to 127 without 43 are safe; others work behind the guard and are not advised."""
    site = load_site(SAMPLE.replace("unit = 40,", f"unit = {unit},", 1), "site.toml", catalogue())
    assert ["table[0].sensors.unit"] == [warning.key for warning in site.warnings if "function code" in warning.message]


# ── 7: the echo ─────────────────────────────────────────────────────────────────────────────────────────────────────


@failure_mode(7, "read-back")
def test_mode_07_a_write_that_is_only_acknowledged_opens_no_table() -> None:
    """Something answers every write as a module would, and no lamp is lit: the table stays closed, with a word."""

    async def work() -> None:
        async with rig() as r:

            def acknowledged(data: bytes) -> list[bytes]:
                if data[1] == 15:
                    r.cable.inject(sealed(data[:6]))
                    return []
                return [data]

            r.cable.to_module = acknowledged
            down = await first_loss(r)
            assert "outputs" == down.cause
            assert "pit-1/40: output 7 (betting closed) stays off whatever is written" == down.found

    run(work())


@failure_mode(7, "echo-told")
def test_mode_07_an_echo_that_the_site_file_does_not_know_is_told() -> None:
    """After a few of them the bus says: set echo = true."""

    async def work() -> None:
        async with rig() as r:

            def echoing(data: bytes) -> list[bytes]:
                r.cable.inject(data)
                return [data]

            r.cable.to_module = echoing
            await until(lambda: "set echo = true" in r.stats.port_hint)
            r.cable.to_module = lambda data: [data]
            await until(lambda: r.stats.port_hint == "")  # it is taken back when it is seen no more
            r.cable.to_module = echoing
            await until(lambda: "set echo = true" in r.stats.port_hint)

    run(work())


@failure_mode(7, "echo-told")
def test_mode_07_an_echo_that_stays_away_is_told() -> None:
    """The site file says the adapter echoes and it does not: no reply can be trusted, and the bus says what to set."""

    async def work() -> None:
        async with rig(echo=True) as r:
            down = await first_loss(r)
            assert ("timeout", "") == (down.cause, down.found)
            await until(lambda: "set echo = false" in r.stats.port_hint)

    run(work())


def test_mode_08_a_slow_module_is_told_from_a_dead_one() -> None:
    """Its replies come 300 ms after the question: the loss says so, by how much, and what to do; once."""

    async def work() -> None:
        async with rig(units=(40, 41, 42, 44)) as r:
            later = asyncio.get_running_loop().call_later
            await r.floor.until(lambda: len(r.floor.of(DeviceUp)) == 4)

            def slow(data: bytes) -> list[bytes]:
                if data[0] != 44:
                    return [data]
                later(0.3, r.cable.inject, data)
                return []

            r.cable.to_daemon = slow
            await r.floor.until(lambda: any("replies come 3" in down.found for down in r.floor.of(DeviceDown)))
            downs = [down for down in r.floor.of(DeviceDown) if down.device == "pit-1/44"]
            assert {"pit-1/44"} == {down.device for down in r.floor.of(DeviceDown)}
            assert {"timeout", "unheard"} >= {down.cause for down in downs}
            assert "set turnaround_ms of its profile" in downs[-1].found

    run(work())


# ── 8, 10: dead modules, silence ────────────────────────────────────────────────────────────────────────────────────


@failure_mode(8, "quarantine")
def test_mode_08_a_dead_module_costs_its_neighbours_no_cycle() -> None:
    """One of four answers nothing: the others keep their cadence. A busy machine may hold the loop up now and then."""
    poll = PollConfig(levels_ms=50, counters_ms=1000, timeout_ms=100)

    async def work() -> None:
        async with rig(units=(40, 41, 42, 44), mute=(42,), poll=poll) as r:
            await r.floor.until(lambda: len(r.floor.of(DeviceUp)) == 3 and bool(r.floor.of(DeviceDown)))
            late = r.stats.late_polls
            await more_polls(r, 60)
            assert r.stats.late_polls < late + 6
            assert 3 == r.stats.units_up
            assert ["pit-1/42"] == [event.device for event in r.floor.of(DeviceDown)]

    run(work())


@failure_mode(10, "silence")
def test_mode_10_the_line_is_silent_before_each_request() -> None:
    """3.5 characters at 9600 baud are 3.6 ms: no request follows a reply sooner."""

    async def work() -> None:
        async with rig(baud=9600) as r:
            loop = asyncio.get_running_loop()
            said_at: list[float] = []
            gaps: list[float] = []

            def asked(data: bytes) -> list[bytes]:
                if said_at:
                    gaps.append(loop.time() - said_at[-1])
                return [data]

            def said(data: bytes) -> list[bytes]:
                said_at.append(loop.time())
                return [data]

            r.cable.to_module, r.cable.to_daemon = asked, said
            await r.floor.until(lambda: bool(r.floor.events))
            await more_polls(r, 20)
            assert min(gaps) >= 0.0036

    run(work())


# ── 12: short presses, stuck sensors ────────────────────────────────────────────────────────────────────────────────


@failure_mode(12, "counters")
def test_mode_12_a_press_and_a_coin_between_two_polls_are_counted_once() -> None:
    """The level was never seen on; the counter moved by one, and one reading says so."""

    async def work() -> None:
        async with rig() as r:
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))
            r.module.counters[40][7] += 1
            await r.floor.until(lambda: bool(r.floor.of(Reading)))
            await more_polls(r, 20)
            (seen,) = r.floor.of(Reading)
            assert ((False,) * INPUTS, 1) == (seen.levels, seen.counts[7])

    run(work())


@failure_mode(12, "stuck-inputs")
def test_mode_12_a_sensor_that_does_not_let_go_is_one_alarm_and_counts_for_nothing() -> None:
    """On for too long: told once, its level stands as off, and what its counter does meanwhile brings no chip back."""
    poll = PollConfig(levels_ms=25, counters_ms=100, timeout_ms=100, stuck_s=0)

    async def work() -> None:
        async with rig(poll=poll) as r:
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))
            r.module.inputs[40][2] = True
            r.module.counters[40][2] += 1
            await r.floor.until(lambda: bool(r.floor.of(InputStuck)))
            r.module.counters[40][2] += 3  # it chatters
            await r.floor.until(lambda: r.floor.of(Reading)[-1].counts[2] == 4)
            await more_polls(r, 10)
            assert [InputStuck("pit-1/40", 2, 0)] == r.floor.of(InputStuck)
            assert {"pit-1/40/di2": 0} == r.stats.stuck
            assert not r.floor.of(Reading)[-1].levels[2]
            r.module.inputs[40][2] = False
            await until(lambda: not r.stats.stuck)

    run(work())


def test_a_stuck_input_that_lets_go_for_a_moment_is_stuck_still() -> None:
    """A flicker is no chip lifted and put down again; a second without it is."""
    made = Unit(ModuleRef("pit-1", 40, replace(SENSORS, inputs=BitBlock(2, 0, 1))), unheard_ms=60_000, stuck_s=10)
    on = {0.1, 9.9, 10.3, 10.5, 11.5, 13.1}
    seen = []
    for at_s in (0.0, 0.1, 9.9, 10.3, 10.4, 10.5, 11.0, 11.5, 13.0, 13.1):
        made.snapshot = made.took_levels(Reply((int(at_s in on),), at_s, at_s))
        seen.append(made.snapshot.levels[0])
    assert [False, True, True, False, False, False, False, False, False, True] == seen
    assert 4 == made.counts(None)[0]  # edges go on being counted; the floor believes no edge without a level


def test_lamps_that_were_wanted_before_it_answered_are_shown_before_it_is_trusted() -> None:
    """A module that comes up shows what the book says at once, read back, and only then are its chips believed."""
    lit = (True, False, True, *[False] * 5)

    async def work() -> None:
        async with rig() as r:
            r.bus.want(40, UnitWanted(3, lit, ()))
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))
            assert lit == tuple(r.module.coils[40][:8])

    run(work())
