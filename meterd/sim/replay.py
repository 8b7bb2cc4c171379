"""A recorded wire as the other end: devices that answer as they once did, or a controller that says what it once said.

:class:`Answering` is pure: for each request it knows what was answered to the same bytes, in the order it was, the last
answer again and again. Times are seconds.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from meterd.sim.faults import PortEnd
from meterd.sim.ports import Mode, take_name

#: A request that is still incomplete after this long was none.
SILENCE_S: Final = 0.05
#: How long the last thing said is given for its answer.
ANSWER_S: Final = 0.5


class Moment(NamedTuple):
    """Bytes that passed at ``at_s``; ``sent``: by the controller, else by a device."""

    at_s: float
    sent: bool
    data: bytes


class Spoken(NamedTuple):
    """Bytes of an answer, and how long after the request they came."""

    after_s: float
    data: bytes


class Answering:
    """What devices answered to which request."""

    def __init__(self, moments: Iterable[Moment]) -> None:
        """Learn the exchanges of a recording."""
        self._known: dict[bytes, deque[tuple[Spoken, ...]]] = {}
        asked: Moment | None = None
        answer: list[Spoken] = []
        for moment in (*(each for each in moments if each.data), Moment(0.0, True, b"")):
            if not moment.sent:
                if asked is not None:
                    answer.append(Spoken(max(0.0, moment.at_s - asked.at_s), moment.data))
                continue
            if asked is not None:
                self._known.setdefault(asked.data, deque()).append(tuple(answer))
            asked, answer = moment, []

    @property
    def requests(self) -> frozenset[bytes]:
        """Everything that was asked."""
        return frozenset(self._known)

    def answer(self, request: bytes) -> tuple[Spoken, ...] | None:
        """What to say to ``request``: nothing where nothing was said, None where it was never asked."""
        known = self._known.get(request)
        if known is None:
            return None
        return known.popleft() if len(known) > 1 else known[0]


class Devices:
    """The devices of a recording, on a new port. Lives in the running loop; ``close`` takes the port away."""

    def __init__(self, path: Path, moments: Sequence[Moment]) -> None:
        """Make the port."""
        self.asked = self.answered = self.unknown = 0
        self._answering = Answering(moments)
        self._loop = asyncio.get_running_loop()
        self._heard, self._heard_at = b"", 0.0
        self._path = path
        self._end = PortEnd.made(self._loop, path, self._take)

    def _take(self, data: bytes) -> None:
        now = self._loop.time()
        if now - self._heard_at > SILENCE_S:
            self._heard = b""
        self._heard, self._heard_at = self._heard + data, now
        while whole := max(filter(self._heard.startswith, self._answering.requests), key=len, default=b""):
            self._heard = self._heard[len(whole) :]
            self._reply(whole)
        if not any(request.startswith(self._heard) for request in self._answering.requests):
            self.asked += 1
            self.unknown += 1
            self._heard = b""

    def _reply(self, request: bytes) -> None:
        self.asked += 1
        spoken = self._answering.answer(request)
        self.answered += bool(spoken)
        for each in spoken or ():
            self._loop.call_later(each.after_s, self._end.write, each.data)

    def close(self) -> None:
        """Nobody is there any more."""
        self._end.close()
        take_name(self._path)


async def say(path: Path, moments: Sequence[Moment], speed: float = 1.0, mode: Mode = Mode()) -> int:  # noqa: B008
    """Send what the controller sent to an existing port, at its pace divided by ``speed``; how many bytes came back.

    ``mode``: how the port is set.

    Raises :class:`OSError` where the port cannot be opened or is lost.
    """
    came_back = 0

    def take(data: bytes) -> None:
        nonlocal came_back
        came_back += len(data)

    lost = asyncio.Event()
    end = PortEnd.opened(asyncio.get_running_loop(), path, take, lost.set, mode)
    try:
        sent = [moment for moment in moments if moment.sent]
        for before, moment in zip([*sent[:1], *sent], sent, strict=False):
            await asyncio.sleep(max(0.0, moment.at_s - before.at_s) / speed)
            if lost.is_set():
                raise OSError(f"{path} was unplugged")
            end.write(moment.data)
        await asyncio.sleep(ANSWER_S)
    finally:
        end.close()
    return came_back
