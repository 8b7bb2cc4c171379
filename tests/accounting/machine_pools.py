"""Pools on the floor of the machine: a posted jackpot, a Home Run table and a Trips table beside the links.

They share the book, the ledger and the accounts of the house with the links, and nothing else.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING

from machine_rules import Pick
from pool_steps import (
    PPM,
    Act,
    Ways,
    home_run_settings,
    home_run_step,
    rules_of,
    same_home_run,
    same_jackpot_state,
    step,
    trips_settings,
    trips_step,
)
from pool_twin import HomeRun, Jackpot, Kept, Trips

from meterd.accounting import commands_pools as ask
from meterd.accounting.commands import SYSTEM, Command
from meterd.accounting.settings_pools import FundSettings

if TYPE_CHECKING:
    from machine_world import World

    from meterd.accounting.book import Book
    from meterd.accounting.rules import Decision
    from meterd.accounting.state_pools import FundState


def random_funds(pick: Pick) -> Funds:
    fund, pools = rules_of(Ways(*(pick(100) for _ in Ways._fields)))
    return Funds(fund, pools, one if 1 <= (one := pick(40)) <= 19 else None)


class Funds:
    """The twins of three funds; as a room of theirs, it decides by the floor, with a clock of its own."""

    def __init__(self, jackpot: FundSettings, pools: list[Kept], posted: int | None) -> None:
        self.high = None if posted is None else posted * 50_000
        self.settings = [jackpot, home_run_settings("H1"), trips_settings(self.high, "R1")]
        self.jackpot = Jackpot(jackpot.id, pools)
        self.home_run = HomeRun("H1", 6)
        self.trips = Trips("R1", 6, None if self.high is None else Fraction(self.high, PPM))
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def open(self, world: World) -> None:
        self.world = world
        above = world.book.site.confirm_above_cents if world.book.site is not None else 0
        self.home_run.confirm_above = self.trips.confirm_above = above
        for settings in self.settings:
            assert None is self.act(ask.OpenFund(actor=SYSTEM, settings=settings)).refusal

    # the room

    @property
    def book(self) -> Book:
        return self.world.book

    def state(self, name: str = "P1") -> FundState:
        return self.book.funds[name]

    def act(self, command: Command) -> Decision:
        self.now += timedelta(seconds=1)
        at = self.now.strftime("%Y-%m-%dT%H:%M:%S.000000Z")
        object.__setattr__(command, "now_utc", at)
        return self.world.decide(command, at)

    # acts and comparisons

    def step(self, which: int, act: Act) -> None:
        """One act on one of the three."""
        if which % 3 == 0:
            step(self, self.jackpot, act)
        elif which % 3 == 1:
            home_run_step(self, self.home_run, act)
        else:
            trips_step(self, self.trips, act, self.high)

    def accounts(self) -> dict[str, Fraction]:
        """All accounts that the funds have, the house's of them too."""
        found: dict[str, Fraction] = defaultdict(Fraction)
        for accounts in (self.jackpot.accounts, self.home_run.all_accounts(), self.trips.all_accounts()):
            for name, amount in accounts.items():
                found[name] += amount
        return found

    def compare(self) -> None:
        same_jackpot_state(self, self.jackpot)
        same_home_run(self, self.home_run)

    def put_in(self) -> Fraction:
        """What players put in, less what the house raked from pots, and less what was handed out."""
        sums: dict[str, Fraction] = defaultdict(Fraction)
        for name, amount in self.accounts().items():
            sums["/".join(name.split("/")[: 2 if name.startswith("house") else 1])] += amount
        return -sums["drop"] - sums["house/hold"] - sums["paid"]
