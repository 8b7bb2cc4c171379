"""Every pad of a floor that tells its presses one by one: OSDP lines in their thread, keyboards on the wire loop."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from meterd.config import Site, UnitWanted
from meterd.edge.keypad_hid import HidPad
from meterd.edge.keypad_osdp import OsdpLine, OsdpThread
from meterd.edge.keypad_pad import PadEvent, Sink

Trace = Callable[[str, bytes], None]


class PadDesk:
    """What the daemon knows of its pads."""

    def __init__(
        self,
        site: Site,
        keys: Mapping[str, bytes],
        offer: Callable[[PadEvent, str], object],
        trace: Callable[[str], Trace | None] = lambda _port: None,
    ) -> None:
        """``keys``: device → key of its secure channel; ``offer`` takes an event and the bus it came from."""

        def sink(bus: str) -> Sink:
            def told(event: PadEvent) -> None:
                offer(event, bus)

            return told

        self.osdp = {
            bus.id: OsdpLine(bus, site.pads_of(bus.id), keys, sink(bus.id), trace=trace(bus.port))
            for bus in site.buses
            if bus.kind == "osdp" and site.pads_of(bus.id)
        }
        self.hid = {
            bus.id: HidPad(bus, pad, sink(bus.id))
            for bus in site.buses
            if bus.kind == "hid"
            for pad in site.pads_of(bus.id)
        }

    def lives(self) -> list[Coroutine[Any, Any, None]]:
        """What runs until it is cancelled."""
        return [OsdpThread(list(self.osdp.values())).run(), *(pad.run() for pad in self.hid.values())]

    def has(self, bus: str) -> bool:
        """Whether a bus is one of pads."""
        return bus in self.osdp or bus in self.hid

    def want(self, bus: str, unit: int, wanted: UnitWanted) -> None:
        """What a pad should show."""
        if bus in self.osdp:
            self.osdp[bus].want(unit, wanted)

    def rebaseline(self, bus: str) -> None:
        """Events of a bus were lost on their way. Called from the wire loop."""
        if bus in self.osdp:
            self.osdp[bus].rebaseline()
        if bus in self.hid:
            self.hid[bus].rebaseline()

    def go_safe(self) -> list[Coroutine[Any, Any, None]]:
        """CLOSED on every display."""
        return [line.go_safe() for line in self.osdp.values()]

    def to_json(self) -> dict[str, Any]:
        """Numbers for metrics, by bus."""
        lines = {bus: line.stats.to_json() for bus, line in self.osdp.items()}
        return lines | {bus: pad.to_json() for bus, pad in self.hid.items()}
