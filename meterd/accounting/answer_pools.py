"""What the rules of funds share: finding a fund, two people, and a working copy of its pools.

Rule 1: checks run in the order of precedence of the refusals.
Rule 2: a working copy notes in ``moves`` what each account gained or lost; every entry stores the pools after it.
Rule 3: shares are whole cents, rounded down, the odd cents one each to the first listed.
Units: ``*_cents``, ``*_ppm``, ``*_microcents``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from meterd.accounting.answer import entry, not_authorised
from meterd.accounting.book import Book
from meterd.accounting.commands import Actor, Command, Role
from meterd.accounting.entries import Entry, Kind
from meterd.accounting.meter import Moves, add
from meterd.accounting.refusals import Refusal, Refused
from meterd.accounting.rules_confirm import same_person
from meterd.accounting.settings_pools import STRIKE_OUT, AtCap, PoolGame, PoolSettings
from meterd.accounting.state_pools import FundState, PoolState
from meterd.accounting.when import now
from meterd.money import MICROCENTS_PER_CENT, PPM_PER_WHOLE


def fund_for(
    book: Book, fund_id: str, games: Collection[PoolGame] = frozenset(PoolGame), *, closed: bool = False
) -> FundState | Refused:
    """A fund of one of these games. ``closed``: also one whose table is closed.

    Choice: the closed list has no word of its own for a fund; it answers as its table does.
    """
    fund = book.funds.get(fund_id)
    if fund is None:
        return Refused(Refusal.TABLE_UNKNOWN, f"no fund {fund_id} is in force")
    if fund.settings.game not in games:
        return Refused(Refusal.TABLE_UNKNOWN, f"{fund_id} is a fund of {fund.settings.game.value}")
    if fund.closed and not closed:
        return Refused(Refusal.TABLE_CLOSED, f"{fund_id} is closed", "Reopen it.")
    return fund


def pool_of(fund: FundState, name: str) -> PoolSettings | Refused:
    """A pool of a fund by its name."""
    pool = fund.settings.pool(name)
    return Refused(Refusal.TABLE_UNKNOWN, f"{fund.settings.id} has no pool {name}") if pool is None else pool


def second_of(actor: Actor, second: Actor | None, roles: Collection[Role]) -> Refused | None:
    """A second person has to be there, allowed to, and somebody else; names are compared without regard to case."""
    refused = not_authorised(second, frozenset(roles)) if second is not None else None
    if refused is None and second is not None and same_person(actor.id, second.id):
        return Refused(Refusal.SAME_PERSON, f"{second.id} signs twice", "Somebody else signs second.")
    if refused is None and second is None:
        return Refused(Refusal.SECOND_PERSON_REQUIRED, "somebody else signs too", "Name a second person.")
    return refused


def not_each_once(seats: Sequence[int]) -> str:
    """Seats that are none, or not each named once, for a refusal."""
    return f"a seat is named twice: {', '.join(map(str, seats))}" if seats else "no seat is named"


def seats_refusal(fund: FundState, seats: Sequence[int]) -> Refused | None:
    """SEAT_UNKNOWN for a seat that the fund's table lacks; a seat named twice cannot be two wagers."""
    for seat in seats:
        if not 1 <= seat <= fund.settings.seats:
            return Refused(Refusal.SEAT_UNKNOWN, str(seat))
    if len(set(seats)) != len(seats) or not seats:
        return Refused(Refusal.UNREASONABLE_CONTRIBUTION, not_each_once(seats))
    return None


def portions(cents: int, weights: Sequence[int], whole: int) -> list[int]:
    """``cents`` by weights out of ``whole``: each rounded down, the odd cents of them all to the first listed."""
    found = [cents * weight // whole for weight in weights]
    odd = cents * sum(weights) // whole - sum(found)
    return [amount + (index < odd) for index, amount in enumerate(found)]


def shares_of(fund: FundState) -> dict[str, int]:
    """How what is taken is divided over the pools now, in ppm.

    Choice: while a pool with ``at_cap = grow`` is at its cap the shares at the cap hold for all pools; how the
    continuing rake is allocated is the licensee's to say (CO 47.1-1046(7)(b)).
    """
    grown = any(pool.at_cap is AtCap.GROW and fund.pools[pool.name].capped_at for pool in fund.settings.pools)
    return {
        pool.name: pool.share_at_cap_ppm if grown and pool.share_at_cap_ppm is not None else pool.share_ppm
        for pool in fund.settings.pools
    }


@dataclass(slots=True)
class Pools:
    """A working copy of a fund's pools: their money, what stands beside it, and what moved so far."""

    fund: FundState
    at_utc: str
    amounts: dict[str, int]
    states: dict[str, PoolState]
    moves: Moves = field(default_factory=dict)

    @classmethod
    def of(cls, book: Book, command: Command, fund: FundState, moves: Moves | None = None) -> Pools:
        """The pools as they stand. ``moves`` are those of another fund that takes part."""
        names = [pool.name for pool in fund.settings.pools]
        amounts = {name: fund.microcents(name) for name in names}
        return cls(fund, now(book, command), amounts, dict(fund.pools), {} if moves is None else moves)

    def put(self, pool: str, microcents: int) -> None:
        """Put money into a pool, or take it out where it is negative."""
        self.amounts[pool] += microcents
        add(self.moves, self.fund.settings.account(pool), microcents)

    def take_in(self, cents: int) -> None:
        """Divide what was taken over the pools; every share is exact in microcents."""
        for name, ppm in shares_of(self.fund).items():
            self.put(name, cents * ppm)
        add(self.moves, f"drop/{self.fund.settings.id}", -cents * PPM_PER_WHOLE)

    def cents(self, pool: str) -> int:
        """Whole cents of a pool."""
        return self.amounts[pool] // MICROCENTS_PER_CENT

    def pay(self, cents: int) -> None:
        """Hand out money at the fund's table."""
        add(self.moves, f"paid/{self.fund.settings.id}", cents * MICROCENTS_PER_CENT)

    def change(self, pool: str, **facts: Any) -> None:
        """Change what stands beside a pool's money."""
        self.states[pool] = replace(self.states[pool], **facts)

    def promised_cents(self, pool: str) -> int:
        """How much of a pool is posted, as its own amount or as another's."""
        return sum(state.posted_cents for name, state in self.states.items() if (state.backed_by or name) == pool)

    def in_play_cents(self, pool: str) -> int:
        """How much of a pool seats have put in during the hand that is being played."""
        return sum(self.fund.bets.values()) if pool == self.fund.settings.main.name else 0

    def unpost(self, pool: str) -> None:
        """Nothing of this pool's money is posted any longer."""
        for name, state in self.states.items():
            if (state.backed_by or name) == pool:
                self.change(name, posted_cents=0, backed_by=None)

    def facts(self) -> dict[str, dict[str, Any]]:
        """The pools after the entry, as it stores them. A pool that comes to its cap notes the moment."""
        found = {}
        for pool in self.fund.settings.pools:
            amount, state = self.amounts[pool.name], self.states[pool.name]
            full = pool.cap_cents is not None and amount >= pool.cap_cents * MICROCENTS_PER_CENT
            self.change(pool.name, capped_at=(state.capped_at or self.at_utc) if full else None)
            found[f"{self.fund.settings.id}/{pool.name}"] = {
                "microcents": amount,
                **self.states[pool.name].to_json(),
            }
        return found

    def entry(self, command: Command, kind: Kind, body: dict[str, Any], *, strike_out: bool = False) -> Entry:
        """The entry of an act on this fund alone. ``strike_out``: wagers kept apart move too."""
        pools = self.facts()
        if strike_out:
            account = self.fund.settings.account(STRIKE_OUT)
            held = self.fund.balances.get(account, 0) + self.moves.get(account, 0)
            pools[f"{self.fund.settings.id}/{STRIKE_OUT}"] = {"microcents": held}
        return entry(command, kind, {**body, "pools": pools}, link=self.fund.settings.id, moves=self.moves)
