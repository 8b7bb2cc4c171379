"""The line budget: how much of each second a bus is busy when everything on it goes as it should.

A line carries one request at a time. Its time is the characters of request and reply, a silence before each of them,
and the module's turnaround. Over 80 % the poll cycle slips as soon as one reply is late, so such a bus is refused.

The budget is that of a healthy line. Behind a bad cable counters are read in pieces (halves, quarters), and whatever
was garbled is asked for again at once. Each piece more costs a request, a reply's head and check, two silences and a
turnaround: at 38400 baud 9 ms, so a pad of 32 keys takes 26 ms whole, 35 in halves and 53 in quarters; a reply that was
garbled costs its time and 30 ms. Neighbours whose turn has come go first, so they come later by one exchange at most.

Units: ``*_us`` microseconds of line time in one second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from meterd.config.devices import ModuleRef, Profile
from meterd.config.pads import PadRef
from meterd.config.site import BusConfig, PollConfig, SasConfig, SignConfig, Site

LIMIT_PERCENT: Final = 80
SECOND_US: Final = 1_000_000

#: A silence of 3.5 characters stands between frames; above 19200 baud it is fixed.
GAP_US_FIXED: Final = 1_750
GAP_FIXED_ABOVE_BAUD: Final = 19_200

#: What a table asks for in one second besides its polls, every table of the line at once: one change of its bets (a
#: read of the counters, a write of the lamps) and two keys. Faster bursts live from the 20 % that stay free.
COUNTERS_ON_CHANGE: Final = 1
LAMP_WRITES: Final = 1
LAMP_WRITES_TOGGLED: Final = 4  # without a flash bank the driver toggles the lamps, on and off twice a second
READ_BACKS: Final = 1  # and one after each write, unless the lamps are being toggled
TEXT_WRITES: Final = 2
HEARTBEATS: Final = 1
SIGN_WRITES: Final = 4  # a sign loses writes that come closer than a quarter of a second

PAD_POLLS: Final = 10
PAD_TURNAROUND_MS: Final = 3  # the standard allows more, readers sold today need this

_PAD_POLL: Final = 15  # characters of a poll and its answer within a secure session
_PAD_ANSWER: Final = 14
_PAD_TEXT: Final = 63  # a line of 32 characters, padded and signed
_READ_REQUEST: Final = 8  # unit, function, address, count, check
_WRITE_REPLY: Final = 8
_REPLY_FRAME: Final = 5  # unit, function, byte count, check
_WRITE_FRAME: Final = 9  # unit, function, address, count, byte count, check
_SAS_FRAME: Final = 6  # address, message, length, group, check
_SAS_BITS: Final = 11
_SIGN_FRAME: Final = 13  # what one STRING write costs besides its text


class UnitBudget(NamedTuple):
    """What one unit (or sign) takes: its name and its share of the second."""

    name: str
    used_us: int


@dataclass(frozen=True, slots=True)
class BusBudget:
    """What a bus is asked to carry in one second, unit by unit."""

    bus: str
    units: tuple[UnitBudget, ...]

    @property
    def used_us(self) -> int:
        """Line time in one second."""
        return sum(unit.used_us for unit in self.units)

    @property
    def percent(self) -> int:
        """The share of the line that is used, rounded up."""
        return percent(self.used_us)

    @property
    def fits(self) -> bool:
        """Whether the bus keeps its reserve."""
        return self.percent <= LIMIT_PERCENT


def percent(used_us: int) -> int:
    """Microseconds of a second as whole percent, rounded up."""
    return -(-used_us * 100 // SECOND_US)


def line_budget(site: Site) -> tuple[BusBudget, ...]:
    """The budget of every bus of a site, in the order of the site file. A USB keyboard asks for no line time."""
    return tuple(_budget(site, bus) for bus in site.buses)


def _budget(site: Site, bus: BusConfig) -> BusBudget:
    match bus.kind:
        case "modbus":
            return bus_budget(bus, site.modules_of(bus.id), site.poll)
        case "sas":
            return sas_budget(bus, [sas for sas in site.sas if sas.bus == bus.id])
        case "osdp":
            return pad_budget(bus, site.pads_of(bus.id))
        case "alpha":
            return sign_budget(bus, [sign for sign in site.signs if sign.bus == bus.id])
        case "hid":
            return BusBudget(bus.id, ())


def bus_budget(bus: BusConfig, modules: Sequence[ModuleRef], poll: PollConfig) -> BusBudget:
    """The budget of one Modbus line."""
    return BusBudget(bus.id, tuple(UnitBudget(f"unit {m.unit}", _unit_us(bus, m, poll)) for m in modules))


def pad_budget(bus: BusConfig, pads: Sequence[PadRef]) -> BusBudget:
    """The budget of one OSDP line: each pad asked ten times a second, two texts a second where it has a display.

    libosdp asks every 50 ms where the line has time for it; a line within its budget is never slower than ten times.
    """
    polls = PAD_POLLS * transaction_us(bus, _PAD_POLL, _PAD_ANSWER, PAD_TURNAROUND_MS)
    text = TEXT_WRITES * transaction_us(bus, _PAD_TEXT, _PAD_ANSWER, PAD_TURNAROUND_MS)
    return BusBudget(
        bus.id, tuple(UnitBudget(f"address {pad.unit}", polls + (text if pad.profile.text else 0)) for pad in pads)
    )


def sign_budget(bus: BusConfig, signs: Sequence[SignConfig]) -> BusBudget:
    """The budget of one line of signs: its writes are paced, whatever the number of signs."""
    size = max((sign.model.string_bytes for sign in signs), default=0)
    each = _characters_us(bus, _SIGN_FRAME + size)
    return BusBudget(bus.id, (UnitBudget("signs", SIGN_WRITES * each),) if signs else ())


def sas_budget(bus: BusConfig, lines: Sequence[SasConfig]) -> BusBudget:
    """The budget of a SAS line: one message of the grid after another, each at its longest, 11 bits a character."""
    units = []
    for line in lines:
        size = _SAS_FRAME + (14 if line.broadcast == 0x7A else 6) * (1 if line.broadcast == 0x80 else len(line.levels))
        each = -(-size * _SAS_BITS * SECOND_US // bus.baud)
        units.append(UnitBudget(f"group {line.group}", each * (1000 // line.grid_ms)))
    return BusBudget(bus.id, tuple(units))


def gap_us(baud: int, bits_per_character: int) -> int:
    """The silence before a frame."""
    if baud > GAP_FIXED_ABOVE_BAUD:
        return GAP_US_FIXED
    return -(-7 * bits_per_character * SECOND_US // (2 * baud))


def transaction_us(bus: BusConfig, request: int, reply: int, turnaround_ms: int) -> int:
    """One request and its reply, both in bytes."""
    gaps = 2 * gap_us(bus.baud, bus.bits_per_character)
    return _characters_us(bus, request + reply) + gaps + turnaround_ms * 1000


def _characters_us(bus: BusConfig, characters: int) -> int:
    return -(-characters * bus.bits_per_character * SECOND_US // bus.baud)


def _unit_us(bus: BusConfig, module: ModuleRef, poll: PollConfig) -> int:
    """One second of one module. A key is told by its counter, so a keypad is polled by counters, not by levels."""
    profile = module.profile
    total = 0

    def add(per_1000_seconds: int, request: int, reply: int) -> None:
        nonlocal total
        total += -(-per_1000_seconds * transaction_us(bus, request, reply, profile.turnaround_ms) // 1000)

    polls = -(-1_000_000 // poll.levels_ms)
    levels_reply = _REPLY_FRAME + _bytes(profile.inputs.count)
    if profile.counters is not None:
        reply = _REPLY_FRAME + 2 * profile.inputs.count * profile.counters.words_each
        on_change = COUNTERS_ON_CHANGE * 1000 + -(-1_000_000 // poll.counters_ms)
        add(polls if profile.kind == "keypad" else on_change, _READ_REQUEST, reply)
    if profile.kind == "sensors" or profile.counters is None:
        add(polls, _READ_REQUEST, levels_reply)
    if profile.outputs is not None:
        writes, read_backs = (
            (LAMP_WRITES, LAMP_WRITES + READ_BACKS) if profile.flash else (LAMP_WRITES_TOGGLED, READ_BACKS)
        )
        for coils in _banks(profile):
            add(writes * 1000, _WRITE_FRAME + _bytes(coils), _WRITE_REPLY)
        add(read_backs * 1000, _READ_REQUEST, _REPLY_FRAME + _bytes(profile.outputs.count))
    if profile.text is not None:
        add(TEXT_WRITES * 1000, _WRITE_FRAME + 2 * profile.text.words, _WRITE_REPLY)
        add(READ_BACKS * 1000, _READ_REQUEST, _REPLY_FRAME + 2 * profile.text.words)
    if profile.heartbeat is not None:
        add(HEARTBEATS * 1000, _WRITE_FRAME + 1, _WRITE_REPLY)
    return total


def _banks(profile: Profile) -> tuple[int, ...]:
    """Coils of each write that brings the lamps up to date: one write where outputs and flash bank lie side by side."""
    outputs, flash = profile.outputs, profile.flash
    if outputs is None or flash is None:
        return (outputs.count,) if outputs is not None else ()
    if flash.address == outputs.address + outputs.count:
        return (outputs.count + flash.count,)
    return outputs.count, flash.count


def _bytes(bits: int) -> int:
    return -(-bits // 8)
