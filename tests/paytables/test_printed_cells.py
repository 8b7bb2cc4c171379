"""Every printed cell, against a second transcription in the layout of the regulations."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import pytest

from meterd.edge.files import load_paytables, paytable
from meterd.money import parse_rate
from meterd.paytables.model import PayKind, PayTable, Row

PRINTED = Path(__file__).parent / "printed_cells.txt"


@dataclass(frozen=True)
class Block:
    """One printed table, perhaps of several columns of pay tables."""

    rule: str
    ids: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def column(self, name: str) -> list[str] | None:
        if name not in self.columns:
            return None
        return [row[self.columns.index(name)] for row in self.rows]


def blocks() -> list[Block]:
    found = []
    for part in PRINTED.read_text(encoding="utf-8").split("\n== ")[1:]:
        head, *lines = part.strip().splitlines()
        rule, ids, columns = head.split(" == ")
        rows = tuple(tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines)
        found.append(Block(rule, tuple(ids.split()), tuple(columns.split(", ")), rows))
    return found


BLOCKS = blocks()


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"{block.rule} {block.ids[0]}")
def test_every_cell_stands_as_printed(block: Block) -> None:
    """Hands (whatever their case), pays and envy, row by row and in order, in each table of the block."""
    for number, table_id in enumerate(block.ids, start=1):
        table = paytable(table_id)
        hands = [hand.casefold() for hand in block.column("hand") or []]
        assert hands == [row.printed_hand.casefold() for row in table.rows]
        assert block.column(f"pay {number}") == [row.printed_pay for row in table.rows]
        envy = block.column(f"envy {number}") or [""] * len(hands)
        assert envy == [row.printed_envy or "" for row in table.rows]


def test_each_rule_that_prints_a_table_is_among_its_sources_and_no_other() -> None:
    """One table printed in several rules is one object with all of them as sources, and none is claimed that is not."""
    printed = defaultdict(set)
    for block in BLOCKS:
        for table_id in block.ids:
            printed[table_id].add(block.rule)
    stored = {
        table.id: {f"{source.jurisdiction} {source.rule}" for source in table.sources}
        for table in load_paytables().values()
    }
    assert printed == stored


@pytest.mark.parametrize("block", [b for b in BLOCKS if "seed" in b.columns], ids=lambda block: block.ids[0])
def test_printed_seed_and_rates_are_stored(block: Block) -> None:
    """Seed as a multiple of the wager, increment and reserve; N/A is stored as such and is not a rate of 0."""
    table = paytable(block.ids[0])
    seed, increment, reserve = ((block.column(name) or [""])[0] for name in ("seed", "increment", "reserve"))
    times = int(seed.removesuffix("x the progressive wager").replace(",", ""))
    assert times * table.wager_cents == table.seed_cents
    assert table.seed_scales
    assert parse_rate(increment) == table.increment_ppm
    assert (-1 if reserve == "N/A" else parse_rate(reserve)) == table.reserve_ppm


def test_the_one_colorado_seed_is_a_thousand_dollars_per_dollar() -> None:
    """Printed for both Three Card Poker schedules; no other Colorado table prints a seed, and none a rate."""
    tables = [table for table in load_paytables().values() if table.id.startswith("co/")]
    seeds = {table.id: table.seed_cents for table in tables if table.seed_cents is not None}
    assert {f"co/three-card-poker/progressive-{number}": 100_000 for number in (1, 2)} == seeds
    assert {(None, None)} == {(table.increment_ppm, table.reserve_ppm) for table in tables}


def reading(row: Row) -> str:
    """Our reading of a row, said in the words of the print, so that it can be compared with the cell."""
    words = []
    for pay in row.pays:
        match pay.kind:
            case PayKind.METER_PERCENT:
                words.append(f"{pay.to_json()['percent']}%{' ' + pay.level if pay.level else ''}")
            case PayKind.FIXED:
                words.append(f"${pay.cents / 100:.0f} {'from' if pay.from_meter else 'not from'} meter")
            case PayKind.ODDS_FOR:
                words.append(f"{pay.n} for {pay.d}")
            case _:
                words.append(pay.kind.value)
    return " plus ".join(words)


def plainly(table: PayTable, printed: str) -> str:
    """A printed cell in the words of :func:`reading`."""
    text = printed.casefold().replace(",", "").replace("(", "").replace(")", "").replace(" percent", "%")
    text = text.replace(" of progressive meter", "")
    if text.startswith(("100%", "25%", "10%", "5%")):
        return text.removesuffix(" from meter")
    if "texas" in table.id and "meter" not in text and text:
        raise AssertionError(f"{table.id}: {printed!r} says nothing of the meter")
    if "meter" in text:
        return text if text.startswith("$") else f"${text}"
    return "" if text == "n/a" else text


@pytest.mark.parametrize("table", load_paytables().values(), ids=lambda table: table.id)
def test_our_reading_says_what_the_cell_says(table: PayTable) -> None:
    """Share, level, odds, sum and where it comes from, for every row; a blank or N/A cell offers nothing."""
    for row in table.rows:
        assert plainly(table, row.printed_pay) == reading(row), row.printed_hand
        cents = int((row.printed_envy or "0").strip("$").replace(",", "")) * 100
        assert cents == row.envy_cents


def test_what_is_not_in_the_cells_but_under_the_table() -> None:
    """The notes under the tables: who keeps the wager, what grows with it, the wager a table is printed for."""
    tables = load_paytables()
    kept = {table.id for table in tables.values() if not table.original_wager_returned}
    assert {table.id for table in tables.values() if table.id.startswith(("co/nexus", "co/three-card"))} == kept
    assert {500} == {tables[f"co/texas-holdem-bonus/thbp-{number}"].wager_cents for number in (6, 7)}
    assert {100} == {table.wager_cents for table in tables.values() if not table.id.endswith(("thbp-6", "thbp-7"))}
    assert {table.id for table in tables.values() if table.common_outcome} == {
        f"pa/roulette-up/progressive-{number}" for number in range(1, 8)
    }
    assert all(pay.scales for table in tables.values() for row in table.rows for pay in row.pays)


def test_games_and_folded_hands_of_the_link_tables() -> None:
    """Which cards make the five differs by game; a fold is live in hold'em and Mississippi, dead in Big Raise."""
    table = paytable("co/nexus/pmg-ml-02")
    assert {
        "let-it-ride": (3, 2),
        "texas-holdem-bonus": (2, 3),
        "crazy-4-poker": (5, 0),
        "mississippi-stud": (2, 3),
        "ultimate-texas-holdem": (2, 3),
        "big-raise-stud": (3, 2),
    } == {game.name: (game.own_cards, game.community_cards) for game in table.games}
    assert ["big-raise-stud"] == [game.name for game in table.games if not game.folded_live]
