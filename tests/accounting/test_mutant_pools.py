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
