"""The only clock: reads wall time, monotonic time and the kernel's boot id together.

Says too whether the system has set the wall clock by a time server of late.

Order in the ledger comes from its sequence number, never from here.
Units: ``*_ns`` and ``*_ms`` of the monotonic clock.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

#: A step between wall and monotonic time beyond this is written down as a ClockStep.
STEP_MS: Final = 500

#: systemd-timesyncd touches this file each time a time server has told it the time. ``/run`` is new at every boot.
SYNCHRONISED: Final = Path("/run/systemd/timesync/synchronized")
#: It asks every 2,048 s at most (PollIntervalMaxSec). Twice that ago: the server is lost, or the clock was set since.
SYNCHRONISED_NS: Final = 2 * 2_048 * 1_000_000_000


class Instant(NamedTuple):
    """One moment, read once."""

    at_utc: str
    boot: str
    mono_ns: int
    wall_ns: int


class Clock:
    """Reads the machine's clocks and notices when the wall clock was stepped."""

    def __init__(self) -> None:
        """Read the boot id once; it cannot change while we run."""
        try:
            self.boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        except OSError:
            self.boot = "unknown"
        self._second = -1
        self._stamp = ""
        first = self.now()
        self._offset_ns = first.wall_ns - first.mono_ns

    def now(self) -> Instant:
        """The present moment."""
        wall_ns = time.time_ns()
        mono_ns = time.monotonic_ns()
        seconds, rest = divmod(wall_ns, 1_000_000_000)
        if seconds != self._second:  # every entry asks, many in the same second
            self._second = seconds
            self._stamp = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        return Instant(f"{self._stamp}.{rest // 1000:06d}Z", self.boot, mono_ns, wall_ns)

    def step_ms(self, instant: Instant) -> int:
        """How far the wall clock jumped since the last call that reported a step; 0 while it keeps pace."""
        offset_ns = instant.wall_ns - instant.mono_ns
        step = (offset_ns - self._offset_ns) // 1_000_000
        if abs(step) <= STEP_MS:
            return 0
        self._offset_ns = offset_ns
        return step

    def synchronised(self, instant: Instant) -> bool:
        """Whether systemd-timesyncd had the time from a server not long before, by the wall clock itself."""
        try:
            at_ns = SYNCHRONISED.stat().st_mtime_ns
        except OSError:
            return False
        return 0 <= instant.wall_ns - at_ns <= SYNCHRONISED_NS


def mono_ms() -> int:
    """Milliseconds of the monotonic clock."""
    return time.monotonic_ns() // 1_000_000
