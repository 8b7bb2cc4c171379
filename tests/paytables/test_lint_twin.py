"""The linter against a twin that goes through all 22,100 hands one by one and keeps no classes, sets or fractions."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from lint_tables import LAWS, changes, findings, row, table

from meterd.edge.files import load_paytables, universe_text
from meterd.handrank.cards import RANK_MIN, RANKS, SUITS, Card
from meterd.money import format_cents
from meterd.paytables.decide import Decider
from meterd.paytables.lint import CODES, lint_link, lint_table, read_links
from meterd.paytables.lint_pars import ParLaws
from meterd.paytables.model import PayTable
from meterd.paytables.parsheet import parsheet

SEED = 20_261_130
DOCS = Path(__file__).resolve().parents[2] / "docs" / "lint.md"

#: Words a row may mean; their sets contain, cut and equal each other.
WORDS = (
    "straight-flush", "straight-flush top:A", "straight-flush suit:s", "three-of-a-kind", "straight", "straight top:T+",
    "flush", "flush suit:hd", "flush top:A", "pair", "pair top:J+", "pair top:2-T", "pair top:2+", "high-card top:A",
    "straight | flush", "straight-flush top:2",
)  # fmt: skip

DECK = [Card(RANK_MIN + number, suit) for number in range(len(RANKS)) for suit in SUITS]


def hands() -> Iterator[tuple[Card, ...]]:
    return combinations(DECK, 3)


def random_table(rng: random.Random) -> PayTable:
    words = rng.sample(WORDS, rng.randint(3, 7))
    return table(tuple(row(f"row {place}", f"{rng.randint(1, 9)} to 1", each) for place, each in enumerate(words)))


@pytest.mark.parametrize("number", range(6))
def test_rows_against_each_other_hand_by_hand(number: int) -> None:
    """Rows never earned, rows of one hand, hands that earn less than they hold: the same, with the same counts."""
    print(f"seed {SEED} + {number}")
    subject = random_table(random.Random(SEED + number))
    decider = Decider(subject)
    pays = {index: each.pays[0].n for index, each in enumerate(subject.rows)}
    alone, first, both, worse = Counter[int](), Counter[int](), Counter[tuple[int, int]](), Counter[tuple[int, int]]()
    for hand in hands():
        held = decider.holding(hand)
        alone.update(held)
        first.update(held[:1])
        both.update(combinations(held, 2))
        worse.update((held[0], other) for other in held[1:] if pays[other] > pays[held[0]])
    keys = [each.hand for each in subject.rows]
    same = {pair for pair in both if both[pair] == alone[pair[0]] == alone[pair[1]]}
    found = findings(subject)
    assert {keys[two] for _, two in same} == {each.row for each in found if each.code == "TWO_ROWS_ONE_HAND"}
    never = {index for index in range(len(keys)) if not first[index]} - {two for _, two in same}
    assert {keys[index] for index in never} == {each.row for each in found if each.code == "ROW_NEVER_REACHED"}
    expected = sorted(
        (keys[one], f"{count:,} of its hands also hold {keys[two]}")
        for (one, two), count in worse.items()
        if (one, two) not in same
    )
    said = sorted((each.row, each.found.split(", which")[0]) for each in found if each.code == "LATER_ROW_PAYS_MORE")
    assert expected == said


@pytest.mark.parametrize("number", range(4))
def test_a_change_hand_by_hand(number: int) -> None:
    """Every way from a row of today to a row of tomorrow that pays less or more, with its number of hands."""
    print(f"seed {SEED} - {number}")
    rng = random.Random(SEED - number)
    old, new = random_table(rng), random_table(rng)
    deciders = Decider(old), Decider(new)
    moved = Counter[tuple[int | None, int | None]]()
    for hand in hands():
        moved[deciders[0].decide(hand).row, deciders[1].decide(hand).row] += 1
    expected = Counter[tuple[str, int]]()
    for (before, after), count in moved.items():
        today = 0 if before is None else old.rows[before].pays[0].n + 1
        tomorrow = 0 if after is None else new.rows[after].pays[0].n + 1
        same_row = before is not None and after is not None and old.rows[before].hand == new.rows[after].hand
        if today != tomorrow and not same_row:
            expected["HARDER_TO_WIN" if tomorrow < today else "EASIER_TO_WIN", count] += 1
    said = Counter[tuple[str, int]]()
    for finding in changes(old, new):
        if finding.found.endswith(" hands"):  # the others are said of a row of the same name, whatever its hands
            said[finding.code, int(finding.found.split(": ")[-1].split(" of ")[0].replace(",", ""))] += 1
    assert expected == said


PAYS = (
    "100% meter",
    "10% meter",
    "100% mega",
    "$50 from meter",
    "$2,000 from mega",
    "$5",
    "9 for 1",
    "push",
    "loss",
    "",
)


def anything(rng: random.Random) -> PayTable:
    """A table of the same words with pays, envy, seed, rates and acceptances as they come."""
    rows = []
    for place, words in enumerate(rng.sample(WORDS, rng.randint(1, 6))):
        pay = rng.choice(PAYS)
        envy = ', printed_envy = "$20"' if rng.random() < 0.4 else ""
        reading = f'["{pay}"]' if pay else "[]"
        rows.append(f'{{ printed_hand = "row {place}", printed_pay = "", pays = {reading}, match = "{words}"{envy} }}')
    extra = [
        rng.choice(("", "seed_cents = 0\n", "seed_cents = 100_000\n")),
        rng.choice(("", 'increment = "0%"\n', 'increment = "20%"\n')),
        rng.choice(("", 'reserve = "N/A"\n', 'reserve = "4%"\n')),
        rng.choice(("", "common_outcome = true\n", 'envy_trigger = "highest"\n', 'envy_to = "dealer"\n')),
        rng.choice(("", 'rows_printed = "worst-first"\n', 'lint_accepts = ["ROW_NEVER_REACHED row-1: a test"]\n')),
        rng.choice(("", "original_wager_returned = false\n", "envy_scales = false\n", "wager_cents = 500\n")),
    ]
    return table(tuple(rows), "".join(extra))


def test_no_table_however_odd_stops_the_linter() -> None:
    """Forty tables of anything and their changes into each other: findings of the closed list, each with a text."""
    print(f"seed {SEED}")
    rng = random.Random(SEED)
    before = table()
    for _ in range(40):
        subject = anything(rng)
        for finding in (*findings(subject, rng.choice((1, 2, 7))), *changes(before, subject)):
            assert finding.code in CODES
            assert finding.found
            assert finding.next_step
        before = subject


def dearest(own_hands: list[tuple[frozenset[Card], int]], seats: int) -> int:
    """The best choice of hands without a card in common, by trying all."""
    if not seats or not own_hands:
        return 0
    (first, cents), *rest = own_hands
    without = dearest(rest, seats)
    return max(without, cents + dearest([each for each in rest if not each[0] & first], seats - 1))


def test_the_dearest_round_is_never_dearer_than_said() -> None:
    """Two own cards and one on the board: of all boards and all ways to fill four seats, the dearest costs so much."""
    cells = 'printed_pay = "9 to 1", pays = ["9 to 1"]'
    ace = f'{{ printed_hand = "AKQ", printed_envy = "$10", {cells}, match = "straight-flush top:A" }}'
    flush = f'{{ printed_hand = "Other", printed_envy = "$4", {cells}, match = "straight-flush" }}'
    plain = table((ace, flush))
    subject = replace(plain, games=(replace(plain.games[0], own_cards=2, community_cards=1),))
    decider, truth = Decider(subject), 0
    for board in DECK:
        own: list[tuple[frozenset[Card], int]] = []
        for pair in combinations([card for card in DECK if card != board], 2):
            decision = decider.decide(pair, (board,))
            if decision.row is not None:
                own.append((frozenset(pair), subject.rows[decision.row].envy_cents))
        truth = max(truth, dearest(own, 4))
    (said,) = [each.found for each in findings(subject, 4) if each.code == "ENVY_FULL_TABLE"]
    assert f"a round at most {format_cents(truth * 3)} " in said
    assert 1_400 == truth


def test_the_dearest_round_of_the_link_tables_depends_on_the_game() -> None:
    """On a flop one royal and one straight flush; with five own cards four royals. A link joins the games it has."""
    tables = load_paytables()
    (link,) = read_links(
        '[[link]]\nid = "x"\npaytable = "co/nexus/pmg-1"\n[[table]]\nid = "T"\nlink = "x"\n'
        'game = "ultimate-texas-holdem"\nseats = 7\n',
        "site.toml",
        tables,
    )
    laws = ParLaws(universe_text)
    for found, says in (
        (
            lint_table(tables["co/nexus/pmg-1"], laws),
            "29,400.00 at crazy-4-poker (4 × royal-flush, 3 × straight-flush)",
        ),
        (lint_link(link, tables, laws), "7,800.00 at ultimate-texas-holdem (1 × royal-flush, 1 × straight-flush)"),
        (lint_table(tables["co/crazy-4-poker/progressive-1"], laws), "960.00 (1 × four-aces, 6 × four-of-a-kind)"),
    ):
        (said,) = [each.found for each in found if each.code == "ENVY_FULL_TABLE"]
        assert says in said


@pytest.mark.parametrize(
    "table_id",
    ["co/three-card-poker/progressive-1", "co/nexus/pmg-2", "co/blazing-sevens/b7p1", "pa/roulette-up/progressive-4"],
)
def test_the_break_even_meter_is_that_of_the_par_sheet(table_id: str) -> None:
    """Two ways to the same cent."""
    subject = load_paytables()[table_id]
    sheet = parsheet(subject, cached=universe_text)
    (said,) = [each.found for each in lint_table(subject, ParLaws(universe_text)) if each.code == "BREAK_EVEN"]
    expected = sheet.meters["main"].break_even_cents
    assert expected is not None
    assert f"returns itself at a meter of {format_cents(expected)} " in said


def test_the_documentation_lists_every_code_with_its_weight() -> None:
    """The closed list of docs/lint.md is the one of the program, in its order."""
    listed = re.findall(r"^\| `([A-Z_]+)` \| (fault|notice) \|", DOCS.read_text(encoding="utf-8"), re.MULTILINE)
    assert [(code, each.severity.value) for code, each in CODES.items()] == listed


def test_findings_do_not_depend_on_what_was_linted_before() -> None:
    """A memory of the last table never answers for another of the same id."""
    one, two = table(), table((row("Pair", "1 to 1", "pair"),))
    laws = ParLaws(lambda _name: None)
    assert [lint_table(each, laws) for each in (one, two, one)] == [lint_table(each, LAWS) for each in (one, two, one)]
