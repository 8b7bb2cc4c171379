"""A bad cable: a proxy between two ports that loses, bends and repeats bytes at rates given per byte, from one seed.

:class:`BadCable` is one direction, pure: bytes in, what arrives of them out. :class:`NoiseProxy` puts one in each
direction between a new pseudo-terminal (``near``, the name the daemon opens) and an existing port (``far``, where the
simulated devices are, or real ones). It also does what hands do to cables: unplug, plug, lead to another port.

The same seed, rates and bytes give the same faults, however the bytes were cut into pieces, but for delays, which hold
back the rest of a piece. Rates are 0 to 1 per byte; ``*_s`` seconds, ``*_ms`` milliseconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import random
import select
import tty
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Final

import serial

from meterd.sim.ports import Mode, PortRefusedError, close_port, give_name, open_port, take_name

#: How often a port that nobody holds open is looked at again.
REOPEN_S: Final = 0.01
_CHUNK: Final = 4096


class Fault(StrEnum):
    """What can happen to a byte."""

    DROP = "drop"  # it does not arrive
    FLIP = "flip"  # one of its bits arrives the other way
    DUPLICATE = "duplicate"  # it arrives twice
    STRAY = "stray"  # a byte that nobody sent arrives before it
    CUT = "cut"  # it and the rest of its piece do not arrive
    DELAY = "delay"  # it and what follows it arrive later, in order


@dataclass(frozen=True, slots=True)
class Rates:
    """How often each fault happens, per byte carried; ``echo``: what is sent is also heard by its sender."""

    drop: float = 0.0
    flip: float = 0.0
    duplicate: float = 0.0
    stray: float = 0.0
    cut: float = 0.0
    delay: float = 0.0
    delay_ms: float = 50.0
    echo: bool = False

    def __post_init__(self) -> None:
        """Raises :class:`ValueError` for what is no share, or shares of more than one together."""
        shares = [getattr(self, fault.value) for fault in Fault]
        if any(not 0 <= share <= 1 for share in shares) or sum(shares) > 1:
            raise ValueError(f"rates per byte are 0 to 1, and all faults together no more than 1, not {shares}")
        if self.delay_ms < 0:
            raise ValueError(f"a delay is 0 ms or more, not {self.delay_ms}")

    @classmethod
    def noise(cls, rate: float) -> Rates:
        """Bit flips, lost bytes and doubled bytes, each at ``rate`` per byte."""
        return cls(drop=rate, flip=rate, duplicate=rate)

    @property
    def total(self) -> float:
        """Faults of any kind per byte."""
        return math.fsum(getattr(self, fault.value) for fault in Fault)

    @property
    def words(self) -> str:
        """The rates that are not 0, for a log line."""
        told = [f"{each.name} {getattr(self, each.name):g}" for each in fields(self) if each.name in set(Fault)]
        return ", ".join(text for text in told if not text.endswith(" 0")) or "no faults"


class BadCable:
    """One direction of a bad cable. ``counts`` of each fault that happened; ``carried`` bytes went in."""

    def __init__(self, rates: Rates, seed: str) -> None:
        """Begin a new run of chance from ``seed``."""
        self.counts: Counter[Fault] = Counter()
        self.carried = 0
        self._chance = random.Random(seed)  # noqa: S311 - a seeded simulation
        self.rates = rates

    @property
    def rates(self) -> Rates:
        """How often what happens; may be changed while bytes flow."""
        return self._rates

    @rates.setter
    def rates(self, rates: Rates) -> None:
        self._rates = rates
        self._kinds = list(Fault)
        self._weights = [getattr(rates, fault.value) for fault in Fault]
        self._until = self._gap()

    def carry(self, data: bytes) -> bytes:
        """What arrives of ``data``, for a user who has no place for a delay."""
        return b"".join(piece for piece, _ in self.pieces(data))

    def pieces(self, data: bytes) -> list[tuple[bytes, float]]:
        """What arrives of ``data``: pieces in order, each with the seconds it comes later than the one before."""
        self.carried += len(data)
        if self._until >= len(data):
            self._until -= len(data)
            return [(data, 0.0)] if data else []
        pieces: list[tuple[bytes, float]] = []
        arrived, later_s, at = bytearray(), 0.0, 0
        while at + self._until < len(data):
            hit = at + int(self._until)
            arrived += data[at:hit]
            at = hit + 1
            self._until = self._gap()
            fault = self._happened()
            if fault is Fault.CUT:
                self._until, at = max(0, self._until - (len(data) - at)), len(data)
                break
            if fault is Fault.DELAY:
                pieces.append((bytes(arrived), later_s))
                arrived, later_s = bytearray(), self._rates.delay_ms / 1000
            arrived += self._bent(fault, data[hit])
        arrived += data[at:]
        self._until -= len(data) - at
        pieces.append((bytes(arrived), later_s))
        return [piece for piece in pieces if piece[0]]

    def _happened(self) -> Fault:
        fault = self._chance.choices(self._kinds, self._weights)[0]
        self.counts[fault] += 1
        return fault

    def _bent(self, fault: Fault, byte: int) -> bytes:
        match fault:
            case Fault.DROP:
                return b""
            case Fault.FLIP:
                return bytes((byte ^ 1 << self._chance.randrange(8),))
            case Fault.DUPLICATE:
                return bytes((byte, byte))
            case Fault.STRAY:
                return bytes((self._chance.randrange(256), byte))
            case _:
                return bytes((byte,))

    def _gap(self) -> float:
        """Bytes that pass unharmed before the next fault: one draw for all of them, for speed."""
        total = min(1.0, self._rates.total)
        if total in (0.0, 1.0):
            return math.inf if total == 0 else 0
        return math.floor(math.log(1.0 - self._chance.random()) / math.log1p(-total))


class NoiseProxy:
    """A bad cable between ``near``, a port it makes, and ``far``, a port that exists. Lives in the running loop.

    ``to_device`` and ``to_daemon`` are its two directions. ``far`` is opened when it appears and again whenever it
    comes back, so that devices may be rebooted behind it. :meth:`close` gives everything back.
    """

    def __init__(
        self,
        near: Path,
        far: Path,
        rates: Rates,
        seed: str = "0",
        back: Rates | None = None,
        mode: Mode = Mode(),  # noqa: B008 - an immutable tuple
    ) -> None:
        """``back``: the rates of the daemon's direction where they are not the same; ``mode``: how ``far`` is set.

        Raises :class:`PortRefusedError` where ``near`` is something else already.
        """
        self.near = near
        self.far = far
        self.refused: PortRefusedError | None = None  # why the far end is not ours, at the last try
        self._mode = mode
        self.to_device = BadCable(rates, f"{seed}/to-device")
        self.to_daemon = BadCable(back or rates, f"{seed}/to-daemon")
        self._loop = asyncio.get_running_loop()
        self._near: PortEnd | None = None
        self._far: PortEnd | None = None
        self._due = {True: 0.0, False: 0.0}
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False
        self.plug()  # first, for it may refuse
        self._reach()

    @property
    def counts(self) -> Counter[Fault]:
        """What happened so far, both ways."""
        return self.to_device.counts + self.to_daemon.counts

    @property
    def carried(self) -> int:
        """Bytes that went in, both ways."""
        return self.to_device.carried + self.to_daemon.carried

    def plug(self) -> None:
        """A new port appears under ``near``."""
        if self._near is None and not self._closed:
            self._near = PortEnd.made(self._loop, self.near, self._from_daemon)

    def unplug(self) -> None:
        """The port under ``near`` vanishes; who holds it gets an error."""
        if self._near is not None:
            self._near.close()
            self._near = None
            take_name(self.near)

    def lead_to(self, far: Path) -> None:
        """The cable now ends in another port. Two proxies led to each other's ports are swapped cables."""
        self.far = far
        self._let_go()
        self._reach()

    def close(self) -> None:
        """Both ends are gone."""
        self._closed = True
        self.unplug()
        self._let_go()

    def _let_go(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._far is not None:
            self._far.close()
            self._far = None

    def _reach(self) -> None:
        """Open the far port; where there is none, look again in a moment."""
        self.refused = None
        try:
            self._far = PortEnd.opened(self._loop, self.far, self._from_device, self._far_lost, self._mode)
        except PortRefusedError as refused:
            self.refused = refused
            self._timer = self._loop.call_later(REOPEN_S, self._reach)

    def _far_lost(self) -> None:
        self._let_go()
        if not self._closed:
            self._timer = self._loop.call_later(REOPEN_S, self._reach)

    def _from_daemon(self, data: bytes) -> None:
        if self.to_device.rates.echo:
            self._carry(self.to_daemon, data, to_device=False)
        self._carry(self.to_device, data, to_device=True)

    def _from_device(self, data: bytes) -> None:
        self._carry(self.to_daemon, data, to_device=False)

    def _carry(self, cable: BadCable, data: bytes, *, to_device: bool) -> None:
        """Deliver what arrives; nothing overtakes what was delayed before it."""
        due = max(self._loop.time(), self._due[to_device])
        for piece, later_s in cable.pieces(data):
            due += later_s
            self._due[to_device] = due
            if due > self._loop.time():
                self._loop.call_at(due, self._deliver, piece, to_device)
            else:
                self._deliver(piece, to_device)

    def _deliver(self, data: bytes, to_device: bool) -> None:
        end = self._far if to_device else self._near
        if end is not None:
            end.write(data)


class PortEnd:
    """One port of this end: bytes out to ``take``; a full or hung-up one loses what is written, as an unread UART."""

    def __init__(self, loop: asyncio.AbstractEventLoop, fd: int, take: Callable[[bytes], None]) -> None:
        self._loop = loop
        self._fd: int | None = fd
        self._take = take
        self._lost: Callable[[], None] | None = None
        self._port: serial.Serial | None = None

    @classmethod
    def made(cls, loop: asyncio.AbstractEventLoop, path: Path, take: Callable[[bytes], None]) -> PortEnd:
        """A new pseudo-terminal with its name at ``path``. Nobody but who opens that holds its slave.

        Raises :class:`PortRefusedError` where something else has that name.
        """
        master, slave = os.openpty()
        tty.setraw(slave)
        try:
            give_name(path, os.ttyname(slave))
        except OSError:
            os.close(master)
            raise
        finally:
            os.close(slave)
        os.set_blocking(master, False)
        end = cls(loop, master, take)
        end._wait_for_opener()
        return end

    @classmethod
    def opened(
        cls,
        loop: asyncio.AbstractEventLoop,
        path: Path,
        take: Callable[[bytes], None],
        lost: Callable[[], None],
        mode: Mode,
    ) -> PortEnd:
        """A port that exists, for us alone. Raises :class:`PortRefusedError`."""
        port = open_port(path, mode)
        end = cls(loop, port.fileno(), take)
        end._port = port
        end._lost = lost
        loop.add_reader(port.fileno(), end._ready)
        return end

    def write(self, data: bytes) -> None:
        """Hand over what the other side takes."""
        if self._fd is not None:
            with contextlib.suppress(OSError):
                os.write(self._fd, data)

    def close(self) -> None:
        """Give the port back."""
        if self._fd is not None:
            self._loop.remove_reader(self._fd)
            if self._port is not None:
                close_port(self._port)
            else:
                os.close(self._fd)
            self._fd = None

    def _wait_for_opener(self) -> None:
        """While nobody holds the slave the master reads as hung up; look again in a moment."""
        if self._fd is None:
            return
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        if any(event & select.POLLHUP for _, event in poll.poll(0)):
            self._loop.call_later(REOPEN_S, self._wait_for_opener)
        else:
            self._loop.add_reader(self._fd, self._ready)

    def _ready(self) -> None:
        if self._fd is None:
            return
        try:
            data = os.read(self._fd, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._take(data)
            return
        self._loop.remove_reader(self._fd)
        if self._lost is not None:
            self._lost()
        else:
            self._wait_for_opener()
