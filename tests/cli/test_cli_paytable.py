"""``meterd paytable``: list, show, export."""

from __future__ import annotations

import json

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
