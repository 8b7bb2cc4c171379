"""``meterd meters``: what every meter shows, from the running daemon."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from meterd.cli.run import default_socket
from meterd.errors import EXIT_FINDING, EXIT_USAGE


@click.command()
@click.option(
    "--socket", "control", type=click.Path(path_type=Path, dir_okay=False), help="the daemon's control socket"
)
@click.option("--json", "as_json", is_flag=True, help="one JSON document on standard output")
def meters(control: Path | None, as_json: bool) -> None:
    """Show every level: displayed, reserve, overflow, wagers counted; and what the house owes on each link.

    Exit 0; 1 where the daemon says it is closed; 2 where none answers.
    """
    from meterd.edge.control import ask
    from meterd.money import format_cents, whole_cents

    path = control or default_socket()
    try:
        snapshot = ask(path, {"op": "snapshot"})
    except (OSError, ValueError) as error:
        click.echo(
            f"meterd meters: no daemon answers at {path} ({error}). Is meterd.service running?"
            " Any other daemon, a demo's too, is asked with --socket PATH; a demo says its path when it starts",
            err=True,
        )
        sys.exit(EXIT_USAGE)
    if as_json:
        click.echo(json.dumps(snapshot["links"]))
    else:
        click.echo(f"{'level':<28}{'meter':>18}{'reserve':>14}{'overflow':>14}{'wagers':>10}{'hits':>6}")
        for link_id, link in snapshot["links"].items():
            for name, level in link["levels"].items():
                money = (level["display_cents"], *(whole_cents(level[k]) for k in _HIDDEN))
                shown, reserve, overflow = (format_cents(cents) for cents in money)
                label = f"{link_id}/{name}"
                click.echo(f"{label:<28}{shown:>18}{reserve:>14}{overflow:>14}{level['wagers']:>10}{level['hits']:>6}")
            owed = format_cents(whole_cents(link["liability_microcents"]))
            click.echo(f"  liability of {link_id}: {owed}; awards waiting: {link['pending']}")
    if snapshot["demo"]:
        click.echo("DEMO: no amount here is real money", err=True)
    if snapshot["closed"]:
        click.echo(f"CLOSED: {snapshot['closed']}", err=True)
        sys.exit(EXIT_FINDING)


_HIDDEN = ("reserve_microcents", "overflow_microcents")
