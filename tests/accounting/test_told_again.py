"""What a round fixes and an undo finds again: bases of full awards, shares of ties, states of old ledgers."""

from __future__ import annotations

from accounting_build import ACCOUNTANT, ADMINISTRATOR, ROYAL, THBP_6, Casino, level, link

from meterd.accounting.awards import LinkMoney
from meterd.accounting.commands import Undo


def test_full_each_counts_from_the_first_claim_of_any_kind() -> None:
    """A fixed pay out of the meter comes first: the tenth and the whole after it are of what the meter showed then."""
    casino = Casino(link(level(seed="1000", reserve=None, ties="full_each"), table=THBP_6, wager="5.00"))
    casino.lock((1, 2, 3))
    awards = [casino.claim(seat, hand) for seat, hand in ((1, "flush"), (2, "straight-flush"), (3, "royal-flush"))]
    assert ["300.00", "100.30", "1,003.00"] == [casino.amount(award) for award in awards]
    # the meter had 1,003.00: 300.00 and 100.30 came out of it, then what was left; the house paid the rest
    assert "-400.30" == casino.account("house/pays/T1")
    casino.void(awards[0])
    assert ["100.30", "1,003.00"] == [casino.amount(award) for award in awards[1:]]
    assert "-100.30" == casino.account("house/pays/T1")


def test_a_share_of_a_tie_undone_gives_back_what_of_it_the_meter_paid() -> None:
    """Two halves, of which a sign made the house pay a cent: the first is undone, its half goes back to the meter."""
    casino = Casino(link(level(seed="10", increment="0%", reserve=None, ties="split"), table=ROYAL))
    casino.lock((1, 2))
    first = casino.claim(1, "royal-flush", signs={"main": 1_002})
    second = casino.claim(2, "royal-flush")
    for award in (first, second):
        casino.confirm(award)
    assert ("5.01", "5.01", "-0.02") == (casino.amount(first), casino.amount(second), casino.account("house/pays/T1"))
    for award, meter, house in ((first, "5.00", "-0.01"), (second, "10.00", "0.00")):
        casino.do(Undo(actor=ADMINISTRATOR, award=award, second=ACCOUNTANT, reference="R"))
        assert (meter, house) == (casino.display(), casino.account("house/pays/T1"))
    assert "-10.00" == casino.seed()


def test_a_state_stored_before_limits_and_adjustments_could_change_is_read() -> None:
    """Without those words a level has the limit of its settings, and no adjustment."""
    casino = Casino(link(level(seed="1000", limit="2000", overflow="next_meter")))
    casino.lock((1,))
    rules = casino.book.links["nexus"].rules
    stored = casino.book.money("nexus").to_json()
    assert LinkMoney.from_json(rules, stored).levels == casino.book.money("nexus").levels
    old = {
        key: value for key, value in stored["levels"]["main"].items() if key not in {"limit_microcents", "overflow_to"}
    }
    old.pop("adjusted_microcents", None)
    read = LinkMoney.from_json(rules, {**stored, "levels": {"main": old}}).levels["main"]
    assert (rules.levels["main"], 0) == (read.rules, read.adjusted)
    assert casino.book.money("nexus").levels["main"] == read
