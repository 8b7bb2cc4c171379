"""Records of a round and its awards: parts of an award, ties, what a link remembers of a LOCK.

Rule 1: plain records with their form in an entry; nothing here decides.
Units: ``*_cents`` whole cents, ``*_microcents``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from meterd.accounting.landing import Landing, landed_from, landed_json


class Part(NamedTuple):
    """One part of an award and where its money came from.

    ``cents`` = ``meter_cents`` + ``house_cents``. ``seed_microcents`` is what the house put up because of this part
    (restart or floor), ``lost_microcents`` the standing seed it carried away: both matter to an undo only.
    ``resets`` is the level's count of restarts right after this part.
    """

    kind: str
    cents: int
    level: str | None = None
    meter_cents: int = 0
    house_cents: int = 0
    reset: bool = False
    seed_microcents: int = 0
    lost_microcents: int = 0
    resets: int = 0

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, for an entry."""
        return self._asdict()


def cut_parts(parts: tuple[Part, ...], cuts: tuple[int, ...]) -> tuple[Part, ...]:
    """Parts of an award less what an aggregate limit took off each."""
    return tuple(
        part._replace(cents=part.cents - cut, house_cents=part.house_cents - cut)
        for part, cut in zip(parts, cuts, strict=True)
    )


@dataclass(frozen=True, slots=True)
class Tie:
    """Awards of one round on one level that are reckoned together (M7).

    ``frozen_cents`` is what they share (``split``) or each take their share of (``full_each``); ``meter_cents`` what of
    it came from the meter; ``resets`` the level's restarts when it began; ``closed`` once all members are confirmed,
    ``late`` who claimed after that.
    """

    frozen_cents: int
    meter_cents: int
    resets: int
    members: tuple[str, ...] = ()
    closed: bool = False
    late: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, for an entry."""
        return {
            "frozen_cents": self.frozen_cents,
            "meter_cents": self.meter_cents,
            "resets": self.resets,
            "members": list(self.members),
            "closed": self.closed,
            "late": list(self.late),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Tie:
        """The inverse of :meth:`to_json`."""
        return cls(
            data["frozen_cents"],
            data["meter_cents"],
            data["resets"],
            tuple(data["members"]),
            data["closed"],
            tuple(data["late"]),
        )


@dataclass(frozen=True, slots=True)
class RoundMark:
    """What a link remembers of a locked round: restarts of each level at LOCK, what arrived above limits, ties.

    ``landed`` where that came to lie, for a level whose overflow is another level, in the order of its arrival.
    """

    resets: Mapping[str, int]
    over: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    ties: Mapping[str, Tie] = field(default_factory=dict)
    landed: Mapping[str, tuple[Landing, ...]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, for an entry."""
        return {
            "resets": dict(self.resets),
            "over": {name: {str(seat): amount for seat, amount in seats.items()} for name, seats in self.over.items()},
            "ties": {name: tie.to_json() for name, tie in self.ties.items()},
            "landed": landed_json(self.landed),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RoundMark:
        """The inverse of :meth:`to_json`."""
        return cls(
            dict(data["resets"]),
            {name: {int(seat): amount for seat, amount in seats.items()} for name, seats in data["over"].items()},
            {name: Tie.from_json(tie) for name, tie in data["ties"].items()},
            landed_from(data.get("landed", {})),
        )
