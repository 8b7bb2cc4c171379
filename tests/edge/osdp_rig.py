"""A line of OSDP pads on a pseudo-terminal, our driver at one end, libosdp's own device at the other.

The other end runs in a thread of its own; ``carry`` and ``carry_back`` are the cable. Waits are for events.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import threading
import time
import tty
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from meterd.config import BusConfig, PadProfile, PadRef, PadText, UnitWanted
from meterd.edge.keypad_osdp import OsdpLine, OsdpThread
from meterd.sim.osdp_pad import OsdpPad, OsdpPads
from protocols.events import CardRead, DeviceDown, DeviceUp, KeyPressed
from protocols.osdp_keys import codes

KEY = bytes(range(16))
OTHER_KEY = bytes(range(16, 32))
LAYOUT = {f"digit-{n}": codes(str(n)) for n in range(10)} | {
    "enter": codes("#"), "clear": codes("*"), "lock": codes("A"), "end-game": codes("D"), "hand-1": codes("B1"),
    "hand-3": codes("B3"),
}  # fmt: skip
PROFILE = PadProfile("test-pad", "osdp-keypad", LAYOUT, PadText(2, 16), 0, buzzer=True)


class Cable:
    """A pseudo-terminal under a path, with pads behind it."""

    def __init__(self, path: Path, *pads: OsdpPad) -> None:
        self.path = path
        self.pads = OsdpPads(pads)
        self.carry: Callable[[bytes], bytes] = lambda data: data
        self.carry_back: Callable[[bytes], bytes] = lambda data: data
        self.requests: list[bytes] = []
        self.replies: list[bytes] = []
        self.lock = threading.Lock()
        self._stop = threading.Event()
        self._master: int | None = None
        self.plug()
        self._thread = threading.Thread(target=self._run, name="cable")
        self._thread.start()

    def plug(self) -> None:
        with self.lock:
            master, slave = os.openpty()
            tty.setraw(slave)
            self._held = slave
            self.path.unlink(missing_ok=True)
            self.path.symlink_to(os.ttyname(slave))
            os.set_blocking(master, False)
            self._master = master

    def unplug(self) -> None:
        with self.lock:
            self.path.unlink(missing_ok=True)
            assert self._master is not None
            os.close(self._master)
            os.close(self._held)
            self._master = None

    def inject(self, data: bytes) -> None:
        """Bytes that nobody sent arrive at the driver."""
        with self.lock, contextlib.suppress(BlockingIOError):
            assert self._master is not None
            os.write(self._master, data)

    def close(self) -> None:
        self._stop.set()
        self._thread.join()
        if self._master is not None:
            self.unplug()

    def _run(self) -> None:
        while not self._stop.is_set():
            master = self._master
            if master is None:
                time.sleep(0.005)
                continue
            with contextlib.suppress(OSError, ValueError):
                select.select([master], [], [], 0.01)
            with self.lock:
                if self._master is not None:
                    self._step(self._master)

    def _step(self, master: int) -> None:
        try:
            data = os.read(master, 4096)
        except (BlockingIOError, OSError):
            data = b""
        if data:
            self.requests.append(data)
        said = self.pads.serve(self.carry(data) if data else b"")
        if said:
            self.replies.append(said)
            with contextlib.suppress(BlockingIOError):
                os.write(master, self.carry_back(said))


class Heard:
    """What the driver told, and waiting for it from asyncio."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()

    def __call__(self, event: Any) -> None:
        self.events.append(event)
        self._loop.call_soon_threadsafe(self._changed.set)

    async def until(self, true: Callable[[], Any], within_s: float) -> None:
        async with asyncio.timeout(within_s):
            while not true():
                self._changed.clear()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(0.05):  # what is looked at may change without an event
                        await self._changed.wait()

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def keys(self) -> list[str]:
        return [event.key for event in self.of(KeyPressed)]

    @property
    def ups(self) -> list[DeviceUp]:
        return self.of(DeviceUp)

    @property
    def downs(self) -> list[DeviceDown]:
        return self.of(DeviceDown)

    @property
    def cards(self) -> list[CardRead]:
        return self.of(CardRead)


class Rig:
    """The driver of one line, running."""

    def __init__(self, path: Path, *refs: PadRef, keys: dict[str, bytes] | None = None, **bus: Any) -> None:
        self.heard = Heard()
        config = BusConfig("keys-1", "osdp", str(path), 115200, **bus)
        pads = refs or (ref(5),)
        given = keys or {pad.device: KEY for pad in pads}
        self.trace: list[tuple[str, bytes]] = []
        self.line = OsdpLine(config, pads, given, self.heard, trace=lambda way, data: self.trace.append((way, data)))
        self._task = asyncio.create_task(OsdpThread([self.line]).run())

    async def close(self) -> None:
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    def sent(self) -> list[bytes]:
        return [data for way, data in self.trace if way == "tx"]


def ref(unit: int, identity: str | None = None, profile: PadProfile = PROFILE) -> PadRef:
    return PadRef("keys-1", unit, profile, identity)


def wanted(seq: int, first: str, second: str, *, betting: bool = True) -> UnitWanted:
    return UnitWanted(seq, (betting,), (False,), (first, second))


@contextlib.contextmanager
def cable(path: Path, *pads: OsdpPad) -> Iterator[Cable]:
    made = Cable(path, *pads)
    try:
        yield made
    finally:
        made.close()
