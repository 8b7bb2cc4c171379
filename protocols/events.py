"""What a device said, once the bytes are understood. Produced by the edge, consumed by the floor.

Times are milliseconds of one monotonic clock. ``device`` is ``bus/unit``, for example ``pit-1/40``.

A module with inputs tells levels and counters (:class:`Reading`); a keypad of its own tells what was pressed, one event
a press, numbered from 1 since it came up (:class:`KeyPressed`, :class:`CardRead`; one numbering for both).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Reading:
    """Levels and counters of one module, taken together.

    ``began_ms``/``ended_ms`` bound it: the request for the levels left at ``began_ms``, levels and counters were there
    at ``ended_ms``.
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

    ``modulus`` = 2**counter bits; 1 for a keypad of its own: its reading is empty, and its
    numbering begins anew each time.
    """

    device: str
    reading: Reading
    modulus: int


@dataclass(frozen=True, slots=True)
class DeviceDown:
    """A module or its port is lost. ``cause``: timeout, port_lost, identity, key, restarted, unheard, overrun.

    Of modules also: serial (another one of its kind), outputs (they do not show what was written), refused.
    ``found``: in words, what was found: who answered in its place, which lamp does not follow, why the port is gone.
    """

    device: str
    cause: str
    found: str = ""


@dataclass(frozen=True, slots=True)
class InputStuck:
    """An input has been on for so long that no chip lies there; it stands as off until it was off. Told once."""

    device: str
    index: int
    after_s: int


#: The key of a :class:`KeyPressed` that names no act: the first part of a sequence was pressed, and more must follow.
KEY_PART: Final = "part"
#: Presses were lost on their way, or make no sense together: whatever stands half keyed must go.
KEY_LOST: Final = "lost"


@dataclass(frozen=True, slots=True)
class KeyPressed:
    """One press of a key, by the name its profile gives it (:mod:`protocols.pad_words`), or one of the two above.

    It was pressed after ``after_ms``, when the pad last had nothing to tell, and by ``at_ms``, when it told; the
    request that brought it left at ``began_ms``.
    """

    device: str
    count: int
    key: str
    at_ms: int
    began_ms: int
    after_ms: int


@dataclass(frozen=True, slots=True)
class CardRead:
    """A card was held to the pad. ``badge`` is ``BITS:HEX``: how many bits it has, then its bytes, ``26:0123ABC0``."""

    device: str
    count: int
    badge: str
    at_ms: int
