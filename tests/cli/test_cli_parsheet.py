"""``meterd paytable parsheet``: the document, the page for a person, and what it refuses."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

from click.testing import CliRunner, Result

from meterd.cli.main import main

TABLE = "co/three-card-poker/progressive-1"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["paytable", "parsheet", *arguments])


def test_the_document_is_as_the_interface_says() -> None:
    """Whole numbers and fractions in lowest terms as strings, unknown figures as null."""
    result = run(TABLE, "--json")
    document = json.loads(result.stdout)
    assert 0 == result.exit_code
    assert "" == result.stderr
    assert (TABLE, "22100") == (document["paytable"], document["universe"])
    assert {"hand": "akq-spades", "count": "1", "probability": "1/22100"} == document["rows"][0]
    assert str(Fraction(22_100 - 820, 22_100)) == document["lose_probability"]
    assert ("601/1105", "7/884") == (document["fixed_return"], document["envy_return_per_other_player"])
    assert {
        "main": {"share_probability": "1/22100", "break_even_cents": "1008000", "mean_award_cents": None}
    } == document["meters"]


def test_the_page_names_printed_hands_and_rounds() -> None:
    """One line a row, then returns, levels and envy."""
    lines = run(TABLE).stdout.splitlines()
    assert f"{TABLE}: Three Card Poker, progressive; 22,100 equally likely outcomes" == lines[0]
    assert "AKQ Spades" in lines[1]
    assert lines[1].endswith("0.00452489 %  1 in 22,100.0")
    assert (
        "Level main: a wager wins 0.00452489 % of the meter; break-even meter 10,080.00, mean award not known" in lines
    )
    assert "Envy return per other player: 0.79185520 %" in lines


def test_a_rate_gives_the_mean_award() -> None:
    """Seed as printed or as given, for the wager the table prints."""
    found = json.loads(run(TABLE, "--increment", "main=20%", "--json").stdout)
    assert str(100_000 + 20 * 22_100) == found["meters"]["main"]["mean_award_cents"]
    found = json.loads(run(TABLE, "--seed", "main=2,000.00", "--increment", "main=20%", "--json").stdout)
    assert str(200_000 + 20 * 22_100) == found["meters"]["main"]["mean_award_cents"]


def test_decks_and_wheel() -> None:
    """Both change the chances and are named on the page."""
    six = json.loads(run("co/blazing-sevens/b7p1", "--decks", "6", "--json").stdout)
    assert (6, str(312 * 311 // 2 * 310)) == (six["decks"], six["universe"])
    assert "6 decks" in run("co/blazing-sevens/b7p1", "--decks", "6").stdout.splitlines()[0]
    single = run("pa/roulette-up/a", "--wheel", "single-zero").stdout
    assert "single-zero wheel; 3,512,479,453,921 equally likely outcomes" in single.splitlines()[0]


def test_wagers_each_with_their_edge() -> None:
    """A list of wagers has no chance to lose and no return of its own; the page says what is left out."""
    document = json.loads(run("co/craps/odds", "--json").stdout)
    assert [None, None] == [document["lose_probability"], document["fixed_return"]]
    passed = next(row for row in document["rows"] if row["hand"] == "pass-bet")
    assert ("244/495", "0", "488/495", "7/495") == tuple(
        passed[key] for key in ("probability", "push_probability", "return", "house_edge")
    )
    page = run("co/craps/odds").stdout
    assert "Put Bet" in page.splitlines()[1]
    assert "house edge 1.41414141 %" in page


def test_what_has_no_par_sheet_says_why() -> None:
    """Exit code 2 and the reason: no evaluator, play, a level or a number of decks that the table does not know."""
    for arguments, why in (
        (("co/golden-21-poker/pay-schedule-1",), "co/golden-21-poker/pay-schedule-1 has no par sheet"),
        (("co/straight-jack/sjp1",), "depends on how hands are played"),
        ((TABLE, "--decks", "2"), "not dealt from a shoe"),
        ((TABLE, "--seed", "grand=1"), "pays from no level 'grand'; its levels: main"),
        ((TABLE, "--seed", "main=-5"), "below zero"),
        ((TABLE, "--seed", "main=1.00", "--seed", "main=2.00"), "main is given twice"),
        ((TABLE, "--wheel", "single-zero"), "not about a roulette wheel"),
        (("co/bet-the-set-21/bts-01", "--decks", "8"), "printed for 1 deck, not for 8"),
        ((TABLE, "--seed", "1,000.00"), "expected LEVEL=VALUE, such as main=10,000.00"),
        ((TABLE, "--increment", "main=9.55555%"), "is not a rate"),
        (("co/three-card-poker/progresive-1",), "did you mean"),
    ):
        result = run(*arguments)
        assert 2 == result.exit_code, arguments
        assert why in " ".join(result.stderr.split()), result.stderr


def test_a_universe_that_is_not_kept_is_announced(tmp_path: Path) -> None:
    """On standard error, so that the document stays alone on standard output."""
    file = tmp_path / "new.toml"
    file.write_text(
        """[[paytable]]
id = "xx/new/six"
game = "Six"
wager = "bonus"
kind = "bonus"
basis = "best five of six"
evaluator = "best-five-of-six"
games = [{ name = "six", basis = "six cards", own_cards = 6 }]
sources = [{ jurisdiction = "XX", rule = "1", table = "Six" }]
rows = [{ printed_hand = "Flush", printed_pay = "10 to 1", pays = ["10 to 1"] }]
""",
        encoding="utf-8",
    )
    result = run("xx/new/six", "--tables", str(file), "--json")
    assert 0 == result.exit_code
    assert "not kept as data; working them out takes about" in result.stderr
    assert str(205_792 + 1_844) == json.loads(result.stdout)["rows"][0]["count"]
