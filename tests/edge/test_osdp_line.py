"""Our OSDP driver against libosdp's device, over a pseudo-terminal."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from osdp_rig import KEY, OTHER_KEY, Cable, Rig, cable, ref, wanted

from meterd.edge.serialport import open_port
from meterd.sim.osdp_pad import OsdpPad, PadKind
from protocols.events import KEY_LOST

LIMIT_S = 20.0


def play(
    path: Path, pads: list[OsdpPad], story: Callable[[Cable, Rig], Awaitable[None]], *refs: Any, **bus: Any
) -> None:
    async def go(line: Cable) -> None:
        rig = Rig(path, *refs, **bus)
        try:
            await story(line, rig)
        finally:
            await rig.close()

    with cable(path, *pads) as line:
        asyncio.run(go(line))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "keys-1"


def test_keys_and_cards_come_in_order_with_numbers_of_their_own(path: Path) -> None:
    """Five digits in one reply keep their order, a sequence is one key, a card counts on with the keys."""
    pad = OsdpPad(5, KEY)

    async def story(line: Cable, rig: Rig) -> None:
        await rig.heard.until(lambda: rig.heard.ups, LIMIT_S)
        with line.lock:
            pad.press("12345")
            pad.press("B3#")
            pad.card(26, bytes.fromhex("0123ABFF"))
            pad.press("D")
        await rig.heard.until(lambda: "end-game" in rig.heard.keys, LIMIT_S)
        digits = [f"digit-{n}" for n in range(1, 6)]
        assert [*digits, "hand-3", "enter", "end-game"] == rig.heard.keys
        assert ["26:0123ABC0"] == [card.badge for card in rig.heard.cards]
        told = [event for event in rig.heard.events if hasattr(event, "count")]
        assert list(range(1, 10)) == [event.count for event in told]
        times = [(key.after_ms, key.began_ms, key.at_ms) for key in told if hasattr(key, "key")]
        assert all(after <= began <= at for after, began, at in times)
        (up,) = rig.heard.ups
        assert ("keys-1/5", 1) == (up.device, up.modulus)

    play(path, [pad], story)


def test_a_pad_shows_text_lamp_and_beeps_for_what_is_refused(path: Path) -> None:
    """What changes is sent, what stands is not; the newest wins."""
    pad = OsdpPad(5, KEY)

    async def story(_line: Cable, rig: Rig) -> None:
        rig.line.want(5, wanted(1, "OPEN  0 BETS", ""))
        await rig.heard.until(lambda: pad.text() == ("OPEN  0 BETS", ""), LIMIT_S)
        await rig.heard.until(lambda: pad.led == "green", LIMIT_S)
        for seq in range(2, 30):
            rig.line.want(5, wanted(seq, "LOCKED 3 $3.00", f"S{seq}", betting=False))
        rig.line.want(5, wanted(3, "OLD", "OLD"))
        await rig.heard.until(lambda: pad.text() == ("LOCKED 3 $3.00", "S29"), LIMIT_S)
        await rig.heard.until(lambda: pad.led == "red", LIMIT_S)
        assert 0 == pad.beeps
        rig.line.want(5, wanted(30, "LOCKED 3 $3.00", "NO SEAT NO WAGER", betting=False))
        await rig.heard.until(lambda: pad.beeps == 1, LIMIT_S)
        await rig.heard.until(lambda: pad.text()[1] == "NO SEAT NO WAGER", LIMIT_S)
        await rig.line.go_safe()
        assert ("CLOSED", "") == pad.text()

    play(path, [pad], story)


def test_a_keypad_with_a_wrong_key_is_never_up_and_is_named(path: Path) -> None:
    """The site's key and the pad's differ: no key of it counts, and what answered is told. Set right, it is up."""
    pad = OsdpPad(5, OTHER_KEY, kind=PadKind(serial=0x1234))

    async def story(line: Cable, rig: Rig) -> None:
        await rig.heard.until(lambda: rig.heard.downs, LIMIT_S)
        assert ("key", "00BEBA-02-00001234") == (rig.heard.downs[0].cause, rig.heard.downs[0].found)
        with line.lock:
            pad.press("1#")
        before = rig.line.stats.revived
        await rig.heard.until(lambda: rig.line.stats.revived >= before + 2, LIMIT_S)
        assert ([], [], 1) == (rig.heard.keys, rig.heard.ups, len(rig.heard.downs))
        with line.lock:
            pad.key = KEY
            pad.reboot()
        await rig.heard.until(lambda: rig.heard.ups, LIMIT_S)

    play(path, [pad], story)


def test_a_pad_with_only_the_default_key_is_never_up(path: Path) -> None:
    """A pad in the state the factory left it in answers to everybody's key and not to ours."""
    pad = OsdpPad(5, None)

    async def story(_line: Cable, rig: Rig) -> None:
        await rig.heard.until(lambda: rig.heard.downs, LIMIT_S)
        assert ("key", True) == (rig.heard.downs[0].cause, bool(rig.heard.downs[0].found))
        await rig.heard.until(lambda: rig.line.stats.revived >= 2, LIMIT_S)
        assert [] == rig.heard.ups

    play(path, [pad], story)


def test_another_pad_at_the_address_keeps_the_table_closed_and_is_named(path: Path) -> None:
    """Swapped cables: the key is right, the pad is not the one that the site file names."""
    pad = OsdpPad(5, KEY, kind=PadKind(serial=0x99))

    async def story(line: Cable, rig: Rig) -> None:
        await rig.heard.until(lambda: rig.heard.downs, LIMIT_S)
        assert ("identity", "00BEBA-02-00000099") == (rig.heard.downs[0].cause, rig.heard.downs[0].found)
        with line.lock:
            pad.press("A")
        count = len(line.requests)
        await rig.heard.until(lambda: len(line.requests) > count + 5, LIMIT_S)
        assert ([], []) == (rig.heard.ups, rig.heard.keys)

    play(path, [pad], story, ref(5, "00BEBA-02-0000004D"))


def test_the_pad_of_the_site_file_is_up(path: Path) -> None:
    """The same with the right one."""

    async def story(_line: Cable, rig: Rig) -> None:
        await rig.heard.until(lambda: rig.heard.ups, LIMIT_S)

    play(path, [OsdpPad(5, KEY)], story, ref(5, "00BEBA-02-0000004D"))


def test_what_was_pressed_while_nobody_listened_is_nothing(path: Path) -> None:
    """A pad keeps keys and cards until somebody asks; trust begins when it has nothing left to tell."""
    pad = OsdpPad(5, KEY)
    pad.press("A")
    pad.press("D")
    pad.card(26, bytes.fromhex("0123ABC0"))

    async def story(line: Cable, rig: Rig) -> None:
        await rig.heard.until(lambda: rig.heard.ups, LIMIT_S)
        with line.lock:
            pad.press("7")
        await rig.heard.until(lambda: rig.heard.keys, LIMIT_S)
        assert (["digit-7"], 1, []) == (rig.heard.keys, rig.heard.events[-1].count, rig.heard.cards)

    play(path, [pad], story)


def test_unplugged_and_plugged_in_again_it_is_back_within_two_seconds(path: Path) -> None:
    """The port is lost at once, for all its pads; a new node under the same name is found."""
    pad = OsdpPad(5, KEY)

    async def story(line: Cable, rig: Rig) -> None:
        await rig.heard.until(lambda: rig.heard.ups, LIMIT_S)
        line.unplug()
        await rig.heard.until(lambda: rig.heard.downs, LIMIT_S)
        assert "port_lost" == rig.heard.downs[0].cause
        loop = asyncio.get_running_loop()
        with line.lock:
            pad.reboot()
        line.plug()
        began = loop.time()
        await rig.heard.until(lambda: len(rig.heard.ups) == 2, LIMIT_S)
        print(f"back after {loop.time() - began:.2f} s")
        assert (1, "") == (rig.line.stats.port_losses, rig.line.stats.port_cause)

    play(path, [pad], story)


def test_a_pad_that_is_not_behind_its_port_is_told_as_silent(path: Path) -> None:
    """Its port came back with another device at the end: what is told is silence, not the port that was away."""
    pad = OsdpPad(5, KEY)

    async def story(line: Cable, rig: Rig) -> None:
        await rig.heard.until(lambda: rig.heard.ups, LIMIT_S)
        line.unplug()
        await rig.heard.until(lambda: rig.heard.downs, LIMIT_S)
        with line.lock:
            pad.mute = True
        line.plug()
        await rig.heard.until(lambda: len(rig.heard.downs) == 2, LIMIT_S)
        assert ["port_lost", "timeout"] == [down.cause for down in rig.heard.downs]
        with line.lock:
            pad.mute = False
        await rig.heard.until(lambda: len(rig.heard.ups) == 2, LIMIT_S)

    play(path, [pad], story)


def test_a_pad_that_restarts_goes_on_and_what_was_half_keyed_goes(path: Path) -> None:
    """Its session is gone and a new one stands at once: the table stays as it is, keys of between are nothing."""
    pad = OsdpPad(5, KEY)

    async def story(line: Cable, rig: Rig) -> None:
        await rig.heard.until(lambda: rig.heard.ups, LIMIT_S)
        with line.lock:
            pad.reboot()
            pad.press("D")
        await rig.heard.until(lambda: rig.heard.keys, LIMIT_S)
        with line.lock:
            pad.press("5")
        await rig.heard.until(lambda: len(rig.heard.keys) == 2, LIMIT_S)
        assert ([KEY_LOST, "digit-5"], [], 1) == (rig.heard.keys, rig.heard.downs, len(rig.heard.ups))

    play(path, [pad], story)


def test_another_pad_with_the_same_key_is_a_life_of_its_own(path: Path) -> None:
    """Changed for a spare: the floor hears of a device that comes up, so that nothing goes on with the old trust."""
    pad = OsdpPad(5, KEY)

    async def story(line: Cable, rig: Rig) -> None:
        await rig.heard.until(lambda: rig.heard.ups, LIMIT_S)
        with line.lock:
            pad.kind = PadKind(serial=78)
            pad.reboot()
        await rig.heard.until(lambda: len(rig.heard.ups) == 2, LIMIT_S)

    play(path, [pad], story)


def test_a_reply_that_is_lost_with_a_key_in_it_is_not_lost_silently(path: Path) -> None:
    """The pad does not tell it again: whatever is half keyed goes, and the dealer sees it. The table stays open."""
    pad, left = OsdpPad(5, KEY), [0]

    def losing(data: bytes) -> bytes:
        left[0] -= 1
        return data if left[0] < 0 else b""

    async def story(line: Cable, rig: Rig) -> None:
        await rig.heard.until(lambda: rig.heard.ups, LIMIT_S)
        with line.lock:
            pad.press("7")
            left[0] = 1
            line.carry_back = losing
        await rig.heard.until(lambda: rig.heard.keys, LIMIT_S)
        assert ([KEY_LOST], []) == (rig.heard.keys, rig.heard.downs)

    play(path, [pad], story)


def test_a_dead_neighbour_does_not_silence_the_others(path: Path) -> None:
    """One pad of a line is away; the other's keys come, and its own table alone is closed."""
    pad = OsdpPad(6, KEY)

    async def story(line: Cable, rig: Rig) -> None:
        await rig.heard.until(lambda: rig.heard.ups, LIMIT_S)
        for digit in "12345":
            with line.lock:
                pad.press(digit)
            await rig.heard.until(lambda digit=digit: f"digit-{digit}" in rig.heard.keys, LIMIT_S)
        assert {"keys-1/6"} == {up.device for up in rig.heard.ups}
        assert [False, True] == [rig.line.is_up(5), rig.line.is_up(6)]

    play(path, [pad], story, ref(5), ref(6))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_lost_and_broken_frames_double_no_key_and_lose_none_silently(path: Path, seed: int) -> None:
    """One frame in eight each way is dropped or has a bit turned over; a press comes once, or its loss is told."""
    chance, pad = random.Random(seed), OsdpPad(5, KEY)

    def bad(data: bytes) -> bytes:
        dice = chance.random()
        if dice < 0.08:
            return b""
        if dice < 0.12:
            broken = bytearray(data)
            broken[chance.randrange(len(broken))] ^= 1 << chance.randrange(8)
            return bytes(broken)
        return data

    async def story(line: Cable, rig: Rig) -> None:
        await rig.heard.until(lambda: rig.heard.ups, LIMIT_S)
        line.carry = line.carry_back = bad
        for digit in "123456":
            while f"digit-{digit}" not in rig.heard.keys:
                told = len(rig.heard.keys)
                with line.lock:
                    pad.press(digit)
                await rig.heard.until(lambda told=told: len(rig.heard.keys) > told, LIMIT_S)
        keys = [key for key in rig.heard.keys if key != KEY_LOST]
        stats = rig.line.stats
        print(f"seed {seed}: {stats.retries} retries, {stats.resumed} new sessions, {rig.heard.keys}")
        assert ([f"digit-{n}" for n in range(1, 7)], []) == (keys, rig.heard.downs)

    play(path, [pad], story)


def test_events_lost_on_their_way_begin_a_new_life_of_the_pad(path: Path) -> None:
    """The floor's queue was full: the pad is trusted anew and counts from 1."""
    pad = OsdpPad(5, KEY)

    async def story(line: Cable, rig: Rig) -> None:
        await rig.heard.until(lambda: rig.heard.ups, LIMIT_S)
        with line.lock:
            pad.press("1")
        await rig.heard.until(lambda: rig.heard.keys, LIMIT_S)
        rig.line.rebaseline()
        await rig.heard.until(lambda: len(rig.heard.ups) == 2, LIMIT_S)
        with line.lock:
            pad.press("2")
        await rig.heard.until(lambda: len(rig.heard.keys) == 2, LIMIT_S)
        assert ([], 1) == (rig.heard.downs, rig.heard.events[-1].count)

    play(path, [pad], story)


def test_a_line_that_hears_itself_works_with_echo_set(path: Path) -> None:
    """Two-wire adapters without echo suppression."""
    pad = OsdpPad(5, KEY)

    async def story(line: Cable, rig: Rig) -> None:
        await rig.heard.until(lambda: rig.heard.ups, LIMIT_S)
        with line.lock:
            pad.press("4")
        await rig.heard.until(lambda: rig.heard.keys, LIMIT_S)

    async def go(line: Cable) -> None:
        step = line.pads.serve
        line.pads.serve = lambda data, at=0.0: data + step(data, at)  # type: ignore[method-assign]
        rig = Rig(path, echo=True)
        try:
            await story(line, rig)
        finally:
            await rig.close()

    with cable(path, pad) as line:
        asyncio.run(go(line))


def test_a_port_held_by_another_program_is_told_and_tried_again(path: Path) -> None:
    """Exclusive, as every port of ours."""

    async def story(_line: Cable, rig: Rig) -> None:
        await rig.heard.until(lambda: rig.heard.downs, LIMIT_S)
        assert "port_lost" == rig.heard.downs[0].cause
        assert "held by another program" in rig.line.stats.port_cause
        held.close()
        await rig.heard.until(lambda: rig.heard.ups, LIMIT_S)

    async def go(line: Cable) -> None:
        rig = Rig(path)
        try:
            await story(line, rig)
        finally:
            await rig.close()

    with cable(path, OsdpPad(5, KEY)) as line:
        from meterd.config import BusConfig  # noqa: PLC0415 - beside its only use

        held = open_port(BusConfig("other", "osdp", str(path), 115200))
        asyncio.run(go(line))


def test_garbage_between_requests_is_in_nobodys_way(path: Path) -> None:
    """Behind each reply comes the beginning of one that never ends: keys come, the session stands."""
    pad = OsdpPad(5, KEY)

    async def story(line: Cable, rig: Rig) -> None:
        await rig.heard.until(lambda: rig.heard.ups, LIMIT_S)
        line.carry_back = lambda said: said + b"\x53\x85\xf0\x00\x04" + bytes(3000)
        for digit in "123":
            with line.lock:
                pad.press(digit)
        await rig.heard.until(lambda: len(rig.heard.keys) == 3, LIMIT_S)
        assert ([], ["digit-1", "digit-2", "digit-3"]) == (rig.heard.downs, rig.heard.keys)
        requests = rig.line.stats.requests
        await rig.heard.until(lambda: rig.line.stats.requests > requests + 10, LIMIT_S)
        assert 0 == rig.line.stats.retries

    play(path, [pad], story)


def test_a_recorded_key_played_back_is_no_key(path: Path) -> None:
    """A frame of the same session, recorded on the line and sent in place of an answer: its signature does not fit."""
    pad = OsdpPad(5, KEY)
    recorded: list[bytes] = []

    async def story(line: Cable, rig: Rig) -> None:
        await rig.heard.until(lambda: rig.heard.ups, LIMIT_S)
        with line.lock:
            pad.press("A")
        await rig.heard.until(lambda: rig.heard.keys, LIMIT_S)
        recorded.extend(frame for frame in line.replies if frame[7:8] == b"S")
        assert recorded, "an encrypted keypad reply"
        at = [0]

        def play_back(said: bytes) -> bytes:
            at[0] += 1
            return recorded[-1] if at[0] % 3 == 0 else said

        line.carry_back = play_back
        asked = len(line.requests)
        await rig.heard.until(lambda: len(line.requests) > asked + 30, LIMIT_S)
        assert {"lock", KEY_LOST} >= set(rig.heard.keys)
        assert 1 == rig.heard.keys.count("lock")

    play(path, [pad], story)


def test_a_key_injected_without_the_session_is_no_key(path: Path) -> None:
    """A plain keypad reply as any tool can make it, right in every other way."""
    plain = bytes.fromhex("53850b0006530001315d3d")

    async def story(line: Cable, rig: Rig) -> None:
        await rig.heard.until(lambda: rig.heard.ups, LIMIT_S)
        line.carry_back = lambda _said: plain
        asked = len(line.requests)
        await rig.heard.until(lambda: len(line.requests) > asked + 5, LIMIT_S)
        line.carry_back = lambda said: said
        assert set() == set(rig.heard.keys) - {KEY_LOST}

    play(path, [OsdpPad(5, KEY)], story)


def test_the_trouble_of_one_line_is_not_anothers(tmp_path: Path) -> None:
    """Two lines in the one thread: one is unplugged and floods its log, the other's keys come all the while."""
    from osdp_rig import Heard  # noqa: PLC0415

    from meterd.config import BusConfig  # noqa: PLC0415 - beside its only use
    from meterd.edge.keypad_osdp import OsdpLine, OsdpThread  # noqa: PLC0415

    good, bad = OsdpPad(5, KEY), OsdpPad(5, KEY)

    async def go(first: Cable, second: Cable) -> None:
        heard, other = Heard(), Heard()
        keys = {"keys-1/5": KEY}
        lines = [
            OsdpLine(BusConfig("keys-1", "osdp", str(cable.path), 115200), [ref(5)], keys, sink)
            for cable, sink in ((first, heard), (second, other))
        ]
        task = asyncio.create_task(OsdpThread(lines).run())
        try:
            await heard.until(lambda: heard.ups, LIMIT_S)
            await other.until(lambda: other.ups, LIMIT_S)
            second.unplug()
            await other.until(lambda: other.downs, LIMIT_S)
            for digit in "123456":
                with first.lock:
                    good.press(digit)
                await heard.until(lambda digit=digit: f"digit-{digit}" in heard.keys, LIMIT_S)
            assert ([], False, True) == (heard.downs, lines[1].is_up(5), lines[0].is_up(5))
            second.plug()
            await other.until(lambda: len(other.ups) == 2, LIMIT_S)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    with cable(tmp_path / "one", good) as first, cable(tmp_path / "two", bad) as second:
        asyncio.run(go(first, second))
