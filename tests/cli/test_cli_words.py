"""What the command line says of itself: help that is whole, near names, numbers with their noun."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from meterd.cli.main import VERBS, main
from meterd.cli.words import counted


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(each) for each in arguments])


def test_help_shows_every_verb_with_a_whole_sentence() -> None:
    """Nothing is cut off."""
    shown = run("--help").stdout
    assert "…" not in shown
    assert "..." not in shown.replace("[ARGS]...", "")
    assert set(VERBS) <= {line.split()[0] for line in shown.splitlines() if line.startswith("  ")}


@pytest.mark.parametrize("verb", ["run", "demo", "scenario", "paytable", "check-config", "outputs closed"])
def test_help_says_what_the_exit_codes_mean(verb: str) -> None:
    """A script's author needs no source."""
    assert "Exit codes: 0" in run(*verb.split(), "--help").stdout


def test_a_misspelt_verb_gets_the_nearest() -> None:
    """In the group and below it; something unlike all gets the list."""
    assert (2, True) == ((told := run("runn")).exit_code, "Did you mean 'run'?" in told.stderr)
    assert "Did you mean 'verify'?" in run("ledger", "verfy").stderr
    assert "There are: run, web" in run("xyzzy").stderr


def test_numbers_agree_with_their_noun() -> None:
    """1 entry, 2 entries, 0 awards."""
    assert ["1 entry", "2 entries", "0 awards"] == [
        counted(1, "entry", "entries"),
        counted(2, "entry", "entries"),
        counted(0, "award"),
    ]


def test_an_empty_page_holds_nothing(tmp_path: Path) -> None:
    """A page without a line checks nothing, so it cannot hold: exit 2 with file and line."""
    page = tmp_path / "empty.scn"
    page.write_text("# only a comment\n\n")
    told = run("scenario", page)
    assert (2, "") == (told.exit_code, told.stdout)
    assert f"{page}:1: the page has no line to play" in told.stderr
    page.write_text("clock 2026-12-01T06:00\n")
    assert "holds (1 line, 2 entries)" in run("scenario", page).stdout


@pytest.mark.parametrize("verb", ["run", "act", "meters", "web", "sas", "award list", "table show"])
def test_help_names_the_usual_socket_and_ledger(verb: str) -> None:
    """Where it looks when nobody says."""
    shown = " ".join(run(*verb.split(), "--help").stdout.split())
    assert "[default: (/run/meterd/control.sock)]" in shown
    assert ("[default: (/var/lib/meterd/ledger)]" in shown) is (verb == "run")


@pytest.mark.parametrize("verb", ["meters", "award list", "table show"])
def test_a_program_is_not_told_of_a_demo_with_every_call(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person is; what is closed is told to both."""
    snapshot = {"demo": True, "closed": "disk full", "links": {}, "awards": [], "tables": {}, "currency": "USD"}
    monkeypatch.setattr("meterd.edge.control.ask", lambda *_: snapshot)
    person, program = run(*verb.split()), run(*verb.split(), "--json")
    assert (1, 1) == (person.exit_code, program.exit_code), person.output
    assert "DEMO: no amount here is real money" in person.stderr
    assert "CLOSED: disk full" == program.stderr.strip()


def options(group: click.Group, words: str = "") -> Iterator[tuple[str, click.Option]]:
    """Every option of every verb that help shows."""
    context = click.Context(group)
    for name in group.list_commands(context):
        verb = group.get_command(context, name)
        assert verb is not None
        yield from ((f"{words}{name} {each.opts[0]}", each) for each in verb.params if isinstance(each, click.Option))
        if isinstance(verb, click.Group):
            yield from options(verb, f"{words}{name} ")


def test_every_option_says_what_it_is_and_what_it_is_where_nobody_says() -> None:
    """Nothing, none and empty go without saying."""
    shown = [(name, each) for name, each in options(main) if not each.hidden]
    assert len(shown) > 60
    assert [] == [name for name, each in shown if not each.help]
    silent = []
    for name, each in shown:
        default = each.get_default(click.Context(click.Command(name)))
        told = each.is_flag or each.show_default or "default" in (each.help or "")
        if isinstance(default, str | int | float) and default and not told:
            silent.append(name)
    assert [] == silent
