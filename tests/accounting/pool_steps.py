"""Acts of posted jackpots and table pools out of small numbers, each asked of the rules and of its twin.

After an act both must have given the same answer, and every account, posting, share and base runner must be the same.
A ``Room`` is whatever decides and folds: a card room of its own, or the floor of the machine.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from fractions import Fraction
from typing import NamedTuple, Protocol

from pool_twin import HomeRun, Jackpot, Kept, Trips
from pools_build import ACCOUNTANT, ADMINISTRATOR, DEALER, MICRO, SUPERVISOR

from meterd.accounting import commands_pools as ask
from meterd.accounting.book import Book
from meterd.accounting.commands import SYSTEM, Command
from meterd.accounting.rules import Decision
from meterd.accounting.settings_pools import AtCap, FundSettings, PoolGame, PoolSettings
from meterd.accounting.state_pools import FundState

NAMES = ("a", "b", "c")
PPM = 1_000_000


class Act(NamedTuple):
    """Small numbers from which an act is made."""

    verb: int
    a: int
    b: int
    c: int


class Ways(NamedTuple):
    """Small numbers from which a jackpot's rules are made."""

    first: int
    second: int
    caps: int
    at_cap: int
    chain: int
    offered: int
    then: int


class Room(Protocol):
    """Decides a command a second later and folds its entries."""

    book: Book
    now: datetime

    def act(self, command: Command) -> Decision: ...

    def state(self, name: str = "P1") -> FundState: ...


def rules_of(way: Ways) -> tuple[FundSettings, list[Kept]]:
    """The same rules for both: shares with four decimals of a percent, caps low enough to be reached."""
    first = way.first * 10_000 + way.second * 7
    second = (PPM - first) * way.second // 99
    shares = [first, second, PPM - first - second]
    later = [PPM - shares[0], 0, shares[0]] if way.then % 2 else None
    pools, twins = [], []
    for index, name in enumerate(NAMES):
        at_cap = (None, None, None, "stop", "grow")[(way.at_cap + way.caps * index) % 5]
        cap = None if at_cap is None else 40 + (way.caps * (index + 3)) % 900
        fills = NAMES[index - 1] if index and (way.chain >> index) & 1 else None
        offered = fills is not None and bool((way.offered >> index) & 1)
        then = None if later is None else later[index]
        stops = None if at_cap is None else AtCap(at_cap)
        pools.append(PoolSettings(name, shares[index], cap, stops, then, fills, offered))
        twins.append(
            Kept(
                name,
                Fraction(shares[index], PPM),
                cap,
                at_cap,
                None if then is None else Fraction(then, PPM),
                fills,
                offered,
            )
        )
    return FundSettings("P1", PoolGame.POSTED, tuple(pools), 200), twins


def same_money(room: Room, accounts: dict[str, Fraction]) -> None:
    wanted = {name: amount * MICRO for name, amount in accounts.items() if amount}
    assert wanted == {name: amount for name, amount in room.book.balances.items() if amount}


def reason_of(room: Room, command: Command) -> str | None:
    decision = room.act(command)
    return decision.refusal.refusal.value if decision.refusal else None


def same_jackpot(room: Room, twin: Jackpot) -> None:
    same_money(room, twin.accounts)
    same_jackpot_state(room, twin)


def same_jackpot_state(room: Room, twin: Jackpot) -> None:
    state = room.state()
    for pool in twin.pools:
        stands = state.pools[pool.name]
        assert (pool.board, pool.board_of, pool.refill) == (
            stands.posted_cents,
            stands.backed_by or pool.name,
            stands.reseed_due,
        ), pool.name
        since = None if pool.full_since is None else pool.full_since.strftime("%Y-%m-%dT%H:%M:%S.000000Z")
        assert since == stands.capped_at, pool.name
    told = [(part.win, part.pool, part.cents, part.status) for part in twin.parts]
    assert told == [(one.win, one.pool, one.cents, one.status.value) for one in room.book.fund_awards.values()]
    owed = [f"J{number}" for number, part in enumerate(twin.parts, 1) if part.status in {"confirmed", "unclaimed"}]
    assert owed == list(room.book.open_shares)
    assert twin.owed * MICRO == room.book.liability_microcents("P1")


JACKPOT_VERBS = (
    *("rake",) * 8,
    *("rakes",) * 4,
    *("post",) * 4,
    *("win",) * 7,
    "pay",
    "pay",
    "days",
    "months",
    *("unclaimed", "dispose") * 2,
    "undo",
    "undo",
    "move",
    "move all",
)


def shares_of(act: Act) -> list[tuple[int, int]]:
    """One to three shares with their players; some do not add up, some are too many for the cents there are."""
    first = (act.b * 10_101 + 1) % (PPM + 20_000)
    rest = PPM - first
    match act.c % 5:
        case 0:
            return [(PPM, 1 + act.b % 9)]
        case 1:
            return [(first, 1)]
        case 2:
            return [(first, 1), (rest, 1 + act.b % 7)]
        case 3:
            return [(first // 2, 2), (first - first // 2, 1), (rest, act.b % 4)]
        case _:
            return [(333_333, 1), (333_333, 2), (333_334, 3)]


def step(room: Room, twin: Jackpot, act: Act) -> None:
    """One act on both, and the same answer."""
    verb = JACKPOT_VERBS[act.verb % len(JACKPOT_VERBS)]
    now = room.now + timedelta(seconds=1)
    if verb in {"days", "months"}:
        room.now += timedelta(days=2 * act.a, hours=act.b) if verb == "days" else timedelta(days=31 * (1 + act.a % 7))
        return
    if verb == "rakes":
        for _ in range(act.a):
            step(room, twin, Act(JACKPOT_VERBS.index("rake"), act.b, act.c, 0))
        return
    wanted, command = play(twin, verb, act, now) if verb in {"rake", "post", "win"} else follow(twin, verb, act, now)
    assert wanted == reason_of(room, command), verb


def play(twin: Jackpot, verb: str, act: Act, now: datetime) -> tuple[str | None, Command]:
    """What happens at the tables: the twin's answer, and the command that asks the same."""
    if verb == "rake":
        cents = act.a * 2 + act.b % 5 - 1
        return twin.rake(cents, now), ask.Rake(actor=DEALER, fund="P1", cents=cents)
    if verb == "post":
        return twin.post(now), ask.Post(actor=ACCOUNTANT, fund="P1")
    name = NAMES[act.a % 3] if act.a % 2 else "a"
    asked = shares_of(act)
    wanted = twin.win(name, [(Fraction(ppm, PPM), players) for ppm, players in asked], now)
    shares = tuple(ask.Share(*share) for share in asked)
    return wanted, ask.WinPool(actor=SUPERVISOR, fund="P1", pool=name, shares=shares, second=DEALER)


def follow(twin: Jackpot, verb: str, act: Act, now: datetime) -> tuple[str | None, Command]:
    """What happens afterwards, in the cage and in the office."""
    number = act.a % (len(twin.parts) + 2)
    target = (*NAMES, None)[act.b % 4]
    match verb:
        case "pay":
            return twin.pay(number), ask.PayShare(actor=SUPERVISOR, award=f"J{number}")
        case "unclaimed":
            return twin.unclaimed(number, now), ask.UnclaimedShare(actor=SYSTEM, award=f"J{number}")
        case "dispose":
            target = (*NAMES, "house", "authority")[act.b % 5]
            return twin.dispose(number, target, now), ask.DisposeShare(
                actor=ADMINISTRATOR, award=f"J{number}", to=target, second=ACCOUNTANT, reference="r"
            )
        case "undo":
            win = act.a % (twin.wins + 2)
            return twin.undo(win, now), ask.UndoWin(
                actor=ADMINISTRATOR, fund="P1", win=win, second=ACCOUNTANT, reference="r"
            )
    cents = None if verb == "move all" else act.c * 7
    ended = act.c % 3 == 0
    return twin.move(NAMES[act.a % 3], target, cents, now, ended=ended), ask.TransferPool(
        actor=ADMINISTRATOR,
        fund="P1",
        pool=NAMES[act.a % 3],
        to_fund=None if target is None else "P1",
        to_pool=target or "",
        cents=cents,
        second=ACCOUNTANT,
        reference="r",
        game_ended=ended,
    )


def seats_of(act: Act) -> list[int]:
    """Seats of a table of six; some are not there, some come twice."""
    return [(act.a * (index + 1) + act.c * index) % 7 + (act.b == 7) for index in range(act.b % 4)]


HOME_RUN_VERBS = (
    *("gather", "gather", "hand", "hand"),
    *("runner", "runner", "runner", "runner", "undo", "leave", "back", "close", "reopen"),
)


def undone(act: Act, name: str) -> ask.UndoPot:
    return ask.UndoPot(actor=ADMINISTRATOR, fund=name, second=ACCOUNTANT, reference="film", came_back=bool(act.c % 2))


def home_run_settings(name: str = "T3") -> FundSettings:
    return FundSettings(name, PoolGame.HOME_RUN, (PoolSettings("home-run", PPM),), None, seats=6)


def home_run_step(room: Room, twin: HomeRun, act: Act) -> None:
    """One act on both, and the same answer."""
    name, seat = twin.name, act.a % 7
    supervisor = bool(act.b & 64)
    actor = SUPERVISOR if supervisor else DEALER
    command: Command
    match HOME_RUN_VERBS[act.verb % len(HOME_RUN_VERBS)]:
        case "gather":
            seats = seats_of(act)
            wanted = twin.gather(seats, act.c * 3)
            command = ask.StrikeOuts(actor=DEALER, fund=name, seats=tuple(seats), cents=act.c * 3)
        case "hand":
            seat = next(iter(twin.aside), seat) if act.b % 3 else seat
            wanted = twin.hand(seat)
            command = ask.HandWon(actor=DEALER, fund=name, seat=seat)
        case "runner":
            seat = 1 + act.a % 2 if act.b % 3 else seat
            wanted = twin.runner(seat, supervisor=supervisor)
            command = ask.BaseRunner(actor=actor, fund=name, seat=seat)
        case "leave":
            wanted = twin.leave(seat)
            command = ask.LeaveTable(actor=DEALER, fund=name, seat=seat)
        case "back":
            wanted = twin.give_back(seat)
            command = ask.ReturnBets(actor=DEALER, fund=name, seat=seat)
        case "undo":
            wanted = twin.undo(came_back=bool(act.c % 2))
            command = undone(act, name)
        case "close":
            wanted = twin.close()
            command = ask.CloseFund(actor=SUPERVISOR, fund=name)
        case _:
            wanted = twin.reopen()
            command = ask.ReopenFund(actor=SUPERVISOR, fund=name)
    assert wanted == reason_of(room, command), command


def same_home_run(room: Room, twin: HomeRun) -> None:
    assert {seat: count for seat, count in twin.runners.items() if count} == room.state(twin.name).runners
    assert (twin.pool + sum(twin.aside.values())) * MICRO == room.book.liability_microcents(twin.name)


TRIPS_VERBS = ("bet", "bet", "bet", "bet", "won", "over", "over", "over", "fold", "back", "undo")


def trips_settings(high: int | None, name: str = "T4") -> FundSettings:
    return FundSettings(name, PoolGame.TRIPS, (PoolSettings("pot", PPM),), None, seats=6, high_hand_ppm=high)


def trips_step(room: Room, twin: Trips, act: Act, high: int | None) -> None:
    """One act on both, and the same answer. ``high`` is what is posted for a high hand, in ppm."""
    name, seats = twin.name, seats_of(act)
    rake = act.c * twin.pot // 900 - act.c % 2
    supervisor = bool(act.b & 64)
    actor = SUPERVISOR if supervisor else DEALER
    command: Command
    match TRIPS_VERBS[act.verb % len(TRIPS_VERBS)]:
        case "bet":
            wanted = twin.bet(seats, act.c * 11)
            command = ask.PotBets(actor=DEALER, fund=name, seats=tuple(seats), cents=act.c * 11)
        case "won":
            wanted = twin.won(seats, rake, supervisor=supervisor)
            command = ask.PotWon(actor=actor, fund=name, seats=tuple(seats), rake_cents=rake)
        case "over":
            ppm = high if high is not None and act.b % 4 else act.b * 12_500
            wanted = twin.over(Fraction(ppm, PPM), seats, rake, supervisor=supervisor)
            command = ask.RollOver(actor=actor, fund=name, percent_ppm=ppm, seats=tuple(seats), rake_cents=rake)
        case "fold":
            wanted = twin.over(None, seats, rake, supervisor=supervisor)
            command = ask.RollOver(actor=actor, fund=name, seats=tuple(seats), rake_cents=rake)
        case "undo":
            wanted = twin.undo(came_back=bool(act.c % 2))
            command = undone(act, name)
        case _:
            wanted = twin.give_back(act.a % 7)
            command = ask.ReturnBets(actor=DEALER, fund=name, seat=act.a % 7)
    assert wanted == reason_of(room, command), command
