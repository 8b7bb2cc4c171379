"""Each finding about one table fires on a smallest table that has it and stays quiet on its neighbour."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import pytest
from lint_tables import (
    FLUSH,
    GOOD,
    HEAD,
    LAWS,
    METER,
    OTHER_AKQ,
    PAIR,
    STRAIGHT,
    STRAIGHT_FLUSH,
    TOP,
    TRIPLE,
    codes,
    findings,
    only,
    row,
    table,
)

from meterd.money import format_cents
from meterd.paytables.lint import CODES, Severity, lint_table
from meterd.paytables.lint_findings import ACCEPTABLE
from meterd.paytables.model import PayTable
from meterd.paytables.parsheet import parsheet


def test_a_good_table_has_no_finding() -> None:
    """Five rows in the right order that return 92.72 %: nothing to say."""
    assert () == findings(table())


#: Spins: twelve rising numbers in a row come once in 3 thousand million, nine once in a million.
STREAK = HEAD.replace('"three-card"', '"rising-streak"')

#: code → a table with the fault, and its neighbour without.
PAIRS = {
    "NOTE_MISSING": (
        replace(table(), evaluator=None),
        replace(table(), evaluator=None, note="The rule does not say what a straight is."),
    ),
    "READING_MISSING": (
        table((*GOOD[:4], '{ printed_hand = "Pair", printed_pay = "1 to 1", pays = [] }')),
        table((*GOOD[:4], '{ printed_hand = "Pair", printed_pay = "N/A", pays = [] }')),
    ),
    "READING_DIFFERS": (
        table((*GOOD[:4], row("Pair", "1 to 1", "pair", "1 for 1"))),
        table((*GOOD[:4], row("Pair", "even money", "pair", "1 to 1"))),
    ),
    "TWO_ROWS_ONE_HAND": (
        table((row("AKQ", "50 to 1", "straight-flush top:A"), row("Mini", "45 to 1", "straight-flush top:Q+ holds:A"))),
        table((row("AKQ", "50 to 1", "straight-flush top:A"), row("Mini", "45 to 1", "straight-flush top:Q+"))),
    ),
    "ROW_NEVER_REACHED": (
        table((TRIPLE, STRAIGHT, FLUSH, row("Red flush", "3 to 1", "flush suit:hd"), PAIR)),
        table((TRIPLE, STRAIGHT, row("Red flush", "4 to 1", "flush suit:hd"), FLUSH, PAIR)),
    ),
    "LATER_ROW_PAYS_MORE": (
        table((TRIPLE, row("High straight", "6 to 1", "straight top:A"), STRAIGHT_FLUSH)),
        table((TRIPLE, STRAIGHT_FLUSH, row("High straight", "6 to 1", "straight top:A"))),
    ),
    "ROWS_OVERLAP": (
        table((row("AKQ", "50 to 1", "straight-flush top:A"), row("Spades", "45 to 1", "straight-flush suit:s"))),
        table((row("AKQ", "50 to 1", "straight-flush top:A suit:hdc"), row("S", "45 to 1", "straight-flush suit:s"))),
    ),
    "NOT_MEASURED": (
        replace(table(), evaluator=None, note="The rule does not say what a straight is."),
        table(),
    ),
    "RETURN_ABOVE_WAGER": (
        table((*GOOD[:4], row("Pair", "2 to 1", "pair"))),
        table((*GOOD[:4], row("Pair", "1 to 1", "pair"))),
    ),
    "RETURN_ABOVE_WAGER_WITH_ENVY": (
        table((TOP, OTHER_AKQ, row("Pair", "5 for 1", "pair")), METER),
        table((TOP, OTHER_AKQ, row("Pair", "4 for 1", "pair")), METER),
    ),
    "METER_CANNOT_CARRY": (
        table((TOP, row("Triple", "$100", "three-of-a-kind", "$100 from meter")), METER),
        table((TOP, row("Triple", "$50", "three-of-a-kind", "$50 from meter")), METER),
    ),
    "METER_NEEDS_RATE": (
        table((TOP, row("Triple", "$50", "three-of-a-kind", "$50 from meter"))),
        table((TOP, row("Triple", "$50", "three-of-a-kind", "$50"))),
    ),
    "FIXED_ABOVE_SEED": (
        table((TOP, row("QJT spades", "$1,001", "straight-flush top:Q suit:s", "$1,001 from meter")), METER),
        table((TOP, row("QJT spades", "$1,000", "straight-flush top:Q suit:s", "$1,000 from meter")), METER),
    ),
    "ENVY_FULL_TABLE": (table((TOP, PAIR)), table((STRAIGHT_FLUSH, PAIR))),
    "SEED_HORIZON": (table((TOP, PAIR), METER), table((TOP, PAIR))),
    "BREAK_EVEN": (table((TOP, PAIR)), table((STRAIGHT_FLUSH, PAIR))),
    "TOP_AWARD_TOO_RARE": (
        table((row("12", "100%", "streak-12", "100% meter"),), "", STREAK),
        table((row("11", "100%", "streak-9", "100% meter"),), "", STREAK),
    ),
    "ACCEPTS_NOTHING": (
        table(GOOD, 'lint_accepts = ["ROW_NEVER_REACHED pair: it is not so"]\n'),
        table(
            (TRIPLE, FLUSH, row("Red flush", "3 to 1", "flush suit:hd")),
            'lint_accepts = ["ROW_NEVER_REACHED red-flush: the print has it"]\n',
        ),
    ),
}


@pytest.mark.parametrize("code", PAIRS)
def test_a_finding_fires_on_the_table_that_has_it_only(code: str) -> None:
    """The neighbour differs in one cell, match or number."""
    has, has_not = PAIRS[code]
    assert code in codes(findings(has))
    assert code not in codes(findings(has_not))


def test_every_code_of_the_list_has_a_test() -> None:
    """What is not here is about a change or a link."""
    elsewhere = {"HARDER_TO_WIN", "PAYS_LESS", "EASIER_TO_WIN", "NOT_COMPARABLE", "GAME_NOT_APPROVED", "ODDS_DIFFER"}
    assert set(CODES) == {*PAIRS, *elsewhere}


@pytest.mark.parametrize(
    ("subject", "code", "at", "says"),
    [
        (PAIRS["TWO_ROWS_ONE_HAND"][0], "TWO_ROWS_ONE_HAND", "mini", "the same 4 of 22,100 hands hold it and akq"),
        (
            PAIRS["ROW_NEVER_REACHED"][0],
            "ROW_NEVER_REACHED",
            "red-flush",
            "all of the 572 hands that hold it earn an earlier row: straight takes 24, flush takes 548",
        ),
        (
            table((row("Low", "9 to 1", "straight top:2"), PAIR)),
            "ROW_NEVER_REACHED",
            "low",
            "0 of 22,100 hands hold it",
        ),
        (
            PAIRS["LATER_ROW_PAYS_MORE"][0],
            "LATER_ROW_PAYS_MORE",
            "high-straight",
            "4 of its hands also hold straight-flush, which pays more: '40 to 1' against '6 to 1'",
        ),
        (
            PAIRS["ROWS_OVERLAP"][0],
            "ROWS_OVERLAP",
            "akq",
            "1 of its hands also hold spades; all of them earn this row ('50 to 1')",
        ),
        (PAIRS["RETURN_ABOVE_WAGER"][0], "RETURN_ABOVE_WAGER", None, "returns 109.67 % of the wager, without a meter"),
        (
            PAIRS["METER_CANNOT_CARRY"][0],
            "METER_CANNOT_CARRY",
            "main",
            "triple take 23.53 % of each wager on average",
        ),
        (
            PAIRS["FIXED_ABOVE_SEED"][0],
            "FIXED_ABOVE_SEED",
            "main",
            "qjt-spades pays 1,001.00, the seed is 1,000.00: up to 1.00 from the house",
        ),
        (
            table((TOP, OTHER_AKQ, PAIR)),
            "ENVY_FULL_TABLE",
            "akq-spades",
            "costs 600.00 (to 6 others), a round at most 1,050.00 (1 × akq-spades, 3 × akq-others); on average 4.75 %",
        ),
        (
            table((TOP, PAIR), METER),
            "SEED_HORIZON",
            "main",
            "after 25,000 wagers; a hit comes first with 67.74 %, one being 1 in 22,100; 884.00 gather between two",
        ),
        (
            table((TOP, PAIR), METER.replace('"4%"', '"N/A"')),
            "SEED_HORIZON",
            "main",
            "no reserve: the house pays the seed of 1,000.00 at every hit, 1 in 22,100 wagers, 4.52 % of each wager",
        ),
        (
            table((TOP, PAIR)),
            "BREAK_EVEN",
            "main",
            "the wager of 1.00 returns itself at a meter of 14,508.00 (34.35 % without the meter)",
        ),
    ],
)
def test_a_finding_says_where_and_with_numbers(subject: PayTable, code: str, at: str | None, says: str) -> None:
    """Counted by hand: 22,100 deals of three cards."""
    finding = only(findings(subject), code)
    assert at == finding.row
    assert says in finding.found
    assert finding.next_step


def test_envy_by_seats_trigger_and_receiver() -> None:
    """Two seats give each other; the highest hand alone triggers; a dealer's envy goes to one."""
    subject = table((TOP, OTHER_AKQ, PAIR))
    assert (
        "a round at most 125.00 (1 × akq-spades, 1 × akq-others)" in only(findings(subject, 2), "ENVY_FULL_TABLE").found
    )
    assert "ENVY_FULL_TABLE" not in codes(findings(subject, 1))
    highest = replace(subject, envy_trigger="highest")
    assert "a round at most 600.00 (1 × akq-spades)" in only(findings(highest), "ENVY_FULL_TABLE").found
    dealer = replace(subject, envy_to="dealer")
    assert "costs 100.00 (to the dealer), a round at most 175.00" in only(findings(dealer), "ENVY_FULL_TABLE").found


def test_where_hands_are_not_listed_one_by_one_the_count_or_the_seats_bound_the_round() -> None:
    """A shoe of one deck has one AKQ of spades; one of two decks may have it at every seat, as may spins."""
    shoe = HEAD.replace('"three-card"', '"shoe"')
    one = table((TOP.replace("straight-flush top:A suit:s", "any cards:AsKsQs"), PAIR), "", shoe)
    assert {} == LAWS.hands(one, ["akq-spades"])
    assert "a round at most 600.00 (1 × akq-spades)" in only(findings(one), "ENVY_FULL_TABLE").found
    assert "4,200.00 (7 × akq-spades)" in only(findings(replace(one, decks=2)), "ENVY_FULL_TABLE").found
    spins = table((TOP.replace("straight-flush top:A suit:s", "streak-9"),), "common_outcome = true\n", STREAK)
    assert "4,200.00 (7 × akq-spades)" in only(findings(spins), "ENVY_FULL_TABLE").found


def test_hands_of_seven_cards_are_not_listed_one_by_one() -> None:
    """133,784,560 sets would take too long; a row asked of a part of the cards is not a set of all of them either."""
    game = replace(table().games[0], own_cards=2, community_cards=5)
    seven = replace(table((STRAIGHT_FLUSH, PAIR)), games=(game,), evaluator="best-five-of-seven")
    assert {} == LAWS.hands(seven, ["straight-flush"])
    part = table((row("First two", "9 to 1", "pair first:2"), row("Pair", "1 to 1", "pair")))
    assert {} == LAWS.hands(part, ["first-two"])


def test_a_row_that_contains_an_earlier_one_is_no_overlap() -> None:
    """The ace-high straight flush before all the others is the usual order."""
    assert () == findings(table((row("AKQ", "50 to 1", "straight-flush top:A"), STRAIGHT_FLUSH)))


def test_shared_cards_let_every_seat_hold_the_dearest() -> None:
    """Where a board counts, seven seats may all hold the same hand."""
    game = replace(table().games[0], own_cards=0, community_cards=3)
    shared = replace(table((TOP, OTHER_AKQ, PAIR)), games=(game,))
    assert "a round at most 4,200.00 (7 × akq-spades)" in only(findings(shared), "ENVY_FULL_TABLE").found


def test_an_accepted_fault_is_a_notice_with_its_reason() -> None:
    """The row named is accepted; the same code at another row stays a fault, and an idle line is one too."""
    rows = (TRIPLE, FLUSH, row("Red flush", "3 to 1", "flush suit:hd"), row("Black flush", "3 to 1", "flush suit:sc"))
    lines = '"ROW_NEVER_REACHED red-flush: printed so", "ROW_NEVER_REACHED pair: no", "HARDER_TO_WIN: no", "nothing"'
    found = findings(table(rows, f"lint_accepts = [{lines}]\n".replace(', "nothing"', "")))
    red, black = [finding for finding in found if finding.code == "ROW_NEVER_REACHED"]
    assert (Severity.NOTICE, "printed so", "red-flush") == (red.severity, red.accepted, red.row)
    assert (Severity.FAULT, None, "black-flush") == (black.severity, black.accepted, black.row)
    idle = [finding.found for finding in found if finding.code == "ACCEPTS_NOTHING"]
    assert 2 == len(idle)
    assert "accepts something that is not there" in idle[0]
    assert f"one of {', '.join(ACCEPTABLE)}" in idle[1]


def test_nothing_is_said_to_be_idle_where_nothing_was_measured() -> None:
    """Without a par sheet an acceptance of a counted fault may well have its reason; one of a cell has not."""
    lines = 'lint_accepts = ["ROW_NEVER_REACHED pair: printed so", "READING_MISSING: no"]\n'
    found = findings(replace(table(GOOD, lines), evaluator=None, note="Not defined."))
    assert ["NOT_MEASURED", "ACCEPTS_NOTHING"] == codes(found)
    assert "READING_MISSING" in found[1].found


def test_the_note_stands_with_every_finding() -> None:
    """A reader of an odd print sees at once what the table's file says about it."""
    assert {"Odd."} == {finding.note for finding in lint_table(replace(table((TOP, PAIR)), note="Odd."), LAWS)}


def test_a_list_of_wagers_is_judged_row_by_row() -> None:
    """Two bets on eighteen pockets are not one hand; a bet that returns more than itself is a fault of that bet."""
    head = (
        '[[paytable]]\nid = "xx/wheel/odds"\ngame = "W"\nwager = "bets"\nkind = "roulette"\nbasis = "spin"\n'
        'evaluator = "wagers"\nsources = [{ jurisdiction = "XX", rule = "1", table = "One" }]\n'
    )
    rows = (
        row("Red", "1 to 1", "pockets:18"),
        row("Black", "1 to 1", "pockets:18"),
        row("One", "36 to 1", "pockets:1"),
    )
    assert () == findings(table(rows, "", head))
    generous = table((*rows[:2], row("One", "38 to 1", "pockets:1")), "", head)
    finding = only(findings(generous), "RETURN_ABOVE_WAGER")
    assert ("one", "returns 102.63 % of the wager on it") == (finding.row, finding.found)


def test_every_number_of_decks_and_both_wheels_are_judged() -> None:
    """A pair at 13 to 1 is fair with one deck, above the wager with eight; 37 to 1 with two zeros, not with one."""
    shoe = HEAD.replace('"three-card"', '"shoe"').replace("own_cards = 3", "own_cards = 2")
    pair = (row("Pair", "13 to 1", "pair"),)
    assert [] == codes(findings(table(pair, "decks = 1\n", shoe)))
    found = findings(table(pair, "decks = 1\ndecks_allowed = [1, 8]\n", shoe))
    assert ["RETURN_ABOVE_WAGER"] == codes(found)
    assert "with 8 decks: returns 104.58 % of the wager" in found[0].found
    head = HEAD.replace('"three-card"', '"wagers"')
    found = findings(table((row("One", "37 to 1", "pockets:1"),), "", head))
    assert ["RETURN_ABOVE_WAGER"] == codes(found)
    assert ("one", "with a single-zero wheel: returns 102.7 % of the wager on it") == (found[0].row, found[0].found)
    assert [] == codes(findings(table((row("Five", "6 to 1", "pockets:5/38"),), "", head))[1:])


@pytest.mark.parametrize(
    ("cell", "reading", "differs"),
    [
        ("150%", "100% meter", True),
        ("1.2.3%", "100% meter", True),
        ("0%", "100% meter", True),
        ("0.00001%", "100% meter", True),
        ("0 to 1", "5 to 1", True),
        ("5 to 0", "5 to 1", True),
        ("5 To 1", "5 for 1", True),
        ("5 TO 1", "5 to 1", False),
        ("5:1", "5 to 1", False),
        ("5:1", "5 for 1", False),
        ("5:1", "50 to 1", True),
        ("10 Percent", "100% meter", True),
        ("10 PERCENT", "10% meter", False),
        ("10% (from meter)", "100% meter", True),
        ("10% of the progressive", "10% meter", False),
    ],
)
def test_cells_of_one_reading_however_they_are_printed(cell: str, reading: str, differs: bool) -> None:
    """Capitals, a colon, where a share comes from; a cell that can mean nothing possible is read otherwise always."""
    found = findings(table((row("SF", cell, "straight-flush", reading),)))
    assert differs == ("READING_DIFFERS" in codes(found))


def test_what_takes_too_long_is_not_measured() -> None:
    """Neither waited for nor passed over in silence: a royal flush of spades among seven cards, with nothing kept."""
    head = HEAD.replace('"three-card"', '"best-five-of-seven"').replace("own_cards = 3", "own_cards = 7")
    found = findings(table((row("Royal", "50 to 1", "royal-flush suit:s"),), "", head))
    assert ["NOT_MEASURED"] == codes(found)
    assert re.search(r"counting its hands would take about [0-9,]+ s, more than the 60 allowed", found[0].found)


def test_parsheet_and_linter_agree_about_sums_from_a_meter() -> None:
    """48 hands take $460 from a meter of $1: 100.14 % come back, whoever reckons."""
    rows = (
        row("SF", "$460 from meter", "straight-flush"),
        row("Trips", "100%", "three-of-a-kind", "100% meter"),
    )
    subject = table(rows, 'seed_cents = 100\nincrement = "99%"\n')
    sheet = parsheet(subject, cached=lambda _name: None)
    found = only(findings(subject), "RETURN_ABOVE_WAGER").found
    assert Fraction(48 * 460 + 52, 22_100) == 1 - (sheet.house_edge_at_seed or 0)
    assert "returns 100.14 % of the wager" in found
    assert (
        f"at a meter of {format_cents(sheet.meters['main'].break_even_cents or 0)} "
        in only(findings(subject), "BREAK_EVEN").found
    )
