"""A LOCK at its edges: wagers beside base wagers, chips of craps, what its entries tell; splits and late acts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from accounting_build import DEALER, OTHER, ROYAL, SUPERVISOR, Casino, event, fixed, level, link, paytable, percent, row

from meterd.accounting.commands import (
    SYSTEM,
    Confirm,
    DefineTable,
    EndGame,
    Fold,
    Hold,
    Join,
    Lock,
    OpenTable,
    Void,
    VoidSeat,
    WagerSeen,
)
from meterd.accounting.commands_streak import Split
from meterd.accounting.entries import Kind
from meterd.accounting.refusals import Refusal
from meterd.accounting.settings import EnvyTrigger, LinkSettings, SiteSettings, TableSettings
from meterd.paytables.model import Pay, PayKind


def house(settings: LinkSettings, **table: Any) -> Casino:
    casino = Casino(settings, tables=0)
    casino.do(DefineTable(actor=SYSTEM, settings=TableSettings("T1", "nexus", "Test", 7, **table)))
    casino.do(OpenTable(actor=SYSTEM, table="T1"))
    return casino


def sat(casino: Casino, *wagers: WagerSeen) -> list[int]:
    """The seats that are in the round."""
    casino.do(Lock(actor=DEALER, table="T1", wagers=wagers))
    return sorted(casino.book.tables["T1"].wagers)


@pytest.mark.parametrize(
    ("least", "most", "base", "fits"),
    [
        ("", "", 1, True),
        ("1", "", 100, True),
        ("1", "", 101, False),
        ("1", "", 99, True),
        ("", "1", 100, True),
        ("", "1", 99, False),
        ("", "1", 101, True),
        ("1/2", "", 200, True),
        ("1/2", "", 201, False),
        ("", "1/2", 200, True),
        ("", "1/2", 199, False),
        ("2", "", 50, True),
        ("2", "", 51, False),
        ("1", "1", None, True),
    ],
)
def test_a_wager_beside_its_base_wager(least: str, most: str, base: int | None, fits: bool) -> None:
    """A dollar beside a base wager: at least, or at most, so many times that."""
    table = replace(ROYAL, base_least=least, base_most=most)
    casino = Casino(link(table=table))
    assert ([1] if fits else []) == sat(casino, WagerSeen(1, base_cents=base))
    told = casino.entries[-1]
    if fits:
        fact = told.body["wagers"][0]
    else:
        assert Kind.UNREASONABLE is told.kind
        fact = told.body["keyed"]
    assert base == fact.get("base_cents")


def test_a_seat_that_is_refused_at_lock_is_of_the_round_that_begins() -> None:
    """Its entry names the round of the LOCK, the seat and the units, and carries no press of its own."""
    casino = Casino(link(units=2))
    casino.lock((1,))
    casino.end()
    decision = casino.do(
        Lock(actor=DEALER, table="T1", wagers=(WagerSeen(1), WagerSeen(2, 3)), event=event(9, "pit/40/di0"))
    )
    locked, refused = decision.entries
    assert (2, 2, {"table": "T1", "seat": 2, "units": 3}) == (
        locked.body["round"],
        refused.body["round"],
        refused.body["keyed"],
    )
    assert ("pit/40/di0:1:9", None) == (locked.event_id, refused.event_id)
    levels = locked.body["levels"]["nexus/main"]
    assert casino.microcents("meter/nexus/main") == levels["display_microcents"]
    assert casino.microcents("reserve/nexus/main") == levels["reserve_microcents"]
    assert 0 == levels["overflow_microcents"]


@pytest.mark.parametrize(
    ("chip", "units", "fits"),
    [(1, 1, True), (2, 1, False), (2, 2, True), (10, 7, False), (10, 10, True), (12, 12, True), (24, 12, False)],
)
def test_a_wager_of_craps_is_of_whole_chips(chip: int, units: int, fits: bool) -> None:
    """Units of a cent, even money: a wager of one chip can be paid, of a part of one it cannot."""
    table = paytable(
        row("even", Pay(PayKind.ODDS_TO, n=1)),
        row("fixed", fixed("5.00")),
        row("lost", Pay(PayKind.LOSS)),
        kind="craps",
    )
    settings = link(level(seed="0", increment="0%", reserve=None), table=table, wager="0.01", units=30)
    assert ([1] if fits else []) == sat(house(settings, lowest_chip_cents=chip), WagerSeen(1, units))


@pytest.mark.parametrize(("n", "d", "fits"), [(1, 1, True), (1, 2, False), (99, 100, False), (2, 1, True)])
def test_odds_of_craps_come_to_a_chip_at_least(n: int, d: int, fits: bool) -> None:
    """On one dollar chip: even money is a chip, half of it is none, and no bet at all asks for nothing."""
    table = paytable(row("bet", Pay(PayKind.ODDS_TO, n=n, d=d)), row("all", percent("100%")), kind="craps")
    assert ([1] if fits else []) == sat(house(link(table=table), lowest_chip_cents=100), WagerSeen(1))
    none = paytable(row("all", percent("100%")), kind="craps")
    assert [1] == sat(house(link(table=none), lowest_chip_cents=100), WagerSeen(1))


def test_a_split_that_means_nothing_moves_nothing() -> None:
    """Its entry says so: no further wager, no cents."""
    casino = Casino(link())
    casino.lock((1,))
    body = casino.do(Split(actor=DEALER, table="T1", seat=1)).entries[0].body
    assert ("no-effect", 0, 0, 1) == (body["means"], body["units"], body["cents"], body["seat"])


def test_a_seat_with_two_hands_gets_both_wagers_back() -> None:
    """The entry counts both: $3 put up and $3 more for the second hand."""
    table = paytable(row("royal-flush", fixed("1000.00")), split="two-hands")
    casino = Casino(LinkSettings("nexus", 100, 5, table, ()))
    casino.lock({1: 3, 2: 1})
    body = casino.do(Split(actor=DEALER, table="T1", seat=1)).entries[0].body
    assert ("two-hands", 3, 300) == (body["means"], body["units"], body["cents"])
    assert "-7.00" == casino.account("drop/T1")
    assert 600 == casino.do(VoidSeat(actor=SUPERVISOR, table="T1", seat=1)).entries[-1].body["cents"]
    assert ("-1.00", "1.00") == (casino.account("drop/T1"), casino.account("house/hold/T1"))
    assert (1, 1) == (casino.book.links["nexus"].wagers, casino.book.links["nexus"].units)


def test_a_chip_counted_before_counts_no_more() -> None:
    """An older press, the same one, and one named by two seats are refused."""
    casino = Casino(link())
    assert [1, 2] == sat(casino, WagerSeen(1, 1, event(5, "pit/40/di1")), WagerSeen(2, 1, event(5, "pit/40/di2")))
    casino.end()
    seen = sat(
        casino,
        WagerSeen(1, 1, event(5, "pit/40/di1")),
        WagerSeen(2, 1, event(6, "pit/40/di2")),
        WagerSeen(3, 1, event(4, "pit/40/di1")),
        WagerSeen(4, 1, event(6, "pit/40/di2")),
    )
    assert [2] == seen
    assert (1, 6) == tuple(casino.book.devices["pit/40/di2"])
    assert (1, 5) == tuple(casino.book.devices["pit/40/di1"])


def test_a_seat_folds_once() -> None:
    """The second time it is told so; a seat outside the table is unknown, one without a wager has none."""
    casino = Casino(link())
    casino.lock((1,))
    casino.do(Fold(actor=DEALER, table="T1", seat=1))
    for seat, why in (
        (1, Refusal.SEAT_FOLDED),
        (7, Refusal.SEAT_HAS_NO_WAGER),
        (8, Refusal.SEAT_UNKNOWN),
        (0, Refusal.SEAT_UNKNOWN),
    ):
        assert why is casino.refuses(Fold(actor=DEALER, table="T1", seat=seat))


def test_seats_are_joined_for_the_round_that_is_or_comes() -> None:
    """Before LOCK they are joined for the next round, after it for the one that is on."""
    casino = Casino(link())
    told = []
    for _ in range(2):
        told.append(casino.do(Join(actor=DEALER, table="T1", seats=(3, 1, 3))).entries[0].body)
        casino.lock((1, 2, 3))
        told.append(casino.do(Join(actor=DEALER, table="T1", seats=(2, 1))).entries[0].body)
        casino.end()
    assert [(1, [1, 3]), (1, [1, 2]), (2, [1, 3]), (2, [1, 2])] == [(one["round"], one["seats"]) for one in told]


def test_a_table_is_put_in_force_once() -> None:
    """Under one name there is one table, whether a fund is kept there or not."""
    casino = Casino(link())
    again = DefineTable(actor=SYSTEM, settings=TableSettings("T1", "nexus", "Test", 3))
    assert Refusal.ALREADY_DONE is casino.refuses(again)
    assert 7 == casino.book.tables["T1"].settings.seats


ENVY = paytable(
    row("high", fixed("100.00", scales=False), envy="250"),
    row("low", fixed("20.00", scales=False), envy="30"),
    row("none", fixed("5.00", scales=False)),
)


def envious(trigger: EnvyTrigger, **site: int) -> Casino:
    settings = replace(link(level(reserve=None), table=ENVY), envy_trigger=trigger)
    return Casino(settings, site=SiteSettings("test", **site))  # type: ignore[arg-type]


@pytest.mark.parametrize(("ceiling", "alone"), [(499_99, False), (500_00, True), (500_01, True)])
def test_envy_above_the_ceiling_a_supervisor_hands_out(ceiling: int, alone: bool) -> None:
    """Two seats receive $250 each: at exactly $500.00 the dealer still ends the round, a cent below he does not."""
    casino = envious(EnvyTrigger.ALL, envy_confirm_above_cents=ceiling)
    casino.lock((1, 2, 3))
    casino.confirm(casino.claim(1, "high"))
    if not alone:
        assert Refusal.NOT_AUTHORISED is casino.refuses(EndGame(actor=DEALER, table="T1"))
    casino.do(EndGame(actor=DEALER if alone else SUPERVISOR, table="T1"))
    assert "500.00" == casino.account("paid/T1")


def test_the_end_of_a_round_names_the_awards_still_open() -> None:
    """A held one is, a confirmed and a voided one are not."""
    casino = envious(EnvyTrigger.ALL)
    casino.lock((1, 2, 3, 4))
    held, sure, gone = (casino.claim(seat, "none") for seat in (1, 2, 3))
    casino.do(Hold(actor=SUPERVISOR, award=held))
    casino.confirm(sure)
    casino.void(gone)
    assert [held] == casino.do(EndGame(actor=DEALER, table="T1")).entries[-1].body["open_awards"]


def test_nobody_has_more_envy_than_the_highest_hands_of_a_round_give() -> None:
    """Two low hands gave theirs at END GAME; then two disputed ones turn out the highest, one after the other.

    The first of these gives each seat what is missing to its own envy, the second all of its own on top of that.
    """
    casino = envious(EnvyTrigger.HIGHEST)
    casino.lock((1, 2, 3, 4, 5))
    first, second, third, fourth = (
        casino.claim(seat, hand) for seat, hand in ((1, "low"), (2, "low"), (4, "none"), (5, "none"))
    )
    for award in (first, second):
        casino.confirm(award)
    for award in (third, fourth):
        casino.do(Hold(actor=SUPERVISOR, award=award))
    body = casino.do(EndGame(actor=DEALER, table="T1")).entries[-1].body
    lows: list[list[Any]] = [
        [1, 3000, second],
        [2, 3000, first],
        *([seat, 3000, one] for seat in (3, 4, 5) for one in (first, second)),
    ]
    assert sorted(lows) == sorted(body["envy"])
    for award in (third, fourth):
        casino.correct(award, hand="high", by=OTHER)
    told = casino.do(Confirm(actor=SUPERVISOR, award=third)).entries[0].body["envy"]
    assert [[1, 22000, third], [2, 22000, third], [3, 19000, third], [5, 19000, third]] == told
    told = casino.do(Confirm(actor=SUPERVISOR, award=fourth)).entries[0].body["envy"]
    # seat 4 had 60.00 of the low ones and nothing of its own hand
    assert [[1, 25000, fourth], [2, 25000, fourth], [3, 25000, fourth], [4, 19000, fourth]] == told


def test_a_lower_hand_waits_for_a_higher_one_and_gives_nothing_beside_it() -> None:
    """Low is confirmed and high disputed: nothing at END GAME. High voided, low gives."""
    for voided in (True, False):
        casino = envious(EnvyTrigger.HIGHEST)
        casino.lock((1, 2, 3))
        low, high = casino.claim(1, "low"), casino.claim(2, "high")
        casino.confirm(low)
        casino.do(Hold(actor=SUPERVISOR, award=high))
        body = casino.do(EndGame(actor=DEALER, table="T1")).entries[-1].body
        assert ([], {low: True}) == (body["envy"], body["envy_waits"])
        if voided:
            decision = casino.do(Void(actor=SUPERVISOR, award=high, reason="misread", event=event(3)))
            told = decision.entries[-1]
            assert ([[2, 3000, low], [3, 3000, low]], {low: False}) == (told.body["envy"], told.body["envy_waits"])
            assert (False, "rule", None) == (told.body["verified"], told.body["by"], told.event_id)
        else:
            told = casino.do(Confirm(actor=SUPERVISOR, award=high)).entries[0]
            assert ([[1, 25000, high], [3, 25000, high]], {low: False}) == (
                told.body["envy"],
                told.body["envy_waits"],
            )
        assert not casino.book.awards[low].envy_waits


def test_a_hand_without_envy_neither_gives_nor_waits() -> None:
    """Of a round whose other hand is disputed: a hand with no envy of its own is no lower one that waits."""
    casino = envious(EnvyTrigger.HIGHEST)
    casino.lock((1, 2, 3))
    none, high = casino.claim(1, "none"), casino.claim(2, "high")
    casino.confirm(none)
    casino.do(Hold(actor=SUPERVISOR, award=high))
    body = casino.do(EndGame(actor=DEALER, table="T1")).entries[-1].body
    assert ([], 0) == (body["envy"], body["envy_cents"])
    assert "envy_waits" not in body


def test_envy_handed_out_late_counts_as_what_a_seat_has_had() -> None:
    """A low hand confirmed after END GAME gives its own; another one, then found to be high, what is missing to its."""
    casino = envious(EnvyTrigger.HIGHEST)
    casino.lock((1, 2, 3))
    low, other = casino.claim(1, "low"), casino.claim(2, "none")
    for award in (low, other):
        casino.do(Hold(actor=SUPERVISOR, award=award))
    assert [] == casino.do(EndGame(actor=DEALER, table="T1")).entries[-1].body["envy"]
    told = casino.do(Confirm(actor=SUPERVISOR, award=low)).entries[0].body["envy"]
    assert [[2, 3000, low], [3, 3000, low]] == told
    casino.correct(other, hand="high", by=OTHER)
    told = casino.do(Confirm(actor=SUPERVISOR, award=other)).entries[0].body["envy"]
    assert [[1, 25000, other], [3, 22000, other]] == told


def test_two_highest_confirmed_at_once_give_what_is_missing_to_both() -> None:
    """A tie of two whole meters, held, after two low hands gave theirs: of each seat's 60.00 each cent counts once."""
    table = paytable(row("high", percent("100%"), envy="40"), row("low", fixed("20.00", scales=False), envy="30"))
    casino = Casino(replace(link(level(reserve=None, ties="split"), table=table), envy_trigger=EnvyTrigger.HIGHEST))
    casino.lock((1, 2, 3, 4, 5))
    lows = [casino.claim(seat, "low") for seat in (1, 2)]
    other = [casino.claim(seat, "low") for seat in (3, 4)]
    for award in lows:
        casino.confirm(award)
    for award in other:
        casino.do(Hold(actor=SUPERVISOR, award=award))
    casino.do(EndGame(actor=DEALER, table="T1"))
    for award in other:
        casino.correct(award, hand="high", by=OTHER)
    casino.do(Confirm(actor=SUPERVISOR, award=other[0]))
    body = casino.do(Confirm(actor=SUPERVISOR, award=other[1])).entries[0].body
    # seats 1 and 2 had 30.00 and get 80.00 in all, seat 5 had 60.00; seats 3 and 4 had 60.00, more than the other gives
    gets: dict[int, int] = {}
    for seat, cents, _ in body["envy"]:
        gets[seat] = gets.get(seat, 0) + cents
    assert {1: 50_00, 2: 50_00, 5: 20_00} == gets


def test_a_round_ended_before_tokes_were_told_had_none() -> None:
    """An entry of an old ledger: nothing for the dealer."""
    casino = Casino(link())
    casino.lock((1,))
    casino.end()
    told = casino.entries[-1]
    old = replace(told, body={name: value for name, value in told.body.items() if name not in {"tokes", "toke_cents"}})
    casino.lock((1,))
    casino.book.apply(casino.book.seq + 1, "", old)
    table = casino.book.tables["T1"]
    assert (0, "OPEN", False) == (table.last_toke_cents, table.state.value, table.needs_end_game)
