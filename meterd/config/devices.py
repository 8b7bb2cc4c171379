"""What a module and a sign can do, as data: the register map is configuration, never code.

Addresses count from 0, as they travel on the wire; manuals often print them from 1.
Indices (seat 1's input, lamp 3's output) count from 0 inside their block.
Units: ``*_ms`` milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

#: What a 32-bit counter is read modulo where the order of its registers is not known.
EITHER_MODULUS: Final = 65_535

#: Keys a keypad profile may wire. A key is momentary; its counter is the identity of a press.
KEY_NAMES: tuple[str, ...] = (
    *(f"digit-{n}" for n in range(10)),
    *(f"hand-{n}" for n in range(1, 10)),
    "lock",
    "enter",
    "clear",
    "fold",
    "join",
    "void-seat",
    "void-round",
    "count-mismatch",
    "supervisor",
    "end-game",
    "hold",
    "split",
    "board",
)


@dataclass(frozen=True, slots=True)
class BitBlock:
    """A run of single-bit points read by function 01 (coils) or 02 (discrete inputs).

    Outputs are read back by 01 and written by 0F. ``active_high`` False means a 0 on the wire is "active".
    """

    function: Literal[1, 2]
    address: int
    count: int
    active_high: bool = True


@dataclass(frozen=True, slots=True)
class ClearBlock:
    """How the counters of a module are set back by hand: coil ``address`` + index of the input takes a 1.

    meterd never clears a counter: it counts from a baseline, and a counter that fell is a restarted module.
    """

    address: int


@dataclass(frozen=True, slots=True)
class CounterBlock:
    """One counter per input, read by function 03 or 04, in the order of the inputs.

    ``high_word_first`` "either": nobody prints which register of a 32-bit counter comes first. Such a counter is read
    modulo 65,535, where it does not matter: 65,536 leaves 1, so both orders leave the sum of the two registers.
    """

    function: Literal[3, 4]
    address: int
    bits: Literal[16, 32]
    high_word_first: bool | Literal["either"] = True
    clear: ClearBlock | None = None

    @property
    def modulus(self) -> int:
        """The value at which a counter, as it is read, wraps to 0."""
        return EITHER_MODULUS if self.bits == 32 and self.high_word_first == "either" else 1 << self.bits

    @property
    def words_each(self) -> int:
        """Registers that one counter takes."""
        return self.bits // 16


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A display: holding registers written by function 10, two ASCII characters a register, high byte first."""

    address: int
    lines: int
    columns: int

    @property
    def words(self) -> int:
        """Registers of the whole display; each line begins on a register."""
        return self.lines * self.words_each

    @property
    def words_each(self) -> int:
        """Registers of one line."""
        return (self.columns + 1) // 2


@dataclass(frozen=True, slots=True)
class IdentityBlock:
    """Registers that say what the module is, read once whenever it comes up."""

    function: Literal[3, 4]
    address: int
    expected: tuple[int, ...]

    @property
    def words(self) -> int:
        """Registers to read."""
        return len(self.expected)


@dataclass(frozen=True, slots=True)
class SerialBlock:
    """Registers that tell one module of a kind from the next: a serial number, or a name somebody gave the unit."""

    function: Literal[3, 4]
    address: int
    words: int


@dataclass(frozen=True, slots=True)
class SafeState:
    """What darkens the lamps when meterd is gone: the module's own watchdog.

    ``after_ms`` None: the module has none that we know of, or none that is on as it leaves the factory.
    """

    after_ms: int | None
    watches: str
    set_up: str


@dataclass(frozen=True, slots=True)
class Profile:
    """One kind of module: where its points lie and what is wired to them.

    Attributes:
        flash: a bank of coils that makes the module flash the output of the same index by itself; without one the
            driver toggles the outputs.
        heartbeat: address of a coil the driver toggles, so that the module's own watchdog can darken the lamps.
        seats: input index of seat 1, 2, … ``lamps``: output index of seat 1, 2, …
        lock: input index of the lock button; ``lockout``: output index of the "betting closed" lamp.
        keys: key name → input index, for a keypad.
        turnaround_ms: the longest the module thinks before it answers.
        serial: where the module says which one of its kind it is; without it swapped modules cannot be told apart.
        safe_state: the module's own watchdog, for whoever commissions it.
    """

    id: str
    kind: Literal["sensors", "keypad"]
    inputs: BitBlock
    counters: CounterBlock | None = None
    outputs: BitBlock | None = None
    flash: BitBlock | None = None
    text: TextBlock | None = None
    heartbeat: int | None = None
    identity: IdentityBlock | None = None
    turnaround_ms: int = 5
    seats: tuple[int, ...] = ()
    lock: int | None = None
    lamps: tuple[int, ...] = ()
    lockout: int | None = None
    keys: Mapping[str, int] = field(default_factory=dict)
    serial: SerialBlock | None = None
    safe_state: SafeState | None = None

    @property
    def modulus(self) -> int:
        """The value at which the counters wrap; 1 where the module has none."""
        return self.counters.modulus if self.counters else 1


@dataclass(frozen=True, slots=True)
class ModuleRef:
    """A module on a bus: what is addressed, and what answers there. ``serial``: which one of its kind it must be."""

    bus: str
    unit: int
    profile: Profile
    serial: str | None = None

    @property
    def device(self) -> str:
        """The name used for the device everywhere: ``bus/unit``."""
        return f"{self.bus}/{self.unit}"


class UnitWanted(NamedTuple):
    """The wanted outputs of one module and the entry they come from. A level: the newest replaces all before it.

    ``outputs`` and ``flash`` go by the output index of the profile; ``text`` holds the lines of a display.
    """

    seq: int
    outputs: tuple[bool, ...]
    flash: tuple[bool, ...]
    text: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class SignModel:
    """A kind of progressive sign.

    Attributes:
        type_code: one character that selects the kind of sign on the wire; ``Z`` reaches any.
        address: two hex digits; ``00`` reaches all signs of the line. A site file may give a sign its own.
        columns: characters that stand on the display at once.
        string_bytes: size of the file that holds one figure; a longer text would empty it.
        checksum: whether each command carries one, so that a bent figure is not shown. A site file may say otherwise.
        broadcast: whether it takes a figure that is sent to all signs of the line at once.
        answers: whether it answers reads, so that ``meterd sign test`` can say what it is.
        clock: whether its clock is set, on connect and hourly.
    """

    id: str
    type_code: str
    address: str
    columns: int
    string_bytes: int
    checksum: bool = True
    broadcast: bool = True
    answers: bool = True
    clock: bool = True
