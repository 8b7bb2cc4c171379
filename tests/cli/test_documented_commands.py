"""Every command that a page shows is one that the program takes: verbs, options, numbers of arguments, values."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest

from meterd.accounting.commands import Role
from meterd.app.acts import read_act
from meterd.cli.main import main
from meterd.config import Person

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "schema").rglob("*.md")))
PROGRAM = re.compile(r"(?:^|\s)(?:\S*/)?meterd\s+(?!meterd)(?=[a-z-])")
BLOCK = re.compile(r"^ *```[a-z]*\n(.*?)^ *```", re.MULTILINE | re.DOTALL)


class Shown(NamedTuple):
    """A command as a page has it. ``whole``: it stands in a block, to be typed as it is."""

    page: str
    line: int
    words: tuple[str, ...]
    whole: bool

    def __str__(self) -> str:
        return f"{self.page}:{self.line} {' '.join(self.words[:3])}"


def shown(page: Path) -> Iterator[Shown]:
    """The commands of a page: each of a block, and those in running text that begin with the program's name."""
    text = page.read_text(encoding="utf-8")
    name = str(page.relative_to(ROOT))
    for block in BLOCK.finditer(text):
        for at, line in _lines(block.group(1)):
            for part in re.split(r" && | \| |; ", line):
                begun = PROGRAM.search(part)
                if begun is not None and not part.lstrip().startswith(("#", "sudo install", "sudo systemctl")):
                    words = shlex.split(part[begun.end() :], comments=True)
                    yield Shown(name, text[: block.start(1)].count("\n") + 1 + at, tuple(words), whole=True)
    spoken = BLOCK.sub(lambda block: "\n" * block.group().count("\n"), text)
    for code in re.finditer(r"`((?:[^`\n]*/)?meterd [^`]+)`", spoken):
        begun = PROGRAM.search(code.group(1))
        if begun is not None and "·" not in code.group(1):
            words = shlex.split(code.group(1)[begun.end() :])
            yield Shown(name, spoken[: code.start()].count("\n") + 1, tuple(words), whole=False)


def _lines(block: str) -> Iterator[tuple[int, str]]:
    """Lines of a block with their places, those joined that end with a backslash."""
    joined, begun = "", 0
    for at, line in enumerate(block.splitlines()):
        begun = begun if joined else at
        joined += line.removesuffix("\\")
        if not line.endswith("\\"):
            yield begun, joined.strip()
            joined = ""


COMMANDS = [each for page in PAGES for each in shown(page)]


@pytest.fixture(autouse=True)
def no_file_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page's files are not here."""
    monkeypatch.setattr(click.Path, "convert", lambda _self, value, _param, _ctx: Path(value))
    monkeypatch.setattr(click.File, "convert", lambda _self, value, _param, _ctx: value)


def parsed(command: Shown) -> tuple[click.Context, click.Command]:
    """The verb that a command calls, with its options taken and its values converted; nothing is run."""
    context, words = click.Context(main, info_name="meterd"), list(command.words)
    verb: click.Command = main
    while isinstance(verb, click.Group) and words and not words[0].startswith("-"):
        name, found, words = verb.resolve_command(context, words)
        assert found is not None
        verb = found
        if isinstance(verb, click.Group):
            context = click.Context(verb, info_name=name, parent=context)
    if command.whole:
        return verb.make_context(verb.name, words, parent=context), verb
    inner = click.Context(verb, info_name=verb.name, parent=context)
    optional = [word.strip("[]") for word in words]
    _values, rest, _order = verb.make_parser(inner).parse_args(optional)
    assert set() == set(rest) - {"…"}
    return inner, verb


@pytest.mark.parametrize("command", COMMANDS, ids=str)
def test_the_program_takes_what_a_page_shows(command: Shown) -> None:
    """A command of a block goes through whole; of one in running text the verb and the options are known."""
    try:
        context, verb = parsed(command)
    except click.exceptions.Exit:  # --help, --version
        return
    except click.UsageError as error:
        pytest.fail(f"{command.page}:{command.line}: meterd {' '.join(command.words)}: {error.format_message()}")
    if command.whole and verb.name == "act":
        read_act(context.params["statement"], signers(context.params))


def signers(options: dict[str, Any]) -> list[Person]:
    """Whoever signs a shown act; their roles are not asked here."""
    return [Person(name, Role.SUPERVISOR) for name in (options["first"], options["second"]) if name]


def test_pages_show_commands() -> None:
    """The tests above are of something: of each kind, and of most verbs."""
    whole = [each for each in COMMANDS if each.whole]
    assert len(whole) >= 20
    assert len(COMMANDS) - len(whole) >= 40
    assert {"README.md", "docs/ledger.md", "docs/people.md", "docs/sim.md"} <= {each.page for each in whole}


def test_a_wrong_command_would_be_found() -> None:
    """An option, a verb and a number of arguments that the program does not take."""
    for words in (("backup", "DIR"), ("ledger", "key", "adapt", "DIR"), ("run", "--confg", "x"), ("meters", "extra")):
        with pytest.raises(click.UsageError):
            parsed(Shown("x", 1, words, whole=True))


def test_the_page_of_commands_names_every_verb() -> None:
    """None is left out."""
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert [] == [verb for verb in main.list_commands(click.Context(main)) if f"`meterd {verb}" not in page]
