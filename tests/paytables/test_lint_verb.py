"""``meterd paytable lint``: what it reads, what it prints, how it exits."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from lint_tables import GOOD, HEAD, PAIR, STRAIGHT_FLUSH, TOP, row

from meterd.cli.main import main

SITE = Path(__file__).resolve().parents[2] / "docs" / "site.example.toml"


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["paytable", "lint", *words])


@pytest.fixture
def good(tmp_path: Path) -> str:
    return written(tmp_path / "good.toml", GOOD)


def written(path: Path, rows: tuple[str, ...], extra: str = "") -> str:
    joined = ",\n".join(rows)
    path.write_text(f"{HEAD}{extra}rows = [\n{joined},\n]\n", encoding="utf-8")
    return str(path)


def test_no_fault_is_exit_0_and_the_count_goes_to_standard_error(good: str) -> None:
    """Nothing to say is nothing on standard output."""
    result = run("--tables", good)
    assert (0, "", "1 pay table: 0 faults, 0 notices\n") == (result.exit_code, result.stdout, result.stderr)


def test_a_long_look_says_so_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """All pay tables take a minute and more: what is done, and how it is faster, before it begins; JSON stays whole."""
    monkeypatch.setattr("meterd.paytables.lint.lint_table", lambda *_, **__: [])
    result = run("--json")
    assert re.fullmatch(
        r"looking at \d+ pay tables; it may take minutes; name some, or --site FILE .*\n", result.stderr
    )
    assert [] == json.loads(result.stdout)["findings"]


def test_a_fault_is_exit_1_with_its_next_step(tmp_path: Path) -> None:
    """The table, its note, the fault with numbers, what to do."""
    note = 'note = "Printed upside down."\n'
    path = written(tmp_path / "bad.toml", (row("Flush", "3 to 1", "flush"), STRAIGHT_FLUSH), note)
    result = run("--tables", path)
    assert 1 == result.exit_code
    lines = result.stdout.splitlines()
    assert ["xx/sample/one", "  note: Printed upside down."] == lines[:2]
    assert "  fault LATER_ROW_PAYS_MORE flush: 48 of its hands also hold straight-flush" in lines[2]
    assert lines[3].startswith("    next: put the better row first")
    assert "1 pay table: 2 faults, 0 notices\n" == result.stderr


def test_json_is_one_document(tmp_path: Path) -> None:
    """Every field of every finding, accepted ones with their reason; the same exit code."""
    accepts = 'lint_accepts = ["RETURN_ABOVE_WAGER: a demonstration table"]\n'
    path = written(tmp_path / "odd.toml", (row("Pair", "9 to 1", "pair"),), accepts)
    result = run("--tables", path, "--json")
    document = json.loads(result.stdout)
    assert (0, True, 1, 0, 1) == (
        result.exit_code,
        document["ok"],
        document["tables"],
        document["faults"],
        document["notices"],
    )
    (finding,) = document["findings"]
    assert ("RETURN_ABOVE_WAGER", "notice", "a demonstration table") == (
        finding["code"],
        finding["severity"],
        finding["accepted"],
    )
    assert {"code", "severity", "table", "row", "link", "found", "next_step", "accepted", "note"} == set(finding)
    accepted = run("--tables", path)
    assert "    accepted: a demonstration table" in accepted.stdout


def test_seats_and_site(tmp_path: Path) -> None:
    """--seats wins over the table's seven; a site is read for its links and nothing else."""
    path = written(tmp_path / "envy.toml", (TOP, PAIR))
    assert "3 seats: one akq-spades costs 200.00" in run("--tables", path, "--seats", "3").stdout
    result = run("--site", str(SITE))
    assert 0 == result.exit_code
    assert "co/nexus/pmg-ml-02 on link nexus-1" in result.stdout
    assert "2 pay tables: 0 faults" in result.stderr
    site = tmp_path / "site.toml"
    site.write_text(SITE.read_text(encoding="utf-8").replace('game = "let-it-ride"', 'game = "war"'), encoding="utf-8")
    refused = run("--site", str(site))
    assert (1, True) == (refused.exit_code, "GAME_NOT_APPROVED" in refused.stdout)


def test_against_takes_an_id_or_a_file(tmp_path: Path, good: str) -> None:
    """One new table against one live one: of the same id in a file, the only one in it, or an id of the catalogue."""
    worse = written(tmp_path / "worse.toml", GOOD[:4])
    assert 0 == run("--tables", good, "--against", good).exit_code
    assert 0 == run("--tables", good, "--against", worse).exit_code
    assert "HARDER_TO_WIN pair" in run("--tables", worse, "--against", good).stdout
    live = "co/three-card-poker/progressive-1"
    assert 0 == run(live, "--against", live).exit_code
    harder = run("co/three-card-poker/progressive-2", "--against", live)
    assert (1, True) == (harder.exit_code, "HARDER_TO_WIN straight: today straight ('6 for 1')" in harder.stdout)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("co/nexus/pmg-3",), "did you mean co/nexus/pmg-"),
        (("--tables", "/no/such/file"), "does not exist"),
        (("--seats", "0"), "0 is not in the range"),
        (("co/nexus/pmg-1", "co/nexus/pmg-2", "--against", "co/nexus/pmg-1"), "compares one pay table; 2 are named"),
        (("co/nexus/pmg-1", "--against", "co/nexus/pmg-0"), "did you mean"),
        (("--site", "/dev/null"), "no [[link]]"),
    ],
)
def test_wrong_use_is_exit_2(words: tuple[str, ...], says: str) -> None:
    """With what was expected."""
    result = run(*words)
    assert (2, True) == (result.exit_code, says in result.stderr), result.stderr


def test_a_file_that_cannot_be_used_is_exit_78(tmp_path: Path) -> None:
    """File, line and key on standard error, nothing on standard output."""
    path = tmp_path / "broken.toml"
    path.write_text(
        HEAD + "rows = [\n{ printed_hand = 'Pair', printed_pay = '', pays = ['1 two 1'] },\n]\n", encoding="utf-8"
    )
    result = run("--tables", str(path), "--json")
    assert (78, "") == (result.exit_code, result.stdout)
    assert f"error: {path}:11: pays: '1 two 1' is not a pay" in result.stderr


def test_a_folder_of_files_is_read_whole(tmp_path: Path) -> None:
    """An id in two of them is an error, as is a folder without a table."""
    assert 2 == run("--tables", str(tmp_path)).exit_code
    written(tmp_path / "a.toml", GOOD)
    assert 0 == run("--tables", str(tmp_path)).exit_code
    written(tmp_path / "b.toml", GOOD)
    twice = run("--tables", str(tmp_path))
    assert (78, True) == (twice.exit_code, "stands in another file" in twice.stderr)


def test_a_damaged_universe_is_exit_78_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The linter and the par sheet say which file it is; neither takes it for a fault of the table."""
    monkeypatch.setattr("meterd.edge.files.universe_text", lambda name: f"universe {name}\ntotal 1\n")
    for verb in ("lint", "parsheet"):
        result = CliRunner().invoke(main, ["paytable", verb, "co/texas-holdem-bonus/thbp-6"])
        assert 78 == result.exit_code, result.output
        assert "universes/5-of-52-five-card.txt" in result.stderr


def test_a_table_without_a_row_that_is_offered_is_no_traceback(tmp_path: Path) -> None:
    """It is not measured, and that is all."""
    path = written(tmp_path / "none.toml", (row("Flush", "N/A", "flush").replace('pays = ["N/A"]', "pays = []"),))
    result = run("--tables", path)
    assert (0, None) == (result.exit_code, result.exception if not isinstance(result.exception, SystemExit) else None)
    assert "NOT_MEASURED no par sheet: no row is offered" in " ".join(result.stdout.split()).replace("has ", "")
