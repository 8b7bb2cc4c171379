"""Amounts at the edges: nothing at all, less than a cent, everything, the largest. Exact or refused, never wrapped."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from accounting_build import DEALER, SUPERVISOR, Casino, fixed, level, link, paytable, percent, row

from meterd.accounting.commands import SYSTEM, Claim, Lock, OpenLink, VoidRound, WagerSeen
from meterd.accounting.entries import Kind
from meterd.accounting.refusals import Refusal
from meterd.accounting.settings import Floor, LevelSettings, LinkSettings, ResetMode, Ties
from meterd.errors import MisuseError
from meterd.money import (
    AMOUNT_CENTS_MAX,
    MICROCENTS_MAX,
    contribution_microcents,
    format_cents,
    parse_money,
    percent_cents,
    whole_cents,
)
from meterd.paytables.model import Pay, PayKind

ROWS = paytable(
    row("all", percent("100%")),
    row("tenth", percent("10%")),
    row("least", percent("0.0001%")),
    row("odds", Pay(PayKind.ODDS_TO, n=1_000_000)),
    row("third", Pay(PayKind.ODDS_FOR, n=1, d=3)),
    row("fixed", fixed("9,000,000,000.00")),
)


def one(
    seed: int, rate: int, reserve: int | None = None, wager: int = 100, units: int = 1, **more: object
) -> LinkSettings:
    mode = ResetMode.SEED_PLUS_RESERVE
    meter = LevelSettings("main", seed, rate, reserve, mode, Ties.SEQUENTIAL, Floor.NONE, **more)  # type: ignore[arg-type]
    return LinkSettings("nexus", wager, units, ROWS, (meter,))


def accounts(casino: Casino) -> dict[str, int]:
    return {account: amount for account, amount in casino.book.balances.items() if amount}


def test_a_rate_of_nothing_moves_nothing_into_the_meter() -> None:
    """0 ppm: the house holds all of the wager, and neither meter nor reserve is posted at all."""
    casino = Casino(one(1_000, 0, 0))
    casino.lock((1, 2))
    posted = {posting.account for posting in casino.entries[-1].postings}
    assert {"drop/T1", "house/hold/T1"} == posted
    assert 200_000_000 == casino.microcents("house/hold/T1")


def test_a_rate_of_everything_leaves_the_house_nothing() -> None:
    """600,001 + 399,999 ppm are the whole wager: no hold, to the microcent."""
    casino = Casino(one(0, 600_001, 399_999, wager=1))
    casino.lock((1,))
    assert {"drop/T1": -1_000_000, "meter/nexus/main": 600_001, "reserve/nexus/main": 399_999} == accounts(casino)


def test_rates_above_the_whole_wager_are_no_link() -> None:
    """One millionth more than all, also where it is the reserve of another level: the house would lay it out."""
    levels = (level("a", "0", "60%", "20%"), level("b", "0", "20%", "0.0001%"))
    rows = paytable(row("a", percent("100%", "a")), row("b", percent("100%", "b")))
    casino = Casino()
    with pytest.raises(MisuseError, match="more than all of it"):
        casino.do(OpenLink(actor=SYSTEM, settings=link(*levels, table=rows, name="other")))
    casino.do(OpenLink(actor=SYSTEM, settings=link(levels[0], level("b", "0", "20%", None), table=rows, name="other")))


def test_a_link_of_such_rates_in_a_ledger_is_folded_all_the_same() -> None:
    """It was let in once: what the ledger tells stands, and only a new one is refused."""
    casino = Casino(one(1_000, 600_000, 400_000))
    opened = next(entry for entry in casino.entries if entry.kind is Kind.LINK_OPENED)
    body = json.loads(json.dumps(dict(opened.body)))
    body["settings"]["levels"][0]["reserve_ppm"] = 500_000
    casino.entries[casino.entries.index(opened)] = replace(opened, body=body)
    assert 500_000 == casino.folded().links["nexus"].rules.levels["main"].reserve_ppm


def test_a_millionth_of_a_cent_is_counted() -> None:
    """1 cent at 1 ppm: one microcent each; after a million wagers less one the meter still shows nothing."""
    casino = Casino(one(0, 1, 1, wager=1))
    casino.strict = False
    for _ in range(1_000):
        casino.lock((1, 2, 3, 4, 5))
        casino.end()
    assert (5_000, 5_000) == (casino.microcents("meter/nexus/main"), casino.microcents("reserve/nexus/main"))
    assert 5_000 * 999_998 == casino.microcents("house/hold/T1")
    assert "0.00" == casino.display()


def test_all_of_less_than_a_cent_is_nothing_and_starts_the_level_again() -> None:
    """0.7 cents on the meter: 100 % pays 0.00, METER_EMPTY; the rest stays on top of seed and reserve."""
    casino = Casino(one(0, 700_000, 200_000, wager=1))
    casino.lock((1,))
    award = casino.claim(1, "all")
    assert ("0.00", True) == (casino.amount(award), casino.book.awards[award].meter_empty)
    assert (900_000, 0) == (casino.microcents("meter/nexus/main"), casino.microcents("reserve/nexus/main"))
    casino.void(award)
    assert (700_000, 200_000) == (casino.microcents("meter/nexus/main"), casino.microcents("reserve/nexus/main"))


def test_a_share_of_less_than_a_cent_is_nothing() -> None:
    """A millionth of 9,999.99 is nothing, of 10,000.00 one cent; a third of a cent's wager is nothing."""
    assert (0, 1) == (percent_cents(999_999_999_999, 1), percent_cents(1_000_000_000_000, 1))
    casino = Casino(one(999_999, 0, wager=1))
    casino.lock((1, 2))
    assert "0.00" == casino.amount(casino.claim(1, "third"))
    assert "0.00" == casino.amount(casino.claim(2, "least"))


def test_shares_of_the_largest_meter_are_exact() -> None:
    """At the largest meter a share is the exact fraction's whole cents, for every rate tried."""
    for ppm in (1, 7, 333_333, 999_999, 1_000_000):
        for meter in (MICROCENTS_MAX, MICROCENTS_MAX - 1, MICROCENTS_MAX - 999_999):
            exact = Fraction(meter // 1_000_000) * Fraction(ppm, 1_000_000)
            assert exact.numerator // exact.denominator == percent_cents(meter, ppm)
    assert AMOUNT_CENTS_MAX == whole_cents(MICROCENTS_MAX)
    assert MICROCENTS_MAX < 2**63 <= MICROCENTS_MAX * 2
    assert MICROCENTS_MAX == contribution_microcents(AMOUNT_CENTS_MAX, 1_000_000)


def test_the_largest_meter_is_won_and_starts_again() -> None:
    """A meter at the largest amount pays all of it; the next begins at the seed only where that fits the books."""
    casino = Casino(one(AMOUNT_CENTS_MAX // 2, 1_000_000, wager=AMOUNT_CENTS_MAX // 2))
    casino.lock((1,))
    assert MICROCENTS_MAX == casino.microcents("meter/nexus/main")
    award = casino.claim(1, "all")
    assert AMOUNT_CENTS_MAX == casino.book.awards[award].amount_cents
    assert (MICROCENTS_MAX // 2, -MICROCENTS_MAX) == (
        casino.microcents("meter/nexus/main"),
        casino.microcents("house/seed/nexus/main"),
    )
    casino.confirm(award)
    casino.pay(award)
    casino.end()
    casino.lock((1,), "T2")
    before = accounts(casino)
    # a second seed would carry the house's account beyond the bound
    assert Refusal.AMOUNT_OUT_OF_BOUNDS == casino.refuses(Claim(actor=DEALER, table="T2", seat=1, hand="all"))
    assert before == accounts(casino)


@pytest.mark.parametrize("hand", ["odds", "fixed"])
def test_a_pay_beyond_the_bound_is_refused(hand: str) -> None:
    """A million to one on $900,000 and a fixed pay scaled by as much: AMOUNT_OUT_OF_BOUNDS, no account changes."""
    casino = Casino(one(0, 1, wager=90_000_000))
    casino.lock((1,))
    before = accounts(casino)
    assert Refusal.AMOUNT_OUT_OF_BOUNDS == casino.refuses(Claim(actor=DEALER, table="T1", seat=1, hand=hand))
    assert before == accounts(casino)
    assert "A1" == casino.claim(1, "all")


def test_money_as_text_at_its_edges() -> None:
    """Nothing has no sign, one cent below nothing has one; the largest amount reads back, one cent more does not."""
    assert ["0.00", "0.01", "-0.01", "-1.00"] == [format_cents(cents) for cents in (0, 1, -1, -100)]
    assert AMOUNT_CENTS_MAX == parse_money(format_cents(AMOUNT_CENTS_MAX))
    assert -AMOUNT_CENTS_MAX == parse_money(format_cents(-AMOUNT_CENTS_MAX))
    with pytest.raises(ValueError, match="above the largest amount"):
        parse_money(format_cents(AMOUNT_CENTS_MAX + 1))


def test_a_link_whose_seed_is_beyond_the_bound_is_refused() -> None:
    """The largest seed opens; one cent more does not."""
    casino = Casino(one(AMOUNT_CENTS_MAX, 0))
    assert -MICROCENTS_MAX == casino.microcents("house/seed/nexus/main")
    settings = LinkSettings("other", 100, 1, ROWS, (one(AMOUNT_CENTS_MAX + 1, 0).levels[0],))
    assert Refusal.AMOUNT_OUT_OF_BOUNDS == casino.refuses(OpenLink(actor=SYSTEM, settings=settings))
    assert "other" not in casino.book.links


def test_the_largest_wager_of_a_table_is_all_seats_together() -> None:
    """Seven seats that fit one by one do not fit together: the LOCK is refused as a whole."""
    wager = AMOUNT_CENTS_MAX // 7 + 1
    casino = Casino(one(0, 1, wager=wager))
    six = tuple(WagerSeen(seat) for seat in range(1, 7))
    before = accounts(casino)
    seven = Lock(actor=DEALER, table="T1", wagers=(*six, WagerSeen(7)))
    assert Refusal.AMOUNT_OUT_OF_BOUNDS == casino.refuses(seven)
    assert before == accounts(casino)
    casino.lock(range(1, 7))
    assert -6 * wager * 1_000_000 == casino.microcents("drop/T1")
    assert 6 * wager == casino.microcents("meter/nexus/main")


def test_voids_of_a_round_return_to_one_meter() -> None:
    """VOID ROUND voids both awards of the round: what they return together is beyond the bound, so none is voided."""
    half = AMOUNT_CENTS_MAX // 2 + 1
    rows = link(level(seed="0", increment="100%", reserve=None), table=ROWS, wager="0.01", units=1)
    settings = LinkSettings("nexus", 1, half, ROWS, rows.levels)
    casino = Casino(settings, tables=3)
    casino.lock((1, 2), "T1")
    for seat, table in ((1, "T2"), (2, "T3")):
        casino.lock({1: half}, table)
        casino.claim(seat, "all", "T1")
    before = accounts(casino)
    assert Refusal.AMOUNT_OUT_OF_BOUNDS == casino.refuses(VoidRound(actor=SUPERVISOR, table="T1"))
    assert before == accounts(casino)
    casino.void("A2")


def test_a_sign_that_no_longer_shows_too_much_is_no_longer_flagged() -> None:
    """A2's sign showed more than the meter without A1; when A1 is voided it did not, and the flag goes."""
    casino = Casino(one(2_500_000, 0))
    casino.lock((1, 2))
    first = casino.claim(1, "tenth")
    second = casino.claim(2, "least", signs={"main": 2_260_000})
    assert ("0.02", True) == (casino.amount(second), casino.book.awards[second].sign_above_meter)
    casino.void(first)
    assert ("0.02", False) == (casino.amount(second), casino.book.awards[second].sign_above_meter)
