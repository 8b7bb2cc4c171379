"""``meterd ledger``: create one, add to its parameters, verify it."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from meterd.cli.adopt import adopt
from meterd.cli.files import FileToRead, Folder
from meterd.cli.words import NamingGroup, complain, counted
from meterd.errors import EXIT_CONFIG, EXIT_FINDING, EXIT_LEDGER, ConfigError, LedgerError

if TYPE_CHECKING:
    from meterd.app.verify import Report

_A_PATH = click.Path(path_type=Path)


#: Verbs of files of their own, imported when they are called.
_ELSEWHERE = {
    "key": "meterd.cli.ledger_key",
    "checkpoint": "meterd.cli.ledger_read",
    "prove": "meterd.cli.ledger_read",
    "export": "meterd.cli.ledger_read",
    "tail": "meterd.cli.ledger_read",
    "at": "meterd.cli.ledger_read",
}


class _Ledger(NamingGroup):
    """The group with the verbs of other files."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *_ELSEWHERE]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _ELSEWHERE:
            return super().get_command(ctx, cmd_name)
        command: click.Command = getattr(import_module(_ELSEWHERE[cmd_name]), cmd_name)
        return command


@click.group(cls=_Ledger)
def ledger() -> None:
    """Create a ledger, add to it, verify it, and read it out."""


@ledger.command()
@click.argument("folder", type=Folder())
@click.option("--config", type=FileToRead(), metavar="FILE", help="the site file to put in force")
@click.option("--site", help="without a site file: the site's id")
@click.option("--currency", help="without a site file: the currency, three capital letters such as USD")
def create(folder: Path, config: Path | None, site: str | None, currency: str | None) -> None:
    """Create a ledger in FOLDER and put the site file's links and tables in force.

    With --site and --currency in place of --config the ledger knows nothing but these. Refused where anything of a
    ledger lies already.

    Exit codes: 0 created, 2 wrong use, 74 no ledger could be made there, 78 the site file has findings.
    """
    if (config is None) == (site is None) or (site is None) != (currency is None):
        raise click.UsageError("give either --config SITE.toml, or both --site ID and --currency USD")
    if currency is not None and not (len(currency) == 3 and currency.isascii() and currency.isupper()):
        raise click.UsageError(f"--currency takes three capital letters such as USD, not {currency!r}")
    if site is not None and not (site.strip() and site.isprintable()):
        raise click.UsageError("--site takes the id of the site, in one line of plain text")
    try:
        _create(folder, config, site, currency)
    except ConfigError as error:
        complain("meterd ledger create", error)
        sys.exit(EXIT_CONFIG)
    except LedgerError as error:
        complain("meterd ledger create", error)
        sys.exit(EXIT_LEDGER)
    click.echo(f"created: {folder / 'ledger.db'}", err=True)


def _create(folder: Path, config: Path | None, site: str | None, currency: str | None) -> None:
    from meterd.app.create import create_bare, create_ledger

    if config is None:
        create_bare(folder, site=site or "", currency=currency or "")
        return
    from meterd.edge.catalogue import read_site

    create_ledger(folder, read_site(config)[0])


ledger.add_command(adopt)


@ledger.command()
@click.argument("paths", nargs=-1, required=True, type=_A_PATH, metavar="FOLDER|FILE…")
@click.option(
    "--since",
    "notes",
    multiple=True,
    type=FileToRead(exists=True),
    metavar="FILE",
    help="a checkpoint that was kept: the ledger must go on from what it tells",
)
@click.option("--key", "keys", multiple=True, help="a key, written name+id+key, that must have signed each checkpoint")
@click.option("--rules", "with_rules", is_flag=True, help="decide each entry again with the parameters then in force")
@click.option("--json", "as_json", is_flag=True, help="print one JSON document")
def verify(
    paths: tuple[Path, ...], notes: tuple[Path, ...], keys: tuple[str, ...], *, with_rules: bool, as_json: bool
) -> None:
    """Hash, fold and compare every entry of a ledger; name the first row that does not hold.

    Takes the ledger's folder, or its volumes in order. Reads only, and may run beside the daemon.

    A ledger whose last entries were cut off cleanly holds as well: only a checkpoint that was kept elsewhere tells
    (--since), or a head and a number of entries that were noted. Compare them with what is printed here. Checkpoints
    beside the ledger are held against it too. Without --key a signature counts if it is by a key that the ledger says
    it had: whoever writes a ledger anew writes its keys anew, so give the key that you were told.

    Exit codes: 0 all of it holds, 1 something does not, 2 wrong use: no ledger there, or not to be read, 74 the answer
    could not be written.
    """
    from meterd.app.redecide import Judging
    from meterd.app.verify import unusable
    from meterd.app.verify import verify as verify_ledger
    from meterd.ledger.note import NoteError, parse_key

    wrong = unusable(paths, notes)
    if wrong is not None:
        raise click.UsageError(wrong)
    try:
        for key in keys:
            parse_key(key)
    except NoteError as cause:
        raise click.UsageError(str(cause)) from cause
    beside = sorted(paths[0].glob("checkpoint-*.txt")) if paths[0].is_dir() else []
    judging = Judging() if with_rules else None
    judge = None if judging is None else judging.judge
    ends = None if judging is None else judging.unfinished
    report = verify_ledger(*paths, notes=[*notes, *beside], keys=keys, judge=judge, ends=ends)
    document = report.to_json() | ({"rules": judging.to_json()} if judging is not None else {})
    try:
        click.echo(json.dumps(document) if as_json else _words(report))
        if judging is not None and not as_json:
            click.echo(judging.words())
    except OSError as error:
        complain("meterd ledger verify", error)
        sys.exit(EXIT_LEDGER)
    if not report.ok:
        sys.exit(EXIT_FINDING)


def _words(report: Report) -> str:
    """The report for people."""
    from meterd.money import MICROCENTS_PER_CENT, format_cents

    lines = []
    if report.first_bad is None:
        since = "" if report.first_seq == 1 else f" from entry {report.first_seq} on, what was before is not here"
        lines.append(f"ok: {_held(report.entries)}{since}; head {report.head.hex()}")
        if report.since:
            lines.append(f"it goes on from the checkpoints of {', '.join(map(str, report.since))} entries")
        else:
            lines.append(_CUT)
    else:
        row = "the file" if report.first_bad.seq is None else f"entry {report.first_bad.seq}"
        lines.append(f"NOT OK: {report.file}: {row}: {report.first_bad.reason}")
        lines.append(f"{_held(report.entries, ' before it')}; head {report.head.hex()}")
        if report.levels:
            lines.append(f"Levels as of entry {report.entries}, the last that holds:")
    if report.levels:
        lines.append(f"{'level':<28}{'meter':>18}{'reserve':>14}{'overflow':>14}")
    for key, values in report.levels.items():
        meter, reserve, overflow = (format_cents(value // MICROCENTS_PER_CENT) for value in values.values())
        lines.append(f"{key:<28}{meter:>18}{reserve:>14}{overflow:>14}")
    return "\n".join(lines)


def _held(entries: int, where: str = "") -> str:
    return f"{counted(entries, 'entry', 'entries')}{where} hold{'s' * (entries == 1)}"


_CUT = "Compare head and number with those noted elsewhere: a ledger cut off cleanly at its end holds as well."
