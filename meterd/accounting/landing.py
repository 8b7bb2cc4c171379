"""Where money that went from one level to another came to lie, so that it can be taken back from there.

Units: microcents.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Landing(NamedTuple):
    """Where an amount came to lie: a level's meter or overflow, or, with the level's way ``house``, as income."""

    level: str
    in_meter: bool
    microcents: int


def landed_json(landed: Mapping[str, tuple[Landing, ...]]) -> dict[str, list[list[Any]]]:
    """Plain JSON values, for an entry."""
    return {name: [list(landing) for landing in landings] for name, landings in landed.items()}


def landed_from(data: Mapping[str, Any]) -> dict[str, tuple[Landing, ...]]:
    """The inverse of :func:`landed_json`."""
    return {name: tuple(Landing(*landing) for landing in landings) for name, landings in data.items()}
