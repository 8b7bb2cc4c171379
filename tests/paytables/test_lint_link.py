"""The links of a site file: what they say about money is used, and games that may not share a schedule are found."""

from __future__ import annotations

from pathlib import Path

import pytest
from lint_tables import GOOD, HEAD, LAWS, PAIR, STRAIGHT_FLUSH, TOP, codes, only, row, table

from meterd.edge.files import load_paytables
from meterd.errors import ConfigError
from meterd.paytables.lint import Finding, Severity, lint_link, read_links
from meterd.paytables.model import PayTable

TABLE = table((TOP, row("Triple", "$50", "three-of-a-kind", "$50 from meter"), PAIR))

SITE = """\
[[link]]
id = "pit"
paytable = "xx/sample/one"
wager_cents = 200
[[link.level]]
name = "main"
seed_cents = 100_000
increment_ppm = 200_000
reserve_ppm = "none"
[[table]]
id = "T1"
link = "pit"
game = "sample"
seats = 5
[[table]]
id = "T2"
link = "pit"
game = "sample"
seats = 6
"""


def lint_site(text: str, *tables: PayTable, seats: int | None = None) -> tuple[Finding, ...]:
    known = {each.id: each for each in tables or (TABLE,)}
    (link,) = read_links(text, "site.toml", known, seats)
    return lint_link(link, known, LAWS)


def test_the_site_decides_wager_seed_rates_and_seats() -> None:
    """$50 from the meter is printed for $1; with $2 it is $100, and the largest table has six seats."""
    found = lint_site(SITE)
    assert {"pit"} == {finding.link for finding in found}
    assert "6 seats: one akq-spades costs 1,000.00 (to 5 others)" in only(found, "ENVY_FULL_TABLE").found
    assert "no reserve: the house pays the seed of 1,000.00" in only(found, "SEED_HORIZON").found
    assert "METER_CANNOT_CARRY" not in codes(found)
    poor = only(lint_site(SITE.replace("200_000", "100_000")), "METER_CANNOT_CARRY")
    assert ("main", "pit") == (poor.row, poor.link)
    assert "triple take 11.76 % of each wager on average, the increment puts in 10%" in poor.found
    assert "9 seats" in only(lint_site(SITE, seats=9), "ENVY_FULL_TABLE").found


def test_a_plan_without_wires_or_numbers_will_do() -> None:
    """What is not said is not known; seven seats are a full table where no table stands in the file."""
    found = lint_site('[[link]]\nid = "pit"\npaytable = "xx/sample/one"\n')
    assert "METER_NEEDS_RATE" in codes(found)
    assert "7 seats" in only(found, "ENVY_FULL_TABLE").found


def test_a_game_the_schedule_does_not_name_is_a_fault() -> None:
    """With the tables that deal it, what the schedule is for, and the game's own schedules."""
    text = SITE.replace('game = "sample"\nseats = 6', 'game = "other"\nseats = 6')
    found = only(lint_site(text), "GAME_NOT_APPROVED")
    assert "T2 deals other; xx/sample/one is approved for sample; no schedule of this kind names other" == found.found
    other = table(GOOD, "", HEAD.replace("xx/sample/one", "xx/other/two").replace('name = "sample"', 'name = "other"'))
    assert "other has xx/other/two" in only(lint_site(text, TABLE, other), "GAME_NOT_APPROVED").found
    assert "GAME_NOT_APPROVED" not in codes(lint_site(SITE))


def test_games_of_other_odds_may_not_be_linked() -> None:
    """The best four of five cards in one game, four cards in the other: each row's chance in both."""
    games = (
        'games = [{ name = "five", basis = "five", own_cards = 5 }, { name = "four", basis = "four", own_cards = 4 }]'
    )
    head = HEAD.replace('games = [{ name = "sample", basis = "player\'s three cards", own_cards = 3 }]', games)
    mixed = table((STRAIGHT_FLUSH, PAIR), "", head.replace("three-card", "best-four-of-five"))
    text = SITE.replace('game = "sample"\nseats = 6', 'game = "four"\nseats = 6').replace('"sample"\n', '"five"\n')
    found = [finding for finding in lint_site(text, mixed) if finding.code == "ODDS_DIFFER"]
    assert ["straight-flush", "pair"] == [finding.row for finding in found]
    assert "1 in 1,254 in five, 1 in 6,153 in four" == found[0].found
    same = text.replace('"four"', '"five"')
    assert "ODDS_DIFFER" not in codes(lint_site(same, mixed))


def test_what_the_print_accepts_a_site_has_to_answer_for_where_it_chose() -> None:
    """Seed and rates are the site's: their faults stay. A row that the print has anyway stays accepted."""
    lines = 'lint_accepts = ["METER_CANNOT_CARRY: the print has no rate", "ROW_NEVER_REACHED flush: printed last"]\n'
    rows = (TOP, row("Triple", "$50", "three-of-a-kind", "$50 from meter"), row("Any", "push", "high-card | pair"))
    odd = table((*rows, row("Flush", "1 to 1", "flush suit:c top:2")), lines)
    found = lint_site(SITE.replace("200_000", "100_000"), odd)
    assert only(found, "METER_CANNOT_CARRY").accepted is None
    assert "printed last" == only(found, "ROW_NEVER_REACHED").accepted
    assert "ACCEPTS_NOTHING" not in codes(lint_site(SITE, odd))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[link]\n", "not valid TOML"),
        ("[site]\n", "no [[link]]"),
        ('[[link]]\npaytable = "xx/sample/one"\n', "without an id"),
        ('[[link]]\nid = "pit"\npaytable = "xx/sample/zwei"\n', "there is no pay table 'xx/sample/zwei'"),
    ],
)
def test_a_site_file_without_a_usable_link_is_refused(text: str, says: str) -> None:
    """Nothing to lint is a mistake, not an all-clear."""
    with pytest.raises(ConfigError, match=says.replace("[", r"\[")):
        read_links(text, "site.toml", {TABLE.id: TABLE})


def test_the_example_site_of_the_documentation_has_no_fault() -> None:
    """Its links are what a property would start from."""
    text = (Path(__file__).resolve().parents[2] / "docs" / "site.example.toml").read_text(encoding="utf-8")
    tables = load_paytables()
    for link in read_links(text, "site.example.toml", tables):
        found = lint_link(link, tables, LAWS)
        assert [] == [finding for finding in found if finding.severity is Severity.FAULT]
