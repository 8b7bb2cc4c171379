"""A page whose levels take more than the whole wager cannot be played, whichever of them takes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from meterd.app.scenario import play
from meterd.app.scenario_parse import PageError, parse_page
from meterd.edge.files import load_paytables

LEVEL = "level nexus/{} seed 5.00 increment {} reserve {} reset seed_plus_reserve ties sequential floor none"


def page(*rates: tuple[str, str, str]) -> str:
    lines = [LEVEL.format(*rate) for rate in rates]
    table = "table T1 link nexus game let-it-ride seats 5"
    return "\n".join(["link nexus wager 1.00 paytable co/nexus/pmg-ml-02", *lines, table, "rounds T1 1 seats 1", ""])


def test_rates_of_all_levels_are_at_most_the_wager() -> None:
    """100 % of three levels with a reserve is played and leaves the house nothing; a millionth more is not played."""
    most = page(("mega", "40%", "20%"), ("major", "30%", "none"), ("minor", "9.9999%", "0.0001%"))
    text = most + "expect account house/hold/T1 0.00\n"
    found = play("page.scn", parse_page(text, "page.scn"), paytables=load_paytables(), folder=Path())
    assert found.failure is None
    more = page(("mega", "40%", "20%"), ("major", "30%", "none"), ("minor", "10%", "0.0001%"))
    with pytest.raises(PageError, match=r"page.scn:1: increments and reserves of its levels together are above 100%"):
        play("page.scn", parse_page(more, "page.scn"), paytables=load_paytables(), folder=Path())
