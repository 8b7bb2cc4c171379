"""``[[sas]]``: progressive levels said on a SAS line, and games asked for their wins there. Checks and frozen form.

Source of the bounds: SAS 6.02. 19200 baud, groups 1 to 255, levels 1 to 32, addresses 1 to 127, ten digits of cents;
a game gives a level up that it has not heard for 5 s, and must be spoken to within 5 s.
"""

from __future__ import annotations

from typing import Final

from meterd.config.findings import Node, all_named, check_bus_of, levels_of, named, nearest
from meterd.config.shapes import SasShape
from meterd.config.site import Catalogue, SasConfig, SasGame
from meterd.money import PPM_PER_WHOLE, format_cents
from meterd.paytables.model import PayKind, PayTable

BAUD: Final = 19_200
CENTS_MAX: Final = 9_999_999_999
NO_LEVEL: Final = "none"
EXTENDED_LEVELS_MAX: Final = 16
CYCLE_MS_MAX: Final = 4_000  # of the 5 s; the rest is for a game that was garbled


def check_sas(root: Node, catalogue: Catalogue) -> None:
    """Note everything about SAS lines that single values cannot show."""
    buses = named(list(root.nodes("bus")))
    taken: dict[str, Node] = {}
    for bus in buses.values():
        if bus.text("kind") == "sas":
            _check_line(bus)
    for sas in root.nodes("sas"):
        bus_id = sas.text("bus")
        check_bus_of(sas, bus_id, buses, "sas")
        if bus_id in taken:
            sas.finding("bus", f'bus "{bus_id}" has a [[sas]] already: one group for each line')
        taken.setdefault(bus_id or "", sas)
        _check_levels(root, sas)
        _check_games(root, sas, catalogue)
        _check_cycle(sas)
        if sas.text("parity") == "none-for-rehearsal":
            sas.warning("parity", "no game understands this: it is for a demo on pseudo-terminals")


def _check_line(bus: Node) -> None:
    if bus.number("baud") not in {BAUD, None}:
        bus.finding("baud", f"a SAS line runs at {BAUD} baud")
    for key, usual in (("bytesize", 8), ("parity", "N"), ("stopbits", 1)):
        if bus.value(key) not in {None, usual}:
            bus.finding(key, "a SAS line has eight bits and the wakeup bit, which meterd sas sets: leave this out")


def _check_levels(root: Node, sas: Node) -> None:
    levels, complete = levels_of(root)
    shown = sas.texts("levels")
    for index, what in enumerate(shown):
        if what is None or what == NO_LEVEL:
            continue
        if what not in levels:
            if complete:
                sas.finding(("levels", index), f'there is no level "{what}"', nearest(what, levels))
            continue
        limit = levels[what].number("limit_cents")
        if limit is not None and limit > CENTS_MAX:
            most = format_cents(CENTS_MAX)
            sas.finding(("levels", index), f"SAS says at most {most}, the limit is {format_cents(limit)}")
        if what in shown[:index]:
            sas.finding(("levels", index), f'"{what}" is SAS level {shown.index(what) + 1} already')
    if shown and all(what == NO_LEVEL for what in shown):
        sas.finding("levels", "nothing would be said on this line")
    if sas.text("broadcast") == "7A" and len(shown) > EXTENDED_LEVELS_MAX:
        sas.finding("broadcast", f"7A carries at most {EXTENDED_LEVELS_MAX} levels")


def _check_cycle(sas: Node) -> None:
    """Each level is said, and each game spoken to, well within the 5 s after which it complains."""
    games = len(list(sas.nodes("games")))
    said = len(sas.texts("levels")) if sas.text("broadcast") == "80" else 1
    cycle_ms = (sas.number("grid_ms") or 200) * (2 if games else 1) * max(said, games)
    if cycle_ms > CYCLE_MS_MAX:
        key = "games" if games >= said else "levels"
        sas.finding(
            key, f"one turn of this line takes {cycle_ms} ms, at most {CYCLE_MS_MAX} are allowed: use another line"
        )


def _check_games(root: Node, sas: Node, catalogue: Catalogue) -> None:
    tables = named(list(root.nodes("table")))
    addresses: set[int] = set()
    for game in sas.nodes("games"):
        address, table, seat = game.number("address"), game.text("table"), game.number("seat")
        if address in addresses:
            game.finding("address", f"address {address} is taken on this line")
        if address is not None:
            addresses.add(address)
        if (table is None) != (seat is None):
            game.finding((), "a win is claimed at a table and a seat: name both, or neither")
        if table is None:
            continue
        if table not in tables:
            if all_named(root.nodes("table")):
                game.finding("table", f'there is no table "{table}"', nearest(table, tables))
            continue
        seats = tables[table].number("seats")
        if seat is not None and seats is not None and seat > seats:
            game.finding("seat", f'table "{table}" has {seats} seats')
        _check_hands(root, sas, game, tables[table], catalogue)


def _check_hands(root: Node, sas: Node, game: Node, table: Node, catalogue: Catalogue) -> None:
    """The levels of this line that the table plays for: each must be won by one hand, or nobody knows what to claim."""
    link = named(list(root.nodes("link"))).get(table.text("link") or "")
    paytable = catalogue.paytables.get(link.text("paytable") or "") if link is not None else None
    if link is None or paytable is None:
        return
    said, levels = [what for what in sas.texts("levels") if what != NO_LEVEL], levels_of(root)[0]
    mine = [what.partition("/")[2] for what in said if what and what.startswith(f"{link.text('id')}/")]
    if not mine and said and all(what in levels for what in said):
        game.finding("table", f'table "{table.text("id")}" plays for none of the levels of this line')
    known = {level.text("name") for level in link.nodes("level")}
    for level in [name for name in mine if name in known]:
        if hand_of(paytable, level) is None:
            game.finding(
                "table", f'not one hand of "{paytable.id}" alone pays 100 % of "{level}": a win cannot be claimed'
            )


def hand_of(paytable: PayTable, level: str) -> str | None:
    """The one hand that pays 100 % of a level; None where there is none, or more than one."""
    hands = [
        row.hand
        for row in paytable.rows
        if row.offered
        and any(
            pay.kind is PayKind.METER_PERCENT and pay.percent_ppm == PPM_PER_WHOLE and (pay.level or "main") == level
            for pay in row.pays
        )
    ]
    return hands[0] if len(hands) == 1 else None


def sas_config(shape: SasShape) -> SasConfig:
    """The frozen form of one block."""
    levels = [None if what == NO_LEVEL else what.split("/", 1) for what in shape.levels]
    return SasConfig(
        bus=shape.bus,
        group=shape.group,
        levels=tuple(None if level is None else (level[0], level[1]) for level in levels),
        games=tuple(SasGame(game.address, game.table, game.seat) for game in shape.games),
        broadcast=int(shape.broadcast, 16),
        win_poll=int(shape.win_poll, 16),
        grid_ms=shape.grid_ms,
        stale_ms=shape.stale_ms,
        settle_ms=shape.settle_ms,
        loopback=shape.loopback,
        rehearsal=shape.parity == "none-for-rehearsal",
    )
