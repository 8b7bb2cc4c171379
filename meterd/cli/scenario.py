"""``meterd scenario``: plays pages against the real rules.

Exit 0: all hold. Exit 1: one does not. Exit 2: a page cannot be played as written.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from meterd.cli.words import counted
from meterd.errors import EXIT_FINDING, EXIT_USAGE

if TYPE_CHECKING:
    from meterd.app.scenario import Outcome
    from meterd.app.scenario_parse import Finding, Statement

    Page = tuple[Path, tuple[Statement, ...]]


@click.command(short_help="Play scenario pages against the real rules.")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@click.option("--restart-after-each", is_flag=True, hidden=True, help="Fold the ledger again after every line.")
def scenario(files: tuple[Path, ...], as_json: bool, restart_after_each: bool) -> None:
    """Play each FILE from an empty ledger and check what it says to expect.

    Exit codes: 0 all hold, 1 something expected does not, 2 a page cannot be played as written or has no line.
    """
    findings, pages = _read(files)
    outcomes = [] if findings else _play(pages, restart_after_each, findings)
    for outcome in outcomes:
        for note in outcome.notes:
            click.echo(note, err=True)
        if not as_json:
            _say(outcome)
    for finding in findings:
        click.echo(str(finding), err=True)
    if as_json:
        click.echo(json.dumps(_document(outcomes, findings), indent=2))
    if findings:
        sys.exit(EXIT_USAGE)
    if any(outcome.failure for outcome in outcomes):
        sys.exit(EXIT_FINDING)


def _read(files: tuple[Path, ...]) -> tuple[list[Finding], list[Page]]:
    """All pages, and what is wrong with their lines."""
    from meterd.app.scenario_parse import Finding, PageError, parse_page

    findings: list[Finding] = []
    pages: list[Page] = []
    for file in files:
        try:
            page = parse_page(_text(file), str(file))
            if not page:
                findings.append(Finding(str(file), 1, "the page has no line to play: nothing would be checked"))
            pages.append((file, page))
        except PageError as error:
            findings.extend(error.findings)
    return findings, pages


def _play(pages: list[Page], restart_after_each: bool, findings: list[Finding]) -> list[Outcome]:
    """Play the pages one by one; what cannot be set up is added to ``findings``."""
    from meterd.app.scenario import play
    from meterd.app.scenario_parse import PageError
    from meterd.edge.files import load_paytables

    paytables = load_paytables()
    outcomes: list[Outcome] = []
    for file, page in pages:
        try:
            outcomes.append(
                play(str(file), page, paytables=paytables, folder=file.parent, restart_after_each=restart_after_each)
            )
        except PageError as error:
            findings.extend(error.findings)
    return outcomes


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as cause:
        raise click.UsageError(f"{file} cannot be read: {cause}") from cause


def _say(outcome: Outcome) -> None:
    """One page's result in words."""
    failure = outcome.failure
    if failure is None:
        size = f"{counted(outcome.statements, 'line')}, {counted(outcome.entries, 'entry', 'entries')}"
        click.echo(f"{outcome.file}: holds ({size})")
        return
    click.echo(f"{failure.file}:{failure.line}: {failure.statement}")
    click.echo(f"  expected: {failure.expected}")
    click.echo(f"  actual:   {failure.actual}")


def _document(outcomes: list[Outcome], findings: list[Finding]) -> dict[str, object]:
    """The result for a program."""
    return {
        "ok": not findings and all(outcome.failure is None for outcome in outcomes),
        "findings": [finding._asdict() for finding in findings],
        "scenarios": [
            {
                "file": outcome.file,
                "ok": outcome.failure is None,
                "statements": outcome.statements,
                "entries": outcome.entries,
                "head": outcome.head,
                "failure": outcome.failure._asdict() if outcome.failure else None,
            }
            for outcome in outcomes
        ],
    }
