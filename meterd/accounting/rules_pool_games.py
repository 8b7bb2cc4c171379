"""Rules of pools at one table: Home Run Hold'em and Trips Poker.

Sources: money rules M11; CO 47.1-1099.20(4), (10), (11), 1099.25(8), (10), (11), (12), (16), 1002(34).
Units: ``*_cents``; postings in microcents. Everything here is paid at the table, in the same entry.

Choices where the rules leave one:
* With the fourth base runner a new play begins: all base runners at the table go back to the dealer.
* Strike-out wagers are out until the winner is keyed; until then nobody gets a base runner and the table stays open.
* The rake of a pot is at most 10 % of the pot as it stands, with what rolled over into it.
* An award from the site's confirmation threshold up is keyed by a supervisor; a dealer is told NOT_AUTHORISED, last of
  all: only what would be handed out can be too much.
* A hand is played with a wager: seats without one win neither pot nor base runner (SEAT_HAS_NO_WAGER).
* The last award, roll-over or base runner may be taken back by two people of two departments: pot, rake and base
  runners are then as before it, and it is keyed again. What was handed out and did not come back the house makes good
  (``house/pays/FUND``). With the bets of the next hand in the pot it is too late (ROUND_CLOSED): the pot would be
  another. A base runner keyed wrongly before the last goes back with LEAVE, and the right ones are keyed again.
* Shares are whole cents of what is left after the rake; odd cents go to the first listed, the rest stays in the pot.
"""

from __future__ import annotations

from typing import Any, Final

from meterd.accounting.answer import KEYS, SUPERVISORS, Answer, entry, not_authorised, site_of
from meterd.accounting.answer_pools import Pools, fund_for, portions, seats_refusal
from meterd.accounting.book import Book
from meterd.accounting.commands import Actor
from meterd.accounting.commands_pools import (
    BaseRunner,
    HandWon,
    LeaveTable,
    PotBets,
    PotWon,
    ReturnBets,
    RollOver,
    StrikeOuts,
    UndoPot,
)
from meterd.accounting.entries import Kind
from meterd.accounting.meter import add
from meterd.accounting.refusals import Refusal, Refused
from meterd.accounting.settings_pools import RUNNERS_TO_WIN, STRIKE_OUT, PoolGame, allowed_high_hand
from meterd.accounting.state_pools import FundState
from meterd.accounting.two_people import people_refusal, signed
from meterd.money import MICROCENTS_PER_CENT, PPM_PER_WHOLE, format_rate

#: The ordinary rake is at most a tenth of the pot (CO 47.1-1002(34)).
RAKE_DIVISOR: Final = 10


def strike_outs(book: Book, command: StrikeOuts) -> Answer:
    """Strike-out wagers are gathered and kept apart from pot and pool."""
    fund = not_authorised(command.actor, KEYS) or fund_for(book, command.fund, {PoolGame.HOME_RUN})
    if isinstance(fund, Refused):
        return fund
    refused = _wagers_refusal(fund, command.seats, command.cents)
    if refused is None:
        twice = [seat for seat in command.seats if seat in fund.strike_outs]
        if twice:
            refused = Refused(Refusal.UNREASONABLE_CONTRIBUTION, f"seat {twice[0]} has a strike-out wager out")
    if refused:
        return refused
    total = command.cents * len(command.seats) * MICROCENTS_PER_CENT
    pools = Pools.of(book, command, fund)
    add(pools.moves, f"drop/{command.fund}", -total)
    add(pools.moves, fund.settings.account(STRIKE_OUT), total)
    body = {"seats": list(command.seats), "cents": command.cents}
    return (pools.entry(command, Kind.STRIKE_OUTS, body, strike_out=True),)


def _wagers_refusal(fund: FundState, seats: tuple[int, ...], cents: int) -> Refused | None:
    refused = seats_refusal(fund, seats)
    most = fund.settings.take_max_cents
    if refused is None and (cents <= 0 or (most is not None and cents > most)):
        refused = Refused(Refusal.AMOUNT_OUT_OF_BOUNDS, f"{cents} cents a player, at most {most}")
    return refused


def hand_won(book: Book, command: HandWon) -> Answer:
    """The winner gets his own strike-out wager back, the others go to the pool (CO 47.1-1099.20(4))."""
    fund = not_authorised(command.actor, KEYS) or fund_for(book, command.fund, {PoolGame.HOME_RUN})
    if isinstance(fund, Refused):
        return fund
    refused = seats_refusal(fund, (command.seat,))
    if refused is None and command.seat not in fund.strike_outs:
        refused = Refused(Refusal.SEAT_HAS_NO_WAGER, f"seat {command.seat} has no strike-out wager out")
    if refused:
        return refused
    own = fund.strike_outs[command.seat]
    rest = sum(fund.strike_outs.values()) - own
    pools = Pools.of(book, command, fund)
    add(pools.moves, fund.settings.account(STRIKE_OUT), -(own + rest) * MICROCENTS_PER_CENT)
    add(pools.moves, f"drop/{command.fund}", own * MICROCENTS_PER_CENT)
    pools.put(fund.settings.main.name, rest * MICROCENTS_PER_CENT)
    body = {"seat": command.seat, "returned_cents": own, "to_pool_cents": rest}
    return (pools.entry(command, Kind.HAND_WON, body, strike_out=True),)


def base_runner(book: Book, command: BaseRunner) -> Answer:
    """A seat wins a base runner; the first with four takes the pool (CO 47.1-1099.20(10))."""
    fund = not_authorised(command.actor, KEYS) or fund_for(book, command.fund, {PoolGame.HOME_RUN})
    if isinstance(fund, Refused):
        return fund
    refused = seats_refusal(fund, (command.seat,))
    if refused is None and command.seat not in fund.dealt:
        refused = Refused(Refusal.SEAT_HAS_NO_WAGER, f"seat {command.seat} had no strike-out wager up in this hand")
    if refused is None and fund.strike_outs:
        refused = Refused(Refusal.ROUND_HAS_OPEN_AWARD, "strike-out wagers are out", "Key who won the hand.")
    if refused:
        return refused
    count = fund.runners.get(command.seat, 0) + 1
    pools = Pools.of(book, command, fund)
    cents = 0
    runners = {**fund.runners, command.seat: count}
    if count >= RUNNERS_TO_WIN:
        cents = pools.cents(fund.settings.main.name)
        refused = _too_much(book, command.actor, cents)
        if refused:
            return refused
        pools.put(fund.settings.main.name, -cents * MICROCENTS_PER_CENT)
        pools.pay(cents)
        runners = {}
    body: dict[str, Any] = {"seat": command.seat, "count": count, "paid_cents": cents, "runners": _by_seat(runners)}
    return (pools.entry(command, Kind.BASE_RUNNER, body),)


def _too_much(book: Book, actor: Actor, cents: int) -> Refused | None:
    """From the site's threshold up a supervisor hands out an award, as he confirms one of a meter."""
    if not cents or cents < site_of(book).confirm_above_cents or actor.role in SUPERVISORS:
        return None
    step = "Who may: supervisor."
    return Refused(Refusal.NOT_AUTHORISED, f"{cents} cents are handed out by a supervisor, not by {actor.id}", step)


def leave_table(book: Book, command: LeaveTable) -> Answer:
    """A player leaves the game: his base runners go back to the dealer (CO 47.1-1099.20(11))."""
    fund = not_authorised(command.actor, KEYS) or fund_for(book, command.fund, {PoolGame.HOME_RUN})
    if isinstance(fund, Refused):
        return fund
    refused = seats_refusal(fund, (command.seat,))
    if refused:
        return refused
    runners = {seat: count for seat, count in fund.runners.items() if seat != command.seat}
    body = {"seat": command.seat, "count": fund.runners.get(command.seat, 0), "runners": _by_seat(runners)}
    return (entry(command, Kind.RUNNERS_RETURNED, body, link=command.fund),)


def _by_seat(runners: dict[int, int]) -> dict[str, int]:
    return {str(seat): count for seat, count in runners.items()}


def pot_bets(book: Book, command: PotBets) -> Answer:
    """Bets go to the pot; a player bets in every round of a hand, so a seat may be named again."""
    fund = not_authorised(command.actor, KEYS) or fund_for(book, command.fund, {PoolGame.TRIPS})
    if isinstance(fund, Refused):
        return fund
    refused = _wagers_refusal(fund, command.seats, command.cents)
    if refused:
        return refused
    pools = Pools.of(book, command, fund)
    pools.take_in(command.cents * len(command.seats))
    return (pools.entry(command, Kind.POT_BETS, {"seats": list(command.seats), "cents": command.cents}),)


def _pot_refusal(fund: FundState, seats: tuple[int, ...], rake_cents: int) -> Refused | None:
    """Seats that cannot be, a rake above a tenth of the pot, or an empty pot."""
    refused = seats_refusal(fund, seats) if seats else None
    idle = [seat for seat in seats if not fund.bets.get(seat)]
    if refused is None and idle:
        refused = Refused(Refusal.SEAT_HAS_NO_WAGER, f"seat {idle[0]} put nothing in during this hand")
    pot = fund.microcents(fund.settings.main.name) // MICROCENTS_PER_CENT
    if refused is None and rake_cents * RAKE_DIVISOR > pot:
        refused = Refused(Refusal.RAKE_TOO_HIGH, f"{rake_cents} cents are above a tenth of {pot}")
    if refused is None and (rake_cents < 0 or not pot):
        refused = Refused(Refusal.AMOUNT_OUT_OF_BOUNDS, f"a rake of {rake_cents} cents from a pot of {pot}")
    return refused


def _settled(
    pools: Pools, seats: tuple[int, ...], rake_cents: int, share_ppm: int
) -> tuple[list[dict[str, int | None]], int]:
    """Take the rake, then pay the seats their share of what is left; returns who got what, and what is left."""
    name = pools.fund.settings.main.name
    pools.put(name, -rake_cents * MICROCENTS_PER_CENT)
    add(pools.moves, f"house/hold/{pools.fund.settings.id}", rake_cents * MICROCENTS_PER_CENT)
    cents = pools.cents(name) * share_ppm // PPM_PER_WHOLE
    pools.put(name, -cents * MICROCENTS_PER_CENT)
    pools.pay(cents)
    count = max(len(seats), 1)
    shares = portions(cents, [1] * count, count)
    who: tuple[int | None, ...] = seats or (None,)
    paid = [{"seat": seat, "cents": amount} for seat, amount in zip(who, shares, strict=True)]
    return (paid if share_ppm else []), pools.cents(name)


def pot_won(book: Book, command: PotWon) -> Answer:
    """The highest qualifying hands take the pot in equal parts, after the rake (CO 47.1-1099.25(11), (12))."""
    fund = not_authorised(command.actor, KEYS) or fund_for(book, command.fund, {PoolGame.TRIPS})
    if isinstance(fund, Refused):
        return fund
    refused = seats_refusal(fund, command.seats) or _pot_refusal(fund, command.seats, command.rake_cents)
    if refused:
        return refused
    pools = Pools.of(book, command, fund)
    paid, left = _settled(pools, command.seats, command.rake_cents, PPM_PER_WHOLE)
    refused = _too_much(book, command.actor, sum(one["cents"] or 0 for one in paid))
    if refused:
        return refused
    body = {"rake_cents": command.rake_cents, "paid": paid, "rolls_over_cents": left}
    return (pools.entry(command, Kind.POT_WON, body),)


def roll_over(book: Book, command: RollOver) -> Answer:
    """Nobody qualified: rake, then the best hands' share, and the rest rolls over (CO 47.1-1099.25(8), (10), (12))."""
    fund = not_authorised(command.actor, KEYS) or fund_for(book, command.fund, {PoolGame.TRIPS})
    if isinstance(fund, Refused):
        return fund
    refused = _pot_refusal(fund, command.seats, command.rake_cents)
    ppm = command.percent_ppm
    if refused is None and ppm is not None:
        fixed = fund.settings.high_hand_ppm
        if not allowed_high_hand(ppm) or (fixed is not None and ppm != fixed):
            share = "5% to 95% in steps of 5%" if fixed is None else format_rate(fixed)
            refused = Refused(Refusal.AMOUNT_OUT_OF_BOUNDS, f"the best hand gets {share}")
    if refused is None and ppm is None and command.seats:
        refused = Refused(Refusal.AMOUNT_OUT_OF_BOUNDS, "seats without a share: all have folded, or the best hand gets")
    if refused:
        return refused
    pools = Pools.of(book, command, fund)
    paid, left = _settled(pools, command.seats, command.rake_cents, ppm or 0)
    refused = _too_much(book, command.actor, sum(one["cents"] or 0 for one in paid))
    if refused:
        return refused
    body = {"rake_cents": command.rake_cents, "percent_ppm": ppm, "paid": paid, "rolls_over_cents": left}
    return (pools.entry(command, Kind.ROLLED_OVER, body),)


def undo_pot(book: Book, command: UndoPot) -> Answer:
    """The last award or base runner is taken back, by two people of two departments with a reference."""
    games = {PoolGame.TRIPS, PoolGame.HOME_RUN}
    fund = people_refusal(command) or fund_for(book, command.fund, games)
    if isinstance(fund, Refused):
        return fund
    last = fund.settled
    if fund.bets:
        return Refused(Refusal.ROUND_CLOSED, f"{command.fund}: bets of the next hand are in the pot")
    if last is None:
        return Refused(Refusal.AWARD_UNKNOWN, f"{command.fund} has no award that can be taken back")
    pools = Pools.of(book, command, fund)
    pools.put(fund.settings.main.name, (last.paid_cents + last.rake_cents) * MICROCENTS_PER_CENT)
    add(pools.moves, f"house/hold/{command.fund}", -last.rake_cents * MICROCENTS_PER_CENT)
    payer = "paid" if command.came_back else "house/pays"
    add(pools.moves, f"{payer}/{command.fund}", -last.paid_cents * MICROCENTS_PER_CENT)
    body: dict[str, Any] = {
        "paid_cents": last.paid_cents,
        "rake_cents": last.rake_cents,
        "came_back": command.came_back,
        "runners": _by_seat(last.runners),
        **signed(command),
    }
    return (pools.entry(command, Kind.POT_UNDONE, body),)


def return_bets(book: Book, command: ReturnBets) -> Answer:
    """What a seat put in during this hand goes back to it, in whole (CO 47.1-1099.25(16))."""
    games = {PoolGame.TRIPS, PoolGame.HOME_RUN}
    fund = not_authorised(command.actor, KEYS) or fund_for(book, command.fund, games)
    if isinstance(fund, Refused):
        return fund
    kept_apart = fund.settings.game is PoolGame.HOME_RUN
    cents = (fund.strike_outs if kept_apart else fund.bets).get(command.seat, 0)
    refused = seats_refusal(fund, (command.seat,))
    if refused is None and not cents:
        refused = Refused(Refusal.SEAT_HAS_NO_WAGER, f"seat {command.seat} put nothing in during this hand")
    held = fund.settings.account(STRIKE_OUT if kept_apart else fund.settings.main.name)
    if refused is None and fund.balances.get(held, 0) < cents * MICROCENTS_PER_CENT:
        refused = Refused(Refusal.AMOUNT_OUT_OF_BOUNDS, f"{held} holds less than {cents} cents")
    if refused:
        return refused
    pools = Pools.of(book, command, fund)
    if kept_apart:
        add(pools.moves, fund.settings.account(STRIKE_OUT), -cents * MICROCENTS_PER_CENT)
    else:
        pools.put(fund.settings.main.name, -cents * MICROCENTS_PER_CENT)
    add(pools.moves, f"drop/{command.fund}", cents * MICROCENTS_PER_CENT)
    body = {"seat": command.seat, "cents": cents}
    return (pools.entry(command, Kind.BETS_RETURNED, body, strike_out=kept_apart),)
