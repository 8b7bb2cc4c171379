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
GARBLED_TRIES: Final = 12  # where something of a reply comes somebody is there
REPLY_S: Final = 0.1
PAD_LIMIT_S: Final = 4.0
LOOK_S: Final = 0.02
SIGN_LIMIT_S: Final = 8.0  # four transmissions a second; a line of many signs still ends


@dataclass(frozen=True, slots=True)
class Closing:
    """What happened to one module or sign: ``cause`` is empty when it shows the safe state."""

    name: str
    cause: str = ""


class _SilentError(Exception):
    """A module that said nothing to any of the tries."""


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
    """One line of modules, one after another."""
    line = Line(bus, BusStats())
    try:
        await line.open()
    except PortLostError as lost:
        return [Closing(module.device, str(lost)) for module in modules]
    closings = []
    try:
        for module in modules:
            try:
                await _close_module(line, module)
                closings.append(Closing(module.device))
            except _SilentError:
                closings.append(Closing(module.device, "it does not answer: look at its power, cable and unit number"))
            except ModuleRefusedError:
                closings.append(
                    Closing(module.device, f"it refuses what {module.profile.id} writes: is it such a module?")
                )
            except (PortLostError, NoReplyError) as fault:
                closings.append(Closing(module.device, str(fault)))
    finally:
        line.close()
    return closings


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
        return closings + [Closing(pad.device, "" if line.is_up(pad.unit) else silent) for pad in known]
    finally:
        thread.cancel()
        await asyncio.gather(thread, return_exceptions=True)


async def _close_module(line: Line, module: ModuleRef) -> None:
    """Write the safe outputs, read them back, and say CLOSED on the display, whatever became of the lamps."""
    unit = Unit(module)
    unit.want(UnitWanted(0, safe_outputs(module.profile), (), (CLOSED,)))
    text = unit.text_write()
    try:
        await _close_lamps(line, unit)
    except (ModuleRefusedError, NoReplyError):
        with contextlib.suppress(ModuleRefusedError, NoReplyError, _SilentError):
            if text is not None:
                await _ask(line, module, text)
        raise
    if text is not None:
        await _ask(line, module, text)


async def _close_lamps(line: Line, unit: Unit) -> None:
    module = unit.plan
    for _ in range(2):  # one of the two is a change; a module without a beat may darken all between write and look
        beat = unit.heartbeat_write()
        if beat is not None:
            await _ask(line, module, beat)
    for request in unit.output_writes(0.0):
        await _ask(line, module, request)
        unit.wrote(request)
    check = unit.check_request()
    if check is not None and not unit.checked(await _ask(line, module, check), 0.0):
        raise NoReplyError(f"unit {module.unit} took the outputs and shows others")


async def _ask(line: Line, module: ModuleRef, request: Request) -> Reply:
    """One exchange, tried a few times."""
    limit_s = REPLY_S + module.profile.turnaround_ms / 1000
    limit_s += line.pace.line_s(request.request_bytes + request.reply_bytes)
    silences = tries = 0
    while True:
        try:
            return await line.ask(request, limit_s)
        except NoReplyError as fault:
            tries += 1
            silences += not fault.garbled
            if silences == tries == TRIES:
                raise _SilentError from fault
            if tries == GARBLED_TRIES:
                raise


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
