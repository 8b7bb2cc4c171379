"""The floor's safe state written by nobody's daemon: every lamp dark, "betting closed" lit, every sign CLOSED.

A sign cannot know that the daemon died. This runs after any exit of it, with the ports free, and needs neither the
ledger nor the money rules. Ports are worked on side by side, each a few seconds at most; what could not be reached is
reported with its cause and stops nothing else.

Units: ``*_s`` seconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from meterd.config import BusConfig, ModuleRef, PadRef, SignConfig, Site, UnitWanted
from meterd.edge.keypad_osdp import OsdpLine, OsdpThread
from meterd.edge.modbus_line import BusStats, Line, ModuleRefusedError, NoReplyError, Reply, Request
from meterd.edge.modbus_outputs import safe_outputs
from meterd.edge.modbus_unit import Unit
from meterd.edge.serialport import PortLostError, open_link
from meterd.edge.sign_queue import CLOSED, Send, SignQueue

TRIES: Final = 3  # without any reply; one lost frame is noise
ROUNDS: Final = 12  # where something of a reply comes somebody is there
REPLY_S: Final = 0.1
#: For all modules of a line together. The unit's TimeoutStopSec, 20 s, must hold this and the start of the program.
LINE_LIMIT_S: Final = 12.0
SILENT: Final = "it does not answer: look at its power, cable and unit number"
OUT_OF_TIME: Final = "what it shows was not read back: the other modules of its line took the time"
PAD_LIMIT_S: Final = 4.0
LOOK_S: Final = 0.02
SIGN_LIMIT_S: Final = 8.0  # four transmissions a second; a line of many signs still ends


@dataclass(frozen=True, slots=True)
class Closing:
    """What happened to one module or sign: ``cause`` is empty when it shows the safe state."""

    name: str
    cause: str = ""


def close_all(site: Site, pad_keys: Mapping[str, bytes] | None = None) -> tuple[Closing, ...]:
    """Bring all outputs of a site to the safe state, best effort: one result for each device that shows something.

    ``pad_keys``: keys of the OSDP pads; one without a key is reported and left as it is.
    """
    return asyncio.run(_close_all(site, pad_keys or {}))


async def _close_all(site: Site, pad_keys: Mapping[str, bytes]) -> tuple[Closing, ...]:
    modules = {module.device: module for table in site.tables for module in table.modules}
    work = []
    for bus in site.buses:
        if bus.kind == "alpha":
            work.append(_close_signs(bus, [sign for sign in site.signs if sign.bus == bus.id]))
        elif bus.kind == "modbus":
            work.append(_close_modules(bus, [module for module in modules.values() if module.bus == bus.id]))
        elif bus.kind == "osdp":
            work.append(_close_pads(bus, site.pads_of(bus.id), pad_keys))
    return tuple(closing for closings in await asyncio.gather(*work) for closing in closings)


async def _close_modules(bus: BusConfig, modules: Sequence[ModuleRef]) -> list[Closing]:
    """One line of modules: the outputs of every one first, answered or not; then what is left, in rounds."""
    line = Line(bus, BusStats())
    try:
        await line.open()
    except PortLostError as lost:
        return [Closing(module.device, str(lost)) for module in modules]
    until_s = time.monotonic() + LINE_LIMIT_S
    works = [_Module(line, module, until_s) for module in modules]
    try:
        await _in_rounds(works)
    except TimeoutError:
        pass  # those that are left have a cause
    except PortLostError as lost:
        for work in works:
            if not work.over:
                work.cause = str(lost)
    finally:
        line.close()
    return [Closing(work.ref.device, "" if work.shows else work.cause) for work in works]


async def _in_rounds(works: Sequence[_Module]) -> None:
    """Each module once before any is tried again. Raises :class:`TimeoutError` or :class:`PortLostError`."""
    for _ in range(TRIES):
        for work in works:
            if not work.heard:
                await work.knock()
    for work in works:
        if not work.heard:
            work.cause, work.over = SILENT, True
    for _ in range(ROUNDS):
        for work in works:
            if not work.over:
                await work.look()


class _Module:
    """One module on its way to the safe state. A cable that eats the replies need not eat what is written."""

    def __init__(self, line: Line, ref: ModuleRef, until_s: float) -> None:
        self.ref = ref
        self.heard = False  # it answered something, or something of an answer came
        self.over = False
        self.cause = OUT_OF_TIME  # why it may not show the safe state
        self._line, self._until_s = line, until_s
        self._unit = Unit(ref)
        self._unit.want(UnitWanted(0, safe_outputs(ref.profile), (), (CLOSED,)))
        self._dark = ref.profile.outputs is None  # the outputs were read back
        self._text = self._unit.text_write()  # not yet acknowledged

    @property
    def shows(self) -> bool:
        """Whether it is in the safe state, as far as it can tell."""
        return self._dark and self._text is None

    async def knock(self) -> None:
        """Write everything once."""
        with contextlib.suppress(ModuleRefusedError, NoReplyError):
            await self._write_outputs()
        if self.heard or self._dark:
            with contextlib.suppress(ModuleRefusedError, NoReplyError):
                await self._say_closed()
        self.over = self.shows

    async def look(self) -> None:
        """Write what is not proven to be there, and read it back; nothing more follows where it refuses that."""
        steps = (self._say_closed, self._darken)  # of two causes that of the lamps is told
        for step in steps:
            try:
                await step()
            except ModuleRefusedError:
                self.cause = f"it refuses what {self.ref.profile.id} writes: is it such a module?"
                self.over = True
            except NoReplyError as fault:
                self.cause = str(fault)
        self.over = self.over or self.shows

    async def _darken(self) -> None:
        if self._dark:
            return
        for _ in range(2):  # one of the two is a change; a module without a beat may darken all between write and look
            beat = self._unit.heartbeat_write()
            if beat is not None:
                with contextlib.suppress(ModuleRefusedError, NoReplyError):
                    await self._ask(beat)
        await self._write_outputs()
        check = self._unit.check_request()
        if check is None:
            return
        if not self._unit.checked(await self._ask(check), 0.0):
            raise NoReplyError(f"unit {self.ref.unit} took the outputs and shows others")
        self._dark = True

    async def _write_outputs(self) -> None:
        """Only the read-back tells whether they arrived, so a reply that is missing ends nothing."""
        self._unit.forget_outputs()
        for request in self._unit.output_writes(0.0):
            with contextlib.suppress(NoReplyError):
                await self._ask(request)
            self._unit.wrote(request)

    async def _say_closed(self) -> None:
        if self._text is not None:
            await self._ask(self._text)
            self._text = None

    async def _ask(self, request: Request) -> Reply:
        """One exchange. Raises :class:`TimeoutError` where the time of the line is over."""
        if time.monotonic() >= self._until_s:
            raise TimeoutError
        limit_s = REPLY_S + self.ref.profile.turnaround_ms / 1000
        limit_s += self._line.pace.line_s(request.request_bytes + request.reply_bytes)
        try:
            reply = await self._line.ask(request, limit_s)
        except ModuleRefusedError:
            self.heard = True
            raise
        except NoReplyError as fault:
            self.heard = self.heard or fault.garbled
            raise
        self.heard = True
        return reply


async def _close_pads(bus: BusConfig, pads: Sequence[PadRef], keys: Mapping[str, bytes]) -> list[Closing]:
    """CLOSED on the displays of one line, in a session of its own; a pad that was in another takes a moment to it."""
    closings = [Closing(pad.device, "there is no key for it") for pad in pads if pad.device not in keys]
    known = [pad for pad in pads if pad.device in keys]
    if not known:
        return closings
    line = OsdpLine(bus, known, keys, lambda _event: None)
    thread = asyncio.create_task(OsdpThread([line]).run())
    try:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PAD_LIMIT_S):
                while not all(line.is_up(pad.unit) for pad in known):  # noqa: ASYNC110 - another thread's doing
                    await asyncio.sleep(LOOK_S)
        await line.go_safe()
        silent = line.stats.port_cause or "it does not answer, or not to its key"
        causes = ((pad, "it does not take what is written" if line.is_up(pad.unit) else silent) for pad in known)
        return closings + [Closing(pad.device, "" if line.shows_wanted(pad.unit) else cause) for pad, cause in causes]
    finally:
        thread.cancel()
        await asyncio.gather(thread, return_exceptions=True)


async def _close_signs(bus: BusConfig, signs: Sequence[SignConfig]) -> list[Closing]:
    """One line of signs: CLOSED into every figure, and no message on top. Signs never answer: sent is all there is."""
    queue = SignQueue(bus, signs)
    lost = _Loss()
    try:
        link = await open_link(bus, lost, dtr=False)
    except PortLostError as fault:
        return [Closing(sign.id, str(fault)) for sign in signs]
    try:
        async with asyncio.timeout(SIGN_LIMIT_S):
            queue.only_close(time.monotonic())  # nothing may be erased now
            while not queue.idle and lost.error is None:
                step = queue.next(time.monotonic())
                if isinstance(step, Send):
                    link.write(step.data)
                    queue.sent(step, time.monotonic())
                else:
                    await asyncio.sleep(step)
            if link.get_write_buffer_size():
                link.drained = lost.over.set
                await lost.over.wait()
            await asyncio.sleep(queue.wait_s(time.monotonic()))  # closing a port drops what is still on its way
    except TimeoutError:
        lost.error = lost.error or PortLostError(f"{bus.port}: the sign line takes no bytes")
    finally:
        link.close()
    return [Closing(sign.id, str(lost.error or "")) for sign in signs]


class _Loss(asyncio.Protocol):
    """Notices the loss of a port."""

    def __init__(self) -> None:
        self.over = asyncio.Event()
        self.error: PortLostError | None = None

    def connection_lost(self, exc: Exception | None) -> None:
        if isinstance(exc, PortLostError):
            self.error = exc
        self.over.set()
