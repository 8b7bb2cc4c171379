"""``meterd outputs``: the safe state of the floor, written after the daemon has ended, however it ended."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from meterd.cli.words import NamingGroup, complain
from meterd.errors import EXIT_CONFIG, EXIT_DONE, EXIT_FINDING


@click.group(cls=NamingGroup)
def outputs() -> None:
    """Lamps and signs without the daemon."""


@outputs.command("closed")
@click.option("--config", "config", type=click.Path(path_type=Path), required=True, help="The site file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def closed(config: Path, *, as_json: bool) -> None:
    """Write CLOSED to every sign and pad, darken every seat lamp, light "betting closed". Needs the daemon's ports.

    Exit codes: 0 all done, 1 something could not be reached (it is named), 78 the site file cannot be used.
    """
    from meterd.edge.catalogue import read_site
    from meterd.edge.keypad_keys import keys_file, pads_of, read_keys
    from meterd.edge.outputs import close_all
    from meterd.errors import ConfigError

    try:
        site, _ = read_site(config)
    except ConfigError as error:
        complain("meterd outputs closed", error)
        sys.exit(EXIT_CONFIG)
    try:
        keys = read_keys(keys_file(config), pads_of(site), demo=True)
    except ConfigError:
        keys = {}  # the pads are named below; modules and signs do not wait for them
    closings = close_all(site, keys)
    missed = [closing for closing in closings if closing.cause]
    for closing in missed:
        click.echo(f"{closing.name} not closed: {closing.cause}", err=True)
    if as_json:
        document = {"closed": [c.name for c in closings if not c.cause], "missed": {c.name: c.cause for c in missed}}
        click.echo(json.dumps(document, indent=2))
    else:
        click.echo(f"{len(closings) - len(missed)} of {len(closings)} devices closed", err=True)
    sys.exit(EXIT_FINDING if missed else EXIT_DONE)
