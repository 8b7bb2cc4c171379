"""What is in force for money that players put up for each other: posted jackpots and the pools of table games.

Rule 1: a *fund* is one such award with its pools, its drop box and its rules; it stands beside the links.
Rule 2: all of a jackpot rake goes to the pools: the shares of a fund's pools are 100 % together (CO 47.1-1002(24)).
Rule 3: what the regulations leave to the house is a setting here, and an entry of the ledger stores it.
Sources: CO 47.1-1012(2), 1046, 1099.20 (Home Run), 1099.21 (208 Poker), 1099.25 (Trips Poker), 1099.28 (Longhorn); M11.
Units: ``*_cents``, ``*_ppm``; days are 24 hours.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final

from meterd.money import PPM_PER_WHOLE


class PoolGame(StrEnum):
    """Where a fund's money comes from and how it is won."""

    POSTED = "posted"  # a jackpot of player-banked poker, fed by a rake of each pot
    LONGHORN = "longhorn-hold-em"  # bad beat wagers, dropped when a player folds or the hand is over
    P208 = "208-poker"  # jackpot wagers of at most one dollar
    HOME_RUN = "home-run-hold-em"  # strike-out wagers, won with the fourth base runner
    TRIPS = "trips-poker"  # a pot that rolls over until somebody has three of a kind


class AtCap(StrEnum):
    """What happens once a pool has reached its cap (CO 47.1-1046(7))."""

    STOP = "stop"  # no more rake until it is won
    GROW = "grow"  # the cap falls away until it is won


POSTED_GAMES: Final = frozenset({PoolGame.POSTED, PoolGame.LONGHORN, PoolGame.P208})

#: The most that may be taken from one pot, or wagered by one player; None where the rules name no amount.
MOST_CENTS: Final = {PoolGame.POSTED: 200, PoolGame.P208: 100}

#: Base runners that win a Home Run pool (CO 47.1-1099.20(10)).
RUNNERS_TO_WIN: Final = 4
#: Where strike-out wagers lie until the hand is won; no pool may have this name.
STRIKE_OUT: Final = "strike-out"
#: Where an unclaimed share goes that goes to no pool; no pool may have these names either.
AUTHORITY: Final = "authority"
HOUSE: Final = "house"
NO_POOL: Final = frozenset({AUTHORITY, HOUSE})
#: An award not claimed within so many days is disposed of as the approved rules say (CO 47.1-1046(1)(c)).
UNCLAIMED_DAYS: Final = 120
#: A hundred years; a longer clock is a slip of the finger.
DAYS_MAX: Final = 36_525
#: A jackpot whose rake was stopped has to be paid out within so many months (CO 47.1-1046(7)(c)).
MONTHS_TO_PAY_OUT: Final = 6
#: More players than sit in a card room; a larger number is a slip of the finger.
PLAYERS_MAX: Final = 1_000
#: The best hand of a Trips Poker round nobody won gets between these shares, in such steps (CO 47.1-1099.25(10)).
HIGH_HAND_MIN_PPM: Final = 50_000
HIGH_HAND_MAX_PPM: Final = 950_000
HIGH_HAND_STEP_PPM: Final = 50_000


@dataclass(frozen=True, slots=True)
class PoolSettings:
    """One pool of a fund.

    ``share_ppm`` of what is taken goes here; ``share_at_cap_ppm`` is its share while a pool with ``at_cap = grow`` is
    at its cap (None: the same). ``reseeds`` names the pool that this one fills again after a win; with ``offered`` its
    posted amount is the new posting at once.
    """

    name: str
    share_ppm: int
    cap_cents: int | None = None
    at_cap: AtCap | None = None
    share_at_cap_ppm: int | None = None
    reseeds: str | None = None
    offered: bool = False

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, for an entry."""
        return {**asdict(self), "at_cap": None if self.at_cap is None else self.at_cap.value}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> PoolSettings:
        """The inverse of :meth:`to_json`."""
        at_cap = data["at_cap"]
        return cls(**{**data, "at_cap": None if at_cap is None else AtCap(at_cap)})


@dataclass(frozen=True, slots=True)
class FundSettings:
    """One fund. The first pool is its primary one, and the only one of Home Run and Trips Poker.

    ``take_max_cents``: the most of one pot, or of one player's wager; None where neither rules nor house name one.
    ``seats`` are those of the table for which Home Run and Trips Poker are played. ``high_hand_ppm``: what the house
    gives for the best hand of a round nobody won; None leaves it to the dealer's key.
    """

    id: str
    game: PoolGame
    pools: tuple[PoolSettings, ...]
    take_max_cents: int | None
    unclaimed_days: int = UNCLAIMED_DAYS
    seats: int = 0
    high_hand_ppm: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, for an entry."""
        return {
            "id": self.id,
            "game": self.game.value,
            "pools": [pool.to_json() for pool in self.pools],
            "take_max_cents": self.take_max_cents,
            "unclaimed_days": self.unclaimed_days,
            "seats": self.seats,
            "high_hand_ppm": self.high_hand_ppm,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> FundSettings:
        """The inverse of :meth:`to_json`."""
        pools = tuple(PoolSettings.from_json(pool) for pool in data["pools"])
        return cls(**{**data, "game": PoolGame(data["game"]), "pools": pools})

    @property
    def main(self) -> PoolSettings:
        """The primary pool."""
        return self.pools[0]

    def pool(self, name: str) -> PoolSettings | None:
        """The pool of this name, if there is one."""
        return next((pool for pool in self.pools if pool.name == name), None)

    def seeder_of(self, name: str) -> PoolSettings | None:
        """The pool that fills this one again after a win."""
        return next((pool for pool in self.pools if pool.reseeds == name), None)

    def account(self, name: str) -> str:
        """The account that holds a pool."""
        return f"pool/{self.id}/{name}"


def allowed_high_hand(ppm: int) -> bool:
    """Whether the best hand of a round nobody won may get this share of the pot: 5 to 95 % in steps of 5."""
    return HIGH_HAND_MIN_PPM <= ppm <= HIGH_HAND_MAX_PPM and ppm % HIGH_HAND_STEP_PPM == 0


def problems(fund: FundSettings) -> tuple[str, ...]:
    """Why a fund cannot be put in force as written, each in a sentence for whoever wrote it."""
    found = [*_intake_problems(fund), *_share_problems(fund)]
    names = [pool.name for pool in fund.pools]
    if len(set(names)) != len(names) or {STRIKE_OUT, *NO_POOL} & set(names):
        found.append(f"every pool needs a name of its own, and none may be called {STRIKE_OUT}, {AUTHORITY} or {HOUSE}")
    for pool in fund.pools:
        found.extend(_pool_problems(fund, pool))
    return tuple(found)


def _intake_problems(fund: FundSettings) -> list[str]:
    found = []
    most = MOST_CENTS.get(fund.game)
    if fund.take_max_cents is None:
        if most is not None:
            found.append(f"{fund.game.value} needs the most that is taken at once")
    elif fund.take_max_cents <= 0:
        found.append("the most that is taken at once is above nothing")
    elif most is not None and fund.take_max_cents > most:
        found.append(f"{fund.game.value} takes at most {most} cents at once, not {fund.take_max_cents}")
    if fund.game not in POSTED_GAMES and fund.seats < 1:
        found.append(f"{fund.game.value} needs the seats of its table")
    if fund.high_hand_ppm is not None and (
        fund.game is not PoolGame.TRIPS or not allowed_high_hand(fund.high_hand_ppm)
    ):
        found.append("the high hand is a matter of Trips Poker and gets 5% to 95% in steps of 5%")
    if not 1 <= fund.unclaimed_days <= DAYS_MAX:
        found.append(f"an award stays claimable for a day at least and a hundred years ({DAYS_MAX} days) at most")
    return found


def _share_problems(fund: FundSettings) -> list[str]:
    if not fund.pools:
        return ["a fund has a pool at least"]
    if fund.game not in POSTED_GAMES and len(fund.pools) != 1:
        return [f"{fund.game.value} has one pool"]
    found = []
    shares = [(pool.share_ppm, pool.share_at_cap_ppm) for pool in fund.pools]
    if any(ppm < 0 or (at_cap is not None and at_cap < 0) for ppm, at_cap in shares):
        found.append("no share is below nothing")
    if sum(ppm for ppm, _ in shares) != PPM_PER_WHOLE:
        found.append("the shares of all pools are 100% together: what is taken for a jackpot goes to the jackpot")
    own = any(at_cap is not None for _, at_cap in shares)  # else they are the same, and said already
    if own and sum(ppm if at_cap is None else at_cap for ppm, at_cap in shares) != PPM_PER_WHOLE:
        found.append("the shares of all pools at a cap are 100% together")
    return found


def _pool_problems(fund: FundSettings, pool: PoolSettings) -> list[str]:
    found = []
    if (pool.cap_cents is None) != (pool.at_cap is None):
        found.append(f"{pool.name}: a cap says what happens there, stop or grow; without a cap nothing does")
    if pool.cap_cents is not None and pool.cap_cents <= 0:
        found.append(f"{pool.name}: a cap is above nothing")
    if fund.game not in POSTED_GAMES and (pool.cap_cents is not None or pool.reseeds is not None):
        found.append(f"{pool.name}: caps and re-seeding belong to posted jackpots")
    if pool.offered and pool.reseeds is None:
        found.append(f"{pool.name}: only a pool that re-seeds another is offered after a win")
    if pool.reseeds is None:
        return found
    if fund.pool(pool.reseeds) is None:
        found.append(f"{pool.name} re-seeds {pool.reseeds}, and there is no such pool")
    if sum(other.reseeds == pool.reseeds for other in fund.pools) > 1:
        found.append(f"{pool.reseeds} is re-seeded by one pool only")
    seen = {pool.name}
    at: PoolSettings | None = pool
    while at is not None and at.reseeds is not None:
        if at.reseeds in seen:
            found.append(f"{pool.name} re-seeds itself in the end")
            break
        seen.add(at.reseeds)
        at = fund.pool(at.reseeds)
    return found
