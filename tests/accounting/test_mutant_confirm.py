"""Proofs and second persons exactly at their thresholds; ties that a void completes; whose event an answer carries."""

from __future__ import annotations

import pytest
from accounting_build import (
    ACCOUNTANT,
    ADMINISTRATOR,
    OTHER,
    SUPERVISOR,
    Casino,
    event,
    fixed,
    level,
    link,
    paytable,
    percent,
    row,
)

from meterd.accounting.commands import (
    SYSTEM,
    Actor,
    Confirm,
    DefineTable,
    Fold,
    OpenTable,
    Role,
    SetSite,
    Undo,
    Void,
    VoidRound,
    VoidSeat,
)
from meterd.accounting.entries import Kind
from meterd.accounting.refusals import Refusal
from meterd.accounting.settings import SiteSettings, TableSettings
from meterd.paytables.model import Game

DEALER = Actor("dealer@T1", Role.DEALER)
PLAIN = paytable(row("all", percent("100%")), row("some", fixed("50.00")))
STUD = paytable(
    row("royal-flush", percent("100%")),
    row("flush", fixed("50.00")),
    evaluator="five-card",
    games=(Game("stud", "", 5),),
)
FLUSH, ROYAL = "Ac Jc 9c 4c 2c", "As Ks Qs Js Ts"


def casino(table: object = PLAIN, *, ties: str = "split", seed: str = "100", **site: int) -> Casino:
    return Casino(
        link(level(seed=seed, increment="0%", reserve=None, ties=ties), table=table),  # type: ignore[arg-type]
        site=SiteSettings("test", **site),  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(("threshold", "needed"), [(49_99, True), (50_00, True), (50_01, False)])
def test_from_the_threshold_up_a_second_person_confirms_what_no_cards_prove(threshold: int, needed: bool) -> None:
    """An award of exactly the threshold needs him, one a cent below does not."""
    house = casino(cards_above_cents=threshold)
    house.lock((1,))
    award = house.claim(1, "some")
    if needed:
        assert Refusal.SECOND_PERSON_REQUIRED is house.refuses(Confirm(actor=SUPERVISOR, award=award))
    house.do(Confirm(actor=SUPERVISOR, award=award, second=ACCOUNTANT if needed else None))
    assert "confirmed" == house.book.awards[award].state_word


def test_cards_that_make_another_hand_confirm_nothing() -> None:
    """The refusal says what they make; the right ones confirm, and stand in the entry."""
    house = casino(STUD, cards_above_cents=50_00)
    house.lock((1,))
    award = house.claim(1, "flush")
    for cards, said in ((None, "by its cards alone"), (ROYAL, "make royal-flush"), ("Ts Th 8d 6c 3s", "make nothing")):
        shown = None if cards is None else {"cards": cards}
        assert Refusal.CARDS_DISAGREE is house.refuses(Confirm(actor=SUPERVISOR, award=award, cards=shown))
        assert said in house.entries[-1].body["detail"]
    decision = house.do(Confirm(actor=SUPERVISOR, award=award, cards={"cards": FLUSH}))
    assert {"cards": FLUSH} == decision.entries[0].body["cards"]
    assert decision.entries[0].body["second"] is None


@pytest.mark.parametrize(("threshold", "needed"), [(49_99, True), (50_00, False), (50_01, False)])
def test_above_the_threshold_two_void(threshold: int, needed: bool) -> None:
    """An award of exactly the threshold one person voids alone; the same for a seat and for a round."""
    for what in ("award", "seat", "round"):
        for second in (None, ACCOUNTANT):
            house = casino(two_person_cents=threshold)
            house.lock((1, 2))
            award = house.claim(1, "some")
            command = {
                "award": Void(actor=SUPERVISOR, award=award, reason="misread", second=second),
                "seat": VoidSeat(actor=SUPERVISOR, table="T1", seat=1, second=second),
                "round": VoidRound(actor=SUPERVISOR, table="T1", second=second),
            }[what]
            if needed and second is None:
                assert Refusal.SECOND_PERSON_REQUIRED is house.refuses(command)
            else:
                decision = house.do(command)
                assert (second and second.id) == decision.entries[0].body["second"]


def test_what_two_shared_needs_two_persons_once_one_is_left_with_it() -> None:
    """Two halves of 50.00 each: one person may void either, not both at once, for the last was left with 100.00."""
    house = casino(two_person_cents=50_00)
    house.lock((1, 2))
    for seat in (1, 2):
        house.claim(seat, "all")
    # the first had all of it once, so it is known to be worth two persons; the other one never was
    assert Refusal.SECOND_PERSON_REQUIRED is house.refuses(VoidSeat(actor=SUPERVISOR, table="T1", seat=1))
    assert Refusal.SECOND_PERSON_REQUIRED is house.refuses(VoidRound(actor=SUPERVISOR, table="T1"))
    house.do(VoidSeat(actor=SUPERVISOR, table="T1", seat=2))
    assert "100.00" == house.amount("A1")


def test_a_void_completes_the_tie_of_the_others_in_the_same_answer() -> None:
    """Two of three are verified; the third is voided: both are confirmed at once, all by one press."""
    house = casino()
    house.lock((1, 2, 3))
    first, second, third = (house.claim(seat, "all") for seat in (1, 2, 3))
    house.do(Confirm(actor=SUPERVISOR, award=first))
    house.do(Confirm(actor=OTHER, award=third))
    assert ["pending"] * 3 == [house.book.awards[one].state_word for one in (first, second, third)]
    decision = house.do(Void(actor=SUPERVISOR, award=second, reason="misread", event=event(7)))
    assert [Kind.VOIDED, Kind.REVALUED, Kind.REVALUED, Kind.CONFIRMED] == [one.kind for one in decision.entries]
    assert [str(event(7)), None, None, None] == [one.event_id for one in decision.entries]
    assert [first, third] == decision.entries[-1].body["awards"]
    assert ["confirmed", "voided", "confirmed"] == [house.book.awards[one].state_word for one in (first, second, third)]
    assert ["50.00", "50.00"] == [house.amount(one) for one in (first, third)]


def test_a_tie_with_one_dead_member_is_not_completed_by_a_void() -> None:
    """One of the verified has folded where folded hands are dead: none of them is confirmed by the void of another."""
    house = Casino(link(level(seed="90", increment="0%", reserve=None, ties="split"), table=PLAIN), tables=0)
    house.do(DefineTable(actor=SYSTEM, settings=TableSettings("T1", "nexus", "Test", 7, folded_live=False)))
    house.do(OpenTable(actor=SYSTEM, table="T1"))
    house.lock((1, 2, 3))
    first, second, third = (house.claim(seat, "all") for seat in (1, 2, 3))
    for award in (first, second):
        house.do(Confirm(actor=SUPERVISOR, award=award))
    house.do(Fold(actor=DEALER, table="T1", seat=2))
    decision = house.do(Void(actor=SUPERVISOR, award=third, reason="misread"))
    assert Kind.CONFIRMED not in [one.kind for one in decision.entries]
    assert ["pending", "pending"] == [house.book.awards[one].state_word for one in (first, second)]


@pytest.mark.parametrize("second", ["sup-1", " SUP-1", "Sup-1 "])
def test_nobody_is_his_own_second_person(second: str) -> None:
    """In whatever case or with whatever blanks a badge tells the name."""
    house = casino()
    house.lock((1,))
    award = house.claim(1, "all")
    again = Actor(second, Role.SUPERVISOR)
    assert Refusal.SAME_PERSON is house.refuses(Confirm(actor=SUPERVISOR, award=award, second=again))
    house.confirm(award)
    undo = Undo(actor=ADMINISTRATOR, award=award, second=Actor(" ADM-1", Role.ADMINISTRATOR), reference="R")
    assert Refusal.SAME_PERSON is house.refuses(undo)


def test_a_threshold_put_in_force_later_holds_for_what_is_pending() -> None:
    """A claim waits; then the site asks for a second person from its amount on: it is asked for at the confirmation."""
    house = casino()
    house.lock((1,))
    award = house.claim(1, "some")
    house.do(SetSite(actor=SYSTEM, settings=SiteSettings("test", cards_above_cents=50_00)))
    assert Refusal.SECOND_PERSON_REQUIRED is house.refuses(Confirm(actor=SUPERVISOR, award=award))
