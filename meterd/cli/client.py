"""What the verbs that ask a running daemon share: where it listens, and the words where nobody answers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

import click

from meterd.errors import EXIT_FINDING, EXIT_USAGE

#: Where a service manager's units have them; a unit's own environment goes before.
USUAL_SOCKET: Final = "/run/meterd/control.sock"
USUAL_LEDGER: Final = "/var/lib/meterd/ledger"

socket_option = click.option(
    "--socket",
    "control",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="PATH",
    help="the daemon's control socket",
    show_default=USUAL_SOCKET,
)


def nobody_answers(verb: str, path: Path, error: object) -> str:
    """No daemon there, or none that this user may ask, and the next step."""
    if isinstance(error, PermissionError):
        from meterd.edge.folder import owner_of

        return f"meterd {verb}: this user may not ask the daemon at {path}. {owner_of(path)}"
    return (
        f"meterd {verb}: no daemon answers at {path} ({error}). Is meterd.service running?"
        " Any other daemon, a demo's too, is asked with --socket PATH; a demo says its path when it starts"
    )


def snapshot_for(verb: str, control: Path | None) -> dict[str, Any]:
    """The newest committed state; ends the program where nobody answers."""
    from meterd.cli.run import default_socket
    from meterd.edge.control import ask

    path = control or default_socket()
    try:
        return ask(path, {"op": "snapshot"})
    except (OSError, ValueError) as error:
        click.echo(nobody_answers(verb, path, error), err=True)
        sys.exit(EXIT_USAGE)


def tell_standing(snapshot: dict[str, Any], *, as_json: bool) -> None:
    """On standard error: a demo, or a daemon that has closed; the latter ends the program with 1.

    A program that reads JSON hears nothing of a demo with each call; it asked for the demo's socket.
    """
    if snapshot["demo"] and not as_json:
        click.echo("DEMO: no amount here is real money", err=True)
    if snapshot["closed"]:
        click.echo(f"CLOSED: {snapshot['closed']}", err=True)
        sys.exit(EXIT_FINDING)
