"""Who may tip beside a corrected award, which ties an answer completes, and what is so before anybody has said it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from accounting_build import (
    ACCOUNTANT,
    ADMINISTRATOR,
    OTHER,
    SUPERVISOR,
    Casino,
    fixed,
    level,
    link,
    paytable,
    percent,
    row,
)
from pools_build import CardRoom, fund, pool

from meterd.accounting import commands_pools as ask
from meterd.accounting.commands import SYSTEM, Actor, DefineTable, OpenTable, Role, SetSite
from meterd.accounting.commands_links import AdjustClaim
from meterd.accounting.commands_streak import Tip
from meterd.accounting.refusals import Refusal
from meterd.accounting.settings import SiteSettings, TableSettings
from meterd.accounting.settings_pools import FundSettings, PoolGame, problems
from meterd.paytables.model import Pay, PayKind

PEOPLE: dict[str, Any] = {"actor": ADMINISTRATOR, "second": ACCOUNTANT, "reference": "R-1"}
THIRD = Actor("sup-3", Role.SUPERVISOR)

TIPPED = paytable(
    row("all", percent("100%")),
    row("six", Pay(PayKind.ODDS_TO, n=6)),
    row("five", Pay(PayKind.ODDS_TO, n=5)),
    row("six-and-fifty", Pay(PayKind.ODDS_TO, n=6), fixed("50.00")),
    row("fifty", fixed("50.00")),
)
TWO = paytable(
    row("both", percent("100%", "a"), percent("100%", "b")),
    row("all-a", percent("100%", "a")),
    row("all-b", percent("100%", "b")),
    row("some", fixed("50.00")),
)


def tables(**site: Any) -> Casino:
    """One level of $100 that splits."""
    table = paytable(row("all", percent("100%")), row("some", fixed("20.00")))
    settings = link(level(seed="100", increment="0%", reserve=None, ties="split"), table=table)
    return Casino(settings, site=SiteSettings("test", **site))


def two_levels() -> Casino:
    levels = [level(name, seed="100", increment="0%", reserve=None, ties="split") for name in ("a", "b")]
    return Casino(link(*levels, table=TWO))


def states(casino: Casino, *awards: str) -> list[str]:
    return [casino.book.awards[award].state_word for award in awards]


# tips


def test_whoever_keyed_any_of_an_award_hands_out_no_large_tip_beside_it() -> None:
    """Keyed by the dealer, corrected by a supervisor, confirmed by another: the one who corrected it has keyed it."""
    casino = Casino(link(table=TIPPED), site=SiteSettings("test", confirm_above_cents=1))
    casino.lock({1: 5})
    award = casino.claim(1, "five")
    casino.correct(award, "six", by=SUPERVISOR)
    casino.confirm(award, by=OTHER)
    assert Refusal.SAME_PERSON is casino.refuses(Tip(actor=SUPERVISOR, award=award, cents=1_00))
    assert Refusal.SAME_PERSON is casino.refuses(Tip(actor=THIRD, award=award, cents=1_00, second=SUPERVISOR))
    casino.do(Tip(actor=THIRD, award=award, cents=1_00))


@pytest.mark.parametrize(
    ("hand", "refusal"), [("six", None), ("six-and-fifty", None), ("fifty", Refusal.HAND_NOT_IN_PAYTABLE)]
)
def test_a_tip_rides_on_the_odds_of_a_row_whatever_else_it_pays(hand: str, refusal: Refusal | None) -> None:
    """A fixed pay beside the odds takes nothing from the tip; where nothing is paid at odds there is none to win at."""
    casino = Casino(link(table=TIPPED))
    casino.lock({1: 5})
    award = casino.claim(1, hand)
    casino.confirm(award)
    answer = casino.decide(Tip(actor=OTHER, award=award, cents=1_00)).refusal
    assert refusal == (answer and answer.refusal)


@pytest.mark.parametrize(
    ("cents", "refusal"), [(5_00, None), (5_01, Refusal.AMOUNT_OUT_OF_BOUNDS), (-1, Refusal.AMOUNT_OUT_OF_BOUNDS)]
)
def test_a_tip_is_at_most_the_wager_beside_it(cents: int, refusal: Refusal | None) -> None:
    """$5 beside $5, and not a cent more."""
    casino = Casino(link(table=TIPPED))
    casino.lock({1: 5})
    award = casino.claim(1, "six")
    casino.confirm(award)
    answer = casino.decide(Tip(actor=OTHER, award=award, cents=cents)).refusal
    assert refusal == (answer and answer.refusal)


def test_a_tip_that_wins_nothing_is_none() -> None:
    """A cent at 1 for 3 is less than a cent: there is nothing to hand out; three cents win one."""
    table = paytable(row("third", Pay(PayKind.ODDS_FOR, n=1, d=3)), row("all", percent("100%")))
    casino = Casino(link(table=table))
    casino.lock({1: 5})
    award = casino.claim(1, "third")
    casino.confirm(award)
    assert Refusal.AMOUNT_OUT_OF_BOUNDS is casino.refuses(Tip(actor=OTHER, award=award, cents=1))
    casino.do(Tip(actor=OTHER, award=award, cents=3))


def test_a_tip_that_comes_to_more_than_the_largest_amount_is_out_of_bounds() -> None:
    """Even dollars are paid as they are, a cent less goes up to a chip: beyond the largest, whatever a limit takes."""
    table = paytable(row("odds", Pay(PayKind.ODDS_FOR, n=701, d=4)), kind="craps")
    casino = Casino(replace(link(table=table), wager_cents=51_355_206_800, levels=()), tables=0)
    settings = TableSettings("T1", "nexus", "Test", 7, lowest_chip_cents=11600, cap_tip_cents=1_00)
    casino.do(DefineTable(actor=SYSTEM, settings=settings))
    casino.do(OpenTable(actor=SYSTEM, table="T1"))
    casino.lock({1: 1})
    award = casino.claim(1, "odds")
    casino.confirm(award)
    assert Refusal.AMOUNT_OUT_OF_BOUNDS is casino.refuses(Tip(actor=OTHER, award=award, cents=51_355_206_799))
    assert 1_00 == casino.do(Tip(actor=OTHER, award=award, cents=51_355_206_800)).entries[0].body["amount_cents"]


def test_a_tip_is_one_seat_s_and_beside_an_award_that_is_confirmed() -> None:
    """Seat 1 has its tip and gets no other; seat 2 gets its own, once its award is confirmed."""
    casino = Casino(link(table=TIPPED), site=SiteSettings("test", confirm_above_cents=20_00))
    casino.lock({1: 5, 2: 5})
    first, second = casino.claim(1, "six"), casino.claim(2, "six")
    casino.confirm(first)
    casino.do(Tip(actor=OTHER, award=first, cents=1_00))
    assert Refusal.ALREADY_DONE is casino.refuses(Tip(actor=OTHER, award=first, cents=1_00))
    assert Refusal.AWARD_NOT_PENDING is casino.refuses(Tip(actor=OTHER, award=second, cents=1_00))
    casino.confirm(second)
    casino.do(Tip(actor=OTHER, award=second, cents=1_00))


# ties


def test_a_void_confirms_the_tie_it_completes_and_nothing_else() -> None:
    """Seat 4's fixed pay is pending in the same round, and nobody has looked at it: it stays so."""
    casino = tables()
    casino.lock((1, 2, 3, 4))
    first, second, third, other = (casino.claim(seat, hand) for seat, hand in enumerate(["all"] * 3 + ["some"], 1))
    casino.confirm(first)
    casino.confirm(third)
    casino.void(second)
    assert ["confirmed", "confirmed", "pending"] == states(casino, first, third, other)


def test_a_tie_that_the_site_s_thresholds_left_complete_is_nobody_else_s_business() -> None:
    """Two shares grew past the threshold, which was raised since: a void of another award neither needs nor ends it."""
    casino = tables(cards_above_cents=40_00)
    casino.lock((1, 2, 3, 4))
    first, second, third, other = (casino.claim(seat, hand) for seat, hand in enumerate(["all"] * 3 + ["some"], 1))
    casino.confirm(first)
    casino.confirm(second)
    casino.void(third)  # from 33.33 to 50.00 each: one person was enough, two are needed now
    assert ["pending", "pending"] == states(casino, first, second)
    casino.do(SetSite(actor=SYSTEM, settings=SiteSettings("test", cards_above_cents=100_00)))
    casino.void(other)
    assert ["pending", "pending", "voided"] == states(casino, first, second, other)
    casino.confirm(first)
    assert ["confirmed", "confirmed"] == states(casino, first, second)


def test_a_hand_that_was_verified_is_not_once_it_is_corrected() -> None:
    """It bound two ties and leaves one of them: the one it stays in waits for somebody who confirms its new hand."""
    casino = two_levels()
    casino.lock((1, 2, 3))
    both, first, second = casino.claim(1, "both"), casino.claim(2, "all-a"), casino.claim(3, "all-b")
    casino.confirm(both)
    casino.confirm(first)
    casino.correct(both, "all-a", by=OTHER)
    assert ["pending"] * 3 == states(casino, both, first, second)
    casino.confirm(both)
    assert ["confirmed", "confirmed", "pending"] == states(casino, both, first, second)


def test_a_tie_that_is_completed_frees_the_one_that_waits_for_it() -> None:
    """T1's round is the older one, and its tie stands behind T2's: the void that completes T2's confirms both."""
    casino = two_levels()
    casino.lock((1, 2))
    casino.lock((1, 2), "T2")
    gone = casino.claim(1, "all-a")
    first, second = casino.claim(1, "all-a", "T2"), casino.claim(2, "all-a", "T2")
    last = casino.claim(2, "all-a")
    casino.confirm(last)
    casino.correct(gone, "all-b", by=OTHER)
    casino.confirm(first)
    assert ["pending", "pending"] == states(casino, first, last)
    casino.void(second)
    assert ["confirmed", "confirmed"] == states(casino, first, last)


# what is so before anybody has said it


def test_a_late_award_gives_no_envy_and_was_shown_on_no_sign() -> None:
    """Nobody keyed it while its round went on: no seat had envy from it, and no sign stood beside it."""
    table = paytable(row("all", percent("100%"), envy="25"), row("gives", fixed("10.00"), envy="25"))
    casino = Casino(link(level(reserve=None), table=table))
    casino.lock((1, 2))
    casino.end()
    casino.do(AdjustClaim(**PEOPLE, table="T1", round=1, seat=1, hand="gives", cents=10_00))
    late = casino.book.awards[next(reversed(casino.book.awards))]
    assert (0, False) == (late.envy_cents, late.sign_above_meter)


@pytest.mark.parametrize("game", [PoolGame.HOME_RUN, PoolGame.TRIPS])
def test_a_game_of_one_table_whose_seats_nobody_named_cannot_be(game: PoolGame) -> None:
    """No number of seats is right for every table, so none is assumed."""
    found = problems(FundSettings("P1", game, (pool(),), 1_00))
    assert f"{game.value} needs the seats of its table" in found


def test_no_pool_is_due_to_be_filled_before_one_was_won() -> None:
    """A new fund, before its first posting and with the first rake: nothing has been won, and nothing is due."""
    room = CardRoom(fund(pool("primary", "80%"), pool("secondary", "20%", reseeds="primary", offered=True)))
    room.rake(1_00)
    assert [False, False] == [state.reseed_due for state in room.state().pools.values()]


def test_a_win_that_was_none_gives_its_posting_back() -> None:
    """No transfer has come between: what was posted before the win is posted again."""
    room = CardRoom()
    room.rake(1_00, 5)
    room.post()
    room.win()
    assert "0.00" == room.posted()
    room.do(ask.UndoWin(**PEOPLE, fund="P1", win=1))
    assert "5.00" == room.posted()
