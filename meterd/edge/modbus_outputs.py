"""The outputs of one module: what they should be, what was written, and what the module was read back to show.

Rule 1: wanted outputs are a level, the newest replaces all before it. Until somebody wants something, and once the
daemon stops, that is the safe state: seat lamps dark, "betting closed" lit.
Rule 2: what a module acknowledged is not what it shows; only a read-back says so. A display's text too: the reply to a
write of registers tells how many, not which words, so that of an earlier write would do.
Rule 3: on the way from one state to another no lamp is steady that should not be.

Units: ``*_s`` seconds of the monotonic clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from meterd.config import BitBlock, ModuleRef, Profile, UnitWanted
from meterd.edge.modbus_line import READ_COILS, READ_HOLDING, WRITE_COILS, WRITE_REGISTERS, Reply, Request

FLASH_HALF_S: Final = 0.25  # 2 Hz, easily told from steady and slow enough for a relay


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


class Outputs:
    """Wanted, written and shown outputs of one module."""

    def __init__(self, plan: ModuleRef) -> None:
        """Begin with the safe state wanted and nothing known of what the module shows."""
        self.plan = plan
        self.profile = plan.profile
        self.mismatches = 0
        self.differs = ""  # the last read-back that was not what had been written, in words
        self._heartbeat = False
        self._wanted = UnitWanted(-1, safe_outputs(self.profile), ())
        self._written: dict[int, tuple[int, ...]] = {}
        self._confirmed_seq = -1
        self._text_written: tuple[int, ...] | None = None
        self._text_readable = True
        self._text_refused = False
        self._text_turn = False
        self._text_span = (0, 0)  # where the words asked for begin, and how many
        self._stale = True
        self._phase = 0

    def forget_outputs(self) -> None:
        """Nothing known of what the outputs show holds any longer; what is wanted stays."""
        self.mismatches = 0
        self._stale = True
        self._written.clear()
        self._text_written = None
        self._confirmed_seq = -1

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

    def want_safe(self) -> None:
        """Want the safe state; the text of a display stays."""
        self._wanted = UnitWanted(self._wanted.seq, safe_outputs(self.profile), (), self._wanted.text)
        self._stale = True

    def outputs_stale(self, now_s: float) -> bool:
        """Whether the module may show something else than what is wanted."""
        return self._stale or (self.flashes and _phase(now_s) != self._phase)

    def settle(self, now_s: float) -> None:
        """After a write: remember whether anything is left to do."""
        self._phase = _phase(now_s)
        self._stale = bool(self.output_writes(now_s)) or self.text_write() is not None

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
        first, last = changed[0] * size, (changed[0 if self.by_lines() else -1] + 1) * size
        return Request(self.plan.unit, WRITE_REGISTERS, block.address + first, last - first, registers[first:last])

    def by_lines(self) -> bool:
        """Whether the lines of a text are written and read back one by one."""
        return False

    def heartbeat_write(self) -> Request | None:
        """The next toggle of the heartbeat coil. By 0F: on an echoing line a reply to 05 is no proof of anything."""
        if self.profile.heartbeat is None:
            return None
        self._heartbeat = not self._heartbeat
        return Request(self.plan.unit, WRITE_COILS, self.profile.heartbeat, 1, (int(self._heartbeat),))

    def check_request(self) -> Request | None:
        """A read-back of the outputs, or of the text, in turns where there are both; None while nothing was written."""
        outputs, text = self.profile.outputs, self.profile.text
        coils = outputs is not None and bool(self._written)
        words = text is not None and self._text_readable and self._text_written is not None
        self._text_turn = words and not (coils and self._text_turn)
        if text is not None and self._text_turn:
            before, size = sum(self._text_span), text.words_each
            self._text_span = (before % text.words // size * size, size) if self.by_lines() else (0, text.words)
            return Request(self.plan.unit, READ_HOLDING, text.address + self._text_span[0], self._text_span[1])
        if outputs is None or not coils:
            return None
        return Request(self.plan.unit, READ_COILS, outputs.address, outputs.count)

    def text_refused(self, *, noisy: bool) -> None:
        """The module does not let its text be read: it is written again with each check instead.

        On a ``noisy`` line it must have said so twice.
        """
        self._text_readable = noisy and not self._text_refused
        self._text_refused = True

    def rewrite_text(self) -> None:
        """Where the text cannot be read back, take it for unknown, so that it is written again."""
        if self.profile.text is not None and not self._text_readable:
            self._text_written = None
            self._stale = True

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
        if self._text_turn:
            return self._text_checked(reply)
        block = self.profile.outputs
        if block is None:
            return True
        shown = tuple(int(bit) for bit in reply.values)
        written = self._written.get(block.address, ())[: block.count]
        if shown != written:
            self.differs = self._in_words(block, shown, written)
            self._written.clear()
            self._stale = True
            self.mismatches += 1
            return False
        self.mismatches = 0
        if not self.output_writes(now_s):
            self._confirmed_seq = self._wanted.seq
        return True

    def _text_checked(self, reply: Reply) -> bool:
        """Compare a display's words with what was written; a line that nobody wrote yet may say anything."""
        self._text_refused = False
        first, count = self._text_span
        written = None if self._text_written is None else self._text_written[first : first + count]
        if written is None or all(word in {-1, shown} for word, shown in zip(written, reply.values, strict=False)):
            return True
        self._text_written = None
        self._stale = True
        return False

    def _in_words(self, block: BitBlock, shown: Sequence[int], written: Sequence[int]) -> str:
        """Which output is not what was written, and what hangs on it."""
        wrong = [index for index, pair in enumerate(zip(shown, written, strict=False)) if pair[0] != pair[1]]
        if not wrong:
            return "outputs are read back that were never written"
        index = wrong[0]
        state = "on" if bool(shown[index]) == block.active_high else "off"
        lamps = self.profile.lamps
        what = f" (lamp of seat {lamps.index(index) + 1})" if index in lamps else ""
        what = " (betting closed)" if index == self.profile.lockout else what
        return f"output {index}{what} stays {state} whatever is written"

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
