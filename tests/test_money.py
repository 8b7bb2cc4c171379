"""Money: exact, bounded, never rounded but where a rule says so."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meterd import money

CENTS = st.integers(0, money.AMOUNT_CENTS_MAX)


def test_two_point_three_seven_five_percent_of_a_thousand_dollars_is_exact() -> None:
    """1,000 wagers of $1 at 2.375 % are $23.75 to the microcent; rounding each would give $20.00."""
    total = sum(money.contribution_microcents(100, money.parse_rate("2.375%")) for _ in range(1000))
    assert total == 2_375 * money.MICROCENTS_PER_CENT


@given(CENTS, st.integers(0, money.PPM_PER_WHOLE))
def test_a_contribution_is_the_exact_share(cents: int, ppm: int) -> None:
    """No rounding: the microcents are the wager times the rate."""
    exact = Fraction(cents) * Fraction(ppm, 1_000_000) * money.MICROCENTS_PER_CENT
    assert money.contribution_microcents(cents, ppm) == exact


@given(st.integers(0, money.MICROCENTS_MAX))
def test_a_payout_is_whole_cents_rounded_down(microcents: int) -> None:
    """What is paid never exceeds the meter, and less than a cent stays."""
    paid = money.to_microcents(money.whole_cents(microcents))
    assert 0 <= microcents - paid < money.MICROCENTS_PER_CENT


@given(st.integers(0, money.MICROCENTS_MAX), st.integers(0, money.PPM_PER_WHOLE))
def test_a_percent_award_is_a_share_of_the_cents_on_the_sign(microcents: int, ppm: int) -> None:
    """Ten percent of a sign that shows $52,340.99 is $5,234.09; the hidden fraction of a cent plays no part."""
    shown = microcents // money.MICROCENTS_PER_CENT
    assert money.percent_cents(microcents, ppm) == Fraction(shown) * ppm // 1_000_000


@given(st.integers(-money.AMOUNT_CENTS_MAX, money.AMOUNT_CENTS_MAX))
def test_an_amount_reads_back_as_it_was_written(cents: int) -> None:
    """Formatting and parsing are inverse, with and without thousands marks."""
    text = money.format_cents(cents)
    assert money.parse_money(text) == money.parse_money(text.replace(",", "")) == cents


@given(st.integers(0, money.PPM_PER_WHOLE))
def test_a_rate_reads_back_as_it_was_written(ppm: int) -> None:
    """Four decimals of a percent are all there are."""
    assert money.parse_rate(money.format_rate(ppm)) == ppm


@pytest.mark.parametrize(
    "text",
    ["", "1.234", "1,23", "1e3", "nan", "inf", "٣", "$1", "1_000", "--1", "90000000000.01", "1,0000.00", "1.2.3", "+1"],
)
def test_what_is_no_amount_in_whole_cents_is_refused(text: str) -> None:
    """A fraction of a cent, a figure beyond the bound, another alphabet's digits: refused, never converted."""
    with pytest.raises(ValueError, match="amount"):
        money.parse_money(text)


@pytest.mark.parametrize("text", ["", "12", "12.34567%", "100.0001%", "101%", "-1%", "١%", "1e1%"])
def test_a_rate_finer_than_four_decimals_or_above_the_whole_is_refused(text: str) -> None:
    """Refused, never rounded."""
    with pytest.raises(ValueError, match=r"rate|above"):
        money.parse_rate(text)


def test_the_largest_amount_fits_the_ledgers_integer() -> None:
    """The bound in microcents is below 2^63."""
    assert money.MICROCENTS_MAX < 2**63
    with pytest.raises(ValueError, match="negative"):
        money.whole_cents(-1)


@given(st.text(max_size=12))
def test_any_text_is_an_amount_or_a_named_error(text: str) -> None:
    """No other exception comes out of the parsers."""
    for parse in (money.parse_money, money.parse_rate):
        try:
            assert type(parse(text)) is int
        except ValueError as error:
            assert str(error) != ""  # noqa: PT017 - the message itself is the claim
