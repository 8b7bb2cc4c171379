"""Commands of outcomes that all seats share, and of a hand split in two.

Rule 1: as in ``commands``: what was seen or keyed, never what it should lead to.
Sources: streaks and common outcomes (money rules M8; PA 617b.4), splits (CO 47.1-1099.38, Shootout Bonus (3)).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from meterd.accounting.commands import Actor, Command


@dataclass(frozen=True, slots=True, kw_only=True)
class Number(Command):
    """A spin or roll at a table whose hands are made of numbers, as it is written: ``17``, ``00``, ``2+2``.

    ``signs``: level → cents last shown.
    """

    table: str
    number: str
    signs: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class VoidSpin(Command):
    """The last number of the round was no valid spin, or was misread: it is taken back and spun or keyed again."""

    table: str
    second: Actor | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimBoard(Command):
    """A hand that the board, or a streak kept on the layout, gives to every live seat: ``hand`` or ``cards``.

    ``signs``: level → cents last shown.
    """

    table: str
    hand: str | None = None
    cards: Mapping[str, str] | None = None
    signs: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Split(Command):
    """A seat splits its hand in two. Where both hands count it has put up an equal second wager."""

    table: str
    seat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tip(Command):
    """A tip of ``cents`` stood beside the hand of an award and wins with it."""

    award: str
    cents: int
    second: Actor | None = None


class TipReason(StrEnum):
    """Why a tip that was handed out is taken back; there is no other reason."""

    MISKEYED = "miskeyed"
    WRONG_AWARD = "wrong-award"
    NO_TIP = "no-tip"


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoTip(Command):
    """The tip beside an award was keyed wrong, and its money is in the tray again."""

    award: str
    reason: TipReason
    second: Actor | None = None
