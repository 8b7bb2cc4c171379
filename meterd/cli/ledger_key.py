"""``meterd ledger key``: the key that signs a ledger's checkpoints."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from meterd.cli.files import FileToRead, Folder
from meterd.cli.signing import USUAL_PEOPLE, Signing, signatures, signing_options
from meterd.cli.words import NamingGroup, complain
from meterd.errors import EXIT_CONFIG, EXIT_LEDGER, EXIT_USAGE, ConfigError, LedgerError, MisuseError


@click.group(cls=NamingGroup)
def key() -> None:
    """Make a key for checkpoints, show it, or put it in force."""


@key.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--name", default="meterd", show_default=True, help="the name in its signatures, one word")
def new(file: Path, name: str) -> None:
    """Make a key in the new file FILE, readable by its owner alone, and print the public half.

    Exit codes: 0 made, 78 it could not be.
    """
    from meterd.edge.keys import new_key_file

    try:
        click.echo(str(new_key_file(file, name)))
    except ConfigError as error:
        complain("meterd ledger key new", error)
        sys.exit(EXIT_CONFIG)


@key.command()
@click.argument("file", type=FileToRead())
def show(file: Path) -> None:
    """Print the public half of the key in FILE: what a verifier needs.

    Exit codes: 0 shown, 78 there is no key in it.
    """
    from meterd.edge.keys import read_key

    try:
        click.echo(str(read_key(file).public))
    except ConfigError as error:
        complain("meterd ledger key show", error)
        sys.exit(EXIT_CONFIG)


@key.command()
@click.argument("folder", type=Folder())
@click.option("--key", "file", required=True, type=FileToRead(), metavar="FILE", help="the key file")
@signing_options(
    "who asks for it",
    "who approves it; somebody else, of another department. One of the two is an administrator",
    str(USUAL_PEOPLE),
)
def adopt(folder: Path, file: Path, signing: Signing) -> None:
    """Put a key in force: from its entry on it signs the ledger's checkpoints. The daemon must be stopped.

    Exit codes: 0 in force, 2 refused, 74 the ledger needs a person, 78 the key or the people file cannot be used.
    """
    from meterd.app.key_change import put_in_force
    from meterd.edge.keys import read_key

    try:
        public = read_key(file).public
        seq = put_in_force(folder, public, **signatures(signing, USUAL_PEOPLE)._asdict())
    except ConfigError as error:
        complain("meterd ledger key adopt", error)
        sys.exit(EXIT_CONFIG)
    except LedgerError as error:
        complain("meterd ledger key adopt", error)
        sys.exit(EXIT_LEDGER)
    except MisuseError as error:
        complain("meterd ledger key adopt", error)
        sys.exit(EXIT_USAGE)
    click.echo(f"in force since entry {seq}")
