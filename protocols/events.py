"""What a device said, once the bytes are understood. Produced by the edge, consumed by the floor.

Times are milliseconds of one monotonic clock. ``device`` is ``bus/unit``, for example ``pit-1/40``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reading:
    """Levels and counters of one module, taken together.

    ``began_ms``/``ended_ms`` bound the level snapshot: the request left at ``began_ms``, the reply was whole at
    ``ended_ms``.
    ``previous_ended_ms`` is the end of the level snapshot before it (for the interval of a late edge).
    ``levels`` are True for active (polarity already applied). ``counts`` are raw counters read *after* the levels.
    """

    device: str
    began_ms: int
    ended_ms: int
    previous_ended_ms: int
    levels: tuple[bool, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DeviceUp:
    """A module answers (again) and its identity is checked; ``reading`` is the baseline.

    ``modulus`` = 2**counter bits.
    """

    device: str
    reading: Reading
    modulus: int


@dataclass(frozen=True, slots=True)
class DeviceDown:
    """A module or its port is lost. ``cause``: timeout, port_lost, identity, restarted, unheard, overrun."""

    device: str
    cause: str
