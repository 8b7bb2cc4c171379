"""``meterd meters``: what every meter shows, from the running daemon."""

from __future__ import annotations

import json
from pathlib import Path

import click

from meterd.cli.client import snapshot_for, socket_option, tell_standing


@click.command()
@socket_option
@click.option("--json", "as_json", is_flag=True, help="one JSON document on standard output")
def meters(control: Path | None, as_json: bool) -> None:
    """Show every level: displayed, reserve, overflow, wagers counted; and what the house owes on each link.

    Exit 0; 1 where the daemon says it is closed; 2 where none answers.
    """
    from meterd.money import format_cents, whole_cents

    snapshot = snapshot_for("meters", control)
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
    tell_standing(snapshot, as_json=as_json)


_HIDDEN = ("reserve_microcents", "overflow_microcents")
