"""The signs of one line: a task that owns the port and sends what :mod:`meterd.edge.sign_queue` says, when it says so.

Rule 1: the wire loop never waits for a sign. While the driver has not taken the last transmission nothing else is
sent; a peer that reads nothing for five seconds is a lost port.
Rule 2: the memory plan a sign was given is remembered in a file, removed before the sign is erased and written after
the new plan went out, so that a crash in between can only cost one configuration too many.

Signs of this kind never acknowledge; what they last got is in :meth:`SignBus.shown`. All methods but ``shown``,
``shown_cents`` and ``status`` belong to the wire loop's thread. Units: ``*_s`` seconds of the monotonic clock.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

import structlog

from meterd.config import BusConfig, SignConfig
from meterd.edge.serialport import Backoff, PortLostError, SerialLink, open_link, program_fault, wait_for_port
from meterd.edge.sign_queue import CLOSED, Send, Shown, SignQueue, SignWanted, WallTime, amount_cents
from protocols.alpha import ClearMemory, ConfigureMemory, RunSequence
from protocols.alpha_replies import ReplyParser

STUCK_S: Final = 5.0  # the longest transmission takes a second at 1200 baud
CLOSE_LIMIT_S: Final = 10.0  # on the way out; whoever stops us has a limit of its own

log = structlog.get_logger()

__all__ = ["CLOSED", "Shown", "SignBus", "SignWanted", "WallTime", "wall_time"]


def wall_time(timezone: str) -> WallTime:
    """The floor's time of day, for the clocks of its signs."""
    now = datetime.now(ZoneInfo(timezone))
    return WallTime(now.hour, now.minute, now.isoweekday() % 7 + 1)


class SignBus:
    """Drives all signs of one line. ``clock`` and ``sleep`` are arguments so that a test need not wait."""

    def __init__(
        self,
        bus: BusConfig,
        signs: Sequence[SignConfig],
        memory_dir: Path,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        wall: Callable[[], WallTime] = lambda: wall_time("UTC"),
        trace: Callable[[str, bytes], None] | None = None,
    ) -> None:
        """Prepare; :meth:`run` does everything. ``trace`` is shown every byte: ``tx`` or ``rx``, and the bytes."""
        self._bus = bus
        self._memory_dir = memory_dir
        self._clock = clock
        self._sleep = sleep
        self._trace = trace
        self._queue = SignQueue(bus, signs, wall)
        for name, state in self._queue.signs.items():
            state.applied = _read(self._plan_path(name))
        self._stirred = asyncio.Event()
        self._idle = asyncio.Event()
        self._stopping = False
        self.up = False
        self.cause = ""
        self.sent = 0
        self.port_losses = 0
        self.set_up_again = 0
        self._parser = ReplyParser()

    async def run(self) -> None:
        """Keep the line going until cancelled: open, bring every sign up, send what changes."""
        backoff = Backoff()
        try:
            while self._queue.signs:
                peer = _Peer(self._stirred, self._heard)
                link = None
                try:
                    link = await open_link(self._bus, peer, dtr=False)
                    self.up, self.cause = True, ""
                    self._queue.link_up(self._clock())
                    await self._serve(link, peer, backoff)
                except PortLostError as lost:
                    self._port_down(lost)
                except Exception as fault:  # noqa: BLE001 - the other lines go on, and this one begins again
                    self._port_down(program_fault(self._bus, fault))
                finally:
                    if link is not None:
                        link.close()
                await wait_for_port(self._bus.port, backoff.next_s())
        finally:
            self.up = False

    def _port_down(self, lost: PortLostError) -> None:
        self.port_losses += self.up
        self.up, self.cause = False, str(lost)
        self._idle.set()

    def want(self, sign: str, wanted: SignWanted) -> None:
        """What a sign should show from now on. An older ``seq`` than the last is ignored; so is all after go_closed."""
        if not self._stopping and self._queue.signs[sign].want(wanted):
            self._stir()

    def unheard(self, unheard: bool) -> None:
        """Whether nothing has been heard of the money for too long: every figure says CLOSED until it is again."""
        for state in self._queue.signs.values():
            state.unheard(unheard)
        self._stir()

    async def go_closed(self) -> None:
        """CLOSED in every figure and no message, for good; returns once the signs got it or the port is gone."""
        self._stopping = True
        for state in self._queue.signs.values():
            state.close()
        self._stir()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_LIMIT_S):
                while self.up and not self._idle.is_set():
                    await self._idle.wait()

    def shown(self, sign: str) -> Shown:
        """What a sign last got. Safe from any thread."""
        return self._queue.signs[sign].shown

    def shown_cents(self, sign: str) -> tuple[int | None, ...]:
        """The amounts a sign last got, in the order of ``shows``; None for CLOSED or unknown. Safe from any thread."""
        return tuple(amount_cents(value) for value in self.shown(sign).values)

    def status(self, sign: str) -> dict[str, Any]:
        """Plain JSON values for status and metrics. Safe from any thread."""
        shown = self.shown(sign)
        return {
            "up": self.up,
            "cause": self.cause,
            "values": list(shown.values),
            "priority": shown.priority,
            "seq": shown.seq,
            "sent": self.sent,
            "too_long": self._queue.signs[sign].too_long,
            "port_losses": self.port_losses,
            "set_up_again": self.set_up_again,
        }

    def _stir(self) -> None:
        self._idle.clear()
        self._stirred.set()

    def _heard(self, data: bytes) -> None:
        """A sign speaks: it was asked for its files."""
        if self._trace is not None:
            self._trace("rx", data)
        for answer in self._parser.receive(data):
            if isinstance(answer, ConfigureMemory) and (name := self._queue.answered(answer)) is not None:
                log.warning("sign.memory_lost", bus=self._bus.id, sign=name, advice="it is set up again")
                self.set_up_again += 1
                self._stir()

    async def _serve(self, link: SerialLink, peer: _Peer, backoff: Backoff) -> None:
        """Send, wait for the driver, keep the distance. Raises :class:`PortLostError` when the port is gone."""
        while True:
            peer.raise_if_lost()
            self._stirred.clear()
            step = self._queue.next(self._clock())
            if isinstance(step, Send):
                await self._send(link, peer, step)
                backoff.reset()
                continue
            if self._queue.idle:
                rest_s = self._queue.wait_s(self._clock())
                if rest_s:
                    step = min(step, rest_s)
                else:  # the line has carried all of it: closing the port loses nothing
                    self._idle.set()
            await self._wait(step)

    async def _send(self, link: SerialLink, peer: _Peer, step: Send) -> None:
        """One transmission, and the file that remembers a memory plan."""
        if isinstance(step.command, ClearMemory):
            with contextlib.suppress(OSError):
                self._plan_path(step.sign).unlink(missing_ok=True)
        if self._trace is not None:
            self._trace("tx", step.data)
        link.write(step.data)
        began_s = self._clock()
        while link.get_write_buffer_size() and not link.is_closing():
            if self._clock() - began_s >= STUCK_S:
                link.discard()
                raise PortLostError(f"{self._bus.port}: the sign line takes no bytes")
            await self._sleep(0.01)
        if link.is_closing():  # lost with the bytes in hand; the peer is told a moment later
            await asyncio.sleep(0)
        peer.raise_if_lost()
        self.sent += 1
        self._queue.sent(step, self._clock())
        if isinstance(step.command, RunSequence):  # the last of what a plan consists of
            _write(self._plan_path(step.sign), self._queue.signs[step.sign].plan)

    async def _wait(self, seconds: float) -> None:
        """Wait so long, or until a wanted value or the loss of the port stirs us."""
        stirred = asyncio.ensure_future(self._stirred.wait())
        waited = asyncio.ensure_future(self._sleep(seconds))
        try:
            await asyncio.wait({stirred, waited}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stirred.cancel()
            waited.cancel()

    def _plan_path(self, sign: str) -> Path:
        return self._memory_dir / f"{sign}.plan"


class _Peer(asyncio.Protocol):
    """Passes on what is heard; notices the loss of the port."""

    def __init__(self, stirred: asyncio.Event, heard: Callable[[bytes], None]) -> None:
        self._stirred = stirred
        self._heard = heard
        self._lost: PortLostError | None = None

    def data_received(self, data: bytes) -> None:
        self._heard(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = exc if isinstance(exc, PortLostError) else PortLostError("closed")
        self._stirred.set()

    def raise_if_lost(self) -> None:
        if self._lost is not None:
            raise self._lost


def _read(path: Path) -> str | None:
    """A remembered plan; None where there is none that can be read."""
    try:
        return path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return None


def _write(path: Path, plan: str) -> None:
    """Remember a plan; a folder that cannot be written costs one configuration at the next start."""
    with contextlib.suppress(OSError):
        if _read(path) == plan:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".new")
        fresh.write_text(plan, encoding="ascii")
        fresh.replace(path)
