"""What passes over the lines of ``meterd sas``, kept on disk: for the disputes of the last days, and as recordings.

The daemon keeps the frames of its own lines; this process has a folder of its own, for it cannot write to the other.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import structlog

from meterd.config import Site
from meterd.edge.clock import Clock
from meterd.edge.recorder import Recorder as FlightRecorder
from meterd.edge.trace import Head, Recorder, Trace, Tracer
from meterd.errors import ConfigError

SAS_BITS: Final = 11  # start, eight data, the wakeup bit, stop

log = structlog.get_logger()


class SasFrames:
    """Keeps the pieces of all lines of a site. ``start`` before the lines begin, ``close`` when they have ended."""

    def __init__(self, site: Site, frames: Path | None, recordings: Path | None) -> None:
        """Either folder may be None: nothing is kept there. What the disk does not take of ``frames`` is told once.

        Raises:
            ConfigError: nothing can be recorded in the folder ``recordings``.
        """
        clock = Clock()
        heads = _heads(site, clock)
        self._trace = Trace()
        self._flight = (
            FlightRecorder(self._trace, heads, frames, clock.boot, told=_warn, heads=heads)
            if frames is not None
            else None
        )
        self._recorders = _recorders(heads, recordings) if recordings is not None else {}

    def tracer(self, bus: str) -> Tracer:
        """What the driver of a line calls with each piece."""
        ring, recorder = self._trace.of(bus), self._recorders.get(bus)
        if recorder is None:
            return ring

        def both(way: str, data: bytes) -> None:
            ring(way, data)
            recorder(way, data)

        return both

    def start(self) -> None:
        """Begin to write."""
        if self._flight is not None:
            self._flight.start()

    def close(self) -> None:
        """Write what is there, and end."""
        for recorder in self._recorders.values():
            recorder.close()
        if self._flight is not None:
            self._flight.stop()


def _warn(why: str) -> None:
    log.warning("sas.frames", why=why)


def _heads(site: Site, clock: Clock) -> dict[str, Head]:
    """What a recording says of each line, and both clocks at this moment."""
    now = clock.now()
    buses = [site.bus(bus) for bus in dict.fromkeys(each.bus for each in site.sas)]
    at = (site.settings.id, clock.boot, now.at_utc, now.mono_ns)
    return {bus.id: Head(bus.id, bus.kind, bus.port, bus.baud, SAS_BITS, *at) for bus in buses}


def _recorders(heads: dict[str, Head], folder: Path) -> dict[str, Recorder]:
    """A new file for each line, for ``meterd wire replay``. Raises ConfigError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return {
            bus: Recorder(folder / f"{bus}-{head.at_utc.replace(':', '')}.jsonl", head) for bus, head in heads.items()
        }
    except OSError as error:
        raise ConfigError(f"{folder}: nothing can be recorded there ({error.strerror or error})") from error
