"""Counters read in pieces: which ones, when, and what they tell together."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Any

import pytest
from wire_rig import INPUTS, KEYPAD, SENSORS, Rig, rig, until

from meterd.config import BitBlock, CounterBlock, ModuleRef, PollConfig, Profile, UnitWanted
from meterd.edge.modbus_line import READ_REGISTERS, Reply
from meterd.edge.modbus_pieces import (
    GARBLED_IN_A_ROW,
    GARBLED_IN_A_ROW_SHORT,
    LEAST_WORDS,
    STRETCH,
    STRETCH_MAX,
    Piece,
    Pieces,
)
from meterd.edge.modbus_unit import UnheardError, Unit
from protocols.events import DeviceDown, DeviceUp, Reading

WIDE_PAD = replace(KEYPAD, keys={f"digit-{n}" if n < 10 else f"hand-{n - 9}": n for n in range(INPUTS)})


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


def cut(pieces: Pieces, times: int = 1) -> Pieces:
    """Garbled until they are cut so often, whatever that takes."""
    for _ in range(times):
        parts = pieces.parts
        while pieces.parts == parts:
            pieces.garbled()
    return pieces


def sweep(pieces: Pieces, registers: Sequence[int], words_each: int = 1, at_s: float = 0.0) -> list[Piece]:
    """One whole reading of a module that holds ``registers``; the pieces asked for."""
    asked = []
    while not pieces.whole:
        piece = pieces.next()
        asked.append(piece)
        words = registers[piece.first * words_each : (piece.first + piece.size) * words_each]
        pieces.took(piece, words, at_s, at_s + 0.01)
        at_s += 0.02
    assert tuple(registers) == pieces.take()[0]
    return asked


def unit(profile: Profile, parts: int = 1) -> Unit:
    made = Unit(ModuleRef("pit-1", 40, profile))
    made.up = True
    while made.pieces.parts < parts:
        made.pieces.garbled()
    return made


def test_long_reads_are_cut_after_garbled_replies_and_never_below_eight_registers() -> None:
    """64 registers: three garbled in a row for halves and again for quarters; the last step takes eight, then ends."""
    pieces = Pieces(64, 1)
    for enough, parts in ((GARBLED_IN_A_ROW, 2), (GARBLED_IN_A_ROW, 4), (GARBLED_IN_A_ROW_SHORT, 8)):
        before = pieces.parts
        for _ in range(enough):
            assert before == pieces.parts
            pieces.garbled()
        assert parts == pieces.parts
    for _ in range(100):
        pieces.garbled()
    assert Piece(0, LEAST_WORDS) == pieces.next()
    nine = Pieces(9, 1)
    for _ in range(100):
        nine.garbled()
    assert [Piece(0, 9)] == sweep(nine, range(9))


def test_a_good_reply_between_begins_the_count_of_garbled_ones_anew() -> None:
    """Now and then a garbled reply is no reason to read in pieces."""
    pieces = Pieces(32, 1)
    for _ in range(50):
        for _ in range(GARBLED_IN_A_ROW - 1):
            pieces.garbled()
        assert [Piece(0, 32)] == sweep(pieces, range(32))


def test_a_stretch_of_good_replies_joins_the_pieces_and_a_failed_try_doubles_the_next_stretch() -> None:
    """4 good pieces, then 8, 16, … 128 where whole reads fail each time; after 128 good whole ones it is 4 again."""
    pieces = cut(Pieces(32, 1))
    stretches = []
    for _ in range(8):
        good = 0
        while pieces.parts > 1:
            piece = pieces.next()
            pieces.took(piece, range(piece.size), 0.0, 0.0)
            good += 1
            if pieces.whole:
                pieces.take()
        stretches.append(good)
        pieces.drop()
        for _ in range(GARBLED_IN_A_ROW):
            assert 1 == pieces.parts
            pieces.garbled()
        assert 2 == pieces.parts
    assert [STRETCH, 8, 16, 32, 64, STRETCH_MAX, STRETCH_MAX, STRETCH_MAX] == stretches
    while pieces.parts > 1:
        sweep(pieces, range(32))
    for _ in range(STRETCH_MAX + 1):
        sweep(pieces, range(32))
    cut(pieces)
    for _ in range(STRETCH // 2):
        assert 2 == pieces.parts
        sweep(pieces, range(32))
    assert 1 == pieces.parts


@pytest.mark.parametrize("counters", range(8, 33))
def test_the_two_registers_of_a_wide_counter_are_never_read_apart(counters: int) -> None:
    """Whatever number of counters, of pieces, and whatever was heard in between: every request is whole counters."""
    seed = 1234
    print(f"seed {seed}")
    rng = random.Random(seed)
    block = CounterBlock(4, 6, 32)
    inputs = BitBlock(2, 0, counters)
    made = unit(replace(SENSORS, inputs=inputs, counters=block, seats=(), lock=counters - 1, lamps=()))
    values = [n << 16 | n + 1 for n in range(counters)]
    registers = [word for value in values for word in divmod(value, 1 << 16)]
    for _ in range(300):
        request = made.counters_request()
        assert request is not None
        assert 0 == request.count % 2
        assert 0 == (request.address - block.address) % 2
        assert block.address <= request.address
        assert request.address + request.count <= block.address + 2 * counters
        made.avoid = {request.shape: 1e9} if rng.random() < 0.3 else {}
        if rng.random() < 0.6:
            made.pieces.garbled()
            continue
        start = request.address - block.address
        whole = made.took_counters(request, Reply(tuple(registers[start : start + request.count]), 1.0, 1.01))
        assert whole is None or tuple(values) == made.counts(whole)[:counters]


def test_a_piece_whose_late_reply_may_come_is_asked_for_with_a_neighbour() -> None:
    """So no late reply fits the request after it; a whole read has no neighbour, and something short is asked first."""
    made = unit(WIDE_PAD, parts=2)
    request = made.counters_request()
    assert request is not None
    made.avoid = {request.shape: 1e9}
    wider = made.counters_request()
    assert wider is not None
    assert (request.count + 1, READ_REGISTERS) == (wider.count, wider.function)
    assert request.shape != wider.shape
    whole = unit(WIDE_PAD)
    asked = whole.counters_request()
    assert asked is not None
    whole.avoid = {asked.shape: 1e9}
    assert asked == whole.counters_request()


def test_two_presses_in_two_pieces_are_never_told_the_later_first() -> None:
    """A key in the first half, then one in the second, while the second half is read: both in one reading.

    Whatever the moments of two presses, the counts told never hold the later one without the earlier.
    """
    seed = 77
    print(f"seed {seed}")
    rng = random.Random(seed)
    for _ in range(400):
        pieces, parts = Pieces(32, 1), rng.choice((2, 4))
        counts = [0] * 32
        sweep(pieces, counts)
        earlier, later = rng.sample(range(32), 2)
        presses = sorted(rng.sample(range(8), 2))
        told: list[tuple[int, int]] = []
        for step in range(24):
            if step in presses:
                counts[earlier if step == presses[0] else later] += 1
            pieces.parts = parts  # well or not, for this test it stays in pieces
            piece = pieces.next()
            pieces.took(piece, counts[piece.first : piece.first + piece.size], step, step + 0.5)
            if pieces.whole:
                registers = pieces.take()[0]
                told.append((registers[earlier], registers[later]))
        assert (0, 1) not in told
        assert (1, 1) == told[-1]


def test_a_reading_in_pieces_is_bounded_by_all_of_them() -> None:
    """It began with the first request and ended with the last reply; what it does not show came after it began."""
    made = unit(WIDE_PAD, parts=2)
    zeros = (0,) * INPUTS
    for began_s in (10.0, 10.2):
        reply = None
        for n in range(2):
            request = made.counters_request()
            assert request is not None
            began = began_s + n * 0.05
            reply = made.took_counters(request, Reply(zeros[: request.count], began, began + 0.01))
        assert reply is not None
        snapshot = made.took_no_levels(reply)
        reading = made.reading(snapshot, made.counts(reply))
        assert (round(began_s * 1000), round(began_s * 1000) + 60) == (reading.began_ms, reading.ended_ms)
        if began_s > 10.0:
            assert 10_000 == reading.previous_ended_ms
        made.snapshot = snapshot


def test_a_key_that_nobody_heard_for_a_second_ends_the_trust_though_others_were_heard() -> None:
    """The rule of the unwatched second holds for each counter, not for the module as a whole."""
    made = unit(WIDE_PAD, parts=2)
    first = made.counters_request()
    assert first is not None
    assert made.took_counters(first, Reply((0,) * first.count, 10.0, 10.01)) is None
    second = made.counters_request()
    assert second is not None
    assert made.took_counters(second, Reply((0,) * second.count, 10.9, 10.91)) is not None
    again = made.counters_request()
    assert again == first
    with pytest.raises(UnheardError):
        made.took_counters(again, Reply((0,) * again.count, 11.0, 11.02))


def test_where_long_replies_do_not_arrive_a_text_is_written_and_read_back_line_by_line() -> None:
    """Each request carries one line, and in the end all of the display is known to be right, or written again."""
    made = unit(WIDE_PAD, parts=2)
    made.want(UnitWanted(3, (), (), ("OPEN 3 BETS", "S3 ROYAL")))
    lines = []
    while (write := made.text_write()) is not None:
        assert made.profile.text is not None
        assert made.profile.text.words_each == write.count
        lines.append(write.address)
        made.wrote(write)
    assert [0, 8] == lines
    checks = [made.check_request() for _ in range(3)]
    assert [(0, 8), (8, 8), (0, 8)] == [(check.address, check.count) for check in checks if check]
    assert made.checked(Reply(tuple(made._text_written or ())[:8], 1.0, 1.1), 1.1)
    assert made.check_request() is not None
    assert not made.checked(Reply((0x2020,) * 8, 1.0, 1.1), 1.1)
    assert made.text_write() is not None


def long_ones_garbled(longest: int, spoilt: list[int]) -> Any:
    """A cable through which nothing longer than ``longest`` bytes arrives whole."""

    def spoil(data: bytes) -> list[bytes]:
        if len(data) <= longest:
            return [data]
        spoilt.append(len(data))
        return [data[:longest] + bytes((data[longest] ^ 1,)) + data[longest + 1 :]]

    return spoil


async def counter_reads(r: Rig, since: int) -> list[tuple[int, int]]:
    """Address and count of each read of counters sent since."""
    return [(q[3], q[5]) for q in r.cable.requests[since:] if q[1] == READ_REGISTERS and q[2] == 0 and q[3] < 100]


@pytest.mark.parametrize("peer", ["pymodbus", pytest.param("libmodbus", marks=pytest.mark.peer)])
def test_a_press_arrives_though_every_long_reply_is_garbled(peer: str) -> None:
    """Keys on a line that bends whatever is longer than 30 bytes: told after no more than 20 requests, nothing lost.

    Once the line is well again the counters are read whole as before.
    """

    async def work() -> None:
        async with rig(peer=peer, profile=WIDE_PAD, poll=PollConfig(levels_ms=100, timeout_ms=100)) as r:
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))
            spoilt: list[int] = []
            since = len(r.cable.requests)
            r.cable.to_daemon = long_ones_garbled(30, spoilt)
            r.module.counters[40][1] += 1
            await r.floor.until(lambda: bool(r.floor.of(Reading)))
            (seen,) = r.floor.of(Reading)
            assert 1 == seen.counts[1]
            assert len(r.cable.requests) - since <= 20
            assert len(spoilt) <= GARBLED_IN_A_ROW_SHORT + 1
            reads = await counter_reads(r, since)
            assert {(0, 16), (0, 8), (8, 8)} == set(reads)
            for press in range(2, 6):
                r.module.counters[40][14] += 1
                await r.floor.until(lambda press=press: len(r.floor.of(Reading)) == press)  # type: ignore[misc]
            assert 4 == r.floor.of(Reading)[-1].counts[14]
            assert [] == r.floor.of(DeviceDown)
            r.cable.to_daemon = lambda data: [data]
            healed = len(r.cable.requests)
            await until(lambda: (r.cable.requests[-1][3], r.cable.requests[-1][5]) == (0, 16))
            polls = r.stats.polls
            await until(lambda: r.stats.polls > polls + 5)
            assert {(0, 16)} == set((await counter_reads(r, healed))[-4:])
            assert [] == r.floor.of(DeviceDown)

    run(work())


def test_levels_are_handed_over_only_with_counters_that_were_read_after_them() -> None:
    """A chip behind a line that bends long replies: whatever piece was read before the levels is read again.

    The counters of each reading hold every edge that its levels show.
    """
    profile = replace(SENSORS, seats=tuple(range(15)), lock=15, lamps=tuple(range(7)), serial=None)

    async def work() -> None:
        async with rig(profile=profile, poll=PollConfig(levels_ms=100, counters_ms=200, timeout_ms=100)) as r:
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))
            spoilt: list[int] = []
            r.cable.to_daemon = long_ones_garbled(30, spoilt)
            for turn in range(6):
                for seat in (2, 13):
                    on = not r.module.inputs[40][seat]
                    r.module.counters[40][seat] += on
                    r.module.inputs[40][seat] = on
                    await r.floor.until(
                        lambda seat=seat, on=on: (  # type: ignore[misc]
                            bool(r.floor.of(Reading)) and r.floor.of(Reading)[-1].levels[seat] == on
                        )
                    )
                    assert turn // 2 + 1 == r.floor.of(Reading)[-1].counts[seat]
                    assert r.floor.of(Reading)[-1].previous_ended_ms <= r.floor.of(Reading)[-1].began_ms
            assert [] == r.floor.of(DeviceDown)
            order = [(q[1], q[3]) for q in r.cable.requests[-40:] if q[1] in {2, 4}]
            assert (4, 8) in order

    run(work())


def test_a_module_whose_counters_never_arrive_is_unheard_within_a_second() -> None:
    """Levels arrive and counters do not, however they are asked for: the table closes, it is not left open."""

    async def work() -> None:
        async with rig(poll=PollConfig(levels_ms=100, counters_ms=200, timeout_ms=100)) as r:
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))
            r.cable.to_daemon = lambda data: (
                [data[:-1] + bytes((data[-1] ^ 1,))] if data[1] == READ_REGISTERS else [data]
            )
            await r.floor.until(lambda: bool(r.floor.of(DeviceDown)))
            assert r.floor.of(DeviceDown)[0].cause in {"unheard", "timeout"}
            assert [] == r.floor.of(Reading)

    run(work())


def test_a_reading_ends_with_its_counters() -> None:
    """A press that only a counter shows came by the end of the reading, though the levels were there long before."""

    async def work() -> None:
        async with rig(poll=PollConfig(levels_ms=100, counters_ms=200, timeout_ms=100)) as r:
            await r.floor.until(lambda: bool(r.floor.of(DeviceUp)))
            held: list[bytes] = []

            def hold(data: bytes) -> list[bytes]:
                if data[1] != READ_REGISTERS or held:
                    return [data]
                held.append(data)
                asyncio.get_running_loop().call_later(0.04, r.cable.inject, data)
                return []

            r.cable.to_daemon = hold
            r.module.inputs[40][2] = True
            r.module.counters[40][2] += 1
            await r.floor.until(lambda: bool(r.floor.of(Reading)))
            seen = r.floor.of(Reading)[0]
            assert seen.ended_ms - seen.began_ms >= 40
            assert [] == r.floor.of(DeviceDown)

    run(work())
