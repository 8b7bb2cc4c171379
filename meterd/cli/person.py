"""``meterd person``: the hash of a PIN, and whether a people file is usable."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path
from typing import Any

import click

from meterd.cli.files import FileToRead
from meterd.cli.words import NamingGroup, complain, counted
from meterd.errors import EXIT_CONFIG, ConfigError


@click.group(cls=NamingGroup)
def person() -> None:
    """Make the hash of a PIN, or check a people file."""


@person.command()
def pin() -> None:
    """Print the line of a people file that holds a PIN's hash. The PIN is asked twice and never shown.

    Where standard input is no terminal, the PIN is its first line.

    Exit codes: 0 printed, 2 that PIN cannot be used.
    """
    from meterd.edge.secrets import hash_pin, pin_problem

    if sys.stdin.isatty():
        chosen = click.prompt("PIN", hide_input=True, confirmation_prompt="The same PIN again", err=True)
    else:
        chosen = sys.stdin.readline().rstrip("\r\n")
    wrong = pin_problem(chosen)
    if wrong is not None:
        raise click.UsageError(wrong)
    click.echo(f'pin_hash = "{hash_pin(chosen)}"')


@person.command()
@click.argument("people_file", type=FileToRead())
@click.option("--json", "as_json", is_flag=True, help="print one JSON document")
def check(people_file: Path, *, as_json: bool) -> None:
    """Check a people file: every finding with file, line and key, or who may act in which role.

    Exit codes: 0 usable, 2 wrong use, 78 findings, or a file that cannot be read.
    """
    from meterd.config import SiteErrors
    from meterd.edge.catalogue import read_people

    try:
        people = read_people(people_file)
    except SiteErrors as error:
        if as_json:
            click.echo(json.dumps({"ok": False, "findings": [each.to_json() for each in error.findings]}, indent=2))
        else:
            click.echo(str(error))
            click.echo(f"{counted(len(error.findings), 'finding')}: a daemon would not start with it", err=True)
        sys.exit(EXIT_CONFIG)
    except ConfigError as error:
        complain("meterd person check", error)
        sys.exit(EXIT_CONFIG)
    for warning in people.warnings:
        click.echo(f"warning: {warning}", err=True)
    if people_file.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
        click.echo(f"warning: {people_file}: others may read the hashes: `chmod 400 {people_file}`", err=True)
    found = [
        {
            "id": each.id,
            "role": each.role.value,
            "badge": each.badge is not None,
            "pin": each.pin_hash is not None,
        }
        for each in people.persons
    ]
    click.echo(json.dumps({"ok": True, "people": found}, indent=2) if as_json else _words(found))


def _words(found: list[dict[str, Any]]) -> str:
    lines = [f"{counted(len(found), 'person', 'people')}: usable"]
    for each in found:
        proofs = [what for what in ("badge", "pin") if each[what]]
        lines.append(f"  {each['id']:<34}{each['role']:<16}{' and '.join(proofs).replace('pin', 'PIN') or 'no proof'}")
    return "\n".join(lines)
