"""USB keyboards as dealers' pads: one input device a bus, read on the wire loop. They show nothing.

Rule 1: the device is ours alone while we have it; a second program, or a desktop, gets no key.
Rule 2: a press is value 1. Repeats of a held key, and keys that were down when we came, are none.
Rule 3: where the kernel dropped records, presses may be missing: the state of the keys is read again, and whatever was
half keyed goes (:data:`~protocols.events.KEY_LOST`).
Rule 4: any error of the device is its unplugging. It is looked for every :data:`REOPEN_S` under the same path.
Units: ``*_s`` seconds, ``*_ms`` milliseconds of the monotonic clock.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final

import structlog

from meterd.config import BusConfig, PadRef, UnitWanted
from meterd.edge.hid import EventDevice, InputDevice
from meterd.edge.keypad_pad import Sink
from protocols.events import KEY_LOST, DeviceDown, DeviceUp, KeyPressed, Reading
from protocols.hid_keys import Dropped, KeyRecords
from protocols.key_sequences import KeySequences

REOPEN_S: Final = 0.5

log = structlog.get_logger()


class HidPad:
    """The one keyboard of a bus."""

    def __init__(
        self,
        bus: BusConfig,
        pad: PadRef,
        sink: Sink,
        *,
        open_device: Callable[[str], InputDevice] = EventDevice,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare; :meth:`run` opens the device."""
        self._bus = bus
        self._pad = pad
        self._sink = sink
        self._open_device = open_device
        self._clock = clock
        self._keys = KeySequences(pad.profile.keys)
        self._records = KeyRecords()
        self._device: InputDevice | None = None
        self._over = asyncio.Event()
        self._count = 0
        self._cause: str | None = None
        self.port_cause = ""
        self.losses = 0
        self.drops = 0

    async def run(self) -> None:
        """Until cancelled: open, listen, and after a loss look for it again."""
        try:
            while True:
                if self._open():
                    await self._over.wait()
                await asyncio.sleep(REOPEN_S)
        finally:
            self._close()

    def want(self, unit: int, wanted: UnitWanted) -> None:
        """A keyboard shows nothing; its table's lines are on the pit page."""

    def rebaseline(self) -> None:
        """Events were lost on their way: the pad begins a new life."""
        if self._device is not None:
            self._came_up()

    @property
    def up(self) -> bool:
        """Whether the keyboard is there and trusted."""
        return self._device is not None

    def to_json(self) -> dict[str, Any]:
        """Numbers for metrics."""
        return {
            "port_up": self.up,
            "port_losses": self.losses,
            "port_cause": self.port_cause,
            "pads_up": int(self.up),
            "dropped": self.drops,
        }

    # ── the device ──────────────────────────────────────────────────────────────────────────────────────────────

    def _open(self) -> bool:
        try:
            device = self._open_device(self._bus.port)
        except OSError as fault:
            self._down("port_lost", f"{self._bus.port}: {fault.strerror or fault}")
            return False
        if self._pad.identity is not None and device.identity != self._pad.identity:
            found = device.identity
            device.close()
            self._down("identity", f"{self._bus.port} is {found}, not {self._pad.identity}", found)
            return False
        try:
            self._records = KeyRecords(device.down())
        except OSError as fault:
            device.close()
            self._down("port_lost", f"{self._bus.port}: {fault.strerror or fault}")
            return False
        self._device = device
        self._over.clear()
        asyncio.get_running_loop().add_reader(device.fd, self._read)
        self._came_up()
        return True

    def _came_up(self) -> None:
        self._cause, self.port_cause, self._count = None, "", 0
        self._keys.reset()
        now_ms = int(self._clock() * 1000)
        self._sink(DeviceUp(self._pad.device, Reading(self._pad.device, now_ms, now_ms, now_ms, (), ()), 1))

    def _close(self) -> None:
        if self._device is not None:
            asyncio.get_running_loop().remove_reader(self._device.fd)
            self._device.close()
        self._device = None

    def _lost(self, cause: str) -> None:
        self._close()
        self.losses += 1
        self._down("port_lost", cause)
        self._over.set()

    def _down(self, cause: str, why: str, found: str = "") -> None:
        """Told once for each cause."""
        self.port_cause = why
        if cause != self._cause:
            self._cause = cause
            log.warning("pads.port_lost", bus=self._bus.id, cause=why)
            self._sink(DeviceDown(self._pad.device, cause, found))

    # ── what it tells ───────────────────────────────────────────────────────────────────────────────────────────

    def _read(self) -> None:
        device = self._device
        if device is None:
            return
        try:
            data = device.read()
            if not data:
                self._lost(f"{self._bus.port} was unplugged")
                return
            for event in self._records.feed(data):
                if isinstance(event, Dropped):
                    self._records.resync(device.down())
                    self.drops += 1
                    self._keys.reset()
                    self._press(KEY_LOST, int(self._clock() * 1000))
                else:
                    self._pressed(event.code, event.at_ms if device.monotonic else None)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as fault:
            self._lost(f"{self._bus.port}: {fault.strerror or fault}")

    def _pressed(self, code: int, at_ms: int | None) -> None:
        now_ms = int(self._clock() * 1000)
        for key in self._keys.take([code]):
            self._press(key, now_ms if at_ms is None else min(at_ms, now_ms))

    def _press(self, key: str, at_ms: int) -> None:
        self._count += 1
        self._sink(KeyPressed(self._pad.device, self._count, key, at_ms, at_ms, at_ms))
