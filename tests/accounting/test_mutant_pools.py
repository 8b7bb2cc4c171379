"""Pools and releases at their edges: shares, players, what an entry of a win, a leaving or a release tells."""

from __future__ import annotations

from typing import Any

import pytest
from accounting_build import ACCOUNTANT as OFFICE
from accounting_build import ADMINISTRATOR as ADMIN
from accounting_build import ROYAL, Casino, level, link
from accounting_build import SUPERVISOR as PIT
from pools_build import ACCOUNTANT, ADMINISTRATOR, DEALER, SUPERVISOR, CardRoom, fund, pool

from meterd.accounting import commands_pools as ask
from meterd.accounting.commands import Actor, Confirm, Role, Undo, Void
from meterd.accounting.commands_links import Release, SetLimit
from meterd.accounting.refusals import Refusal
from meterd.accounting.settings import SiteSettings
from meterd.accounting.settings_pools import PLAYERS_MAX, PoolGame
from meterd.money import AMOUNT_CENTS_MAX

PPM = 1_000_000
PEOPLE: dict[str, Any] = {"actor": ADMIN, "second": OFFICE, "reference": "R-1"}


def jackpot(cents: int = 50_000) -> CardRoom:
    room = CardRoom(fund(pool()), strict=False)
    while room.book.funds["P1"].microcents("primary") < cents * PPM:
        room.rake(200)
    room.post()
    return room


def won(*shares: tuple[int, int]) -> ask.WinPool:
    asked = tuple(ask.Share(*share) for share in shares)
    return ask.WinPool(actor=SUPERVISOR, fund="P1", pool="primary", shares=asked, second=DEALER)


@pytest.mark.parametrize(
    ("shares", "fits"),
    [
        ([(PPM, 1)], True),
        ([(PPM + 1, 1)], False),
        ([(600_000, 1), (400_000, 2)], True),
        ([(600_000, 1), (400_001, 2)], False),
        ([(0, 1)], False),
        ([(PPM, 0)], False),
        ([(PPM, 1), (0, 1)], False),
        ([(PPM, PLAYERS_MAX)], True),
        ([(PPM, PLAYERS_MAX + 1)], False),
        ([(20, 1)], True),
        ([(19, 1)], False),
        ([], False),
    ],
)
def test_shares_of_a_jackpot_at_their_edges(shares: list[tuple[int, int]], fits: bool) -> None:
    """100 % and no more, a player at least and a thousand at most, a cent at least for each of them."""
    room = jackpot()
    if fits:
        room.do(won(*shares))
        paid = sum(one.cents for one in room.book.fund_awards.values())
        assert 50_000 * sum(ppm for ppm, _ in shares) // PPM == paid
    else:
        assert Refusal.AMOUNT_OUT_OF_BOUNDS is room.refuses(won(*shares))


def test_the_smallest_share_of_a_large_jackpot() -> None:
    """A millionth of $10,000 is a cent, and can be won."""
    room = jackpot(1_000_000)
    room.do(won((1, 1)))
    assert [1] == [one.cents for one in room.book.fund_awards.values()]


def test_a_win_that_was_none_twice_names_the_share_that_stands_in_its_way() -> None:
    """Of two shares the second was disposed of: the refusal names that one, and as what it is."""
    room = jackpot()
    room.do(won((500_000, 2)))
    room.after(days=121)
    room.do(ask.UnclaimedShare(actor=SUPERVISOR, award="J2"))
    people: dict[str, Any] = {"actor": ADMINISTRATOR, "second": ACCOUNTANT, "reference": "R"}
    room.do(ask.DisposeShare(**people, award="J2", to="house"))
    undo = ask.UndoWin(**people, fund="P1", win=1)
    assert Refusal.AWARD_NOT_PENDING is room.refuses(undo)
    assert room.entries[-1][1].body["detail"].startswith("J2 is disposed")


def test_who_leaves_with_no_base_runner_leaves_none() -> None:
    """The entry counts what goes back: none of a player who had none, two of one who had two."""
    room = CardRoom(fund(pool("home-run"), name="T3", game=PoolGame.HOME_RUN, seats=6, most=None))
    room.do(ask.StrikeOuts(actor=DEALER, fund="T3", seats=(1, 2), cents=100))
    room.do(ask.HandWon(actor=DEALER, fund="T3", seat=1))
    for _ in range(2):
        room.do(ask.BaseRunner(actor=DEALER, fund="T3", seat=1))
    for seat, count in ((2, 0), (1, 2)):
        room.do(ask.LeaveTable(actor=DEALER, fund="T3", seat=seat))
        assert (seat, count) == (room.entries[-1][1].body["seat"], room.entries[-1][1].body["count"])
    assert {} == room.state("T3").runners


def overflowing() -> Casino:
    """A level at its limit: 20 cents of overflow, 4 of reserve."""
    house = Casino(
        link(level(seed="10", limit="10", overflow="next_meter")), site=SiteSettings("test", release_to_house=True)
    )
    house.wagers(1)
    assert ("10.00", "0.04", "0.20") == (house.display(), house.reserve(), house.overflow())
    return house


@pytest.mark.parametrize(("part", "held"), [("reserve", 4), ("overflow", 20), ("meter", 0)])
def test_of_reserve_and_overflow_what_is_there_is_released(part: str, held: int) -> None:
    """All of it and not a cent more; the entry says what is left; of anything else there is nothing to release."""
    house = overflowing()
    assert Refusal.AMOUNT_OUT_OF_BOUNDS is house.refuses(
        Release(**PEOPLE, level="nexus/main", part=part, cents=held + 1)
    )
    if held:
        decision = house.do(Release(**PEOPLE, level="nexus/main", part=part, cents=held))
        facts = decision.entries[0].body["levels"]["nexus/main"]
        assert 0 == facts[f"{part}_microcents"]
        assert held * 1_000_000 == house.microcents("house/revenue")
        assert {"reserve": "0.04", "overflow": "0.20"} | {part: "0.00"} == {
            "reserve": house.reserve(),
            "overflow": house.overflow(),
        }


@pytest.mark.parametrize(("cents", "fits"), [(AMOUNT_CENTS_MAX, True), (AMOUNT_CENTS_MAX + 1, False), (999, False)])
def test_a_limit_is_at_least_the_seed_and_at_most_the_largest_amount(cents: int, fits: bool) -> None:
    """A limit of exactly the largest amount can be, one below the seed or a cent above cannot."""
    house = Casino(link(level(seed="10", reserve=None)))
    refusal = house.decide(SetLimit(**PEOPLE, level="nexus/main", limit_cents=cents, overflow="next_meter")).refusal
    wanted = None if fits else Refusal.LIMIT_BELOW_METER if cents == 999 else Refusal.AMOUNT_OUT_OF_BOUNDS
    assert wanted == (refusal and refusal.refusal)


def test_what_an_undo_lacks_is_named() -> None:
    """A second person first, then the reference."""
    house = Casino(link(table=ROYAL))
    house.lock((1,))
    house.confirm(house.claim(1, "royal-flush"))
    for second, said in ((None, "A1: a second person is needed"), (OFFICE, "A1: a reference is needed")):
        command = Undo(actor=ADMIN, award="A1", second=second, reference=" ")
        assert Refusal.SECOND_PERSON_REQUIRED is house.refuses(command)
        assert said == house.entries[-1].body["detail"]


def test_who_voids_what_is_not_there_with_himself_is_told_of_the_person_first() -> None:
    """The order of precedence: persons before awards, whether the award is known or not."""
    house = Casino(link(table=ROYAL))
    house.lock((1,))
    award = house.claim(1, "royal-flush")
    me = Actor("SUP-1", Role.SUPERVISOR)
    for name in (award, "A99"):
        assert Refusal.SAME_PERSON is house.refuses(Void(actor=PIT, award=name, reason="x", second=me))
        assert Refusal.SAME_PERSON is house.refuses(Confirm(actor=PIT, award=award, second=me))
    assert Refusal.AWARD_UNKNOWN is house.refuses(Void(actor=PIT, award="A99", reason="x", second=OFFICE))


def badbeat() -> CardRoom:
    """A jackpot of wagers that names no table."""
    return CardRoom(fund(pool(), name="P1", game=PoolGame.LONGHORN, most=500, seats=0), strict=False)


def dropped(*seats: int, cents: int) -> ask.DropWagers:
    return ask.DropWagers(actor=DEALER, fund="P1", seats=seats, cents=cents)


@pytest.mark.parametrize(("cents", "fits"), [(0, False), (1, True), (500, True), (501, False), (-1, False)])
def test_jackpot_wagers_from_a_cent_to_the_most(cents: int, fits: bool) -> None:
    """A cent a player can be dropped, the most too; nothing and more cannot."""
    refusal = badbeat().act(dropped(1, 2, cents=cents)).refusal
    assert (None if fits else Refusal.AMOUNT_OUT_OF_BOUNDS) == (refusal and refusal.refusal)


@pytest.mark.parametrize(("seats", "said"), [((), "no seat is named"), ((4, 4), "a seat is named twice: 4, 4")])
def test_jackpot_wagers_of_nobody_or_twice_of_one(seats: tuple[int, ...], said: str) -> None:
    """The refusal says whose they were to be."""
    room = badbeat()
    assert Refusal.UNREASONABLE_CONTRIBUTION is room.refuses(dropped(*seats, cents=100))
    assert said == room.entries[-1][1].body["detail"]


@pytest.mark.parametrize(
    ("first", "day", "missed"),
    [("", "", 0), ("", "2026-12-01", 0), ("2026-11-30", "2026-12-01", 0), ("2026-11-27", "2026-12-01", 3)],
)
def test_a_posting_tells_the_days_without_one(first: str, day: str, missed: int) -> None:
    """None before the first, none from one day to the next, three from the 27th to the 1st; and nothing re-seeded."""
    room = CardRoom(fund(pool()), strict=False)
    room.rake(200)
    if first:
        room.post(day=first)
    room.post(day=day)
    body = room.entries[-1][1].body
    assert (missed, []) == (body["days_missed"], body["reseeded"])


@pytest.mark.parametrize(
    ("hours", "day", "refusal"),
    [
        (0, "2026-12-01", None),
        (3, "2026-12-02", Refusal.NOT_YET),
        (5, "2026-12-02", None),
        (5, "2026-12-03", Refusal.NOT_YET),
        (5, "2026-13-01", Refusal.NOT_YET),
        (5, "x", Refusal.NOT_YET),
    ],
)
def test_a_day_that_has_not_begun_is_not_posted(hours: int, day: str, refusal: Refusal | None) -> None:
    """From ten in the morning on the next day has begun somewhere; the day after nowhere, and a 13th month never."""
    room = CardRoom(fund(pool()), strict=False)
    room.after(hours=hours)
    said = room.act(ask.Post(actor=ACCOUNTANT, fund="P1", gaming_day=day)).refusal
    assert refusal == (said and said.refusal)


def two_pools() -> CardRoom:
    room = CardRoom(fund(pool("a", "60%"), pool("b", "40%")), fund(pool("c"), name="P2"), strict=False)
    room.rake(200, 5)
    room.post()
    room.rake(200, 5)
    return room


@pytest.mark.parametrize(("to_fund", "to_pool", "told"), [("P1", "b", "P1/b"), ("P2", "c", "P2/c"), (None, "", None)])
def test_a_transfer_tells_from_where_to_where(to_fund: str | None, to_pool: str, told: str | None) -> None:
    """Within a fund, to another one, or handed out; what is posted stays, all the rest can be moved."""
    people: dict[str, Any] = {"actor": ADMINISTRATOR, "second": ACCOUNTANT, "reference": "R"}
    where: dict[str, Any] = {"fund": "P1", "pool": "a", "to_fund": to_fund, "to_pool": to_pool}
    for cents in (0, -1, 601):
        assert Refusal.AMOUNT_OUT_OF_BOUNDS is two_pools().refuses(ask.TransferPool(**people, **where, cents=cents))
    room = two_pools()
    room.do(ask.TransferPool(**people, **where, cents=600))
    body = room.entries[-1][1].body
    assert ("P1/a", told, 600 * PPM) == (body["from"], body["to"], body["microcents"])
    assert ("6.00", "6.00") == (room.held("a"), room.posted("a"))


def test_why_all_of_a_pool_may_not_move_yet() -> None:
    """The rake goes on, so nothing has to be paid out; with the game at an end all of it moves, its posting too."""
    room = two_pools()
    people: dict[str, Any] = {"actor": ADMINISTRATOR, "second": ACCOUNTANT, "reference": "R"}
    where: dict[str, Any] = {"fund": "P1", "pool": "a", "to_fund": "P2", "to_pool": "c"}
    assert Refusal.NOT_YET is room.refuses(ask.TransferPool(**people, **where, cents=None))
    assert "the rake has not been stopped" == room.entries[-1][1].body["detail"]
    room.do(ask.TransferPool(**people, **where, cents=None, game_ended=True))
    assert ("0.00", "0.00", "12.00") == (room.held("a"), room.posted("a"), room.held("c", "P2"))


def test_base_runners_keep_the_pool_of_their_table() -> None:
    """While one stands, the pool is not moved, and the refusal says why."""
    room = CardRoom(
        fund(pool("home-run"), name="T3", game=PoolGame.HOME_RUN, seats=6, most=None), fund(pool()), strict=False
    )
    room.do(ask.StrikeOuts(actor=DEALER, fund="T3", seats=(1, 2), cents=100))
    room.do(ask.HandWon(actor=DEALER, fund="T3", seat=1))
    room.do(ask.BaseRunner(actor=DEALER, fund="T3", seat=1))
    people: dict[str, Any] = {"actor": ADMINISTRATOR, "second": ACCOUNTANT, "reference": "R"}
    where: dict[str, Any] = {"fund": "T3", "pool": "home-run", "to_fund": "P1", "to_pool": "primary"}
    move = ask.TransferPool(**people, **where, cents=None, game_ended=True)
    assert Refusal.NOT_YET is room.refuses(move)
    assert room.entries[-1][1].body["detail"].startswith("base runners stand at T3")


def test_what_the_best_hand_may_get_is_told() -> None:
    """Where the house posts nothing it is 5 % to 95 %; where it posts 10 % it is that."""
    for posted, said in ((None, "5% to 95% in steps of 5%"), (100_000, "gets 10%")):
        room = CardRoom(fund(pool("pot"), name="T4", game=PoolGame.TRIPS, seats=6, most=None, high_hand=posted))
        room.do(ask.PotBets(actor=DEALER, fund="T4", seats=(1, 2), cents=100))
        over = ask.RollOver(actor=DEALER, fund="T4", percent_ppm=30_000, seats=(1,))
        assert Refusal.AMOUNT_OUT_OF_BOUNDS is room.refuses(over)
        assert said in room.entries[-1][1].body["detail"]


def test_from_the_threshold_up_a_supervisor_hands_out_a_pot() -> None:
    """A pot of exactly the site's threshold the dealer does not hand out, one a cent below he does; a rake counts."""
    for threshold, rake, fits in ((200, 0, False), (201, 0, True), (200, 1, True)):
        room = CardRoom(fund(pool("pot"), name="T4", game=PoolGame.TRIPS, seats=6, most=None), confirm_above=threshold)
        room.do(ask.PotBets(actor=DEALER, fund="T4", seats=(1, 2), cents=100))
        won_by = ask.PotWon(actor=DEALER, fund="T4", seats=(1,), rake_cents=rake)
        if fits:
            room.do(won_by)
        else:
            assert Refusal.NOT_AUTHORISED is room.refuses(won_by)
            room.do(ask.PotWon(actor=SUPERVISOR, fund="T4", seats=(1,), rake_cents=rake))
        assert f"{(200 - rake) / 100:.2f}" == room.account("paid/T4")


def test_bets_given_back_are_those_of_the_hand() -> None:
    """A seat gets what it put in, in whole, once; who put in nothing gets nothing."""
    room = CardRoom(fund(pool("pot"), name="T4", game=PoolGame.TRIPS, seats=6, most=None))
    room.do(ask.PotBets(actor=DEALER, fund="T4", seats=(1, 2), cents=100))
    room.do(ask.PotBets(actor=DEALER, fund="T4", seats=(1,), cents=50))
    room.do(ask.ReturnBets(actor=DEALER, fund="T4", seat=1))
    assert 150 == room.entries[-1][1].body["cents"]
    assert ("1.00", "-1.00") == (room.held("pot", "T4"), room.account("drop/T4"))
    for seat in (1, 3):
        assert Refusal.SEAT_HAS_NO_WAGER is room.refuses(ask.ReturnBets(actor=DEALER, fund="T4", seat=seat))
