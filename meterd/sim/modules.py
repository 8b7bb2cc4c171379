"""Simulated I/O modules: a register bank behind Modbus bytes, with a chip sensor, a button or a key on each input.

Whoever plays at a module turns inputs on and off and looks at lamps and text; all else goes over the wire. A counter
counts rising edges. Like the real ones, a module that is no longer spoken to darkens its outputs by itself.
Times are seconds of the monotonic clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final

from meterd.sim.plan import Bits, Shape
from protocols.modbus_slave import RegisterBank

#: Without any request for this long, or without its heartbeat for that long, a module darkens its outputs.
SAFE_AFTER_S: Final = 1.0
SAFE_AFTER_HEARTBEAT_S: Final = 2.0


class Lamp(StrEnum):
    """What a lamp does."""

    DARK = "dark"
    FLASH = "flash"
    STEADY = "steady"


class SimModule:
    """One module. ``listeners`` are called with the time after everything that may change what it shows or senses."""

    def __init__(self, unit: int, shape: Shape, serial: str | None = None) -> None:
        self.unit = unit
        self.shape = shape
        self.serial = f"SIM{unit:05d}" if serial is None else serial
        self.bank = _bank(shape, self.serial)
        self._stuck: dict[int, bool] = {}
        self.bank.written = self._written
        self.listeners: list[Callable[[float], None]] = []
        self.requests = 0
        self.asleep = True
        self._now = 0.0
        self._spoken_to = self._beaten = float("-inf")
        self._input_bits = self.bank.bits(shape.inputs.function)
        self._counters = self.bank.registers(shape.counters.function) if shape.counters else []
        for index in range(shape.inputs.count):
            self._show_input(index, on=False)

    # ---- the side of people

    @property
    def key_names(self) -> Mapping[str, int]:
        """Key name → index of its input."""
        return self.shape.keys or {}

    def input(self, index: int) -> bool:
        """Whether an input is active."""
        block = self.shape.inputs
        return bool(self._input_bits[block.address + index]) == block.active_high

    def set_input(self, index: int, *, on: bool, at: float) -> None:
        """Put a chip on a sensor, hold a button; or take it away. A rising edge counts; a stuck input knows nothing."""
        if index in self._stuck:
            return
        if on and not self.input(index):
            self._count(index)
        self._show_input(index, on=on)
        self._tell(at)

    def stick(self, index: int, level: bool | None, at: float) -> None:
        """An input stays where it is said to be, whatever lies there; None frees it."""
        self._stuck.pop(index, None)
        if level is not None:
            self.set_input(index, on=level, at=at)
            self._stuck[index] = level

    def counter(self, index: int) -> int:
        """The counter of an input; 0 where the module has none."""
        block = self.shape.counters
        if block is None:
            return 0
        words = block.bits // 16
        start = block.address + index * words
        held = self._counters[start : start + words]
        ordered = held if block.high_word_first else held[::-1]
        return sum(word << 16 * power for power, word in enumerate(reversed(ordered)))

    def lamp(self, index: int) -> Lamp:
        """What the lamp of an output does. A module without a flash bank shows steady whenever the output is on."""
        if _lit(self.bank, self.shape.flash, index):
            return Lamp.FLASH
        return Lamp.STEADY if _lit(self.bank, self.shape.outputs, index) else Lamp.DARK

    def text(self) -> tuple[str, ...]:
        """The lines of the display, without trailing blanks."""
        block = self.shape.text
        if block is None:
            return ()
        size = (block.columns + 1) // 2
        lines = []
        for line in range(block.lines):
            start = block.address + line * size
            raw = b"".join(word.to_bytes(2, "big") for word in self.bank.holding[start : start + size])
            lines.append(raw.decode("latin-1").replace("\x00", " ")[: block.columns].rstrip())
        return tuple(lines)

    # ---- the side of the wire

    def clock(self, at: float) -> None:
        """Bytes come off the line at this moment; a request among them may be for this module."""
        self._now = at

    def asked(self, at: float) -> None:
        """A request for this module was served."""
        self._spoken_to = at
        self.requests += 1
        self.asleep = False

    def watch(self, now: float) -> None:
        """The module's own watchdog: outputs go dark when nobody speaks to it, or its heartbeat stops.

        Where there is a heartbeat the lamp of "betting closed" is lit then, as we ask it of such a module.
        """
        silent = now - self._spoken_to > SAFE_AFTER_S
        if self.shape.heartbeat is not None:
            silent = silent or (self._spoken_to - self._beaten > SAFE_AFTER_HEARTBEAT_S and self._beaten > 0)
        if silent and not self.asleep:
            self.asleep = True
            for block in (self.shape.outputs, self.shape.flash):
                if block:
                    dark = bytes((0 if block.active_high else 1,)) * block.count
                    self.bank.coils[block.address : block.address + block.count] = dark
            if self.shape.heartbeat is not None and self.shape.outputs and self.shape.lockout is not None:
                self.bank.coils[self.shape.outputs.address + self.shape.lockout] = int(self.shape.outputs.active_high)
            self._tell(now)

    def power_cut(self, now: float) -> None:
        """Lose all memory, as when the supply fails and comes back: outputs dark, counters 0. Chips stay on sensors."""
        held = [self.input(index) for index in range(self.shape.inputs.count)]
        fresh = _bank(self.shape, self.serial)
        self.bank.coils[:], self.bank.holding[:] = fresh.coils, fresh.holding
        self.bank.input_registers[:] = fresh.input_registers
        for index, on in enumerate(held):
            self._show_input(index, on=on)
        self._tell(now)

    def _cleared(self, address: int, count: int) -> None:
        """Coils that set counters back were written; such a coil reads 0 again at once."""
        block = self.shape.counters
        if block is None or block.clear is None:
            return
        for index in range(self.shape.inputs.count):
            coil = block.clear.address + index
            if address <= coil < address + count and self.bank.coils[coil]:
                self.bank.coils[coil] = 0
                words = block.bits // 16
                start = block.address + index * words
                self._counters[start : start + words] = [0] * words

    def _written(self, function: int, address: int, count: int) -> None:
        if function in {5, 15}:
            self._cleared(address, count)
        if self.shape.heartbeat is not None and function in {5, 15}:
            if address <= self.shape.heartbeat < address + count:
                self._beaten = self._now
            if count == 1 and address == self.shape.heartbeat:
                return
        self._tell(self._now)

    def _tell(self, at: float) -> None:
        for listener in self.listeners:
            listener(at)

    def _show_input(self, index: int, *, on: bool) -> None:
        block = self.shape.inputs
        self._input_bits[block.address + index] = int(on == block.active_high)

    def _count(self, index: int) -> None:
        block = self.shape.counters
        if block is None:
            return
        words = block.bits // 16
        value = (self.counter(index) + 1) % (1 << block.bits)
        split = [value >> 16 * power & 0xFFFF for power in range(words)]
        start = block.address + index * words
        self._counters[start : start + words] = split[::-1] if block.high_word_first else split


def _lit(bank: RegisterBank, block: Bits | None, index: int) -> bool:
    return block is not None and index < block.count and bool(bank.coils[block.address + index]) == block.active_high


def _ends(shape: Shape) -> Iterator[tuple[int, int]]:
    """Function that reads an area, and the address behind each block of the map in it."""
    yield shape.inputs.function, shape.inputs.address + shape.inputs.count
    for coils in (shape.outputs, shape.flash):
        if coils:
            yield 1, coils.address + coils.count
    if shape.heartbeat is not None:
        yield 1, shape.heartbeat + 1
    if shape.counters:
        yield shape.counters.function, shape.counters.address + shape.inputs.count * shape.counters.bits // 16
        if shape.counters.clear:
            yield 1, shape.counters.clear.address + shape.inputs.count
    if shape.text:
        yield 3, shape.text.address + shape.text.lines * ((shape.text.columns + 1) // 2)
    if shape.identity:
        yield shape.identity.function, shape.identity.address + len(shape.identity.expected)
    if shape.serial:
        yield shape.serial.function, shape.serial.address + shape.serial.words


def _bank(shape: Shape, serial: str) -> RegisterBank:
    """Areas just large enough for the map: beyond them a real module answers with exception 2 as well."""
    sizes = dict.fromkeys((1, 2, 3, 4), 0)
    for function, end in _ends(shape):
        sizes[function] = max(sizes[function], end)
    bank = RegisterBank(bytearray(sizes[1]), bytearray(sizes[2]), [0] * sizes[3], [0] * sizes[4])
    coils = [block for block in (shape.outputs, shape.flash) if block]
    if shape.inputs.function == 1:
        bank.fixed_coils = min((block.address for block in coils), default=sizes[1])
    for block in coils:
        if not block.active_high:
            bank.coils[block.address : block.address + block.count] = b"\x01" * block.count
    if shape.identity:
        _put(bank.registers(shape.identity.function), shape.identity.address, shape.identity.expected)
    if shape.serial:
        raw = serial.encode("ascii", "replace").ljust(2 * shape.serial.words)[: 2 * shape.serial.words]
        words = [raw[i] << 8 | raw[i + 1] for i in range(0, len(raw), 2)]
        _put(bank.registers(shape.serial.function), shape.serial.address, words)
    return bank


def _put(area: list[int], address: int, words: Sequence[int]) -> None:
    area[address : address + len(words)] = words
