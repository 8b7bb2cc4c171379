"""Whole rounds of the catalogue's own tables: LOCK, claims of its rows, confirmations, payments, END GAME.

Every table that pays out of a meter and whose result is not common to all seats takes part, with level settings of any
kind. Hands are keyed: how cards are ranked is another room's business.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from machine_rules import FloorRules, Pick, level_settings, one, random_levels
from machine_world import World
from twin_records import Row

from meterd.accounting.settings import LinkSettings
from meterd.edge.files import load_paytables
from meterd.paytables.model import Pay, PayKind, PayTable

SEATS = 6


@cache
def tables() -> tuple[PayTable, ...]:
    """Tables of the catalogue that are played here, by name."""
    found = sorted(load_paytables().values(), key=lambda table: table.id)
    return tuple(table for table in found if table.levels and not table.common_outcome)


def rules_of(table: PayTable, pick: Pick) -> FloorRules:
    """A link of this table as the twin knows it."""
    names = list(table.levels)
    return FloorRules(
        wager=table.wager_cents * one(pick, [1, 1, 2, 5]),
        units_max=1 + pick(3),
        printed=table.wager_cents,
        returned=table.original_wager_returned,
        envy_scales=table.envy_scales,
        levels=random_levels(pick, names),
        rows={
            row.hand: Row(tuple(_pay(pay, names) for pay in row.pays), row.envy_cents)
            for row in table.rows
            if row.offered and not row.loses
        },
        tables={"T1": (SEATS, True), "T2": (SEATS, True)},
        confirm_above=one(pick, [0, 600]),
    )


def _pay(pay: Pay, names: list[str]) -> tuple[object, ...]:
    level = pay.level or names[0]
    match pay.kind:
        case PayKind.METER_PERCENT:
            return ("percent", str(Fraction(pay.percent_ppm, 1_000_000)), level)
        case PayKind.FIXED if pay.from_meter:
            return ("meter", pay.cents, level, pay.scales)
        case PayKind.FIXED:
            return ("house", pay.cents, pay.scales)
        case PayKind.ODDS_TO:
            return ("to", pay.n, pay.d)
        case PayKind.ODDS_FOR:
            return ("for", pay.n, pay.d)
        case kind:
            assert kind is PayKind.PUSH, kind
            return ("push",)


def floor_of(table: PayTable, pick: Pick, *, light: bool = False) -> World:
    """Two tables on one link with this pay table as it is printed."""
    rules = rules_of(table, pick)
    settings = LinkSettings(rules.name, rules.wager, rules.units_max, table, level_settings(rules))
    return World([rules], {rules.name: settings}, light=light)


def whole_round(world: World, pick: Pick) -> None:
    """One round: some seats win, everybody is confirmed and most are paid."""
    table = f"T{1 + pick(2)}"
    rules = world.twin_of(table).rules
    seats = {seat: 1 + pick(rules.units_max) for seat in range(1, SEATS + 1) if pick(8)}
    world.play(("lock", table, seats))
    for seat in seats:
        if not pick(5):
            world.play(("claim", table, seat, one(pick, list(rules.rows)), {}))
    for award, win in world.twin_of(table).state.wins.items():
        if win.status == "pending" and not pick(12):
            world.play(("void", award))
            break
    while pending := [award for award, win in world.twin_of(table).state.wins.items() if win.status == "pending"]:
        for award in pending:
            world.play(("confirm", award))
    for award, win in world.twin_of(table).state.wins.items():
        if win.status == "confirmed" and pick(10):
            world.play(("pay", award))
    world.play(("end", table))
    world.compare()
