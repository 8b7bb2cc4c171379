"""What a table shows: lamps, the "betting closed" lamp, and the two lines of its pad.

Rule 1: steady comes from the book alone: an accepted wager of the running round. Blinking previews what was seen.
Rule 2: whatever is not certain is dark, and betting shows as closed.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from enum import StrEnum
from typing import NamedTuple

from meterd.accounting.state import TableState
from meterd.floor.transitions import Phase


class Lamp(StrEnum):
    """What a seat's lamp says: nothing; a wager was seen; a wager was accepted."""

    DARK = "dark"
    BLINK = "blink"
    STEADY = "steady"


class TableView(NamedTuple):
    """What the table should show: lamps by seat, whether the "betting closed" lamp is lit, the two lines of the pad."""

    lamps: tuple[Lamp, ...]
    lockout: bool
    text: tuple[str, str]


def lamps(phase: Phase, table: TableState, present: AbstractSet[int]) -> tuple[Lamp, ...]:
    """One lamp for each seat of the table; ``present`` are the seats that LOCK would take now."""
    accepted: AbstractSet[int] = table.wagers.keys() if phase is Phase.LOCKED else frozenset()
    seats = range(1, table.settings.seats + 1)
    return tuple(Lamp.STEADY if seat in accepted else Lamp.BLINK if seat in present else Lamp.DARK for seat in seats)
