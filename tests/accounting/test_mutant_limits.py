"""Aggregate limits at their edges: what they touch, from which part a cut is taken, who is told of one."""

from __future__ import annotations

from typing import Any

import pytest
from accounting_build import DEALER, Casino, fixed, level, link, paytable, row

from meterd.accounting.caps import cap_problem, cuts, least_cap, spread, touched, touched_late
from meterd.accounting.commands import SYSTEM, DefineTable, EndGame, OpenTable
from meterd.accounting.entries import Kind
from meterd.accounting.marks import Part
from meterd.accounting.meter import LinkRules
from meterd.accounting.settings import LinkSettings, SiteSettings, TableSettings
from meterd.accounting.state import Award, Caps, RoundSeats
from meterd.paytables.model import Pay, PayKind

TABLE = paytable(
    row("two", Pay(PayKind.ODDS_TO, n=100), Pay(PayKind.ODDS_TO, n=60)),
    row("to-and-for", Pay(PayKind.ODDS_TO, n=100), Pay(PayKind.ODDS_FOR, n=60)),
    row("one", Pay(PayKind.ODDS_TO, n=500)),
    row("small", Pay(PayKind.ODDS_TO, n=5)),
    row("lost", Pay(PayKind.LOSS), Pay(PayKind.ODDS_FOR, n=60)),
)


def limited(**limits: Any) -> TableSettings:
    return TableSettings("T1", "nexus", "Test", 7, **limits)


def house(**limits: Any) -> Casino:
    casino = Casino(
        link(level(reserve=None), table=TABLE), site=SiteSettings("test", confirm_above_cents=10_000_00), tables=0
    )
    casino.do(DefineTable(actor=SYSTEM, settings=limited(**limits)))
    casino.do(OpenTable(actor=SYSTEM, table="T1"))
    return casino


@pytest.mark.parametrize(("n", "d", "expected"), [(52, 2, False), (101, 2, False), (102, 2, True), (52, 1, True)])
def test_odds_for_one_are_counted_without_the_wager(n: int, d: int, expected: bool) -> None:
    """51 for 1 is 50 to 1, whatever the wager they are printed for: 102 for 2 is, 101 for 2 is not."""
    assert expected == touched(TABLE, "Test", Pay(PayKind.ODDS_FOR, n=n, d=d))


def test_a_cut_is_taken_from_the_last_part_on() -> None:
    """An award of 100 to 1 and of 60 to 1 loses first of the second part, then what is left of the first."""
    casino = house(cap_player_cents=500_00)
    casino.lock({1: 5})
    award = casino.claim(1, "two")
    assert "805.00" == casino.amount(award)
    casino.end()
    # 300.00 of 800.00 come off: all that 60 to 1 gave; the wager that comes back is touched by no limit
    assert [505_00, 0] == [part.cents for part in casino.book.awards[award].parts]
    parts = (Part("odds-to", 600), Part("fixed", 70), Part("odds-to", 500))
    assert (150, 0, 500) == spread(parts, (600, 0, 500), 650)


def test_who_gives_up_nothing_is_not_told_of() -> None:
    """Of three winners the two above the limit of a player are cut; the third keeps all and has no entry."""
    casino = house(cap_player_cents=500_00)
    casino.lock({1: 2, 2: 2, 3: 1})
    for seat in (1, 2, 3):
        casino.claim(seat, "one")
    decision = casino.do(EndGame(actor=DEALER, table="T1"))
    capped = [entry.body["award"] for entry in decision.entries if entry.kind is Kind.CAPPED]
    assert ["A1", "A2"] == capped
    assert ["502.00", "502.00", "501.00"] == [casino.amount(f"A{number}") for number in (1, 2, 3)]
    seats = RoundSeats({}, (), frozenset())
    claims = [(Award(f"A{seat}", "nexus", "T1", 1, seat, "one", 1, 0, "", ""), 400 * seat) for seat in (1, 2)]
    assert {"A2": 300} == cuts(Caps("", 500, None), seats, claims)


def test_of_a_late_award_the_wager_that_may_come_back_is_untouched() -> None:
    """One part that brings the wager back is enough; a row that also pays for one counts as well."""
    rules = LinkRules.of(link(level(), table=TABLE, units=5))
    reach = [touched_late(rules, limited(), hand, 900_00) for hand in ("two", "to-and-for", "one", "small", "lost")]
    assert [895_00, 895_00, 895_00, 0, 900_00] == reach


@pytest.mark.parametrize(("tip", "fits"), [(None, True), (1, True), (0, False), (-1, False)])
def test_a_limit_on_tips_is_a_cent_at_least(tip: int | None, fits: bool) -> None:
    """One cent may be posted, nothing and less than nothing may not."""
    assert fits == (cap_problem(link(level(), table=TABLE), limited(cap_tip_cents=tip)) is None)


def test_the_least_limit_is_that_of_the_dearest_pay_table() -> None:
    """A step from $25 at 60 to 1 asks for more than the first table at 500 to 1 on $1 asks for."""
    first = paytable(row("one", Pay(PayKind.ODDS_TO, n=500)), wager_cents=100)
    step = paytable(row("one", Pay(PayKind.ODDS_TO, n=60)), wager_cents=2_500, id="test/step")
    settings = LinkSettings("nexus", 100, 30, first, (), steps=(step,))
    assert 1_500_00 == least_cap(settings, limited())


def test_a_fixed_pay_is_touched_by_what_it_is_printed_for() -> None:
    """$51 printed for $1 is 50 to 1, a cent less is not; out of a meter no limit touches it."""
    pays = [fixed("51.00"), fixed("50.99"), fixed("51.00", from_meter=True)]
    assert [True, False, False] == [touched(paytable(wager_cents=100), "Test", pay) for pay in pays]
