"""The daemon's side of ``meterd monitor``, ``wire record`` and ``ports``: what passes over its lines, to read only."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import structlog

from meterd.config import BusConfig, Site
from meterd.edge.clock import Clock
from meterd.edge.control import Answer
from meterd.edge.recorder import Recorder
from meterd.edge.trace import Head, Trace, Tracer

log = structlog.get_logger()

#: Pieces of one answer: half a second of the busiest line, and a millisecond of the wire loop.
PIECES: Final = 256
_ELSEWHERE: Final = {
    "sas": "meterd sas has the line, in a process of its own. What passed lies in `frames` of its state folder:"
    " `meterd wire replay FILE`; from now on with `meterd sas --record FOLDER`",
    "hid": "a USB keyboard has no line, its presses are in the log",
}


class WireDesk:
    """Keeps the trace of all lines and answers about it. Belongs to the wire loop, but for the tracers."""

    def __init__(self, site: Site) -> None:
        """Begin with nothing heard."""
        self._site = site
        self._clock = Clock()  # the money thread has its own
        self._buses = {bus.id: bus for bus in site.buses}
        self.trace = Trace()
        self._recorder: Recorder | None = None

    async def keep(self, folder: Path | None) -> None:
        """Keep what passes in files of ``folder``, where there is one, until this is cancelled."""
        if folder is None:
            return
        ours = {name: bus for name, bus in self._buses.items() if bus.kind not in _ELSEWHERE}
        heads = {name: head_of(bus, self._site, self._clock) for name, bus in ours.items()}
        self._recorder = Recorder(self.trace, ours, folder, self._clock.boot, told=_not_kept, heads=heads)
        self._recorder.start()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.to_thread(self._recorder.stop)

    def kept(self) -> dict[str, int]:
        """What the recorder could not keep: pieces the rings let go first, and times the disk took nothing."""
        recorder = self._recorder
        return {"lost": recorder.lost, "failures": recorder.failures} if recorder is not None else {}

    def tracer(self, bus: str) -> Tracer:
        """What the driver of a bus calls with every piece it sends or hears."""
        return self.trace.of(bus)

    def tracer_of_port(self, port: str) -> Tracer:
        """The same by the name of its port."""
        return self.trace.of(next((bus.id for bus in self._buses.values() if bus.port == port), port))

    def wire(self, request: Mapping[str, Any]) -> Answer:
        """``{"op": "wire", "port": BUS or its port, "after": n}`` → the pieces behind ``n``, and which line it is."""
        asked, after = str(request.get("port")), request.get("after", 0)
        found = [bus for bus in self._buses.values() if asked in {bus.id, bus.port}]
        if not found:
            return {"error": f"no line {asked}: there are {', '.join(self._buses)}"}
        if not isinstance(after, int) or isinstance(after, bool):
            return {"error": f"after is the number of a piece, not {after!r}"}
        (bus,) = found
        if bus.kind in _ELSEWHERE:
            return {"error": f"{bus.id} cannot be listened to here: {_ELSEWHERE[bus.kind]}"}
        heard = self.trace.behind(bus.id, after, PIECES)
        head = head_of(bus, self._site, self._clock)
        return {
            "head": head._asdict(),
            "pieces": [[piece.number, piece.at_ns, piece.way, piece.data.hex()] for piece in heard.pieces],
            "last": heard.last,
            "lost": heard.lost,
        }

    def ports(self, states: Callable[[str], Mapping[str, Any]]) -> Answer:
        """``{"op": "ports"}`` → each line with its port, its state, and how long ago a byte passed either way."""
        now_ns = time.monotonic_ns()

        def ago_ms(bus: str, way: str) -> int | None:
            last_ns = self.trace.last_ns(bus, way)
            return None if last_ns is None else (now_ns - last_ns) // 1_000_000

        return {
            "ports": {
                bus.id: {
                    "port": bus.port,
                    "kind": bus.kind,
                    "heard_ms_ago": ago_ms(bus.id, "rx"),
                    "sent_ms_ago": ago_ms(bus.id, "tx"),
                    **states(bus.id),
                }
                for bus in self._buses.values()
            }
        }


def _not_kept(why: str) -> None:
    log.warning("wires.frames", why=why)


def head_of(bus: BusConfig, site: Site, clock: Clock) -> Head:
    """What a recording says of a line, and both clocks at this moment."""
    now = clock.now()
    return Head(
        bus=bus.id,
        kind=bus.kind,
        port=bus.port,
        baud=bus.baud,
        bits=bus.bits_per_character,
        site=site.settings.id,
        boot=clock.boot,
        at_utc=now.at_utc,
        mono_ns=now.mono_ns,
        mode=f"{bus.bytesize}{bus.parity}{bus.stopbits}",
    )
