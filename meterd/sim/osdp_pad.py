"""The other end of an OSDP line: keypads with reader, display, lamp and buzzer, spoken for by libosdp.

Bytes in, bytes out: whoever has the line (a relay with line time, a test) hands over what came and sends what is
returned. Keys are written as a layout writes them: ``B3`` is the key B and then 3; ``*`` is 7F, ``#`` is 0D.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import osdp_sys  # type: ignore[import-not-found]

from meterd.sim.plan import PadPlan
from protocols import pad_words
from protocols.osdp_keys import codes

#: The first byte of a pad's answer, and how long it thinks before it.
REPLY_START: Final = 0x53
PAD_TURNAROUND_S: Final = 0.003

#: How often the library is called for one piece of bytes: one call reads, one answers.
_STEPS: Final = 3
_COLOURS: Final = {0: "dark", 1: "red", 2: "green", 3: "amber"}


@dataclass(frozen=True, slots=True)
class PadKind:
    """What a pad says of itself. ``identity`` is how a site file names it."""

    vendor: int = 0x00BEBA
    model: int = 2
    version: int = 1
    serial: int = 77
    firmware: int = 0x010203

    @property
    def identity(self) -> str:
        """Maker, model and serial number in hex."""
        return f"{self.vendor:06X}-{self.model:02X}-{self.serial:08X}"


class _Wire:
    """What libosdp takes for a line: two buffers."""

    id = 0

    def __init__(self) -> None:
        self.heard = bytearray()
        self.said = bytearray()

    def read(self, max_bytes: int) -> bytes:
        data = bytes(self.heard[:max_bytes])
        del self.heard[:max_bytes]
        return data

    def write(self, data: bytes) -> int:
        self.said += data
        return len(data)

    def flush(self) -> None:
        self.heard.clear()


class OsdpPad:
    """One pad. ``mute``: it hears nothing and says nothing, as if unplugged. ``key`` None: it has only the default."""

    def __init__(
        self, address: int, key: bytes | None, *, kind: PadKind | None = None, lines: int = 2, columns: int = 16
    ) -> None:
        self.address = address
        self.key = key
        self.kind = kind or PadKind()
        self.size = (lines, columns)
        self.mute = False
        self.led = "dark"
        self.beeps = 0
        self.listeners: list[Callable[[], None]] = []
        self.reboot()

    @classmethod
    def of(cls, plan: PadPlan) -> Self:
        """The pad of a plan."""
        kind = PadKind(serial=plan.serial)
        return cls(plan.address, bytes.fromhex(plan.key), kind=kind, lines=plan.lines, columns=plan.columns)

    def reboot(self) -> None:
        """Power off and on: the session, what was pressed and not told, and what was shown are gone."""
        osdp_sys.set_loglevel(osdp_sys.LOG_EMERG)  # it writes to standard output
        self._wire = _Wire()
        self._lines = [""] * self.size[0]
        self.led = "dark"
        self._library = osdp_sys.PeripheralDevice(self._info(), capabilities=_capabilities(self.size[0]))
        self._library.set_command_callback(self._command)
        self._library.set_event_completion_callback(lambda *_: None)

    def text(self) -> tuple[str, ...]:
        """What the display shows."""
        return tuple(line.rstrip() for line in self._lines)

    @property
    def secure(self) -> bool:
        """Whether a session with a panel stands."""
        return bool(self._library.is_sc_active())

    def press(self, written: str) -> None:
        """Keys pressed so fast that the pad tells them in one reply."""
        self.press_codes(bytes(codes(written)))

    def press_codes(self, data: bytes) -> None:
        """The same by their codes."""
        self._submit({"event": osdp_sys.EVENT_KEYPRESS, "reader_no": 0, "data": data})

    def card(self, bits: int, data: bytes) -> None:
        """A card held to the reader."""
        event = {"event": osdp_sys.EVENT_CARDREAD, "reader_no": 0, "format": osdp_sys.CARD_FMT_RAW_WIEGAND}
        self._submit({**event, "direction": 0, "length": bits, "data": data})

    def serve(self, data: bytes) -> bytes:
        """Bytes of the line in, the pad's answer out."""
        if self.mute:
            return b""
        self._wire.heard += data
        for _ in range(_STEPS):
            self._library.refresh()
        said, self._wire.said = bytes(self._wire.said), bytearray()
        return said

    def _submit(self, event: dict[str, Any]) -> None:
        if not self._library.submit_event(event):
            raise RuntimeError(f"pad {self.address} takes no more events")

    def _command(self, command: dict[str, Any]) -> tuple[int, None]:
        kind = command.get("command")
        if kind == osdp_sys.CMD_TEXT:
            self._write(command["offset_row"], command["offset_col"], command["data"])
        elif kind == osdp_sys.CMD_LED:
            self.led = _COLOURS.get(command["on_color"], "other")
        elif kind == osdp_sys.CMD_BUZZER:
            self.beeps += 1
        for listener in self.listeners:
            listener()
        return 0, None

    def _write(self, row: int, column: int, text: str) -> None:
        rows, columns = self.size
        if 1 <= row <= rows:
            line = self._lines[row - 1].ljust(columns)
            self._lines[row - 1] = (line[: column - 1] + text + line[column - 1 + len(text) :])[:columns]

    def _info(self) -> dict[str, Any]:
        return {
            "name": f"pad-{self.address}",
            "address": self.address,
            "flags": osdp_sys.FLAG_ENFORCE_SECURE if self.key is not None else osdp_sys.FLAG_INSTALL_MODE,
            "scbk": self.key,
            "channel": self._wire,
            "version": self.kind.version,
            "model": self.kind.model,
            "vendor_code": self.kind.vendor,
            "serial_number": self.kind.serial,
            "firmware_version": self.kind.firmware,
        }


class DealerPad:
    """A pad as the people of a table use it: keys by name, as ``keys`` maps them to codes.

    Its supervisor holds ``badge`` (``BITS:HEX``) to it where a module would have a key switch.
    """

    def __init__(self, pad: OsdpPad, keys: Mapping[str, Sequence[int]], badge: str | None = None) -> None:
        self.pad = pad
        self._badge = badge
        self.listeners: list[Callable[[float], None]] = []
        self.key_names: Mapping[str, int] = {name: index for index, name in enumerate(keys)}
        self._codes = [bytes(each) for each in keys.values()]
        pad.listeners.append(self._changed)

    def set_input(self, index: int, *, on: bool, at: float) -> None:  # noqa: ARG002 - as a module is pressed
        """A finger comes down on a key, or on the keys of a sequence one after the other; it going is nothing."""
        if on and self._badge is not None and index == self.key_names.get(pad_words.KEY_SUPERVISOR):
            bits, _, data = self._badge.partition(":")
            self.pad.card(int(bits), bytes.fromhex(data))
        elif on:
            self.pad.press_codes(self._codes[index])

    def text(self) -> tuple[str, ...]:
        """What the display shows."""
        return self.pad.text()

    def _changed(self) -> None:
        for listener in self.listeners:
            listener(time.monotonic())


class OsdpPads:
    """All pads of one line, behind its bytes."""

    def __init__(self, pads: Sequence[OsdpPad]) -> None:
        self.pads = {pad.address: pad for pad in pads}

    def serve(self, data: bytes, at: float = 0.0) -> bytes:  # noqa: ARG002 - as every device end is served
        """Request bytes in, reply bytes out."""
        return b"".join(pad.serve(data) for pad in self.pads.values())


def _capabilities(lines: int) -> list[dict[str, int]]:
    found = [
        (osdp_sys.CAP_READER_LED_CONTROL, 1, 1),
        (osdp_sys.CAP_READER_AUDIBLE_OUTPUT, 1, 1),
        (osdp_sys.CAP_CARD_DATA_FORMAT, 1, 0),
        (osdp_sys.CAP_CHECK_CHARACTER_SUPPORT, 1, 0),
        (osdp_sys.CAP_COMMUNICATION_SECURITY, 1, 0),
    ]
    if lines:
        found.append((osdp_sys.CAP_READER_TEXT_OUTPUT, 1, 1))
    return [{"function_code": code, "compliance_level": level, "num_items": items} for code, level, items in found]
