"""``meterd ledger adopt``: a changed site file and the ledger that is in force."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from meterd.cli.files import FileToRead, Folder
from meterd.cli.signing import Signing, named, signatures, signing_options
from meterd.cli.words import complain
from meterd.errors import EXIT_CONFIG, EXIT_LEDGER, EXIT_USAGE, ConfigError, LedgerError, MisuseError

_NOTHING = "nothing to adopt: the site file is what the ledger has in force"


@click.command()
@click.argument("folder", type=Folder())
@click.option("--config", required=True, type=FileToRead(), metavar="FILE", help="the new site file")
@signing_options(
    "who asks for it; without --by and --and it is only told what would be adopted",
    "who approves it; somebody else, of another department",
    "people.toml beside the site file",
)
def adopt(folder: Path, config: Path, signing: Signing) -> None:
    """Tell what a changed site file asks of the ledger, or have two people put it in force.

    New links, tables and funds, thresholds of the site, settings of tables, limits, pay tables that are easier to win:
    all of it or nothing. To adopt, the daemon must be stopped.

    Exit codes: 0 adopted, or all of it could be; 2 wrong use, or refused; 74 the ledger needs a person; 78 something of
    the site file cannot be adopted.
    """
    try:
        if signing.given:
            _adopt(folder, config, signing)
        else:
            _look(folder, config)
    except ConfigError as error:
        complain("meterd ledger adopt", error)
        sys.exit(EXIT_CONFIG)
    except LedgerError as error:
        complain("meterd ledger adopt", error)
        sys.exit(EXIT_LEDGER)
    except MisuseError as error:
        complain("meterd ledger adopt", error)
        sys.exit(EXIT_USAGE)


def _look(folder: Path, config: Path) -> None:
    from meterd.app.adopt import look
    from meterd.edge.catalogue import read_site

    outlook = look(folder, read_site(config)[0])
    for line in outlook.new:
        click.echo(f"new: {line}")
    for line in outlook.can:
        click.echo(f"changes: {line}")
    for line in outlook.cannot:
        click.echo(f"cannot be adopted: {line}")
    if outlook.cannot:
        sys.exit(EXIT_CONFIG)
    if not any(outlook):
        click.echo(_NOTHING)
    else:
        click.echo("two people adopt it, with the daemon stopped: --by A --and B --reference TEXT", err=True)


def _adopt(folder: Path, config: Path, signing: Signing) -> None:
    from meterd.app.adopt import adopt
    from meterd.edge.catalogue import PEOPLE_FILE, read_site

    named(signing)
    site = read_site(config)[0]
    signed = signatures(signing, config.parent / PEOPLE_FILE)
    adopted = adopt(folder, site, **signed._asdict())
    if not any(adopted):
        click.echo(_NOTHING)
        return
    words = zip(("links", "tables", "funds"), adopted[:3], strict=True)
    click.echo("adopted " + "; ".join(f"{what}: {', '.join(ids) or 'none'}" for what, ids in words))
    for line in adopted.changed:
        click.echo(f"changed {line}")
