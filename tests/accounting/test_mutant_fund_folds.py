"""What the book says after an entry: funds that shares go back to, tables between two rounds, links that give money."""

from __future__ import annotations

from typing import Any

from accounting_build import (
    ACCOUNTANT,
    ADMINISTRATOR,
    DEALER,
    OTHER,
    SUPERVISOR,
    THBP_6,
    Casino,
    level,
    link,
    paytable,
    percent,
    put,
    row,
)
from pools_build import CardRoom, bets, fund, pool, winning

from meterd.accounting import commands_links as change
from meterd.accounting import commands_pools as ask
from meterd.accounting.commands import (
    SYSTEM,
    CloseTable,
    EndGame,
    Fold,
    Hold,
    Join,
    LateBet,
    OpenTable,
    Undo,
)
from meterd.accounting.commands_streak import Split
from meterd.accounting.due import DueKind, due
from meterd.accounting.refusals import Refusal
from meterd.accounting.settings import SiteSettings
from meterd.accounting.settings_pools import FundSettings, PoolGame, PoolSettings, problems
from meterd.accounting.state import TableStatus
from meterd.paytables.model import Pay, PayKind

PPM = 1_000_000
PEOPLE: dict[str, Any] = {"actor": ADMINISTRATOR, "second": ACCOUNTANT, "reference": "R-1"}
MAY = "2027-05-01T00:00:00.000000Z"


def stopping(cap: str = "5.00") -> CardRoom:
    return CardRoom(fund(pool(cap=cap, at_cap="stop")))


# funds


def test_a_share_disposed_of_into_its_pool_can_fill_it_to_the_cap() -> None:
    """The pool comes to its cap by a share nobody claimed: the rake stops at once, as it does by a rake."""
    room = stopping()
    room.rake(200)
    room.post()
    room.win()
    room.rake(200, 2)
    room.after(days=121)
    room.do(ask.UnclaimedShare(actor=SYSTEM, award="J1"))
    room.do(ask.DisposeShare(**PEOPLE, award="J1", to="primary"))
    assert "6.00" == room.held()
    assert Refusal.RAKE_TOO_HIGH is room.refuses(ask.Rake(actor=DEALER, fund="P1", cents=1))


def test_a_win_undone_after_another_filling_has_its_old_clock_back() -> None:
    """Never won, the pool has stood at its cap since it first came to it, not since it was filled again."""
    room = stopping()
    room.rake(200, 3)
    first = room.state().pools["primary"].capped_at
    assert first is not None
    room.post()
    room.win()
    room.after(days=30)
    room.rake(200, 2)
    assert first != room.state().pools["primary"].capped_at
    room.do(ask.UndoWin(**PEOPLE, fund="P1", win=1))
    assert first == room.state().pools["primary"].capped_at


def test_postings_that_a_transfer_changed_do_not_come_back_by_a_later_win() -> None:
    """Win 1, money moved away, win 2: with both undone nothing is posted again until the next POST shows it."""
    room = CardRoom(fund(pool()))
    room.rake(200, 5)
    room.post()
    room.win(("50%", 1))
    room.rake(200)
    room.do(ask.TransferPool(**PEOPLE, fund="P1", pool="primary", to_fund=None, to_pool="", cents=100))
    room.win(("50%", 1))
    stands = room.posted()
    for win in (1, 2):
        room.do(ask.UndoWin(**PEOPLE, fund="P1", win=win))
        assert room.entries[-1][1].body["postings_restored"] is False
    assert stands == room.posted()
    room.post()
    assert room.held() == room.posted()


def test_a_share_of_nothing_is_out_of_bounds_whatever_is_posted() -> None:
    """Not a matter of the next POST; and no odd cent goes to a player with no share, first listed or not."""
    room = CardRoom(fund(pool()))
    room.rake(101)
    none = (("0%", 1), ("50%", 1), ("50%", 1))
    assert Refusal.AMOUNT_OUT_OF_BOUNDS is room.refuses(winning(*none))
    room.post()
    assert Refusal.AMOUNT_OUT_OF_BOUNDS is room.refuses(winning(*none))
    assert ["0.51", "0.50"] == room.win(*none[1:])


def test_a_fund_that_holds_a_cent_stays_open() -> None:
    """Money of players is in it, were it one cent."""
    room = CardRoom(fund(pool()))
    room.rake(1)
    assert Refusal.TOP_AWARD_NOT_WON is room.refuses(ask.CloseFund(actor=SUPERVISOR, fund="P1"))


def test_the_next_posting_is_due_a_day_after_the_last() -> None:
    """Each POST puts it off; a fund never posted counts from its opening."""
    room = CardRoom(fund(pool()))

    def posting() -> str:
        (found,) = (one.since_utc for one in due(room.book, MAY) if one.kind is DueKind.POSTING)
        return found

    opened = posting()
    room.after(days=3)
    room.post()
    assert opened < posting()
    assert room.now.strftime("%Y-%m-%dT%H:%M:%S.000000Z") == room.state().posted_at


def trips(confirm_above: int, seats: int) -> CardRoom:
    settings = fund(pool("pot"), name="T4", game=PoolGame.TRIPS, seats=seats, most=None)
    return CardRoom(settings, confirm_above=confirm_above)


def test_a_hand_that_gets_no_cent_adds_none_to_what_is_handed_out() -> None:
    """Nine cents among ten hands are nine: below a threshold of ten a dealer hands them out."""
    room = trips(10, 10)
    seats = tuple(range(1, 11))
    room.do(bets(seats, 1))
    room.do(ask.PotWon(actor=DEALER, fund="T4", seats=seats, rake_cents=1))
    paid = [one["cents"] for one in room.entries[-1][1].body["paid"]]
    assert [1] * 9 + [0] == paid


def test_a_best_hand_that_gets_no_cent_adds_none_to_what_is_handed_out() -> None:
    """A cent for two best hands is one: below a threshold of two a dealer hands it out."""
    room = trips(2, 6)
    room.do(bets((1, 2), 10))
    room.do(ask.RollOver(actor=DEALER, fund="T4", percent_ppm=50_000, seats=(1, 2), rake_cents=0))
    assert [1, 0] == [one["cents"] for one in room.entries[-1][1].body["paid"]]


def test_pools_that_fill_each_other_in_a_ring_are_told_from_outside_the_ring() -> None:
    """``c`` fills ``a``, and ``a`` and ``b`` fill each other: each of the three would re-seed without an end."""
    share = PPM // 2
    ring = (
        PoolSettings("c", 0, reseeds="a"),
        PoolSettings("a", share, reseeds="b"),
        PoolSettings("b", share, reseeds="a"),
    )
    settings = FundSettings("P1", PoolGame.POSTED, ring, 200)
    told = [problem for problem in problems(settings) if "in the end" in problem]
    assert ["c", "a", "b"] == [problem.split()[0] for problem in told]


# tables


def test_between_two_rounds_a_table_remembers_nobody_of_the_last() -> None:
    """After END GAME nobody is folded, joined or locked in; the envy of the round stands until the next LOCK."""
    casino = Casino(link())
    table = casino.book.tables["T1"]
    casino.lock((1, 2, 3))
    casino.do(LateBet(actor=DEALER, table="T1", seat=5, ms_min=0, ms_max=10))
    casino.do(Fold(actor=DEALER, table="T1", seat=2))
    casino.do(Split(actor=DEALER, table="T1", seat=3))
    assert (frozenset({2}), frozenset({3})) == (table.folded, table.split)
    casino.confirm(casino.claim(1, "royal-flush"))
    casino.end()
    assert (frozenset(), None) == (table.split, table.streak)
    assert (frozenset(), (), {}, ()) == (table.folded, table.groups, table.wagers, table.awards)
    assert {2: 100_000, 3: 100_000} == {share.seat: share.cents for share in table.last_envy}
    assert 1 == table.late
    casino.lock((1,))
    assert ((), 0) == (table.last_envy, table.late)


def test_a_table_that_opens_says_no_longer_why_it_was_closed() -> None:
    """Opened, or opened by END GAME after a doubt, it has neither reason nor doubt."""
    casino = Casino(link())
    table = casino.book.tables["T1"]
    assert (TableStatus.OPEN, "", False) == (table.state, table.closed_reason, table.needs_end_game)
    casino.do(CloseTable(actor=SYSTEM, table="T1", reason="device_lost"))
    assert ("device_lost", True) == (table.closed_reason, table.needs_end_game)
    casino.do(EndGame(actor=SUPERVISOR, table="T1"))
    assert (TableStatus.OPEN, "", False) == (table.state, table.closed_reason, table.needs_end_game)


def test_seats_joined_before_a_table_closed_are_strangers_when_it_opens() -> None:
    """Joining is for one round: who sits down after the break gives envy to everybody."""
    casino = Casino(link())
    casino.do(Join(actor=DEALER, table="T1", seats=(1, 2)))
    casino.do(CloseTable(actor=SYSTEM, table="T1", reason="shift over"))
    casino.do(OpenTable(actor=SYSTEM, table="T1"))
    casino.lock((1, 2))
    casino.confirm(casino.claim(1, "royal-flush"))
    casino.end()
    assert [2] == [share.seat for share in casino.book.tables["T1"].last_envy]


def test_odds_corrected_at_a_table_with_cents_are_odds_in_cents() -> None:
    """7 to 6 on $1 is 1.17 at a craps table whose lowest chip is a cent, keyed at once or corrected to."""
    odds = row("place-6", Pay(PayKind.ODDS_TO, n=7, d=6))
    casino = Casino(link(table=paytable(odds, row("all", percent("100%")), kind="craps")))
    casino.lock((1, 2))
    award = casino.claim(1, "all")
    casino.correct(award, hand="place-6")
    assert "2.17" == casino.amount(award)


# links


def test_what_an_ended_link_gave_stands_when_the_past_of_its_heir_is_told_again() -> None:
    """An award of another level of the heir waits: voided, the heir keeps all that came to it."""
    heir = link(
        level("big"), level("small", seed="100"), table=paytable(row("big", percent("100%", "big")), SMALL), name="heir"
    )
    casino = Casino(link(), heir, site=SiteSettings("test"))
    casino.wagers(10)
    waiting(casino)
    before = casino.display("heir/big")
    casino.do(change.Discontinue(**PEOPLE, link="nexus", target="heir/big"))
    held = casino.display("heir/big")
    assert before < held
    casino.void("A1")
    assert held == casino.display("heir/big")


def test_an_unclaimed_award_given_to_a_meter_stays_when_the_past_is_told_again() -> None:
    """It is owed no longer; what the meter got of it stands after a void of another level's award."""
    heir = link(
        level("big"), level("small", seed="100"), table=paytable(row("big", percent("100%", "big")), SMALL), name="heir"
    )
    casino = Casino(link(), heir, site=SiteSettings("test", unclaimed_days=30))
    waiting(casino)
    casino.lock((1,), "T1")
    award = casino.claim(1, "straight-flush")
    casino.confirm(award)
    casino.end("T1")
    casino.do(change.MarkUnclaimed(actor=ACCOUNTANT, award=award, now_utc=MAY))
    casino.do(change.Dispose(**PEOPLE, award=award, to="heir/big"))
    assert [] == [name for name in casino.book.open_awards if name == award]
    held = casino.display("heir/big")
    casino.void("A1")
    assert held == casino.display("heir/big")


SMALL = row("small", percent("100%", "small"))


def waiting(casino: Casino) -> None:
    """An award of the heir's small level is disputed and waits; its round has ended."""
    casino.lock((1,), "T3")
    award = casino.claim(1, "small", "T3")
    casino.do(Hold(actor=SUPERVISOR, award=award))
    casino.end("T3")


def test_an_award_proved_late_has_no_wager_units() -> None:
    """The book forgets a round that has ended: the award proved after it counts no unit and no part of a meter."""
    casino = Casino(link())
    casino.lock((1, 2))
    casino.end()
    casino.do(change.AdjustClaim(**PEOPLE, table="T1", round=1, seat=2, hand="straight-flush", cents=1000))
    assert (0, 1000) == (casino.book.awards["A1"].units, casino.book.awards["A1"].amount_cents)


def test_an_award_undone_comes_to_the_same_when_earlier_and_later_ones_are_voided() -> None:
    """A flush paid out of the meter between two royals is undone; the royals were misread: the meter has all again."""
    casino = Casino(link(level(seed="100", reserve=None), table=THBP_6, wager="5.00"), tables=3)
    put(casino, "400")
    names = []
    for table, hand in (("T1", "royal-flush"), ("T2", "flush"), ("T3", "royal-flush")):
        casino.lock((1,), table)
        names.append(casino.claim(1, hand, table))
    first, flush, last = names
    casino.confirm(flush)
    casino.do(Undo(actor=SUPERVISOR, award=flush, second=OTHER, reference="R"))
    casino.void(first)
    casino.void(last)
    assert "403.00" == casino.display()


def test_what_a_void_sends_on_to_the_next_meter_stays_there_when_another_award_is_voided() -> None:
    """The award of the full meter was misread: what came after it went on to the next meter, and is counted once."""
    rows = [row(name, percent("100%", name)) for name in ("big", "mid", "low")]
    full = level("big", seed="100", reserve=None, limit="100.50", overflow="level:mid")
    rest = [level(name, seed="100", reserve=None) for name in ("mid", "low")]
    casino, never = (Casino(link(full, *rest, table=paytable(*rows))) for _ in range(2))
    for one in (casino, never):
        one.wagers(10)
        one.lock((1, 2))
        if one is casino:
            casino.claim(1, "low")
            casino.claim(2, "big")
        one.rounds(1, (1,))
    for award in ("A2", "A1"):
        casino.void(award)
        assert never.display("nexus/mid") == casino.display("nexus/mid")
    assert never.book.balances == {account: amount for account, amount in casino.book.balances.items() if amount}


def test_a_fund_whose_rules_name_no_days_keeps_an_award_for_120() -> None:
    """CO 47.1-1046(1)(c): 120 days, and a site may name up to a hundred years of them."""
    assert 120 == FundSettings("P1", PoolGame.POSTED, (PoolSettings("a", PPM),), 200).unclaimed_days
    assert not problems(fund(pool(), days=36_525))
    assert problems(fund(pool(), days=36_526))


def test_a_thousand_players_share_a_jackpot_and_no_more() -> None:
    """More do not sit in a card room: a slip of the finger."""
    room = CardRoom(fund(pool()), strict=False)
    room.rake(200, 6)
    room.post()
    assert Refusal.AMOUNT_OUT_OF_BOUNDS is room.refuses(winning(("100%", 1001)))
    assert 1000 == len(room.win(("100%", 1000)))
