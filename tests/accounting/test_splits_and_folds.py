"""Split hands, hands folded after their claim, the dealer's toke, and a link's envy as a ledger keeps it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from accounting_build import (
    DEALER,
    OTHER,
    ROYAL,
    SUPERVISOR,
    Casino,
    event,
    fixed,
    frozen,
    level,
    link,
    paytable,
    row,
)

from meterd.accounting.commands import (
    SYSTEM,
    Claim,
    Confirm,
    Correct,
    DefineTable,
    EndGame,
    Fold,
    Hold,
    OpenLink,
    OpenTable,
    SetSite,
    Undo,
    Void,
    VoidSeat,
)
from meterd.accounting.commands_streak import ClaimBoard, Split
from meterd.accounting.refusals import Refusal
from meterd.accounting.settings import (
    EnvyRules,
    EnvyTo,
    EnvyTrigger,
    LinkSettings,
    Settlement,
    SiteSettings,
    SplitHand,
    TableSettings,
)
from meterd.errors import MisuseError

#: A bonus bet without a meter: $250 envy for a royal, $50 for a straight flush.
BONUS = paytable(
    row("royal-flush", fixed("1000.00", scales=False), envy="250"),
    row("straight-flush", fixed("375.00", scales=False), envy="50"),
    row("flush", fixed("10.00", scales=False)),
    split="two-hands",
    envy_scales=False,
)


def bonus(**more: Any) -> LinkSettings:
    return replace(link(table=replace(BONUS, **more), wager="5.00"), levels=())


def envy_of(casino: Casino, table: str = "T1") -> dict[int, int]:
    found: dict[int, int] = {}
    for share in casino.book.tables[table].last_envy:
        found[share.seat] = found.get(share.seat, 0) + share.cents
    return found


def split(casino: Casino, seat: int) -> None:
    casino.do(Split(actor=DEALER, table="T1", seat=seat))


# splits


def test_a_split_hand_has_a_wager_a_claim_and_an_envy_for_each_of_its_hands() -> None:
    """Two hands: the second wager is booked, both may win, the seat receives twice, a third claim is refused."""
    casino = Casino(bonus())
    casino.lock({1: 1, 2: 2, 3: 1})
    split(casino, 2)
    assert ("-30.00", "30.00") == (casino.account("drop/T1"), casino.account("house/hold/T1"))
    assert (4, 6) == (casino.book.links["nexus"].wagers, casino.book.links["nexus"].units)
    for hand in ("straight-flush", "flush"):
        casino.confirm(casino.claim(2, hand))
    assert Refusal.SEAT_ALREADY_CLAIMED is casino.refuses(Claim(actor=DEALER, table="T1", seat=2, hand="flush"))
    casino.confirm(casino.claim(1, "straight-flush"))
    casino.end()
    assert {1: 50_00, 2: 100_00, 3: 100_00} == envy_of(casino)
    assert frozen(casino.book) == frozen(casino.folded())


def test_both_wagers_of_a_split_hand_go_back() -> None:
    """VOID SEAT undoes the second wager with the first; its claims are voided."""
    casino = Casino(bonus())
    casino.lock((1, 2))
    split(casino, 1)
    casino.claim(1, "flush")
    casino.claim(1, "royal-flush")
    casino.void_seat(1)
    assert ["voided", "voided"] == [award.state_word for award in casino.book.awards.values()]
    assert ("-5.00", "5.00") == (casino.account("drop/T1"), casino.account("house/hold/T1"))
    assert (1, 1) == (casino.book.links["nexus"].wagers, casino.book.links["nexus"].units)
    assert frozen(casino.book) == frozen(casino.folded())


def test_the_board_s_hand_is_that_of_the_free_hand_of_a_split_seat() -> None:
    """Seat 1 holds a royal with one hand; the board makes a flush for its other hand and for seat 2."""
    casino = Casino(bonus())
    casino.lock((1, 2))
    split(casino, 1)
    casino.claim(1, "royal-flush")
    casino.do(ClaimBoard(actor=DEALER, table="T1", hand="flush"))
    assert [(1, "royal-flush"), (2, "flush"), (1, "flush")] == [(a.seat, a.hand) for a in casino.book.awards.values()]
    assert Refusal.SEAT_ALREADY_CLAIMED is casino.refuses(ClaimBoard(actor=DEALER, table="T1", hand="flush"))


def test_an_award_can_be_moved_to_the_free_hand_of_a_split_seat_and_no_further() -> None:
    """Keyed for seat 2, it was seat 1's second hand; then seat 1 is full."""
    casino = Casino(bonus())
    casino.lock((1, 2, 3))
    split(casino, 1)
    for seat in (1, 2, 3):
        casino.claim(seat, "flush")
    casino.correct("A2", seat=1)
    assert Refusal.SEAT_ALREADY_CLAIMED is casino.refuses(Correct(actor=SUPERVISOR, award="A3", seat=1))


@pytest.mark.parametrize(
    ("means", "claimed", "refusal"),
    [
        ("two-hands", True, Refusal.SEAT_ALREADY_CLAIMED),
        ("dead", True, Refusal.SEAT_ALREADY_CLAIMED),
        ("no-effect", True, None),
        ("two-hands", False, None),
    ],
)
def test_a_hand_that_has_its_award_is_not_split_where_that_matters(
    means: str, claimed: bool, refusal: Refusal | None
) -> None:
    """Where a split changes nothing it is only noted; a second time it is ALREADY_DONE."""
    casino = Casino(bonus(split=means))
    casino.lock((1,))
    if claimed:
        casino.claim(1, "flush")
    command = Split(actor=DEALER, table="T1", seat=1)
    if refusal is not None:
        assert refusal is casino.refuses(command)
        casino.void("A1")
    casino.do(command)
    assert Refusal.ALREADY_DONE is casino.refuses(command)


def test_a_split_hand_that_is_dead_wins_nothing_and_receives() -> None:
    """As the Super Bonus of Spanish 21."""
    casino = Casino(bonus(split="dead"))
    casino.lock((1, 2))
    split(casino, 1)
    assert Refusal.HAND_NOT_IN_PAYTABLE is casino.refuses(Claim(actor=DEALER, table="T1", seat=1, hand="flush"))
    casino.confirm(casino.claim(2, "royal-flush"))
    assert Refusal.SEAT_ALREADY_CLAIMED is casino.refuses(ClaimBoard(actor=DEALER, table="T1", hand="flush"))
    casino.end()
    assert {1: 250_00} == envy_of(casino)


def test_a_split_is_forgotten_with_its_round() -> None:
    """The next round begins with one hand for each seat."""
    casino = Casino(bonus())
    casino.lock((1,))
    split(casino, 1)
    casino.end()
    casino.lock((1,))
    casino.claim(1, "flush")
    assert Refusal.SEAT_ALREADY_CLAIMED is casino.refuses(Claim(actor=DEALER, table="T1", seat=1, hand="flush"))


def test_a_link_with_a_meter_takes_no_second_wager() -> None:
    """After LOCK nothing goes into a meter; a configuration that says otherwise must have been refused."""
    settings = link(table=replace(ROYAL, split="two-hands"))
    with pytest.raises(MisuseError, match="a meter takes nothing then"):
        Casino(settings)
    assert SplitHand.DEAD is replace(settings, split=SplitHand.DEAD).split_hand


# folds after a claim


def dead_table() -> Casino:
    casino = Casino(link(level(ties="split")), tables=0)
    casino.do(DefineTable(actor=SYSTEM, settings=TableSettings("T1", "nexus", "Test", 7, folded_live=False)))
    casino.do(OpenTable(actor=SYSTEM, table="T1"))
    casino.lock((1, 2, 3))
    return casino


def test_a_hand_folded_after_its_claim_is_never_confirmed() -> None:
    """Not by a supervisor, not with a tie; a void of it leaves the others as if it had never been claimed."""
    casino = dead_table()
    casino.claim(1, "royal-flush")
    casino.claim(2, "royal-flush")
    casino.confirm("A1")  # verified; waits for A2
    casino.do(Fold(actor=DEALER, table="T1", seat=1))
    assert Refusal.SEAT_FOLDED is casino.refuses(Confirm(actor=SUPERVISOR, award="A1"))
    assert Refusal.SEAT_FOLDED is casino.refuses(Confirm(actor=SUPERVISOR, award="A2"))
    casino.void("A1")
    casino.confirm("A2")
    casino.end()
    assert ("10,000.60", {1: 1000_00, 3: 1000_00}) == (casino.amount("A2"), envy_of(casino))


def test_a_void_does_not_complete_a_tie_with_a_folded_member() -> None:
    """Both members were verified or voided, yet the one that folded may not be confirmed by that."""
    casino = dead_table()
    casino.claim(1, "royal-flush")
    casino.claim(2, "royal-flush")
    casino.confirm("A1")
    casino.do(Fold(actor=DEALER, table="T1", seat=1))
    casino.void("A2")
    assert "pending" == casino.book.awards["A1"].state_word
    assert Refusal.SEAT_FOLDED is casino.refuses(Confirm(actor=SUPERVISOR, award="A1"))


def test_a_confirmed_award_refuses_the_fold_until_two_people_undo_it() -> None:
    """The hand was verified; what stands is not taken away by a key."""
    casino = dead_table()
    casino.confirm(casino.claim(1, "straight-flush"))
    fold = Fold(actor=DEALER, table="T1", seat=1)
    assert Refusal.ROUND_HAS_CONFIRMED_AWARD is casino.refuses(fold)
    casino.do(Undo(actor=SUPERVISOR, award="A1", second=OTHER, reference="R"))
    casino.do(fold)
    casino.end()
    assert {} == envy_of(casino)


def test_an_award_of_a_folded_hand_may_be_held_over_the_round_and_still_not_be_confirmed() -> None:
    """Who folded is remembered as long as an award of the round is open."""
    casino = dead_table()
    casino.claim(1, "royal-flush")
    casino.do(Fold(actor=DEALER, table="T1", seat=1))
    casino.do(Hold(actor=SUPERVISOR, award="A1"))
    casino.end()
    assert Refusal.SEAT_FOLDED is casino.refuses(Confirm(actor=SUPERVISOR, award="A1"))
    casino.do(Void(actor=SUPERVISOR, award="A1", reason="folded"))
    assert "10,000.60" == casino.display()
    assert frozen(casino.book) == frozen(casino.folded())


# tokes


@pytest.mark.parametrize(("scales", "expected"), [(False, 250_00), (True, 500_00)])
def test_the_dealer_s_toke_follows_the_wager_of_the_hand_that_won_where_it_scales(scales: bool, expected: int) -> None:
    """Printed for $5; seat 2 wagers two units. No seat receives anything."""
    casino = Casino(bonus(envy_to="dealer", envy_scales=scales, wager_cents=500, split="no-effect"))
    casino.lock({1: 1, 2: 2})
    casino.claim(2, "royal-flush")
    assert expected == casino.book.awards["A1"].envy_cents
    casino.confirm("A1")
    casino.end()
    assert ({}, expected) == (envy_of(casino), casino.book.tables["T1"].last_toke_cents)
    assert frozen(casino.book) == frozen(casino.folded())
    casino.lock((1,))
    assert 0 == casino.book.tables["T1"].last_toke_cents


def test_a_hand_whose_wager_went_back_gives_no_toke() -> None:
    """As it gives no envy."""
    casino = Casino(bonus(envy_to="dealer"))
    casino.lock((1, 2))
    casino.claim(2, "royal-flush")
    casino.do(VoidSeat(actor=SUPERVISOR, table="T1", seat=2))
    casino.end()
    assert 0 == casino.book.tables["T1"].last_toke_cents


def test_tokes_count_towards_the_threshold_of_end_game() -> None:
    """Above it a supervisor ends the round."""
    casino = Casino(bonus(envy_to="dealer"), site=SiteSettings("test", envy_confirm_above_cents=249_99))
    casino.lock((1,))
    casino.confirm(casino.claim(1, "royal-flush"))
    assert Refusal.NOT_AUTHORISED is casino.refuses(EndGame(actor=DEALER, table="T1"))
    casino.do(EndGame(actor=SUPERVISOR, table="T1"))


# the board, and what is printed


@pytest.mark.parametrize(
    ("triggers", "hands", "expected"),
    [
        (False, {}, {}),
        (True, {}, {1: 500_00, 2: 500_00, 3: 500_00}),
        (False, {1: "royal-flush"}, {2: 250_00, 3: 250_00}),
    ],
)
def test_whether_the_board_s_hand_gives_envy_is_the_link_s_setting(
    triggers: bool, hands: dict[int, str], expected: dict[int, int]
) -> None:
    """Unless said it is nobody's hand; a hand of one's own in the same row gives."""
    casino = Casino(replace(bonus(), board_triggers=triggers))
    casino.lock((1, 2, 3))
    for seat, hand in hands.items():
        casino.claim(seat, hand)
    casino.do(ClaimBoard(actor=DEALER, table="T1", hand="royal-flush"))
    for award in casino.book.awards:
        casino.confirm(award)
    casino.end()
    assert expected == envy_of(casino)


def test_an_award_corrected_to_a_hand_of_its_own_is_no_longer_the_board_s() -> None:
    """Seat 3 holds more than the board: its hand gives envy."""
    casino = Casino(bonus())
    casino.lock((1, 3))
    casino.do(ClaimBoard(actor=DEALER, table="T1", hand="straight-flush"))
    casino.correct("A1", hand="royal-flush")
    assert (250_00, False) == (casino.book.awards["A1"].envy_cents, casino.book.awards["A1"].common)
    for award in casino.book.awards:
        casino.confirm(award, by=OTHER)
    casino.end()
    assert {1: 250_00} == envy_of(casino)


@pytest.mark.parametrize(
    ("old", "expected"),
    [
        ({"envy_trigger": "all", "envy_min_cents": 0}, (None, None)),
        ({"envy_trigger": "highest", "envy_min_cents": 500}, (EnvyTrigger.HIGHEST, 500)),
        ({}, (None, None)),
    ],
)
def test_a_link_of_an_older_ledger_means_what_its_pay_table_prints(
    old: dict[str, Any], expected: tuple[Any, Any]
) -> None:
    """Before there was a word for "as printed", its entry said "all" and 0."""
    data = link().to_json()
    for key in ("envy_trigger", "envy_min_cents", "envy_to", "board_triggers", "split"):
        del data[key]
    read = LinkSettings.from_json({**data, **old})
    assert expected == (read.envy_trigger, read.envy_min_cents)
    assert (None, False, None) == (read.envy_to, read.board_triggers, read.split)


def test_the_settings_of_a_link_come_back_from_their_entry() -> None:
    """Every word of envy and splits, also "all" where the pay table prints "highest"."""
    settings = replace(
        link(table=replace(ROYAL, envy_trigger="highest", envy_min_cents=500, envy_to="dealer")),
        envy_trigger=EnvyTrigger.ALL,
        envy_min_cents=0,
        envy_to=EnvyTo.PLAYERS,
        board_triggers=True,
        split=SplitHand.DEAD,
    )
    again = LinkSettings.from_json(json.loads(json.dumps(settings.to_json())))
    assert settings == again
    assert EnvyRules(EnvyTrigger.ALL, 0, EnvyTo.PLAYERS, board_triggers=True) == again.envy


def test_a_table_of_an_older_ledger_is_settled_counter_clockwise() -> None:
    """Its entry has no word for it."""
    data = TableSettings("T1", "nexus", "Test", 7).to_json()
    del data["settlement"]
    assert Settlement.COUNTER_CLOCKWISE is TableSettings.from_json(data).settlement


def test_opening_a_link_without_a_level_puts_up_nothing() -> None:
    """A bonus bet has no seed."""
    casino = Casino(tables=0)
    casino.do(SetSite(actor=SYSTEM, settings=SiteSettings("other")))
    casino.do(OpenLink(actor=SYSTEM, settings=replace(bonus(), id="bonus")))
    assert (0, ()) == (casino.book.liability_microcents("bonus"), casino.entries[-1].postings)


def test_a_hand_from_the_board_says_that_it_gives_nothing() -> None:
    """And the entry carries the event of the key, so that it counts once."""
    casino = Casino(bonus())
    casino.lock((1, 2))
    casino.do(ClaimBoard(actor=DEALER, table="T1", hand="royal-flush", event=event(1)))
    assert [0, 0] == [award.envy_cents for award in casino.book.awards.values()]
    assert str(event(1)) == casino.entries[-1].event_id


def test_a_hand_without_envy_is_no_toke_of_nothing() -> None:
    """END GAME lists only what is handed out."""
    casino = Casino(bonus(envy_to="dealer"))
    casino.lock((1,))
    casino.confirm(casino.claim(1, "flush"))
    casino.end()
    assert [] == casino.entries[-1].body["tokes"]
