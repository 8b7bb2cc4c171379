"""Every printed cell, against a second transcription in the layout of the regulations (folder ``printed``)."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest

from meterd.edge.files import load_paytables, paytable
from meterd.money import parse_rate
from meterd.paytables.model import Pay, PayKind, PayTable, Row, Source

FOLDER = Path(__file__).parent / "printed"

#: A line that one rule prints among the rows, though it is no hand: the seed, under every column.
SEED_LINE = "Seed Amount"

TABLES = load_paytables()


@dataclass(frozen=True)
class Block:
    """One printed table, perhaps of several columns of pay tables. ``groups``: tables that store the same column."""

    rule: str
    groups: tuple[tuple[str, ...], ...]
    columns: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]

    @property
    def rows(self) -> list[tuple[str, ...]]:
        return [line for line in self.lines if line[0] != SEED_LINE]

    def column(self, name: str) -> list[str] | None:
        if name not in self.columns:
            return None
        return [row[self.columns.index(name)] for row in self.rows]

    @property
    def ids(self) -> list[str]:
        return [table_id for group in self.groups for table_id in group]


def blocks() -> list[Block]:
    found = []
    for path in sorted(FOLDER.glob("*.txt")):
        for part in path.read_text(encoding="utf-8").split("\n== ")[1:]:
            head, *lines = part.strip().splitlines()
            rule, ids, columns = head.split(" == ")
            rows = [
                tuple(cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|"))
                for line in lines
            ]
            groups = tuple(tuple(group.split("=")) for group in ids.split())
            found.append(Block(rule, groups, tuple(columns.split(", ")), tuple(rows)))
    return found


def rule_of(source: Source) -> str:
    return f"{source.jurisdiction} {source.rule}"


BLOCKS = blocks()


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"{block.rule} {block.ids[0]}")
def test_every_cell_stands_as_printed(block: Block) -> None:
    """Hands (whatever their case), pays, envy and notes, row by row and in order, in each table of the block."""
    assert [len(block.columns)] * len(block.lines) == [len(line) for line in block.lines]
    for number, group in enumerate(block.groups, start=1):
        for table_id in group:
            table = paytable(table_id)
            own_way = {
                cell: own for source in table.sources if rule_of(source) == block.rule for cell, own in source.prints
            }
            rows = [row for row in table.rows if not row.derived]
            hands = [hand.casefold() for hand in block.column("hand") or []]
            assert hands == [own_way.get(row.printed_hand, row.printed_hand).casefold() for row in rows]
            pays = [own_way.get(row.printed_pay, row.printed_pay) for row in rows]
            assert block.column(f"pay {number}") == pays
            envy = block.column(f"envy {number}") or [""] * len(hands)
            assert envy == [own_way.get(row.printed_envy or "", row.printed_envy or "") for row in rows]
            notes = block.column(f"note {number}") or [""] * len(hands)
            assert notes == [row.printed_note for row in rows]


def test_each_rule_that_prints_a_table_is_among_its_sources_and_no_other() -> None:
    """One table printed in several rules is one object with all of them as sources, and none is claimed that is not."""
    printed = defaultdict(set)
    for block in BLOCKS:
        for table_id in block.ids:
            printed[table_id].add(block.rule)
    stored = {table.id: {rule_of(source) for source in table.sources} for table in TABLES.values()}
    assert dict(printed) == stored


def test_the_columns_of_a_block_are_those_of_its_tables() -> None:
    """No printed column is left over: each pay column belongs to a table of the block, and each table has one."""
    for block in BLOCKS:
        pays = [column for column in block.columns if column.startswith("pay ")]
        assert [f"pay {number}" for number in range(1, len(block.groups) + 1)] == pays, block.rule
        known = re.compile(r"hand|-|seed|increment|reserve|(pay|envy|note) [0-9]+")
        assert [] == [column for column in block.columns if not known.fullmatch(column)], block.rule


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


def test_a_seed_printed_among_the_rows_is_stored() -> None:
    """The one Colorado seed: $1,000 for a $1 wager, printed under the pays and the envy of both tables."""
    printed: dict[str, int] = {}
    for block in BLOCKS:
        for line in block.lines:
            if line[0] == SEED_LINE:
                cells = set(line[1:]) - {""}
                assert len(cells) == 1
                printed |= dict.fromkeys(block.ids, cents(cells.pop()))
    stored = {table.id: table.seed_cents for table in TABLES.values() if table.id.startswith("co/")}
    assert printed == {table_id: seed for table_id, seed in stored.items() if seed is not None}


def test_no_colorado_or_new_york_table_has_a_rate() -> None:
    """Increment and reserve are printed in Pennsylvania only; elsewhere the site says them."""
    rated = {
        table.id.partition("/")[0]
        for table in TABLES.values()
        if (table.increment_ppm, table.reserve_ppm) != (None, None)
    }
    assert {"pa"} == rated


def cents(text: str) -> int:
    """A printed sum, such as ``$1,000``."""
    return int(text.strip("$").replace(",", "")) * 100


# How a cell is read, written anew from the print: not with the parser of the pay-table files.

Said = tuple[object, ...]

NO_PAY = re.compile(r"|n/?a|–|no|player wins|between .* and .*|[\d,]+—[\d,]+ to 1")
SHARE = re.compile(r"([\d.]+) ?(?:%|percent)(.*)")
ODDS = re.compile(r"([\d.]+)(?: (to|for) ?|-(to)-|:)(\d+)( on .*| even money| amended .*)?")
TIMES = re.compile(r"(\d+)x")
FIXED = re.compile(r"(\$?)([\d]+)( .*)?")
LEVEL = re.compile(r"\b(mega|major|minor)\b")
UNIT = re.compile(r"\b(to|for) 1\b")


def said(table: PayTable, row: Row) -> list[Said]:
    """What the cell of a row says, as the parts of its pay."""
    text = re.sub(r"[()]", " ", row.printed_pay.casefold().replace(",", ""))
    text = " ".join(text.split())
    if text == "yes":
        text = _yes(row.printed_hand.casefold())
    if NO_PAY.fullmatch(text):
        return []
    if text in {"loss", "player loses", "-1"}:
        return [("loss",)]
    if text in {"push", "pushes", "even money", "one-to-one"}:
        return [("push",)] if text.startswith("push") else [("to", Fraction(1))]
    return [_part(table, part.strip()) for part in re.split(r" plus | \+ ", text)]


def _yes(head: str) -> str:
    """The pay that stands in the head of a column of Yes and No."""
    odds = re.search(r"\d+:\d+", head)
    return odds[0] if odds else "push" if "wagers push" in head else "no"


def _part(table: PayTable, text: str) -> Said:
    if share := SHARE.fullmatch(text):
        level = LEVEL.search(share[2])
        return "share", Fraction(share[1]), level[1] if level else None
    if odds := ODDS.fullmatch(text):
        return odds[2] or "to", Fraction(odds[1]) / int(odds[4])
    if times := TIMES.fullmatch(text):
        return "for", Fraction(times[1])
    fixed = FIXED.fullmatch(text)
    assert fixed, f"{table.id}: {text!r} is no form of pay that is printed anywhere else"
    if not fixed[1] and not fixed[3]:  # a bare number; its unit is said in the note
        unit = UNIT.search(table.note)
        assert unit, f"{table.id}: the note does not say what {text!r} means"
        return unit[1], Fraction(fixed[2])
    where = fixed[3] or ""
    return "fixed", int(fixed[2]) * 100, None if "meter" not in where else "not from meter" not in where


def read(pay: Pay) -> Said:
    """A part of our reading, in the same words."""
    match pay.kind:
        case PayKind.METER_PERCENT:
            return "share", Fraction(pay.percent_ppm, 10_000), pay.level
        case PayKind.FIXED:
            return "fixed", pay.cents, pay.from_meter
        case PayKind.ODDS_TO | PayKind.ODDS_FOR:
            return "to" if pay.kind is PayKind.ODDS_TO else "for", Fraction(pay.n, pay.d)
        case _:
            return (pay.kind.value,)


def agree(printed: Said, ours: Said) -> bool:
    """A fixed sum whose cell is silent on the meter may come from either, as the table's note says."""
    return printed == ours or (printed[0] == ours[0] == "fixed" and printed[2] is None and printed[1] == ours[1])


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.id)
def test_our_reading_says_what_the_cell_says(table: PayTable) -> None:
    """Share, level, odds, sum and where it comes from, for every row; a blank or N/A cell offers nothing."""
    for row in table.rows:
        if row.derived:
            assert row.printed_pay == ""
            assert row.pays
            continue
        printed, ours = said(table, row), [read(pay) for pay in row.pays]
        assert len(printed) == len(ours), (row.printed_hand, printed, ours)
        assert all(map(agree, printed, ours)), (row.printed_hand, printed, ours)
        envy = re.match(r"\$?[\d,]+$", row.printed_envy or "")
        assert (cents(envy[0]) if envy else 0) == row.envy_cents


def test_how_many_cells_each_rule_prints() -> None:
    """Each printed cell is stored once, save where two tables store one column; shown with ``pytest -s``."""
    counted: Counter[str] = Counter()
    stored: Counter[str] = Counter()
    for block in BLOCKS:
        counted[block.rule] += len(block.rows) * len(block.groups)
        for group in block.groups:
            stored[block.rule] += sum(1 for row in TABLES[group[0]].rows if not row.derived)
    for rule, cells in sorted(counted.items()):
        print(f"{rule:18} {cells:5} pay cells")
    print(f"{'all':18} {counted.total():5} pay cells in {len(TABLES)} tables")
    assert counted == stored


def test_what_is_not_in_the_cells_but_under_the_table() -> None:
    """The notes under the tables: who keeps the wager, what grows with it, wager and decks a table is printed for."""
    kept = {table.id for table in TABLES.values() if not table.original_wager_returned}
    ways = ("co/nexus/", "co/three-card-poker/")
    assert {table.id for table in TABLES.values() if table.id.startswith(ways)} <= kept
    assert {500} == {TABLES[f"co/texas-holdem-bonus/thbp-{number}"].wager_cents for number in (6, 7)}
    assert {f"pa/roulette-up/progressive-{number}" for number in range(1, 8)} <= {
        table.id for table in TABLES.values() if table.common_outcome
    }
    assert ["co/kings-bounty/kb03"] == [table.id for table in TABLES.values() if table.envy_to == "dealer"]
    assert not TABLES["co/bet-the-set-21/progressive"].envy_scales
    assert {table.id for table in TABLES.values() if table.id.startswith("co/spanish-21/")} == {
        table.id for table in TABLES.values() if table.without_ranks
    }
    printed_decks = {"six": 6, "single": 1, "double": 2}
    for name, decks in printed_decks.items():
        assert {decks} == {TABLES[f"co/buffalo-blackjack/21-magic-{name}-deck-{letter}"].decks for letter in "abcdefg"}
    assert [1, 2, 8, 8, 1, 8, 6] == [
        TABLES[f"co/bet-the-set-21/{name}"].decks for name in (*(f"bts-0{n}" for n in range(1, 7)), "progressive")
    ]
    assert 6 == TABLES["co/royal-match-21/progressive-2"].decks


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
    }.items() <= {game.name: (game.own_cards, game.community_cards) for game in table.games}.items()
    assert ["big-raise-stud"] == [game.name for game in table.games if not game.folded_live]
