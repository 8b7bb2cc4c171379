"""Craps alone rounds its odds up (CO 47.1-2306(4)); everything else is paid in whole cents, rounded down."""

from __future__ import annotations

from dataclasses import replace

import pytest
from accounting_build import Casino, link, paytable, percent, row

from meterd.accounting.awards import odds_cents
from meterd.accounting.caps import cap_problem, smallest_cap
from meterd.accounting.settings import TableSettings
from meterd.paytables.model import Pay, PayKind


@pytest.mark.parametrize(
    ("kind", "units", "to", "for_"),
    [("craps", 1, "2.17", "1.17"), ("progressive", 1, "2.16", "1.16"), ("craps", 6, "13.00", "7.00")],
)
def test_odds_that_come_out_uneven(kind: str, units: int, to: str, for_: str) -> None:
    """7 to 6, and 7 for 6, on $1 and on $6; the wager that comes back is never rounded."""
    table = paytable(
        row("place-6", Pay(PayKind.ODDS_TO, n=7, d=6)),
        row("seven-for-six", Pay(PayKind.ODDS_FOR, n=7, d=6)),
        row("all", percent("100%")),
        kind=kind,
    )
    casino = Casino(link(table=table, units=6))
    casino.lock({1: units, 2: units})
    assert (to, for_) == (casino.amount(casino.claim(1, "place-6")), casino.amount(casino.claim(2, "seven-for-six")))


def test_the_smallest_limit_is_rounded_as_the_odds_are() -> None:
    """501 to 10 on 3 cents is 1.503: craps pays 1.51, so a limit of 1.50 would be below its highest odds."""
    pay = Pay(PayKind.ODDS_TO, n=501, d=10)
    tables = [paytable(row("long", pay), kind=kind) for kind in ("craps", "progressive")]
    assert [151, 150] == [smallest_cap(table, "Test", 3) for table in tables]


def test_odds_go_up_to_the_lowest_chip_unless_they_are_even_dollars() -> None:
    """7 to 6 in cents, half dollars, dollars and fives; on $6 it is an even $7 whatever the chip."""
    table, pay = paytable(row("all", percent("100%")), kind="craps"), Pay(PayKind.ODDS_TO, n=7, d=6)
    assert [117, 150, 200, 500] == [odds_cents(table, pay, 100, chip) for chip in (1, 50, 100, 500)]
    assert [700, 700, 700, 700] == [odds_cents(table, pay, 600, chip) for chip in (1, 50, 100, 500)]
    assert 116 == odds_cents(replace(table, kind="progressive"), pay, 100, 500)


def test_a_limit_below_the_odds_in_chips_is_refused() -> None:
    """501 to 10 on $1 is 50.10: 51.00 where the lowest chip is a dollar, and no limit below that can be posted."""
    table = paytable(row("long", Pay(PayKind.ODDS_TO, n=501, d=10)), kind="craps")
    assert [5010, 5100] == [smallest_cap(table, "Test", 100, chip) for chip in (1, 100)]
    settings = TableSettings("T1", "nexus", "Test", 7, cap_table_cents=5099, lowest_chip_cents=100)
    assert cap_problem(link(table=table), settings) is not None
    assert cap_problem(link(table=table), replace(settings, lowest_chip_cents=1)) is None


def test_a_table_from_before_chips_has_chips_of_a_cent() -> None:
    """An entry that names neither chip nor source of numbers means what it meant then."""
    data = TableSettings("T1", "nexus", "Test", 7).to_json()
    old = {key: value for key, value in data.items() if key not in {"numbers", "lowest_chip_cents"}}
    assert TableSettings("T1", "nexus", "Test", 7) == TableSettings.from_json(old)
