"""Levels at their edges: a limit met exactly, a reset within it, overflow in a circle; what a void tells."""

from __future__ import annotations

from typing import Any

import pytest
from accounting_build import (
    ACCOUNTANT,
    ADMINISTRATOR,
    DEALER,
    OTHER,
    ROYAL,
    SUPERVISOR,
    Casino,
    fixed,
    level,
    link,
    paytable,
    percent,
    row,
)

from meterd.accounting.commands import Confirm, Lock, Undo, Void, WagerSeen
from meterd.accounting.commands_links import Adjust
from meterd.accounting.entries import Kind
from meterd.accounting.meter import LinkRules
from meterd.accounting.refusals import Refusal
from meterd.errors import MisuseError

TWO = paytable(row("all", percent("100%", "a")), row("some", fixed("5.00", from_meter=True, level="b")))


def test_a_meter_filled_exactly_to_its_limit_has_no_surplus() -> None:
    """Two wagers of 20 cents each fit a limit 40 cents above the seed; a third one's share all lies above it."""
    casino = Casino(link(level(seed="10", reserve=None, limit="10.40", overflow="next_meter")))
    casino.lock((1, 2))
    assert "over" not in casino.entries[-1].body
    assert ("10.40", "0.00") == (casino.display(), casino.overflow())
    casino.end()
    casino.lock((4,))
    assert {"main": {"4": 20_000_000}} == casino.entries[-1].body["over"]
    assert ("10.40", "0.20") == (casino.display(), casino.overflow())


def test_only_seats_whose_share_does_not_fit_have_a_surplus() -> None:
    """30 cents of room: the first seat's 20 fit, of the second's 10, of the third's none."""
    casino = Casino(link(level(seed="10", reserve=None, limit="10.30", overflow="house")))
    casino.lock((1, 2, 3))
    assert {"main": {"2": 10_000_000, "3": 20_000_000}} == casino.entries[-1].body["over"]
    assert ("10.30", "0.30") == (casino.display(), casino.account("house/revenue"))


def test_a_reset_never_passes_the_limit() -> None:
    """The limit is the seed: what of a cent is left in the meter, and the reserve, take their room from the house."""
    reset = "reserve_funds_seed"
    casino = Casino(
        link(level(seed="10", increment="0.3333%", reserve="5%", reset=reset, limit="10", overflow="next_meter"))
    )
    casino.lock((1, 2))
    casino.end()
    casino.lock((1,))
    award = casino.claim(1, "straight-flush")  # a tenth: 1.00 leaves, the overflow stays apart
    assert "1.00" == casino.amount(award)
    casino.confirm(award)
    casino.end()
    casino.rounds(1, (1,), "T2")
    casino.lock((1,))
    award = casino.claim(1, "royal-flush")
    assert casino.microcents("meter/nexus/main") <= 10 * 100 * 1_000_000
    assert "10.00" == casino.display()
    assert casino.microcents("house/seed/nexus/main") < -10 * 100 * 1_000_000
    assert "0.00" == casino.reserve()


def test_an_adjustment_is_gone_with_the_reset() -> None:
    """What was put in by hand may be taken out again, until the meter was won; then nothing of it is left to take."""
    casino = Casino(link(level(seed="10", reserve=None)))
    people: dict[str, Any] = {"actor": ADMINISTRATOR, "second": ACCOUNTANT, "reference": "R-1"}
    casino.do(Adjust(**people, level="nexus/main", cents=50))
    casino.do(Adjust(**people, level="nexus/main", cents=-1))
    casino.lock((1,))
    casino.confirm(casino.claim(1, "royal-flush"))
    casino.end()
    casino.wagers(5)
    assert Refusal.AMOUNT_OUT_OF_BOUNDS is casino.refuses(Adjust(**people, level="nexus/main", cents=-1))
    assert 0 == casino.book.counts_by_key["nexus/main"].adjusted


@pytest.mark.parametrize("ways", [("b", "c", "b"), ("b", "a", "house"), ("b", "c", "c"), ("nope", "house", "house")])
def test_overflow_in_a_circle_or_to_nowhere_is_refused(ways: tuple[str, ...]) -> None:
    """Also where the circle does not come back to the level it was followed from."""
    levels = [
        level(name, seed="1", increment="1%", limit="2", overflow=way if way == "house" else f"level:{way}")
        for name, way in zip("abc", ways, strict=True)
    ]
    table = paytable(row("all", percent("100%", "a")))
    with pytest.raises(MisuseError):
        LinkRules.of(link(*levels, table=table))


def test_a_fixed_pay_out_of_a_level_that_is_not_there_is_refused() -> None:
    """As a share of one: both are asked of a level by its name, and a pay of the house is asked of none."""
    a, b = level("a", increment="1%"), level("b", increment="1%")
    assert "b" in LinkRules.of(link(a, b, table=TWO)).levels
    with pytest.raises(MisuseError):
        LinkRules.of(link(a, table=TWO))
    of_house = paytable(row("all", percent("100%", "a")), row("some", fixed("5.00", level="b")))
    assert ["a"] == list(LinkRules.of(link(a, table=of_house)).levels)


def test_a_void_tells_of_the_rounds_it_changed_and_no_others() -> None:
    """A tie of T1 loses a member: the entry tells T1's round anew, not the tie of T2, which stays."""
    casino = Casino(
        link(
            level("a", seed="9", increment="0%", reserve=None, ties="split"),
            level("b", seed="9", increment="0%", reserve=None, ties="split"),
            table=paytable(row("a", percent("100%", "a")), row("b", percent("100%", "b"))),
        )
    )
    casino.lock((1, 2, 3), "T1")
    casino.lock((1, 2), "T2")
    first = [casino.claim(seat, "a") for seat in (1, 2, 3)]
    for seat in (1, 2):
        casino.claim(seat, "b", "T2")
    decision = casino.do(Void(actor=SUPERVISOR, award=first[1], reason="misread"))
    assert {"T1#1"} == set(decision.entries[0].body["marks"])
    assert {} == decision.entries[0].body["sent"]
    assert {first[0], first[2]} <= set(decision.entries[0].body["awards"])
    assert ["4.50", "4.50"] == [casino.amount(first[0]), casino.amount(first[2])]


def test_each_member_of_a_tie_is_confirmed_by_who_verified_it() -> None:
    """Two supervisors verify a half each; the award of each names its own, and neither is held any longer."""
    casino = Casino(link(level(seed="10", increment="0%", reserve=None, ties="split"), table=ROYAL))
    casino.lock((1, 2))
    awards = [casino.claim(seat, "royal-flush") for seat in (1, 2)]
    for award, supervisor in zip(awards, (SUPERVISOR, OTHER), strict=True):
        casino.do(Confirm(actor=supervisor, award=award))
    found = [casino.book.awards[award] for award in awards]
    assert [("sup-1", "confirmed", False), ("sup-2", "confirmed", False)] == [
        (one.confirmed_by, one.state_word, one.held) for one in found
    ]


def test_an_award_undone_says_so() -> None:
    """It is voided and undone, and neither held nor owed any more."""
    casino = Casino(link(level(seed="10", increment="0%", reserve=None), table=ROYAL))
    casino.lock((1,))
    award = casino.claim(1, "royal-flush")
    casino.confirm(award)
    casino.do(Undo(actor=ADMINISTRATOR, award=award, second=ACCOUNTANT, reference="R"))
    found = casino.book.awards[award]
    assert ("voided", True, False) == (found.state_word, found.undone, found.held)
    assert award not in casino.book.open_awards


def test_a_seat_without_chip_at_the_end_is_told_once() -> None:
    """A LOCK of seats that cannot all be: those that can are in, each of the others has an entry with its reason."""
    casino = Casino(link(units=2))
    decision = casino.do(
        Lock(
            actor=DEALER,
            table="T1",
            wagers=(WagerSeen(1), WagerSeen(2, 3), WagerSeen(3, base=False), WagerSeen(9), WagerSeen(4), WagerSeen(4)),
        )
    )
    told = [(entry.kind, entry.body["keyed"]["seat"], entry.body["refusal"]) for entry in decision.entries[1:]]
    assert [
        (Kind.UNREASONABLE, 2, "UNREASONABLE_CONTRIBUTION"),
        (Kind.REFUSED, 3, "NO_BASE_WAGER"),
        (Kind.UNREASONABLE, 9, "UNREASONABLE_CONTRIBUTION"),
        (Kind.UNREASONABLE, 4, "UNREASONABLE_CONTRIBUTION"),
        (Kind.UNREASONABLE, 4, "UNREASONABLE_CONTRIBUTION"),
    ] == told
    assert {1: 1} == {seat: wager.units for seat, wager in casino.book.tables["T1"].wagers.items()}


@pytest.mark.parametrize("at_once", [True, False])
def test_a_round_voided_at_once_is_voided_one_by_one(at_once: bool) -> None:
    """Two misread hands of T1, and between them all that may happen on a link: wagers, wagers given back, an undo."""
    table = paytable(
        row("all", percent("100%")), row("tenth", percent("10%")), row("flat", fixed("3.00", from_meter=True))
    )
    levels = level(seed="100", increment="20%", reserve="4%", limit="101", overflow="next_meter")
    casino = Casino(link(levels, table=table))
    casino.lock((1, 2, 3), "T1")
    casino.lock((1, 2, 3, 4), "T2")
    first = casino.claim(1, "tenth", "T1")
    flat = casino.claim(1, "flat", "T2")
    casino.confirm(flat)
    casino.claim(2, "all", "T1")
    casino.do(Undo(actor=ADMINISTRATOR, award=flat, second=ACCOUNTANT, reference="R"))
    casino.void_seat(3, "T2")
    casino.end("T2")
    casino.lock((5, 6), "T2")
    third = casino.claim(3, "flat", "T1")
    if not at_once:
        for award in (third, "A3", first):
            casino.void(award)
    casino.void_round("T1")
    # five wagers stand; those of T1, which had come first, lay in the meter, and what came last lies above the limit
    assert ("100.40", "0.20", "0.60") == (casino.display(), casino.reserve(), casino.overflow())
    assert {"voided"} == {award.state_word for award in casino.book.awards.values()}
    assert "0.00" == casino.account("house/pays/T1")
    assert casino.folded().balances == casino.book.balances
