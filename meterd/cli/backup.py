"""``meterd backup`` and ``meterd restore``: a copy of the ledger that was read back, and the way back from it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from meterd.cli.files import FileToRead, FileToWrite, Folder
from meterd.cli.signing import USUAL_PEOPLE, Signing, signatures, signing_options
from meterd.cli.words import complain, counted
from meterd.errors import EXIT_CONFIG, EXIT_LEDGER, EXIT_USAGE, ConfigError, LedgerError, MisuseError


@click.command()
@click.argument("folder", type=Folder())
@click.argument("target", type=Folder())
@click.option(
    "--metrics",
    type=FileToWrite(replaced=True),
    metavar="FILE",
    help="write when this was finished, for an alert: a file NAME.prom where node_exporter looks for texts",
)
@click.option("--json", "as_json", is_flag=True, help="print one JSON document")
def backup(folder: Path, target: Path, metrics: Path | None, *, as_json: bool) -> None:
    """Copy the ledger in FOLDER into the new folder TARGET, and read the copy back. May run beside the daemon.

    It is a backup when this ends with exit code 0: every entry of the copy was hashed and folded, and TARGET has a
    backup.json. Keep TARGET on another machine.

    Exit codes: 0 made and read back, 2 wrong use, 74 it could not be made or does not hold.
    """
    from meterd.app.backup import back_up, write_metrics

    try:
        made = back_up(folder, target)
        if metrics is not None:
            write_metrics(metrics, made)
        if as_json:
            click.echo(json.dumps({**made._asdict(), "path": str(made.path)}))
        else:
            click.echo(f"{made.path}: {counted(made.entries, 'entry', 'entries')}, read back; head {made.head}")
    except (LedgerError, OSError) as error:
        complain("meterd backup", error)
        sys.exit(EXIT_LEDGER)
    except MisuseError as error:
        complain("meterd backup", error)
        sys.exit(EXIT_USAGE)


@click.command()
@click.argument("source", type=Folder(), metavar="BACKUP")
@click.argument("folder", type=Folder())
@click.option(
    "--known",
    multiple=True,
    type=FileToRead(exists=True),
    metavar="FILE",
    help="a checkpoint kept elsewhere; repeatable",
)
@signing_options(
    "who asks to lose entries that are known to have existed",
    "who approves it; somebody else, of another department",
    str(USUAL_PEOPLE),
)
@click.option("--json", "as_json", is_flag=True, help="print one JSON document")
def restore(source: Path, folder: Path, known: tuple[Path, ...], signing: Signing, *, as_json: bool) -> None:
    """Put BACKUP in the place of the ledger in FOLDER. The daemon must be stopped; what was there is moved aside.

    Refused where the backup is shorter than what a checkpoint proves, or is not a beginning of what can still be read
    in FOLDER, unless two people approve the loss with a reference and their PINs. An interrupted restore is done again.
    The restored ledger goes on with an entry that says so.

    Exit codes: 0 restored, 2 wrong use, or the two are not proven, 74 refused, 78 the people file cannot be used.
    """
    from meterd.app.restore import restore as put_back

    try:
        approval = signatures(signing, USUAL_PEOPLE) if signing.given else None
        restored, aside = put_back(source, folder, known=known, approval=approval)
        if as_json:
            click.echo(json.dumps({"entries": restored.entries, "head": restored.head, "aside": aside and str(aside)}))
        else:
            kept = f"; what was there is in {aside}" if aside else ""
            click.echo(f"{folder}: {counted(restored.entries, 'entry', 'entries')} of {source}, read back{kept}")
    except ConfigError as error:
        complain("meterd restore", error)
        sys.exit(EXIT_CONFIG)
    except (LedgerError, OSError) as error:
        complain("meterd restore", error)
        sys.exit(EXIT_LEDGER)
    except MisuseError as error:
        complain("meterd restore", error)
        sys.exit(EXIT_USAGE)
