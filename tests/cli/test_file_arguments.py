"""Files and folders that verbs of the ledger take: what is none is said at once, and no pipe is waited for."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from meterd.cli.main import main

GENEROUS_S = 60
VERBS = ("ledger", "backup", "restore", "dispute", "person")
#: These look for themselves: a volume may be a file or a folder, and a new key wants nothing to be there.
ELSEWHERE = {
    ("ledger verify", "paths"),
    *((f"ledger {verb}", "folder") for verb in ("at", "checkpoint", "export", "prove", "tail")),
    ("ledger key new", "file"),
}


def commands(group: click.Group, names: tuple[str, ...]) -> Iterator[tuple[str, click.Command]]:
    """Every verb below these, with its words."""
    context = click.Context(group)
    for name in names or tuple(group.list_commands(context)):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from ((f"{name} {words}", each) for words, each in commands(command, ()))
        else:
            yield name, command


PATHS = [
    (words, parameter)
    for words, command in commands(main, VERBS)
    for parameter in command.params
    if isinstance(parameter.type, click.Path) and (words, parameter.name) not in ELSEWHERE
]


@pytest.mark.parametrize(("words", "parameter"), PATHS, ids=[f"{words} {each.name}" for words, each in PATHS])
def test_a_pipe_is_neither_a_file_nor_a_folder(words: str, parameter: click.Parameter, tmp_path: Path) -> None:
    """Wrong use, before the verb looks at anything."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(click.BadParameter, match=r"is no (regular file|folder)"):
        parameter.type.convert(str(tmp_path / "pipe"), parameter, None)


def test_there_are_such_arguments() -> None:
    """The test above asks of each verb."""
    assert {"ledger key adopt", "ledger adopt", "backup", "restore", "dispute"} <= {words for words, _ in PATHS}
    assert len(PATHS) > 20


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("ledger", "verify", "pipe"), 2),
        (("ledger", "at", "pipe", "1"), 74),
        (("ledger", "prove", "pipe", "1"), 74),
        (("ledger", "export", "pipe"), 74),
        (("ledger", "checkpoint", "pipe", "--key", "key"), 74),
        (("ledger", "key", "new", "pipe"), 78),
        (("run", "--config", "site.toml", "--key", "pipe"), 78),
        (("run", "--config", "site.toml", "--people", "pipe"), 78),
        (("backup", "new", "pipe/inside"), 74),
    ],
)
def test_where_the_verb_looks_itself(words: tuple[str, ...], code: int, tmp_path: Path) -> None:
    """One line on standard error, at once."""
    os.mkfifo(tmp_path / "pipe")
    subprocess.run([sys.executable, "-m", "meterd", "ledger", "key", "new", "key"], cwd=tmp_path, check=True)
    site = Path(__file__).parents[2] / "docs" / "site.example.toml"
    (tmp_path / "site.toml").write_text(site.read_text(encoding="utf-8"), encoding="utf-8")
    command = [sys.executable, "-m", "meterd", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=GENEROUS_S)
    lines = [line for line in done.stderr.splitlines() if not line.startswith(("{", "Usage", "Try ")) and line]
    assert (code, 1) == (done.returncode, len(lines)), done.stderr


def test_a_file_that_may_not_be_read_is_the_readers_to_name(tmp_path: Path) -> None:
    """A key is a matter of configuration (78), also where permission is missing."""
    key = tmp_path / "key"
    parameter = next(each for words, each in PATHS if words == "ledger key show")
    key.write_text("x")
    key.chmod(0)
    assert key == parameter.type.convert(str(key), parameter, None)


def test_no_pack_is_thrown_at_a_terminal(tmp_path: Path) -> None:
    """Some thousand lines of JSON are for a file."""
    (tmp_path / "l").mkdir()
    master, terminal = pty.openpty()
    try:
        command = [sys.executable, "-m", "meterd", "dispute", "l", "T1", "1"]
        done = subprocess.run(
            command, cwd=tmp_path, stdout=terminal, stderr=subprocess.PIPE, text=True, check=False, timeout=GENEROUS_S
        )
    finally:
        os.close(master)
        os.close(terminal)
    assert (2, True) == (done.returncode, "give --out FILE" in done.stderr), done.stderr


@pytest.mark.parametrize(("verb", "option"), [("backup", "metrics"), ("ledger checkpoint", "out")])
def test_what_is_written_whole_puts_no_file_in_the_place_of_a_device(verb: str, option: str) -> None:
    """Written beside it and renamed, it would end /dev/null for the whole machine."""
    parameter = next(each for words, each in PATHS if (words, each.name) == (verb, option))
    with pytest.raises(click.BadParameter, match="is no regular file"):
        parameter.type.convert("/dev/null", parameter, None)
