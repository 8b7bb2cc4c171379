"""``meterd paytable``: list, show, export."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result

from meterd.cli.main import main
from meterd.edge.files import load_paytables


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["paytable", *arguments])


def test_export_is_every_table_as_one_document() -> None:
    """All tables, in order, each in its public form."""
    result = run("export", "--json")
    assert 0 == result.exit_code
    assert [table.to_json() for table in load_paytables().values()] == json.loads(result.stdout)


def test_export_of_named_tables_is_only_those() -> None:
    """In the order asked for."""
    result = run("export", "--json", "co/nexus/pmg-ml-03", "co/nexus/pmg-ml-01")
    assert ["co/nexus/pmg-ml-03", "co/nexus/pmg-ml-01"] == [table["id"] for table in json.loads(result.stdout)]


def test_list_has_one_line_a_table() -> None:
    """The id first, the rules that print it last; as JSON the same ids."""
    lines = run("list").stdout.splitlines()
    assert list(load_paytables()) == [line.split()[0] for line in lines]
    assert lines[list(load_paytables()).index("co/blazing-sevens/b7p4")].endswith("CO 47.1-899.21")
    assert list(load_paytables()) == [table["id"] for table in json.loads(run("list", "--json").stdout)]


def test_show_prints_the_table_as_printed() -> None:
    """Hands, pays, envy, blank cells, seed and rates."""
    text = run("show", "co/three-card-poker/progressive-2").stdout
    assert "printed in CO 47.1-1099.18 as Progressive Pay Schedule 2" in text
    assert "AKQ Spades                  100 percent  envy $100" in text
    assert "Straight                    (blank)" in text
    assert "seed 1,000.00, grows with the wager" in text
    assert "reserve N/A" in run("show", "pa/roulette-up/progressive-7").stdout
    assert "co/nexus/pmg-ml-02" == json.loads(run("show", "co/nexus/pmg-ml-02", "--json").stdout)["id"]


def test_an_unknown_table_is_exit_2_with_the_nearest_names() -> None:
    """Usage, not configuration: the person mistyped."""
    result = run("show", "co/nexus/pmg-ml-2")
    assert 2 == result.exit_code
    assert "there is no pay table 'co/nexus/pmg-ml-2'; did you mean co/nexus/pmg-" in result.stderr


def test_tables_of_a_file_are_listed_shown_and_exported_alone(tmp_path: Path) -> None:
    """``--tables``: only they are listed and exported; a table of the catalogue can still be shown."""
    source = Path(__file__).parents[2] / "schema/paytables/co/three-card-poker.toml"
    text = source.read_text(encoding="utf-8").replace("co/three-card-poker/", "xx/mine/")
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    ids = [line.split()[0] for line in run("list", "--tables", str(tmp_path)).stdout.splitlines()]
    assert ids
    assert all(each.startswith("xx/mine/") for each in ids)
    assert ids == [table["id"] for table in json.loads(run("export", "--tables", str(tmp_path), "--json").stdout)]
    assert "xx/mine/progressive-1: Three Card Poker" in run("show", ids[0], "--tables", str(tmp_path)).stdout
    assert 0 == run("show", "co/nexus/pmg-1", "--tables", str(tmp_path)).exit_code
    assert 2 == run("list", "--tables", str(tmp_path / "none")).exit_code


def test_show_says_what_is_not_usual() -> None:
    """Whose envy it is, the decks, the order of the print, and what stands beside a cell."""
    bounty = run("show", "co/kings-bounty/kb03").stdout
    assert "the envy is paid to the dealer" in bounty
    assert "cannot be evaluated" in run("show", "co/golden-21-poker/pay-schedule-1").stdout
    assert "printed from the lowest pay up" in run("show", "co/21-plus-3/xtreme").stdout


def test_the_group_names_its_verbs() -> None:
    """Those with a file of their own too, and the nearest for one that is none."""
    told = run("--help").stdout
    assert all(verb in told for verb in ("list", "show", "export", "lint"))
    assert "Did you mean 'export'?" in run("exprt").stderr
