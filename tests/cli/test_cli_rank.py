"""``meterd rank``: the public JSON, the sentence for a person, and refusals."""

from __future__ import annotations

import json
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


def test_choices_of_cards_do_not_overlap() -> None:
    """Games that deal the same own cards are one choice."""
    told = run("co/nexus/pmg-ml-02", "--cards", "As")
    assert 2 == told.exit_code
    said = told.stderr.split("takes ")[1].split(";")[0]
    assert 1 == said.count("2 own")
    assert "2 own and 3 to 5 community cards" in said
