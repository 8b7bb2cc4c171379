"""The past decided again: what stands in it, what moves by it, and what an answer about it tells."""

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
    fixed,
    frozen,
    level,
    link,
    paytable,
    percent,
    put,
    row,
)

from meterd.accounting.commands import SYSTEM, Command, Correct, DefineTable, EndGame, Hold, OpenTable, Void, VoidRound
from meterd.accounting.commands_links import Adjust, RecoverSeed, Release, SetLimit
from meterd.accounting.entries import Kind
from meterd.accounting.envy import handed_out, total_cents
from meterd.accounting.meter import LevelMoney, LevelRules, restart
from meterd.accounting.settings import LevelSettings, LinkSettings, SiteSettings, TableSettings
from meterd.accounting.steps import misfit
from meterd.errors import InvariantBroken
from meterd.money import MICROCENTS_PER_CENT
from meterd.paytables.model import Pay, PayKind

DOLLAR = 100 * MICROCENTS_PER_CENT

TWO = paytable(
    row("royal", percent("100%", "a")),
    row("straight", percent("100%", "b")),
    row("both", percent("100%", "a"), percent("100%", "b")),
    row("fifty", fixed("50.00")),
)


def two(b: LevelSettings, site: SiteSettings | None = None) -> Casino:
    """Level ``a`` at its limit of $20, which sends to ``b``: $1 of each wager of five units."""
    a = level("a", seed="10", increment="20%", reserve=None, limit="20", overflow="level:b")
    casino = Casino(link(a, b, table=TWO), site=site)
    casino.rounds(2, dict.fromkeys(range(1, 6), 5))
    assert "20.00" == casino.display("nexus/a")
    return casino


def claimed(casino: Casino, hand: str, seat: int = 1, table: str = "T1") -> str:
    """A round of one wager of five units with a pending award; it has ended."""
    casino.lock({seat: 5}, table)
    award = casino.claim(seat, hand, table)
    casino.do(Hold(actor=SUPERVISOR, award=award))
    casino.end(table)
    return award


def signed(make: type[Command], **facts: Any) -> Any:
    return make(actor=ADMINISTRATOR, second=ACCOUNTANT, reference="r-1", **facts)  # type: ignore[call-arg]


def test_what_came_to_a_meter_that_was_won_since_stays_there() -> None:
    """A wager's share went on to the second meter, which is won and fills again: the wager's return leaves it alone."""
    casino = two(level("b", seed="10", increment="0%", reserve=None))
    casino.lock({1: 5, 2: 5})
    casino.claim(2, "straight")
    casino.rounds(1, {1: 5})
    held = casino.microcents("meter/nexus/b")
    assert 11 * DOLLAR == held
    casino.void_seat(1)
    assert held == casino.microcents("meter/nexus/b")


def test_what_is_sent_on_only_now_does_not_come_back_from_a_meter_won_since() -> None:
    """A void sends on what fitted while the award stood. The other meter was won since the LOCK and keeps it."""
    casino = two(level("b", seed="10", increment="0%", reserve=None))
    award = claimed(casino, "royal")
    casino.lock({1: 5, 2: 5})
    casino.claim(2, "straight")
    assert "12.00" == casino.display("nexus/a")
    assert "10.00" == casino.display("nexus/b")
    told = casino.do(Void(actor=SUPERVISOR, award=award, reason="misread")).entries[0].body
    assert [{"level": "b", "microcents": 2 * DOLLAR, "table": "T1"}] == told["shifts"]
    assert {"T1#2": {"a": 2 * DOLLAR}} == told["sent"]
    assert ["20.00", "12.00"] == [casino.display("nexus/a"), casino.display("nexus/b")]
    casino.void_seat(1)
    assert "12.00" == casino.display("nexus/b")
    assert frozen(casino.book) == frozen(casino.folded())


def test_a_wager_takes_back_no_more_than_it_put_in() -> None:
    """Its share went on to a meter at its limit: it comes back out of that meter, and the overflow stays whole."""
    casino = two(level("b", seed="10", increment="0%", reserve=None, limit="12", overflow="next_meter"))
    casino.rounds(1, {1: 5, 2: 5, 3: 5})
    award = claimed(casino, "royal")
    casino.lock({1: 5, 2: 5})
    casino.void(award)
    held = casino.microcents("overflow/nexus/b")
    assert held > 2 * DOLLAR
    casino.void_seat(1)
    assert [11 * DOLLAR, held] == [casino.microcents("meter/nexus/b"), casino.microcents("overflow/nexus/b")]


@pytest.mark.parametrize(("limit", "meter", "overflow"), [("10", 0, -2), ("13", -2, 0), ("11", -1, -1)])
def test_what_was_not_sent_on_leaves_the_meter_then_the_overflow(limit: str, meter: int, overflow: int) -> None:
    """A hand corrected to the first meter's: $2 were never sent on. The second gives them above its seed first."""
    casino = two(level("b", seed="10", increment="0%", reserve=None, limit=limit, overflow="next_meter"))
    casino.rounds(1, {1: 5, 2: 5, 3: 5})
    award = claimed(casino, "fifty")
    casino.rounds(1, {1: 5, 2: 5})
    before = [casino.microcents(f"{part}/nexus/b") for part in ("meter", "overflow")]
    assert "-250.00" == casino.account("house/pays/T1")
    told = casino.do(Correct(actor=SUPERVISOR, award=award, hand="royal"))
    after = [casino.microcents(f"{part}/nexus/b") for part in ("meter", "overflow")]
    assert [meter * DOLLAR, overflow * DOLLAR] == [new - old for new, old in zip(after, before, strict=True)]
    assert 0 == casino.microcents("house/pays/T1")
    assert [Kind.CORRECTED] == [entry.kind for entry in told.entries]


def test_what_is_sent_on_is_told_in_the_order_of_the_levels() -> None:
    """Two levels send on more after a void: first of them the first level of the link."""
    table = paytable(
        row("both", percent("100%", "a"), percent("100%", "c")),
        row("straight", percent("100%", "b")),
    )
    a = level("a", seed="10", increment="20%", reserve=None, limit="20", overflow="level:c")
    b = level("b", seed="10", increment="0%", reserve=None)
    c = level("c", seed="10", increment="20%", reserve=None, limit="20", overflow="level:b")
    casino = Casino(link(a, b, c, table=table))
    casino.rounds(2, dict.fromkeys(range(1, 6), 5))
    award = claimed(casino, "both")
    casino.rounds(1, {1: 5, 2: 5})
    told = casino.do(Void(actor=SUPERVISOR, award=award, reason="misread")).entries[0].body
    assert [("c", 2 * DOLLAR), ("b", 2 * DOLLAR)] == [(one["level"], one["microcents"]) for one in told["shifts"]]


def test_a_void_tells_only_of_awards_that_come_to_something_else() -> None:
    """Another pending award of a fixed pay stays what it was: the entry does not tell of it."""
    casino = Casino()
    casino.lock((1, 2))
    first, _ = casino.claim(1, "straight-flush"), casino.claim(2, "fixed-fifty")
    told = casino.do(Void(actor=SUPERVISOR, award=first, reason="misread"))
    assert {} == told.entries[0].body["awards"]
    assert 1 == len(told.entries)


def test_a_correction_is_no_revaluation_of_the_award_itself() -> None:
    """The entry of the correction tells what the award came to; another one about it would tell it twice."""
    casino = Casino()
    casino.lock((1,))
    award = casino.claim(1, "straight-flush")
    told = casino.do(Correct(actor=SUPERVISOR, award=award, hand="fixed-fifty"))
    assert [Kind.CORRECTED] == [entry.kind for entry in told.entries]
    assert "50.00" == casino.amount(award)


def test_a_past_that_does_not_lead_to_the_book_is_not_decided_again() -> None:
    """Money came to the meter by nothing the journal knows of: the void stops and posts no difference to it."""
    casino = Casino()
    casino.lock((1,))
    award = casino.claim(1, "straight-flush")
    put(casino, "9500")
    with pytest.raises(InvariantBroken):
        casino.decide(Void(actor=SUPERVISOR, award=award, reason="misread"))


def test_several_voids_of_one_answer_know_of_wagers_given_back() -> None:
    """A wager went back after two claims; the round is voided: the meter is as before the round."""
    casino = Casino()
    before = casino.microcents("meter/nexus/main")
    casino.lock((1, 2, 3))
    casino.claim(1, "straight-flush")
    casino.claim(2, "straight-flush")
    casino.void_seat(3)
    casino.void_round()
    assert before == casino.microcents("meter/nexus/main")
    assert frozen(casino.book) == frozen(casino.folded())


@pytest.mark.parametrize("act", ["adjust", "limit"])
def test_several_voids_of_one_answer_know_of_changes_of_the_link(act: str) -> None:
    """Since the earliest pending claim a level was adjusted, or limited anew; a round with two awards is voided."""
    casino = two(level("b", seed="10", increment="20%", reserve=None, limit="30", overflow="next_meter"))
    claimed(casino, "royal")
    if act == "adjust":
        casino.do(signed(Adjust, level="nexus/b", cents=100))
    else:
        casino.do(signed(SetLimit, level="nexus/b", limit_cents=50_00))
    casino.rounds(1, dict.fromkeys(range(1, 6), 5))
    shown = [casino.microcents(f"meter/nexus/{name}") for name in ("a", "b")]
    casino.lock({1: 5, 2: 5})
    casino.claim(1, "straight")
    casino.claim(2, "straight")
    casino.void_round()
    assert shown == [casino.microcents(f"meter/nexus/{name}") for name in ("a", "b")]
    assert frozen(casino.book) == frozen(casino.folded())


def test_seed_and_reserve_taken_out_before_a_correction_are_laid_out_by_the_house() -> None:
    """The hand was the second meter's: its reserve paid for the new seed, so neither was there to be taken out."""
    b = level("b", seed="10", increment="20%", reserve="40%", reset="reserve_funds_seed")
    site = SiteSettings("test", seed_recovery=True, release_to_house=True)
    casino = two(b, site)
    award = claimed(casino, "fifty")
    reserve = casino.microcents("reserve/nexus/b")
    assert 22 * DOLLAR == reserve
    casino.do(signed(RecoverSeed, level="nexus/b", cents=300))
    casino.do(signed(Release, level="nexus/b", part="reserve", cents=15_00))
    casino.correct(award, "straight")
    # the reserve had been 22, of which 10 became the seed: of the 15 released 12 were there, of the seed's 3 none
    assert ["10.00", "0.00"] == [casino.display("nexus/b"), casino.reserve("nexus/b")]
    assert casino.account(f"payable/{award}") == casino.amount(award)
    assert "-6.00" == casino.account("house/pays/T1")
    assert frozen(casino.book) == frozen(casino.folded())


def capped() -> Casino:
    """T1 has a limit of $250 per player; two small shares are pending at T2, then a capped one with a share at T1."""
    casino = Casino(tables=0)
    for table, limits in (("T1", {"cap_player_cents": 250_00}), ("T2", {})):
        casino.do(DefineTable(actor=SYSTEM, settings=TableSettings(table, "nexus", "Test", 7, **limits)))
        casino.do(OpenTable(actor=SYSTEM, table=table))
    casino.lock((1, 2), "T2")
    casino.claim(1, "straight-flush", "T2")
    casino.claim(2, "straight-flush", "T2")
    casino.lock({1: 2})
    casino.do(Hold(actor=SUPERVISOR, award=casino.claim(1, "mega-and-odds")))
    told = casino.do(EndGame(actor=DEALER, table="T1"))
    assert Kind.CAPPED in [entry.kind for entry in told.entries]
    return casino


@pytest.mark.parametrize("whole", [False, True])
def test_an_award_cut_by_a_limit_stays_cut_when_it_is_told_again(whole: bool) -> None:
    """What it takes of the meter is more after a void; 250 to 1 on $2 stay the limit's $250 and the wager."""
    casino = capped()
    before = casino.book.awards["A3"].amount_cents
    if whole:
        casino.do(VoidRound(actor=SUPERVISOR, table="T2"))
    else:
        casino.void("A1")
    award = casino.book.awards["A3"]
    assert before < award.amount_cents
    assert 252_00 == award.parts[1].cents
    assert casino.account("payable/A3") == casino.amount("A3")
    assert frozen(casino.book) == frozen(casino.folded())


# ties

BREAK = paytable(
    row("royal", percent("100%")),
    row("beaten-royal", Pay(PayKind.LOSS), percent("100%")),
    row("straight", percent("10%")),
    row("flush", fixed("300.00", from_meter=True)),
    row("fifty", fixed("50.00")),
)


def ties(way: str, seed: str = "1000") -> Casino:
    return Casino(link(level(seed=seed, reserve=None, ties=way), table=BREAK))


def test_a_fixed_pay_between_two_full_awards_leaves_what_each_takes() -> None:
    """With ``full_each`` the round's first claim says what the meter was; a flush between changes nothing of that."""
    casino = ties("full_each")
    casino.lock((1, 2, 3))
    awards = [casino.claim(1, "royal"), casino.claim(2, "flush"), casino.claim(3, "royal")]
    assert ["1,000.60", "300.00", "1,000.60"] == [casino.amount(award) for award in awards]


def test_awards_that_each_take_all_are_confirmed_each_alone() -> None:
    """With ``full_each`` nothing is shared: one confirmed award waits for no other."""
    casino = ties("full_each")
    casino.lock((1, 2))
    first, second = casino.claim(1, "royal"), casino.claim(2, "royal")
    casino.confirm(first)
    assert ["confirmed", "pending"] == [casino.book.awards[one].state_word for one in (first, second)]


@pytest.mark.parametrize("hand", ["royal", "beaten-royal"])
def test_a_confirmed_tie_keeps_its_shares_whatever_was_before_it(hand: str) -> None:
    """Two share the meter, a third took a tenth of it before them; all confirmed, an earlier award is voided."""
    casino = ties("split")
    casino.lock((1,), "T2")
    casino.lock((1, 2, 3))
    earlier = casino.claim(1, "straight", "T2")
    awards = [casino.claim(1, "straight"), casino.claim(2, hand), casino.claim(3, hand)]
    casino.correct(earlier, "fifty", by=OTHER)  # it takes nothing of the meter now, so the others need not wait
    amounts = [casino.amount(award) for award in awards]
    for award in awards:
        casino.confirm(award)
    casino.correct(earlier, "straight", by=OTHER)
    assert amounts == [casino.amount(award) for award in awards]
    casino.void(earlier, by=OTHER)
    assert amounts == [casino.amount(award) for award in awards]
    assert frozen(casino.book) == frozen(casino.folded())


def test_a_confirmed_tie_of_nothing_stays_nothing() -> None:
    """The meter was empty when two shared it, and they are confirmed. An award before them becomes one of the meter."""
    casino = ties("split", seed="0")
    earlier = claimed(casino, "fifty", table="T2")
    casino.lock((1,), "T2")
    casino.lock((1, 2))
    awards = [casino.claim(1, "royal", "T2"), casino.claim(1, "royal"), casino.claim(2, "royal")]
    for award in awards:
        casino.confirm(award)
    assert ["1.60", "0.00", "0.00"] == [casino.amount(award) for award in awards]
    casino.correct(earlier, "royal", by=OTHER)
    assert ["1.60", "0.00", "0.00"] == [casino.amount(award) for award in awards]
    assert frozen(casino.book) == frozen(casino.folded())


def test_an_award_that_two_voids_of_one_answer_touch_is_told_once() -> None:
    """The first void brings it from $9 to $10; the second leaves the amount, so no second entry says it again."""
    casino = Casino(link(level(seed="100", limit="100", overflow="next_meter", reserve=None), table=BREAK))
    casino.lock((1, 2), "T2")
    casino.lock((1,))
    awards = [casino.claim(1, "royal", "T2"), casino.claim(2, "straight", "T2"), casino.claim(1, "straight")]
    assert ["100.00", "10.00", "9.00"] == [casino.amount(award) for award in awards]
    told = casino.do(VoidRound(actor=SUPERVISOR, table="T2"))
    assert "10.00" == casino.amount(awards[2])
    again = [entry.body for entry in told.entries if entry.kind is Kind.REVALUED]
    assert [(awards[2], awards[1], 1_000)] == [(one["award"], one["because"], one["amount_cents"]) for one in again]


def test_what_the_last_void_leaves_complete_is_confirmed() -> None:
    """One of two who share was verified; the other's wager goes back and its award with it: the first is confirmed."""
    casino = ties("split")
    casino.lock((1, 2))
    first, _ = casino.claim(1, "royal"), casino.claim(2, "royal")
    casino.confirm(first)
    assert "pending" == casino.book.awards[first].state_word
    casino.void_seat(2)
    assert "confirmed" == casino.book.awards[first].state_word
    assert "1,000.40" == casino.amount(first)  # what its meter showed when it was claimed


# envy

HIGHEST = paytable(
    row("all", percent("100%")),
    row("royal", fixed("500"), envy="1000"),
    row("straight", fixed("50"), envy="300"),
    row("low", fixed("10"), envy="100"),
    row("plain", fixed("5")),
    envy_trigger="highest",
)


def dealt(*hands: str, confirmed: int = 0, table: str = "T1", casino: Casino | None = None) -> Casino:
    """Seats from 1 have these hands, the first ``confirmed`` of them at once; one seat more receives. It has ended."""
    casino = casino or Casino(link(table=HIGHEST))
    casino.lock(tuple(range(1, len(hands) + 2)), table)
    for seat, hand in enumerate(hands, 1):
        award = casino.claim(seat, hand, table)
        if seat <= confirmed:
            casino.confirm(award)
        else:
            casino.do(Hold(actor=SUPERVISOR, award=award))
    casino.end(table)
    return casino


def waiting(casino: Casino) -> list[str]:
    return [award.id for award in casino.book.awards.values() if award.envy_waits]


def test_a_higher_hand_without_envy_takes_none_from_a_lower_one() -> None:
    """The highest hand that gives envy counts, not the highest hand."""
    casino = dealt("all", "straight", confirmed=2)
    assert "600.00" == casino.account("paid/T1")


def test_at_the_end_the_highest_confirmed_hand_alone_waits() -> None:
    """A low hand and a straight are confirmed, a royal is not: the straight waits, the low one gives none at all."""
    casino = dealt("low", "straight", "royal", confirmed=2)
    assert "0.00" == casino.account("paid/T1")
    assert ["A2"] == waiting(casino)
    casino.void("A3")
    assert "900.00" == casino.account("paid/T1")
    assert [] == waiting(casino)


def test_a_lower_hand_confirmed_after_it_leaves_a_hand_waiting() -> None:
    """A straight waits for the royal; a low hand confirmed then is beaten, waits for nothing and ends no waiting."""
    casino = dealt("low", "straight", "royal")
    casino.confirm("A2")
    casino.confirm("A1")
    assert ["A2"] == waiting(casino)
    casino.void("A3")
    assert "900.00" == casino.account("paid/T1")


def test_envy_waits_for_hands_of_its_own_round_alone() -> None:
    """A royal pending at another table is nothing to a straight whose own round has no higher hand any more."""
    casino = dealt("straight", "royal")
    dealt("royal", table="T2", casino=casino)
    casino.confirm("A1")
    casino.void("A2")
    assert "600.00" == casino.account("paid/T1")


def test_two_equal_hands_that_became_the_highest_give_their_envy_once_each() -> None:
    """In the end every seat has had of each straight what it gives, and nothing more.

    A low hand gave at the end; two hands are corrected to straights, one of which waits for a royal that is none.
    """
    casino = dealt("low", "plain", "plain", "plain", confirmed=1)
    assert "400.00" == casino.account("paid/T1")
    casino.correct("A2", "straight")
    casino.confirm("A2", by=OTHER)
    assert "1,300.00" == casino.account("paid/T1")
    casino.correct("A4", "royal")
    casino.correct("A3", "straight")
    casino.confirm("A3", by=OTHER)
    assert ["A3"] == waiting(casino)
    casino.void("A4", by=OTHER)
    assert "2,400.00" == casino.account("paid/T1")


SHARED = paytable(
    row("royal", percent("100%"), envy="1000"),
    row("middle", fixed("50"), envy="500"),
    row("straight", percent("100%"), envy="300"),
    row("plain", fixed("5")),
    envy_trigger="highest",
)


@pytest.mark.parametrize(("second", "total"), [("royal", "6,000.00"), ("straight", "3,500.00")])
def test_hands_confirmed_together_after_the_end_give_what_the_highest_gives(second: str, total: str) -> None:
    """Of royals each seat has $1,000 from every other, whoever had $500 before; beside a royal a straight gives none.

    A middle hand gave $500 to three seats at the end; then two who share the meter are confirmed in one answer.
    """
    casino = dealt(
        "middle", "plain", "plain", confirmed=1, casino=Casino(link(level(ties="split", reserve=None), table=SHARED))
    )
    assert "1,500.00" == casino.account("paid/T1")
    casino.correct("A2", second)
    casino.correct("A3", "royal")
    casino.confirm("A2", by=OTHER)
    assert "1,500.00" == casino.account("paid/T1")
    casino.confirm("A3", by=OTHER)
    assert total == casino.account("paid/T1")


@pytest.mark.parametrize("to", ["players", "dealer"])
def test_a_hand_the_table_lacks_and_a_wager_given_back_give_no_envy(to: str) -> None:
    """A keypad is shown 0 for a hand without a row or without envy; a hand whose wager went back hands out nothing."""
    casino = Casino(link(table=replace(HIGHEST, envy_to=to)))
    casino.lock((1, 2, 3))
    rules, seats = casino.book.links["nexus"].rules, casino.book.tables["T1"].seats
    shown = [total_cents(rules, seats, 1, hand) for hand in ("royal", "plain", "nobody-has-this")]
    assert [1_000_00 * (2 if to == "players" else 1), 0, 0] == shown
    award = casino.book.awards[casino.claim(1, "royal")]
    assert shown[0] == handed_out(rules, seats, [award]).cents
    back = seats._replace(wagers={seat: seats.wagers[seat] for seat in (2, 3)})
    assert 0 == handed_out(rules, back, [award]).cents


# pay tables by the size of the bet, and a level at its limit


def test_each_hand_is_paid_by_its_own_row_of_the_step() -> None:
    """From $25 another print holds, row by row: a pair is paid as that print's pair."""
    first = paytable(
        row("trips", Pay(PayKind.ODDS_FOR, n=30)), row("pair", Pay(PayKind.ODDS_FOR, n=2)), wager_cents=100
    )
    step = paytable(
        row("trips", Pay(PayKind.ODDS_FOR, n=40)),
        row("pair", Pay(PayKind.ODDS_FOR, n=3)),
        wager_cents=2_500,
        id="test/step",
    )
    casino = Casino(LinkSettings("nexus", 100, 30, first, (), steps=(step,)))
    casino.lock({1: 25, 2: 25, 3: 1})
    awards = [casino.claim(1, "pair"), casino.claim(2, "trips"), casino.claim(3, "pair")]
    assert ["75.00", "1,000.00", "2.00"] == [casino.amount(award) for award in awards]


def test_one_row_from_a_meter_is_enough_to_refuse_steps() -> None:
    """Pay tables by the size of the bet pay from no meter, not in any of their rows."""
    plain = paytable(row("trips", fixed("30")), row("pair", fixed("2")), wager_cents=100)
    meter = paytable(row("trips", percent("10%")), row("pair", fixed("2")), wager_cents=2_500, id="test/step")
    assert "pay tables by the size of the bet pay from no meter" == misfit(plain, (meter,), 100)


def test_a_level_restarts_no_higher_than_its_limit() -> None:
    """Seed and limit are $100, half a cent was left in the meter: reserve and house bring it to $100, not above."""
    settings = level(seed="100", limit="100", overflow="next_meter", reset="reserve_funds_seed")
    rest = MICROCENTS_PER_CENT // 2
    money = LevelMoney(LevelRules.of("nexus", settings), rest, 10 * DOLLAR, 0)
    assert 90 * DOLLAR - rest == restart(money, {})
    assert [100 * DOLLAR, 0] == [money.meter, money.reserve]


def test_a_level_begins_with_nothing() -> None:
    """No seed stands in it, it has neither been won nor restarted, and nobody has adjusted it."""
    assert not any(LevelMoney(LevelRules.of("nexus", level()), 0, 0, 0).facts().values())
