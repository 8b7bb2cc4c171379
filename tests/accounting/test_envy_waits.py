"""With ``highest``, what envy is handed out does not depend on which held award of a round is confirmed first (M9)."""

from __future__ import annotations

import pytest
from accounting_build import OTHER, SUPERVISOR, Casino, fixed, frozen, link, paytable, percent, row

from meterd.accounting.commands import Hold

#: Fixed pays, which may be confirmed in any order.
FIXED = paytable(
    row("all", percent("100%")),
    row("royal-flush", fixed("500"), envy="1000"),
    row("straight-flush", fixed("50"), envy="300"),
    envy_trigger="highest",
)


def held(*hands: str) -> Casino:
    """Seats from 1 have these hands, disputed; one seat more receives. The round has ended."""
    casino = Casino(link(table=FIXED))
    casino.lock(tuple(range(1, len(hands) + 2)))
    for seat, hand in enumerate(hands, 1):
        casino.do(Hold(actor=SUPERVISOR, award=casino.claim(seat, hand)))
    casino.end()
    return casino


@pytest.mark.parametrize("order", [("A1", "A2"), ("A2", "A1")])
def test_the_order_of_confirmation_changes_no_envy(order: tuple[str, str]) -> None:
    """A straight flush and a royal: the royal's envy alone, for two seats, whichever is confirmed first."""
    casino = held("straight-flush", "royal-flush")
    for award in order:
        casino.confirm(award)
    assert "2,000.00" == casino.account("paid/T1")


def test_the_envy_that_waited_is_handed_out_when_the_higher_hand_is_voided() -> None:
    """The royal was none: the straight flush gives, in the answer to the void, and once."""
    casino = held("straight-flush", "royal-flush", "royal-flush")
    casino.confirm("A1")
    casino.void("A2")
    assert "0.00" == casino.account("paid/T1")
    casino.void("A3")
    assert "900.00" == casino.account("paid/T1")
    assert frozen(casino.book) == frozen(casino.folded())


def test_the_envy_that_waited_is_handed_out_when_the_higher_hand_is_corrected() -> None:
    """Corrected to the same hand, both give; the second with its own confirmation."""
    casino = held("straight-flush", "royal-flush")
    casino.confirm("A1")
    casino.correct("A2", "straight-flush", by=OTHER)
    assert "600.00" == casino.account("paid/T1")
    casino.confirm("A2")
    assert "1,200.00" == casino.account("paid/T1")
