"""Module profiles and sign models: TOML text → frozen records, or findings of the same quality as a site file's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Final, Literal

from pydantic import Field, WrapValidator

from meterd.config.devices import (
    KEY_NAMES,
    BitBlock,
    ClearBlock,
    CounterBlock,
    IdentityBlock,
    Profile,
    SafeState,
    SerialBlock,
    SignModel,
    TextBlock,
)
from meterd.config.explain import check_shape
from meterd.config.findings import Document, SiteErrors, nearest
from meterd.config.lines import KeyPath
from meterd.config.pads import PAD_BUSES, PadProfile, load_pad
from meterd.config.shapes import Name, Shape, said_once

#: One request reads at most 125 registers; a profile that needs more would need two readings taken apart in time.
REGISTERS_MAX: Final = 125
STRING_BYTES_MAX: Final = 125  # largest STRING file a sign takes

Address = Annotated[int, Field(ge=0, le=65535, description="an address counted from 0, 0 to 65535")]
Points = Annotated[int, Field(ge=1, le=64, description="how many points, 1 to 64")]
Index = Annotated[int, Field(ge=0, le=63, description="an index counted from 0")]
Indices = Annotated[tuple[Index, ...], Field(strict=False, description="a list of indices counted from 0")]
Flag = Annotated[bool, Field(description="true or false")]


class BitsShape(Shape):
    """``[inputs]``, ``[outputs]`` or ``[flash]``."""

    function: Annotated[Literal[1, 2], Field(description="1 (coils) or 2 (discrete inputs)")]
    address: Address
    count: Points
    active_high: Flag = True


class ClearShape(Shape):
    """``[counters.clear]``: coils that set a counter back when a 1 is written."""

    address: Address


class CountersShape(Shape):
    """``[counters]``: one for each input, in the order of the inputs."""

    function: Annotated[Literal[3, 4], Field(description="3 (holding registers) or 4 (input registers)")]
    address: Address
    bits: Annotated[Literal[16, 32], Field(description="16 or 32")]
    high_word_first: Annotated[
        bool | Literal["either"],
        WrapValidator(said_once),
        Field(description='true, false, or "either" where no public page tells'),
    ]
    clear: ClearShape | None = None


class TextShape(Shape):
    """``[text]``: a display in holding registers."""

    address: Address
    lines: Annotated[int, Field(ge=1, le=4, description="how many lines, 1 to 4")]
    columns: Annotated[int, Field(ge=8, le=40, description="how many columns, 8 to 40")]


class IdentityShape(Shape):
    """``[identity]``: registers that say what the module is."""

    function: Annotated[Literal[3, 4], Field(description="3 (holding registers) or 4 (input registers)")]
    address: Address
    expected: Annotated[
        tuple[Annotated[int, Field(ge=0, le=65535)], ...],
        Field(strict=False, min_length=1, max_length=16, description="a list of 1 to 16 register values, 0 to 65535"),
    ]


class SerialShape(Shape):
    """``[serial]``: registers that tell one module of a kind from the next."""

    function: Annotated[Literal[3, 4], Field(description="3 (holding registers) or 4 (input registers)")]
    address: Address
    words: Annotated[int, Field(ge=1, le=16, description="how many registers, 1 to 16")]


class SafeStateShape(Shape):
    """``[safe_state]``: the module's own watchdog, for whoever commissions it."""

    after_ms: Annotated[
        Annotated[int, Field(ge=100, le=600_000)] | Literal["none"],
        WrapValidator(said_once),
        Field(description='milliseconds without meterd after which the lamps go dark, or "none"'),
    ]
    watches: Annotated[str, Field(min_length=1, description="what has to stay away: a request, or the heartbeat")]
    set_up: Annotated[str, Field(min_length=1, description="how it is switched on, or where that is told")]


class WiringShape(Shape):
    """``[wiring]``: what is wired to the inputs and outputs of a sensor module."""

    seats: Annotated[
        tuple[Index, ...],
        Field(strict=False, min_length=1, description="a list of input indices, that of seat 1 first"),
    ]
    lock: Index | None = None
    lamps: Indices = ()
    lockout: Index | None = None


class ProfileShape(Shape):
    """A module profile."""

    id: Name
    kind: Annotated[Literal["sensors", "keypad"], Field(description='"sensors" or "keypad"')]
    turnaround_ms: Annotated[int, Field(ge=0, le=1000, description="milliseconds until it answers, 0 to 1000")]
    inputs: BitsShape
    counters: CountersShape | None = None
    outputs: BitsShape | None = None
    flash: BitsShape | None = None
    text: TextShape | None = None
    heartbeat: Address | None = None
    identity: IdentityShape | None = None
    wiring: WiringShape | None = None
    keys: Annotated[dict[str, Index], Field(default_factory=dict, description="key names with input indices")]
    serial: SerialShape | None = None
    safe_state: SafeStateShape | None = None


class SignModelShape(Shape):
    """``[[sign]]``: one kind of sign."""

    id: Name
    type_code: Annotated[str, Field(pattern=r"^[!-~]$", description="one printable character")]
    address: Annotated[str, Field(pattern=r"^[0-9A-F]{2}$", description='two hex digits such as "00"')]
    columns: Annotated[int, Field(ge=4, le=80, description="characters shown at once, 4 to 80")]
    string_bytes: Annotated[
        int, Field(ge=8, le=STRING_BYTES_MAX, description="bytes of the file of one figure, 8 to 125")
    ]
    checksum: Annotated[bool, Field(description="true or false: commands carry a checksum")]
    broadcast: Annotated[bool, Field(description="true or false: takes what is sent to all signs of the line")]
    answers: Annotated[bool, Field(description="true or false: answers reads")]
    clock: Annotated[bool, Field(description="true or false: its clock is set")]


class SignsFile(Shape):
    """A list of sign models."""

    sign: Annotated[tuple[SignModelShape, ...], Field(strict=False, min_length=1, description="at least one [[sign]]")]


def load_profile(text: str, filename: str) -> Profile | PadProfile:
    """A profile of a module, or of a pad that sends codes. Raises :class:`SiteErrors` with every finding."""
    document = Document.parse(text, filename)
    if document.raw.get("kind") in PAD_BUSES:
        return load_pad(document)
    shape = check_shape(document, ProfileShape)
    if shape is not None:
        _check_profile(document, shape)
    if shape is None or document.findings:
        raise SiteErrors(document.findings)
    return _profile(shape)


def load_signs(text: str, filename: str) -> dict[str, SignModel]:
    """The sign models of a file, by id. Raises :class:`SiteErrors` with every finding."""
    document = Document.parse(text, filename)
    shape = check_shape(document, SignsFile)
    models: dict[str, SignModel] = {}
    for index, sign in enumerate(shape.sign if shape else ()):
        if sign.id in models:
            document.finding(("sign", index, "id"), f'"{sign.id}" stands here twice')
        models[sign.id] = SignModel(**sign.model_dump())
    if document.findings:
        raise SiteErrors(document.findings)
    return models


def _profile(shape: ProfileShape) -> Profile:
    wiring = shape.wiring
    return Profile(
        id=shape.id,
        kind=shape.kind,
        inputs=BitBlock(**shape.inputs.model_dump()),
        counters=_counters(shape.counters) if shape.counters else None,
        outputs=BitBlock(**shape.outputs.model_dump()) if shape.outputs else None,
        flash=BitBlock(**shape.flash.model_dump()) if shape.flash else None,
        text=TextBlock(**shape.text.model_dump()) if shape.text else None,
        heartbeat=shape.heartbeat,
        identity=IdentityBlock(**shape.identity.model_dump()) if shape.identity else None,
        turnaround_ms=shape.turnaround_ms,
        seats=wiring.seats if wiring else (),
        lock=wiring.lock if wiring else None,
        lamps=wiring.lamps if wiring else (),
        lockout=wiring.lockout if wiring else None,
        keys=dict(shape.keys),
        serial=SerialBlock(**shape.serial.model_dump()) if shape.serial else None,
        safe_state=_safe_state(shape.safe_state) if shape.safe_state else None,
    )


def _counters(shape: CountersShape) -> CounterBlock:
    clear = ClearBlock(shape.clear.address) if shape.clear else None
    return CounterBlock(shape.function, shape.address, shape.bits, shape.high_word_first, clear)


def _safe_state(shape: SafeStateShape) -> SafeState:
    return SafeState(None if shape.after_ms == "none" else shape.after_ms, shape.watches, shape.set_up)


def _check_profile(document: Document, shape: ProfileShape) -> None:
    for name in ("outputs", "flash"):
        block = getattr(shape, name)
        if block is not None and block.function != 1:
            document.finding((name, "function"), "outputs are coils: expected 1, found 2")
    if shape.counters is not None:
        registers = shape.inputs.count * shape.counters.bits // 16
        if registers > REGISTERS_MAX:
            document.finding(
                ("counters", "bits"), f"{registers} registers do not fit into one reading of {REGISTERS_MAX}"
            )
        if shape.counters.bits == 16 and shape.counters.high_word_first == "either":
            document.finding(("counters", "high_word_first"), "one register has no order: expected true or false")
    _check_coils(document, shape)
    if shape.kind == "sensors":
        _check_sensors(document, shape)
    else:
        _check_keypad(document, shape)


def _check_coils(document: Document, shape: ProfileShape) -> None:
    """Outputs, flash bank and heartbeat are coils of their own."""
    if shape.flash is not None:
        if shape.outputs is None:
            document.finding(("flash",), "a flash bank without outputs: expected [outputs]")
        elif shape.flash.count < shape.outputs.count:
            document.finding(("flash", "count"), f"expected one coil for each of the {shape.outputs.count} outputs")
    taken: dict[int, str] = {}
    for name in ("outputs", "flash"):
        block = getattr(shape, name)
        for address in range(block.address, block.address + block.count) if block else ():
            if taken.setdefault(address, name) != name:
                document.finding((name, "address"), f"coil {address} belongs to {taken[address]} already")
                break
    if shape.heartbeat in taken:
        document.finding(("heartbeat",), f"coil {shape.heartbeat} belongs to {taken[shape.heartbeat]} already")


def _check_sensors(document: Document, shape: ProfileShape) -> None:
    wiring = shape.wiring
    if shape.keys:
        document.finding(("keys",), 'keys belong to a profile of kind "keypad"')
    if wiring is None:
        document.finding(("wiring",), "missing: expected a table with seats")
        return
    if wiring.lock is not None and shape.counters is None:
        # A level polled ten times a second misses a short press, and a press without a counter has no identity.
        document.finding(
            ("wiring", "lock"), "a lock button needs a counter for its input: expected [counters], or no lock"
        )
    if wiring.lamps and len(wiring.lamps) != len(wiring.seats):
        document.finding(("wiring", "lamps"), f"expected a lamp for each of the {len(wiring.seats)} seats, or none")
    _check_indices(document, list(_inputs_used(wiring)), shape.inputs.count, "input")
    outputs = shape.outputs.count if shape.outputs else 0
    _check_indices(document, list(_outputs_used(wiring)), outputs, "output")


def _inputs_used(wiring: WiringShape) -> Iterator[tuple[KeyPath, int]]:
    for seat, index in enumerate(wiring.seats):
        yield ("wiring", "seats", seat), index
    if wiring.lock is not None:
        yield ("wiring", "lock"), wiring.lock


def _outputs_used(wiring: WiringShape) -> Iterator[tuple[KeyPath, int]]:
    for seat, index in enumerate(wiring.lamps):
        yield ("wiring", "lamps", seat), index
    if wiring.lockout is not None:
        yield ("wiring", "lockout"), wiring.lockout


def _check_indices(document: Document, used: list[tuple[KeyPath, int]], count: int, what: str) -> None:
    """Every index exists, and no point has two meanings."""
    taken: set[int] = set()
    for path, index in used:
        if index >= count:
            document.finding(path, f"{what} {index} does not exist: the module has {count} of them, counted from 0")
        elif index in taken:
            document.finding(path, f"{what} {index} is used twice")
        taken.add(index)


def _check_keypad(document: Document, shape: ProfileShape) -> None:
    if shape.wiring is not None:
        document.finding(("wiring",), 'wiring belongs to a profile of kind "sensors"; a keypad has [keys]')
    if shape.counters is None:
        document.finding(("counters",), "missing: a key's counter is the identity of a press")
    if not shape.keys:
        document.finding(("keys",), "missing: expected key names with input indices")
    for name in shape.keys:
        if name not in KEY_NAMES:
            document.finding(("keys", name), "unknown key of a keypad", nearest(name, KEY_NAMES))
    used: list[tuple[KeyPath, int]] = [(("keys", name), index) for name, index in shape.keys.items()]
    _check_indices(document, used, shape.inputs.count, "input")
