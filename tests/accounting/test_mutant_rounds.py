"""A LOCK at its edges: wagers beside base wagers, chips of craps, what its entries tell; splits and late acts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from accounting_build import DEALER, ROYAL, SUPERVISOR, Casino, event, fixed, level, link, paytable, percent, row

from meterd.accounting.commands import SYSTEM, DefineTable, Fold, Lock, OpenTable, VoidSeat, WagerSeen
from meterd.accounting.commands_streak import Split
from meterd.accounting.entries import Kind
from meterd.accounting.refusals import Refusal
from meterd.accounting.settings import LinkSettings, TableSettings
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
