"""Craps alone rounds its odds up (CO 47.1-2306(4)); everything else is paid in whole cents, rounded down."""

from __future__ import annotations

import pytest
from accounting_build import Casino, link, paytable, percent, row

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
