"""Pages are played against the real rules: what holds, what does not, and what a restart may change (nothing)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from meterd.app.scenario import Outcome, play
from meterd.app.scenario_parse import PageError, parse_page
from meterd.app.scenario_world import World
from meterd.cli.main import main
from meterd.edge.files import load_paytables
from meterd.errors import InvariantBroken

PAGES = Path(__file__).resolve().parents[1] / "scenarios"
FILES = sorted(PAGES.glob("*.scn"), key=lambda file: file.name)

SETUP = """\
link sevens wager 1.00 units 2 paytable co/blazing-sevens/b7p2
level sevens/main seed 1000.00 increment 20% reserve 4% reset seed_plus_reserve ties sequential floor none
table T1 link sevens game hit-and-run seats 6
"""
SETUP_LINES = 3


def run(text: str, *, restart_after_each: bool = False) -> Outcome:
    return play(
        "page.scn",
        parse_page(text, "page.scn"),
        paytables=load_paytables(),
        folder=PAGES,
        restart_after_each=restart_after_each,
    )


def failure(text: str) -> tuple[int, str, str]:
    found = run(SETUP + text).failure
    assert found is not None
    return found.line - SETUP_LINES, found.expected, found.actual


def verb(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["scenario", *arguments])


@pytest.mark.parametrize("restart_after_each", [False, True], ids=["straight", "restarted"])
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_page_holds(file: Path, restart_after_each: bool) -> None:
    """Every page holds, also when everything is folded again from the ledger after every line."""
    page = parse_page(file.read_text(encoding="utf-8"), file.name)
    outcome = play(file.name, page, paytables=load_paytables(), folder=PAGES, restart_after_each=restart_after_each)
    assert outcome.failure is None


def test_a_restart_leaves_the_same_ledger() -> None:
    """Folding again changes neither what is decided nor a byte of what is written."""
    text = (PAGES / "m5-correct-keeps-its-place.scn").read_text(encoding="utf-8")
    assert run(text).head == run(text, restart_after_each=True).head


def test_the_first_expectation_that_does_not_hold_ends_the_page() -> None:
    """Line, expected and actual; what follows is not played."""
    assert (3, "1000.21", "1000.20") == failure(
        "wagers T1 seat 1\nlock T1\nexpect meter sevens/main 1000.21\nexpect meter sevens/main 5.00\n"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("expect reserve sevens/main none", (1, "none", "0.00")),
        ("expect overflow sevens/main 1.00", (1, "1.00", "0.00")),
        ("expect microcents sevens/main 1", (1, "1", "100000000000")),
        ("expect count sevens/main 4", (1, "4", "0")),
        ("expect award A1 paid 5.00", (1, "paid", "no such award")),
        ("expect envy T1 seat 2 5.00", (1, "5.00", "0.00")),
        ("expect toke T1 5.00", (1, "5.00", "0.00")),
        ("expect streak T1 2", (1, "2", "0")),
        ("expect house seed sevens/main 1000.00", (1, "1000.00", "-1000.00")),
        ("expect liability sevens 1.00", (1, "1.00", "0.00")),
        ("expect account house/pays/T1 -1.44", (1, "-1.44", "0.00")),
        ("expect accounts sum 1.00", (1, "1.00", "0 microcents")),
    ],
)
def test_every_expectation_can_fail(text: str, expected: tuple[int, str, str]) -> None:
    """Each kind of expectation says what was expected and what is."""
    assert expected == failure(text + "\n")


def test_a_refusal_nobody_expected_fails_at_its_own_line() -> None:
    """The refused line is named, not the one after it."""
    line, expected, actual = failure("claim T1 seat 1 three-7s\nexpect accounts sum 0\nlock T1\n")
    assert (1, "accepted") == (line, expected)
    assert actual.startswith("refused TABLE_NOT_LOCKED")


def test_a_refusal_is_named_rather_than_the_expectation_it_upsets() -> None:
    """Whoever reads the failure wants its cause."""
    assert (1, "accepted") == failure("claim T1 seat 1 three-7s\nexpect award A1 pending 200.00\n")[:2]


def test_a_refusal_at_the_end_of_a_page_fails_too() -> None:
    """The last command of a page is no exception."""
    assert "accepted" == failure("wagers T1 seat 1\nlock T1\nclaim T1 seat 2 three-7s")[1]


def test_a_refusal_for_another_reason_fails() -> None:
    """The reason counts."""
    line, expected, actual = failure("end T1\nrefused SEAT_FOLDED\n")
    assert (2, "refused SEAT_FOLDED") == (line, expected)
    assert actual.startswith("refused TABLE_NOT_LOCKED")


def test_an_accepted_command_is_not_refused() -> None:
    """``refused`` after an accepted command fails."""
    assert (2, "refused SEAT_FOLDED", "accepted") == failure("lock T1\nrefused SEAT_FOLDED\n")


def test_rounds_stop_at_a_refusal() -> None:
    """A table that is locked takes no whole rounds."""
    line, expected, _ = failure("lock T1\nrounds T1 5 seats 1-2\nend T1\n")
    assert (2, "accepted") == (line, expected)


def test_chips_stay_where_a_refused_lock_left_them() -> None:
    """Chips put down during a round are there for the next lock, also after a restart; an accepted lock clears all."""
    text = (
        "wagers T1 seats 1-3\nlock T1\nwagers T1 seats 1-4\nlock T1\nrefused ALREADY_DONE\nrestart\nend T1\n"
        "lock T1\nexpect account drop/T1 -7.00\nend T1\nlock T1\nend T1\nexpect account drop/T1 -7.00\n"
    )
    assert run(SETUP + text).failure is None


def test_a_lock_leaves_out_the_seats_it_cannot_take() -> None:
    """The other seats play; the reasons can be expected, or stand in the notes."""
    text = "wagers T1 seats 1-3\nwagers T1 seat 2 units 3\nwithout-base T1 seat 3\nlock T1\n"
    outcome = run(SETUP + text + "expect account drop/T1 -1.00\n")
    assert outcome.failure is None
    assert ["UNREASONABLE_CONTRIBUTION", "NO_BASE_WAGER"] == [note.split()[4] for note in outcome.notes]
    both = "refused NO_BASE_WAGER\nrefused UNREASONABLE_CONTRIBUTION\n"
    assert run(SETUP + text + both).failure is None
    assert "refused SEAT_FOLDED" == failure(text + "refused SEAT_FOLDED\n")[1]


def test_the_clock_stamps_entries_and_never_goes_back() -> None:
    """Time is what the page says it is."""
    page = parse_page(SETUP + "clock 2026-12-01T06:00\nafter 2 days\nlock T1\nclock 2026-12-02T06:00\n", "page.scn")
    with pytest.raises(PageError, match=r"page.scn:7: the clock stands at 2026-12-03T06:00 already"):
        play("page.scn", page, paytables=load_paytables(), folder=PAGES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "link a wager 1.00 paytable co/blazing-sevens/b7p22\nrestart",
            "1: there is no pay table co/blazing-sevens/b7p22",
        ),
        (
            "link a wager 1.00 paytable co/blazing-sevens/b7p2\nrestart",
            "1: co/blazing-sevens/b7p2 pays from level main",
        ),
        (
            SETUP.replace("sevens/main", "sevens/mein") + "restart",
            "2: co/blazing-sevens/b7p2 has no level mein (did you mean main?)",
        ),
        ("level a/main seed 1.00 increment 1% reserve none reset larger_of ties split floor none", "1: link a is not"),
        ("table T1 link a game x seats 5\nrestart", "1: link a is not set up"),
        (SETUP + SETUP, "4: link sevens is set up already"),
        (SETUP + "restart\n" + SETUP.splitlines()[1], "5: link sevens is in force already"),
        (SETUP + "wagers T2 seat 1", "4: there is no table T2 on this page"),
        (SETUP + "expect meter sevens/mini 1.00", "4: link sevens has no level mini; it has main"),
        (SETUP + "expect liability seven 1.00", "4: there is no link seven on this page"),
        (SETUP + "refused SEAT_FOLDED", "4: there is no command before this line"),
        (SETUP.replace("1.00", "90000000000.00", 1) + "restart", "1: the wagers of one round could be above"),
        (SETUP.replace("20%", "97%") + "restart", "2: increment and reserve together are above 100%"),
        (SETUP.replace("floor none", "floor none limit 5.00") + "restart", "2: a limit needs an overflow"),
        (
            SETUP.replace("floor none", "floor none limit 5.00 overflow house") + "restart",
            "2: the limit is below the seed",
        ),
        (SETUP.replace("co/blazing-sevens/b7p2", "file:none.toml") + "restart", "1: none.toml cannot be read"),
    ],
)
def test_a_page_that_cannot_be_set_up_names_the_line(text: str, expected: str) -> None:
    """Nothing is guessed about a link, a level or a table."""
    with pytest.raises(PageError) as raised:
        run(text)
    assert f"page.scn:{expected}" in str(raised.value)


def test_a_page_may_differ_from_the_printed_figures_and_a_note_says_so() -> None:
    """The page's figure is used."""
    text = SETUP.replace("co/blazing-sevens/b7p2", "pa/roulette-up/progressive-1").replace("hit-and-run", "roulette-up")
    text = text.replace("ties sequential", "ties split")
    outcome = run(text + "expect meter sevens/main 1000.00\n")
    assert outcome.failure is None
    assert [
        "page.scn:2: note: pa/roulette-up/progressive-1 prints seed 10,000.00, not 1,000.00; the page's figure is used"
    ] == list(outcome.notes)


def test_a_page_whose_order_of_seats_decides_is_played_with_a_note() -> None:
    """A site file with it is refused (TIES_ORDER_DECIDES); a page shows what would come of it."""
    text = (
        "link up wager 1.00 paytable pa/roulette-up/progressive-1\n"
        "level up/main seed 10000.00 increment 20% reserve 4% reset seed_plus_reserve ties sequential floor none\n"
        "table T9 link up game roulette-up seats 6\nlock T9\n"
    )
    outcome = run(text)
    assert outcome.failure is None
    assert ["page.scn:1: note: TIES_ORDER_DECIDES on main; a site file with it is refused"] == list(outcome.notes)


def test_a_page_cannot_put_a_second_wager_into_a_meter() -> None:
    """Two hands of a split need a second wager after LOCK; a link with a meter takes none."""
    with pytest.raises(PageError, match="a meter takes nothing then"):
        run(SETUP.replace("sevens/b7p2", "sevens/b7p2 split two-hands") + "lock T1\n")


def test_a_changed_record_is_noticed_by_a_restart() -> None:
    """A restart checks the chain it folds."""
    world = World.create()
    world.records[0] = world.records[0]._replace(actor="somebody else")
    with pytest.raises(InvariantBroken, match="chain does not hold"):
        world.restart()


# the verb


def test_pages_that_hold_exit_0(tmp_path: Path) -> None:
    """And each is named on standard output."""
    result = verb(str(FILES[0]), str(PAGES / "m6-4-limit-and-overflow.scn"))
    assert (0, 2) == (result.exit_code, result.stdout.count(": holds ("))


def test_a_page_that_does_not_hold_exits_1_and_names_line_expected_and_actual(tmp_path: Path) -> None:
    """What a person needs to find the line."""
    file = tmp_path / "wrong.scn"
    file.write_text(SETUP + "wagers T1 seats 1-5\nlock T1\nexpect meter sevens/main 1001.01\n", encoding="utf-8")
    result = verb(str(file))
    assert 1 == result.exit_code
    assert f"{file}:6: expect meter sevens/main 1001.01\n  expected: 1001.01\n  actual:   1001.00\n" == result.stdout


def test_a_page_that_cannot_be_read_exits_2_and_plays_nothing(tmp_path: Path) -> None:
    """Findings go to standard error."""
    file = tmp_path / "unreadable.scn"
    file.write_text("lokc T1\nnumber T1 x\n", encoding="utf-8")
    result = verb(str(FILES[0]), str(file))
    assert (2, "") == (result.exit_code, result.stdout)
    assert f"{file}:1: " in result.stderr
    assert f"{file}:2: expected a number such as 17 or 00" in result.stderr


def test_a_page_that_cannot_be_set_up_exits_2(tmp_path: Path) -> None:
    """An unknown pay table is a refused input, not a failed page."""
    file = tmp_path / "unknown.scn"
    file.write_text("link a wager 1.00 paytable co/no/such\nrestart\n", encoding="utf-8")
    assert 2 == verb(str(file)).exit_code


def test_a_missing_file_exits_2() -> None:
    """So does a file that is not there."""
    assert 2 == verb("nowhere.scn").exit_code


def test_json_is_one_document(tmp_path: Path) -> None:
    """One document on standard output, with the failure in full."""
    file = tmp_path / "wrong.scn"
    file.write_text(SETUP + "expect count sevens/main 1\n", encoding="utf-8")
    result = verb("--json", str(file))
    document = json.loads(result.stdout)
    assert (1, False, []) == (result.exit_code, document["ok"], document["findings"])
    (page,) = document["scenarios"]
    assert {
        "file": str(file),
        "line": 4,
        "statement": "expect count sevens/main 1",
        "expected": "1",
        "actual": "0",
    } == page["failure"]
    assert 64 == len(page["head"])


def test_json_of_unreadable_pages_carries_the_findings(tmp_path: Path) -> None:
    """A program sees the same findings."""
    file = tmp_path / "unreadable.scn"
    file.write_text("lokc T1\n", encoding="utf-8")
    result = verb("--json", str(file))
    document = json.loads(result.stdout)
    assert (2, False, 1) == (result.exit_code, document["ok"], document["findings"][0]["line"])


def test_the_example_of_the_reference_page_holds() -> None:
    """What the documentation shows is what happens."""
    text = (PAGES.parents[1] / "docs" / "scenario.md").read_text(encoding="utf-8")
    example = text.split("```\n")[1]
    assert run(example).failure is None
    outcome = run(example)
    assert f"holds ({outcome.statements} lines, {outcome.entries} entries)" in text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("clock 9999-12-31T23:59\n", "page.scn:4: the clock of a page ends with the year 2999"),
        ("lock T1\nclock 2999-12-31T23:59\nafter 1 day\n", "page.scn:6: the clock of a page ends"),
        ("after 999999999 days\n", "page.scn:4: the clock of a page ends"),
        ("site unclaimed_days 999999999\nlock T1\n", "unclaimed_days: a hundred years"),
        ("pool P/a days 999999999\n", "a hundred years"),
        ("pool P/a cap 5.00\n", "page.scn:4: a: a cap says what happens there"),
        ("lock T1\ntable T2 link none game x seats 3\n", "page.scn:5: link none is not set up"),
        ("expect account payble/A1 0.00\n", "page.scn:4: nothing on this page has an account payble/A1"),
        ("expect account meter/sevens/mian 0.00\n", r"did you mean meter/sevens/main\?"),
        ("expect account house/pays/T2 0.00\n", r"did you mean house/pays/T1\?"),
        ("expect account house 0.00\n", "nothing on this page has an account house"),
        ("expect account pool/P/a 0.00\n", "nothing on this page has an account pool/P/a"),
        ("limit sevens/main amount none overflow house by adm-1 and acc-1 ref x\n", "without a limit nothing flows"),
    ],
)
def test_what_a_page_cannot_mean_is_a_finding(text: str, says: str) -> None:
    """Also in the last lines, which nothing comes after, and never a traceback."""
    with pytest.raises(PageError, match=says):
        run(SETUP + text)


def test_a_page_of_setup_alone_is_told_that_nothing_was_checked() -> None:
    """It is put in force; a note says that it has checked nothing."""
    outcome = run(SETUP + "clock 2026-12-01T06:00\n")
    assert (None, "page.scn:4: note: the page plays nothing: nothing was checked") == (
        outcome.failure,
        outcome.notes[-1],
    )
    assert all("nothing was checked" not in note for note in run(SETUP + "expect accounts sum 0\n").notes)


def test_every_account_of_a_page_is_known_before_it_holds_anything() -> None:
    """What has held nothing is 0; an award that there is not has no account."""
    accounts = [
        *("drop/T1", "paid/T1", "house/hold/T1", "house/pays/T1", "house/revenue", "unclaimed/sevens"),
        *(f"{kind}/sevens/main" for kind in ("reserve", "overflow")),
        *("drop/P", "paid/P", "pool/P/a", "pool/P/strike-out", "unclaimed/P", "house/hold/P", "house/pays/P"),
    ]
    lines = "".join(f"expect account {name} 0.00\n" for name in accounts)
    assert run(SETUP + "pool P/a game home-run-hold-em\n" + lines).failure is None
    assert (1, "0.00", "no such award A1") == failure("expect account payable/A1 0.00\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("expect flag A1 METER_EMPTY yes", (1, "METER_EMPTY", "no such award")),
        ("expect table T1 locked", (1, "locked", "open")),
        ("pool P/a\nexpect pool P/a -5.00", (2, "-5.00", "0.00")),
    ],
)
def test_later_expectations_can_fail_too(text: str, expected: tuple[int, str, str]) -> None:
    """As those above."""
    assert expected == failure(text + "\n")
