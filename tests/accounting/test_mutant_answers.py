"""What an entry says of a refusal, of awards that changed and of the event behind it: a dispute is read from these."""

from __future__ import annotations

import pytest
from accounting_build import ACCOUNTANT, DEALER, ROYAL, SUPERVISOR, Casino, event, level, link, paytable, percent, row
from pools_build import CardRoom, fund, pool

from meterd.accounting import commands_pools as pools
from meterd.accounting.commands import Claim, Command, Confirm, EndGame, Join, Void
from meterd.accounting.commands_streak import Number
from meterd.accounting.entries import Kind
from meterd.accounting.refusals import Refusal
from meterd.accounting.settings_pools import PoolGame
from meterd.paytables.model import Pay, PayKind


@pytest.mark.parametrize(
    ("command", "keyed"),
    [
        (
            Claim(actor=DEALER, table="T1", seat=9, hand="royal-flush"),
            {"table": "T1", "seat": 9, "hand": "royal-flush"},
        ),
        (
            Claim(actor=DEALER, table="T1", seat=9, cards={"cards": "As"}),
            {"table": "T1", "seat": 9, "cards": {"cards": "As"}},
        ),
        (Join(actor=DEALER, table="T1", seats=(1, 99)), {"table": "T1", "seats": [1, 99]}),
        (Confirm(actor=SUPERVISOR, award="A7", second=ACCOUNTANT), {"award": "A7", "second": "acc-1"}),
        (Confirm(actor=SUPERVISOR, award="A7"), {"award": "A7"}),
    ],
)
def test_a_refusal_repeats_what_was_asked(command: Command, keyed: dict[str, object]) -> None:
    """The entry of a refusal names what was keyed, all of it and nothing that was not, and moves no money."""
    casino = Casino(link())
    casino.lock((1,))
    casino.refuses(command)
    entry = casino.entries[-1]
    assert (Kind.REFUSED, keyed, ()) == (entry.kind, entry.body["keyed"], entry.postings)


def test_a_running_streak_says_how_far_it_has_come() -> None:
    """END GAME during a streak answers with its length and its last number, before the first with neither."""
    up = paytable(
        row("streak-4", percent("100%")),
        row("streak-2", Pay(PayKind.PUSH)),
        evaluator="rising-streak",
        common_outcome=True,
    )
    casino = Casino(link(level(seed="1000", ties="split"), table=up))
    casino.lock((1, 3))
    for number in ("3", "17"):
        casino.do(Number(actor=DEALER, table="T1", number=number))
    assert Refusal.STREAK_RUNNING is casino.refuses(EndGame(actor=DEALER, table="T1"))
    assert "T1: length 2 after 17" == casino.entries[-1].body["detail"]


@pytest.mark.parametrize(("seats", "said"), [((), "no seat is named"), ((2, 5, 2), "a seat is named twice: 2, 5, 2")])
def test_wagers_of_no_seat_or_of_one_twice_are_told(seats: tuple[int, ...], said: str) -> None:
    """Who gathers wagers from nobody, or twice from one player, reads which seats were named."""
    room = CardRoom(fund(pool("home-run"), name="T3", game=PoolGame.HOME_RUN, seats=6, most=None))
    room.do(pools.StrikeOuts(actor=DEALER, fund="T3", seats=(1,), cents=100))
    room.do(pools.HandWon(actor=DEALER, fund="T3", seat=1))
    command = pools.StrikeOuts(actor=DEALER, fund="T3", seats=seats, cents=100)
    assert Refusal.UNREASONABLE_CONTRIBUTION is room.refuses(command)
    assert said == room.entries[-1][1].body["detail"]


def test_only_awards_that_changed_are_told_anew() -> None:
    """A void lets the tie it was of be shared by the other two, and leaves the award of another hand as it was."""
    casino = Casino(link(level(seed="9", increment="0%", reserve=None, ties="split"), table=ROYAL))
    casino.lock((1, 2, 3, 4))
    first, second, third = (casino.claim(seat, "royal-flush") for seat in (1, 2, 3))
    casino.claim(4, "fixed-fifty")
    decision = casino.do(Void(actor=SUPERVISOR, award=second, reason="misread", event=event(5)))
    told = [entry.body for entry in decision.entries if entry.kind is Kind.REVALUED]
    assert [(first, 300, 450), (third, 300, 450)] == [
        (body["award"], body["from_cents"], body["amount_cents"]) for body in told
    ]
    assert {second} == {body["because"] for body in told}
    # one press, one identity: only the first entry of the answer carries it
    assert [str(event(5)), None, None] == [entry.event_id for entry in decision.entries]


def test_no_posting_moves_nothing() -> None:
    """Whatever a round does, each posting of its entries moves something."""
    casino = Casino(link(level(seed="0", increment="0%", reserve=None), table=ROYAL))
    casino.lock((1, 2))
    award = casino.claim(1, "royal-flush")
    casino.confirm(award)
    casino.pay(award)
    casino.end()
    assert "0.00" == casino.amount(award)
    assert all(posting.microcents for entry in casino.entries for posting in entry.postings)


def test_pools_tell_wagers_kept_apart_only_where_they_move() -> None:
    """A base runner moves no wager of the hand: its entry tells of the pool alone, and tells what is held."""
    room = CardRoom(fund(pool("home-run"), name="T3", game=PoolGame.HOME_RUN, seats=6, most=None))
    room.do(pools.StrikeOuts(actor=DEALER, fund="T3", seats=(1, 2), cents=100))
    assert {"T3/home-run", "T3/strike-out"} == set(room.entries[-1][1].body["pools"])
    room.do(pools.HandWon(actor=DEALER, fund="T3", seat=1))
    assert {"microcents": 0} == room.entries[-1][1].body["pools"]["T3/strike-out"]
    room.do(pools.BaseRunner(actor=DEALER, fund="T3", seat=1))
    assert {"T3/home-run"} == set(room.entries[-1][1].body["pools"])
