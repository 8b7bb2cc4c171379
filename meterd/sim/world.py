"""The whole other end in one loop: lines, modules, signs, and the people at the tables.

One asyncio loop with a selector of microsecond resolution, for replies are due to fractions of a millisecond.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import selectors
from collections.abc import Container
from pathlib import Path
from typing import Final

from meterd.sim.journal import Journal
from meterd.sim.lines import Attention, DeviceEnd, Line, Noise
from meterd.sim.modules import SimModule
from meterd.sim.osdp_pad import PAD_TURNAROUND_S, REPLY_START, DealerPad, OsdpPad, OsdpPads
from meterd.sim.people import People
from meterd.sim.pit import Pit
from meterd.sim.plan import LinePlan, Plan, PlanError
from meterd.sim.plan_checks import check_numbers
from meterd.sim.sas import SasGame, SasLine
from meterd.sim.sign import AlphaSign, Heard, SignLine
from meterd.sim.table import Table
from protocols import pad_words
from protocols.modbus_slave import ModbusSlave

WATCHDOG_S: Final = 0.1
#: Dealers do not begin all at once: so far apart, in turns, so that the meters of a link rise all the time.
TABLES_APART: Final = 3
APART_S: Final = 1.7
#: Bytes that come this long after the last ones begin a new request.
SILENCE_S: Final = 0.02


class ModuleLine:
    """All modules of one line, behind its bytes. Of the ``muted`` ones the answers get lost."""

    def __init__(self, modules: list[SimModule], muted: Container[SimModule] = ()) -> None:
        self.modules = {module.unit: module for module in modules}
        self._muted = muted
        self.slave = ModbusSlave({module.unit: module.bank for module in modules})
        self._heard_at = 0.0

    def serve(self, data: bytes, at: float) -> bytes:
        """Request bytes in, reply bytes out."""
        if at - self._heard_at > SILENCE_S:
            self.slave.silence()
        self._heard_at = at
        for module in self.modules.values():
            module.clock(at)
        answers = self.slave.receive(data)
        for answer in answers:
            self.modules[answer.unit].asked(at)
        return b"".join(answer.frame for answer in answers if self.modules[answer.unit] not in self._muted)


class World:
    """Everything a plan names. Must be made inside a running loop; ``close`` gives the ports back."""

    def __init__(self, plan: Plan, journal: Journal, *, seed: int = 0, speed: float = 1.0) -> None:
        self.journal = journal
        self.lines: dict[str, Line] = {}
        self.modules: dict[tuple[str, int], SimModule] = {}
        self.signs: dict[str, AlphaSign] = {}
        self.pads: dict[tuple[str, int], DealerPad] = {}
        self.games: dict[str, SasLine] = {}
        self.muted: set[SimModule] = set()
        self._attention = Attention()
        self._ends: list[DeviceEnd] = []
        self._tasks: list[asyncio.Task[None]] = []
        check_playable(plan)
        try:
            for line in plan.lines:
                self._add_line(line, seed)
        except OSError:  # a name is taken: those given so far are taken back
            for made in self.lines.values():
                made.close()
            self._attention.close()
            raise
        pit = Pit(plan.pit) if plan.pit is not None else None
        self.people = [
            People(
                Table(table, self.modules[table.sensors], self._keypad(table.keypad), journal),
                plan.habits,
                random.Random(f"{seed}/{table.id}"),  # noqa: S311 - a seeded simulation
                speed,
                begin_s=n % TABLES_APART * APART_S,
                pit=pit,
            )
            for n, table in enumerate(plan.tables)
        ]

    def start(self) -> None:
        """Let watchdogs and people run."""
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(self._watch_modules())]
        self._tasks += [loop.create_task(person.play()) for person in self.people]

    async def run(self, seconds: float | None, stop: asyncio.Event) -> None:
        """Play until ``stop`` is set, or for that long. A fault of a person's program ends the run with its error."""
        self.start()
        waits = [asyncio.ensure_future(stop.wait()), *self._tasks]
        done, _ = await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        await self.close()
        waits[0].cancel()
        for task in done:
            task.result()

    async def close(self) -> None:
        """Stop everybody and take the ports away."""
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await task
        for end in self._ends:
            end.close()
        for line in self.lines.values():
            line.close()
        self._attention.close()

    def _keypad(self, device: tuple[str, int]) -> SimModule | DealerPad:
        return self.pads[device] if device in self.pads else self.modules[device]

    def _add_line(self, plan: LinePlan, seed: int) -> None:
        line = Line(
            Path(plan.port),
            plan.baud,
            {module.unit: module.shape.turnaround_ms / 1000 for module in plan.modules},
            Noise.of(plan.noise, f"{seed}/{plan.id}"),
            Path(plan.device_port) if plan.device_port else None,
            self._attention,
        )
        self.lines[plan.id] = line
        if plan.kind == "alpha":
            signs = [AlphaSign(each) for each in plan.signs]
            for sign in signs:
                self.signs[sign.plan.id] = sign
                sign.listeners.append(_SignNotes(sign, self.journal))
            self._ends.append(DeviceEnd(line, SignLine(signs, line.character_s, line.doubt_s).serve))
        elif plan.kind == "sas" and not plan.device_port:
            self.games[plan.id] = SasLine([SasGame(each, self.journal.note) for each in plan.games], self.journal.note)
            self._ends.append(DeviceEnd(line, self.games[plan.id].serve))
        elif plan.kind == "osdp":
            pads = [OsdpPad.of(each) for each in plan.pads]
            line.turnaround_s[REPLY_START] = PAD_TURNAROUND_S
            dealers = [DealerPad(pad, each.keys, each.badge) for pad, each in zip(pads, plan.pads, strict=True)]
            self.pads.update({(plan.id, each.pad.address): each for each in dealers})
            self._ends.append(DeviceEnd(line, OsdpPads(pads).serve))
        else:
            modules = [SimModule(each.unit, each.shape, each.serial) for each in plan.modules]
            self.modules.update({(plan.id, module.unit): module for module in modules})
            if not plan.device_port:
                self._ends.append(DeviceEnd(line, ModuleLine(modules, self.muted).serve))

    async def _watch_modules(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(WATCHDOG_S)
            now = loop.time()
            for module in self.modules.values():
                module.watch(now)
            for line, games in self.games.items():
                self.lines[line].say(games.watch(now))


class _SignNotes:
    """Notes what a sign heard and which figures changed by it."""

    def __init__(self, sign: AlphaSign, journal: Journal) -> None:
        self._sign = sign
        self._journal = journal
        self._figures: dict[str, str] = {}
        self._shown = ""

    def __call__(self, heard: Heard) -> None:
        sign = self._sign.plan.id
        self._journal.counts["sign_frames"] += 1
        if heard.fate not in {"taken", "other"}:
            self._journal.counts["sign_faults"] += 1
        commands = [repr(command) for command in heard.transmission.commands]
        self._journal.note("sign", heard.at, sign=sign, fate=heard.fate, commands=commands)
        figures = self._sign.figures()
        for label, text in figures.items():
            if text != self._figures.get(label):
                self._journal.note("figure", heard.at, sign=sign, string=label, text=text)
        self._figures = figures
        shown = self._sign.shows()
        if shown != self._shown:
            self._shown = shown
            self._journal.note("display", heard.at, sign=sign, text=shown)


def check_playable(plan: Plan) -> None:
    """Raise :class:`PlanError` for a line of an unknown kind, or a table whose pad lacks a key its dealer needs.

    A dealer needs keys for every digit, every hand of the game, and the acts.
    """
    for line in plan.lines:
        if line.kind not in {"modbus", "alpha", "sas", "osdp"}:
            raise PlanError(f"bus {line.id}: no kind {line.kind!r}; modbus, alpha, sas and osdp can be simulated")
    check_numbers(plan)
    keys = {(line.id, module.unit): set(module.shape.keys or ()) for line in plan.lines for module in line.modules}
    keys |= {(line.id, pad.address): set(pad.keys) for line in plan.lines for pad in line.pads}
    for table in plan.tables:
        hands = [f"hand-{n}" for n in range(1, len(table.hands) + 1)]
        needed = [*pad_words.DIGITS, *hands, pad_words.KEY_ENTER, pad_words.KEY_CLEAR, pad_words.KEY_END_GAME]
        missing = [key for key in needed if key not in keys[table.keypad]]
        if missing:
            raise PlanError(f"table {table.id}: its keypad has no key {', '.join(missing)}")


def loop_factory() -> asyncio.SelectorEventLoop:
    """A loop whose timers are not rounded up to milliseconds, as epoll's are."""
    return asyncio.SelectorEventLoop(selectors.SelectSelector())
