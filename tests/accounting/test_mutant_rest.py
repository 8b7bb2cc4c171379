"""Edges of rules: limits that were replaced, awards of two levels, the first moments, one press with one identity."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from accounting_build import (
    ACCOUNTANT,
    ADMINISTRATOR,
    DEALER,
    OTHER,
    SUPERVISOR,
    Casino,
    event,
    fixed,
    level,
    link,
    paytable,
    percent,
    row,
)
from pools_build import CardRoom, fund

from meterd.accounting import rules_day
from meterd.accounting.commands import (
    SYSTEM,
    Actor,
    Confirm,
    Correct,
    DefineTable,
    Hold,
    OpenLink,
    OpenTable,
    TrustDevice,
)
from meterd.accounting.commands_day import ReadDay
from meterd.accounting.commands_links import (
    AdjustClaim,
    ChangeTable,
    Discontinue,
    Dispose,
    EaseRules,
    MarkUnclaimed,
    PostCaps,
)
from meterd.accounting.commands_streak import Number, Split, Tip, VoidSpin
from meterd.accounting.entries import Kind
from meterd.accounting.refusals import Refusal
from meterd.accounting.rules_links import top_award_won
from meterd.accounting.settings import LevelSettings, LinkSettings, Settlement, SiteSettings, TableSettings
from meterd.accounting.settings_pools import PoolGame
from meterd.accounting.when import microseconds
from meterd.errors import MisuseError
from meterd.paytables.model import Pay, PayKind, PayTable

PEOPLE: dict[str, Any] = {"actor": ADMINISTRATOR, "second": ACCOUNTANT, "reference": "R-1"}
NOW: dict[str, Any] = {**PEOPLE, "now_utc": "2026-01-01T00:00:00.000000Z"}
TOMORROW: dict[str, Any] = {**PEOPLE, "now_utc": "2026-01-02T00:00:00.000000Z"}
DAY = 86_400_000_000

HIGH = paytable(
    row("two", Pay(PayKind.ODDS_TO, n=100), Pay(PayKind.ODDS_TO, n=60)),
    row("small", Pay(PayKind.ODDS_TO, n=5)),
    row("all", percent("100%")),
)


def high(**limits: Any) -> Casino:
    """T1 with aggregate limits; what an award comes to confirms nothing before a supervisor does."""
    casino = Casino(link(level(reserve=None), table=HIGH), site=SiteSettings("test"), tables=0)
    casino.do(DefineTable(actor=SYSTEM, settings=TableSettings("T1", "nexus", "Test", 7, **limits)))
    casino.do(OpenTable(actor=SYSTEM, table="T1"))
    return casino


def held_until_the_end(casino: Casino, seat: int, hand: str, units: int) -> str:
    """An award that is disputed when its round ends."""
    casino.lock({seat: units})
    award = casino.claim(seat, hand)
    casino.do(Hold(actor=SUPERVISOR, award=award))
    casino.end()
    return award


# periods


@pytest.mark.parametrize(
    ("moment", "days"),
    [
        ("0000-01-01T00:00:00Z", 0),
        ("0000-12-31T00:00:00Z", 365),
        ("0001-01-01T00:00:00Z", 366),
        ("0001-01-02T00:00:00Z", 367),
    ],
)
def test_moments_are_counted_from_the_year_0(moment: str, days: int) -> None:
    """The year 0 of the Gregorian calendar is a leap year, and its first day is nothing later."""
    assert days * DAY == microseconds(moment)


# aggregate limits


@pytest.mark.parametrize("chip", [100, 500])
def test_a_limit_that_was_replaced_binds_a_table_no_more(chip: int) -> None:
    """Two limits posted at one moment: from the moment on at which they hold the later one alone does."""
    table = paytable(row("long", Pay(PayKind.ODDS_TO, n=501, d=10)), row("all", percent("100%")), kind="craps")
    casino = Casino(link(table=table))
    for cents in (51_00, 55_00):
        casino.do(PostCaps(**NOW, table="T1", player_cents=cents, table_cents=None))
    settings = replace(casino.book.tables["T1"].settings, lowest_chip_cents=chip)
    refusal = casino.decide(ChangeTable(**NOW, settings=settings)).refusal
    # before that moment both are announced, and 501 to 10 on a dollar is 55.00 in chips of five dollars
    assert (Refusal.AMOUNT_OUT_OF_BOUNDS if chip == 500 else None) == (refusal and refusal.refusal)
    casino.do(ChangeTable(**TOMORROW, settings=settings))


def test_a_limit_that_was_replaced_keeps_no_link_from_easier_rules() -> None:
    """The same for a pay table of higher odds: $200 fit the limit that holds, not the one it replaced."""
    was = paytable(row("odds", Pay(PayKind.ODDS_TO, n=100)), row("all", percent("100%")))
    eased = paytable(row("odds", Pay(PayKind.ODDS_TO, n=200)), row("all", percent("100%")), id="test/eased")
    casino = Casino(link(table=was))
    for cents in (100_00, 200_00):
        casino.do(PostCaps(**NOW, table="T1", player_cents=cents, table_cents=None))
    assert Refusal.AMOUNT_OUT_OF_BOUNDS is casino.refuses(
        EaseRules(**NOW, link="nexus", paytable=eased, verdict="easier")
    )
    casino.do(EaseRules(**TOMORROW, link="nexus", paytable=eased, verdict="easier"))


@pytest.mark.parametrize(("limit", "cut"), [(800_00, None), (799_99, 1)])
def test_a_correction_within_the_limits_of_its_round_tells_of_no_cut(limit: int, cut: int | None) -> None:
    """$800 at high odds under a limit of $800 is cut by nothing; one press has one identity, whatever it leads to."""
    casino = high(cap_player_cents=limit)
    award = held_until_the_end(casino, 1, "small", 5)
    decision = casino.do(Correct(actor=SUPERVISOR, award=award, hand="two", event=event(9)))
    cuts = [entry.body["cuts"] for entry in decision.entries if entry.kind is Kind.CAPPED]
    assert ([] if cut is None else [[0, cut]]) == cuts
    assert [str(event(9))] == [entry.event_id for entry in decision.entries if entry.event_id is not None]


def test_a_late_award_tells_what_the_others_of_its_round_have_had() -> None:
    """Seat 2 has $160 at high odds, of a limit of $1,000 for the table: $840 are left for seat 1."""
    casino = high(cap_table_cents=1000_00)
    award = held_until_the_end(casino, 2, "two", 1)
    casino.confirm(award)
    late = AdjustClaim(**PEOPLE, table="T1", round=1, seat=1, hand="two", cents=845_00)
    limits = casino.do(late).entries[0].body["limits"]
    assert (160_00, 840_00, 840_00) == (limits["others_cents"], limits["touched_cents"], limits["left_cents"])


# awards


def test_an_award_with_odds_beside_its_share_waits_for_the_earlier_share() -> None:
    """A hand that wins all of the meter and 250 to 1: its amount depends on the tenth that was claimed before it."""
    casino = Casino(link(level(reserve=None)))
    casino.lock((1, 2))
    first, second = casino.claim(1, "straight-flush"), casino.claim(2, "mega-and-odds")
    assert Refusal.EARLIER_AWARD_PENDING is casino.refuses(Confirm(actor=SUPERVISOR, award=second))
    casino.confirm(first)
    casino.confirm(second)


def test_a_hand_that_gives_envy_alone_is_neither_a_share_of_a_meter_nor_late() -> None:
    """It wins nothing itself, so it takes nothing from a meter, and it was claimed in its round."""
    casino = Casino(link(level(reserve=None), table=paytable(row("all", percent("100%")), row("gives", envy="25"))))
    casino.lock((1, 2))
    award = casino.book.awards[casino.claim(1, "gives")]
    assert (0, False, False) == (award.amount_cents, award.has_percent, award.late)


@pytest.mark.parametrize(
    ("overflows", "site", "expected"),
    [
        (("house", "next_meter"), SiteSettings("test"), True),
        (("next_meter", "next_meter"), SiteSettings("test"), False),
        (("next_meter", "next_meter"), SiteSettings("test", release_to_house=True), True),
        (("next_meter", "next_meter"), None, False),
        (("house", "house"), None, True),
    ],
)
def test_players_are_told_where_their_money_can_become_income(
    overflows: tuple[str, str], site: SiteSettings | None, expected: bool
) -> None:
    """By one level that overflows to the house, or by a site that may release what players put in; else not."""
    settings = two_levels(ROYAL_AND_MORE)
    levels = tuple(
        replace(one, limit_cents=50_000_00, overflow=to) for one, to in zip(settings.levels, overflows, strict=True)
    )
    casino = Casino(replace(settings, levels=levels))
    assert expected == casino.book.links["nexus"].gives_to_house(site)


def test_a_tie_tells_only_of_amounts_that_changed() -> None:
    """Seat 2's sign promised twice the meter: two halves of that are what seat 1 had, now paid half by the house."""
    casino = Casino(link(level(seed="9", increment="0%", reserve=None, ties="split")))
    casino.lock((1, 2))
    first = casino.claim(1, "royal-flush")
    casino.claim(2, "royal-flush", signs={"main": 18_00})
    assert ("9.00", 4_50) == (casino.amount(first), casino.book.awards[first].parts[0].house_cents)
    assert Kind.REVALUED not in {entry.kind for entry in casino.entries}


@pytest.mark.parametrize("order", list(Settlement))
def test_two_hands_of_one_seat_are_in_no_order(order: Settlement) -> None:
    """A split seat keys its hands one after the other: neither is out of order, whichever way seats are settled."""
    table = paytable(row("flush", fixed("10.00")), row("straight", fixed("5.00")), split="two-hands")
    casino = Casino(replace(link(table=table), levels=()), tables=0)
    casino.do(DefineTable(actor=SYSTEM, settings=TableSettings("T1", "nexus", "Test", 7, settlement=order)))
    casino.do(OpenTable(actor=SYSTEM, table="T1"))
    casino.lock((3,))
    casino.do(Split(actor=DEALER, table="T1", seat=3))
    awards = [casino.claim(3, hand) for hand in ("flush", "straight")]
    assert [False, False] == [casino.book.awards[award].out_of_order for award in awards]


def test_an_unclaimed_award_given_to_a_meter_is_told_with_what_the_meter_holds_then() -> None:
    """The entry names the level, what came to it, and its new display, so that a reader need not add up."""
    casino = Casino(link(level(reserve=None)), site=SiteSettings("test", unclaimed_days=30))
    casino.lock((1,))
    award = casino.claim(1, "straight-flush")
    casino.confirm(award)
    casino.end()
    casino.do(MarkUnclaimed(actor=SYSTEM, award=award, now_utc="2026-12-01T00:00:00.000000Z"))
    amount = casino.book.awards[award].amount_cents * 1_000_000
    body = casino.do(Dispose(**PEOPLE, award=award, to="nexus/main")).entries[0].body
    assert [{"level": "nexus/main", "microcents": amount, "what": "meter"}] == body["shifts"]
    assert casino.microcents("meter/nexus/main") in body["levels"]["nexus/main"].values()


def test_a_late_award_of_the_last_round_that_left_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Awards of some rounds have left the book: one proved for the last of those says so, for the next it does not."""
    monkeypatch.setattr(rules_day, "SETTLED_KEPT", 2)
    casino = Casino(link(level(reserve=None)), site=SiteSettings("test", confirm_above_cents=1))
    for _ in range(6):
        casino.lock((1, 2))
        award = casino.claim(1, "push")
        casino.confirm(award)
        casino.pay(award)
        casino.end()
    casino.do(ReadDay(actor=SYSTEM, day="2026-01-01", next_day="2026-01-02"))
    left = max(number for number in range(1, 7) if number not in {award.round for award in casino.book.awards.values()})
    told = {}
    for number in (left, left + 1):
        late = AdjustClaim(**PEOPLE, table="T1", round=number, seat=2, hand="push", cents=100)
        told[number - left] = casino.do(late).entries[0].body.get("awards_left")
    assert {0: True, 1: None} == told


# tips


def tip(casino: Casino, hand: str, units: int, cents: int) -> int:
    """What a tip of so many cents comes to beside a hand that is confirmed."""
    casino.lock({1: units})
    award = casino.claim(1, hand)
    casino.confirm(award)
    return int(casino.do(Tip(actor=OTHER, award=award, cents=cents)).entries[0].body["amount_cents"])


@pytest.mark.parametrize(("returned", "amount"), [(True, 35_00), (False, 30_00)])
def test_a_tip_comes_back_where_the_wager_does(returned: bool, amount: int) -> None:
    """$5 at 6 to 1 are $30; with them the tip itself, where the pay table returns the wager, and else nothing."""
    table = paytable(
        row("six", Pay(PayKind.ODDS_TO, n=6)), row("all", percent("100%")), original_wager_returned=returned
    )
    assert amount == tip(Casino(link(table=table)), "six", 5, 5_00)


@pytest.mark.parametrize(("units", "amount"), [(10, 6_00), (25, 4_00)])
def test_a_tip_wins_at_the_odds_of_the_bet_beside_it(units: int, amount: int) -> None:
    """From $25 on the pay table has 3 to 1 where smaller bets have 5 to 1: a tip of $1 goes by the bet."""
    first = paytable(row("one", Pay(PayKind.ODDS_TO, n=5)), wager_cents=100)
    step = paytable(row("one", Pay(PayKind.ODDS_TO, n=3)), wager_cents=2_500, id="test/step")
    casino = Casino(LinkSettings("nexus", 100, 30, first, (), steps=(step,)))
    assert amount == tip(casino, "one", units, 1_00)


@pytest.mark.parametrize(
    ("confirm_above", "two_person", "limit", "who", "refusal"),
    [
        (305_01, None, None, DEALER, None),
        (305_00, None, None, DEALER, Refusal.NOT_AUTHORISED),
        (255_01, None, 250_00, DEALER, None),
        (255_00, None, 250_00, DEALER, Refusal.NOT_AUTHORISED),
        (1, 305_00, None, OTHER, None),
        (1, 304_99, None, OTHER, Refusal.SECOND_PERSON_REQUIRED),
        (1, 255_00, 250_00, OTHER, None),
    ],
)
def test_what_a_tip_comes_to_is_held_against_the_thresholds(
    confirm_above: int, two_person: int | None, limit: int | None, who: Actor, refusal: Refusal | None
) -> None:
    """$5 at 60 to 1 are 305.00, less what the limit on tips takes: from the first threshold up, above the second."""
    table = paytable(row("sixty", Pay(PayKind.ODDS_TO, n=60)), row("all", percent("100%")))
    site = SiteSettings("test", confirm_above_cents=confirm_above, two_person_cents=two_person)
    casino = Casino(link(table=table), site=site, tables=0)
    casino.do(DefineTable(actor=SYSTEM, settings=TableSettings("T1", "nexus", "Test", 7, cap_tip_cents=limit)))
    casino.do(OpenTable(actor=SYSTEM, table="T1"))
    casino.lock({1: 5})
    award = casino.claim(1, "sixty")
    if casino.book.awards[award].pending:
        casino.confirm(award)
    answer = casino.decide(Tip(actor=who, award=award, cents=5_00)).refusal
    assert refusal == (answer and answer.refusal)


# links


ROYAL_AND_MORE = paytable(
    row("royal-flush", percent("100%", "mega"), percent("10%", "minor")), row("flush", percent("100%", "minor"))
)


def two_levels(table: PayTable, *, scales: str = "") -> LinkSettings:
    levels: list[LevelSettings] = [level(name, reserve=None, share_scales=name == scales) for name in ("mega", "minor")]
    return link(*levels, table=table)


@pytest.mark.parametrize(
    ("scales", "units", "won"), [("mega", 1, False), ("mega", 5, True), ("minor", 1, False), ("", 1, True)]
)
def test_a_part_of_the_highest_award_is_not_the_whole_of_it(scales: str, units: int, won: bool) -> None:
    """Where one of the shares it is made of goes by the units wagered, it is won in full with all units alone."""
    casino = Casino(two_levels(ROYAL_AND_MORE, scales=scales))
    casino.lock({1: units})
    casino.confirm(casino.claim(1, "royal-flush"))
    casino.end()
    assert won == top_award_won(casino.book, casino.book.links["nexus"])


def test_odds_beside_the_highest_award_do_not_make_it_a_part() -> None:
    """All of a level and 250 to 1: won in full with one unit, for no share of it goes by the units."""
    table = paytable(
        row("royal-flush", percent("100%", "mega"), Pay(PayKind.ODDS_TO, n=250)), row("flush", percent("100%", "minor"))
    )
    casino = Casino(two_levels(table))
    casino.lock({1: 1})
    casino.confirm(casino.claim(1, "royal-flush"))
    casino.end()
    assert top_award_won(casino.book, casino.book.links["nexus"])


def test_a_level_that_pays_fixed_amounts_is_paid_from() -> None:
    """Easier rules may leave a level to fixed pays out of its meter; one that no row pays from is stranded."""
    rows = [row("royal-flush", percent("100%", "mega")), row("flush", fixed("50.00", from_meter=True, level="minor"))]
    casino = Casino(two_levels(ROYAL_AND_MORE))
    stranded = paytable(rows[0], row("flush", fixed("50.00")), id="test/stranded")
    assert Refusal.HAND_NOT_IN_PAYTABLE is casino.refuses(
        EaseRules(**NOW, link="nexus", paytable=stranded, verdict="easier")
    )
    casino.do(EaseRules(**NOW, link="nexus", paytable=paytable(*rows, id="test/fixed"), verdict="easier"))


def test_a_link_that_ends_with_nothing_owed_tells_of_no_money_moved() -> None:
    """Its meters hold the house's seeds and nothing else: nothing comes to the target."""
    casino = Casino(link(level(reserve=None)), link(level(reserve=None), name="other"))
    body = casino.do(Discontinue(**PEOPLE, link="nexus", target="other/main")).entries[0].body
    assert (0, []) == (body["moved_microcents"], body["shifts"])


def test_a_link_that_has_ended_is_no_target_of_its_own() -> None:
    """Refused for the target it names, before anything else: whoever asks reads what to change."""
    casino = Casino(link(level(reserve=None)), link(level(reserve=None), name="other"))
    casino.do(Discontinue(**PEOPLE, link="nexus", target="other/main"))
    again = Discontinue(**PEOPLE, link="nexus", target="nexus/main")
    assert Refusal.AMOUNT_OUT_OF_BOUNDS is casino.refuses(again)


# site, devices, streaks


def test_rates_above_the_whole_wager_put_no_link_in_force() -> None:
    """60 % to the meter and 50 % to its reserve is more than players wager."""
    casino = Casino(link())
    settings = link(level(increment="60%", reserve="50%"), name="greedy")
    with pytest.raises(MisuseError, match="more than all of it"):
        casino.decide(OpenLink(actor=SYSTEM, settings=settings))


@pytest.mark.parametrize(("game", "may"), [(PoolGame.HOME_RUN, True), (PoolGame.POSTED, False)])
def test_a_table_may_have_the_name_of_the_fund_that_is_played_at_it(game: PoolGame, may: bool) -> None:
    """A Home Run pool is one table's own; a posted fund is of a whole card room, and a name means one thing."""
    room = CardRoom(fund(name="X1", game=game))
    room.do(OpenLink(actor=SYSTEM, settings=link()))
    command = DefineTable(actor=SYSTEM, settings=TableSettings("X1", "nexus", "Test", 7))
    refusal = room.act(command).refusal
    assert (None if may else Refusal.ALREADY_DONE) == (refusal and refusal.refusal)


def test_trusting_a_device_is_one_act_with_one_identity() -> None:
    """Two tables close with it, and only the first entry of the answer carries what asked for it."""
    casino = Casino(link())
    command = TrustDevice(actor=SYSTEM, tables=("T1", "T2"), counts={"pit-1/40/di3": 7}, modulus=65_536, event=event(1))
    entries = casino.do(command).entries
    assert [Kind.DEVICE_TRUSTED, Kind.TABLE_CLOSED, Kind.TABLE_CLOSED] == [entry.kind for entry in entries]
    assert [str(event(1)), None, None] == [entry.event_id for entry in entries]


def test_a_round_whose_only_number_is_taken_back_has_no_streak() -> None:
    """No number, no length, nothing ended: the next number begins it."""
    up = paytable(
        row("streak-2", percent("100%")),
        row("streak-1", Pay(PayKind.LOSS)),
        evaluator="rising-streak",
        common_outcome=True,
    )
    casino = Casino(link(level(seed="1000", reserve=None, ties="split"), table=up))
    casino.lock((1, 3))
    casino.do(Number(actor=DEALER, table="T1", number="5"))
    body = casino.do(VoidSpin(actor=SUPERVISOR, table="T1", second=OTHER)).entries[-1].body
    assert ([], 0, False, None) == (body["numbers"], body["length"], body["ended"], body["hand"])
