"""Before anything has happened nothing is counted, owed, marked or allowed: what is there unless somebody says more."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from accounting_build import ACCOUNTANT, DEALER, ROYAL, SUPERVISOR, Casino, event, fixed, level, link, paytable, row
from pools_build import CardRoom

from meterd.accounting.commands import Claim
from meterd.accounting.commands_pools import Post
from meterd.accounting.commands_streak import Tip, TipReason, UndoTip
from meterd.accounting.marks import Part
from meterd.accounting.refusals import Refusal
from meterd.accounting.settings import (
    Floor,
    LevelSettings,
    LinkSettings,
    ResetMode,
    SiteSettings,
    TableSettings,
    Ties,
)
from meterd.accounting.state import Award, AwardStatus, LevelCounts, LevelState, LinkState, TableState
from meterd.paytables.model import Pay, PayKind


def test_a_new_link_has_counted_nothing() -> None:
    """No wager, no unit, no award won, no restart, no seed that stands, and its end has not come."""
    state = Casino(link(), tables=0).book.links["nexus"]
    assert (0, 0, False, "", None) == (state.wagers, state.units, state.discontinued, state.notice_utc, state.suspended)
    counts = LevelCounts()
    assert [0] * 5 == [counts.standing, counts.resets, counts.hits, counts.won_cents, counts.adjusted]
    bare = LinkState(state.settings, state.rules, {}, {"main": counts})
    assert LevelState(0, 0, 0, 0, 0, 0, 0, 0) == bare.level("main")
    assert LevelState(0, 0, 0, 0, 0, 0, 0, 0).resets == 0


def test_a_new_table_has_played_nothing() -> None:
    """No round, no late wager, no toke, no award that left the book, no END GAME to wait for, no seats of before."""
    table = TableState(TableSettings("T1", "nexus", "Test", 7))
    assert (False, 0, 0) == (table.needs_end_game, table.round, table.late)
    assert (0, 0, 0) == (table.last_toke_cents, table.left_round, table.seats_before)


def test_a_new_award_has_no_mark_against_it() -> None:
    """It is pending, gives nothing to others, and nobody has said that it is late, common, undone or unclaimed."""
    award = Award("A1", "nexus", "T1", 1, 1, "royal-flush", 1, 0, "dealer@T1", "2026-01-01T00:00:00.000000Z")
    assert award.status is AwardStatus.PENDING
    assert (0, 0, 0) == (award.envy_cents, award.highest_cents, award.tip_cents)
    assert (False,) * 4 == (award.held, award.envy_waits, award.undone, award.unclaimed)
    assert (False,) * 4 == (award.sign_above_meter, award.meter_empty, award.common, award.out_of_order)


def test_a_part_of_an_award_moves_only_what_it_says() -> None:
    """Nothing from the meter, nothing from the house, no restart and no seed, unless it is said."""
    part = Part("push", 0)
    assert (None, 0, 0, False) == (part.level, part.meter_cents, part.house_cents, part.reset)
    assert (0, 0, 0) == (part.seed_microcents, part.lost_microcents, part.resets)


def test_a_house_that_says_nothing_allows_itself_nothing() -> None:
    """Every award is confirmed by a person; neither seed nor players' money goes to the house; no days of notice."""
    site = SiteSettings("test")
    assert (0, 0) == (site.confirm_above_cents, site.discontinue_notice_days)
    assert (False, False) == (site.seed_recovery, site.release_to_house)


def test_settings_that_nobody_gave_change_no_award() -> None:
    """Shares do not scale, the board is nobody's envy, a folded hand still wins, odds are rounded to the cent."""
    main = LevelSettings("main", 0, 0, None, ResetMode.SEED_PLUS_RESERVE, Ties.SEQUENTIAL, Floor.NONE)
    settings = LinkSettings("nexus", 100, 1, ROYAL, (main,))
    table = TableSettings("T1", "nexus", "Test", 7)
    assert (False, False, False) == (main.share_scales, settings.board_triggers, settings.envy.board_triggers)
    assert (True, 1) == (table.folded_live, table.lowest_chip_cents)


@pytest.mark.parametrize("cents", [100, 500])
def test_a_tip_taken_back_leaves_none(cents: int) -> None:
    """What was handed out is in the tray again to the cent, and it can neither be taken back twice nor stay noted."""
    table = paytable(row("six", Pay(PayKind.ODDS_TO, n=6)), row("fixed", fixed("60.00")))
    casino = Casino(link(level(reserve=None), table=table))
    casino.lock({1: 5})
    award = casino.claim(1, "six")
    casino.confirm(award)
    before = casino.account("paid/T1")
    casino.do(Tip(actor=SUPERVISOR, award=award, cents=cents))
    undo = UndoTip(actor=SUPERVISOR, award=award, reason=TipReason.MISKEYED, second=ACCOUNTANT)
    assert casino.book.awards[award].tip_cents > 0
    casino.do(undo)
    assert (0, before) == (casino.book.awards[award].tip_cents, casino.account("paid/T1"))
    assert Refusal.ALREADY_DONE is casino.refuses(undo)
    casino.do(Tip(actor=SUPERVISOR, award=award, cents=cents))


def test_a_key_that_claims_and_confirms_counts_once() -> None:
    """An award below the threshold confirms itself; the press of the key is on record with the claim alone."""
    casino = Casino(link(), site=SiteSettings("test", confirm_above_cents=100_00))
    casino.lock()
    press = event(1)
    done = casino.do(Claim(actor=DEALER, event=press, table="T1", seat=1, hand="fixed-fifty")).entries
    assert casino.book.awards["A1"].status is AwardStatus.CONFIRMED
    assert [str(press), None] == [one.event_id for one in done]


@pytest.mark.parametrize(("second", "why"), [(58, Refusal.NOT_YET), (59, None)])
def test_no_day_is_posted_before_it_has_begun_anywhere(second: int, why: Refusal | None) -> None:
    """No clock on earth is more than 14 hours ahead of UTC: from 10:00 UTC on it can be tomorrow, not before."""
    room = CardRoom()
    room.now = datetime(2026, 12, 1, 9, 59, second, tzinfo=UTC)
    refused = room.act(Post(actor=SUPERVISOR, fund="P1", gaming_day="2026-12-02")).refusal
    assert why == (refused.refusal if refused else None)
