"""Figures of the worked examples that no other test shows, and the table that says where each figure is shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from accounting_build import Casino, level, link, put

ROOT = Path(__file__).parents[2]
FIGURES = ROOT / "docs" / "figures.md"


def test_two_awards_of_one_hand_three_ways() -> None:
    """A tenth and all of 52,340.00: 52,340.00 together, 53,652.00 where all comes first, 57,574.00 each alone."""
    both = []
    for ties, hands in (
        ("sequential", ("straight-flush", "royal-flush")),
        ("sequential", ("royal-flush", "straight-flush")),
        ("full_each", ("straight-flush", "royal-flush")),
    ):
        casino = Casino(link(level(ties=ties)))
        casino.lock((1, 2))
        put(casino, "52340", "3120")
        both.append(sum(casino.book.awards[casino.claim(n, hand)].amount_cents for n, hand in enumerate(hands, 1)))
    assert [5_234_000, 5_365_200, 5_757_400] == both


@pytest.mark.parametrize(
    ("overflow", "meter", "revenue"), [("next_meter", "10,200.00", 0), ("house", "10,010.00", 19_000)]
)
def test_what_arrived_above_a_limit_begins_the_next_meter_or_is_income(overflow: str, meter: str, revenue: int) -> None:
    """99,990 and 200 × $5 at 20 %, limit 100,000: pays 100,000.00; then seed, reserve (10.00), and 190.00 or not."""
    casino = Casino(link(level(reserve="1%", limit="100000", overflow=overflow), wager="5.00"))
    put(casino, "99990", "0")
    before = casino.microcents("house/revenue")
    casino.wagers(199)
    casino.lock((1,))
    assert "100,000.00" == casino.display()
    assert "100,000.00" == casino.amount(casino.claim(1, "royal-flush"))
    assert (meter, revenue) == (casino.display(), (casino.microcents("house/revenue") - before) // 1_000_000)
    assert "0.00" == casino.overflow()


def test_rounding_each_step_would_lose_a_seventh() -> None:
    """2.375 % of $1: a thousand shares are 23.75, a thousand shares in whole cents 20.00."""
    casino = Casino(link(level(seed="0", increment="2.375%", reserve=None)))
    casino.wagers(1_000)
    assert ("23.75", 2_375_000_000) == (casino.display(), casino.microcents("meter/nexus/main"))
    assert 2_000 == sum(100 * 23_750 // 1_000_000 for _ in range(1_000))


def test_the_reserve_of_a_cycle_pays_the_seed_and_leaves_thirty_thousand() -> None:
    """4 % over 38⁹ ÷ C(38, 9) wagers: 40,540.93 a cycle, 30,540.93 above the seed; 250,000 wagers pay the seed."""
    wagers = 38**9 / 163_011_640
    assert 1_013_523 == round(wagers)
    assert (40_540.93, 30_540.93) == (round(0.04 * wagers, 2), round(0.04 * wagers - 10_000, 2))
    casino = Casino(link(level(reset="reserve_funds_seed"), wager="50000.00"))
    for _ in range(2):
        casino.lock((1, 2))
        casino.end()
    casino.lock((1,))
    assert "10,000.00" == casino.reserve()  # 250,000 dollars at 4 %
    casino.claim(1, "royal-flush")
    assert ("-10,000.00", "0.00", "10,000.00") == (casino.seed(), casino.reserve(), casino.display())


def test_every_figure_is_shown_where_the_table_says() -> None:
    """Each row of docs/figures.md names a test that is there, or a page."""
    rows = [line for line in FIGURES.read_text(encoding="utf-8").splitlines() if line.startswith(("| M", "| W"))]
    assert len(rows) > 40
    for row in rows:
        places = re.findall(r"`([^`]+)`", row.rsplit("|", 2)[1])
        assert places, row
        for place in places:
            name, _, function = place.partition("::")
            found = sorted((ROOT / "tests").glob(f"*/{name}"))
            assert found, place
            if function:
                assert f"def {function}(" in found[0].read_text(encoding="utf-8"), place
