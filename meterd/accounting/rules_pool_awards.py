"""Rules of posted jackpots: win, pay, unclaimed, dispose, undo.

Sources: money rules M11, M5 (paid, unclaimed, undo after confirm); CO 47.1-1046(1)(c), (2), 1028, 1099.28(16).
Units: ``*_cents``; postings in microcents.

Choices where the rules leave one:
* A jackpot is verified before it is keyed: a supervisor keys it, together with whoever called it, and it stands. What
  was keyed wrongly is undone by two people; there is no pending jackpot on which a POST would have to wait.
* Shares of less than 100 % together leave the rest posted; re-seeding follows only upon a win of the whole.
* A share already handed out that is undone is out in cash: the pool is made whole by the house (``house/pays/FUND``).
* An undone win gives the postings back as they were before it, unless a POST or a transfer has changed them since;
  then the next POST shows the money again. Where a later win stands it keeps its posting; once that is undone too, the
  postings are those before the first of them.
* An undone win gives a stopped rake its clock back: it was never won, and has stood still since it came to its cap.
"""

from __future__ import annotations

from typing import Any, Final

from meterd.accounting.answer import ANYBODY, CASHIERS, SUPERVISORS, Answer, entry, not_authorised, site_of
from meterd.accounting.answer_pools import Pools, fund_for, pool_of, portions, second_of
from meterd.accounting.book import Book
from meterd.accounting.commands import Role
from meterd.accounting.commands_pools import DisposeShare, PayShare, UnclaimedShare, UndoWin, WinPool
from meterd.accounting.entries import Entry, Kind
from meterd.accounting.meter import REVENUE, add
from meterd.accounting.refusals import Refusal, Refused
from meterd.accounting.settings_pools import HOUSE, NO_POOL, PLAYERS_MAX, POSTED_GAMES, PoolSettings
from meterd.accounting.state_pools import FundAward, ShareStatus
from meterd.accounting.two_people import people_refusal, signed
from meterd.accounting.when import now, plus_days, reached
from meterd.money import MICROCENTS_PER_CENT, PPM_PER_WHOLE

#: Who may have called a jackpot or signs for it beside the supervisor.
CALLERS: Final = frozenset({Role.DEALER, Role.SUPERVISOR, Role.ACCOUNTING, Role.ADMINISTRATOR})


def win(book: Book, command: WinPool) -> Answer:
    """A posted jackpot is won: its shares of the posted value are owed at once, and the posting falls."""
    refused = not_authorised(command.actor, SUPERVISORS) or second_of(command.actor, command.second, CALLERS)
    fund = refused or fund_for(book, command.fund, POSTED_GAMES)
    if isinstance(fund, Refused):
        return fund
    pool = pool_of(fund, command.pool)
    if isinstance(pool, Refused):
        return pool
    basis = fund.pools[pool.name].posted_cents
    asked = sum(share.percent_ppm for share in command.shares)
    odd = any(share.percent_ppm <= 0 or not 1 <= share.players <= PLAYERS_MAX for share in command.shares)
    if odd or not 0 < asked <= PPM_PER_WHOLE:
        return Refused(Refusal.AMOUNT_OUT_OF_BOUNDS, "shares are above nothing, for a player at least, 100% at most")
    if not basis:
        return Refused(Refusal.NOT_YET, f"nothing is posted for {command.fund}/{pool.name}", "It takes the next POST.")
    shares = portions(basis, [share.percent_ppm for share in command.shares], PPM_PER_WHOLE)
    each = [
        portions(cents, [1] * share.players, share.players) for cents, share in zip(shares, command.shares, strict=True)
    ]
    if any(not cents for players in each for cents in players):
        return Refused(Refusal.AMOUNT_OUT_OF_BOUNDS, f"{basis} cents do not reach for every player")
    return (_won(book, command, Pools.of(book, command, fund), pool, shares, each),)


def _won(
    book: Book, command: WinPool, pools: Pools, pool: PoolSettings, shares: list[int], each: list[list[int]]
) -> Entry:
    fund = pools.fund
    state = fund.pools[pool.name]
    total = sum(shares)
    source = state.backed_by or pool.name
    first = book.gone_shares + len(book.fund_awards) + 1
    cents = [amount for players in each for amount in players]
    awards = {f"J{first + index}": amount for index, amount in enumerate(cents)}
    pools.put(source, -total * MICROCENTS_PER_CENT)
    for award, amount in awards.items():
        add(pools.moves, f"payable/{award}", amount * MICROCENTS_PER_CENT)
    if total == state.posted_cents:
        _fall(pools, pool)
        pools.change(source, capped_at=None)  # its clock begins anew where it still holds its cap
    else:
        pools.change(pool.name, posted_cents=state.posted_cents - total)
    body: dict[str, Any] = {
        "win": fund.wins + 1,
        "pool": pool.name,
        "source": source,
        "posted_cents": state.posted_cents,
        "shares": [
            {"percent_ppm": share.percent_ppm, "players": share.players, "cents": amount}
            for share, amount in zip(command.shares, shares, strict=True)
        ],
        "awards": awards,
        "before": {name: before.to_json() for name, before in fund.pools.items()},
        "second": command.second.id if command.second is not None else None,
    }
    return pools.entry(command, Kind.POOL_WON, body)


def _fall(pools: Pools, pool: PoolSettings) -> None:
    """The posting falls to zero, or to the seeding pool's posted amount where that is offered (CO 47.1-1046(2))."""
    seeder = pools.fund.settings.seeder_of(pool.name)
    state = pools.states[pool.name]
    if seeder is None:
        pools.change(pool.name, posted_cents=0, backed_by=None)
    elif seeder.offered and state.backed_by is None and not pools.states[seeder.name].backed_by:
        offered = pools.states[seeder.name].posted_cents
        backing = seeder.name if offered else None
        pools.change(pool.name, posted_cents=offered, backed_by=backing, reseed_due=True)
        pools.change(seeder.name, posted_cents=0)
    else:
        pools.change(pool.name, posted_cents=0, backed_by=None, reseed_due=True)
    if seeder is not None and state.backed_by is not None:
        pools.change(seeder.name, reseed_due=True)  # what was offered of it is gone; its own seeder fills it again


def _award(book: Book, name: str, *statuses: ShareStatus) -> FundAward | Refused:
    award = book.fund_awards.get(name)
    if award is None:
        return Refused(Refusal.AWARD_UNKNOWN, name)
    if award.status not in statuses:
        return Refused(Refusal.AWARD_NOT_PENDING, f"{name} is {award.state_word}")
    return award


def _held_in(award: FundAward) -> str:
    """The account from which a share that is still owed is taken."""
    return f"unclaimed/{award.fund}" if award.status is ShareStatus.UNCLAIMED else f"payable/{award.id}"


def pay(book: Book, command: PayShare) -> Answer:
    """A share is handed out; one that was unclaimed is still the player's."""
    award = not_authorised(command.actor, CASHIERS) or _award(
        book, command.award, ShareStatus.CONFIRMED, ShareStatus.UNCLAIMED
    )
    if isinstance(award, Refused):
        return award
    amount = award.cents * MICROCENTS_PER_CENT
    body = {
        "award": award.id,
        "amount_cents": award.cents,
        "slip": command.slip,
        "method": command.method,
        "cashier": command.cashier,
    }
    moves = {_held_in(award): -amount, f"paid/{award.fund}": amount}
    return (entry(command, Kind.SHARE_PAID, body, link=award.fund, moves=moves),)


def unclaimed(book: Book, command: UnclaimedShare) -> Answer:
    """A share not claimed within the fund's days: it stays owed, as unclaimed. NOT_YET before."""
    award = not_authorised(command.actor, ANYBODY - {Role.DEALER}) or _award(book, command.award, ShareStatus.CONFIRMED)
    if isinstance(award, Refused):
        return award
    until = plus_days(award.at_utc, book.funds[award.fund].settings.unclaimed_days)
    if not reached(now(book, command), until):
        return Refused(Refusal.NOT_YET, f"{award.id} may be claimed until {until}", "Wait until then.")
    amount = award.cents * MICROCENTS_PER_CENT
    body = {"award": award.id, "amount_cents": award.cents, "since": award.at_utc}
    moves = {f"payable/{award.id}": -amount, f"unclaimed/{award.fund}": amount}
    return (entry(command, Kind.SHARE_UNCLAIMED, body, link=award.fund, moves=moves),)


def dispose(book: Book, command: DisposeShare) -> Answer:
    """An unclaimed share goes where the approved rules say, by two people of two departments with a reference.

    That is a pool of its fund, the authority that takes unclaimed money (handed out: ``paid``), or the house where the
    site may release players' money.
    """
    if command.to == HOUSE and not site_of(book).release_to_house:
        return Refused(Refusal.NOT_AUTHORISED, "this site gives no players' money to the house", "Nobody may.")
    award = people_refusal(command) or _disposable(book, command)
    if isinstance(award, Refused):
        return award
    amount = award.cents * MICROCENTS_PER_CENT
    body = {"award": award.id, "amount_cents": award.cents, "to": command.to, **signed(command)}
    moves = {f"unclaimed/{award.fund}": -amount}
    if command.to in NO_POOL:
        moves[REVENUE if command.to == HOUSE else f"paid/{award.fund}"] = amount
        return (entry(command, Kind.SHARE_DISPOSED, body, link=award.fund, moves=moves),)
    pools = Pools.of(book, command, book.funds[award.fund], moves)
    pools.put(command.to, amount)
    return (pools.entry(command, Kind.SHARE_DISPOSED, body),)


def _disposable(book: Book, command: DisposeShare) -> FundAward | Refused:
    """The share; where it goes to a pool, that one has to be there and open."""
    award = book.fund_awards.get(command.award)
    if award is not None and command.to not in NO_POOL:
        fund = fund_for(book, award.fund)
        pool = fund if isinstance(fund, Refused) else pool_of(fund, command.to)
        if isinstance(pool, Refused):
            return pool
    if award is not None and award.status is ShareStatus.CONFIRMED:
        return Refused(Refusal.NOT_YET, f"{award.id} is not among the unclaimed", "Mark it as unclaimed first.")
    return _award(book, command.award, ShareStatus.UNCLAIMED)


def undo(book: Book, command: UndoWin) -> Answer:
    """A win that was none: its shares return to the pool they came from; nothing else is re-valued."""
    refused = people_refusal(command)
    fund = refused or fund_for(book, command.fund, POSTED_GAMES)
    if isinstance(fund, Refused):
        return fund
    mine = [one for one in book.fund_awards.values() if (one.fund, one.win) == (command.fund, command.win)]
    gone = [one for one in mine if one.status in {ShareStatus.UNDONE, ShareStatus.DISPOSED}]
    if not mine:
        return Refused(Refusal.AWARD_UNKNOWN, f"{command.fund} has no win {command.win}")
    if gone:
        return Refused(Refusal.AWARD_NOT_PENDING, f"{gone[0].id} is {gone[0].state_word}")
    pools = Pools.of(book, command, fund)
    for award in mine:
        amount = award.cents * MICROCENTS_PER_CENT
        paid = award.status is ShareStatus.PAID
        add(pools.moves, f"house/pays/{award.fund}" if paid else _held_in(award), -amount)
        pools.put(award.pool, amount)
    last = fund.fallen[-1] if fund.fallen and fund.fallen[-1].win == command.win else None
    for name, before in last.pools.items() if last is not None else ():
        pools.change(name, reseed_due=before.reseed_due)
        if last is not None and last.postings:
            pools.change(name, posted_cents=before.posted_cents, backed_by=before.backed_by)
    source = mine[0].pool
    pools.change(source, capped_at=_clock(book, command, pools.states[source].capped_at, source))
    body: dict[str, Any] = {
        "win": command.win,
        "awards": [award.id for award in mine],
        "postings_restored": last is not None and last.postings,
        **signed(command),
    }
    return (pools.entry(command, Kind.POOL_WIN_UNDONE, body),)


def _clock(book: Book, command: UndoWin, since: str | None, source: str) -> str | None:
    """Since when a pool has been at its cap, if the wins after the last one that stands never were."""
    found: list[str] = []
    for one in book.fund_awards.values():
        if (one.fund, one.pool) != (command.fund, source):
            continue
        if one.win != command.win and one.status is not ShareStatus.UNDONE:
            found = []
        elif one.capped_at is not None:
            found.append(one.capped_at)
    return min([*found, since] if since is not None else found, default=None)
