"""What is said to one module, exchange by exchange: who are you, what do you sense, show this, what do you show.

Rule 1: a module is trusted only when it said what it is, showed what was written to its outputs and gave a baseline of
levels and counters. Each step is a turn of its own, so that the neighbours do not wait for all of them.
Rule 2: a reply that is still under way from an earlier request is never taken for the next one's.
Rule 3: on a line that garbles what is new counts once it was said twice (:mod:`meterd.edge.modbus_doubt`).
Rule 4: a module that answers and does not do what it is told is lost like one that does not answer.

Units: ``*_s`` seconds of the monotonic clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from meterd.config import ModuleRef, PollConfig
from meterd.edge.modbus_doubt import Doubt
from meterd.edge.modbus_identity import Identities, StrangerError
from meterd.edge.modbus_line import READ_HOLDING, BusStats, Line, ModuleRefusedError, NoReplyError, Reply, Request
from meterd.edge.modbus_unit import NOISY_S, Snapshot, Unit, ceil_ms

PENDING_MS: Final = 250  # levels wait so long for counters that come in pieces; then they are read again
SUSPECT_S: Final = 0.030  # a module that failed once gets its turnaround and this, not the whole timeout
CHECK_S: Final = 1.0  # outputs are read back this often
HEARTBEAT_S: Final = 1.0
AVOID_S: Final = 1.0  # later than this after a timeout no reply comes any more
MISMATCHES_MAX: Final = 3  # read-backs in a row that are not what was written; a module that restarted shows one
REFUSALS_MAX: Final = 3
SILENCES_MAX: Final = 5  # unanswered writes in a row while polls are answered
GARBLED_MAX: Final = 12  # the same where replies are garbled; these are tried at every poll


class OutputsError(Exception):
    """A module does not take or show what is written to its outputs; the message says which."""


class Talk:
    """The exchanges with the modules of one line, one at a time."""

    def __init__(
        self, line: Line, poll: PollConfig, stats: BusStats, identities: Identities, clock: Callable[[], float]
    ) -> None:
        """Everything here happens on ``line``; ``identities``: which device belongs where, for the words."""
        self._line = line
        self._poll = poll
        self._stats = stats
        self._identities = identities
        self._clock = clock
        self._routine_s = 0.0
        self._garbled_s = float("-inf")  # when something was last garbled, whoever said it
        self.spacing_s = 0.0  # between two routine reads of counters, so that the modules' do not fall into one cycle

    # ---- before it is trusted

    async def introduce(self, unit: Unit) -> bool:
        """The next question on the way to trust; True when none is left but the baseline.

        Raises :class:`~meterd.edge.modbus_identity.StrangerError` and :class:`OutputsError`.
        """
        request = unit.identity_request()
        if request is not None and not unit.identified:
            unit.identified = await self._is_wanted(unit, request, self._identities.check_kind)
            return False
        request = unit.serial_request()
        if request is not None and not unit.recognised:
            unit.recognised = await self._is_wanted(unit, request, self._identities.check_serial)
            return False
        return await self._shows(unit)

    async def _is_wanted(
        self, unit: Unit, request: Request, check: Callable[[ModuleRef, tuple[int, ...]], None]
    ) -> bool:
        """Ask and check. False: a stranger, but that was said only once on a line that garbles."""
        words = (await self.ask(unit, request)).values
        try:
            check(unit.plan, words)
        except StrangerError:
            if self._believes(unit, unit.names_doubt, dict(enumerate(words, request.address))):
                raise
            return False
        return True

    async def _shows(self, unit: Unit) -> bool:
        """Bring the outputs to what is wanted; True once they were read back to be so."""
        writes = unit.output_writes(self._clock())
        if writes and not unit.shown:
            for request in writes:
                await self._put(unit, request)
            return False
        check = unit.check_request()
        if check is None or unit.shown:
            return True
        await self._hold(unit, check)
        unit.shown = not unit.mismatches
        return False

    # ---- levels and counters

    async def read_all(self, unit: Unit) -> tuple[Snapshot, tuple[int, ...]] | None:
        """Levels, then counters, whatever they are. None: some are still to come, or to be said again."""
        if not unit.polls_levels:
            counters = await self._counters(unit)
            return None if counters is None else (unit.took_no_levels(counters), unit.counts(counters))
        snapshot = await self._levels(unit)
        if snapshot is None:
            return None
        if unit.counters_request() is None:
            return snapshot, unit.counts(None)
        return await self._counts_after(unit, snapshot)

    async def read_changed(self, unit: Unit) -> tuple[Snapshot | None, tuple[int, ...] | None]:
        """Levels, and the counters where they are due or levels changed; None: nothing new, or not all of it yet."""
        unit.long_turn = False
        if not unit.polls_levels or unit.handed is None:
            return await self.read_all(unit) or (None, None)
        snapshot = await self._levels(unit)
        now_s = self._clock()
        if snapshot is not None and unit.counters_request() is None:
            return snapshot, unit.counts(None)
        if snapshot is None or unit.handed is None:
            return snapshot, None
        if unit.pending is None and snapshot.levels == unit.handed.levels:
            waits_s = 0.0 if unit.failures else self.spacing_s  # a read that failed is tried again
            if now_s < max(unit.counters_due_s, self._routine_s + waits_s):
                return snapshot, None
            self._routine_s = now_s
        unit.counters_due_s = now_s  # stays due if this read fails
        unit.long_turn = True
        taken = await self._counts_after(unit, snapshot)
        if taken is not None:
            unit.counters_due_s = now_s + self._poll.counters_ms / 1000
        return taken or (snapshot, None)

    async def _levels(self, unit: Unit) -> Snapshot | None:
        """The levels; those that wait for the rest of their counters are good for a moment. None: not said twice."""
        pending = unit.pending
        if pending is not None and self._clock() * 1000 - pending.ended_ms < PENDING_MS:
            return pending
        unit.pending = None
        unit.pieces.drop()
        reply = await self.ask(unit, unit.levels_request())
        return unit.took_levels(reply) if self._believes(unit, unit.levels_doubt, unit.level_places(reply)) else None

    async def _counts_after(self, unit: Unit, snapshot: Snapshot) -> tuple[Snapshot, tuple[int, ...]] | None:
        """Counts that were read after these levels, and both of them bounded; None while some are still to come."""
        unit.pending = snapshot if unit.pieces.parts > 1 or unit.noisy(self._clock()) else None
        counters = await self._counters(unit)
        if counters is None:
            unit.pending = snapshot  # a reply that went well may have been the first of a whole one's pieces
            return None
        return snapshot._replace(ended_ms=ceil_ms(counters.ended_s)), unit.counts(counters)

    async def _counters(self, unit: Unit) -> Reply | None:
        """One exchange for counters: all of them, or the next piece; None while some are still to come."""
        request = unit.counters_request()
        if request is None:
            return None
        if unit.pending_since_s is None:
            unit.pending_since_s = self._clock()
        try:
            reply = await self.ask(unit, request)
        except NoReplyError as fault:
            if fault.garbled:
                unit.pieces.garbled()
            raise
        believed = self._believes(unit, unit.counters_doubt, unit.counter_places(request, reply))
        return unit.took_counters(request, reply) if believed else None

    def _noisy(self) -> bool:
        """Whether anything was garbled on this line of late."""
        return self._clock() - self._garbled_s <= NOISY_S

    def _believes(self, unit: Unit, doubt: Doubt, fresh: Mapping[int, int]) -> bool:
        """Whether a reply counts; what a reply before it said alone is thrown away here, and counted."""
        believed = doubt.believes(fresh, noisy=self._noisy())
        if doubt.unconfirmed:
            self._stats.frames["unconfirmed"] += doubt.unconfirmed
            doubt.unconfirmed = 0
            unit.counters_due_s = 0.0  # was it short, its counter shows it
        return believed

    # ---- outputs

    async def write(self, unit: Unit) -> None:
        """Bring the coils, else the text, to what is wanted; coils are read back in the module's next turn."""
        writes = unit.output_writes(self._clock())
        for request in writes:
            await self._put(unit, request)
        if writes and not unit.flashes:
            unit.check_due_s = self._clock()  # read back in the next turn, so that the neighbours do not wait for both
        text = None if writes else unit.text_write()
        if text is not None:
            await self._put(unit, text)
        unit.settle(self._clock())

    async def look_after(self, unit: Unit) -> None:
        """Once a second each, in turns of their own so that none gets long: toggle the heartbeat, read outputs back."""
        now_s = self._clock()
        if now_s >= unit.heartbeat_due_s:
            unit.heartbeat_due_s = now_s + HEARTBEAT_S
            beat = unit.heartbeat_write()
            if beat is not None:
                await self._told(unit, beat)
                return
        if now_s >= unit.check_due_s:
            unit.check_due_s = self._clock() + CHECK_S
            unit.rewrite_text()
            request = unit.check_request()
            if request is not None:
                await self._hold(unit, request)

    async def _hold(self, unit: Unit, request: Request) -> None:
        """Read outputs or text back; what differs is written again, outputs a few times."""
        try:
            reply = await self.ask(unit, request)
        except ModuleRefusedError:
            if request.function != READ_HOLDING:
                raise
            unit.text_refused(noisy=self._noisy())
            return
        if unit.checked(reply, self._clock()):
            return
        self._stats.rewrites += 1
        if unit.mismatches >= MISMATCHES_MAX:
            raise OutputsError(f"{unit.device}: {unit.differs}")

    async def _put(self, unit: Unit, request: Request) -> None:
        """One write of outputs or text."""
        await self._told(unit, request)
        unit.wrote(request)
        self._stats.writes += 1

    async def _told(self, unit: Unit, request: Request) -> None:
        """One write; a module that does not take a few in a row does not do what it is told."""
        try:
            await self.ask(unit, request)
        except (ModuleRefusedError, NoReplyError) as fault:
            unit.write_failures += 1
            most = REFUSALS_MAX
            if isinstance(fault, NoReplyError):
                most = GARBLED_MAX if fault.garbled or unit.noisy(self._clock()) else SILENCES_MAX
            if unit.write_failures >= most:
                raise OutputsError(f"{unit.device}: {fault}") from fault
            raise
        unit.write_failures = 0

    # ---- one exchange

    async def ask(self, unit: Unit, request: Request) -> Reply:
        """One exchange, after making sure that a reply still under way from an earlier one cannot be taken for it."""
        now_s = self._clock()
        unit.avoid = {shape: until_s for shape, until_s in unit.avoid.items() if now_s < until_s}
        if request.shape in unit.avoid:
            flush = unit.flush_request(request.shape)
            if flush is not None:
                await self._exchange(unit, flush)
        return await self._exchange(unit, request)

    async def _exchange(self, unit: Unit, request: Request) -> Reply:
        line_s = self._line.pace.line_s(request.request_bytes + request.reply_bytes)
        turnaround_s = unit.profile.turnaround_ms / 1000
        deadline_s = line_s + turnaround_s + SUSPECT_S
        if not (unit.failures or unit.probe_s or unit.noisy(self._clock())):
            deadline_s = max(deadline_s, self._poll.timeout_ms / 1000)
        try:
            reply = await self._line.ask(request, deadline_s, turnaround_s=turnaround_s)
        except NoReplyError as fault:
            self._garbled_s = self._clock() if fault.garbled else self._garbled_s
            if unit.avoid or not fault.over:
                unit.avoid[request.shape] = self._clock() + AVOID_S
            raise
        again_s = unit.avoid.get(request.shape)  # this may be the reply to an earlier one, and its own be still to come
        unit.avoid = {} if again_s is None else {request.shape: again_s}
        unit.silences = 0  # somebody is there
        unit.heard_s = reply.ended_s
        return reply
