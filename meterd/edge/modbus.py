"""One Modbus bus: one task that owns the port, asks every module in turn and keeps their outputs at what is wanted.

Rule 1: each module has a fixed cadence of its own, staggered over the period. A poll that begins a whole period after
it was due is counted as late and its cadence goes on as planned; nothing is caught up in a burst.
Rule 2: levels first; counters once a second, and right after levels that changed, before the reading is handed over,
so that a wager and its identity arrive together. Only changes are handed over.
Rule 3: a module is trusted from a baseline on (identity, outputs, levels, counters: :class:`DeviceUp`). Counters that
fell, replies that stay away, outputs that do not obey, a lost port and a pause of our own end it (:class:`DeviceDown`).
Rule 4: a wanted output goes before the next poll; but no module is written twice, and no more than four are written,
while a poll is due. Outputs are read back in the module's next turn.
Rule 5: a dead module is asked seldom and briefly, so its neighbours keep their cadence.

A pad (profile kind "keypad") is polled by its counters; its levels are not read and stand as False in every reading.
Units: ``*_ms`` milliseconds and ``*_s`` seconds of the monotonic clock. All methods belong to the wire loop's thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
import zlib
from collections.abc import Awaitable, Callable, Sequence
from operator import attrgetter
from typing import Final

from meterd.config import BusConfig, PollConfig, UnitWanted
from meterd.edge.modbus_elsewhere import Elsewhere
from meterd.edge.modbus_identity import Identities, StrangerError
from meterd.edge.modbus_line import BusStats, Line, ModuleRefusedError, NoReplyError, Trace
from meterd.edge.modbus_outputs import FLASH_HALF_S
from meterd.edge.modbus_talk import CHECK_S, OutputsError, Talk
from meterd.edge.modbus_unit import UNHEARD_MS, Snapshot, UnheardError, Unit, UnitPlan, counters_continue
from meterd.edge.serialport import Backoff, PortLostError, program_fault, wait_for_port
from protocols.events import DeviceDown, DeviceUp, InputStuck, Reading

SILENCES_MAX: Final = 3  # polls in a row without any reply; one or two are noise
FAILURES_MAX: Final = 8  # without a good one, where replies are garbled: a bad cable, and still less than UNHEARD_MS
NOISE_MAX: Final = 2  # writes in a row without any reply, and still asked for soon
PROBE_FIRST_S: Final = 2.0
PROBE_MAX_S: Final = 5.0  # a module that was switched on again is back within this
WRITES_IN_A_ROW_MAX: Final = 4  # at 38400 baud they take 70 ms, so no poll becomes late by them
SAFE_LIMIT_S: Final = 1.0  # on the way out nobody waits longer for lamps
Sink = Callable[[DeviceUp | Reading | DeviceDown | InputStuck], None]


class ModbusBus:
    """Drives all modules of one bus. ``sink`` is called in the wire loop and must neither wait nor raise."""

    def __init__(
        self,
        bus: BusConfig,
        units: Sequence[UnitPlan],
        poll: PollConfig,
        sink: Sink,
        stats: BusStats | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        identities: Identities | None = None,
        trace: Trace | None = None,
    ) -> None:
        """Prepare; :meth:`run` does everything.

        ``identities``: which device belongs where in the whole site; ``trace`` is told every byte.
        """
        self._bus = bus
        unheard_ms = max(UNHEARD_MS, SILENCES_MAX * poll.levels_ms + poll.timeout_ms)
        self._units = {plan.unit: Unit(plan, unheard_ms, poll.stuck_s) for plan in units}
        self._poll = poll
        self._period_s = poll.levels_ms / 1000
        self._sink = sink
        self.stats = self._stats = stats or BusStats()
        self._clock = clock
        self._line = Line(bus, self.stats, clock=clock, trace=trace)
        self._line.on_lost = self._stir
        known = identities or Identities.of(units)
        self._talk = Talk(self._line, poll, self.stats, known, clock)
        self._elsewhere = Elsewhere(self._line, bus.id, known.not_of(bus.id), poll.timeout_ms / 1000)
        self._talk.spacing_s = min(self._period_s, poll.counters_ms / 1000 / (len(units) + 1))
        self._backoff = Backoff()
        self._stirred = asyncio.Event()
        self._settled = asyncio.Event()
        self._stopping = False
        self._writes_in_a_row = 0

    # ---- what others call

    async def run(self) -> None:
        """Keep the bus going until cancelled: open, serve, and after a loss wait 0.5 to 5 s and open again."""
        try:
            while self._units:
                try:
                    await self._line.open()
                    self._came_up()
                    await self._serve()
                except PortLostError as lost:
                    self._port_down(lost)
                except Exception as fault:  # noqa: BLE001 - the tables of this line close, the rest of the floor plays on
                    self._port_down(program_fault(self._bus, fault))
                await wait_for_port(self._bus.port, self._backoff.next_s())
        finally:
            self._line.close()
            self._stats.port_up = False

    def want(self, unit: int, wanted: UnitWanted) -> None:
        """What a module should show from now on. An older ``seq`` than the last is ignored; so is all after go_safe."""
        if not self._stopping and self._units[unit].want(wanted):
            self._stir()

    def rebaseline(self) -> None:
        """Events of this bus were lost on their way: every module begins again with identity and baseline.

        No :class:`DeviceDown` is told; whoever lost the events knows.
        """
        now_s = self._clock()
        for unit in self._units.values():
            if unit.up:
                self._stats.units_up -= 1
                unit.forget()
                unit.due_s = now_s
        self._stir()

    async def go_safe(self) -> None:
        """Seat lamps dark, "betting closed" lit, on every module that answers. For good; waits at most a second."""
        self._stopping = True
        for unit in self._units.values():
            unit.want_safe()
            unit.write_after_s = 0.0
        self._stir()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SAFE_LIMIT_S):
                while self._stats.port_up and any(unit.up and unit.outputs_stale(0.0) for unit in self._units.values()):
                    self._settled.clear()
                    await self._settled.wait()

    def is_up(self, unit: int) -> bool:
        """Whether a module is trusted at this moment."""
        return self._units[unit].up

    def shown_seq(self, unit: int) -> int:
        """The entry whose outputs the module was last read back to show; -1 while it is unknown."""
        return self._units[unit].confirmed_seq

    # ---- the port

    def _came_up(self) -> None:
        """The port is open: ask everybody, each at its place in the period."""
        self._stats.port_up = True
        self._stats.port_cause = ""
        start_s = self._clock() + zlib.crc32(self._bus.id.encode()) % 1000 / 1000 * self._period_s / len(self._units)
        for place, unit in enumerate(self._units.values()):
            unit.due_s = start_s + place * self._period_s / len(self._units)
            unit.answered()
            unit.probe_s = 0.0
            unit.cause = None if unit.cause == "port_lost" else unit.cause  # what stands in the way now is told

    def _port_down(self, lost: PortLostError) -> None:
        """Close at once and say so for every module."""
        self._line.close()
        if self._stats.port_up:
            self._stats.port_losses += 1
        self._stats.port_up = False
        self._stats.port_cause = str(lost)
        for unit in self._units.values():
            self._unit_down(unit, "port_lost", str(lost))
        self._settled.set()

    def _stir(self) -> None:
        """Something changed: do not sleep until the next poll."""
        self._stirred.set()

    async def _serve(self) -> None:
        """Write what is wanted, poll what is due, sleep until there is something to do."""
        while True:
            now_s = self._clock()
            unit = self._next_unit(now_s)
            writer = self._next_writer(now_s, poll_due=unit.due_s <= now_s)
            if writer is not None:
                self._writes_in_a_row += 1
                writer.written_this_turn = True
                await self._attempt_write(writer, self._talk.write(writer))
                self._settled.set()
            elif unit.due_s <= now_s:
                self._writes_in_a_row = 0
                unit.written_this_turn = False
                await self._visit(unit, now_s)
                self._settled.set()
            else:
                await self._sleep_until(unit.due_s)

    def _next_unit(self, now_s: float) -> Unit:
        """Whose turn is next: a trusted module that is due before one that has to be brought up."""
        trusted = min((unit for unit in self._units.values() if unit.up), key=attrgetter("due_s"), default=None)
        if trusted is not None and trusted.due_s <= now_s:
            return trusted
        return min(self._units.values(), key=attrgetter("due_s"))

    def _next_writer(self, now_s: float, *, poll_due: bool) -> Unit | None:
        """A module whose outputs must change, unless a poll that is due has waited long enough."""
        stale = [unit for unit in self._units.values() if unit.stale(now_s)]
        if not poll_due:
            return stale[0] if stale else None
        if self._writes_in_a_row >= WRITES_IN_A_ROW_MAX:
            return None
        return next((unit for unit in stale if not unit.written_this_turn), None)

    async def _sleep_until(self, due_s: float) -> None:
        """Sleep until then, until a lamp must toggle, or until stirred."""
        if self._line.lost is not None:
            raise self._line.lost
        now_s = self._clock()
        if any(unit.up and unit.flashes for unit in self._units.values()):
            due_s = min(due_s, (int(now_s / FLASH_HALF_S) + 1) * FLASH_HALF_S)
        self._stirred.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, due_s - now_s)):
                await self._stirred.wait()

    # ---- one module

    async def _visit(self, unit: Unit, now_s: float) -> None:
        """One turn of one module: bring it up or poll it, then what its outputs need once a second."""
        self._book_turn(unit, now_s)
        unit.again = False
        await self._attempt(unit, self._poll_unit(unit) if unit.up else self._bring_up(unit))
        if unit.again:  # whoever is due already goes first
            unit.resume_s, unit.due_s = unit.due_s, self._clock()
        elif unit.up and not unit.failures and not unit.long_turn:
            await self._attempt_write(unit, self._talk.look_after(unit))

    def _book_turn(self, unit: Unit, now_s: float) -> None:
        """Count the poll, say whether it is late, and set the next one on the cadence."""
        if unit.resume_s:  # a turn between two polls
            unit.due_s, unit.resume_s = unit.resume_s, 0.0
            if now_s < unit.due_s:
                return
        if unit.probe_s and now_s - unit.heard_s > PROBE_FIRST_S / 2:
            unit.due_s = now_s + unit.probe_s
            return
        self._stats.polls += 1
        behind_s = now_s - unit.due_s
        if behind_s > self._period_s and unit.up:
            self._stats.late_polls += 1
        unit.due_s += self._period_s * (1 + int(behind_s / self._period_s))

    async def _attempt(self, unit: Unit, work: Awaitable[None]) -> None:
        """Do ``work``; count a module's failures and give it up after a few in a row."""
        try:
            await work
        except UnheardError:
            self._unit_down(unit, "unheard", self._late(unit))  # the next turn takes a new baseline
        except (StrangerError, OutputsError) as fault:
            self._unit_down(unit, getattr(fault, "cause", "outputs"), str(fault), again=True)
            self._probe_later(unit)
        except (NoReplyError, ModuleRefusedError) as fault:
            now_s = self._clock()
            unit.failing_since_s = unit.failing_since_s if unit.failures else now_s
            unit.failures += 1
            garbled = getattr(fault, "garbled", False)
            unit.garbled_s = now_s if garbled else unit.garbled_s
            unit.again = unit.noisy(now_s)  # somebody is there, and is asked again at once
            unit.silences += not garbled
            if self._fails_on(unit, now_s):
                if isinstance(fault, NoReplyError):
                    late = self._late(unit)
                    self._unit_down(unit, "timeout", late, again=bool(late))  # before anybody looks: its table closes
                    silent = self._nobody_answers(unit) and not unit.noisy(now_s)
                    if silent and (found := await self._elsewhere.look()):
                        self._unit_down(unit, "timeout", found, again=True)
                else:
                    self._unit_down(unit, "refused", str(fault), again=True)
                self._probe_later(unit)
            elif unit.overdue(now_s):
                self._unit_down(unit, "unheard", self._late(unit))

    def _late(self, unit: Unit) -> str:
        """What is known of replies that came too late, in words."""
        return self._line.late.words(unit.plan.unit)

    def _nobody_answers(self, last: Unit) -> bool:
        """Whether all others of the line are silent too when the ``last`` one falls silent."""
        return all(unit is last or (unit.cause == "timeout" and not unit.up) for unit in self._units.values())

    def _fails_on(self, unit: Unit, now_s: float) -> bool:
        """Whether enough polls failed, and for as long as they would have taken had none been asked again at once."""
        if unit.silences >= SILENCES_MAX and not unit.noisy(now_s):
            return True
        return unit.failures >= FAILURES_MAX and now_s - unit.failing_since_s >= (FAILURES_MAX - 1) * self._period_s

    async def _attempt_write(self, unit: Unit, work: Awaitable[None]) -> None:
        """Do ``work`` on the outputs; a module that does not take it is polled on and written to again in a second."""
        failures, mismatches = unit.failures, max(1, unit.mismatches)
        await self._attempt(unit, work)
        if unit.failures > failures or unit.mismatches > mismatches:
            noise = unit.noisy(self._clock()) or 0 < unit.write_failures <= NOISE_MAX
            wait_s = self._period_s if noise and unit.failures else CHECK_S
            unit.write_after_s = unit.heartbeat_due_s = unit.check_due_s = self._clock() + wait_s

    def _probe_later(self, unit: Unit) -> None:
        """Ask again in 2 s, then less often, up to every 5 s."""
        unit.probe_s = min(PROBE_MAX_S, unit.probe_s * 1.5) if unit.probe_s else PROBE_FIRST_S
        unit.due_s = self._clock() + unit.probe_s

    def _unit_down(self, unit: Unit, cause: str, detail: str = "", *, again: bool = False) -> None:
        """End the trust in a module. Told once, and with ``again`` once for each new thing that stands in its way."""
        tell = unit.up or unit.cause is None or (again and (cause, detail) not in unit.told)
        if unit.up:
            self._stats.units_up -= 1
        unit.forget()
        unit.cause = cause
        if tell:
            unit.told.add((cause, detail))
            self._sink(DeviceDown(unit.device, cause, detail))

    async def _bring_up(self, unit: Unit) -> None:
        """Who it is, then what its outputs show, then a baseline: from here on the module is trusted."""
        if not await self._talk.introduce(unit):
            unit.answered()
            unit.due_s = self._clock()
            return
        baseline = await self._talk.read_all(unit)
        if baseline is None:
            unit.answered()
            unit.again = True
        else:
            self._trust(unit, *baseline)

    def _trust(self, unit: Unit, snapshot: Snapshot, counts: tuple[int, ...]) -> None:
        """Hand over the baseline; all outputs are written again."""
        reading = unit.reading(snapshot, counts)
        now_s = self._clock()
        unit.up = True
        unit.cause = None
        unit.told.clear()
        self._line.late.forget(unit.plan.unit)
        unit.answered()
        unit.snapshot, unit.handed, unit.counts_at_ms = snapshot, reading, snapshot.ended_ms
        unit.counters_due_s = now_s + self._poll.counters_ms / 1000
        unit.heartbeat_due_s = now_s
        unit.check_due_s = now_s + CHECK_S / 2
        unit.probe_s = unit.resume_s = 0.0
        unit.due_s = now_s + self._period_s
        self._stats.units_up += 1
        self._backoff.reset()
        self._sink(DeviceUp(unit.device, reading, unit.modulus))

    async def _poll_unit(self, unit: Unit) -> None:
        """One poll of a trusted module; a reading goes out if anything changed."""
        snapshot, counts = await self._talk.read_changed(unit)
        if unit.handed is None:  # :meth:`rebaseline` was called meanwhile
            unit.forget()
            return
        unit.answered()
        self._tell_stuck(unit)
        if snapshot is not None and counts is not None:
            self._hand_over(unit, snapshot, counts)
        elif snapshot is not None and unit.pending is None:
            unit.snapshot = snapshot
        elif unit.overdue(self._clock()):
            raise UnheardError
        else:
            unit.again = True

    def _tell_stuck(self, unit: Unit) -> None:
        """Alarms for inputs that got stuck; silence about those that went off."""
        known = {int(name.rpartition("/di")[2]) for name in self._stats.stuck if name.startswith(f"{unit.device}/")}
        if known == unit.stuck:
            return
        for index in known - unit.stuck:
            del self._stats.stuck[f"{unit.device}/di{index}"]
        for index in sorted(unit.stuck - known):
            self._stats.stuck[f"{unit.device}/di{index}"] = self._poll.stuck_s
            self._sink(InputStuck(unit.device, index, self._poll.stuck_s))

    def _hand_over(self, unit: Unit, snapshot: Snapshot, counts: tuple[int, ...]) -> None:
        """Tell the floor of a change, or of a module that restarted."""
        handed = unit.handed
        if handed is None:
            return
        elapsed_ms = snapshot.ended_ms - unit.counts_at_ms
        if not counters_continue(handed.counts, counts, unit.modulus, elapsed_ms):
            self._unit_down(unit, "restarted")  # the next turn checks its identity and takes a new baseline
            return
        reading = unit.reading(snapshot, counts)
        unit.snapshot, unit.counts_at_ms = snapshot, snapshot.ended_ms
        if reading.levels != handed.levels or reading.counts != handed.counts:
            unit.handed = reading
            self._sink(reading)
