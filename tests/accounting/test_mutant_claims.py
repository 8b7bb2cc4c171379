"""Claims: hand and cards together, what pays nothing, the order of settlement, what an entry of a claim tells."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from accounting_build import (
    ACCOUNTANT,
    ADMINISTRATOR,
    DEALER,
    SUPERVISOR,
    Casino,
    fixed,
    level,
    link,
    paytable,
    percent,
    row,
)

from meterd.accounting.commands import SYSTEM, Claim, DefineTable, Lock, OpenTable, Undo, Void, WagerSeen
from meterd.accounting.commands_links import Adjust
from meterd.accounting.commands_streak import ClaimBoard
from meterd.accounting.entries import Entry, Kind
from meterd.accounting.refusals import Refusal
from meterd.accounting.rules import decide
from meterd.accounting.settings import Settlement, SiteSettings, TableSettings
from meterd.money import AMOUNT_CENTS_MAX
from meterd.paytables.model import Game, Pay, PayKind

ROYAL, FLUSH, PAIR, HIGH = "As Ks Qs Js Ts", "Ac Jc 9c 4c 2c", "Ts Th 8d 6c 3s", "As Jh 9d 6c 3s"

STUD = paytable(
    row("royal-flush", percent("100%")),
    replace(row("flush", fixed("50.00")), also="suited"),
    row("pair", Pay(PayKind.LOSS), envy="5"),
    row("high-card", Pay(PayKind.LOSS)),
    row("three-of-a-kind", Pay(PayKind.LOSS), fixed("3.00")),
    evaluator="five-card",
    games=(Game("stud", "", 5),),
)


def stud(**table: Any) -> Casino:
    casino = Casino(link(level(seed="1000", increment="20%", reserve=None), table=STUD), tables=0)
    casino.do(DefineTable(actor=SYSTEM, settings=TableSettings("T1", "nexus", "Test", 7, **table)))
    casino.do(OpenTable(actor=SYSTEM, table="T1"))
    casino.lock((1, 2, 3))
    return casino


@pytest.mark.parametrize(
    ("hand", "cards", "said"),
    [
        ("royal-flush", ROYAL, None),
        ("suited", FLUSH, None),
        ("flush", ROYAL, "flush: the cards make royal-flush"),
        ("royal-flush", "2s 4h 6d 8c Ts", "royal-flush: the cards make nothing"),
        ("flush", "As Ks", ""),
        (None, FLUSH, None),
    ],
)
def test_a_hand_and_its_cards_have_to_agree(hand: str | None, cards: str, said: str | None) -> None:
    """Keyed and dealt, the hand stands; cards that make another refuse the claim and say what."""
    casino = stud()
    command = Claim(actor=DEALER, table="T1", seat=1, hand=hand, cards={"cards": cards})
    if said is None:
        decision = casino.do(command)
        assert {"cards": cards} == decision.entries[0].body["cards"]
        return
    assert Refusal.CARDS_DISAGREE is casino.refuses(command)
    assert said in casino.entries[-1].body["detail"]


def test_cards_below_every_row_are_told_so() -> None:
    """A table without the lowest hands: the cards make nothing, whatever was keyed."""
    table = replace(STUD, rows=STUD.rows[:2])
    casino = Casino(link(level(seed="1000", reserve=None), table=table))
    casino.lock((1,))
    assert Refusal.CARDS_DISAGREE is casino.refuses(
        Claim(actor=DEALER, table="T1", seat=1, hand="flush", cards={"cards": PAIR})
    )
    assert "flush: the cards make nothing" == casino.entries[-1].body["detail"]
    assert Refusal.HAND_NOT_IN_PAYTABLE is casino.refuses(
        Claim(actor=DEALER, table="T1", seat=1, cards={"cards": PAIR})
    )
    assert "the cards pay nothing" == casino.entries[-1].body["detail"]


@pytest.mark.parametrize(
    ("hand", "fits"), [("pair", True), ("high-card", False), ("three-of-a-kind", True), ("x", False)]
)
def test_a_hand_is_claimed_for_a_pay_or_for_envy(hand: str, fits: bool) -> None:
    """One that loses and gives no envy cannot be claimed; one that loses and gives envy, or also pays, can."""
    casino = stud()
    command = Claim(actor=DEALER, table="T1", seat=1, hand=hand)
    if fits:
        assert hand == casino.do(command).entries[0].body["hand"]
    else:
        assert Refusal.HAND_NOT_IN_PAYTABLE is casino.refuses(command)
        assert hand == casino.entries[-1].body["detail"]
    assert "cards" not in casino.entries[-1].body


@pytest.mark.parametrize(
    ("settlement", "first", "second", "told"),
    [
        (Settlement.COUNTER_CLOCKWISE, 3, 1, None),
        (Settlement.COUNTER_CLOCKWISE, 1, 3, ["A1"]),
        (Settlement.CLOCKWISE, 1, 3, None),
        (Settlement.CLOCKWISE, 3, 1, ["A1"]),
    ],
)
def test_a_claim_out_of_order_names_what_was_settled_before_it(
    settlement: Settlement, first: int, second: int, told: list[str] | None
) -> None:
    """From the highest seat down, or from the lowest up: who comes too late is told, and is claimed all the same."""
    casino = stud(settlement=settlement)
    casino.claim(first, "royal-flush")
    casino.claim(second, "royal-flush")
    assert told == casino.entries[-1].body.get("out_of_order_after")
    assert bool(told) == casino.book.awards["A2"].out_of_order


def test_a_voided_claim_and_one_of_the_same_seat_are_not_out_of_order() -> None:
    """Seat 1 misread and voided leaves no trace; its own second claim is not behind itself."""
    casino = stud()
    casino.void(casino.claim(1, "royal-flush"))
    casino.claim(1, "royal-flush")
    assert "out_of_order_after" not in casino.entries[-1].body
    casino.claim(3, "royal-flush")
    assert ["A2"] == casino.entries[-1].body["out_of_order_after"]


@pytest.mark.parametrize(("chip", "told"), [(1, None), (2, 2), (100, 100)])
def test_a_claim_tells_the_lowest_chip_above_a_cent(chip: int, told: int | None) -> None:
    """Tables whose chips are cents say nothing of them, and such an entry means a cent when it is read again."""
    table = paytable(row("all", percent("100%")), row("odds", Pay(PayKind.ODDS_TO, n=7, d=6)), kind="craps")
    casino = Casino(link(level(seed="1000", reserve=None), table=table, wager="5.00"), tables=0)
    settings = TableSettings("T1", "nexus", "Test", 7, lowest_chip_cents=chip)
    casino.do(DefineTable(actor=SYSTEM, settings=settings))
    casino.do(OpenTable(actor=SYSTEM, table="T1"))
    casino.lock((1, 2))
    held = casino.claim(2, "all")
    casino.do(Claim(actor=DEALER, table="T1", seat=1, hand="odds"))
    assert told == casino.entries[-1].body.get("chip_cents")
    amount = casino.amount("A2")
    assert {1: "10.84", 2: "10.84", 100: "11.00"}[chip] == amount
    # decided again without the other hand, also after a restart, the odds come to the same
    again = Void(actor=SUPERVISOR, award=held, reason="misread")
    assert decide(casino.book, again).entries == decide(casino.folded(), again).entries
    casino.void(held)
    assert amount == casino.amount("A2")
    assert casino.folded().awards == casino.book.awards


def test_an_award_that_confirms_itself_is_verified_by_nobody() -> None:
    """Below the threshold the rule confirms it: the entry names nobody who looked, and hands out no envy."""
    casino = Casino(link(level(), table=STUD), site=SiteSettings("test", confirm_above_cents=100_00))
    casino.lock((1, 2))
    decision = casino.do(Claim(actor=DEALER, table="T1", seat=1, hand="flush"))
    body = decision.entries[-1].body
    assert ("rule", False, [], 0, {}) == (
        body["by"],
        body["verified"],
        body["envy"],
        body["envy_cents"],
        body["marks"],
    )
    award = casino.book.awards["A1"]
    assert ("confirmed", None) == (award.state_word, award.verified_by)


def test_the_largest_award_can_be_claimed_and_no_larger_one() -> None:
    """By a seat, and by the board for all seats at once."""
    for cents, fits in ((AMOUNT_CENTS_MAX, True), (AMOUNT_CENTS_MAX + 1, False)):
        pay = Pay(PayKind.FIXED, cents=cents)
        casino = Casino(link(level(seed="0", increment="0%", reserve=None), table=paytable(row("big", pay))))
        casino.lock((1,))
        for command in (
            Claim(actor=DEALER, table="T1", seat=1, hand="big"),
            ClaimBoard(actor=DEALER, table="T1", hand="big"),
        ):
            refusal = casino.decide(command).refusal
            assert (None if fits else Refusal.AMOUNT_OUT_OF_BOUNDS) == (refusal and refusal.refusal)


def test_of_the_boards_claims_each_tells_its_own_round() -> None:
    """Another table's tie is none of theirs: the state before each further claim names this round alone."""
    table = paytable(row("all", percent("100%")))
    casino = Casino(link(level(seed="10", increment="0%", reserve=None, ties="split"), table=table))
    casino.lock((1, 2), "T1")
    casino.lock((1, 2), "T2")
    casino.claim(1, "all", "T1")
    casino.do(ClaimBoard(actor=DEALER, table="T2", hand="all"))
    told: Entry = casino.entries[-1]
    assert Kind.COMMON_CLAIMED is told.kind
    assert "before" not in told.body["claims"][0]
    assert {"T2#1"} == set(told.body["claims"][1]["before"]["marks"])
    assert casino.folded().awards == casino.book.awards


def test_an_undone_award_and_an_adjustment_come_again_when_the_past_is_told_anew() -> None:
    """Between a claim and its void an award is undone and money put in by hand: the level is as without the claim."""

    def history(*, misread: bool) -> Casino:
        table = paytable(
            row("all", percent("100%", "a")), row("some", percent("10%", "a")), row("b", percent("100%", "b"))
        )
        casino = Casino(
            link(level("a", seed="100", reserve="3%"), level("b", seed="50", increment="1%", reserve=None), table=table)
        )
        casino.lock((1, 2, 3, 4))
        won = casino.claim(2, "b")
        casino.confirm(won)
        wrong = casino.claim(1, "some") if misread else ""
        right = casino.claim(3, "b")
        if misread:
            casino.do(Undo(actor=ADMINISTRATOR, award=won, second=ACCOUNTANT, reference="R"))
            casino.do(Void(actor=SUPERVISOR, award=wrong, reason="misread"))
        else:
            casino.do(Undo(actor=ADMINISTRATOR, award=won, second=ACCOUNTANT, reference="R"))
        casino.confirm(right)
        casino.end()
        casino.do(Adjust(actor=ADMINISTRATOR, second=ACCOUNTANT, reference="R", level="nexus/a", cents=77))
        casino.do(Lock(actor=DEALER, table="T1", wagers=(WagerSeen(5),)))
        return casino

    accounts = [
        {
            name: amount
            for name, amount in history(misread=misread).book.balances.items()
            if "payable" not in name and amount
        }
        for misread in (True, False)
    ]
    assert accounts[0] == accounts[1]


def test_a_hand_that_only_gives_envy_is_an_award_of_nothing() -> None:
    """It takes no share of a meter, is no award proved late, and is worth nothing itself."""
    casino = stud()
    award = casino.book.awards[casino.claim(1, "pair")]
    assert (False, False, 0, ()) == (award.late, award.has_percent, award.amount_cents, award.parts)
    mixed = paytable(row("both", percent("100%"), Pay(PayKind.ODDS_TO, n=2)))
    casino = Casino(link(level(), table=mixed))
    casino.lock((1,))
    award = casino.book.awards[casino.claim(1, "both")]
    assert (False, True) == (award.late, award.has_percent)


@pytest.mark.parametrize(
    ("release", "ways", "expected"),
    [
        (False, ("next_meter",), False),
        (True, ("next_meter",), True),
        (False, ("house",), True),
        (False, ("next_meter", "house"), True),
    ],
)
def test_what_players_are_told_of_their_money(release: bool, ways: tuple[str, ...], expected: bool) -> None:
    """That some of it may become the house's: by the site's permission, or by a level that overflows to the house."""
    levels = [
        level(name, seed="1", increment="1%", limit="2", overflow=way) for name, way in zip("ab", ways, strict=False)
    ]
    table = paytable(*(row(name, percent("100%", name)) for name in "ab"[: len(ways)]))
    casino = Casino(link(*levels, table=table), site=SiteSettings("test", release_to_house=release))
    assert expected == casino.book.links["nexus"].gives_to_house(casino.book.site)
    assert any(way == "house" for way in ways) == casino.book.links["nexus"].gives_to_house(None)
