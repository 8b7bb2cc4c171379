"""USB keyboards on the wire loop.

No /dev/uinput here: real records come through a socket pair, and the calls of the kernel (identity, state of the keys,
grab) are played. No real input device is opened by these tests.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

from meterd.config import BusConfig, PadProfile, PadRef
from meterd.edge.hid import EventDevice
from meterd.edge.keypad_hid import HidPad
from protocols.events import KEY_LOST, KEY_PART, DeviceDown, DeviceUp, KeyPressed
from protocols.hid_keys import EV_KEY, EV_SYN, KEYS, SYN_DROPPED, SYN_REPORT

LIMIT_S = 20.0
PROFILE = PadProfile("usb", "hid-keypad", {"digit-1": (2,), "enter": (28,), "end-game": (18,), "fold": (44, 2)})


def record(kind: int, code: int, value: int, ms: int = 0) -> bytes:
    return struct.pack("@qqHHi", ms // 1000, ms % 1000 * 1000, kind, code, value)


def tap(code: int, ms: int = 0) -> bytes:
    syn = record(EV_SYN, SYN_REPORT, 0)
    return record(EV_KEY, code, 1, ms) + syn + record(EV_KEY, code, 0, ms) + syn


class Keyboard:
    """The fake of an input device, and the hand on its keys."""

    made: ClassVar[list[Keyboard]] = []

    def __init__(self, identity: str = "04D9:1203", monotonic: bool = False) -> None:
        self.made.append(self)
        self._ours, self._theirs = socket.socketpair()
        self._theirs.setblocking(False)
        self.fd = self._theirs.fileno()
        self.identity = identity
        self.monotonic = monotonic
        self.held: set[int] = set()
        self.asked = 0
        self.closed = False

    def read(self) -> bytes:
        return self._theirs.recv(1536)

    def down(self) -> bytes:
        self.asked += 1
        state = bytearray(KEYS // 8)
        for code in self.held:
            state[code // 8] |= 1 << code % 8
        return bytes(state)

    def close(self) -> None:
        self.closed = True
        self._theirs.close()

    def send(self, data: bytes) -> None:
        self._ours.sendall(data)

    def unplug(self) -> None:
        self._ours.close()


class Desk:
    """The driver, and what can be plugged into its path."""

    def __init__(self, identity: str | None = None) -> None:
        self.plugged: Keyboard | OSError = FileNotFoundError(2, "No such file or directory")
        self.opened = 0
        self.events: list[Any] = []
        self.changed = asyncio.Event()
        self.driver = HidPad(
            BusConfig("keys-9", "hid", "/dev/input/by-path/x", 0),
            PadRef("keys-9", 1, PROFILE, identity),
            self.told,
            open_device=self.open,
        )

    def open(self, _path: str) -> Keyboard:
        self.opened += 1
        if isinstance(self.plugged, OSError):
            raise self.plugged
        return self.plugged

    def told(self, event: Any) -> None:
        self.events.append(event)
        self.changed.set()

    async def until(self, true: Callable[[], Any]) -> None:
        async with asyncio.timeout(LIMIT_S):
            while not true():
                self.changed.clear()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(0.05):
                        await self.changed.wait()

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def keys(self) -> list[tuple[int, str]]:
        return [(event.count, event.key) for event in self.of(KeyPressed)]


def play(story: Callable[[Desk], Awaitable[None]], identity: str | None = None) -> None:
    async def go() -> None:
        desk = Desk(identity)
        task = asyncio.create_task(desk.driver.run())
        try:
            await story(desk)
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            while Keyboard.made:
                board = Keyboard.made.pop()
                board.close()
                board.unplug()

    asyncio.run(go())


def test_presses_in_order_with_numbers_held_keys_once() -> None:
    """A key held for two seconds, a sequence, a bounce of the driver's own: each press once."""

    async def story(desk: Desk) -> None:
        desk.plugged = board = Keyboard()
        await desk.until(lambda: desk.of(DeviceUp))
        syn = record(EV_SYN, SYN_REPORT, 0)
        held = record(EV_KEY, 18, 1) + syn + b"".join(record(EV_KEY, 18, 2) + syn for _ in range(60))
        data = tap(2) + tap(44) + tap(2) + held + record(EV_KEY, 18, 0) + syn + tap(28)
        for at in range(0, len(data), 700):
            board.send(data[at : at + 700])
        await desk.until(lambda: len(desk.keys) == 5)
        assert [(1, "digit-1"), (2, KEY_PART), (3, "fold"), (4, "end-game"), (5, "enter")] == desk.keys

    play(story)


def test_what_is_held_when_it_is_plugged_in_is_no_press() -> None:
    """The state of the keys is read before the first record."""

    async def story(desk: Desk) -> None:
        board = Keyboard()
        board.held = {18}
        desk.plugged = board
        await desk.until(lambda: desk.of(DeviceUp))
        board.send(record(EV_KEY, 18, 2) + record(EV_KEY, 18, 0) + tap(2))
        await desk.until(lambda: desk.keys)
        assert [(1, "digit-1")] == desk.keys

    play(story)


def test_dropped_records_clear_the_line_and_read_the_state_again() -> None:
    """The kernel says so with SYN_DROPPED; a key that went down meanwhile is held, not pressed."""

    async def story(desk: Desk) -> None:
        desk.plugged = board = Keyboard()
        await desk.until(lambda: desk.of(DeviceUp))
        board.held = {28}
        board.send(tap(44) + record(EV_SYN, SYN_DROPPED, 0) + tap(2) + record(EV_KEY, 28, 1) + tap(2))
        await desk.until(lambda: len(desk.keys) >= 3)
        assert [(1, KEY_PART), (2, KEY_LOST), (3, "digit-1")] == [key for key in desk.keys if key[1] != "enter"][:3]
        assert (2, 1) == (board.asked, desk.driver.drops)

    play(story)


@pytest.mark.parametrize("how", ["end", "ENODEV"])
def test_unplugged_it_is_lost_and_back_when_plugged_in(how: str) -> None:
    """The device says ENODEV, or nothing at its end; under the same path it is found within two seconds."""

    async def story(desk: Desk) -> None:
        desk.plugged = board = Keyboard()
        await desk.until(lambda: desk.of(DeviceUp))
        board.send(tap(2))
        await desk.until(lambda: desk.keys)
        desk.plugged = FileNotFoundError(2, "No such file or directory")
        if how == "ENODEV":
            board.read = lambda: (_ for _ in ()).throw(OSError(19, "No such device"))  # type: ignore[method-assign]
            board.send(tap(2))
        else:
            board.unplug()
        await desk.until(lambda: desk.of(DeviceDown))
        assert ("port_lost", True) == (desk.of(DeviceDown)[0].cause, board.closed)
        again = Keyboard()
        desk.plugged = again
        loop = asyncio.get_running_loop()
        began = loop.time()
        await desk.until(lambda: len(desk.of(DeviceUp)) == 2)
        print(f"back after {loop.time() - began:.2f} s")
        again.send(tap(28))
        await desk.until(lambda: len(desk.keys) == 2)
        assert ((1, "enter"), 1) == (desk.keys[1], len(desk.of(DeviceDown)))

    play(story)


def test_another_keyboard_under_the_path_is_named_and_not_heard() -> None:
    """The site file says which one belongs there."""

    async def story(desk: Desk) -> None:
        desk.plugged = board = Keyboard("046D:C31C")
        await desk.until(lambda: desk.of(DeviceDown))
        down = desk.of(DeviceDown)[0]
        assert ("identity", "046D:C31C", True, []) == (down.cause, down.found, board.closed, desk.of(DeviceUp))

    play(story, "04D9:1203")


def test_a_missing_keyboard_is_told_once_and_looked_for_again() -> None:
    """Its table stays closed; the log is not filled."""

    async def story(desk: Desk) -> None:
        await desk.until(lambda: desk.opened >= 3)
        assert ["port_lost"] == [down.cause for down in desk.of(DeviceDown)]
        desk.plugged = Keyboard()
        await desk.until(lambda: desk.of(DeviceUp))

    play(story)


def test_events_lost_on_their_way_begin_a_new_life() -> None:
    """A baseline and numbers from 1, without a loss."""

    async def story(desk: Desk) -> None:
        desk.plugged = board = Keyboard()
        await desk.until(lambda: desk.of(DeviceUp))
        board.send(tap(2))
        await desk.until(lambda: desk.keys)
        desk.driver.rebaseline()
        board.send(tap(28))
        await desk.until(lambda: len(desk.keys) == 2)
        assert ((1, "enter"), 2, []) == (desk.keys[1], len(desk.of(DeviceUp)), desk.of(DeviceDown))

    play(story)


def test_the_stamp_of_the_kernel_is_when_it_was_pressed() -> None:
    """Where records are stamped with the monotonic clock, a busy loop makes no press late; never in the future."""

    async def story(desk: Desk) -> None:
        desk.plugged = board = Keyboard(monotonic=True)
        await desk.until(lambda: desk.of(DeviceUp))
        now_ms = int(asyncio.get_running_loop().time() * 1000)
        board.send(tap(2, now_ms - 40) + tap(28, now_ms + 60_000))
        await desk.until(lambda: len(desk.keys) == 2)
        first, second = desk.of(KeyPressed)
        assert now_ms - 40 == first.at_ms == first.began_ms
        assert second.at_ms < now_ms + 60_000

    play(story)


def test_what_is_no_input_device_is_refused_without_harm(tmp_path: Path) -> None:
    """A fifo under the path: the kernel's calls fail, the file is closed."""
    fifo = tmp_path / "event-kbd"
    os.mkfifo(fifo)
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(OSError):
        EventDevice(str(fifo))
    assert before == len(list(Path("/proc/self/fd").iterdir()))
