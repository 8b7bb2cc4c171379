"""``meterd award``: what waits to be confirmed or paid, from the running daemon."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from meterd.cli.client import snapshot_for, socket_option, tell_standing
from meterd.cli.words import NamingGroup
from meterd.errors import EXIT_USAGE


@click.group(cls=NamingGroup)
def award() -> None:
    """Show awards. What is done to one is an act: `meterd act "confirm A1" --by sup-1`."""


@award.command("list")
@socket_option
@click.option("--json", "as_json", is_flag=True, help="one JSON document on standard output")
def list_awards(control: Path | None, *, as_json: bool) -> None:
    """List the open awards and the last twenty.

    Exit codes: 0 shown, 1 the daemon says it is closed, 2 none answers.
    """
    snapshot = snapshot_for("award list", control)
    if as_json:
        click.echo(json.dumps(snapshot["awards"]))
    else:
        click.echo(f"{'award':<8}{'state':<11}{'table':<14}{'seat':>5}  {'hand':<28}{'amount':>18}")
        for each in snapshot["awards"]:
            click.echo(_line(each))
    tell_standing(snapshot, as_json=as_json)


@award.command()
@click.argument("award_id", metavar="AWARD")
@socket_option
@click.option("--json", "as_json", is_flag=True, help="one JSON document on standard output")
def show(award_id: str, control: Path | None, *, as_json: bool) -> None:
    """Show one open or recent award, and how to gather what the ledger holds of its round.

    Exit codes: 0 shown, 1 the daemon says it is closed, 2 none answers, or no such award is open or recent.
    """
    snapshot = snapshot_for("award show", control)
    found = next((each for each in snapshot["awards"] if each["id"].casefold() == award_id.casefold()), None)
    if found is None:
        click.echo(
            f"meterd award show: no award {award_id} is open or among the last twenty. An older one stands in the"
            " ledger: `meterd ledger at LEDGER TIME`, or a number of an entry of its day",
            err=True,
        )
        sys.exit(EXIT_USAGE)
    if as_json:
        click.echo(json.dumps(found))
    else:
        from meterd.money import format_cents

        for name, value in found.items():
            if name.endswith("_cents") and isinstance(value, int):
                click.echo(f"{name.removesuffix('_cents'):<12}{snapshot['currency']} {format_cents(value)}")
            elif value not in (None, "", []):
                click.echo(f"{name:<12}{value}")
        click.echo(f"its keys and cards, who keyed, confirmed and paid it: {_round(found)}", err=True)
    tell_standing(snapshot, as_json=as_json)


def _round(found: dict[str, Any]) -> str:
    """The command that gathers the award's round."""
    return f"`meterd dispute LEDGER {found['table']} {found['round']} --out FILE`"


def _line(each: dict[str, Any]) -> str:
    from meterd.money import format_cents

    seat = "" if each["seat"] is None else each["seat"]
    amount = format_cents(each["amount_cents"])
    return f"{each['id']:<8}{each['status']:<11}{each['table']:<14}{seat:>5}  {each['hand'] or '':<28}{amount:>18}"
