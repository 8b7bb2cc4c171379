"""``meterd rank``: the public JSON, the sentence for a person, and refusals."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from meterd.cli.main import main


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["rank", *arguments])


def document(*arguments: str) -> dict[str, Any]:
    result = run(*arguments, "--json")
    assert 0 == result.exit_code, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_a_winning_hand_is_one_json_document() -> None:
    """Exactly the agreed keys: table, hand, pays, envy in cents, cards as dealt."""
    assert {
        "paytable": "co/nexus/pmg-ml-02",
        "hand": "straight-flush",
        "pays": [{"kind": "meter_percent", "percent": "100", "level": "major"}],
        "envy_cents": 30_000,
        "cards_used": ["9h", "Th", "Jh", "Qh", "Kh"],
    } == document("co/nexus/pmg-ml-02", "--cards", "9H 10h jh", "--community", "Qh KH")


def test_a_fixed_pay_says_where_it_comes_from() -> None:
    """THBP-6: $2,500 out of the meter, for the printed wager, growing with it."""
    found = document("co/texas-holdem-bonus/thbp-6", "--cards", "9c 9d", "--community", "9h 9s 2c 3d 4h")
    assert [{"kind": "fixed", "cents": 250_000, "from_meter": True, "level": None, "scales": True}] == found["pays"]


def test_a_losing_hand_is_no_error() -> None:
    """Hand null, one pay of kind loss, exit code 0."""
    found = document("co/three-card-poker/progressive-1", "--cards", "2c 5d 9h")
    assert (None, [{"kind": "loss"}], 0) == (found["hand"], found["pays"], found["envy_cents"])


def test_a_streak_is_ranked_by_its_spins() -> None:
    """The numbers stand where cards would."""
    found = document("pa/roulette-up/progressive-1", "--number", "00 4 9 11 30 2")
    assert ("streak-5", [{"kind": "odds_for", "n": 25, "d": 1}]) == (found["hand"], found["pays"])
    assert ["00", "4", "9", "11", "30"] == found["cards_used"]
    assert document("pa/roulette-up/progressive-1", "--number", "00 4 9 9")["hand"] is None


def test_without_json_it_is_a_sentence() -> None:
    """A person reads what was printed in the rules."""
    won = run("co/nexus/pmg-ml-02", "--cards", "9h Th Jh", "--community", "Qh Kh")
    lost = run("co/three-card-poker/progressive-1", "--cards", "Kh 9h 4h")
    assert won.stdout == "co/nexus/pmg-ml-02: Straight Flush (9h Th Jh Qh Kh) pays 100% Major, envy $300\n"
    assert lost.stdout == "co/three-card-poker/progressive-1: flush, no pay\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ("co/three-card-poker/progressive-1", "--cards", "6\u0441 As Ks"),
            "'6\u0441' is not a card: character 2 is U+0441",
        ),
        (("co/three-card-poker/progressive-1", "--cards", "1s As Ks"), "'1s' is not a card: there is no rank '1'"),
        (("co/three-card-poker/progressive-1", "--cards", "AsAs"), "'AsAs' is not one card"),
        (("co/three-card-poker/progressive-1", "--cards", "As As Ks"), "As occurs twice"),
        (("co/three-card-poker/progressive-1", "--cards", "As Ks"), "takes 3 own cards"),
        (("co/three-card-poker/progresive-1", "--cards", "As Ks Qs"), "did you mean co/three-card-poker/progressive-1"),
        (("../../etc/passwd", "--cards", "As"), "there is no pay table"),
        (("pa/roulette-up/progressive-1", "--number", "1 2 3"), "the streak still runs"),
    ],
)
def test_refused_input_is_exit_2_with_the_reason(arguments: tuple[str, ...], says: str) -> None:
    """Nothing on standard output; the message names the card and what was expected."""
    result = run(*arguments, "--json")
    assert (2, "") == (result.exit_code, result.stdout)
    assert says in result.stderr


def test_dealer_cards_that_decide_nothing_are_said_to() -> None:
    """On standard error; the answer and the exit code stay as they are, and a card dealt twice is still refused."""
    told = run("co/three-card-poker/progressive-1", "--cards", "As Ks Qs", "--dealer", "2c 3d 4h", "--json")
    assert (0, "akq-spades") == (told.exit_code, json.loads(told.stdout)["hand"])
    assert "note: the dealer's cards decide nothing on co/three-card-poker/progressive-1" in told.stderr
    assert 2 == run("co/three-card-poker/progressive-1", "--cards", "As Ks Qs", "--dealer", "As").exit_code


def test_dealer_cards_that_decide_are_used_and_asked_for() -> None:
    """Given, they decide; missing, the row that depends on them is named; where they cannot matter nothing is asked."""
    table = "co/bet-the-set-21/progressive"
    assert "four-of-a-kind" == document(table, "--cards", "Ks Kh", "--dealer", "Kc Kd")["hand"]
    assert "" == run(table, "--cards", "Ks Kh", "--dealer", "Kc Kd").stderr
    assert "pair" == document(table, "--cards", "Ks Kh", "--dealer", "9c")["hand"]
    assert None is document(table, "--cards", "Ks 9h")["hand"]
    told = run(table, "--cards", "Ks Kh", "--json")
    assert (2, "") == (told.exit_code, told.stdout)
    assert "'Four of a Kind' depends on the dealer's cards: give at least 2 of them, up card first" in told.stderr


def test_a_sum_of_pays_is_a_list_with_both() -> None:
    """100 % of the meter plus 250 to 1."""
    found = document("co/royal-match-21/progressive-1", "--cards", "Kh Qh", "--dealer", "Qh Kh")
    assert [
        {"kind": "meter_percent", "percent": "100", "level": None},
        {"kind": "odds_to", "n": 250, "d": 1},
    ] == found["pays"]


def test_rolls_are_numbers_too() -> None:
    """Points of a shooter, both dice or their total."""
    found = document("co/fire-bet/fb-1", "--number", "4 2+2 5 5 6 8 3+3 9 9 4 7")
    assert "for 1" in run("co/fire-bet/fb-1", "--number", "4 2+2 5 5 6 8 3+3 9 9 4 7").stdout
    assert ["4", "5", "6", "9"] == found["cards_used"]


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("co/craps/odds", "is a list of wagers: each row is a bet of its own"),
        ("co/golden-21-poker/pay-schedule-1", "cannot be evaluated"),
    ],
)
def test_a_table_that_no_cards_can_win_says_why(table: str, says: str) -> None:
    """Exit code 2, and the reason."""
    told = run(table, "--cards", "As Ks")
    assert 2 == told.exit_code
    assert says in told.stderr


NEW = """
[[paytable]]
id = "xx/mini/one"
game = "Mini"
wager = "bonus"
kind = "bonus"
basis = "three own cards"
evaluator = "three-card"
games = [{ name = "mini", basis = "three own cards", own_cards = 3 }]
sources = [{ jurisdiction = "XX", rule = "1", table = "One" }]
rows = [{ printed_hand = "Any pair", printed_pay = "2 to 1", pays = ["2 to 1"], match = "pair" }]
"""


def test_a_table_of_a_file_ranks_without_a_catalogue(tmp_path: Path) -> None:
    """A file or a folder; tables of the catalogue are still there; a fault of the file is its place and exit 78."""
    (tmp_path / "mini.toml").write_text(NEW, encoding="utf-8")
    for place in (tmp_path, tmp_path / "mini.toml"):
        arguments = ("--tables", str(place), "--cards")
        assert "any-pair" == document("xx/mini/one", *arguments, "2c 2d 9h")["hand"]
        assert "straight" == document("co/three-card-poker/progressive-1", *arguments, "2c 3d 4h")["hand"]
    (tmp_path / "mini.toml").write_text(NEW.replace('"pair"', '"pear"'), encoding="utf-8")
    broken = run("xx/mini/one", "--tables", str(tmp_path), "--cards", "2c 2d 9h")
    assert (78, "") == (broken.exit_code, broken.stdout)
    assert f"{tmp_path / 'mini.toml'}:11: match: unknown category 'pear'; did you mean 'pair'?" in broken.stderr
    (tmp_path / "mini.toml").write_bytes(b"\n\xff")
    broken = run("xx/mini/one", "--tables", str(tmp_path), "--cards", "2c 2d 9h")
    assert 78 == broken.exit_code
    assert "mini.toml:2: UTF-8: byte 0xff is no UTF-8 text" in broken.stderr


def test_rank_loads_only_what_it_needs() -> None:
    """One verb pays for no other: no linter, no par sheets, no schemas of site files."""
    program = (
        "import sys; from meterd.cli.main import main\n"
        "try: main(['rank', 'co/nexus/pmg-ml-02', '--cards', '9h Th Jh Qh Kh', '--json'])\n"
        "except SystemExit: pass\n"
        "print(' '.join(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "meterd.paytables.outcome" in loaded
    assert not {"pydantic", "hypothesis", "sqlite3", "asyncio", "meterd.config", "meterd.accounting"} & loaded
    assert not {name for name in loaded if name.startswith(("meterd.paytables.lint", "meterd.paytables.parsheet"))}


def test_choices_of_cards_do_not_overlap() -> None:
    """Games that deal the same own cards are one choice."""
    told = run("co/nexus/pmg-ml-02", "--cards", "As")
    assert 2 == told.exit_code
    said = told.stderr.split("takes ")[1].split(";")[0]
    assert 1 == said.count("2 own")
    assert "2 own and 3 to 5 community cards" in said


def test_a_row_that_is_not_printed_says_what_it_pays() -> None:
    """A sentence of the rule adds it, so its pay is our reading, in ``rank`` and in ``show``."""
    two = run("co/spanish-21/match-up-6-deck", "--cards", "8s 8h", "--dealer", "8d").stdout
    assert "(8s 8h) pays 8 to 1 (not printed, see its note)\n" in two
    treasure = run("co/royal-match-21/crown-treasure", "--cards", "Kh Qh", "--dealer", "Ks Qs").stdout
    assert "(Kh Qh) pays $1,000 unscaled (not printed, see its note)\n" in treasure
    shown = CliRunner().invoke(main, ["paytable", "show", "co/spanish-21/match-up-6-deck"]).stdout
    assert "8 to 1 (not printed)" in shown


def test_envy_of_the_dealer_is_said_to_be_his() -> None:
    """No player receives it."""
    assert run("co/kings-bounty/kb03", "--cards", "Ks Kd").stdout.endswith("envy $1 to the dealer\n")


@pytest.mark.parametrize(
    ("table", "cards"),
    [
        ("co/hit-and-run/hit-and-run", "9s Ks"),
        ("co/lucky-lucky/table-1", "2s 3s"),
        ("co/bet-the-set-21/bts-01", "7h 8d"),
    ],
)
def test_a_losing_hand_has_no_name_of_another_game(table: str, cards: str) -> None:
    """Blackjack cards are no flush and no straight where no row asks for one."""
    dealer = () if "hit-and-run" in table else ("--dealer", "9d")
    assert f"{table}: nothing, no pay\n" == run(table, "--cards", cards, *dealer).stdout


@pytest.mark.parametrize(
    ("table", "option"),
    [
        ("co/three-card-poker/progressive-1", "--cards"),
        ("co/hit-and-run/hit-and-run", "--dealer"),
        ("pa/roulette-up/progressive-1", "--number"),
        ("co/fire-bet/fb-1", "--number"),
        ("A" * 100_000, "--cards"),
    ],
)
@pytest.mark.parametrize("text", ["A" * 100_000, "As " * 20_000, "7 " * 20_000])
def test_a_refusal_repeats_only_the_beginning(table: str, option: str, text: str) -> None:
    """However much was written, and wherever."""
    told = run(table, option, text)
    assert 2 == told.exit_code
    assert len(told.stderr) < 1_000, told.stderr[:300]
