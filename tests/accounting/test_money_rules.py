"""The figures of the money rules, rule by rule, to the cent and microcent."""

from __future__ import annotations

from dataclasses import replace

import pytest
from accounting_build import (
    ACCOUNTANT,
    ADMINISTRATOR,
    DEALER,
    OTHER,
    ROYAL,
    SUPERVISOR,
    TCP,
    THBP_6,
    THREE,
    Casino,
    level,
    link,
    paytable,
    percent,
    put,
    row,
)

from meterd.accounting.commands import Hold, Join, Undo
from meterd.accounting.entries import Kind
from meterd.accounting.settings import EnvyTrigger, LinkSettings
from meterd.paytables.model import Pay, PayKind

# M3, what a lock does


def test_what_a_lock_leaves_to_the_house() -> None:
    """20 % + 4 % + 5 % of $1 leave 71 cents; one entry for the whole table, one posting per account."""
    casino = Casino(
        link(level("a"), level("b", increment="5%", reserve=None), table=paytable(row("x", percent("100%", "a"))))
    )
    casino.lock((1, 2, 3))
    assert casino.account("drop/T1") == "-3.00"
    assert casino.account("house/hold/T1") == "2.13"
    assert casino.display("nexus/a") == "10,000.60"
    locked = casino.entries[-1]
    assert locked.kind is Kind.LOCKED
    assert len({p.account for p in locked.postings}) == len(locked.postings) == 5


def test_counts_of_a_level() -> None:
    """Wagers count seats, units count units."""
    casino = Casino()
    casino.lock({1: 1, 2: 3})
    state = casino.book.links["nexus"].levels["main"]
    assert (state.wagers, state.units) == (2, 4)


# M4, how a level starts again


def test_a_reset_goes_only_up_to_the_limit() -> None:
    """Seed 99,990, reserve 50, overflow 190, limit 100,000: 100,000.00 / 40.00 / 190.00."""
    casino = Casino(link(level(seed="99990", limit="100000", overflow="next_meter")))
    casino.lock((1,))
    put(casino, "99990", "50", "190")
    casino.claim(1, "royal-flush")
    assert (casino.display(), casino.reserve(), casino.overflow()) == ("100,000.00", "40.00", "190.00")


def test_the_rest_below_a_cent_stays_on_top() -> None:
    """1,001 wagers at 2.375 % / 0.5 %: pays 1,023.77, then 100,000,375,000 microcents and house seed −1,994.995."""
    casino = Casino(link(level(seed="1000", increment="2.375%", reserve="0.5%", reset="reserve_funds_seed")))
    casino.wagers(1000)
    casino.lock((1,))
    award = casino.claim(1, "royal-flush")
    assert casino.amount(award) == "1,023.77"
    assert casino.microcents("meter/nexus/main") == 100_000_375_000
    assert casino.microcents("house/seed/nexus/main") == -199_499_500_000
    assert casino.microcents("reserve/nexus/main") == 0


def test_a_limit_with_next_meter_starts_the_next_meter() -> None:
    """The overflow goes on top of the seed at the reset; partial awards never draw on it."""
    casino = Casino(link(level(seed="1000", limit="2000", overflow="next_meter", reserve=None)))
    casino.lock((1, 2))
    put(casino, "2000", "0", "300")
    tenth = casino.claim(1, "straight-flush")
    assert (casino.amount(tenth), casino.display(), casino.overflow()) == ("200.00", "1,800.00", "300.00")
    casino.claim(2, "royal-flush")
    assert (casino.display(), casino.overflow()) == ("1,300.00", "0.00")


def test_overflow_to_the_house_is_income() -> None:
    """With overflow = house, house/revenue takes what is above the limit."""
    casino = Casino(link(level(seed="1000", limit="1000", overflow="house", reserve=None)))
    casino.lock((1, 2, 3))
    assert (casino.display(), casino.account("house/revenue")) == ("1,000.00", "0.60")


def test_overflow_to_another_level() -> None:
    """With overflow = level:NAME the other meter takes it, up to its own limit."""
    casino = Casino(
        link(
            level("a", seed="1000", limit="1000", overflow="level:b", reserve=None),
            level("b", seed="500", increment="1%", reserve=None, limit="500.10", overflow="next_meter"),
            table=paytable(row("x", percent("100%", "a")), row("y", percent("100%", "b"))),
        )
    )
    casino.lock((1, 2, 3))
    assert casino.display("nexus/a") == "1,000.00"
    assert (casino.display("nexus/b"), casino.overflow("nexus/b")) == ("500.10", "0.53")


# M4, what a row pays


def test_a_fixed_pay_takes_what_the_meter_has() -> None:
    """The shortfall is the house's; floor none leaves the meter empty."""
    casino = Casino(link(level(seed="1000", floor="none"), table=THBP_6, wager="5.00"))
    casino.lock((1,))
    award = casino.claim(1, "four-of-a-kind")
    assert casino.amount(award) == "2,500.00"
    assert casino.account("house/pays/T1") == "-1,499.00"
    assert casino.display() == "0.00"


def test_a_floor_lifts_the_display_by_the_house_alone() -> None:
    """With floor = seed, house/seed lifts the meter back; the reserve is not touched."""
    casino = Casino(link(level(seed="1000", floor="seed"), table=THBP_6, wager="5.00"))
    casino.lock((1,))
    casino.claim(1, "full-house")
    assert (casino.display(), casino.seed(), casino.reserve()) == ("1,000.00", "-1,499.00", "0.20")


@pytest.mark.parametrize(
    ("hand", "units", "pays"),
    [
        ("five-to-one", 1, "6.00"),
        ("five-to-one", 2, "12.00"),
        ("five-for-one", 2, "10.00"),
        ("push", 3, "3.00"),
        ("fixed-fifty", 3, "150.00"),
    ],
)
def test_pays_of_the_house(hand: str, units: int, pays: str) -> None:
    """Odds to bring the wager back on top, odds for do not; contributions stay in the meter."""
    casino = Casino()
    casino.lock({1: units})
    before = casino.microcents("meter/nexus/main")
    award = casino.claim(1, hand)
    assert casino.amount(award) == pays
    assert casino.account("house/pays/T1") == f"-{pays}"
    assert casino.microcents("meter/nexus/main") == before


def test_the_wager_comes_back_once_even_in_a_sum() -> None:
    """A row with two odds returns one wager; original_wager_returned = false returns none."""
    rows = row("sum", Pay(PayKind.ODDS_TO, n=5), Pay(PayKind.ODDS_TO, n=10)), row("all", percent("100%"))
    for returned, pays in ((True, "16.00"), (False, "15.00")):
        casino = Casino(link(table=paytable(*rows, original_wager_returned=returned)))
        casino.lock((1,))
        assert casino.amount(casino.claim(1, "sum")) == pays


def test_a_meter_and_odds_in_one_award() -> None:
    """100 % plus 250 to 1: the meter's cents and 251 wagers."""
    casino = Casino()
    casino.lock((1,))
    assert casino.amount(casino.claim(1, "mega-and-odds")) == "10,251.20"


def test_share_scales_with_the_units() -> None:
    """With share_scales five units take all and reset; one unit takes a fifth and does not."""
    casino = Casino(link(level(reserve=None, share_scales=True)))
    casino.lock({1: 1, 2: 5})
    put(casino, "10000.02")
    one = casino.claim(1, "royal-flush")
    assert (casino.amount(one), casino.display()) == ("2,000.00", "8,000.02")
    five = casino.claim(2, "royal-flush")
    assert (casino.amount(five), casino.display()) == ("8,000.02", "10,000.00")


def test_a_sign_above_the_meter_is_paid_by_the_house() -> None:
    """The sign's value is paid, the difference is the house's, and the award cannot confirm itself."""
    casino = Casino()
    casino.lock((1,))
    put(casino, "10500")
    award = casino.claim(1, "royal-flush", signs={"main": 1_050_100})
    assert casino.amount(award) == "10,501.00"
    assert casino.account("house/pays/T1") == "-1.00"
    assert casino.book.awards[award].sign_above_meter


def test_an_award_of_nothing_restarts_the_level() -> None:
    """A tenth of an empty meter is nothing: METER_EMPTY, and the level starts again."""
    casino = Casino(link(level(reserve=None)))
    casino.lock((1,))
    put(casino, "0.05")
    award = casino.claim(1, "straight-flush")
    assert casino.book.awards[award].meter_empty
    assert (casino.amount(award), casino.display()) == ("0.00", "10,000.05")


# M5, what changes the past


def test_a_correction_keeps_its_place() -> None:
    """10 % corrected to 100 %: A1 52,341.20, A2 12,117.06."""
    casino = Casino(link(level(reserve="4%")))
    casino.lock((1, 2))
    put(casino, "52341.20", "2117.06")
    first, second = casino.claim(1, "straight-flush"), casino.claim(2, "royal-flush")
    assert (casino.amount(first), casino.amount(second)) == ("5,234.12", "47,107.08")
    casino.correct(first, "royal-flush")
    assert (casino.amount(first), casino.amount(second)) == ("52,341.20", "12,117.06")
    assert Kind.REVALUED in {entry.kind for entry in casino.entries}


def test_void_at_a_limit() -> None:
    """Award 99,990 under a limit of 100,000, 200 × $5, void: display 100,000.00, overflow 190.00, seed −10,000."""
    casino = Casino(link(level(reserve=None, limit="100000", overflow="next_meter"), wager="5.00"))
    casino.lock((1,))
    put(casino, "99990")
    award = casino.claim(1, "royal-flush")
    casino.wagers(200)
    casino.void(award)
    assert (casino.display(), casino.overflow(), casino.seed()) == ("100,000.00", "190.00", "-10,000.00")


def test_void_revalues_downwards() -> None:
    """A1 1,100.00, A2 2,000.00; void A1: A2 1,100.00, display 2,000.00, reserve 0."""
    casino = Casino(link(level(seed="1000", increment="1%", reserve="10%")))
    casino.wagers(9_998)
    casino.lock((1, 2))
    first, second = casino.claim(1, "royal-flush"), casino.claim(2, "royal-flush")
    assert (casino.amount(first), casino.amount(second)) == ("1,100.00", "2,000.00")
    casino.void(first)
    assert casino.amount(second) == "1,100.00"
    assert (casino.display(), casino.reserve()) == ("2,000.00", "0.00")


def test_void_changes_the_funding_of_a_confirmed_fixed_pay() -> None:
    """THBP-6: A2 stays 2,500.00, then 1,600 of it from the meter and 900 from the house; display 0, seed −1,000."""
    casino = Casino(link(level(seed="1000", reserve=None), table=THBP_6, wager="5.00"))
    casino.lock((1, 2))
    put(casino, "1600")
    first, second = casino.claim(1, "royal-flush"), casino.claim(2, "four-of-a-kind")
    casino.confirm(second)
    assert (casino.amount(first), casino.account("house/pays/T1")) == ("1,600.00", "-1,500.00")
    casino.void(first)
    assert casino.amount(second) == "2,500.00"
    assert casino.account("house/pays/T1") == "-900.00"
    assert (casino.display(), casino.seed()) == ("0.00", "-1,000.00")
    casino.pay(second)


def test_void_wager_after_somebody_else_won() -> None:
    """T2 has won what T1 had put in: A1 stays, the house returns 1.44; A1 voided gives the house its 1.44 back."""
    casino = Casino(link(level(seed="1000")))
    casino.lock((1, 2, 3, 4, 5, 6), "T1")
    casino.lock((1, 2, 3, 4, 5), "T2")
    award = casino.claim(1, "royal-flush", "T2")
    casino.void_round("T1")
    assert (casino.amount(award), casino.display(), casino.reserve()) == ("1,002.20", "1,000.44", "0.00")
    assert casino.account("house/pays/T1") == "-1.44"
    casino.void(award)
    assert (casino.display(), casino.reserve()) == ("1,001.00", "0.20")
    assert casino.microcents("house/pays/T1") == 0
    assert casino.microcents("drop/T1") == 0


def test_void_round_voids_its_awards_first_newest_first() -> None:
    """Two pending awards and the wagers go; the link is as before the LOCK."""
    casino = Casino()
    before = casino.microcents("meter/nexus/main")
    casino.lock((1, 2))
    casino.claim(1, "straight-flush")
    casino.claim(2, "royal-flush")
    casino.void_round()
    voided = [entry.body["award"] for entry in casino.entries if entry.kind is Kind.VOIDED]
    assert voided == ["A2", "A1"]
    assert casino.microcents("meter/nexus/main") == before
    assert casino.microcents("drop/T1") == 0
    state = casino.book.links["nexus"].levels["main"]
    assert (state.wagers, state.units, state.hits, state.won_cents) == (0, 0, 0, 0)


def test_void_moves_what_a_level_sends_to_another_now() -> None:
    """With overflow = level:b, b's pending award keeps its amount, what b lacks is the house's."""
    casino = Casino(
        link(
            level("a", seed="1000", increment="20%", reserve=None, limit="1000", overflow="level:b"),
            level("b", seed="500", increment="1%", reserve=None),
            table=paytable(row("x", percent("100%", "a")), row("y", percent("100%", "b"))),
        )
    )
    put(casino, "990", level_="nexus/a")
    casino.lock((1,))
    first = casino.claim(1, "x")
    casino.rounds(10, (1, 2, 3, 4, 5), "T2")
    assert (casino.display("nexus/a"), casino.display("nexus/b")) == ("1,000.00", "510.51")
    casino.lock((1,), "T2")
    second = casino.claim(1, "y", "T2")
    assert casino.amount(second) == "510.72"
    casino.void(first)
    assert casino.amount(second) == "510.72"
    assert casino.display("nexus/a") == "1,000.00"
    assert casino.display("nexus/b") == "500.00"
    assert casino.account("house/pays/T1") == "-9.80"


def test_a_void_after_a_long_time_says_only_what_is_needed() -> None:
    """The entry holds the state before each later claim with the rounds then running, not all rounds since."""
    casino = Casino()
    casino.lock((1, 2))
    first = casino.claim(1, "royal-flush")
    casino.rounds(30, (1, 2, 3))
    second = casino.claim(2, "straight-flush")
    casino.void(first)
    voided = next(entry for entry in casino.entries if entry.kind is Kind.VOIDED)
    assert list(voided.body["before"]) == [second]
    assert list(voided.body["before"][second]["marks"]) == ["T1#1", "T2#30"]
    casino.void(second)
    assert casino.book.links["nexus"].journal is None


def test_undo_after_confirm() -> None:
    """Example 1 undone: display 39,629.44, reserve 0, house seed −10,000.00, liability as before the hit."""
    casino = Casino()
    casino.lock((1,))
    put(casino, "34691.20", "4938.24")
    award = casino.claim(1, "royal-flush")
    casino.confirm(award)
    casino.do(Undo(actor=ADMINISTRATOR, award=award, second=ACCOUNTANT, reference="R-17"))
    assert (casino.display(), casino.reserve(), casino.seed()) == ("39,629.44", "0.00", "-10,000.00")
    assert casino.liability() == "29,629.44"
    assert casino.microcents(f"payable/{award}") == 0
    state = casino.book.links["nexus"].levels["main"]
    assert (0, 0) == (state.hits, state.won_cents)  # it counts as won no more


# M7, awards of one round


def test_split_gives_odd_cents_to_the_earlier() -> None:
    """10,000.01 by three; void the second: 5,000.01 and 5,000.00."""
    casino = Casino(link(level(ties="split")))
    casino.lock((1, 2, 3))
    put(casino, "10000.01")
    awards = [casino.claim(seat, "royal-flush") for seat in (1, 2, 3)]
    assert [casino.amount(a) for a in awards] == ["3,333.34", "3,333.34", "3,333.33"]
    casino.void(awards[1])
    assert [casino.amount(a) for a in (awards[0], awards[2])] == ["5,000.01", "5,000.00"]


def test_a_tie_is_confirmed_together_and_late_claims_are_the_houses() -> None:
    """Confirmed 52,340.01, late second 26,170.00, late third 17,446.67, house-funded."""
    casino = Casino(link(level(ties="split")))
    casino.lock((1, 2, 3))
    put(casino, "52340.01")
    first = casino.claim(1, "royal-flush")
    casino.confirm(first)
    meter = casino.microcents("meter/nexus/main")
    second = casino.claim(2, "royal-flush")
    third = casino.claim(3, "royal-flush")
    assert [casino.amount(a) for a in (first, second, third)] == ["52,340.01", "26,170.00", "17,446.67"]
    assert casino.account("house/pays/T1") == "-43,616.67"
    assert casino.microcents("meter/nexus/main") == meter
    casino.void(second)
    assert casino.amount(third) == "26,170.00"


def test_members_of_a_tie_wait_for_the_last_to_be_verified() -> None:
    """CONFIRM verifies one; with the last all are confirmed. A void of the last unverified one confirms the others."""
    casino = Casino(link(level(ties="split")))
    casino.lock((1, 2, 3))
    a1, a2, a3 = (casino.claim(seat, "royal-flush") for seat in (1, 2, 3))
    casino.confirm(a2)
    assert casino.book.awards[a2].state_word == "pending"
    casino.confirm(a1, OTHER)
    casino.void(a3)
    assert [casino.book.awards[a].state_word for a in (a1, a2, a3)] == ["confirmed", "confirmed", "voided"]
    casino.end()


def test_a_tie_and_a_smaller_share_between_do_not_wait_for_each_other() -> None:
    """A member stands where its tie began: the tie first, then the tenth claimed in between."""
    casino = Casino(link(level(ties="split")))
    casino.lock((1, 2, 3))
    first = casino.claim(1, "royal-flush")
    tenth = casino.claim(2, "straight-flush")
    second = casino.claim(3, "royal-flush")
    for award in (first, second, tenth):
        casino.confirm(award)
    assert {award.state_word for award in casino.book.awards.values()} == {"confirmed"}


@pytest.mark.parametrize("order", [("royal-flush", "straight-flush"), ("straight-flush", "royal-flush")])
def test_full_each_pays_the_round_on_one_basis(order: tuple[str, str]) -> None:
    """52,340 with 100 % and 10 %, either order: 52,340.00 + 5,234.00, house 5,234.00."""
    casino = Casino(link(level(ties="full_each")))
    casino.lock((1, 2))
    put(casino, "52340")
    awards = {hand: casino.claim(seat, hand) for seat, hand in zip((1, 2), order, strict=True)}
    assert casino.amount(awards["royal-flush"]) == "52,340.00"
    assert casino.amount(awards["straight-flush"]) == "5,234.00"
    assert casino.account("house/pays/T1") == "-5,234.00"


# M9, what the others get


def test_envy_follows_the_receivers_wager() -> None:
    """TCP $25 row, seats 1 and 3 one unit, seat 2 three, seats 2 and 3 hit: 50.00, 75.00, 25.00."""
    casino = Casino(link(level(), table=paytable(*TCP.rows, row("all", percent("100%")))))
    casino.lock({1: 1, 2: 3, 3: 1})
    for seat in (2, 3):
        casino.confirm(casino.claim(seat, "mini-royal"))
    casino.end()
    got: dict[int, int] = {}
    for share in casino.book.tables["T1"].last_envy:
        got[share.seat] = got.get(share.seat, 0) + share.cents
    assert got == {1: 5_000, 2: 7_500, 3: 2_500}


def test_joined_seats_get_no_envy_from_each_other() -> None:
    """Seats 1, 2 and 4 are one player, joined before and after LOCK: only seat 3 receives. It holds for one round."""
    casino = Casino()
    casino.do(Join(actor=DEALER, table="T1", seats=(1, 2)))
    casino.lock((1, 2, 3, 4))
    casino.do(Join(actor=DEALER, table="T1", seats=(2, 4)))
    casino.confirm(casino.claim(1, "royal-flush"))
    casino.end()
    assert [(s.seat, s.cents) for s in casino.book.tables["T1"].last_envy] == [(3, 100_000)]
    casino.lock((1, 2))
    casino.confirm(casino.claim(1, "royal-flush"))
    casino.end()
    assert [(s.seat, s.cents) for s in casino.book.tables["T1"].last_envy] == [(2, 100_000)]


def test_envy_of_a_held_award_is_paid_when_it_is_confirmed() -> None:
    """END GAME pays none of it; the confirmation does, to who sat there then."""
    casino = Casino()
    casino.lock((1, 2, 3))
    award = casino.claim(1, "royal-flush")
    casino.do(Hold(actor=SUPERVISOR, award=award))
    assert casino.book.awards[award].state_word == "held"
    casino.end()
    assert casino.account("paid/T1") == "0.00"
    casino.lock((5,))
    casino.confirm(award)
    assert casino.account("paid/T1") == "2,000.00"
    assert casino.book.tables["T1"].past == {}


def test_envy_settings() -> None:
    """With highest only the royal gives; below the minimum wager a seat receives nothing."""
    settings = replace(link(), envy_trigger=EnvyTrigger.HIGHEST, envy_min_cents=200)
    casino = Casino(settings)
    casino.lock({1: 1, 2: 2, 3: 2})
    for seat, hand in ((2, "straight-flush"), (3, "royal-flush")):
        casino.confirm(casino.claim(seat, hand))
    casino.end()
    assert [tuple(s) for s in casino.book.tables["T1"].last_envy] == [(2, 200_000, "A2")]
    assert LinkSettings.from_json(settings.to_json()) == settings


def test_a_voided_seat_neither_gets_nor_gives_envy() -> None:
    """VOID SEAT before END GAME: its share is not paid, its award is gone."""
    casino = Casino()
    casino.lock((1, 2, 3))
    first = casino.claim(1, "royal-flush")
    casino.claim(2, "straight-flush")
    casino.void_seat(2)
    casino.confirm(first)
    casino.end()
    assert [(s.seat, s.cents) for s in casino.book.tables["T1"].last_envy] == [(3, 100_000)]


def test_levels_reset_alone() -> None:
    """Three levels: a major award leaves mega and minor as they are."""
    casino = Casino(
        link(
            level("mega"),
            level("major", seed="500", increment="5%", reserve=None),
            level("minor", seed="50", increment="2%"),
            table=THREE,
        )
    )
    casino.lock((1, 2))
    casino.claim(1, "straight-flush")
    assert [casino.display(f"nexus/{n}") for n in ("mega", "major", "minor")] == ["10,000.40", "500.00", "50.04"]
    assert ROYAL.levels == ("main",)


def test_a_floor_is_lifted_to_also_by_an_award_that_the_meter_had_nothing_for() -> None:
    """A fixed pay finds an empty meter: the house pays it all and lifts the display to the seed, as after any award."""
    casino = Casino(link(level(seed="0.01", increment="0.1%", reserve=None, floor="seed"), table=THBP_6))
    casino.lock((1, 2))
    put(casino, "0.01")
    first = casino.claim(1, "royal-flush")
    put(casino, "0.00")
    casino.claim(2, "flush")
    assert "0.01" == casino.display()
    assert "0.01" == casino.amount(first)
