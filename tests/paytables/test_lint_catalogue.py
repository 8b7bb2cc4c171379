"""The shipped catalogue has no fault; chances the linter reckons with are those of the par sheets."""

from __future__ import annotations

import pytest
from lint_tables import codes, only

from meterd.edge.files import load_paytables, universe_text
from meterd.paytables.lint import Finding, Severity, lint_table
from meterd.paytables.lint_findings import ACCEPTABLE
from meterd.paytables.lint_pars import ParLaws
from meterd.paytables.parsheet import parsheet

TABLES = load_paytables()
LAWS = ParLaws(universe_text)


def families() -> list[str]:
    return list(dict.fromkeys(table_id.rpartition("/")[0] for table_id in TABLES))


def linted(table_id: str) -> tuple[Finding, ...]:
    return lint_table(TABLES[table_id], LAWS)


@pytest.mark.parametrize("family", families())
def test_no_table_of_the_catalogue_has_a_fault(family: str) -> None:
    """What is odd in the print is accepted in the table's own file, with a reason."""
    found = [finding for each in TABLES if each.rpartition("/")[0] == family for finding in linted(each)]
    assert [] == [
        f"{each.code} {each.table} {each.row}: {each.found}" for each in found if each.severity is Severity.FAULT
    ]


def test_what_the_catalogue_accepts_has_a_known_code_and_a_reason() -> None:
    """No line is a blank cheque."""
    for table in TABLES.values():
        for line in table.lint_accepts:
            code, _, reason = line.partition(": ")
            assert code.split()[0] in ACCEPTABLE, f"{table.id}: {line}"
            assert len(reason.split()) >= 4, f"{table.id}: {line}"


@pytest.mark.parametrize(
    "table_id",
    [
        "co/three-card-poker/progressive-1",
        "co/nexus/pmg-ml-01",
        "co/straight-edge/bonus-1",
        "co/match-the-dealer/2-deck",
    ],
)
def test_counting_rows_side_by_side_gives_the_par_sheet(table_id: str) -> None:
    """One enumeration serves both: the first of the rows that hold is the row the par sheet counts."""
    table = TABLES[table_id]
    law, sheet = LAWS.law(table), parsheet(table, cached=universe_text)
    assert LAWS.joint(table)
    assert {row.hand: row.count for row in sheet.rows} == law.counts
    assert {row.hand: row.probability for row in sheet.rows} == law.chances
    assert sheet.universe == law.universe


def test_the_seed_horizon_of_the_roulette_tables_is_the_one_worked_out_by_hand() -> None:
    """Table 1: 4 % of $1 pays $10,000 after 250,000 wagers and gathers $40,540.93 a cycle; table 4: $4,445.28."""
    one = only(linted("pa/roulette-up/progressive-1"), "SEED_HORIZON").found
    assert "has paid the seed of 10,000.00 after 250,000 wagers" in one
    assert "one being 1 in 1,013,523; 40,540.93 gather between two hits, 4.05 times the seed" in one
    four = only(linted("pa/roulette-up/progressive-4"), "SEED_HORIZON").found
    assert "4,445.28 gather between two hits, 1.48 times the seed: the reserve carries it" in four
    seven = only(linted("pa/roulette-up/progressive-7"), "SEED_HORIZON").found
    assert "no reserve: the house pays the seed of 3,000.00 at every hit, 1 in 88,906 wagers" in seven


def test_fixed_sums_of_texas_holdem_bonus_need_a_third_of_the_wager() -> None:
    """$500, $100 and $50 for $1 come out of the meter: 624, 3,744 and 5,108 of 2,598,960 hands take 36.24 % of it."""
    found = only(linted("co/texas-holdem-bonus/thbp-1"), "METER_NEEDS_RATE").found
    assert "four-of-a-kind, full-house, flush take 36.24 % of each wager on average" == found


def test_a_misprinted_envy_shows_in_the_return() -> None:
    """Emperor's Challenge G prints 220 where its sisters print 10 to 25: a third of the wager comes back as envy."""
    found = only(linted("co/emperors-challenge/treasure-g"), "RETURN_ABOVE_WAGER_WITH_ENVY").found
    assert "92.17 % of the wager and 34.31 % as envy of 6 others, 126.48 % together" in found
    assert "RETURN_ABOVE_WAGER_WITH_ENVY" not in codes(linted("co/emperors-challenge/treasure-f"))


def test_a_table_without_an_evaluator_says_what_was_not_checked() -> None:
    """The reason is the par sheet's, not ours."""
    bare = next(each for each in TABLES.values() if each.evaluator is None)
    assert "NOT_MEASURED" in codes(linted(bare.id))
