"""Posted jackpots: rakes, postings, wins, caps, clocks, and every reason for saying no."""

from __future__ import annotations

from dataclasses import replace

import pytest
from accounting_build import Casino, link
from pools_build import (
    ACCOUNTANT,
    ADMINISTRATOR,
    DEALER,
    SUPERVISOR,
    TECHNICIAN,
    CardRoom,
    fund,
    pool,
    winning,
)

from meterd.accounting import commands_pools as ask
from meterd.accounting.commands import SYSTEM, Actor, Command, Event, OpenLink, Role
from meterd.accounting.refusals import Refusal
from meterd.accounting.settings_pools import PoolGame, PoolSettings, problems
from meterd.accounting.state_pools import ShareStatus
from meterd.app.scenario_world import differences
from meterd.errors import MisuseError
from meterd.money import AMOUNT_CENTS_MAX

THREE = (
    pool("primary", "50%"),
    pool("secondary", "12%", reseeds="primary", offered=True),
    pool("other", "38%"),
)


def moving(
    amount: int | None = None,
    source: str = "P1/primary",
    target: str | None = "P2/primary",
    *,
    by: Actor = ADMINISTRATOR,
    second: Actor | None = ACCOUNTANT,
    reference: str = "petition 1",
    ended: bool = False,
) -> ask.TransferPool:
    to_fund, to_pool = target.split("/") if target else (None, "")
    name, pool_name = source.split("/")
    return ask.TransferPool(
        actor=by,
        fund=name,
        pool=pool_name,
        to_fund=to_fund,
        to_pool=to_pool,
        cents=amount,
        second=second,
        reference=reference,
        game_ended=ended,
    )


def test_the_figures_of_a_posted_jackpot() -> None:
    """5,000.00 posted, 340.00 raked since, secondary 1,200.00: 50/25/25 over 1/1/6 players, to the cent."""
    room = CardRoom(fund(*THREE), strict=False)
    room.rake(200, 5000)
    room.post()
    assert ["5,000.00", "1,200.00"] == [room.posted(), room.posted("secondary")]
    room.rake(200, 340)
    paid = room.win(("50%", 1), ("25%", 1), ("25%", 6))
    assert ["2,500.00", "1,250.00", *["208.34"] * 2, *["208.33"] * 4] == paid
    assert ["1,200.00", "340.00"] == [room.posted(), room.held()]
    room.post()
    assert ["1,540.00", "1,540.00"] == [room.posted(), room.held()]
    assert [] == differences(room.book, room.folded())


def test_one_entry_pays_and_lets_the_posting_fall() -> None:
    """The win and the fall of the posting are one entry; a crash cannot come between."""
    room = CardRoom(fund(*THREE))
    room.rake(200, 10)
    room.post()
    decision = room.do(winning())
    assert 1 == len(decision.entries)
    body = decision.entries[0].body
    assert (240, "dealer@P1") == (body["pools"]["P1/primary"]["posted_cents"], body["second"])


def test_odd_cents_of_shares_and_of_players_go_to_the_first_listed() -> None:
    """100.01 by three thirds of 33.3333, 33.3333 and 33.3334 %, the second over two players."""
    room = CardRoom()
    room.rake(1, 1)
    room.rake(200, 50)
    room.post()
    paid = room.win(("33.3333%", 1), ("33.3333%", 2), ("33.3334%", 1))
    assert ["33.34", "16.67", "16.67", "33.33"] == paid


def test_part_of_a_posting() -> None:
    """A share of less than the whole leaves the rest posted, and nothing re-seeds."""
    room = CardRoom(fund(*THREE))
    room.rake(200, 10)
    room.post()
    assert ["1.00"] == room.win(("10%", 1))
    assert ["9.00", "9.00", "2.40"] == [room.posted(), room.held(), room.posted("secondary")]
    room.post()
    assert ["9.00", "2.40"] == [room.held(), room.held("secondary")]


@pytest.mark.parametrize(
    ("share", "players"),
    [("0%", 1), ("100%", 0), ("100%", 201), ("100%", 10**9)],
    ids=["no share", "nobody", "more players than cents", "a slip of the finger"],
)
def test_shares_that_cannot_be(share: str, players: int) -> None:
    """Every share is above nothing and every player gets a cent at least."""
    room = CardRoom()
    room.rake(200)
    room.post()
    assert Refusal.AMOUNT_OUT_OF_BOUNDS is room.refuses(winning((share, players)))


def test_no_shares_and_more_than_the_whole() -> None:
    """No share, or shares above 100 % together, are no award."""
    room = CardRoom()
    room.rake(200)
    room.post()
    nothing = replace(winning(), shares=())
    assert Refusal.AMOUNT_OUT_OF_BOUNDS is room.refuses(nothing)
    assert Refusal.AMOUNT_OUT_OF_BOUNDS is room.refuses(winning(("60%", 1), ("40.0001%", 1)))


P1 = fund()
SAME = Actor("SUP-1", Role.ACCOUNTING)

#: A command, and why it is refused in a room with an empty jackpot P1 and an empty Home Run table T3.
REFUSED: list[tuple[str, Command, Refusal]] = [
    ("rake by accounting", ask.Rake(actor=ACCOUNTANT, fund="P1", cents=100), Refusal.NOT_AUTHORISED),
    ("rake of a stranger", ask.Rake(actor=DEALER, fund="P9", cents=100), Refusal.TABLE_UNKNOWN),
    ("rake at Home Run", ask.Rake(actor=DEALER, fund="T3", cents=100), Refusal.TABLE_UNKNOWN),
    ("rake too high", ask.Rake(actor=DEALER, fund="P1", cents=201), Refusal.RAKE_TOO_HIGH),
    ("rake of nothing", ask.Rake(actor=DEALER, fund="P1", cents=0), Refusal.AMOUNT_OUT_OF_BOUNDS),
    ("rake below nothing", ask.Rake(actor=DEALER, fund="P1", cents=-1), Refusal.AMOUNT_OUT_OF_BOUNDS),
    ("wagers at a rake", ask.DropWagers(actor=DEALER, fund="P1", seats=(1,), cents=100), Refusal.TABLE_UNKNOWN),
    ("post by a dealer", ask.Post(actor=DEALER, fund="P1"), Refusal.NOT_AUTHORISED),
    ("post by the program", ask.Post(actor=SYSTEM, fund="P1"), Refusal.NOT_AUTHORISED),
    ("post at Home Run", ask.Post(actor=ACCOUNTANT, fund="T3"), Refusal.TABLE_UNKNOWN),
    ("win by a dealer", replace(winning(), actor=DEALER, second=SUPERVISOR), Refusal.NOT_AUTHORISED),
    ("win called by a technician", replace(winning(), second=TECHNICIAN), Refusal.NOT_AUTHORISED),
    ("win by one person twice", replace(winning(), second=SAME), Refusal.SAME_PERSON),
    ("win by one person", replace(winning(), second=None), Refusal.SECOND_PERSON_REQUIRED),
    ("win of no such jackpot", winning(name="P9"), Refusal.TABLE_UNKNOWN),
    ("win of no such pool", winning(pool_name="other"), Refusal.TABLE_UNKNOWN),
    ("win at Home Run", winning(name="T3"), Refusal.TABLE_UNKNOWN),
    ("win before a posting", winning(), Refusal.NOT_YET),
    ("pay by a technician", ask.PayShare(actor=TECHNICIAN, award="J1"), Refusal.NOT_AUTHORISED),
    ("pay nothing", ask.PayShare(actor=SUPERVISOR, award="J1"), Refusal.AWARD_UNKNOWN),
    ("unclaimed by a dealer", ask.UnclaimedShare(actor=DEALER, award="J1"), Refusal.NOT_AUTHORISED),
    ("unclaimed nothing", ask.UnclaimedShare(actor=SYSTEM, award="J1"), Refusal.AWARD_UNKNOWN),
    (
        "dispose of nothing",
        ask.DisposeShare(actor=ADMINISTRATOR, award="J1", to="house", second=ACCOUNTANT, reference="r"),
        Refusal.AWARD_UNKNOWN,
    ),
    (
        "undo nothing",
        ask.UndoWin(actor=ADMINISTRATOR, fund="P1", win=1, second=ACCOUNTANT, reference="r"),
        Refusal.AWARD_UNKNOWN,
    ),
    (
        "undo by a dealer",
        ask.UndoWin(actor=DEALER, fund="P1", win=1, second=ACCOUNTANT, reference="r"),
        Refusal.NOT_AUTHORISED,
    ),
    ("transfer by a dealer", moving(1, by=DEALER), Refusal.NOT_AUTHORISED),
    ("transfer with a technician", moving(1, second=TECHNICIAN), Refusal.NOT_AUTHORISED),
    ("transfer by one person", moving(1, second=None), Refusal.SECOND_PERSON_REQUIRED),
    ("transfer by one person twice", moving(1, second=Actor("ADM-1", Role.ACCOUNTING)), Refusal.SAME_PERSON),
    (
        "transfer by one department",
        moving(1, second=Actor("adm-2", Role.ADMINISTRATOR)),
        Refusal.SECOND_PERSON_REQUIRED,
    ),
    ("transfer without a reference", moving(1, reference=" "), Refusal.SECOND_PERSON_REQUIRED),
    ("transfer from no such fund", moving(1, source="P9/primary"), Refusal.TABLE_UNKNOWN),
    ("transfer from no such pool", moving(1, source="P1/other"), Refusal.TABLE_UNKNOWN),
    ("transfer to no such fund", moving(1), Refusal.TABLE_UNKNOWN),
    ("transfer to no such pool", moving(1, target="T3/other"), Refusal.TABLE_UNKNOWN),
    ("transfer of what is not there", moving(1, target="T3/primary"), Refusal.AMOUNT_OUT_OF_BOUNDS),
    ("transfer of nothing", moving(0, target="T3/primary"), Refusal.AMOUNT_OUT_OF_BOUNDS),
    ("transfer of all that is not there", moving(None, target=None), Refusal.AMOUNT_OUT_OF_BOUNDS),
    ("close by a dealer", ask.CloseFund(actor=DEALER, fund="P1"), Refusal.NOT_AUTHORISED),
    ("close no such fund", ask.CloseFund(actor=SUPERVISOR, fund="P9"), Refusal.TABLE_UNKNOWN),
    ("reopen what is open", ask.ReopenFund(actor=SUPERVISOR, fund="P1"), Refusal.ALREADY_DONE),
    ("reopen by a dealer", ask.ReopenFund(actor=DEALER, fund="P1"), Refusal.NOT_AUTHORISED),
    ("open twice", ask.OpenFund(actor=SYSTEM, settings=P1), Refusal.ALREADY_DONE),
    ("open by accounting", ask.OpenFund(actor=ACCOUNTANT, settings=P1), Refusal.NOT_AUTHORISED),
]


@pytest.mark.parametrize(("command", "why"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_every_refusal_changes_nothing(command: Command, why: Refusal) -> None:
    """Each reason for saying no, in its order of precedence; the book stays what it was."""
    room = CardRoom(P1, fund(name="T3", game=PoolGame.HOME_RUN))
    assert why is room.refuses(command)


def test_a_closed_fund_takes_nothing_and_still_pays() -> None:
    """What was won is owed on; everything else asks for an open fund."""
    room = CardRoom(fund(), fund(name="P2"))
    room.rake(200, 2)
    room.post()
    room.win(("50%", 2))
    assert Refusal.TOP_AWARD_NOT_WON is room.refuses(ask.CloseFund(actor=SUPERVISOR, fund="P1"))
    room.win()
    room.do(ask.CloseFund(actor=SUPERVISOR, fund="P1"))
    for command in (
        ask.Rake(actor=DEALER, fund="P1", cents=1),
        ask.Post(actor=ACCOUNTANT, fund="P1"),
        winning(),
        moving(1, target=None),
        moving(1, source="P2/primary", target="P1/primary"),
        ask.UndoWin(actor=ADMINISTRATOR, fund="P1", win=1, second=ACCOUNTANT, reference="r"),
        ask.CloseFund(actor=SUPERVISOR, fund="P1"),
    ):
        assert Refusal.TABLE_CLOSED is room.refuses(command), command
    room.do(ask.PayShare(actor=SUPERVISOR, award="J1"))
    room.do(ask.ReopenFund(actor=SUPERVISOR, fund="P1"))
    room.rake(200)
    assert [] == differences(room.book, room.folded())


def test_a_rake_counts_once() -> None:
    """The same key press again is the same rake."""
    room = CardRoom()
    pressed = ask.Rake(actor=DEALER, fund="P1", cents=200, event=Event("pit-1/60/di1", 1, 7))
    room.do(pressed)
    decision = room.act(replace(pressed))
    assert ((), Refusal.ALREADY_DONE) == (decision.entries, decision.refusal.refusal if decision.refusal else None)
    assert room.held() == "2.00"


@pytest.mark.parametrize(("most", "cents", "why"), [(150, 150, None), (150, 151, Refusal.RAKE_TOO_HIGH)])
def test_the_house_may_take_less(most: int, cents: int, why: Refusal | None) -> None:
    """Two dollars are the law's limit; the posted house rules may name less."""
    room = CardRoom(fund(most=most))
    decision = room.act(ask.Rake(actor=DEALER, fund="P1", cents=cents))
    assert why is (decision.refusal.refusal if decision.refusal else None)


def test_shares_of_a_rake_are_exact() -> None:
    """A cent by 33.3333, 33.3333 and 33.3334 %: microcents, no remainder."""
    room = CardRoom(fund(pool("a", "33.3333%"), pool("b", "33.3333%"), pool("c", "33.3334%")))
    room.rake(1)
    state = room.state()
    assert [333_333, 333_333, 333_334] == [state.microcents(name) for name in "abc"]
    room.post()
    assert ["0.00", "0.00", "0.00"] == [room.posted(name) for name in "abc"]
    assert Refusal.NOT_YET is room.refuses(winning(pool_name="c"))


def test_a_posting_is_taken_once_a_gaming_day() -> None:
    """A day already posted is ALREADY_DONE, also an earlier one; without a day it is always taken."""
    room = CardRoom()
    room.rake(200)
    room.post(day="2026-12-01")
    for day in ("2026-12-01", "2026-11-30"):
        assert Refusal.ALREADY_DONE is room.refuses(ask.Post(actor=SUPERVISOR, fund="P1", gaming_day=day))
    room.post()
    for day in ("2026-12-02", "9999-12-31"):  # a slip of the pen would shut out every day until then
        assert Refusal.NOT_YET is room.refuses(ask.Post(actor=SUPERVISOR, fund="P1", gaming_day=day))
    room.after(hours=4)  # 14 hours before midnight, when the day begins in the first place on earth
    room.post(day="2026-12-02")
    assert ("2026-12-02", "2026-12-01T10:00:09.000000Z") == (room.state().posted_day, room.state().posted_at)


def test_pools_fill_each_other_in_one_posting() -> None:
    """The primary pool was won: the second fills it, and the third the second, each by what was posted."""
    room = CardRoom(fund(pool("a", "50%"), pool("b", "30%", reseeds="a"), pool("c", "20%", reseeds="b")))
    room.rake(200, 10)
    room.post()
    room.rake(100)
    room.win(pool_name="a")
    assert ["0.00", "6.00", "4.00"] == [room.posted(name) for name in "abc"]
    room.post()
    assert ["6.50", "4.30", "0.20"] == [room.held(name) for name in "abc"]
    assert ["6.50", "4.30", "0.20"] == [room.posted(name) for name in "abc"]
    room.post()
    assert ["6.50", "4.30", "0.20"] == [room.held(name) for name in "abc"]


def test_the_cap_is_reached_exactly() -> None:
    """A pool that holds its cap to the cent is at it; a microcent below it is not."""
    room = CardRoom(fund(pool("primary", "99.9999%", "2.00", "stop"), pool("secondary", "0.0001%")))
    room.rake(200)
    assert (199_999_800, None) == (room.state().microcents("primary"), room.state().stopped)
    room.rake(1)
    assert "primary" == room.state().stopped
    assert Refusal.RAKE_TOO_HIGH is room.refuses(ask.Rake(actor=DEALER, fund="P1", cents=1))
    assert "2027-06-01T06:00:03.000000Z" == room.state().pay_out_by("primary")


def test_the_cap_of_a_growing_pool_changes_the_shares_until_it_is_won() -> None:
    """The rake goes on, allocated as the licensee says; the posting is above the cap."""
    room = CardRoom(fund(pool("primary", "100%", "4.00", "grow", "0%"), pool("secondary", "0%", then="100%")))
    room.rake(200, 3)
    assert ["4.00", "2.00"] == [room.held(), room.held("secondary")]
    room.post()
    assert room.posted() == "4.00"
    assert None is room.state().stopped
    assert None is room.state().pay_out_by("primary")
    room.win()
    room.rake(200)
    assert ["2.00", "2.00"] == [room.held(), room.held("secondary")]


def test_six_months_are_months_of_the_calendar() -> None:
    """Stopped on the last day of August: until the last day of February, at the same time of day."""
    room = CardRoom(fund(pool(cap="2.00", at_cap="stop")), fund(name="P2"))
    room.after(days=273, hours=6)
    room.rake(200)
    assert "2028-02-29T12:00:03.000000Z" == room.state().pay_out_by("primary")
    room.after(days=181, hours=23, seconds=3598)
    assert Refusal.NOT_YET is room.refuses(moving())
    room.do(moving())
    assert ["0.00", "2.00"] == [room.held(), room.held(name="P2")]
    assert None is room.state().stopped


def test_the_clock_begins_anew_when_what_is_left_is_at_the_cap() -> None:
    """A win ends the stop; money that re-seeds may reach the cap again, and its six months begin then."""
    seeded = pool("secondary", "50%", reseeds="primary")
    room = CardRoom(fund(pool("primary", "50%", "1.00", "stop"), seeded))
    room.rake(200)
    room.post()
    first = room.state().pay_out_by("primary")
    room.after(days=1)
    room.win()
    assert None is room.state().stopped
    room.post()
    again = room.state().pay_out_by("primary")
    assert first is not None
    assert again is not None
    assert again > first


def test_a_win_that_leaves_the_pool_at_its_cap_begins_the_clock_anew() -> None:
    """Re-seeding has brought more than the cap: it is paid cap by cap, six months for each."""
    room = CardRoom(fund(pool("primary", "1%", "1.00", "stop"), pool("secondary", "99%", reseeds="primary")))
    room.rake(200, 50)
    room.post()
    room.win()
    room.post()
    assert ["99.00", "1.00", "primary"] == [room.held(), room.posted(), room.state().stopped]
    first = room.state().pay_out_by("primary")
    room.after(days=3)
    room.win()
    assert ["98.00", "primary"] == [room.held(), room.state().stopped]
    second = room.state().pay_out_by("primary")
    assert (first, second) == ("2027-06-01T06:00:54.000000Z", "2027-06-04T06:00:55.000000Z")


def test_what_was_offered_and_won_is_filled_again() -> None:
    """The second pool was offered and won as the primary award: at the next posting the third fills it."""
    second = pool("b", "30%", reseeds="a", offered=True)
    room = CardRoom(fund(pool("a", "50%"), second, pool("c", "20%", reseeds="b", offered=True)))
    room.rake(200, 10)
    room.post()
    assert ["10.00", "6.00"] == [*room.win(pool_name="a"), *room.win(pool_name="a")]
    assert ["0.00", "0.00", "4.00"] == [room.posted(name) for name in "abc"]
    room.post()
    assert ["0.00", "4.00", "0.00"] == [room.held(name) for name in "abc"]


def test_an_unclaimed_share_may_go_back_to_its_pool() -> None:
    """The pool has it again, and the next posting shows it."""
    room = CardRoom()
    room.rake(200)
    room.post()
    room.win()
    room.after(days=121)
    room.do(ask.UnclaimedShare(actor=ACCOUNTANT, award="J1"))
    room.do(ask.DisposeShare(actor=SUPERVISOR, award="J1", to="primary", second=ACCOUNTANT, reference="rules 4"))
    assert ["2.00", "0.00", "0.00"] == [room.held(), room.posted(), room.account("unclaimed/P1")]
    assert ShareStatus.DISPOSED is room.book.fund_awards["J1"].status


def test_a_share_may_be_claimed_for_its_days() -> None:
    """NOT_YET until 120 days have passed to the second, then unclaimed, then still payable."""
    room = CardRoom(fund(pool(), days=120))
    room.rake(200)
    room.post()
    room.win(("50%", 1), ("50%", 1))
    room.after(days=119, hours=23, seconds=3598)
    assert Refusal.NOT_YET is room.refuses(ask.UnclaimedShare(actor=SYSTEM, award="J1"))
    for award in ("J1", "J2"):
        room.do(ask.UnclaimedShare(actor=SYSTEM, award=award))
    assert Refusal.AWARD_NOT_PENDING is room.refuses(ask.UnclaimedShare(actor=SYSTEM, award="J1"))
    assert ("2.00", 2_000_000 * 100) == (room.account("unclaimed/P1"), room.book.liability_microcents("P1"))
    room.do(ask.PayShare(actor=SUPERVISOR, award="J1"))
    disposed = ask.DisposeShare(actor=ADMINISTRATOR, award="J2", to="house", second=ACCOUNTANT, reference="rules 4")
    room.do(disposed)
    assert ["1.00", "1.00", "0.00"] == [room.account(a) for a in ("paid/P1", "house/revenue", "unclaimed/P1")]
    assert Refusal.AWARD_NOT_PENDING is room.refuses(replace(disposed))
    assert 0 == room.book.liability_microcents("P1")
    assert {} == room.book.open_shares
    assert [] == differences(room.book, room.folded())


def test_a_share_that_may_still_be_claimed_is_not_disposed_of() -> None:
    """NOT_YET; and a pool that is not there is told first."""
    room = CardRoom()
    room.rake(200)
    room.post()
    room.win()
    asked = ask.DisposeShare(actor=ADMINISTRATOR, award="J1", to="primary", second=ACCOUNTANT, reference="rules 4")
    assert Refusal.NOT_YET is room.refuses(asked)
    assert Refusal.TABLE_UNKNOWN is room.refuses(replace(asked, to="other"))


def test_an_undone_win_is_as_if_it_had_not_been() -> None:
    """Undone before anything else is posted, the pools and their postings are what they were."""
    room = CardRoom(fund(*THREE))
    room.rake(200, 10)
    room.post()
    room.rake(100)
    before = (dict(room.state().pools), {a: m for a, m in room.book.balances.items() if m})
    room.win(("50%", 1), ("50%", 3))
    undone = ask.UndoWin(actor=ADMINISTRATOR, fund="P1", win=1, second=ACCOUNTANT, reference="film")
    room.do(undone)
    assert before == (room.state().pools, {a: m for a, m in room.book.balances.items() if m})
    assert {ShareStatus.UNDONE} == {award.status for award in room.book.fund_awards.values()}
    assert Refusal.AWARD_NOT_PENDING is room.refuses(replace(undone))
    assert [] == differences(room.book, room.folded())


def test_a_posting_tells_the_days_without_one() -> None:
    """Once a gaming day at least: the next posting says for how many days nothing was posted."""
    room = CardRoom()
    room.rake(200)
    for days, day, missed in ((0, "2026-12-01", 0), (1, "2026-12-02", 0), (30, "2027-01-01", 29), (0, "", 0)):
        room.after(days=days)
        room.post(day=day)
        assert missed == room.entries[-1][1].body["days_missed"]
    for day in ("tomorrow", "2027-1-2", "1", "2026-02-30", "2026-12-32", "\u0662\u0660\u0662\u0667-01-01"):
        refused = room.act(ask.Post(actor=SUPERVISOR, fund="P1", gaming_day=day)).refusal
        assert refused is not None


@pytest.mark.parametrize("day", ["2026-11-31", "2026-02-29", "\u0662\u0660\u0662\u0666-12-01", "2026-12-00"])
def test_a_posting_names_a_day_of_the_calendar(day: str) -> None:
    """A day that no calendar has would make the next posting miscount the days between."""
    room = CardRoom()
    room.rake(200)
    refused = room.act(ask.Post(actor=SUPERVISOR, fund="P1", gaming_day=day)).refusal
    assert refused is not None
    assert (Refusal.NOT_YET, f"{day} is no day such as 2026-12-01") == (refused.refusal, refused.detail)


@pytest.mark.parametrize("order", [(3, 2, 1), (1, 2, 3), (2, 3, 1), (1, 3, 2)])
def test_wins_undone_in_any_order_leave_what_was_before_them(order: tuple[int, ...]) -> None:
    """With none of them standing the postings are those before the first, and no pool is due to be filled again."""
    room = CardRoom(fund(pool("primary", "50%"), pool("secondary", "50%", reseeds="primary", offered=True)))
    room.rake(200, 100)
    room.post()
    before = (dict(room.state().pools), {a: m for a, m in room.book.balances.items() if m})
    room.win(("50%", 1))
    room.win()
    room.win()
    for win in order:
        room.do(ask.UndoWin(actor=ADMINISTRATOR, fund="P1", win=win, second=ACCOUNTANT, reference="film"))
    assert before == (room.state().pools, {a: m for a, m in room.book.balances.items() if m})
    room.post()
    assert ["100.00", "100.00"] == [room.held(), room.held("secondary")]
    assert [] == differences(room.book, room.folded())


def test_a_transfer_between_win_and_undo_leaves_nothing_due() -> None:
    """The postings stay what they became, but no pool is filled again for a win that was none."""
    room = CardRoom(fund(pool("primary", "50%"), pool("secondary", "50%", reseeds="primary", offered=True)))
    room.rake(200, 100)
    room.post()
    room.rake(200)
    room.win()
    room.do(moving(100, source="P1/primary", target="P1/secondary"))
    room.do(ask.UndoWin(actor=ADMINISTRATOR, fund="P1", win=1, second=ACCOUNTANT, reference="film"))
    assert "100.00" == room.posted()
    room.post()
    assert ["100.00", "102.00"] == [room.posted(), room.posted("secondary")]


@pytest.mark.parametrize("posted", [False, True])
def test_an_undone_win_gives_the_clock_of_a_stopped_rake_back(posted: bool) -> None:
    """Six months run since the cap was reached, also where the amounts were posted between win and undo."""
    room = CardRoom(fund(pool(cap="10.00", at_cap="stop")))
    room.rake(200, 5)
    since = room.state().pools["primary"].capped_at
    room.post()
    room.after(days=100)
    room.win()
    if posted:
        room.post()
    room.do(ask.UndoWin(actor=ADMINISTRATOR, fund="P1", win=1, second=ACCOUNTANT, reference="film"))
    assert since == room.state().pools["primary"].capped_at
    assert [] == differences(room.book, room.folded())


def test_a_win_that_stands_ends_the_clock() -> None:
    """The cap reached again after a win that stands counts from then, whatever is undone."""
    room = CardRoom(fund(pool(cap="10.00", at_cap="stop")))
    for _ in range(2):
        room.rake(200, 5)
        room.post()
        since = room.state().pools["primary"].capped_at
        room.win()
        room.after(days=30)
    room.do(ask.UndoWin(actor=ADMINISTRATOR, fund="P1", win=2, second=ACCOUNTANT, reference="film"))
    assert since == room.state().pools["primary"].capped_at


@pytest.mark.parametrize("name", ["sup-1", "SUP-1", "sup-1 ", " Sup-1"])
def test_nobody_signs_with_himself(name: str) -> None:
    """Neither the case of letters nor a blank makes a second person."""
    room = CardRoom()
    room.rake(200)
    room.post()
    again = replace(winning(), second=Actor(name, Role.SUPERVISOR))
    assert Refusal.SAME_PERSON is room.refuses(again)


def test_shares_stay_in_their_order_in_a_ledger() -> None:
    """A ledger sorts names, J10 before J9; the shares of a win are counted in numbers."""
    room = CardRoom()
    room.rake(200, 20)
    room.post()
    room.win(("100%", 12))
    assert [f"J{number}" for number in range(1, 13)] == list(room.folded().fund_awards)
    assert list(room.book.open_shares) == list(room.folded().open_shares)


@pytest.mark.parametrize("between", ["post", "win", "transfer"])
def test_an_undone_win_leaves_what_was_posted_since(between: str) -> None:
    """A POST, another win or a transfer has made new facts: the money returns, the next posting shows it."""
    room = CardRoom(fund(*THREE))
    room.rake(200, 10)
    room.post()
    room.rake(200)
    room.win()
    if between == "post":
        room.post()
    elif between == "win":
        room.win()
    else:
        room.do(moving(1, source="P1/other", target="P1/primary"))
    posted = {name: state.posted_cents for name, state in room.state().pools.items()}
    room.do(ask.UndoWin(actor=ADMINISTRATOR, fund="P1", win=1, second=ACCOUNTANT, reference="film"))
    assert posted == {name: state.posted_cents for name, state in room.state().pools.items()}
    assert Refusal.AWARD_UNKNOWN is room.refuses(
        ask.UndoWin(actor=ADMINISTRATOR, fund="P1", win=9, second=ACCOUNTANT, reference="film")
    )


def test_money_that_is_posted_stays_where_it_is() -> None:
    """A transfer takes at most what is held and not posted, as its own posting or as another pool's."""
    room = CardRoom(fund(*THREE), fund(name="P2"))
    room.rake(200, 100)
    room.post()
    room.rake(200, 10)
    room.win()
    secondary = moving(241, source="P1/secondary")
    assert Refusal.AMOUNT_OUT_OF_BOUNDS is room.refuses(secondary)
    room.do(replace(secondary, cents=240))
    assert ["24.00", "24.00", "2.40"] == [room.posted(), room.held("secondary"), room.held(name="P2")]
    room.do(moving(source="P1/secondary", ended=True))
    assert ["0.00", "0.00"] == [room.posted(), room.held("secondary")]
    assert Refusal.NOT_YET is room.refuses(moving(source="P1/other"))
    assert Refusal.ALREADY_DONE is room.refuses(moving(1, source="P1/other", target="P1/other"))


def test_a_transfer_to_another_licensee_leaves_the_house() -> None:
    """With its liability the fund goes: paid out, and owed here no more."""
    room = CardRoom()
    room.rake(199, 3)
    room.post()
    room.do(moving(target=None, ended=True))
    assert ["0.00", "5.97"] == [room.posted(), room.account("paid/P1")]
    assert 0 == room.book.liability_microcents("P1")
    assert [] == differences(room.book, room.folded())


def test_a_transfer_may_bring_a_pool_to_its_cap() -> None:
    """However the money came, a pool at its cap takes no more rake."""
    room = CardRoom(fund(pool(cap="2.00", at_cap="stop")), fund(name="P2"))
    room.rake(200, 1, "P2")
    room.do(moving(200, source="P2/primary", target="P1/primary"))
    assert "primary" == room.state().stopped


def test_a_name_belongs_to_one_thing() -> None:
    """Links, funds and the drop boxes of tables do not share a name."""
    casino = Casino(link(name="nexus"), tables=1)
    opened = ask.OpenFund(actor=SYSTEM, settings=fund(name="nexus"))
    assert Refusal.ALREADY_DONE is casino.refuses(opened)
    assert Refusal.ALREADY_DONE is casino.refuses(replace(opened, settings=fund(name="T1")))
    casino.do(replace(opened, settings=fund(name="P1")))
    casino.do(replace(opened, settings=fund(name="T1", game=PoolGame.HOME_RUN)))
    assert Refusal.ALREADY_DONE is casino.refuses(OpenLink(actor=SYSTEM, settings=link(name="P1")))


def test_amounts_stay_within_the_ledger() -> None:
    """A wager beyond what a 64-bit ledger holds is refused, never wrapped."""
    room = CardRoom(fund(game=PoolGame.LONGHORN, most=None))
    drop = ask.DropWagers(actor=DEALER, fund="P1", seats=(1,), cents=AMOUNT_CENTS_MAX)
    room.do(drop)
    assert Refusal.AMOUNT_OUT_OF_BOUNDS is room.refuses(replace(drop, cents=1))
    room.post()
    assert [f"{AMOUNT_CENTS_MAX // 100:,}.00"] == room.win()


def test_dropped_wagers() -> None:
    """Bad beat wagers of folded and standing hands; no seat twice in one act, none that the table lacks."""
    room = CardRoom(fund(game=PoolGame.LONGHORN, seats=6), fund(name="P2", game=PoolGame.P208))
    drop = ask.DropWagers(actor=DEALER, fund="P1", seats=(1, 6), cents=500)
    room.do(drop)
    assert ["10.00", "-10.00"] == [room.held(), room.account("drop/P1")]
    assert Refusal.SEAT_UNKNOWN is room.refuses(replace(drop, seats=(7,)))
    for wrong in ((1, 1), ()):
        assert Refusal.UNREASONABLE_CONTRIBUTION is room.refuses(replace(drop, seats=wrong))
        assert Refusal.UNREASONABLE_CONTRIBUTION is room.refuses(replace(drop, fund="P2", seats=wrong))
    assert Refusal.AMOUNT_OUT_OF_BOUNDS is room.refuses(replace(drop, fund="P2", cents=101))
    assert Refusal.AMOUNT_OUT_OF_BOUNDS is room.refuses(replace(drop, cents=0))
    assert Refusal.NOT_AUTHORISED is room.refuses(replace(drop, actor=ACCOUNTANT))
    room.do(replace(drop, fund="P2", seats=(42,), cents=100))


def test_a_stop_holds_for_wagers_too() -> None:
    """At the cap no more jackpot wagers are taken."""
    room = CardRoom(fund(pool(cap="1.00", at_cap="stop"), game=PoolGame.P208))
    drop = ask.DropWagers(actor=DEALER, fund="P1", seats=(1,), cents=100)
    room.do(drop)
    assert Refusal.RAKE_TOO_HIGH is room.refuses(replace(drop))


@pytest.mark.parametrize(
    ("pools", "more", "says"),
    [
        ((pool("a", "60%"),), {}, "100% together"),
        ((pool("a", "60%"), pool("b", "40.0001%")), {}, "100% together"),
        ((pool("a", "50%", "9", "grow", "60%"), pool("b", "50%")), {}, "at a cap are 100%"),
        ((pool("a", "50%"), pool("a", "50%")), {}, "a name of its own"),
        ((pool("strike-out"),), {}, "none may be called strike-out"),
        ((PoolSettings("a", 1_000_000, cap_cents=5),), {}, "a cap says what happens there"),
        ((pool(cap="0", at_cap="stop"),), {}, "a cap is above nothing"),
        ((PoolSettings("a", 1_000_001), PoolSettings("b", -1)), {}, "no share is below nothing"),
        ((pool("a", "50%"), pool("b", "50%", reseeds="c")), {}, "there is no such pool"),
        ((pool("a", "50%", reseeds="b"), pool("b", "50%", reseeds="a")), {}, "re-seeds itself"),
        ((pool("a", "50%", reseeds="a"), pool("b", "50%")), {}, "re-seeds itself"),
        ((pool("a", "50%"), pool("b", "25%", reseeds="a"), pool("c", "25%", reseeds="a")), {}, "by one pool only"),
        ((PoolSettings("a", 1_000_000, offered=True),), {}, "only a pool that re-seeds"),
        ((pool(),), {"most": 201}, "at most 200 cents"),
        ((pool(),), {"most": 101, "game": PoolGame.P208}, "at most 100 cents"),
        ((pool(),), {"most": None}, "needs the most"),
        ((pool(),), {"most": 0}, "above nothing"),
        ((pool(),), {"days": 0}, "for a day at least"),
        ((pool(),), {"high_hand": 500_000}, "a matter of Trips Poker"),
        ((pool(),), {"high_hand": 510_000, "game": PoolGame.TRIPS}, "in steps of 5%"),
        ((pool(),), {"game": PoolGame.TRIPS, "seats": 0}, "needs the seats"),
        ((pool("a", "50%"), pool("b", "50%")), {"game": PoolGame.TRIPS}, "has one pool"),
        ((pool(cap="1", at_cap="stop"),), {"game": PoolGame.HOME_RUN}, "belong to posted jackpots"),
    ],
)
def test_settings_that_cannot_be(pools: tuple[PoolSettings, ...], more: dict[str, object], says: str) -> None:
    """Whoever wrote them is told in a sentence; a program that brings them all the same is at fault."""
    settings = fund(*pools, **more)  # type: ignore[arg-type] # the rows above
    assert any(says in problem for problem in problems(settings)), problems(settings)
    with pytest.raises(MisuseError, match="fund P1"):
        CardRoom(settings)


def test_no_pool_at_all() -> None:
    """A fund has a pool at least."""
    assert any("a pool at least" in problem for problem in problems(replace(P1, pools=())))


def test_the_house_takes_no_players_money_where_the_site_says_so() -> None:
    """An unclaimed share goes to the authority or to a pool; to the house only where the site may release it."""
    room = CardRoom(release=False)
    room.rake(200)
    room.post()
    room.win()
    room.after(days=121)
    room.do(ask.UnclaimedShare(actor=SYSTEM, award="J1"))
    asked = ask.DisposeShare(actor=ADMINISTRATOR, award="J1", to="house", second=ACCOUNTANT, reference="rules 4")
    assert Refusal.NOT_AUTHORISED is room.refuses(asked)
    room.do(replace(asked, to="authority"))
    assert ["2.00", "0.00"] == [room.account("paid/P1"), room.account("unclaimed/P1")]
