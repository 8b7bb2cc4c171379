"""What the simulated end is told: lines, the modules and signs on them, and the tables that people play at.

A plan is JSON. A module's ``profile`` has the fields of a module profile (as ``dataclasses.asdict`` gives them), so the
same data that drives the daemon shapes its other end. A table names what its people need: the game's cards, the ordered
hand keys of its pay table (hand key *i* is entry *i* - 1 of ``hands``), and its modules as ``[bus, unit]``.
Units: ``*_ms`` milliseconds, ``baud`` bits a second, shares 0 to 1.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any, Final, Self, TypeVar

from protocols.osdp_keys import KEY_BYTES

#: Games whose cards the simulated dealers can read.
EVALUATORS: Final = ("five-card", "three-card", "sevens")


class PlanError(ValueError):
    """The plan cannot be played; the message names the place in it."""


@dataclass(frozen=True, slots=True)
class Bits:
    """A run of inputs or coils. ``function`` 1 is the coil area, 2 the input area."""

    function: int
    address: int
    count: int
    active_high: bool = True


@dataclass(frozen=True, slots=True)
class Counters:
    """One counter for each input. ``function`` 3 is the holding area, 4 the input registers."""

    function: int
    address: int
    bits: int
    high_word_first: bool | str = True  # "either": nobody prints it, and the simulated one has the high word first
    clear: Clear | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """A display in holding registers, two characters each."""

    address: int
    lines: int
    columns: int


@dataclass(frozen=True, slots=True)
class Identity:
    """Registers that say what the module is."""

    function: int
    address: int
    expected: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Serial:
    """Registers that say which one of its kind the module is."""

    function: int
    address: int
    words: int


@dataclass(frozen=True, slots=True)
class Clear:
    """Coils that set a counter back: ``address`` + index of the input."""

    address: int


@dataclass(frozen=True, slots=True)
class Shape:
    """A module's register map and wiring: inputs and outputs by index from 0."""

    inputs: Bits
    counters: Counters | None = None
    outputs: Bits | None = None
    flash: Bits | None = None
    text: Text | None = None
    heartbeat: int | None = None
    identity: Identity | None = None
    turnaround_ms: int = 5
    seats: tuple[int, ...] = ()
    lock: int | None = None
    lamps: tuple[int, ...] = ()
    lockout: int | None = None
    keys: Mapping[str, int] | None = None
    serial: Serial | None = None


@dataclass(frozen=True, slots=True)
class ModulePlan:
    """A module on a line. ``serial``: what it says of itself; without one it makes a number of its unit id."""

    unit: int
    shape: Shape
    serial: str | None = None


@dataclass(frozen=True, slots=True)
class SignPlan:
    """A sign on a line: it hears its own type code and ``Z``, its own address and ``00``.

    ``columns`` of its display, 0 where that does not matter; ``answers`` reads; ``deaf``: its data bits are set wrong.
    """

    id: str
    type_code: str = "Z"
    address: str = "00"
    columns: int = 0
    answers: bool = True
    deaf: bool = False


@dataclass(frozen=True, slots=True)
class GamePlan:
    """A game on a SAS line: its address, and the group and levels it takes part in."""

    address: int
    group: int = 1
    levels: tuple[int, ...] = (1,)


@dataclass(frozen=True, slots=True)
class PadPlan:
    """An OSDP pad on a line. ``key``: hex, the one from the factory if left out. ``keys``: key name → codes.

    ``badge``: what the supervisor of its table holds to it, as a people file writes it.
    """

    address: int
    keys: Mapping[str, tuple[int, ...]]
    key: str = "303132333435363738393a3b3c3d3e3f"
    lines: int = 2
    columns: int = 16
    serial: int = 77
    badge: str | None = None


@dataclass(frozen=True, slots=True)
class NoisePlan:
    """What a bad cable does to a share of its chunks: dropped, one bit flipped, a byte too many. Off by default.

    ``byte`` instead: each byte is flipped, lost or doubled, each with this chance.
    """

    drop: float = 0.0
    flip: float = 0.0
    stray: float = 0.0
    byte: float = 0.0


@dataclass(frozen=True, slots=True)
class LinePlan:
    """A line: ``port`` is the path the daemon opens.

    With a ``device_port`` another program serves the devices, on that path; the relay stays ours.
    """

    id: str
    kind: str
    port: str
    baud: int
    modules: tuple[ModulePlan, ...] = ()
    signs: tuple[SignPlan, ...] = ()
    pads: tuple[PadPlan, ...] = ()
    games: tuple[GamePlan, ...] = ()
    noise: NoisePlan = NoisePlan()
    device_port: str | None = None


@dataclass(frozen=True, slots=True)
class TablePlan:
    """A table and what its people know of the game. An empty name in ``hands`` is a row that is not offered."""

    id: str
    game: str
    seats: int
    sensors: tuple[str, int]
    keypad: tuple[str, int]
    evaluator: str
    hands: tuple[str, ...]
    own_cards: int
    community_cards: int = 0
    decks: int = 1


@dataclass(frozen=True, slots=True)
class Habits:
    """How often people do what. ``lucky``: shares of rounds whose deck is stacked so that a seat makes a high hand."""

    lucky: float = 0.05
    late: float = 0.10
    take_back: float = 0.08
    mistype: float = 0.10
    void_seat: float = 0.02
    void_round: float = 0.01
    busy: float = 0.6


@dataclass(frozen=True, slots=True)
class PersonPlan:
    """Somebody of the rehearsal's people file, and what he types."""

    id: str
    pin: str


@dataclass(frozen=True, slots=True)
class PitPlan:
    """The terminal at the pit: the daemon's control socket, and the supervisors who sign there, two at least."""

    socket: str
    people: tuple[PersonPlan, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything the simulated end serves and plays. Without a ``pit`` nobody can enter cards."""

    lines: tuple[LinePlan, ...]
    tables: tuple[TablePlan, ...] = ()
    habits: Habits = Habits()
    pit: PitPlan | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """A plan from JSON text. Raises :class:`PlanError`."""
        try:
            raw = json.loads(text)
        except ValueError as error:
            raise PlanError(f"the plan is no JSON: {error}") from error
        if not isinstance(raw, dict):
            raise PlanError("the plan is no JSON object")
        lines = tuple(_line(each, f"buses[{n}]") for n, each in enumerate(_list(raw, "buses", "")))
        tables = tuple(_table(each, f"tables[{n}]") for n, each in enumerate(_list(raw, "tables", "")))
        if not lines:
            raise PlanError("the plan names no line: it needs buses")
        known = {(line.id, module.unit) for line in lines for module in line.modules}
        known |= {(line.id, pad.address) for line in lines for pad in line.pads}
        for table in tables:
            if table.evaluator not in EVALUATORS:
                there = ", ".join(EVALUATORS)
                raise PlanError(f"table {table.id}: there is no evaluator {table.evaluator!r}; there are {there}")
            for device in (table.sensors, table.keypad):
                if device not in known:
                    raise PlanError(f"table {table.id} names {device[0]}/{device[1]}, and no bus has it")
        habits = _made(Habits, _known(Habits, raw.get("habits", {}), "habits"), "habits")
        return cls(lines, tables, habits, None if raw.get("pit") is None else _pit(raw["pit"]))


_Made = TypeVar("_Made")


def _made(kind: type[_Made], raw: object, place: str, **given: object) -> _Made:
    """A frozen record from JSON: unknown keys are passed over, lists become tuples, ``given`` stands as it is."""
    raw = _record(raw, place)
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]  # every kind here is a dataclass
    values = {name: _frozen(value) for name, value in raw.items() if name in names and value is not None}
    missing = [field.name for field in fields(kind) if _needed(field) and field.name not in {*values, *given}]  # type: ignore[arg-type]
    if missing:
        raise PlanError(f"{place} lacks {', '.join(missing)}")
    return kind(**{**values, **given})


def _known(kind: type[Any], raw: object, place: str) -> object:
    """``raw``, of something that nobody but a plan has: then another key is a slip of the pen."""
    known = [field.name for field in fields(kind)]
    if unknown := [name for name in _record(raw, place) if name not in known]:
        raise PlanError(f"{place} has no {unknown[0]}: there are {', '.join(known)}")
    return raw


def _needed(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _record(raw: object, place: str) -> Mapping[str, Any]:
    if not isinstance(raw, Mapping):
        raise PlanError(f"{place} is no JSON object")
    return raw


def _list(raw: Mapping[str, Any], name: str, place: str) -> Sequence[Any]:
    found = raw.get(name, ())
    if not isinstance(found, (list, tuple)):
        raise PlanError(f"{place}.{name} is no JSON list" if place else f"{name} is no JSON list")
    return found


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _block(kind: type[_Made], raw: Mapping[str, Any], name: str, place: str) -> _Made | None:
    return None if raw.get(name) is None else _made(kind, raw[name], f"{place}.{name}")


def _module(raw: Mapping[str, Any], place: str) -> ModulePlan:
    profile = _record(raw, place).get("profile")
    if not isinstance(profile, Mapping) or not isinstance(raw.get("unit"), int):
        raise PlanError(f"{place} needs unit and profile")
    inputs = _block(Bits, profile, "inputs", place)
    if inputs is None:
        raise PlanError(f"{place}.profile needs inputs")
    shape = _made(
        Shape,
        profile,
        f"{place}.profile",
        inputs=inputs,
        counters=_counters(profile, place),
        outputs=_block(Bits, profile, "outputs", place),
        flash=_block(Bits, profile, "flash", place),
        text=_block(Text, profile, "text", place),
        identity=_block(Identity, profile, "identity", place),
        serial=_block(Serial, profile, "serial", place),
    )
    return ModulePlan(raw["unit"], shape, raw.get("serial"))


def _counters(profile: Mapping[str, Any], place: str) -> Counters | None:
    raw = profile.get("counters")
    if raw is None:
        return None
    clear = _block(Clear, _record(raw, f"{place}.counters"), "clear", f"{place}.counters")
    return _made(Counters, {**raw, "clear": None}, f"{place}.counters", clear=clear)


def _pad(raw: Mapping[str, Any], place: str) -> PadPlan:
    keys = _record(_record(raw, place).get("keys", {}), f"{place}.keys")
    pad = _made(PadPlan, raw, place, keys={name: tuple(codes) for name, codes in keys.items()})
    try:
        whole = len(bytes.fromhex(pad.key)) == KEY_BYTES
    except (TypeError, ValueError):
        whole = False
    if not whole or not isinstance(pad.address, int):
        raise PlanError(f"{place} needs an address, and as key 32 hex digits")
    return pad


def _line(raw: Mapping[str, Any], place: str) -> LinePlan:
    modules = _list(_record(raw, place), "modules", place)
    signs = _list(raw, "signs", place)
    games = _list(raw, "games", place)
    return _made(
        LinePlan,
        raw,
        place,
        modules=tuple(_module(each, f"{place}.modules[{n}]") for n, each in enumerate(modules)),
        pads=tuple(_pad(each, f"{place}.pads[{n}]") for n, each in enumerate(_list(raw, "pads", place))),
        signs=tuple(_made(SignPlan, each, f"{place}.signs[{n}]") for n, each in enumerate(signs)),
        games=tuple(_made(GamePlan, each, f"{place}.games[{n}]") for n, each in enumerate(games)),
        noise=_made(NoisePlan, _known(NoisePlan, raw.get("noise", {}), f"{place}.noise"), f"{place}.noise"),
    )


def _table(raw: Mapping[str, Any], place: str) -> TablePlan:
    return _made(TablePlan, raw, place)


def _pit(raw: object) -> PitPlan:
    people = _list(_record(_known(PitPlan, raw, "pit"), "pit"), "people", "pit")
    signing = tuple(
        _made(PersonPlan, _known(PersonPlan, each, f"pit.people[{n}]"), f"pit.people[{n}]")
        for n, each in enumerate(people)
    )
    pit = _made(PitPlan, raw, "pit", people=signing)
    if not isinstance(pit.socket, str) or not all(
        isinstance(one, str) for each in signing for one in (each.id, each.pin)
    ):
        raise PlanError("pit needs the path of a socket, and of its people id and PIN, as texts")
    if len({each.id for each in signing}) < 2:
        raise PlanError("pit.people has two people at least: what is large takes two")
    return pit
