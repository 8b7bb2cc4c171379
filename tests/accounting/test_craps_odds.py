"""Craps alone rounds its odds up (CO 47.1-2306(4)); everything else is paid in whole cents, rounded down."""

from __future__ import annotations

import pytest
from accounting_build import Casino, link, paytable, percent, row

from meterd.accounting.caps import smallest_cap
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
