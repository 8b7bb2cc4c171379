"""What the book holds of funds: pools with their postings, shares of awards, and what lies on a pool table.

Rule 1: a pool's money is nowhere but in its account; what stands here beside it is what was posted and promised.
Rule 2: the moments are those of entries; nothing here reads a clock.
Units: ``*_cents`` whole cents.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from meterd.accounting.settings_pools import MONTHS_TO_PAY_OUT, AtCap, FundSettings
from meterd.accounting.when import plus_months


class ShareStatus(StrEnum):
    """Where a player's share of a jackpot stands."""

    CONFIRMED = "confirmed"
    UNCLAIMED = "unclaimed"
    PAID = "paid"
    DISPOSED = "disposed"
    UNDONE = "voided"


@dataclass(frozen=True, slots=True)
class PoolState:
    """One pool beside its money.

    ``posted_cents`` is what an award is a share of. It is money of ``backed_by``, the pool that was offered after a
    win; None where it is the pool's own. ``reseed_due``: at the next POST its seeder fills it again. ``capped_at`` is
    the moment at which it reached its cap, None below it.
    """

    posted_cents: int = 0
    backed_by: str | None = None
    reseed_due: bool = False
    capped_at: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, for an entry."""
        return {
            "posted_cents": self.posted_cents,
            "backed_by": self.backed_by,
            "reseed_due": self.reseed_due,
            "capped_at": self.capped_at,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PoolState:
        """The inverse of :meth:`to_json`; other keys may stand beside."""
        return cls(data["posted_cents"], data["backed_by"], data["reseed_due"], data["capped_at"])


@dataclass(frozen=True, slots=True)
class FundAward:
    """One player's share of a posted jackpot. ``pool`` is whose money it was, ``win`` the fund's count of wins.

    ``capped_at`` is since when that pool was at its cap before the win; an undone win gives the clock back.
    """

    id: str
    fund: str
    pool: str
    win: int
    cents: int
    at_utc: str
    status: ShareStatus = ShareStatus.CONFIRMED
    capped_at: str | None = None

    @property
    def state_word(self) -> str:
        """The word used on pages."""
        return self.status.value

    @property
    def owed(self) -> bool:
        """Still to be handed out or disposed of."""
        return self.status in {ShareStatus.CONFIRMED, ShareStatus.UNCLAIMED}


@dataclass(frozen=True, slots=True)
class Fallen:
    """A win since the last POST, and how the pools would stand without it and the later ones.

    ``postings``: no transfer has come since, so that undone it gives back what was posted, not only what is due.
    """

    win: int
    pools: dict[str, PoolState]
    postings: bool = True


@dataclass(frozen=True, slots=True)
class Settled:
    """The last award or base runner of a pool table: what it took, and how the table stood before it."""

    paid_cents: int
    rake_cents: int
    bets: dict[int, int]
    runners: dict[int, int]

    def left(self, seat: int) -> Settled:
        """The same after a player has left the game: no base runner comes back to his seat."""
        return replace(self, runners={one: count for one, count in self.runners.items() if one != seat})


@dataclass(slots=True)
class FundState:
    """One fund in force, since ``opened_at``. ``posted_day`` is the gaming day of the last POST, where it was named.

    ``fallen`` are the wins that have changed the postings since the last POST, oldest first: undone, the last of them
    gives them back.
    ``runners`` are base runners by seat; ``strike_outs`` and ``bets`` what each seat put in during this hand; ``dealt``
    the seats that put up a strike-out wager for the last hand; ``settled`` is what two people may still take back.
    """

    settings: FundSettings
    balances: dict[str, int]
    pools: dict[str, PoolState]
    closed: bool = False
    wins: int = 0
    posted_day: str = ""
    posted_at: str = ""
    fallen: tuple[Fallen, ...] = ()
    runners: dict[int, int] = field(default_factory=dict)
    strike_outs: dict[int, int] = field(default_factory=dict)
    bets: dict[int, int] = field(default_factory=dict)
    dealt: frozenset[int] = frozenset()
    settled: Settled | None = None
    opened_at: str = ""

    def microcents(self, pool: str) -> int:
        """What a pool holds, in microcents."""
        return self.balances.get(self.settings.account(pool), 0)

    @property
    def stopped(self) -> str | None:
        """The pool at whose cap the rake has stopped, None while it runs (CO 47.1-1046(7)(a))."""
        for pool in self.settings.pools:
            if pool.at_cap is AtCap.STOP and self.pools[pool.name].capped_at is not None:
                return pool.name
        return None

    def pay_out_by(self, pool: str) -> str | None:
        """Until when a pool whose rake has stopped has to be paid out; None where it runs (CO 47.1-1046(7)(c))."""
        settings = self.settings.pool(pool)
        since = self.pools[pool].capped_at
        if settings is None or settings.at_cap is not AtCap.STOP or since is None:
            return None
        return plus_months(since, MONTHS_TO_PAY_OUT)
