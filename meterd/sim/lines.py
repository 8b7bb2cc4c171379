"""Serial lines that are not there: two pseudo-terminals for each, joined by a relay where the line's time is spent.

The daemon opens the slave of the first pair, under the path of the plan; the slave of the second pair is where modules
and signs listen, ours or another program's. A pseudo-terminal has no baud rate, so the relay holds every reply back by
the line time of request and reply and by the module's turnaround. A bad cable lives here too.

Bytes are timed when this loop reads them. A loop that was kept waiting says by how much it may be wrong
(:class:`Attention`), so that nobody is blamed for a pause that the machine cut short.

As on a real port, nobody but the daemon holds its end open: what a killed daemon set on it dies with it.
Times are seconds of the monotonic clock.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import select
import tty
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Final

from meterd.sim.faults import BadCable, Rates
from meterd.sim.plan import NoisePlan
from meterd.sim.ports import give_name, take_name

#: Start, eight data, parity or second stop, stop.
BITS_PER_CHARACTER: Final = 11
#: How often a port that nobody holds open is looked at again.
REOPEN_S: Final = 0.01
#: How often the loop notes that it came round.
LOOK_S: Final = 0.01
_CHUNK: Final = 4096


@dataclass
class Noise:
    """A bad cable, off by default: shares of chunks that are dropped, get one bit flipped or a byte too many."""

    drop: float = 0.0
    flip: float = 0.0
    stray: float = 0.0
    chance: random.Random = field(default_factory=lambda: random.Random(0))  # noqa: S311 - a seeded simulation

    @classmethod
    def of(cls, plan: NoisePlan, seed: str) -> Noise | BadCable:
        """The noise of a plan, repeatable by seed."""
        if plan.byte:
            return BadCable(Rates.noise(plan.byte), seed)
        return cls(plan.drop, plan.flip, plan.stray, random.Random(seed))  # noqa: S311 - a seeded simulation

    def carry(self, data: bytes) -> bytes:
        """What arrives of ``data``."""
        if not (self.drop or self.flip or self.stray):
            return data
        if self.chance.random() < self.drop:
            return b""
        arrived = bytearray(data)
        if self.chance.random() < self.flip:
            arrived[self.chance.randrange(len(arrived))] ^= 1 << self.chance.randrange(8)
        if self.chance.random() < self.stray:
            arrived.insert(self.chance.choice((0, len(arrived))), self.chance.randrange(256))
        return bytes(arrived)


class Attention:
    """How long the running loop may have been away when it reads something. ``close`` ends the looking."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._look()

    def away_s(self) -> float:
        """Seconds since it last came round, beyond the usual."""
        return max(0.0, self._loop.time() - self._looked_at - LOOK_S)

    def close(self) -> None:
        """Stop looking."""
        self._timer.cancel()

    def _look(self) -> None:
        self._looked_at = self._loop.time()
        self._timer = self._loop.call_later(LOOK_S, self._look)


@dataclass(frozen=True, eq=False)
class _Reply:
    """Bytes on their way to the daemon. Two replies share the line only one after the other; a late one waits alone."""

    asked_at: float
    begins_s: float
    due_s: float
    data: bytes


class Line:
    """One line. ``turnaround_s`` by unit; ``unplug`` takes the daemon's port away, ``plug`` brings it back.

    With ``echo`` a sender hears what it says.
    """

    def __init__(
        self,
        path: Path,
        baud: int,
        turnaround_s: Mapping[int, float] | None = None,
        noise: Noise | BadCable | None = None,
        device_path: Path | None = None,
        attention: Attention | None = None,
    ) -> None:
        self.path = path
        self.device_path = device_path
        self.character_s = BITS_PER_CHARACTER / baud
        self.turnaround_s = dict(turnaround_s or {})
        self.noise = noise or Noise()
        self.carried = 0
        self.echo = False
        self._attention = attention
        self._read_at = self._away_s = 0.0
        self._loop = asyncio.get_running_loop()
        self._outer: int | None = None
        self._asked_at = 0.0
        self._asked: bytes = b""
        self._due: list[_Reply] = []
        self._inner, slave = _pair()
        self.device_fd = slave
        if device_path:
            _link(device_path, slave)
        self._loop.add_reader(self._inner, self._from_device)
        self.plug()

    def doubt_s(self) -> float:
        """How much earlier than now the daemon's last bytes may have come."""
        return self._loop.time() - self._read_at + self._away_s

    def plug(self) -> None:
        """A new port appears under the path."""
        if self._outer is None:
            self._outer, slave = _pair()
            _link(self.path, slave)
            os.close(slave)
            self._wait_for_opener()

    def say(self, data: bytes) -> None:
        """A device speaks unasked."""
        if data:
            self._write(self.device_fd, data)

    def unplug(self) -> None:
        """The port vanishes while it may be in use: whoever holds it gets an error."""
        if self._outer is not None:
            self._loop.remove_reader(self._outer)
            os.close(self._outer)
            self._outer = None
            take_name(self.path)
            self._due.clear()

    def close(self) -> None:
        """The line is gone at both ends."""
        self.unplug()
        self._loop.remove_reader(self._inner)
        os.close(self._inner)
        os.close(self.device_fd)
        if self.device_path:
            take_name(self.device_path)

    def _wait_for_opener(self) -> None:
        """While nobody holds the port it reads as hung up; look again in a moment."""
        if self._outer is None:
            return
        poll = select.poll()
        poll.register(self._outer, select.POLLIN)
        if any(event & select.POLLHUP for _, event in poll.poll(0)):
            self._loop.call_later(REOPEN_S, self._wait_for_opener)
        else:
            self._loop.add_reader(self._outer, self._from_daemon)

    def _from_daemon(self) -> None:
        if self._outer is None:
            return
        data = _read(self._outer)
        if not data:
            self._loop.remove_reader(self._outer)
            self._due.clear()
            self._loop.call_later(REOPEN_S, self._wait_for_opener)
            return
        now = self._loop.time()
        self._read_at, self._away_s = now, self._attention.away_s() if self._attention else 0.0
        # Bytes that follow before the last ones are through the line belong to one request.
        fresh = now > self._asked_at + len(self._asked) * self.character_s
        self._asked_at, self._asked = (now, data) if fresh else (self._asked_at, self._asked + data)
        self.carried += len(data)
        if self.echo:
            self._write(self._outer, data)
        self._write(self._inner, self.noise.carry(data))

    def _from_device(self) -> None:
        data = _read(self._inner)
        if not data:
            return
        now = self._loop.time()
        spent = (len(self._asked) + len(data)) * self.character_s + self.turnaround_s.get(data[0], 0.0)
        due, takes_s = max(self._asked_at + spent, now), len(data) * self.character_s
        for other in sorted(self._due, key=attrgetter("due_s")):
            same = other.asked_at == self._asked_at  # the rest of a reply that came in pieces
            if same or (due - takes_s < other.due_s and other.begins_s < due):
                due = max(due, other.due_s + takes_s)
        reply = _Reply(self._asked_at, due - takes_s, due, self.noise.carry(data))
        self._due.append(reply)
        self._loop.call_at(due, self._deliver, reply)

    def _deliver(self, reply: _Reply) -> None:
        if reply in self._due:
            self._due.remove(reply)
            self.carried += len(reply.data)
            if self._outer is not None:
                self._write(self._outer, reply.data)

    @staticmethod
    def _write(fd: int, data: bytes) -> None:
        """A full or hung-up end loses the bytes, as an unread UART does."""
        with contextlib.suppress(OSError):
            os.write(fd, data)


class DeviceEnd:
    """Reads the device's side of a line and answers at once: ``serve`` takes bytes and their time, gives reply bytes.

    ``at`` is when the last byte would have come off the line.
    """

    def __init__(self, line: Line, serve: Callable[[bytes, float], bytes]) -> None:
        self._line = line
        self._serve = serve
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(line.device_fd, self._ready)

    def close(self) -> None:
        """Stop answering; the line stays."""
        self._loop.remove_reader(self._line.device_fd)

    def _ready(self) -> None:
        data = _read(self._line.device_fd)
        if data:
            reply = self._serve(data, self._loop.time() + len(data) * self._line.character_s)
            if reply:
                with contextlib.suppress(OSError):
                    os.write(self._line.device_fd, reply)


def _pair() -> tuple[int, int]:
    """Master and slave of a new pseudo-terminal: raw, eight bits, no parity, non-blocking."""
    master, slave = os.openpty()
    tty.setraw(slave)
    os.set_blocking(master, False)
    os.set_blocking(slave, False)
    return master, slave


def _link(path: Path, slave: int) -> None:
    """A plan names a folder of its own for its ports: that one alone is made."""
    with contextlib.suppress(FileExistsError, FileNotFoundError):
        path.parent.mkdir()
    give_name(path, os.ttyname(slave))


def _read(fd: int) -> bytes:
    """What waits; empty when nothing does or the other end is hung up."""
    try:
        return os.read(fd, _CHUNK)
    except OSError:
        return b""
