"""Keypads that tell their presses one by one: OSDP on a serial line, USB keyboards. Profiles as data, as for modules.

A layout maps each key of :data:`~meterd.config.devices.KEY_NAMES` to what the pad sends for it: one code, or several
where the pad has fewer keys than the dealer has acts. OSDP codes are written as the pad's keys are marked: ``0`` to
``9``, ``*`` (7F), ``#`` (0D), function keys ``A`` to ``D`` (41 to 44), chords ``E`` to ``H`` (45 to 48); ``B3`` is
``B`` and then ``3``. A USB keyboard's codes are the numbers of Linux (``KEY_KP1`` is 79).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated, Any, Final, Literal, NamedTuple

from pydantic import Field

from meterd.config.devices import KEY_NAMES
from meterd.config.explain import check_shape
from meterd.config.findings import Document, SiteErrors, nearest
from meterd.config.lines import KeyPath
from meterd.config.shapes import Name, Shape

OSDP: Final = "osdp-keypad"
HID: Final = "hid-keypad"
#: Which kind of bus carries which kind of pad.
PAD_BUSES: Final[Mapping[str, str]] = {OSDP: "osdp", HID: "hid"}
OSDP_ADDRESSES: Final = range(127)
#: A USB keyboard is alone on its bus.
HID_UNITS: Final = range(1, 2)
#: The most that libosdp carries in one text command.
TEXT_COLUMNS_MAX: Final = 32
#: Linux' last key code.
KEY_MAX: Final = 0x2FF

_WRITTEN: Final = re.compile(r"[0-9A-H*#]{1,4}")
_SYMBOLS: Final = {"*": 0x7F, "#": 0x0D}
_OSDP_KEY: Final = 'expected one to four of 0-9, *, #, A-H, such as "B3"'
_HID_KEY: Final = f"expected a key code of Linux, 1 to {KEY_MAX}, or a list of one to four of them"


class PadText(NamedTuple):
    """A pad's display."""

    lines: int
    columns: int


@dataclass(frozen=True, slots=True)
class PadProfile:
    """One kind of pad. ``keys``: key name → its codes. ``led``: number of the lamp that shows the table's state."""

    id: str
    kind: Literal["osdp-keypad", "hid-keypad"]
    keys: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    text: PadText | None = None
    led: int | None = None
    buzzer: bool = False


@dataclass(frozen=True, slots=True)
class PadRef:
    """A pad on a bus: what is addressed, and what answers there.

    ``identity``: what the pad must say it is before it is trusted; None: its key (OSDP) or its place (USB) is enough.
    """

    bus: str
    unit: int
    profile: PadProfile
    identity: str | None = None

    @property
    def device(self) -> str:
        """The name used for the device everywhere: ``bus/unit``."""
        return f"{self.bus}/{self.unit}"


class PadTextShape(Shape):
    """``[text]``: the pad's display."""

    lines: Annotated[int, Field(ge=1, le=4, description="how many lines, 1 to 4")]
    columns: Annotated[int, Field(ge=8, le=TEXT_COLUMNS_MAX, description="how many columns, 8 to 32")]


class PadShape(Shape):
    """A profile of a pad that sends codes."""

    id: Name
    kind: Annotated[Literal["osdp-keypad", "hid-keypad"], Field(description='"osdp-keypad" or "hid-keypad"')]
    text: PadTextShape | None = None
    led: Annotated[int | None, Field(ge=0, le=255, description="the number of a lamp, counted from 0")] = None
    buzzer: Annotated[bool, Field(description="true or false")] = False
    keys: Annotated[dict[str, Any], Field(min_length=1, description="key names with what the pad sends")]


def load_pad(document: Document) -> PadProfile:
    """A pad's profile. Raises :class:`SiteErrors` with every finding."""
    shape = check_shape(document, PadShape)
    keys = _keys(document, shape) if shape is not None else {}
    if shape is not None:
        _check(document, shape, keys)
    if shape is None or document.findings:
        raise SiteErrors(document.findings)
    text = PadText(**shape.text.model_dump()) if shape.text is not None else None
    return PadProfile(shape.id, shape.kind, keys, text, shape.led, shape.buzzer)


def _keys(document: Document, shape: PadShape) -> dict[str, tuple[int, ...]]:
    keys = {}
    for name, value in shape.keys.items():
        path: KeyPath = ("keys", name)
        if name not in KEY_NAMES:
            document.finding(path, "unknown key of a keypad", nearest(name, KEY_NAMES))
        codes = osdp_codes(value) if shape.kind == OSDP else _hid_codes(value)
        if codes is None:
            document.finding(path, _OSDP_KEY if shape.kind == OSDP else _HID_KEY)
        else:
            keys[name] = codes
    return keys


def _check(document: Document, shape: PadShape, keys: Mapping[str, tuple[int, ...]]) -> None:
    listed = sorted((codes, name) for name, codes in keys.items())
    for (first, one), (second, other) in pairwise(listed):
        if second[: len(first)] == first:
            document.finding(("keys", other), f'it begins with the whole of "{one}": nobody could tell which is meant')
    if shape.kind == HID:
        for name in ("text", "led"):
            if getattr(shape, name) is not None:
                document.finding((name,), "a USB keyboard shows nothing")


def osdp_codes(written: object) -> tuple[int, ...] | None:
    """The codes of an OSDP key as it is written; None where it is no such text."""
    if not isinstance(written, str) or _WRITTEN.fullmatch(written) is None:
        return None
    return tuple(_SYMBOLS.get(symbol, ord(symbol)) for symbol in written)


def _hid_codes(value: object) -> tuple[int, ...] | None:
    listed: list[object] = value if isinstance(value, list) else [value]
    codes = tuple(code for code in listed if isinstance(code, int) and code is not True and 1 <= code <= KEY_MAX)
    return codes if len(codes) == len(listed) <= 4 and codes else None
