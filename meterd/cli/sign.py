"""``meterd sign``: what a technician asks a sign, with the daemon stopped."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from meterd.cli.words import Finite, NamingGroup, complain
from meterd.errors import EXIT_CONFIG, EXIT_DONE, EXIT_FINDING, EXIT_USAGE

if TYPE_CHECKING:
    from meterd.config import BusConfig


@click.group(cls=NamingGroup)
def sign() -> None:
    """Progressive signs without the daemon."""


@sign.command()
@click.argument("name", metavar="SIGN")
@click.option("--config", "config", type=click.Path(path_type=Path), required=True, help="The site file.")
@click.option("--seconds", type=Finite(0, 600), default=5.0, show_default=True, help="How long the pattern.")
@click.option("--beep", is_flag=True, help="Three beeps before the pattern, to tell signs apart.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def test(name: str, config: Path, seconds: float, *, beep: bool, as_json: bool) -> None:
    """Ask SIGN what it is, say in words what was found, and show a pattern on it.

    Where nothing answers, the usual settings of signs are tried, and the one that is answered is named. Its memory
    stays as it is. The daemon must not hold the port.

    Exit codes: 0 it answers, 1 a finding (said in words), 2 no such sign, 78 the site file cannot be used.
    """
    import asyncio

    from meterd.edge.catalogue import read_site
    from meterd.edge.serialport import PortLostError
    from meterd.edge.sign_test import SignTest
    from meterd.errors import ConfigError

    try:
        site, _ = read_site(config)
    except ConfigError as error:
        complain("meterd sign test", error)
        sys.exit(EXIT_CONFIG)
    found = {each.id: each for each in site.signs}
    if name not in found:
        complain("meterd sign test", f'there is no sign "{name}": there are {", ".join(found) or "none"}')
        sys.exit(EXIT_USAGE)
    bus = site.bus(found[name].bus)
    try:
        result = asyncio.run(
            SignTest(bus, found[name], pattern_s=seconds, beep=beep, told=lambda said: click.echo(said, err=True)).run()
        )
    except PortLostError as lost:
        complain("meterd sign test", _held(bus, lost))
        sys.exit(EXIT_FINDING)
    if as_json:
        click.echo(json.dumps(result.to_json(), indent=2))
    sys.exit(EXIT_DONE if result.ok else EXIT_FINDING)


def _held(bus: BusConfig, lost: Exception) -> str:
    """Why the port cannot be used, and by whom where somebody has it."""
    from meterd.edge.ports import held_by

    who = held_by(bus.port) if str(lost).endswith("held by another program") else ""
    if not who:
        return str(lost)
    return f"{lost}{who}. Stop it first (the daemon: systemctl stop meterd), or look with meterd monitor {bus.id}"
