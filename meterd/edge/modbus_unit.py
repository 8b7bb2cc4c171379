"""One module on a Modbus line as its driver sees it: what to ask, what the answers mean, what its outputs should be.

Rule 1: nothing here waits or touches a port; the bus asks and hands the answers in.
Rule 2: levels are active = True here, counters are raw; polarity and word order are settled in this file.
Rule 3: the wanted outputs are a level, the newest replaces all before it. Until somebody wants something, and once the
daemon stops, that is the safe state: seat lamps dark, "betting closed" lit.

Units: ``*_ms`` milliseconds and ``*_s`` seconds of the monotonic clock.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from meterd.config import BitBlock, ModuleRef, Profile, UnitWanted
from meterd.edge.modbus_line import READ_COILS, WRITE_COILS, WRITE_REGISTERS, Reply, Request
from protocols.events import Reading

#: What the bus drives: a unit and its profile.
UnitPlan = ModuleRef

FLASH_HALF_S: Final = 0.25  # 2 Hz, easily told from steady and slow enough for a relay
#: A module without counters: the driver counts rising edges of the levels it saw, in a counter of this size.
EDGE_MODULUS: Final = 1 << 32
#: Edges a contact can make between two counter reads and still be believed: 100 a second and a start of 64.
EDGES_A_SECOND: Final = 100
EDGES_AT_ONCE: Final = 64


#: A module to which nobody spoke for so long has darkened its lamps by itself.
UNHEARD_MS: Final = 1000


class UnheardError(Exception):
    """Nobody listened to a module for so long that what moved since has no order.

    A process was stopped, a machine slept. A chip put down after LOCK would stand in the same reply as LOCK.
    """


class Snapshot(NamedTuple):
    """Levels of one moment, bounded by two times."""

    levels: tuple[bool, ...]
    began_ms: int
    ended_ms: int


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
    pairs = zip(registers[::2], registers[1::2], strict=True)
    return tuple((a << 16 | b) if block.high_word_first else (b << 16 | a) for a, b in pairs)


def safe_outputs(profile: Profile) -> tuple[bool, ...]:
    """Seat lamps dark, the "betting closed" lamp lit."""
    count = profile.outputs.count if profile.outputs else 0
    return tuple(index == profile.lockout for index in range(count))


def text_registers(profile: Profile, lines: Sequence[str]) -> tuple[int, ...]:
    """Registers of a display: each line from one of its own, padded with blanks, ``?`` for what it cannot show."""
    block = profile.text
    if block is None:
        return ()
    padded = [*lines, *[""] * block.lines][: block.lines]
    raw = b"".join(_printable(line[: block.columns]).ljust(2 * block.words_each).encode("ascii") for line in padded)
    return tuple(raw[i] << 8 | raw[i + 1] for i in range(0, len(raw), 2))


def _printable(text: str) -> str:
    return "".join(c if " " <= c <= "~" else "?" for c in text)


class Unit:
    """The state of one module's driver."""

    def __init__(self, plan: UnitPlan, unheard_ms: int = UNHEARD_MS) -> None:
        """Begin unknown: neither up nor reported down. ``unheard_ms``: the longest pause between two polls."""
        self.plan = plan
        self._unheard_ms = unheard_ms
        self.profile = plan.profile
        self.device = plan.device
        self.up = False
        self.cause: str | None = None
        self.failures = 0
        self.probe_s = 0.0
        self.due_s = 0.0
        self.counters_due_s = 0.0
        self.check_due_s = 0.0
        self.heartbeat_due_s = 0.0
        self.write_after_s = 0.0
        self.identified = False
        self.written_this_turn = False
        self.long_turn = False  # this turn read counters besides levels
        self.mismatches = 0
        self._heartbeat = False
        self.avoid: tuple[tuple[int, int], float] | None = None
        self.snapshot: Snapshot | None = None
        self.handed: Reading | None = None
        self.counts_at_ms = 0
        self._edges: list[int] = [0] * self.profile.inputs.count
        self._short = False
        self._wanted = UnitWanted(-1, safe_outputs(self.profile), ())
        self._written: dict[int, tuple[int, ...]] = {}
        self._confirmed_seq = -1
        self._text_written: tuple[int, ...] | None = None
        self._stale = True
        self._phase = 0

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
        wired = (
            *self.profile.seats,
            *self.profile.keys.values(),
            -1 if self.profile.lock is None else self.profile.lock,
        )
        needed = max(wired) + 1
        self._short = not self._short and needed > 0 and (needed + 7) // 8 < (block.count + 7) // 8
        return Request(self.plan.unit, block.function, block.address, needed if self._short else block.count)

    def counters_request(self) -> Request | None:
        """A read of all counters; None where the module has none."""
        block = self.profile.counters
        if block is None:
            return None
        count = self.profile.inputs.count * block.words_each
        return Request(self.plan.unit, block.function, block.address, count)

    def identity_request(self) -> Request | None:
        """A read of what the module says it is; None where it does not say."""
        block = self.profile.identity
        return Request(self.plan.unit, block.function, block.address, block.words) if block else None

    def flush_request(self, shape: tuple[int, int]) -> Request | None:
        """A short read whose reply cannot be taken for one of ``shape``: what answers in order has then let it pass."""
        unit, profile = self.plan.unit, self.profile
        candidates = [Request(unit, profile.inputs.function, profile.inputs.address, 1)]
        if profile.counters:
            candidates.append(Request(unit, profile.counters.function, profile.counters.address, 1))
        if profile.outputs:
            candidates.append(Request(unit, READ_COILS, profile.outputs.address, 1))
        return next((request for request in candidates if request.shape != shape), None)

    def took_levels(self, reply: Reply) -> Snapshot:
        """A level poll was answered. Inputs that a short poll left out keep their level; nothing is wired there.

        Raises :class:`UnheardError`.
        """
        block = self.profile.inputs
        fresh = tuple(bool(bit) == block.active_high for bit in reply.values)
        last = self.snapshot.levels if self.snapshot else (False,) * block.count
        levels = fresh + last[len(fresh) :]
        for index, (old, new) in enumerate(zip(last, levels, strict=True)):
            if new and not old and self.snapshot is not None:
                self._edges[index] = (self._edges[index] + 1) % EDGE_MODULUS
        return self._snapshot(levels, reply)

    def took_no_levels(self, counters: Reply) -> Snapshot:
        """A pad was polled by counters: its levels are not read and stand as False. Raises :class:`UnheardError`."""
        return self._snapshot((False,) * self.profile.inputs.count, counters)

    def _snapshot(self, levels: tuple[bool, ...], reply: Reply) -> Snapshot:
        snapshot = Snapshot(levels, floor_ms(reply.began_s), ceil_ms(reply.ended_s))
        if self.snapshot is not None and snapshot.ended_ms - self.snapshot.ended_ms > self._unheard_ms:
            raise UnheardError
        return snapshot

    def counts(self, reply: Reply | None) -> tuple[int, ...]:
        """The counts that go with the levels just taken: the module's, or the edges seen."""
        return tuple(self._edges) if reply is None else counters_of(self.profile, reply.values)

    def reading(self, snapshot: Snapshot, counts: tuple[int, ...]) -> Reading:
        """What the floor is told."""
        before = self.snapshot.ended_ms if self.snapshot else snapshot.began_ms
        return Reading(self.device, snapshot.began_ms, snapshot.ended_ms, before, snapshot.levels, counts)

    def forget(self) -> None:
        """Nothing known of the module holds any longer: levels, counts, what its outputs show."""
        self.up = False
        self.identified = False
        self.snapshot = self.handed = None
        self.mismatches = 0
        self.write_after_s = 0.0
        self._stale = True
        self._written.clear()
        self._text_written = None
        self._confirmed_seq = -1

    # ---- outputs

    @property
    def confirmed_seq(self) -> int:
        """The entry whose outputs the module was last read back to show; -1: none yet."""
        return self._confirmed_seq

    @property
    def flashes(self) -> bool:
        """Whether this driver has to toggle lamps itself."""
        return self.profile.outputs is not None and self.profile.flash is None and any(self._wanted.flash)

    def want(self, wanted: UnitWanted) -> bool:
        """Take newer wanted outputs; False if they are older than what is wanted now."""
        if wanted.seq < self._wanted.seq:
            return False
        self._stale = self._stale or wanted[1:] != self._wanted[1:]
        self._wanted = wanted
        return True

    def stale(self, now_s: float) -> bool:
        """Whether the module may show something else than what is wanted, and may be written to."""
        if not self.up or self.failures or now_s < self.write_after_s:
            return False
        return self._stale or (self.flashes and _phase(now_s) != self._phase)

    def settle(self, now_s: float) -> None:
        """After a write: remember whether anything is left to do."""
        self._phase = _phase(now_s)
        self._stale = bool(self.output_writes(now_s)) or self.text_write() is not None

    def want_safe(self) -> None:
        """Want the safe state; the text of a display stays."""
        self._wanted = UnitWanted(self._wanted.seq, safe_outputs(self.profile), (), self._wanted.text)
        self._stale = True

    def output_writes(self, now_s: float) -> list[Request]:
        """Coil writes that bring the module to what is wanted, in an order that shows no lamp steady on its way.

        A module flashes an output that is on while its flash bit is on. Where outputs and flash bank lie side by side
        one write carries both; else flash bits are set before an output comes on, and cleared after it went off.
        """
        outputs, bank = self.profile.outputs, self.profile.flash
        if outputs is None:
            return []
        lamps, flashing = self._coils(now_s)
        if bank is None:
            return self._differing([(outputs.address, lamps)])
        if bank.address == outputs.address + outputs.count:
            return self._differing([(outputs.address, lamps + flashing)])
        known = self._written.get(bank.address)
        if known is None or outputs.address not in self._written:
            dark = _on_the_wire(outputs, safe_outputs(self.profile))
            return self._differing([(outputs.address, dark), (bank.address, flashing), (outputs.address, lamps)])
        on = int(bank.active_high)
        either = tuple(on if on in pair else 1 - on for pair in zip(known, flashing, strict=True))
        return self._differing([(bank.address, either), (outputs.address, lamps), (bank.address, flashing)])

    def _differing(self, steps: Sequence[tuple[int, tuple[int, ...]]]) -> list[Request]:
        """The writes among ``steps`` that change something, given what was written before each."""
        held = dict(self._written)
        requests = []
        for address, bits in steps:
            if held.get(address) != bits:
                held[address] = bits
                requests.append(Request(self.plan.unit, WRITE_COILS, address, len(bits), bits))
        return requests

    def text_write(self) -> Request | None:
        """The register write that brings the display to what is wanted: only the lines that changed."""
        block = self.profile.text
        if block is None or self._wanted.text is None:
            return None
        registers = text_registers(self.profile, self._wanted.text)
        if registers == self._text_written:
            return None
        size = block.words_each
        old = self._text_written or ()
        changed = [
            n for n in range(block.lines) if registers[n * size : (n + 1) * size] != old[n * size : (n + 1) * size]
        ]
        first, last = changed[0] * size, (changed[-1] + 1) * size
        return Request(self.plan.unit, WRITE_REGISTERS, block.address + first, last - first, registers[first:last])

    def heartbeat_write(self) -> Request | None:
        """The next toggle of the heartbeat coil. By 0F: on an echoing line a reply to 05 is no proof of anything."""
        if self.profile.heartbeat is None:
            return None
        self._heartbeat = not self._heartbeat
        return Request(self.plan.unit, WRITE_COILS, self.profile.heartbeat, 1, (int(self._heartbeat),))

    def check_request(self) -> Request | None:
        """A read-back of the outputs; None while nothing was written."""
        block = self.profile.outputs
        if block is None or not self._written:
            return None
        return Request(self.plan.unit, READ_COILS, block.address, block.count)

    def wrote(self, request: Request) -> None:
        """A write was acknowledged."""
        if request.function == WRITE_COILS:
            self._written[request.address] = request.values
        elif self._wanted.text is not None:
            block = self.profile.text
            start = request.address - (block.address if block else 0)
            size = block.words if block else 0
            held = list(self._text_written or (-1,) * size)
            held[start : start + request.count] = request.values
            self._text_written = tuple(held)

    def checked(self, reply: Reply, now_s: float) -> bool:
        """Compare a read-back with what was written. False: it differs and will be written again."""
        block = self.profile.outputs
        if block is None:
            return True
        shown = tuple(int(bit) for bit in reply.values)
        if shown != self._written.get(block.address, ())[: block.count]:
            self._written.clear()
            self._stale = True
            self.mismatches += 1
            return False
        self.mismatches = 0
        if not self.output_writes(now_s):
            self._confirmed_seq = self._wanted.seq
        return True

    def _coils(self, now_s: float) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Bits on the wire for outputs and flash bank (none where the driver toggles)."""
        outputs, bank = self.profile.outputs, self.profile.flash
        if outputs is None:
            return (), ()
        steady = _filled(self._wanted.outputs, outputs.count)
        flash = _filled(self._wanted.flash, outputs.count)
        lit = bank is not None or _phase(now_s) % 2 == 0
        lamps = tuple(lit if blink else on for on, blink in zip(steady, flash, strict=True))
        return _on_the_wire(outputs, lamps), _on_the_wire(bank, _filled(flash, bank.count)) if bank else ()


def _on_the_wire(block: BitBlock, active: Sequence[bool]) -> tuple[int, ...]:
    """Polarity applied."""
    return tuple(int(on == block.active_high) for on in active)


def _phase(now_s: float) -> int:
    """Number of the half period of flashing; all lamps of all modules flash together."""
    return int(now_s / FLASH_HALF_S)


def _filled(bits: Sequence[bool], count: int) -> tuple[bool, ...]:
    """``bits`` cut or filled with False to ``count``."""
    return (*bits[:count], *[False] * (count - len(bits)))


def floor_ms(seconds: float) -> int:
    """The millisecond that had begun."""
    return math.floor(seconds * 1000)


def ceil_ms(seconds: float) -> int:
    """The millisecond by which it was over."""
    return math.ceil(seconds * 1000)
