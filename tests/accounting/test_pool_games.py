"""Pools at one table: Home Run Hold'em and Trips Poker."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pools_build import ACCOUNTANT, ADMINISTRATOR, DEALER, SUPERVISOR, CardRoom, bets, fund, pool

from meterd.accounting import commands_pools as ask
from meterd.accounting.commands import Command
from meterd.accounting.commands_links import ChangeSite
from meterd.accounting.entries import Kind
from meterd.accounting.refusals import Refusal
from meterd.accounting.settings_pools import PoolGame
from meterd.app.scenario_world import differences


def home_run(seats: int = 6, most: int | None = None) -> CardRoom:
    return CardRoom(fund(pool("home-run"), name="T3", game=PoolGame.HOME_RUN, seats=seats, most=most))


def trips(high_hand: int | None = None, most: int | None = None) -> CardRoom:
    return CardRoom(fund(pool("pot"), name="T4", game=PoolGame.TRIPS, seats=6, high_hand=high_hand, most=most))


def strike(*seats: int, cents: int = 100) -> ask.StrikeOuts:
    return ask.StrikeOuts(actor=DEALER, fund="T3", seats=seats, cents=cents)


def won(seat: int) -> ask.HandWon:
    return ask.HandWon(actor=DEALER, fund="T3", seat=seat)


def runner(seat: int) -> ask.BaseRunner:
    return ask.BaseRunner(actor=DEALER, fund="T3", seat=seat)


def over(percent: int | None = None, seats: tuple[int, ...] = (), rake: int = 0) -> ask.RollOver:
    return ask.RollOver(actor=DEALER, fund="T4", percent_ppm=percent, seats=seats, rake_cents=rake)


def pot(*seats: int, rake: int = 0) -> ask.PotWon:
    return ask.PotWon(actor=DEALER, fund="T4", seats=seats, rake_cents=rake)


def test_strike_out_wagers_are_apart_until_the_hand_is_won() -> None:
    """They are owed, and no part of the pool; the winner gets his own back and the others' go to the pool."""
    room = home_run()
    room.do(strike(1, 2, 3))
    room.do(strike(4, cents=250))
    assert ["5.50", "0.00"] == [room.account("pool/T3/strike-out"), room.held("home-run", "T3")]
    assert 550_000_000 == room.book.liability_microcents("T3")
    room.do(won(4))
    assert ["0.00", "3.00", "-3.00"] == [
        room.account(name) for name in ("pool/T3/strike-out", "pool/T3/home-run", "drop/T3")
    ]
    assert [] == differences(room.book, room.folded())


def test_the_first_with_four_base_runners_takes_the_pool() -> None:
    """Exactly the fourth; all base runners go back, and the next play begins with none."""
    room = home_run()
    room.do(strike(1, 2, 3))
    room.do(won(1))
    for seat in (2, 3, 2, 3, 2, 3):
        decision = room.do(runner(seat))
        assert 0 == decision.entries[0].body["paid_cents"]
    decision = room.do(runner(3))
    assert (4, 200) == (decision.entries[0].body["count"], decision.entries[0].body["paid_cents"])
    assert ["2.00", "0.00"] == [room.account("paid/T3"), room.held("home-run", "T3")]
    assert {} == room.state("T3").runners
    assert [] == differences(room.book, room.folded())


def test_who_leaves_returns_his_base_runners() -> None:
    """Three base runners of a player who left are no start for the next one on his seat."""
    room = home_run()
    room.do(strike(2, 5))
    room.do(won(5))
    for _ in range(3):
        room.do(runner(2))
    room.do(ask.LeaveTable(actor=DEALER, fund="T3", seat=2))
    assert Refusal.SEAT_HAS_NO_WAGER is room.refuses(runner(2))
    room.do(strike(2, 5))
    room.do(won(5))
    room.do(runner(2))
    assert {2: 1} == room.state("T3").runners
    room.do(ask.LeaveTable(actor=DEALER, fund="T3", seat=5))
    assert {2: 1} == room.state("T3").runners


def test_a_table_closes_pro_rata() -> None:
    """10.01 over 3, 2 and 1 base runners: 5.00, 3.34, 1.66 with the odd cents to the lowest seats."""
    room = home_run()
    room.do(strike(1, cents=999))
    room.do(strike(5, 6, cents=1))
    room.do(strike(2))
    room.do(won(2))
    for seat in (5, 5, 1, 6, 5, 1):
        room.do(runner(seat))
    decision = room.do(ask.CloseFund(actor=SUPERVISOR, fund="T3"))
    assert [(1, 334), (5, 501), (6, 166)] == [(one["seat"], one["cents"]) for one in decision.entries[0].body["paid"]]
    assert ["10.01", "0.00"] == [room.account("paid/T3"), room.held("home-run", "T3")]
    assert [] == differences(room.book, room.folded())


def test_a_table_without_base_runners_closes_only_empty() -> None:
    """The pool belongs to players: with nobody to share it, it waits, or moves with an approval."""
    room = home_run()
    room.do(strike(1, 2))
    close = ask.CloseFund(actor=SUPERVISOR, fund="T3")
    assert Refusal.ROUND_HAS_OPEN_AWARD is room.refuses(close)
    room.do(won(2))
    assert Refusal.TOP_AWARD_NOT_WON is room.refuses(replace(close))
    moved = ask.TransferPool(
        actor=ADMINISTRATOR,
        fund="T3",
        pool="home-run",
        to_fund=None,
        to_pool="",
        cents=100,
        second=ACCOUNTANT,
        reference="petition",
    )
    room.do(moved)
    room.do(replace(close))
    assert room.state("T3").closed


HOME_RUN_REFUSED: list[tuple[str, Command, Refusal]] = [
    ("strike-outs by accounting", replace(strike(1), actor=ACCOUNTANT), Refusal.NOT_AUTHORISED),
    ("strike-outs elsewhere", replace(strike(1), fund="T9"), Refusal.TABLE_UNKNOWN),
    ("strike-outs of no seat", strike(), Refusal.UNREASONABLE_CONTRIBUTION),
    ("strike-outs of a seat twice", strike(2, 2), Refusal.UNREASONABLE_CONTRIBUTION),
    ("a second strike-out", strike(1), Refusal.UNREASONABLE_CONTRIBUTION),
    ("strike-outs of a seat that is not there", strike(7), Refusal.SEAT_UNKNOWN),
    ("strike-outs of nothing", strike(2, cents=0), Refusal.AMOUNT_OUT_OF_BOUNDS),
    ("strike-outs above the house's limit", strike(2, cents=501), Refusal.AMOUNT_OUT_OF_BOUNDS),
    ("hand by accounting", replace(won(1), actor=ACCOUNTANT), Refusal.NOT_AUTHORISED),
    ("hand of a seat that is not there", won(0), Refusal.SEAT_UNKNOWN),
    ("hand without a wager", won(2), Refusal.SEAT_HAS_NO_WAGER),
    ("runner by accounting", replace(runner(1), actor=ACCOUNTANT), Refusal.NOT_AUTHORISED),
    ("runner on a seat that is not there", runner(7), Refusal.SEAT_UNKNOWN),
    ("runner before the hand is won", runner(1), Refusal.ROUND_HAS_OPEN_AWARD),
    ("leave a seat that is not there", ask.LeaveTable(actor=DEALER, fund="T3", seat=7), Refusal.SEAT_UNKNOWN),
    ("leave by accounting", ask.LeaveTable(actor=ACCOUNTANT, fund="T3", seat=1), Refusal.NOT_AUTHORISED),
    ("bets at Home Run", bets((1,), 100, "T3"), Refusal.TABLE_UNKNOWN),
    ("a pot at Home Run", replace(pot(1), fund="T3"), Refusal.TABLE_UNKNOWN),
    ("a roll-over at Home Run", replace(over(), fund="T3"), Refusal.TABLE_UNKNOWN),
    ("return of nothing", ask.ReturnBets(actor=DEALER, fund="T3", seat=2), Refusal.SEAT_HAS_NO_WAGER),
    ("return to no seat", ask.ReturnBets(actor=DEALER, fund="T3", seat=9), Refusal.SEAT_UNKNOWN),
    ("return by accounting", ask.ReturnBets(actor=ACCOUNTANT, fund="T3", seat=1), Refusal.NOT_AUTHORISED),
    ("close while the hand is open", ask.CloseFund(actor=SUPERVISOR, fund="T3"), Refusal.ROUND_HAS_OPEN_AWARD),
]


@pytest.mark.parametrize(
    ("command", "why"), [row[1:] for row in HOME_RUN_REFUSED], ids=[row[0] for row in HOME_RUN_REFUSED]
)
def test_what_a_home_run_table_refuses(command: Command, why: Refusal) -> None:
    """With a strike-out wager of seat 1 out; the book stays what it was."""
    room = home_run(most=500)
    room.do(strike(1))
    assert why is room.refuses(command)


def test_a_misdeal_gives_strike_outs_back() -> None:
    """Each goes back to its seat, and the table may close."""
    room = home_run()
    room.do(strike(1, 2, cents=125))
    for seat in (2, 1):
        room.do(ask.ReturnBets(actor=DEALER, fund="T3", seat=seat))
    assert {} == {account: amount for account, amount in room.book.balances.items() if amount}
    assert {} == room.state("T3").strike_outs
    assert [] == differences(room.book, room.folded())


def test_a_pot_rolls_over_and_is_won() -> None:
    """45.00, rake 4.50, half of the rest to the best hand; 30.00 more; equal hands divide, odd cents to the first."""
    room = trips()
    room.do(bets(range(1, 7), 500))
    room.do(bets((1, 2, 3), 500))
    decision = room.do(over(500_000, (2,), 450))
    assert [{"seat": 2, "cents": 2025}] == decision.entries[0].body["paid"]
    assert ["20.25", "4.50"] == [room.held("pot", "T4"), room.account("house/hold/T4")]
    room.do(bets(range(1, 7), 500))
    decision = room.do(pot(1, 4, 6, rake=2))
    assert [1675, 1674, 1674] == [one["cents"] for one in decision.entries[0].body["paid"]]
    assert ["0.00", "70.48", "4.52", "-75.00"] == [
        room.held("pot", "T4"),
        *(room.account(name) for name in ("paid/T4", "house/hold/T4", "drop/T4")),
    ]
    assert [] == differences(room.book, room.folded())


def test_the_rake_comes_first() -> None:
    """Half of what is left after the rake, not half of the pot."""
    room = trips()
    room.do(bets((1, 2), 1000))
    room.do(over(500_000, rake=200))
    assert ["9.00", "9.00", "2.00"] == [room.held("pot", "T4"), room.account("paid/T4"), room.account("house/hold/T4")]


def test_with_everybody_folded_the_pot_rolls_over_whole() -> None:
    """Nobody is paid; the house may still rake."""
    room = trips()
    room.do(bets((1, 2), 1000))
    decision = room.do(over(rake=200))
    assert ([], 1800) == (decision.entries[0].body["paid"], decision.entries[0].body["rolls_over_cents"])


def test_fractions_of_a_cent_stay_in_the_pot() -> None:
    """5 % of 0.99 is 0.04, and 0.95 rolls over."""
    room = trips()
    room.do(bets((1,), 99))
    room.do(over(50_000, (1,)))
    assert ["0.95", "0.04"] == [room.held("pot", "T4"), room.account("paid/T4")]


@pytest.mark.parametrize("percent", range(50_000, 1_000_000, 50_000))
def test_every_step_of_five_percent(percent: int) -> None:
    """5, 10, … 95 % of 1,000.00."""
    room = trips()
    room.do(bets((1,), 100_000))
    room.do(over(percent, (1,)))
    assert percent * 100_000 == room.book.balances["paid/T4"]


@pytest.mark.parametrize("percent", [-50_000, 0, 1, 49_999, 50_001, 125_000, 999_999, 1_000_000])
def test_no_other_share(percent: int) -> None:
    """Between, below and above the steps nothing is allowed."""
    room = trips()
    room.do(bets((1,), 100_000))
    assert Refusal.AMOUNT_OUT_OF_BOUNDS is room.refuses(over(percent, (1,)))


def test_the_share_the_house_has_posted() -> None:
    """With a posted share another one is a slip of the finger."""
    room = trips(high_hand=500_000)
    room.do(bets((1,), 100_000))
    assert Refusal.AMOUNT_OUT_OF_BOUNDS is room.refuses(over(450_000, (1,)))
    room.do(over(500_000, (1,)))


TRIPS_REFUSED: list[tuple[str, Command, Refusal]] = [
    ("bets by accounting", replace(bets((1,), 100), actor=ACCOUNTANT), Refusal.NOT_AUTHORISED),
    ("bets of a seat that is not there", bets((7,), 100), Refusal.SEAT_UNKNOWN),
    ("bets of a seat twice", bets((2, 2), 100), Refusal.UNREASONABLE_CONTRIBUTION),
    ("bets of nothing", bets((2,), 0), Refusal.AMOUNT_OUT_OF_BOUNDS),
    ("bets above the limit", bets((2,), 1001), Refusal.AMOUNT_OUT_OF_BOUNDS),
    ("pot by accounting", replace(pot(1), actor=ACCOUNTANT), Refusal.NOT_AUTHORISED),
    ("pot of nobody", pot(), Refusal.UNREASONABLE_CONTRIBUTION),
    ("pot of a seat that is not there", pot(7), Refusal.SEAT_UNKNOWN),
    ("pot with a high rake", pot(1, rake=101), Refusal.RAKE_TOO_HIGH),
    ("pot with a rake below nothing", pot(1, rake=-1), Refusal.AMOUNT_OUT_OF_BOUNDS),
    ("roll-over by accounting", replace(over(), actor=ACCOUNTANT), Refusal.NOT_AUTHORISED),
    ("roll-over to a seat that is not there", over(50_000, (7,)), Refusal.SEAT_UNKNOWN),
    ("roll-over to a seat twice", over(50_000, (1, 1)), Refusal.UNREASONABLE_CONTRIBUTION),
    ("roll-over with a high rake", over(rake=101), Refusal.RAKE_TOO_HIGH),
    ("roll-over with seats and no share", over(None, (1,)), Refusal.AMOUNT_OUT_OF_BOUNDS),
    ("strike-outs at Trips", replace(strike(1), fund="T4"), Refusal.TABLE_UNKNOWN),
    ("hand at Trips", replace(won(1), fund="T4"), Refusal.TABLE_UNKNOWN),
    ("runner at Trips", replace(runner(1), fund="T4"), Refusal.TABLE_UNKNOWN),
    ("leave at Trips", ask.LeaveTable(actor=DEALER, fund="T4", seat=1), Refusal.TABLE_UNKNOWN),
    ("return of nothing", ask.ReturnBets(actor=DEALER, fund="T4", seat=2), Refusal.SEAT_HAS_NO_WAGER),
    ("close with a pot", ask.CloseFund(actor=SUPERVISOR, fund="T4"), Refusal.TOP_AWARD_NOT_WON),
]


@pytest.mark.parametrize(("command", "why"), [row[1:] for row in TRIPS_REFUSED], ids=[row[0] for row in TRIPS_REFUSED])
def test_what_a_trips_table_refuses(command: Command, why: Refusal) -> None:
    """With 10.00 of seat 1 in the pot; the book stays what it was."""
    room = trips(most=1000)
    room.do(bets((1,), 1000))
    assert why is room.refuses(command)


def test_an_empty_pot_is_not_won() -> None:
    """Nothing to take, nothing to roll over."""
    room = trips()
    for command in (over(50_000), over()):
        assert Refusal.AMOUNT_OUT_OF_BOUNDS is room.refuses(command)
    assert Refusal.SEAT_HAS_NO_WAGER is room.refuses(pot(1))
    assert Refusal.SEAT_HAS_NO_WAGER is room.refuses(over(50_000, (1,)))


def test_a_seat_without_a_wager_wins_nothing() -> None:
    """Neither the pot, nor a share of it, nor a base runner; what rolled over is nobody's bet."""
    room = trips()
    room.do(bets((1, 2), 1000))
    for command in (pot(3), pot(1, 3), over(50_000, (3,))):
        assert Refusal.SEAT_HAS_NO_WAGER is room.refuses(command)
    room.do(over())
    assert Refusal.SEAT_HAS_NO_WAGER is room.refuses(pot(1))
    room.do(bets((3,), 100))
    room.do(pot(3))
    table = home_run()
    table.do(strike(1, 2))
    assert Refusal.SEAT_HAS_NO_WAGER is table.refuses(runner(3))
    table.do(won(1))
    assert Refusal.SEAT_HAS_NO_WAGER is table.refuses(runner(3))
    table.do(runner(2))
    table.do(strike(3))
    table.do(ask.ReturnBets(actor=DEALER, fund="T3", seat=3))
    assert Refusal.SEAT_HAS_NO_WAGER is table.refuses(runner(3))


@pytest.mark.parametrize(("threshold", "cents", "allowed"), [(0, 1, False), (1000, 999, True), (1000, 1000, False)])
def test_a_supervisor_hands_out_what_is_above_the_threshold(threshold: int, cents: int, *, allowed: bool) -> None:
    """From the site's confirmation threshold up no dealer gives out a pot, a share of one or a Home Run pool."""
    trips_fund = fund(pool("pot"), name="T4", game=PoolGame.TRIPS, seats=6)
    runs_fund = fund(pool("home-run"), name="T3", game=PoolGame.HOME_RUN, seats=6)
    awards: list[ask.PotWon | ask.RollOver] = [pot(1), over(500_000, (1,)), over(500_000)]
    for command in awards:
        room = CardRoom(trips_fund, confirm_above=threshold)
        room.do(bets((1,), cents if isinstance(command, ask.PotWon) else 2 * cents))
        if not allowed:
            assert Refusal.NOT_AUTHORISED is room.refuses(command)
        room.do(command if allowed else replace(command, actor=SUPERVISOR))
        assert cents * 1_000_000 == room.book.balances["paid/T4"]
    room = CardRoom(runs_fund, confirm_above=threshold)
    room.do(strike(1, 2, cents=cents))
    room.do(won(1))
    for _ in range(3):
        room.do(runner(2))  # nothing is handed out
    if not allowed:
        assert Refusal.NOT_AUTHORISED is room.refuses(runner(2))
    room.do(runner(2) if allowed else replace(runner(2), actor=SUPERVISOR))
    assert cents * 1_000_000 == room.book.balances["paid/T3"]


def undone(name: str, *, came_back: bool = False) -> ask.UndoPot:
    return ask.UndoPot(actor=ADMINISTRATOR, fund=name, second=ACCOUNTANT, reference="film", came_back=came_back)


@pytest.mark.parametrize("came_back", [False, True])
def test_a_pot_keyed_for_the_wrong_seat_is_taken_back(*, came_back: bool) -> None:
    """Pot, rake and bets are as before; the house makes good what did not come back; the right seat is keyed."""
    room = trips()
    room.do(bets((1, 2), 1000))
    room.do(pot(1, rake=200))
    room.do(undone("T4", came_back=came_back))
    assert ["20.00", "0.00"] == [room.held("pot", "T4"), room.account("house/hold/T4")]
    gone = {True: ["0.00", "0.00"], False: ["18.00", "-18.00"]}[came_back]
    assert gone == [room.account("paid/T4"), room.account("house/pays/T4")]
    assert {1: 1000, 2: 1000} == room.state("T4").bets
    assert Refusal.ROUND_CLOSED is room.refuses(undone("T4"))
    room.do(pot(2, rake=100))
    assert ["0.00", "1.00"] == [room.held("pot", "T4"), room.account("house/hold/T4")]
    assert [] == differences(room.book, room.folded())


def test_a_base_runner_keyed_for_the_wrong_seat_is_taken_back() -> None:
    """Also the fourth, with the pool; who has left meanwhile gets none of his back."""
    room = home_run()
    room.do(strike(1, 2, 3))
    room.do(won(1))
    for seat in (1, 2, 2, 2, 2):
        room.do(runner(seat))
    assert "2.00" == room.account("paid/T3")
    room.do(ask.LeaveTable(actor=DEALER, fund="T3", seat=1))
    room.do(undone("T3", came_back=True))
    assert ["2.00", "0.00"] == [room.held("home-run", "T3"), room.account("paid/T3")]
    assert {2: 3} == room.state("T3").runners
    assert Refusal.AWARD_UNKNOWN is room.refuses(undone("T3"))
    room.do(runner(3))
    room.do(undone("T3"))
    assert {2: 3} == room.state("T3").runners
    assert [] == differences(room.book, room.folded())


def test_what_an_undo_of_a_pot_refuses() -> None:
    """Two people of two departments and a reference; the last award, before the next hand, of a pool not moved."""
    room = CardRoom(fund(pool("pot"), name="T4", game=PoolGame.TRIPS, seats=6), fund())
    assert Refusal.AWARD_UNKNOWN is room.refuses(undone("T4"))
    assert Refusal.TABLE_UNKNOWN is room.refuses(undone("P1"))
    room.do(bets((1, 2), 1000))
    room.do(over())
    assert Refusal.SECOND_PERSON_REQUIRED is room.refuses(replace(undone("T4"), second=None))
    assert Refusal.SECOND_PERSON_REQUIRED is room.refuses(replace(undone("T4"), reference=" "))
    assert Refusal.NOT_AUTHORISED is room.refuses(replace(undone("T4"), actor=DEALER))
    room.do(bets((1,), 100))
    assert Refusal.ROUND_CLOSED is room.refuses(undone("T4"))
    room.do(over())
    moved = ask.TransferPool(
        actor=ADMINISTRATOR, fund="T4", pool="pot", to_fund="P1", to_pool="primary", cents=2100, second=ACCOUNTANT
    )
    room.do(replace(moved, reference="petition"))
    assert Refusal.AWARD_UNKNOWN is room.refuses(undone("T4"))


def test_bets_of_a_hand_folded_by_mistake_go_back() -> None:
    """All that the seat put in during this hand, and nothing of what rolled over; the pot is right again."""
    room = trips()
    room.do(bets((1, 2), 1000))
    room.do(over())
    room.do(bets((1, 2), 300))
    room.do(bets((2,), 150))
    decision = room.do(ask.ReturnBets(actor=DEALER, fund="T4", seat=2))
    assert (Kind.BETS_RETURNED, 450) == (decision.entries[0].kind, decision.entries[0].body["cents"])
    assert ["23.00", "-23.00", "0.00"] == [room.held("pot", "T4"), room.account("drop/T4"), room.account("paid/T4")]
    room.do(pot(1))
    assert Refusal.SEAT_HAS_NO_WAGER is room.refuses(ask.ReturnBets(actor=DEALER, fund="T4", seat=1))
    assert [] == differences(room.book, room.folded())


@pytest.mark.parametrize("cents", [None, 1, 1000])
def test_bets_of_the_hand_being_played_are_not_moved(cents: int | None) -> None:
    """They may have to go back to their seats; once the hand is settled they are the pot's."""
    room = CardRoom(fund(pool("pot"), name="T4", game=PoolGame.TRIPS, seats=6), fund())
    room.do(bets((1, 2), 500))
    moved = ask.TransferPool(
        actor=ADMINISTRATOR,
        fund="T4",
        pool="pot",
        to_fund="P1",
        to_pool="primary",
        cents=cents,
        second=ACCOUNTANT,
        reference="petition",
        game_ended=True,
    )
    wanted = Refusal.NOT_YET if cents is None else Refusal.AMOUNT_OUT_OF_BOUNDS
    assert wanted is room.refuses(moved)
    room.do(over())
    room.do(replace(moved))
    assert [] == differences(room.book, room.folded())


def test_a_pot_table_closes_and_reopens() -> None:
    """Closed, it takes no bets; open again, it begins clean."""
    room = trips()
    room.do(bets((1, 2), 1000))
    room.do(pot(1))
    room.do(ask.CloseFund(actor=SUPERVISOR, fund="T4"))
    assert Refusal.TABLE_CLOSED is room.refuses(bets((1,), 100))
    room.do(ask.ReopenFund(actor=SUPERVISOR, fund="T4"))
    room.do(bets((1,), 100))
    assert {1: 100} == room.state("T4").bets


def test_thresholds_stay_while_a_hand_is_in_play() -> None:
    """What a pot or a home run pays is held against them, so they change before the bets or after the hand."""
    for room, begin, finish in (
        (home_run(), strike(1, 2), won(1)),
        (trips(), bets((1, 2), 100), ask.ReturnBets(actor=SUPERVISOR, fund="T4", seat=1)),
    ):
        assert room.book.site is not None
        other = replace(room.book.site, confirm_above_cents=room.book.site.confirm_above_cents + 100)
        change = ChangeSite(actor=ADMINISTRATOR, second=ACCOUNTANT, reference="r-1", settings=other)
        room.do(begin)
        assert Refusal.NOT_YET is room.refuses(change)
        room.do(finish)
        if isinstance(finish, ask.ReturnBets):
            room.do(replace(finish, seat=2))
        room.do(replace(change))
