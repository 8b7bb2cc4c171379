"""Devices on the floor of the machine: identities of presses and chips, trust, loss, what was missed.

The twin of the marks imports nothing of meterd. A table ``T1`` has a module ``pit/T1`` with an input for each seat and
one for LOCK, and a pad ``pad/T1`` with one input for all keys.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from meterd.accounting import commands as ask
from meterd.accounting.commands import SYSTEM, Command, Event
from meterd.accounting.entries import Kind

if TYPE_CHECKING:
    from machine_world import World

    from meterd.accounting.rules import Decision

Act = tuple[object, ...]
Mark = tuple[int, int]
#: Small, so that counters run over within a history.
MODULUS: Final = 32


class Marks:
    """What counts no more: of each input the epoch of trust and the count. And how far its counter has come."""

    def __init__(self) -> None:
        self.marks: dict[str, Mark] = {}
        self.raw: dict[str, int] = {}

    def spent(self, event: tuple[str, int, int]) -> bool:
        name, epoch, count = event
        return name in self.marks and (epoch, count) <= self.marks[name]

    def mark(self, event: tuple[str, int, int]) -> None:
        name, epoch, count = event
        self.marks[name] = max(self.marks.get(name, (0, 0)), (epoch, count))

    def next(self, name: str, ahead: int = 1) -> tuple[str, int, int]:
        """The identity of the next move of an input; with 0 that of its last one."""
        epoch, count = self.marks.get(name, (1, 0))
        self.raw[name] = max(self.raw.get(name, 0), count) + ahead
        return name, epoch, self.raw[name]

    def missed(self, counts: dict[str, int]) -> dict[str, dict[str, int]]:
        found = {}
        for name, now in counts.items():
            if name in self.marks and self.marks[name][1] % MODULUS != now:
                found[name] = {"before": self.marks[name][1] % MODULUS, "now": now}
        return found

    def trust(self, counts: dict[str, int]) -> int:
        epoch = 1 + max((self.marks[name][0] for name in counts if name in self.marks), default=0)
        for name, count in counts.items():
            self.marks[name] = (epoch, count)
            self.raw[name] = count
        return epoch

    def heard(self, counts: dict[str, int]) -> None:
        for name, count in counts.items():
            epoch, old = self.marks[name]
            self.marks[name] = (epoch, max(old, count))


COMMANDS: dict[str, Callable[..., Command]] = {
    "trust": lambda tables, counts: ask.TrustDevice(actor=SYSTEM, tables=tables, counts=counts, modulus=MODULUS),
    "lost": lambda table, heard: ask.Note(
        actor=SYSTEM, kind=Kind.DEVICE_LOST, table=table, facts={"cause": "quiet", "heard": heard}
    ),
    "stopped": lambda heard: ask.Note(actor=SYSTEM, kind=Kind.STOPPED, facts={"heard": heard}),
    "late": lambda table, seat: ask.LateBet(actor=SYSTEM, table=table, seat=seat, ms_min=1, ms_max=400),
}


def inputs_of(world: World, table: str) -> list[str]:
    seats = world.twin_of(table).rules.tables[table][0]
    return [f"pit/{table}/di{number}" for number in range(seats + 1)] + [f"pad/{table}/key"]


def make_device_act(world: World, verb: str, a: int, b: int, c: int) -> Act:
    """The act these numbers stand for."""
    names = list(world.tables)
    table = names[b % len(names)]
    if verb == "late":
        return (verb, table, a % 9)
    known = [name for name in inputs_of(world, table) if name in world.marks.marks]
    heard = {name: world.marks.marks[name][1] + (a >> place & 1) for place, name in enumerate(known)}
    if verb == "lost":
        return (verb, table, heard)
    if verb == "stopped":
        return (verb, heard)
    tables = (table,) if c % 7 else (table, names[(b + 1) % len(names)]) if len(names) > 1 else ("T99",)
    inputs = [name for one in tables if one in world.tables for name in inputs_of(world, one)]
    return (verb, tables, {name: _away(world.marks, name, a >> place & 1) for place, name in enumerate(inputs)})


def _away(marks: Marks, name: str, moved: int) -> int:
    """The raw count of an input that comes back."""
    return (max(marks.raw.get(name, 0), marks.marks.get(name, (0, 0))[1]) + moved) % MODULUS


def event_of(world: World, act: Act, a: int, c: int) -> tuple[str, int, int]:
    """The identity of the press that stands behind an act: seven in eight a new one."""
    table = str(act[1]) if len(act) > 1 and str(act[1]) in world.tables else next(iter(world.tables))
    name = f"pit/{table}/di0" if act[0] == "lock" else f"pad/{table}/key"
    input_, epoch, count = world.marks.next(name, ahead=1 if c % 8 else -(a % 2))
    return input_, epoch, count


def chips_of(world: World, table: str, units: dict[int, int], c: int) -> dict[int, tuple[str, int, int]]:
    """The identities of chips: now and then one counted before, or two seats that name the same one."""
    chips = {seat: world.marks.next(f"pit/{table}/di{seat}", ahead=0 if c + seat & 15 == 0 else 1) for seat in units}
    if c % 16 == 1 and len(chips) > 1:
        first, second, *_ = chips
        chips[second] = chips[first]
    return chips


def new_chips(marks: Marks, chips: dict[int, tuple[str, int, int]]) -> list[int]:
    """Seats whose chip counts: it was not counted before, nor for another seat of this LOCK."""
    found: list[int] = []
    counted: list[tuple[str, int, int]] = []
    for seat, chip in chips.items():
        if not marks.spent(chip) and chip not in counted:
            found.append(seat)
        counted.append(chip)
    return found


def with_event(command: Command, event: tuple[str, int, int]) -> Command:
    object.__setattr__(command, "event", Event(*event))
    return command


def same_trust(marks: Marks, act: Act, decision: Decision) -> None:
    """What the entry of a trusted device says of epochs and missed moves; then the marks are those."""
    counts: dict[str, int] = dict(act[2])  # type: ignore[call-overload]
    missed = marks.missed(counts)
    epoch = marks.trust(counts)
    trusted, *rest = decision.entries
    assert {"epoch": epoch, "counts": counts, "modulus": MODULUS} == trusted.body
    told = [entry.body["inputs"] for entry in rest if entry.kind is Kind.MISSED_WHILE_AWAY]
    assert ([missed] if missed else []) == told
