"""Commands of funds: posted jackpots of player-banked poker, and the pools of table games.

Rule 1: a command carries what was taken, keyed or counted, never what it should lead to.
Rule 2: a fund is named by its id, a pool by fund and name, a player's share by its number (J1, J2, …).
Units: ``*_cents``, ``*_ppm``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from meterd.accounting.commands import Actor, Command
from meterd.accounting.commands_links import TwoPeople
from meterd.accounting.settings_pools import FundSettings


class Share(NamedTuple):
    """A share of the posted value, divided by so many players."""

    percent_ppm: int
    players: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenFund(Command):
    """Put a fund in force. Its pools begin empty, nothing is posted."""

    settings: FundSettings
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseFund(Command):
    """Close a fund's table: a Home Run pool goes pro rata by base runners, any other has to be empty."""

    fund: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReopenFund(Command):
    """Play goes on at a fund that was closed."""

    fund: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rake(Command):
    """The jackpot rake of one pot. ``table`` is where the pot was, for the record."""

    fund: str
    cents: int
    at_table: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DropWagers(Command):
    """Jackpot wagers of these seats go into the jackpot drop box, ``cents`` each (Longhorn, 208 Poker)."""

    fund: str
    seats: tuple[int, ...]
    cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Post(Command):
    """The amounts are posted after soft count. ``gaming_day`` such as 2026-12-01; empty where nobody says."""

    fund: str
    gaming_day: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WinPool(Command):
    """A supervisor awards a posted jackpot; ``second`` is who called it. ``shares`` in the order of the house rules."""

    fund: str
    pool: str
    shares: tuple[Share, ...]
    second: Actor | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PayShare(Command):
    """A player's share is handed out, also when it was unclaimed."""

    award: str
    slip: str = ""
    method: str = "cash"
    cashier: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnclaimedShare(Command):
    """A share was not claimed within the fund's days: it stays owed, under another name."""

    award: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DisposeShare(TwoPeople):
    """An unclaimed share goes where the approved rules say: to a pool of its fund, to ``authority`` or to ``house``."""

    award: str
    to: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoWin(TwoPeople):
    """A win that was none: all its shares go back to the pool they came from."""

    fund: str
    win: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferPool(TwoPeople):
    """Money of a pool moves to another one, or with its liability to another licensee (``to_fund`` None).

    ``cents`` None: all of it, the posted amount too. ``game_ended``: the game can no longer be offered.
    """

    fund: str
    pool: str
    to_fund: str | None
    to_pool: str
    cents: int | None
    game_ended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StrikeOuts(Command):
    """Home Run: the strike-out wagers of a hand are gathered and kept apart, ``cents`` each."""

    fund: str
    seats: tuple[int, ...]
    cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HandWon(Command):
    """Home Run: a seat wins the hand; its own strike-out wager goes back, the others go to the pool."""

    fund: str
    seat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseRunner(Command):
    """Home Run: a seat wins a base runner; with the fourth it takes the pool."""

    fund: str
    seat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveTable(Command):
    """Home Run: a player leaves the game and returns his base runners."""

    fund: str
    seat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PotBets(Command):
    """Trips Poker: bets of these seats go to the pot, ``cents`` each."""

    fund: str
    seats: tuple[int, ...]
    cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PotWon(Command):
    """Trips Poker: the highest qualifying hands take the pot, after the rake."""

    fund: str
    seats: tuple[int, ...]
    rake_cents: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RollOver(Command):
    """Trips Poker: nobody qualified; after the rake the best hands get a share of the pot, the rest stays in it.

    ``percent_ppm`` None: all have folded, nobody gets anything. ``seats`` empty: one hand, whose seat is not keyed.
    """

    fund: str
    percent_ppm: int | None = None
    seats: tuple[int, ...] = ()
    rake_cents: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoPot(TwoPeople):
    """Home Run, Trips Poker: the last award or base runner was keyed for the wrong seat and is taken back.

    ``came_back``: what was handed out is in the tray again, or never left it.
    """

    fund: str
    came_back: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnBets(Command):
    """What a seat put in during this hand goes back: its hand was folded by mistake, or the deal was none."""

    fund: str
    seat: int
