"""``meterd keypad``: keys of OSDP pads."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click

from meterd.cli.words import NamingGroup, complain
from meterd.errors import EXIT_CONFIG, ConfigError


@click.group(cls=NamingGroup)
def keypad() -> None:
    """Keypads that speak OSDP."""


@keypad.command()
@click.argument("device")
@click.option(
    "--file", "path", required=True, type=click.Path(path_type=Path, dir_okay=False), help="the key file, osdp-keys"
)
def key(device: str, path: Path) -> None:
    """Make a random key for a pad, named as bus and address (keys-1/5), and add it to the key file.

    The file is made with mode 0600 if it is not there. The key is not printed: the maker's tool that sets the pad reads
    it from the file.

    Exit codes: 0 done, 2 wrong use, 78 the file cannot be used, or the pad has a key already.
    """
    from meterd.edge.keypad_keys import add_key

    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,31}/\d{1,3}", device) is None:
        raise click.UsageError("name the pad as BUS/ADDRESS, for example keys-1/5")
    try:
        add_key(path, device)
    except ConfigError as error:
        complain("meterd keypad key", error)
        sys.exit(EXIT_CONFIG)
    click.echo(f"{device}: a new key stands in {path}")
