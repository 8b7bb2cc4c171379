"""The fold of funds: what each kind of entry changes beside its postings.

Rule 1: a handler reads facts of the entry and nothing else: no share, no cap, no clock.
Rule 2: the pools after an entry stand in it (``body["pools"]``); the fold takes them in as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from meterd.accounting.entries import Entry, Kind
from meterd.accounting.settings_pools import FundSettings
from meterd.accounting.state_pools import Fallen, FundAward, FundState, PoolState, Settled, ShareStatus

if TYPE_CHECKING:
    from meterd.accounting.book import Book


def _fund(book: Book, entry: Entry) -> FundState:
    return book.funds[entry.link or ""]


def _read_pools(book: Book, entry: Entry) -> None:
    """What stands beside the money of the pools that the entry names; wagers kept apart have nothing beside theirs."""
    for key, facts in entry.body.get("pools", {}).items():
        if "posted_cents" in facts:
            fund, _, name = key.partition("/")
            book.funds[fund].pools[name] = PoolState.from_json(facts)


def _fund_opened(book: Book, entry: Entry) -> None:
    settings = FundSettings.from_json(entry.body["settings"])
    pools = {pool.name: PoolState() for pool in settings.pools}
    book.funds[settings.id] = FundState(settings, book.balances, pools, opened_at=book.at_utc)


def _fund_closed(book: Book, entry: Entry) -> None:
    _read_pools(book, entry)
    fund = _fund(book, entry)
    fund.closed = True
    fund.runners = {}
    fund.bets = {}
    fund.dealt = frozenset()
    fund.settled = None


def _fund_reopened(book: Book, entry: Entry) -> None:
    _fund(book, entry).closed = False


def _posted(book: Book, entry: Entry) -> None:
    _read_pools(book, entry)
    fund = _fund(book, entry)
    fund.posted_day = entry.body["gaming_day"] or fund.posted_day
    fund.posted_at = entry.body["at_utc"]
    fund.fallen = ()


def _pool_won(book: Book, entry: Entry) -> None:
    _read_pools(book, entry)
    body = entry.body
    fund = _fund(book, entry)
    fund.wins = body["win"]
    before = {name: PoolState.from_json(facts) for name, facts in body["before"].items()}
    fund.fallen = (*fund.fallen, Fallen(body["win"], before))
    source = body["source"]
    for name in sorted(body["awards"], key=lambda award: int(award[1:])):  # a ledger sorts names: J10 before J9
        book.fund_awards[name] = FundAward(
            name,
            fund.settings.id,
            source,
            body["win"],
            body["awards"][name],
            book.at_utc,
            capped_at=before[source].capped_at,
        )
        book.open_shares[name] = None


def _share(status: ShareStatus) -> Callable[[Book, Entry], None]:
    """A share of a jackpot comes to stand elsewhere."""

    def handler(book: Book, entry: Entry) -> None:
        _read_pools(book, entry)
        award = replace(book.fund_awards[entry.body["award"]], status=status)
        book.fund_awards[award.id] = award
        if not award.owed:
            book.open_shares.pop(award.id, None)

    return handler


def _win_undone(book: Book, entry: Entry) -> None:
    _read_pools(book, entry)
    fund = _fund(book, entry)
    fund.fallen = _without(fund.fallen, entry.body["win"])
    for name in entry.body["awards"]:
        book.fund_awards[name] = replace(book.fund_awards[name], status=ShareStatus.UNDONE)
        book.open_shares.pop(name, None)


def _without(fallen: tuple[Fallen, ...], win: int) -> tuple[Fallen, ...]:
    """The wins that are left; the one after the undone win would now have met what that one met."""
    kept: list[Fallen] = []
    met: Fallen | None = None
    for one in fallen:
        if one.win == win:
            met = one
        else:
            kept.append(one if met is None else Fallen(one.win, met.pools, met.postings and one.postings))
            met = None
    return tuple(kept)


def _transferred(book: Book, entry: Entry) -> None:
    _read_pools(book, entry)
    fund = _fund(book, entry)
    fund.fallen = tuple(Fallen(one.win, one.pools, postings=False) for one in fund.fallen)
    fund.settled = None  # the pot is another


def _strike_outs(book: Book, entry: Entry) -> None:
    _read_pools(book, entry)
    fund = _fund(book, entry)
    fund.dealt = (fund.dealt if fund.strike_outs else frozenset()) | frozenset(entry.body["seats"])
    fund.strike_outs = {**fund.strike_outs, **dict.fromkeys(entry.body["seats"], entry.body["cents"])}


def _hand_won(book: Book, entry: Entry) -> None:
    _read_pools(book, entry)
    _fund(book, entry).strike_outs = {}


def _base_runner(book: Book, entry: Entry) -> None:
    _read_pools(book, entry)
    fund = _fund(book, entry)
    fund.settled = Settled(entry.body["paid_cents"], 0, {}, fund.runners)
    fund.runners = {int(seat): count for seat, count in entry.body["runners"].items()}


def _runners_returned(book: Book, entry: Entry) -> None:
    fund = _fund(book, entry)
    gone = entry.body["seat"]
    fund.runners = {int(seat): count for seat, count in entry.body["runners"].items()}
    fund.dealt -= {gone}
    fund.settled = fund.settled.left(gone) if fund.settled is not None else None


def _pot_bets(book: Book, entry: Entry) -> None:
    _read_pools(book, entry)
    fund = _fund(book, entry)
    cents = entry.body["cents"]
    fund.bets = {**fund.bets, **{seat: fund.bets.get(seat, 0) + cents for seat in entry.body["seats"]}}


def _pot_settled(book: Book, entry: Entry) -> None:
    _read_pools(book, entry)
    fund = _fund(book, entry)
    paid = sum(one["cents"] for one in entry.body["paid"])
    fund.settled = Settled(paid, entry.body["rake_cents"], fund.bets, {})
    fund.bets = {}


def _pot_undone(book: Book, entry: Entry) -> None:
    _read_pools(book, entry)
    fund = _fund(book, entry)
    if fund.settled is not None:
        fund.bets, fund.runners = fund.settled.bets, fund.settled.runners
    fund.settled = None


def _bets_returned(book: Book, entry: Entry) -> None:
    _read_pools(book, entry)
    fund = _fund(book, entry)
    gone = entry.body["seat"]
    fund.bets = {seat: cents for seat, cents in fund.bets.items() if seat != gone}
    fund.strike_outs = {seat: cents for seat, cents in fund.strike_outs.items() if seat != gone}
    fund.dealt -= {gone}


HANDLERS: Final[dict[Kind, Callable[[Book, Entry], None]]] = {
    Kind.FUND_OPENED: _fund_opened,
    Kind.FUND_CLOSED: _fund_closed,
    Kind.FUND_REOPENED: _fund_reopened,
    Kind.RAKED: _read_pools,
    Kind.POSTED: _posted,
    Kind.POOL_WON: _pool_won,
    Kind.POOL_WIN_UNDONE: _win_undone,
    Kind.POOL_TRANSFERRED: _transferred,
    Kind.SHARE_PAID: _share(ShareStatus.PAID),
    Kind.SHARE_UNCLAIMED: _share(ShareStatus.UNCLAIMED),
    Kind.SHARE_DISPOSED: _share(ShareStatus.DISPOSED),
    Kind.STRIKE_OUTS: _strike_outs,
    Kind.HAND_WON: _hand_won,
    Kind.BASE_RUNNER: _base_runner,
    Kind.RUNNERS_RETURNED: _runners_returned,
    Kind.POT_BETS: _pot_bets,
    Kind.POT_WON: _pot_settled,
    Kind.ROLLED_OVER: _pot_settled,
    Kind.POT_UNDONE: _pot_undone,
    Kind.BETS_RETURNED: _bets_returned,
}
