"""Changed settings of a house that plays: periods that run for players, limits that a table has posted; tips."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from accounting_build import (
    ACCOUNTANT,
    ADMINISTRATOR,
    DEALER,
    SUPERVISOR,
    Casino,
    fixed,
    level,
    link,
    paytable,
    percent,
    row,
)

from meterd.accounting.commands import Hold
from meterd.accounting.commands import Pay as PayAward
from meterd.accounting.commands_links import ChangeSite, ChangeTable, GiveNotice, PostCaps
from meterd.accounting.commands_streak import Tip
from meterd.accounting.refusals import Refusal
from meterd.accounting.settings import SiteSettings
from meterd.money import AMOUNT_CENTS_MAX
from meterd.paytables.model import Pay, PayKind

PEOPLE: dict[str, Any] = {"actor": ADMINISTRATOR, "second": ACCOUNTANT, "reference": "R-1"}
NOW: dict[str, Any] = {**PEOPLE, "now_utc": "2026-01-01T00:00:00.000000Z"}
SITE = SiteSettings("test", discontinue_notice_days=30, unclaimed_days=120)


def change(casino: Casino, **settings: Any) -> Refusal | None:
    site = casino.book.site
    assert site is not None
    refusal = casino.decide(ChangeSite(**NOW, settings=replace(site, **settings))).refusal
    return None if refusal is None else refusal.refusal


@pytest.mark.parametrize(("days", "may"), [(29, False), (30, True), (31, True)])
def test_a_notice_that_runs_is_not_shortened(days: int, may: bool) -> None:
    """Before the notice any number of days may be set; while it runs not one day less."""
    casino = Casino(link(), site=SITE)
    assert change(casino, discontinue_notice_days=0) is None
    casino.do(GiveNotice(**NOW, link="nexus"))
    found = change(casino, discontinue_notice_days=days, confirm_above_cents=7)
    assert (None if may else Refusal.NOT_YET) == found


@pytest.mark.parametrize(
    ("was", "days", "may"), [(120, 119, False), (120, 120, True), (120, None, True), (None, 9, False)]
)
def test_the_days_to_collect_what_is_owed_are_not_shortened(was: int | None, days: int | None, may: bool) -> None:
    """An award that is confirmed and not paid keeps its days; one that is paid has none left to keep."""
    casino = Casino(link(), site=replace(SITE, unclaimed_days=was))
    assert change(casino, unclaimed_days=1) is None
    casino.lock((1, 2))
    award = casino.claim(1, "royal-flush")
    assert Refusal.LEVEL_HAS_PENDING_AWARD is change(casino, unclaimed_days=1)
    casino.confirm(award)
    casino.end()
    found = change(casino, unclaimed_days=days, confirm_above_cents=7)
    assert (None if may else Refusal.NOT_YET) == found
    command = ChangeSite(**NOW, settings=replace(SITE, unclaimed_days=1))
    refused = casino.decide(command).refusal
    assert refused is not None
    assert refused.detail == (
        "A1 may be collected without a last day" if was is None else "A1 may be collected for 120 days"
    )
    casino.do(PayAward(actor=DEALER, award=award))
    assert change(casino, unclaimed_days=1) is None


def test_a_table_keeps_to_the_limits_it_has_posted() -> None:
    """A lowest chip of $5 makes 501 to 10 on a dollar cost 55.00: more than the limit posted."""
    table = paytable(row("long", Pay(PayKind.ODDS_TO, n=501, d=10)), row("all", percent("100%")), kind="craps")
    for posted, later, fits in ((5_100, None, False), (5_500, None, True), (None, 5_100, False), (None, 5_500, True)):
        casino = Casino(link(table=table))
        settings = casino.book.tables["T1"].settings
        for cents in (posted, later):
            if cents is not None:
                casino.do(PostCaps(**NOW, table="T1", player_cents=cents, table_cents=None))
        when = "2026-01-01T00:00:00.000000Z" if later is not None else "2026-02-01T00:00:00.000000Z"
        command = ChangeTable(**{**NOW, "now_utc": when}, settings=replace(settings, lowest_chip_cents=500))
        refusal = casino.decide(command).refusal
        assert (None if fits else Refusal.AMOUNT_OUT_OF_BOUNDS) == (refusal and refusal.refusal)


TIPS = paytable(
    row("six", Pay(PayKind.ODDS_TO, n=6)),
    row("sixty", Pay(PayKind.ODDS_TO, n=60)),
    row("for", Pay(PayKind.ODDS_FOR, n=60)),
    row("two", Pay(PayKind.ODDS_TO, n=60), Pay(PayKind.ODDS_TO, n=2)),
    row("fixed", fixed("60.00")),
)


@pytest.mark.parametrize(
    ("hand", "limit", "amount", "cut"),
    [
        ("six", 10_00, 35_00, 0),
        ("sixty", None, 305_00, 0),
        ("sixty", 300_00, 305_00, 0),
        ("sixty", 299_99, 304_99, 1),
        ("for", 250_00, 250_00, 50_00),
        ("two", 250_00, 265_00, 50_00),
    ],
)
def test_a_tip_wins_at_the_odds_of_its_award_within_the_limit(
    hand: str, limit: int | None, amount: int, cut: int
) -> None:
    """Five dollars: only what 50 to 1 and more pay is cut; the tip itself comes back once, where the wager does."""
    casino = Casino(link(level(reserve=None), table=TIPS))
    if limit is not None:
        casino.do(PostCaps(**NOW, table="T1", player_cents=None, table_cents=None, tip_cents=limit))
        casino.book.tables["T1"].caps = tuple(one._replace(from_utc="") for one in casino.book.tables["T1"].caps)
    casino.lock({1: 5, 2: 5})
    award = casino.claim(1, hand)
    assert Refusal.AWARD_NOT_PENDING is casino.refuses(Tip(actor=SUPERVISOR, award=award, cents=500))
    casino.confirm(award)
    body = casino.do(Tip(actor=SUPERVISOR, award=award, cents=500)).entries[0].body
    assert (500, amount, cut, limit) == (
        body["tip_cents"],
        body["amount_cents"],
        body["cut_cents"],
        body["limit_cents"],
    )
    assert (f"{amount / 100:.2f}", f"-{amount / 100 + (casino.book.awards[award].amount_cents / 100):.2f}") == (
        casino.account("paid/T1"),
        casino.account("house/pays/T1"),
    )
    assert Refusal.ALREADY_DONE is casino.refuses(Tip(actor=SUPERVISOR, award=award, cents=500))


def test_tips_that_cannot_be() -> None:
    """None for a hand without odds, of nothing, of more than there is, or after the round."""
    casino = Casino(link(level(reserve=None), table=TIPS))
    casino.lock((1, 2))
    plain, odds = casino.claim(1, "fixed"), casino.claim(2, "six")
    for award in (plain, odds):
        casino.confirm(award)
    assert Refusal.HAND_NOT_IN_PAYTABLE is casino.refuses(Tip(actor=SUPERVISOR, award=plain, cents=100))
    for cents in (0, -1, AMOUNT_CENTS_MAX + 1, AMOUNT_CENTS_MAX // 6):
        assert Refusal.AMOUNT_OUT_OF_BOUNDS is casino.refuses(Tip(actor=SUPERVISOR, award=odds, cents=cents))
    assert Refusal.AWARD_UNKNOWN is casino.refuses(Tip(actor=SUPERVISOR, award="A9", cents=100))
    casino.end()
    assert Refusal.ROUND_CLOSED is casino.refuses(Tip(actor=SUPERVISOR, award=odds, cents=100))
    casino.lock((1,))
    assert Refusal.ROUND_CLOSED is casino.refuses(Tip(actor=SUPERVISOR, award=odds, cents=100))
    held = casino.claim(1, "six")
    casino.do(Hold(actor=SUPERVISOR, award=held))
    assert Refusal.AWARD_NOT_PENDING is casino.refuses(Tip(actor=SUPERVISOR, award=held, cents=100))
