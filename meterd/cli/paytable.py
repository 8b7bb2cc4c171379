"""``meterd paytable``: the pay tables of the regulations, as printed and as read."""

from __future__ import annotations

import json

import click

from meterd.cli.words import NamingGroup
from meterd.edge.files import load_paytables
from meterd.edge.files import paytable as paytable_of
from meterd.errors import EXIT_CONFIG, ConfigError
from meterd.money import format_cents, format_rate
from meterd.paytables.model import PayTable
from meterd.paytables.parse import RESERVE_NOT_APPLICABLE, PaytableError


@click.group(cls=NamingGroup)
def paytable() -> None:
    """The pay tables of the regulations: list, show, export.

    Exit codes: 0 done, 2 no such pay table, 78 a pay table file cannot be used.
    """


def _all() -> dict[str, PayTable]:
    try:
        return load_paytables()
    except PaytableError as error:
        click.echo(f"error: {error}", err=True)
        raise SystemExit(EXIT_CONFIG) from error


def _one(table_id: str) -> PayTable:
    try:
        return paytable_of(table_id)
    except PaytableError as error:
        click.echo(f"error: {error}", err=True)
        raise SystemExit(EXIT_CONFIG) from error
    except ConfigError as error:
        raise click.UsageError(str(error)) from error


@paytable.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def list_tables(as_json: bool) -> None:
    """All pay tables: id, kind, and the rules that print them."""
    tables = _all().values()
    if as_json:
        click.echo(json.dumps([{"id": table.id, "game": table.game, "kind": table.kind} for table in tables]))
        return
    width = max(len(table.id) for table in tables)
    for table in tables:
        rules = ", ".join(dict.fromkeys(f"{source.jurisdiction} {source.rule}" for source in table.sources))
        click.echo(f"{table.id:<{width}}  {table.kind:<11}  {rules}")


@paytable.command()
@click.argument("table_id", metavar="PAYTABLE")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def show(table_id: str, as_json: bool) -> None:
    """One pay table, as printed."""
    table = _one(table_id)
    if as_json:
        click.echo(json.dumps(table.to_json(), ensure_ascii=False))
        return
    click.echo(f"{table.id}: {table.game}, {table.wager}, {table.basis}")
    for source in table.sources:
        click.echo(f"  printed in {source.jurisdiction} {source.rule} as {source.table}")
    for fact in _facts(table):
        click.echo(f"  {fact}")
    width = max(len(row.printed_hand) for row in table.rows)
    for row in table.rows:
        envy = f"  envy {row.printed_envy}" if row.printed_envy else ""
        click.echo(f"  {row.printed_hand:<{width}}  {row.printed_pay or '(blank)'}{envy}")
    if table.note:
        click.echo(f"  note: {table.note}")


def _facts(table: PayTable) -> list[str]:
    """Wager, seed and rates, each in a few words; only what is known."""
    facts = [f"wager {format_cents(table.wager_cents)}"]
    if table.seed_cents is not None:
        facts.append(f"seed {format_cents(table.seed_cents)}{', grows with the wager' if table.seed_scales else ''}")
    if table.increment_ppm is not None:
        facts.append(f"increment {format_rate(table.increment_ppm)}")
    if table.reserve_ppm is not None:
        none = table.reserve_ppm == RESERVE_NOT_APPLICABLE
        facts.append(f"reserve {'N/A' if none else format_rate(table.reserve_ppm)}")
    if not table.original_wager_returned:
        facts.append("the original wager is not returned")
    if table.evaluator is None:
        facts.append("cannot be evaluated")
    return facts


@paytable.command()
@click.argument("table_ids", metavar="[PAYTABLE]…", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="The only format; the flag keeps scripts clear.")
def export(table_ids: tuple[str, ...], as_json: bool) -> None:
    """Every cell with its rule, as one JSON document: all tables, or those named."""
    del as_json
    tables = [_one(table_id) for table_id in table_ids] if table_ids else list(_all().values())
    click.echo(json.dumps([table.to_json() for table in tables], ensure_ascii=False, indent=1))
