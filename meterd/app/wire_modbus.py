"""A Modbus line in words: what each module is asked, what it answers, and what that means at its table."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from meterd.config import BitBlock, ModuleRef, Profile
from meterd.edge.modbus_unit import counters_of
from meterd.edge.trace import Piece
from protocols.modbus_guard import find_reply

_REFUSALS: Final = {1: "no such function", 2: "no such address", 3: "no such value", 4: "it failed", 6: "it is busy"}
_BITS: Final = {1: "outputs", 2: "inputs"}
_REGISTERS: Final = {3: "holding registers", 4: "input registers"}
_READS: Final = (1, 2, 3, 4)


class ModbusReader:
    """One line. ``modules`` by unit, where a site file says what they are."""

    def __init__(self, modules: Mapping[int, ModuleRef], *, echo: bool = False) -> None:
        """Begin with a silent line."""
        self._modules = modules
        self._echo = echo
        self._request = b""
        self._heard = b""
        self._answered = True
        self._counters: dict[int, tuple[int, ...]] = {}

    def read(self, piece: Piece) -> list[str]:
        """A request, or what it was answered."""
        if piece.way == "tx":
            said = self.end()
            self._request, self._answered = piece.data, False
            return [*said, self._asks(piece.data)]
        if self._answered:  # or the listening began between question and answer
            return [f"{len(piece.data)} bytes nobody asked for"] if self._request else []
        self._heard += piece.data
        found = find_reply(self._request, self._heard, echo=self._echo)
        if not found.frame:
            return []
        self._answered, self._heard = True, b""
        return [self._answer(found.frame), *([f"and besides: {found.cause}"] if found.cause else [])]

    def end(self) -> list[str]:
        """No answer came to the last request; and why, where something did."""
        heard, self._heard = self._heard, b""
        if self._answered or not self._request:
            return []
        self._answered = True
        unit = self._name(self._request[0])
        if not heard:
            return [f"{unit}: no answer"]
        cause = find_reply(self._request, heard, echo=self._echo).cause or "cut"
        return [f"{unit}: no answer, but {len(heard)} bytes: {cause}"]

    def _name(self, unit: int) -> str:
        module = self._modules.get(unit)
        return module.device if module is not None else f"unit {unit}"

    def _asks(self, request: bytes) -> str:
        if len(request) < 8:
            return f"{len(request)} bytes of no request"
        unit, function, address, count = struct.unpack(">BBHH", request[:6])
        span = _span(address, count)
        match function:
            case 1 | 2:
                said = f"{_BITS[function]} {span}?"
            case 3 | 4:
                said = f"{_REGISTERS[function]} {span}?"
            case 15:
                said = f"set outputs {span}: {self._bits_words(unit, 1, address, _bits(request[7:-2], count))}"
            case 16:
                said = f"write registers {span}: {_words_text(request[7:-2])}"
            case _:
                said = f"function {function}"
        return f"{self._name(unit)}: {said}"

    def _answer(self, frame: bytes) -> str:
        unit, function = frame[0], frame[1]
        name = self._name(unit)
        if function & 0x80:
            return f"{name} refuses function {function & 0x7F}: {_REFUSALS.get(frame[2], f'code {frame[2]}')}"
        if function not in _READS:
            return f"{name}: done"
        address, count = struct.unpack(">HH", self._request[2:6])
        if function in _BITS:
            bits = _bits(frame[3:-2], count)
            return f"{name}: {_BITS[function]} {self._bits_words(unit, function, address, bits)}"
        registers = struct.unpack(f">{count}H", frame[3:-2])
        return f"{name}: {self._registers_words(unit, function, address, registers)}"

    def _bits_words(self, unit: int, function: int, address: int, bits: Sequence[bool]) -> str:
        """Which are on: by what is wired to them where that is known, else by number."""
        module = self._modules.get(unit)
        names = point_names(module.profile, function) if module is not None else {}
        active_low = module is not None and _active_low(module.profile, function, address)
        on = [address + index for index, bit in enumerate(bits) if bit != active_low]
        return "on: " + (", ".join(names.get(point, str(point)) for point in on) or "none")

    def _registers_words(self, unit: int, function: int, address: int, registers: Sequence[int]) -> str:
        """Counters as what moved since they were last heard; other registers as numbers and text."""
        module = self._modules.get(unit)
        block = module.profile.counters if module is not None else None
        whole = block is not None and len(registers) % block.words_each == 0  # a part of one counter tells nothing
        if module is None or block is None or not whole or (function, address) != (block.function, block.address):
            return _words_text(struct.pack(f">{len(registers)}H", *registers))
        profile = module.profile
        now, before = counters_of(profile, registers), self._counters.get(unit)
        self._counters[unit] = now
        if before is None or len(before) != len(now):
            return f"counters {' '.join(map(str, now))}"
        names = _input_names(profile)
        moved = [
            f"{names.get(n, f'input {n}')} +{(after - earlier) % block.modulus} ({after})"
            for n, (earlier, after) in enumerate(zip(before, now, strict=True))
            if after != earlier
        ]
        return f"counters moved: {', '.join(moved)}" if moved else "counters as before"


def point_names(profile: Profile, function: int) -> dict[int, str]:
    """Address on the wire → what is wired there."""
    names: dict[int, str] = {}
    if profile.inputs.function == function:
        names |= _placed(profile.inputs, _input_names(profile))
    if function == 1 and profile.outputs is not None:
        lamps = {index: f"lamp {seat}" for seat, index in enumerate(profile.lamps, 1)}
        if profile.lockout is not None:
            lamps[profile.lockout] = "betting closed"
        names |= _placed(profile.outputs, lamps)
        if profile.flash is not None:
            names |= _placed(profile.flash, {index: f"{name} flashing" for index, name in lamps.items()})
        if profile.heartbeat is not None:
            names[profile.heartbeat] = "heartbeat"
    return names


def _input_names(profile: Profile) -> dict[int, str]:
    names = {index: f"seat {seat}" for seat, index in enumerate(profile.seats, 1)}
    if profile.lock is not None:
        names[profile.lock] = "lock button"
    return names | {index: f"key {key}" for key, index in profile.keys.items()}


def _placed(block: BitBlock, names: Mapping[int, str]) -> dict[int, str]:
    return {block.address + index: name for index, name in names.items() if index < block.count}


def _active_low(profile: Profile, function: int, address: int) -> bool:
    blocks = (profile.inputs, profile.outputs, profile.flash)
    return any(
        not block.active_high and block.function == function and 0 <= address - block.address < block.count
        for block in blocks
        if block is not None
    )


def _bits(data: bytes, count: int) -> list[bool]:
    return [bool(data[n // 8] >> n % 8 & 1) for n in range(min(count, 8 * len(data)))]


def _span(address: int, count: int) -> str:
    return str(address) if count == 1 else f"{address}-{address + count - 1}"


def _words_text(data: bytes) -> str:
    """Registers as numbers, and as text where all of it can be read."""
    numbers = " ".join(_each(data))
    text = data.decode("latin-1").rstrip("\0 ")
    return f'"{text}"' if text and all(" " <= character <= "~" for character in text) else numbers


def _each(data: bytes) -> Iterable[str]:
    return (str(word) for (word,) in struct.iter_unpack(">H", data[: len(data) // 2 * 2]))
