"""Rules of funds: put in force, take in, post, move, close. What is awarded is in ``rules_pool_awards``.

Sources: posted jackpots and pools (money rules M11); CO 47.1-1002(24), 1012(2), 1046, 1099.20(12), 1099.21(6), 1099.28.
Units: ``*_cents``; postings in microcents.

Choices where the rules leave one:
* A cap is reached when the pool holds it. The rake that reaches it goes in whole; the posting shows no more than a cap
  that stops the rake, and what is above stays in the pool for the next award.
* While the rake is stopped every jackpot rake of the fund is RAKE_TOO_HIGH: the allowed amount is nothing.
* What is offered after a win, and what re-seeds, is the *posted* amount of the seeding pool: all awards are based on
  the most recent posting. What that pool took in since stays there and is its next posting.
* Bad beat wagers of hands that stay feed the jackpot as those of folded hands do, at the end of the hand.
* A POST that names its gaming day is taken once for that day; one that names none is always taken. A day that has
  begun nowhere yet is NOT_YET: the books know UTC alone, and no place is more than 14 hours ahead of it.
* A gaming day for which nothing was posted (CO 47.1-1046(2): once a day at least) is told by the next posting that
  names its day: ``days_missed`` in its entry.
* What seats have put into a pot during the hand being played is not moved: it may have to go back to them. Nor is a
  Home Run pool while base runners stand: their holders are promised it (CO 47.1-1099.20(10), (12)).
* Where money leaves with its liability for another licensee it is paid out at the fund (``paid/FUND``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from meterd.accounting import rules_pool_awards, rules_pool_games
from meterd.accounting.answer import PIT, SETUP, SUPERVISORS, Answer, entry, not_authorised
from meterd.accounting.answer_pools import (
    Pools,
    fund_for,
    not_each_once,
    pool_of,
    portions,
    seats_refusal,
)
from meterd.accounting.book import Book
from meterd.accounting.commands import Command, Role
from meterd.accounting.commands_pools import (
    BaseRunner,
    CloseFund,
    DisposeShare,
    DropWagers,
    HandWon,
    LeaveTable,
    OpenFund,
    PayShare,
    Post,
    PotBets,
    PotWon,
    Rake,
    ReopenFund,
    ReturnBets,
    RollOver,
    StrikeOuts,
    TransferPool,
    UnclaimedShare,
    UndoPot,
    UndoWin,
    WinPool,
)
from meterd.accounting.entries import Kind
from meterd.accounting.meter import add
from meterd.accounting.refusals import Refusal, Refused
from meterd.accounting.settings_pools import POSTED_GAMES, AtCap, FundSettings, PoolGame, PoolSettings, problems
from meterd.accounting.state_pools import FundState
from meterd.accounting.two_people import people_refusal, signed
from meterd.accounting.when import DAY_US, is_day, microseconds, now, plus_hours, reached
from meterd.errors import MisuseError
from meterd.money import MICROCENTS_PER_CENT

#: Who may post: the positions that the house names in its proposal (CO 47.1-1046(1)(d)).
POSTERS: Final = frozenset({Role.SUPERVISOR, Role.ACCOUNTING, Role.ADMINISTRATOR})

#: The first place on earth where a day begins is so far ahead of UTC.
HOURS_AHEAD: Final = 14


def open_fund(book: Book, command: OpenFund) -> Answer:
    """Put a fund in force: empty pools, nothing posted.

    Raises:
        MisuseError: settings that cannot be; whoever read them must have refused them.
    """
    refused = not_authorised(command.actor, SETUP)
    if refused:
        return refused
    settings = command.settings
    table = settings.id in book.tables and settings.game in POSTED_GAMES  # a drop box of its own (CO 47.1-1012(2))
    if settings.id in book.funds or settings.id in book.links or table:
        return Refused(Refusal.ALREADY_DONE, settings.id)
    wrong = problems(settings)
    if wrong:
        raise MisuseError(f"fund {settings.id}: {'; '.join(wrong)}")
    body = {"settings": settings.to_json(), "sha256": command.sha256}
    return (entry(command, Kind.FUND_OPENED, body, link=settings.id),)


def rake(book: Book, command: Rake) -> Answer:
    """The jackpot rake of one pot, into the fund's own drop box and nowhere else."""
    fund = not_authorised(command.actor, PIT) or fund_for(book, command.fund, {PoolGame.POSTED})
    if isinstance(fund, Refused):
        return fund
    most = fund.settings.take_max_cents
    if fund.stopped is not None:
        return Refused(Refusal.RAKE_TOO_HIGH, f"{fund.stopped} is at its cap: no rake until it is won")
    if most is not None and command.cents > most:
        return Refused(Refusal.RAKE_TOO_HIGH, f"{command.cents} cents, at most {most} from one pot")
    if command.cents <= 0:
        return Refused(Refusal.AMOUNT_OUT_OF_BOUNDS, f"a rake of {command.cents} cents is none")
    pools = Pools.of(book, command, fund)
    pools.take_in(command.cents)
    return (pools.entry(command, Kind.RAKED, {"cents": command.cents, "at_table": command.at_table}),)


def drop_wagers(book: Book, command: DropWagers) -> Answer:
    """Jackpot wagers go into the jackpot drop box, a folded player's too (CO 47.1-1099.28(5))."""
    fund = not_authorised(command.actor, PIT) or fund_for(book, command.fund, {PoolGame.LONGHORN, PoolGame.P208})
    if isinstance(fund, Refused):
        return fund
    refused = seats_refusal(fund, command.seats) if fund.settings.seats else _some(command.seats)
    if refused:
        return refused
    most = fund.settings.take_max_cents
    if fund.stopped is not None:
        return Refused(Refusal.RAKE_TOO_HIGH, f"{fund.stopped} is at its cap: no wagers until it is won")
    if command.cents <= 0 or (most is not None and command.cents > most):
        at_most = "" if most is None else f", at most {most}"
        return Refused(Refusal.AMOUNT_OUT_OF_BOUNDS, f"{command.cents} cents a player{at_most}")
    pools = Pools.of(book, command, fund)
    pools.take_in(command.cents * len(command.seats))
    return (pools.entry(command, Kind.RAKED, {"cents": command.cents, "seats": list(command.seats)}),)


def _some(seats: Sequence[int]) -> Refused | None:
    """Seats of a fund that names no table: any, each once."""
    if seats and len(set(seats)) == len(seats):
        return None
    return Refused(Refusal.UNREASONABLE_CONTRIBUTION, not_each_once(seats))


def post(book: Book, command: Post) -> Answer:
    """The amounts are posted: re-seeding moves first, then each pool's whole cents are its posting."""
    fund = not_authorised(command.actor, POSTERS) or fund_for(book, command.fund, POSTED_GAMES)
    if isinstance(fund, Refused):
        return fund
    if command.gaming_day and command.gaming_day <= fund.posted_day:
        return Refused(Refusal.ALREADY_DONE, f"posted for {fund.posted_day}")
    pools = Pools.of(book, command, fund)
    missed = _days_missed(fund.posted_day, command.gaming_day)
    if missed is None:
        return Refused(Refusal.NOT_YET, f"{command.gaming_day} is no day such as 2026-12-01", "Name one.")
    if command.gaming_day and pools.at_utc and command.gaming_day > plus_hours(pools.at_utc, HOURS_AHEAD)[:10]:
        return Refused(Refusal.NOT_YET, f"{command.gaming_day} has not begun", "Wait until it has.")
    moved = [_reseed(pools, pool) for pool in _heads_first(fund.settings)]
    for pool in fund.settings.pools:
        posted = pools.cents(pool.name)
        if pool.at_cap is AtCap.STOP and pool.cap_cents is not None:
            posted = min(posted, pool.cap_cents)
        pools.change(pool.name, posted_cents=posted, backed_by=None, reseed_due=False)
    body: dict[str, Any] = {
        "gaming_day": command.gaming_day,
        "days_missed": missed,
        "at_utc": pools.at_utc,
        "reseeded": [move for move in moved if move is not None],
    }
    return (pools.entry(command, Kind.POSTED, body),)


def _days_missed(last: str, day: str) -> int | None:
    """Gaming days between two postings for which nothing was posted; None where ``day`` is none."""
    try:
        if day and not is_day(day):
            return None
        until = microseconds(f"{day}T00:00:00Z") if day else 0
        return (until - microseconds(f"{last}T00:00:00Z")) // DAY_US - 1 if day and last else 0
    except ValueError:
        return None


def _heads_first(settings: FundSettings) -> list[PoolSettings]:
    """Pools in the order in which they are re-seeded: each before the one that fills it."""
    found = [pool for pool in settings.pools if pool.reseeds is None]
    for pool in found:
        seeder = settings.seeder_of(pool.name)
        if seeder is not None:
            found.append(seeder)
    return found


def _reseed(pools: Pools, pool: PoolSettings) -> dict[str, Any] | None:
    """Move the seeding pool's posted amount into a pool that was won; the seeding pool is then filled by its own."""
    seeder = pools.fund.settings.seeder_of(pool.name)
    state = pools.states[pool.name]
    if seeder is None or not state.reseed_due:
        return None
    cents = state.posted_cents if state.backed_by == seeder.name else pools.states[seeder.name].posted_cents
    if not cents:
        return None
    pools.put(seeder.name, -cents * MICROCENTS_PER_CENT)
    pools.put(pool.name, cents * MICROCENTS_PER_CENT)
    pools.change(seeder.name, reseed_due=True)
    return {"from": seeder.name, "to": pool.name, "cents": cents}


def transfer(book: Book, command: TransferPool) -> Answer:
    """Money of a pool moves by two people of two departments, with the reference of what was approved.

    An amount may be taken from what is not posted. All of it, the posted amount too, moves when the game can no longer
    be offered, or when the rake was stopped and the pool has not been paid out within six months; NOT_YET before.
    """
    refused = people_refusal(command)
    found = refused or _source(book, command)
    if isinstance(found, Refused):
        return found
    pools, pool = found
    target = _target(book, command, pools)
    if isinstance(target, Refused):
        return target
    microcents = _transferable(pools, pool, command)
    if isinstance(microcents, Refused):
        return microcents
    if command.cents is None:
        pools.unpost(pool.name)
    pools.put(pool.name, -microcents)
    body: dict[str, Any] = {
        "from": f"{command.fund}/{command.pool}",
        "to": None if command.to_fund is None else f"{command.to_fund}/{command.to_pool}",
        "microcents": microcents,
        **signed(command),
        "game_ended": command.game_ended,
    }
    if target is None:
        add(pools.moves, f"paid/{command.fund}", microcents)
        return (pools.entry(command, Kind.POOL_TRANSFERRED, body),)
    target.put(command.to_pool, microcents)
    body["pools"] = {**pools.facts(), **target.facts()}
    return (entry(command, Kind.POOL_TRANSFERRED, body, link=command.fund, moves=pools.moves),)


def _source(book: Book, command: TransferPool) -> tuple[Pools, PoolSettings] | Refused:
    fund = fund_for(book, command.fund)
    if isinstance(fund, Refused):
        return fund
    pool = pool_of(fund, command.pool)
    return pool if isinstance(pool, Refused) else (Pools.of(book, command, fund), pool)


def _transferable(pools: Pools, pool: PoolSettings, command: TransferPool) -> int | Refused:
    """What moves, in microcents, or why nothing may."""
    held = pools.amounts[pool.name]
    until = pools.fund.pay_out_by(pool.name)
    in_play = pools.in_play_cents(pool.name)
    free = pools.cents(pool.name) - pools.promised_cents(pool.name) - in_play
    if command.cents is not None and not 0 < command.cents <= free:
        held_there = f"{free} are held, not posted and not in play"
        return Refused(Refusal.AMOUNT_OUT_OF_BOUNDS, f"{command.cents} cents; {held_there}")
    if not held:
        return Refused(Refusal.AMOUNT_OUT_OF_BOUNDS, f"{command.fund}/{pool.name} is empty")
    in_time = until is None or not reached(pools.at_utc, until)
    if pools.fund.runners or (command.cents is None and in_play):
        runners = (f"base runners stand at {command.fund}: closing the table shares its pool", "Close the table.")
        in_hand = (f"{in_play} cents are in play", "Let the hand end first.")
        return Refused(Refusal.NOT_YET, *(runners if pools.fund.runners else in_hand))
    if command.cents is None and in_time and not command.game_ended:
        running = f"to be paid out by {until}" if until else "the rake has not been stopped"
        return Refused(Refusal.NOT_YET, running, "Where the game has ended say so: game_ended yes.")
    if (command.to_fund, command.to_pool) == (command.fund, pool.name):
        return Refused(Refusal.ALREADY_DONE, f"{command.fund}/{pool.name} is where the money is")
    return held if command.cents is None else command.cents * MICROCENTS_PER_CENT


def _target(book: Book, command: TransferPool, pools: Pools) -> Pools | Refused | None:
    """The working copy that receives: the same one within a fund, None for another licensee."""
    if command.to_fund is None:
        return None
    fund = fund_for(book, command.to_fund)
    if isinstance(fund, Refused):
        return fund
    pool = pool_of(fund, command.to_pool)
    if isinstance(pool, Refused):
        return pool
    return pools if command.to_fund == command.fund else Pools.of(book, command, fund, pools.moves)


def close_fund(book: Book, command: CloseFund) -> Answer:
    """Close the table: Home Run shares its pool by base runners (CO 47.1-1099.20(12)); any other pool must be empty."""
    fund = not_authorised(command.actor, SUPERVISORS | SETUP) or fund_for(book, command.fund)
    if isinstance(fund, Refused):
        return fund
    if fund.strike_outs:
        return Refused(Refusal.ROUND_HAS_OPEN_AWARD, "strike-out wagers are out", "Key who won the hand.")
    pools = Pools.of(book, command, fund)
    paid: list[dict[str, int]] = []
    if fund.settings.game is PoolGame.HOME_RUN and fund.runners:
        paid = _pro_rata(pools, fund)
    for name, microcents in pools.amounts.items():
        if microcents >= MICROCENTS_PER_CENT:
            return Refused(Refusal.TOP_AWARD_NOT_WON, f"{command.fund}/{name} holds {microcents} microcents")
    return (pools.entry(command, Kind.FUND_CLOSED, {"paid": paid}),)


def _pro_rata(pools: Pools, fund: FundState) -> list[dict[str, int]]:
    """Whole cents by base runners held; the odd cents one each to the lowest seats."""
    name = fund.settings.main.name
    total = pools.cents(name)
    seats = sorted(fund.runners)
    runners = [fund.runners[seat] for seat in seats]
    pools.put(name, -total * MICROCENTS_PER_CENT)
    pools.pay(total)
    shares = portions(total, runners, sum(runners))
    return [{"seat": seat, "cents": cents} for seat, cents in zip(seats, shares, strict=True)]


def reopen_fund(book: Book, command: ReopenFund) -> Answer:
    """Play goes on at a closed table, with nobody holding base runners."""
    fund = not_authorised(command.actor, SUPERVISORS | SETUP) or fund_for(book, command.fund, closed=True)
    if isinstance(fund, Refused):
        return fund
    if not fund.closed:
        return Refused(Refusal.ALREADY_DONE, f"{command.fund} is open")
    return (entry(command, Kind.FUND_REOPENED, {"at_utc": now(book, command)}, link=command.fund),)


RULES: Final[dict[type[Command], Callable[[Book, Any], Answer]]] = {
    OpenFund: open_fund,
    CloseFund: close_fund,
    ReopenFund: reopen_fund,
    Rake: rake,
    DropWagers: drop_wagers,
    Post: post,
    TransferPool: transfer,
    WinPool: rules_pool_awards.win,
    PayShare: rules_pool_awards.pay,
    UnclaimedShare: rules_pool_awards.unclaimed,
    DisposeShare: rules_pool_awards.dispose,
    UndoWin: rules_pool_awards.undo,
    StrikeOuts: rules_pool_games.strike_outs,
    HandWon: rules_pool_games.hand_won,
    BaseRunner: rules_pool_games.base_runner,
    LeaveTable: rules_pool_games.leave_table,
    PotBets: rules_pool_games.pot_bets,
    PotWon: rules_pool_games.pot_won,
    RollOver: rules_pool_games.roll_over,
    ReturnBets: rules_pool_games.return_bets,
    UndoPot: rules_pool_games.undo_pot,
}
