"""A false reply with a right checksum: on a line that garbles nothing new is believed until it was said twice."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest
from wire_rig import KEYPAD, SENSORS, Cable, Rig, rig, until

from meterd.config import ModuleRef, PollConfig, Profile
from meterd.edge.modbus_doubt import STEPS_MAX, Doubt
from meterd.edge.modbus_line import READ_HOLDING, READ_INPUTS, READ_REGISTERS
from meterd.edge.modbus_unit import Unit
from protocols.events import DeviceDown, DeviceUp, Reading
from protocols.modbus_crc import sealed

GARBLED_EACH = 7
POLL = PollConfig(levels_ms=50, counters_ms=200, timeout_ms=100)
Change = Callable[[bytes], bytes]


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


class BadLine:
    """A cable on which every seventh reply is garbled, unless well; now and then a false one has a right checksum."""

    def __init__(self, cable: Cable, *, noisy: bool = True) -> None:
        self.noisy = noisy
        self.heard: list[tuple[int, bytes]] = []  # functions and payloads that arrived whole
        self.lies: list[tuple[int, Change]] = []  # the next whole replies to these functions are changed so
        self._cable = cable
        self._passed = 0
        cable.to_daemon = self

    def __call__(self, data: bytes) -> list[bytes]:
        self._passed += 1
        if self.noisy and self._passed % GARBLED_EACH == 0:
            return [data[:-1] + bytes((data[-1] ^ 1,))]
        whole = self._cable.requests[-1][5] >= 2  # nothing that only makes sure no late reply comes
        if self.lies and whole and data[1] == self.lies[0][0]:
            data = sealed(self.lies.pop(0)[1](data[:-2]))
        self.heard.append((data[1], data[3:-2]))
        return [data]


def with_bit(place: int) -> Change:
    """An input that is on."""
    return lambda body: body[:3] + bytes((body[3] | 1 << place,)) + body[4:]


def with_step(place: int, step: int) -> Change:
    """A counter that is further by so much."""

    def change(body: bytes) -> bytes:
        at = 3 + 2 * place
        value = (int.from_bytes(body[at : at + 2], "big") + step) % 65536
        return body[:at] + value.to_bytes(2, "big") + body[at + 2 :]

    return change


def refused(body: bytes) -> bytes:
    """An exception reply: illegal address."""
    return bytes((body[0], body[1] | 0x80, 2))


async def more_polls(r: Rig, count: int) -> None:
    polls = r.stats.polls
    await until(lambda: r.stats.polls >= polls + count)


LIES = [
    pytest.param(SENSORS, READ_INPUTS, with_bit(2), id="chip"),
    pytest.param(SENSORS, READ_INPUTS, with_bit(7), id="lock"),
    pytest.param(SENSORS, READ_REGISTERS, with_step(2, 1), id="counter-up"),
    pytest.param(SENSORS, READ_REGISTERS, with_step(2, -100), id="counter-back"),
    pytest.param(SENSORS, READ_REGISTERS, with_step(2, 30_000), id="counter-far"),
    pytest.param(KEYPAD, READ_REGISTERS, with_step(0, 1), id="key-up"),
    pytest.param(KEYPAD, READ_REGISTERS, with_step(0, -100), id="key-back"),
    pytest.param(replace(SENSORS, counters=None), READ_INPUTS, with_bit(2), id="chip-without-counters"),
]


@pytest.mark.parametrize(("profile", "function", "lie"), LIES)
def test_a_false_reply_on_a_noisy_line_is_thrown_away_and_counted(profile: Profile, function: int, lie: Change) -> None:
    """Three times: nothing is handed over, no restart is told, each one is counted."""

    async def work() -> None:
        async with rig(profile=profile, poll=POLL) as r:
            for unit in r.module.counters.values():
                unit[:] = [500] * len(unit)
            line = BadLine(r.cable)
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))
            for told in range(1, 4):
                await more_polls(r, GARBLED_EACH)
                line.lies = [(function, lie)]
                await until(lambda told=told: r.stats.frames["unconfirmed"] == told)  # type: ignore[misc]
            await more_polls(r, 10)
            assert [DeviceUp] == [type(event) for event in r.floor.events]
            assert 3 == r.stats.frames["unconfirmed"]

    run(work())


@pytest.mark.parametrize(("profile", "function"), [(SENSORS, READ_INPUTS), (SENSORS, READ_REGISTERS), (KEYPAD, 4)])
def test_a_false_refusal_on_a_noisy_line_ends_no_trust(profile: Profile, function: int) -> None:
    """An exception reply is a poll without a reading, and no more."""

    async def work() -> None:
        async with rig(profile=profile, poll=POLL) as r:
            line = BadLine(r.cable)
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))
            await more_polls(r, GARBLED_EACH)
            line.lies = [(function, refused)]
            await until(lambda: r.stats.frames["refused"] == 1)
            await more_polls(r, 10)
            assert [DeviceUp] == [type(event) for event in r.floor.events]

    run(work())


def test_a_false_refusal_of_a_text_does_not_make_it_unreadable() -> None:
    """A display is asked for its text again; only two refusals in a row are believed where replies are garbled."""
    plan = ModuleRef("pit-1", 40, KEYPAD)
    for noisy, readable in ((True, True), (False, False)):
        made = Unit(plan)
        made._text_written = (0x2020,) * 32
        made.text_refused(noisy=noisy)
        assert readable is (made.check_request() is not None)
        made.text_refused(noisy=noisy)
        assert made.check_request() is None


@pytest.mark.parametrize("noisy", [True, False])
def test_a_chip_is_handed_over_once_by_the_second_read_where_it_is_noisy_and_else_by_the_first(noisy: bool) -> None:
    """Levels and counters arrive together, once; a line that is well is asked for nothing twice."""

    async def work() -> None:
        async with rig(poll=POLL) as r:
            line = BadLine(r.cable, noisy=noisy)
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))
            await more_polls(r, GARBLED_EACH)
            handed_after: list[int] = []
            floor = r.floor
            r.bus._sink = lambda event: (handed_after.append(len(line.heard)), floor(event))[1]
            since = len(line.heard)
            r.module.counters[40][2] += 1
            r.module.inputs[40][2] = True
            await floor.until(lambda: bool(floor.of(Reading)))
            await more_polls(r, 20)
            seen = floor.of(Reading)
            assert [(True, 1)] == [(reading.levels[2], reading.counts[2]) for reading in seen if reading.levels[2]]
            shown = [
                function
                for function, payload in line.heard[since : handed_after[-1]]
                if (function == READ_INPUTS and payload[0] & 4) or (function == READ_REGISTERS and payload[5] == 1)
            ]
            if noisy:
                assert shown.count(READ_INPUTS) >= 2
                assert shown.count(READ_REGISTERS) >= 2
            else:
                assert shown.count(READ_INPUTS) == 1
                assert shown.count(READ_REGISTERS) == 1
                assert 0 == r.stats.frames["unconfirmed"]
            assert [] == floor.of(DeviceDown)

    run(work())


def test_every_press_on_a_noisy_line_with_lies_in_between_is_told_once() -> None:
    """Forty presses, a lie before every second one: the counts told are those of the module, and only ever grow."""
    seed = 5
    print(f"seed {seed}")
    rng = random.Random(seed)

    async def work() -> None:
        async with rig(profile=KEYPAD, poll=POLL) as r:
            line = BadLine(r.cable)
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))
            await more_polls(r, GARBLED_EACH)
            for press in range(40):
                key = rng.randrange(3)
                if press % 2:
                    line.lies = [(READ_REGISTERS, with_step(rng.randrange(3), rng.choice((1, 3, -1, -40))))]
                r.module.counters[40][key] += 1
                now = tuple(r.module.counters[40])[:3]
                await r.floor.until(
                    lambda now=now: bool(r.floor.of(Reading)) and r.floor.of(Reading)[-1].counts[:3] == now  # type: ignore[misc]
                )
            assert [] == r.floor.of(DeviceDown)
            told = [sum(reading.counts) for reading in r.floor.of(Reading)]
            assert list(range(1, 41)) == told

    run(work())


def test_a_module_that_restarted_on_a_noisy_line_is_told_so_once() -> None:
    """It says so twice: DeviceDown, then a baseline of what it counts now."""

    async def work() -> None:
        async with rig(poll=POLL) as r:
            r.module.counters[40][:] = [500] * 16
            BadLine(r.cable)
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))
            await more_polls(r, GARBLED_EACH)
            r.module.counters[40][:] = [0] * 16
            await r.floor.until(lambda: len(r.floor.of(DeviceUp)) == 2)
            assert ["restarted"] == [event.cause for event in r.floor.of(DeviceDown)]
            assert (0,) * 16 == r.floor.of(DeviceUp)[-1].reading.counts

    run(work())


@pytest.mark.parametrize(("function", "lie"), [(READ_INPUTS, with_bit(2)), (READ_REGISTERS, with_step(2, 7))])
def test_a_baseline_on_a_noisy_line_needs_two_that_agree(function: int, lie: Change) -> None:
    """The first levels or counters heard are false: what is handed over is what the module shows."""

    async def work() -> None:
        cable = Cable()
        async with rig(poll=POLL, cable=cable) as r:
            line = BadLine(cable)
            line._passed = GARBLED_EACH - 1  # the first reply of all is garbled
            line.lies = [(function, lie)]
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))
            assert [] == line.lies
            (up,) = r.floor.of(DeviceUp)
            assert (0,) * 16 == up.reading.counts
            assert not any(up.reading.levels)
            await more_polls(r, 10)
            assert [DeviceUp] == [type(event) for event in r.floor.events]

    run(work())


def test_a_stranger_on_a_noisy_line_must_say_so_twice() -> None:
    """One false identity makes no alarm; a module that is another says it again and is named."""

    async def work() -> None:
        cable = Cable()
        async with rig(poll=POLL, cable=cable) as r:
            line = BadLine(cable)
            line._passed = GARBLED_EACH - 1
            line.lies = [(READ_HOLDING, with_step(0, 1))]
            await r.floor.until(lambda: bool(r.floor.events))
            assert [] == line.lies
            assert [DeviceUp] == [type(event) for event in r.floor.events]
        async with rig(poll=POLL) as r:
            line = BadLine(r.cable)
            line._passed = GARBLED_EACH - 1
            r.module.identity[:] = [1, 2]
            await r.floor.until(lambda: bool(r.floor.events))
            assert ["identity"] == [event.cause for event in r.floor.of(DeviceDown)]

    run(work())


@pytest.mark.parametrize("function", [READ_INPUTS, READ_REGISTERS])
def test_what_nobody_can_confirm_within_a_second_ends_the_trust(function: int) -> None:
    """Each reply says something else: nothing is handed over and the table closes."""

    async def work() -> None:
        async with rig(poll=POLL) as r:
            line = BadLine(r.cable)
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))
            await more_polls(r, GARBLED_EACH)
            changes = [with_bit(n % 5) if function == READ_INPUTS else with_step(n % 5, 20 + n) for n in range(2000)]
            line.lies = [(function, change) for change in changes]
            await r.floor.until(lambda: bool(r.floor.of(DeviceDown)))
            assert ["unheard"] == [event.cause for event in r.floor.of(DeviceDown)]
            assert [] == r.floor.of(Reading)

    run(work())


def test_a_line_that_is_well_believes_at_once_and_a_noisy_one_what_was_said_twice() -> None:
    """Of counters also what went on a little; never what fell, and never a third thing."""
    for first, second, believed in (
        (7, 7, True),
        (7, 8, True),
        (7, 7 + STEPS_MAX, True),
        (7, 8 + STEPS_MAX, False),
        (7 + STEPS_MAX, 8 + STEPS_MAX, False),
        (8, 7, False),
        (2, 2, True),
        (2, 3, False),
    ):
        doubt = Doubt(65536)
        assert doubt.believes({0: 5, 1: 7}, noisy=False)
        assert doubt.believes({0: 6, 1: 7}, noisy=False)
        assert doubt.believes({0: 6, 1: 7}, noisy=True)
        assert not doubt.believes({0: first}, noisy=True)
        assert believed is doubt.believes({0: second}, noisy=True), (first, second)
        assert (not believed) == doubt.unconfirmed


def test_one_place_in_doubt_puts_the_whole_reply_aside() -> None:
    """What came beside it is told with it, or once it was refuted: in the order in which it came."""
    doubt = Doubt(65536)
    doubt.believes({0: 0, 1: 0}, noisy=False)
    assert not doubt.believes({0: 1, 1: 0}, noisy=True)
    assert not doubt.believes({0: 1, 1: 1}, noisy=True)
    assert 0 == doubt.unconfirmed
    assert doubt.believes({0: 1, 1: 0}, noisy=True)
    assert 1 == doubt.unconfirmed


def test_the_first_of_all_is_new_on_a_noisy_line() -> None:
    """A baseline: nothing is known of the module, so two reads must be the same, to the last count."""
    doubt = Doubt(65536)
    assert not doubt.believes({0: 5}, noisy=True)
    assert not doubt.believes({0: 6}, noisy=True)
    assert doubt.believes({0: 6}, noisy=True)
