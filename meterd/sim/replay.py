"""A recorded wire as the other end: devices that answer as they once did, or a controller that says what it once said.

:class:`Answering` is pure: for each request it knows what was answered to the same bytes, in the order it was, the last
answer again and again. Times are seconds.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from meterd.sim.faults import PortEnd
from meterd.sim.ports import Mode, take_name
from meterd.sim.replay_modbus import Memory, Taught, whole, writes

#: A request that is still incomplete after this long was none.
SILENCE_S: Final = 0.05
#: No Modbus request is longer.
REQUEST_MAX: Final = 256
#: How long the last thing said is given for its answer.
ANSWER_S: Final = 0.5
#: An answer that was not recorded comes so long after its question.
USUAL_S: Final = 0.003
#: So many different questions without an answer are told.
UNKNOWN_TOLD: Final = 20


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

    def exchanges(self) -> Iterable[tuple[bytes, bytes]]:
        """Each request with each of its answers, whole."""
        for request, answers in self._known.items():
            for spoken in answers:
                yield request, b"".join(each.data for each in spoken)

    def answer(self, request: bytes) -> tuple[Spoken, ...] | None:
        """What to say to ``request``: nothing where nothing was said, None where it was never asked."""
        known = self._known.get(request)
        if known is None:
            return None
        return known.popleft() if len(known) > 1 else known[0]


class Devices:
    """The devices of a recording, on a new port. Lives in the running loop; ``close`` takes the port away."""

    def __init__(
        self,
        path: Path,
        moments: Sequence[Moment],
        *,
        modbus: bool = False,
        taught: Iterable[Taught] = (),
        told: Callable[[bytes], None] | None = None,
    ) -> None:
        """Make the port.

        ``modbus``: what was not asked in just these bytes is answered by what the recording tells of the modules, and
        they hold what is written; ``taught``: what they hold beside. ``told`` hears once of each question to which
        there is no answer.
        """
        self.asked = self.answered = self.unknown = 0
        self._answering = Answering(moments)
        self._memory = Memory() if modbus else None
        if self._memory is not None:
            for request, reply in self._answering.exchanges():
                self._memory.learn(request, reply, first=True)
            for each in taught:
                self._memory.teach(*each)
        self._told = told
        self._unknown: set[bytes] = set()
        self._loop = asyncio.get_running_loop()
        self._heard, self._heard_at = b"", 0.0
        self._path = path
        self._end = PortEnd.made(self._loop, path, self._take)

    def _take(self, data: bytes) -> None:
        now = self._loop.time()
        if now - self._heard_at > SILENCE_S:
            self._heard = b""
        self._heard, self._heard_at = self._heard + data, now
        while request := self._next():
            self._heard = self._heard[len(request) :]
            self._reply(request)
        if not self._heard or any(request.startswith(self._heard) for request in self._answering.requests):
            return
        if self._memory is None or len(self._heard) > REQUEST_MAX:
            self.asked += 1
            self._pass(self._heard)
            self._heard = b""

    def _next(self) -> bytes:
        """The request at the beginning of what was heard; nothing: there is no whole one."""
        known = max(filter(self._heard.startswith, self._answering.requests), key=len, default=b"")
        return known or (self._heard[: whole(self._heard)] if self._memory is not None else b"")

    def _pass(self, request: bytes) -> None:
        """There is no answer to it."""
        self.unknown += 1
        if self._told is not None and request not in self._unknown and len(self._unknown) < UNKNOWN_TOLD:
            self._unknown.add(request)
            self._told(request)

    def _reply(self, request: bytes) -> None:
        self.asked += 1
        spoken = self._answering.answer(request)
        if self._memory is not None:
            spoken = self._by_memory(self._memory, request, spoken)
        if spoken is None:
            self._pass(request)
        self.answered += bool(spoken)
        for each in spoken or ():
            self._loop.call_later(each.after_s, self._end.write, each.data)

    def _by_memory(
        self, memory: Memory, request: bytes, spoken: tuple[Spoken, ...] | None
    ) -> tuple[Spoken, ...] | None:
        """The answer with what was written since; where nothing is recorded, what is known of the modules."""
        if spoken is None:
            reply = memory.answer(request)
            return (Spoken(USUAL_S, reply),) if reply else None
        if spoken and writes(request):
            memory.answer(request)
        elif spoken and (memory.learn(request, b"".join(each.data for each in spoken)) or memory.rewritten(request)):
            return (Spoken(spoken[-1].after_s, memory.answer(request)),)
        return spoken

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
