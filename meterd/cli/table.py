"""``meterd table``: how the tables stand, from the running daemon."""

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
def table() -> None:
    """Show tables."""


@table.command()
@click.argument("table_id", metavar="[TABLE]", required=False)
@socket_option
@click.option("--json", "as_json", is_flag=True, help="one JSON document on standard output")
def show(table_id: str | None, control: Path | None, *, as_json: bool) -> None:
    """Show one table, or all: state and why, round, seats with a wager, awards that wait. With all, devices away.

    Exit codes: 0 shown, 1 the daemon says it is closed, 2 none answers, or it has no such table.
    """
    snapshot = snapshot_for("table show", control)
    tables: dict[str, Any] = snapshot["tables"]
    if table_id is not None and table_id not in tables:
        click.echo(f"meterd table show: no table {table_id}. There are: {', '.join(tables)}", err=True)
        sys.exit(EXIT_USAGE)
    found = tables if table_id is None else {table_id: tables[table_id]}
    if as_json:
        click.echo(json.dumps(found))
    else:
        from meterd.money import format_cents

        for name, each in found.items():
            state = each["state"] + (f" ({each['closed_reason']})" if each["closed_reason"] else "")
            wagers = (
                f"round {each['round']}, seats {_list(each['accepted'])}, wagers {format_cents(each['wagers_cents'])}"
            )
            click.echo(f"{name:<14}{state:<28}{wagers}; waiting: {_list(each['pending'])}; link {each['link']}")
        from meterd.cli.ports import away

        for name, why in away(snapshot.get("devices", {})) if table_id is None else ():
            click.echo(f"away: {name}: {why}")
    tell_standing(snapshot, as_json=as_json)


def _list(values: list[Any]) -> str:
    return " ".join(map(str, values)) or "none"
