"""One module on a Modbus line as its driver sees it: what to ask, and what the answers mean.

Rule 1: nothing here waits or touches a port; the bus asks and hands the answers in.
Rule 2: levels are active = True here, counters are raw; polarity and word order are settled in this file.
Rule 3: an input that is on for longer than a chip lies is stuck: it stands as off, so it counts for nothing, until it
was off. Its counter goes on; the floor takes no wager from a counter without a level.

Units: ``*_ms`` milliseconds and ``*_s`` seconds of the monotonic clock.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from meterd.config import CounterBlock, ModuleRef, Profile
from meterd.config.devices import EITHER_MODULUS
from meterd.edge.modbus_doubt import Doubt
from meterd.edge.modbus_line import READ_COILS, Reply, Request
from meterd.edge.modbus_outputs import Outputs
from meterd.edge.modbus_pieces import Piece, Pieces
from protocols.events import Reading

#: What the bus drives: a unit and its profile.
UnitPlan = ModuleRef

#: A module without counters: the driver counts rising edges of the levels it saw, in a counter of this size.
EDGE_MODULUS: Final = 1 << 32
#: Edges a contact can make between two counter reads and still be believed: 100 a second and a start of 64.
EDGES_A_SECOND: Final = 100
EDGES_AT_ONCE: Final = 64


#: A chip that is part of a round lies there for minutes; after an hour it is a sensor that does not let go.
STUCK_S: Final = 3600
LET_GO_MS: Final = 1000  # a stuck sensor that was off for less does not work again
#: A module to which nobody spoke for so long has darkened its lamps by itself.
UNHEARD_MS: Final = 1000


#: So long after a garbled reply a silence may be one more request that a bad cable ate.
NOISY_S: Final = 5.0


class UnheardError(Exception):
    """Nobody listened to a module for so long that what moved since has no order.

    A process was stopped, a machine slept. A chip put down after LOCK would stand in the same reply as LOCK.
    """


class Snapshot(NamedTuple):
    """Levels of one moment, bounded by two times. What it does not show yet happened after ``shows_ms``."""

    levels: tuple[bool, ...]
    began_ms: int
    ended_ms: int
    shows_ms: int


def counters_continue(before: Sequence[int], after: Sequence[int], modulus: int, elapsed_ms: int) -> bool:
    """Whether ``after`` can have grown from ``before`` in that time.

    A counter that fell is a restarted module, not 65 000 bets; one that wrapped went on a little beyond the end.
    """
    most = EDGES_AT_ONCE + EDGES_A_SECOND * elapsed_ms // 1000
    return all((new - old) % modulus <= most for old, new in zip(before, after, strict=True))


def counters_of(profile: Profile, registers: Sequence[int]) -> tuple[int, ...]:
    """The raw counters in a block of registers."""
    block = profile.counters
    if block is None or block.words_each == 1:
        return tuple(registers)
    pairs = list(zip(registers[::2], registers[1::2], strict=True))
    if block.high_word_first == "either":  # 65,536 leaves 1 modulo 65,535: the order of the words does not matter
        return tuple((a + b) % EITHER_MODULUS for a, b in pairs)
    return tuple((a << 16 | b) if block.high_word_first else (b << 16 | a) for a, b in pairs)


class Unit(Outputs):
    """The state of one module's driver."""

    def __init__(self, plan: UnitPlan, unheard_ms: int = UNHEARD_MS, stuck_s: int = STUCK_S) -> None:
        """Begin unknown: neither up nor reported down.

        Args:
            plan: which module.
            unheard_ms: the longest pause between two polls.
            stuck_s: an input that is on for longer is stuck.
        """
        super().__init__(plan)
        self._unheard_ms = unheard_ms
        self._stuck_ms = 1000 * stuck_s
        self.device = plan.device
        self.up = False
        self.cause: str | None = None
        self.told: set[tuple[str, str]] = set()  # causes and details of losses told since it was last trusted
        self.failures = self.silences = 0  # polls in a row without a good reply, and how many of them without any
        self.failing_since_s = self.heard_s = 0.0  # since the first of them; when it last answered anything
        self.garbled_s = float("-inf")  # when something of a reply last came, and not all of it as it was sent
        self.write_failures = 0  # writes in a row that were not answered, or refused
        self.probe_s = 0.0
        self.due_s = 0.0
        self.counters_due_s = 0.0
        self.check_due_s = 0.0
        self.heartbeat_due_s = 0.0
        self.write_after_s = 0.0
        self.identified = False
        self.recognised = False
        self.shown = False  # its outputs were read back to be what was written, since it was last lost
        self.stuck: frozenset[int] = frozenset()
        self.written_this_turn = False
        self.long_turn = False  # this turn read counters besides levels
        self.avoid: dict[tuple[int, int], float] = {}  # shapes of replies that may be under way, and until when
        self.snapshot: Snapshot | None = None
        self.handed: Reading | None = None
        self.counts_at_ms = 0
        self._edges: list[int] = [0] * self.profile.inputs.count
        wired = (*self.profile.seats, *self.profile.keys.values(), *[i for i in (self.profile.lock,) if i is not None])
        self._needed = max(wired, default=-1) + 1  # inputs up to the last one that something is wired to
        self._raw_levels = (False,) * self.profile.inputs.count
        self._on_since_ms = [0] * self.profile.inputs.count
        self._last_on_ms = [0] * self.profile.inputs.count
        self._short = False
        counters = self.profile.counters
        self.pieces = Pieces(self._needed or self.profile.inputs.count, counters.words_each if counters else 1)
        self.levels_doubt, self.counters_doubt, self.names_doubt = Doubt(), Doubt(self.modulus), Doubt()
        self.pending: Snapshot | None = None  # levels that wait for the rest of their counters
        self.pending_since_s: float | None = None  # counters are wanted and not all there since then
        self.again = False  # the rest is asked for before the next poll is due
        self.resume_s = 0.0  # when that would be
        self._in_one = True

    # ---- levels and counters

    @property
    def polls_levels(self) -> bool:
        """A pad's keys are told by their counters alone; everything else by levels, and counters where they changed."""
        return self.profile.kind == "sensors" or self.profile.counters is None

    @property
    def modulus(self) -> int:
        """The value at which the counts of this module wrap."""
        return self.profile.counters.modulus if self.profile.counters else EDGE_MODULUS

    def levels_request(self) -> Request:
        """The next level poll. Successive polls differ in length where the wiring allows, so that no late one fits."""
        block = self.profile.inputs
        needed = self._needed
        self._short = not self._short and needed > 0 and (needed + 7) // 8 < (block.count + 7) // 8
        return Request(self.plan.unit, block.function, block.address, needed if self._short else block.count)

    def counters_request(self) -> Request | None:
        """A read of the counters of inputs that something is wired to, all or the next piece; None: it has none.

        A piece whose late reply may be under way is asked for with a neighbour, so that it is told from the new one.
        """
        block = self.profile.counters
        if block is None:
            return None
        piece = self.pieces.next()
        request = self._read_counters(block, piece)
        return self._read_counters(block, self.pieces.wider(piece)) if request.shape in self.avoid else request

    def _read_counters(self, block: CounterBlock, piece: Piece) -> Request:
        first = block.address + piece.first * block.words_each
        return Request(self.plan.unit, block.function, first, piece.size * block.words_each)

    def level_places(self, reply: Reply) -> dict[int, int]:
        """The bits of inputs that something is wired to, by their place."""
        return dict(enumerate(reply.values[: self._needed or None]))

    def counter_places(self, request: Request, reply: Reply) -> dict[int, int]:
        """The counters of a reply, by their place."""
        block = self.profile.counters
        first = (request.address - block.address) // block.words_each if block else 0
        return dict(enumerate(counters_of(self.profile, reply.values), first))

    def took_counters(self, request: Request, reply: Reply) -> Reply | None:
        """Counters were answered: all of this reading, as of one reply; None while some are still to come.

        Raises :class:`UnheardError`.
        """
        block = self.profile.counters
        if block is None:
            return reply
        first = (request.address - block.address) // block.words_each
        piece = Piece(first, len(reply.values) // block.words_each)
        unheard_s = self.pieces.took(piece, reply.values, reply.began_s, reply.ended_s)
        if not self.polls_levels and unheard_s * 1000 > self._unheard_ms:
            raise UnheardError
        if not self.pieces.whole:
            return None
        self.pending = self.pending_since_s = None
        registers, began_s, ended_s, self._in_one = self.pieces.take()
        return Reply(registers, began_s, ended_s)

    def by_lines(self) -> bool:
        """Where long replies do not arrive, long texts do not either."""
        return self.pieces.parts > 1

    def noisy(self, now_s: float) -> bool:
        """Whether what it said was garbled of late."""
        return now_s - self.garbled_s <= NOISY_S

    def overdue(self, now_s: float) -> bool:
        """Whether nobody could hear a trusted module for too long, or what it counted."""
        if self.snapshot is None or not self.up:
            return False
        since_s = self.pending_since_s if self.pending_since_s is not None else now_s
        return max(now_s - since_s, now_s - self.snapshot.ended_ms / 1000) * 1000 > self._unheard_ms

    def identity_request(self) -> Request | None:
        """A read of what the module says it is; None where it does not say."""
        block = self.profile.identity
        return Request(self.plan.unit, block.function, block.address, block.words) if block else None

    def serial_request(self) -> Request | None:
        """A read of which one of its kind the module is; None where nobody asks, or it does not say."""
        block = self.profile.serial if self.plan.serial is not None else None
        return Request(self.plan.unit, block.function, block.address, block.words) if block else None

    def flush_request(self, shape: tuple[int, int]) -> Request | None:
        """A short read whose reply cannot be taken for one of ``shape``: what answers in order has then let it pass."""
        unit, profile = self.plan.unit, self.profile
        candidates = [Request(unit, profile.inputs.function, profile.inputs.address, 1)]
        if profile.counters:
            candidates.append(Request(unit, profile.counters.function, profile.counters.address, 1))
        if profile.outputs:
            candidates.append(Request(unit, READ_COILS, profile.outputs.address, 1))
        others = [request for request in candidates if request.shape != shape]
        return min(others, key=lambda request: request.shape in self.avoid, default=None)

    def took_levels(self, reply: Reply) -> Snapshot:
        """A level poll was answered. Inputs that a short poll left out keep their level; nothing is wired there.

        Raises :class:`UnheardError`.
        """
        block = self.profile.inputs
        fresh = tuple(bool(bit) == block.active_high for bit in reply.values)
        last = self._raw_levels if self.snapshot else (False,) * block.count
        raw = fresh + last[len(fresh) :]
        now_ms = ceil_ms(reply.ended_s)
        for index, (old, new) in enumerate(zip(last, raw, strict=True)):
            if new and not old:
                self._on_since_ms[index] = now_ms
                if self.snapshot is not None:
                    self._edges[index] = (self._edges[index] + 1) % EDGE_MODULUS
        snapshot = self._snapshot(self._believed(raw, now_ms), reply)
        self._raw_levels = raw
        return snapshot

    def _believed(self, raw: tuple[bool, ...], now_ms: int) -> tuple[bool, ...]:
        """The levels without those of stuck inputs. One that lets go for a moment is stuck still."""
        for index, level in enumerate(raw):
            if level:
                self._last_on_ms[index] = now_ms
        held = {index for index in self.stuck if now_ms - self._last_on_ms[index] < LET_GO_MS}
        fresh = {i for i, level in enumerate(raw) if level and now_ms - self._on_since_ms[i] > self._stuck_ms}
        self.stuck = frozenset(held | fresh)
        return tuple(level and index not in self.stuck for index, level in enumerate(raw))

    def took_no_levels(self, counters: Reply) -> Snapshot:
        """A pad was polled by counters: its levels are not read and stand as False. Raises :class:`UnheardError`."""
        whole = self._snapshot((False,) * self.profile.inputs.count, counters)
        return whole if self._in_one else whole._replace(shows_ms=whole.began_ms)

    def _snapshot(self, levels: tuple[bool, ...], reply: Reply) -> Snapshot:
        ended_ms = ceil_ms(reply.ended_s)
        snapshot = Snapshot(levels, floor_ms(reply.began_s), ended_ms, ended_ms)
        if self.snapshot is not None and snapshot.ended_ms - self.snapshot.ended_ms > self._unheard_ms:
            raise UnheardError
        return snapshot

    def counts(self, reply: Reply | None) -> tuple[int, ...]:
        """The counts that go with the levels just taken: the module's, or the edges seen."""
        if reply is None:
            return tuple(self._edges)
        counts = counters_of(self.profile, reply.values)
        return counts + (0,) * (self.profile.inputs.count - len(counts))

    def reading(self, snapshot: Snapshot, counts: tuple[int, ...]) -> Reading:
        """What the floor is told."""
        before = self.snapshot.shows_ms if self.snapshot else snapshot.began_ms
        return Reading(self.device, snapshot.began_ms, snapshot.ended_ms, before, snapshot.levels, counts)

    def answered(self) -> None:
        """It gave a good reply to a poll."""
        self.failures = self.silences = 0

    def forget(self) -> None:
        """Nothing known of the module holds any longer: levels, counts, what its outputs show."""
        self.up = self.identified = self.recognised = self.shown = False
        self.snapshot = self.handed = self.pending = self.pending_since_s = None
        self.pieces.forget()
        for doubt in (self.levels_doubt, self.counters_doubt, self.names_doubt):
            doubt.forget()
        self.again = False
        self.write_failures = 0
        self.write_after_s = self.resume_s = 0.0
        self.forget_outputs()

    def stale(self, now_s: float) -> bool:
        """Whether the module may show something else than what is wanted, and may be written to."""
        if not self.up or self.failures or now_s < self.write_after_s:
            return False
        return self.outputs_stale(now_s)


def floor_ms(seconds: float) -> int:
    """The millisecond that had begun."""
    return math.floor(seconds * 1000)


def ceil_ms(seconds: float) -> int:
    """The millisecond by which it was over."""
    return math.ceil(seconds * 1000)
