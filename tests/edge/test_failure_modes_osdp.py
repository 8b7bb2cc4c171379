"""Failure modes of OSDP lines (18, 19), each with its cure and without it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from cures import failure_mode, limit_s
from osdp_rig import KEY, Cable, Rig, cable

from meterd.sim.osdp_pad import OsdpPad


def play(path: Path, pad: OsdpPad, story: Callable[[Cable, Rig], Awaitable[None]]) -> None:
    async def go(line: Cable) -> None:
        rig = Rig(path)
        try:
            await story(line, rig)
        finally:
            await rig.close()

    with cable(path, pad) as line:
        asyncio.run(go(line))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "keys-1"


@failure_mode(18, "osdp-same-request")
def test_a_request_without_answer_is_repeated_byte_for_byte(path: Path) -> None:
    """Two requests are lost: the same bytes with the same number go out again, and the pad keeps its session."""
    pad, left = OsdpPad(5, KEY), [0]

    def losing(data: bytes) -> bytes:
        if left[0] > 0:
            left[0] -= 1
            return b""
        return data

    async def story(line: Cable, rig: Rig) -> None:
        await rig.heard.until(lambda: rig.heard.ups, limit_s())
        with line.lock:
            line.carry = losing
            pad.press("7")
            left[0] = 2
            at = len(line.requests)
        await rig.heard.until(lambda: len(line.requests) >= at + 3, limit_s())
        repeated = {bytes(data) for data in line.requests[at : at + 3]}
        assert 1 == len(repeated), "the same request"
        await rig.heard.until(lambda: rig.heard.keys, limit_s())
        assert (["digit-7"], []) == (rig.heard.keys, rig.heard.downs)

    play(path, pad, story)


@failure_mode(18, "osdp-asked-anew")
def test_a_pad_silent_for_eight_seconds_is_lost_and_back_as_soon_as_it_answers(path: Path) -> None:
    """Lost no sooner and not much later; then asked every second, not after five minutes."""
    pad = OsdpPad(5, KEY)

    async def story(line: Cable, rig: Rig) -> None:
        await rig.heard.until(lambda: rig.heard.ups, limit_s())
        pad.mute = True
        loop = asyncio.get_running_loop()
        began = loop.time()
        await rig.heard.until(lambda: rig.heard.downs, 20.0)  # the library's own time, with or without the cure
        silent_s = loop.time() - began
        assert ("timeout", True) == (rig.heard.downs[0].cause, 7.0 <= silent_s), silent_s
        asked = len(line.requests)
        await rig.heard.until(lambda: len(line.requests) >= asked + 2, limit_s())
        pad.mute = False
        began = loop.time()
        await rig.heard.until(lambda: len(rig.heard.ups) == 2, limit_s())
        print(f"lost after {silent_s:.2f} s, back after {loop.time() - began:.2f} s")

    play(path, pad, story)


@failure_mode(19, "osdp-asked-anew")
def test_a_flood_of_garbage_costs_the_session_and_not_more(path: Path) -> None:
    """Noise without end loses the pad; when it ends the pad is back, with sequence number 0 and a new session."""
    pad, chance = OsdpPad(5, KEY), random.Random(19)

    async def story(line: Cable, rig: Rig) -> None:
        await rig.heard.until(lambda: rig.heard.ups, limit_s())
        line.carry = lambda _data: b""
        async with asyncio.timeout(20.0):
            while not rig.heard.downs:
                line.inject(chance.randbytes(400))
                await asyncio.sleep(0.02)
        line.carry = lambda data: data
        at = len(rig.sent())
        await rig.heard.until(lambda: len(rig.heard.ups) == 2, limit_s())
        first = next(data for data in rig.sent()[at:] if data[6] == 0x61)
        assert 0 == first[5] & 3

    play(path, pad, story)
