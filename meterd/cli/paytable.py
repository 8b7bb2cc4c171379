"""``meterd paytable``: the pay tables of the regulations, as printed and as read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Final

import click

from meterd.cli.tables import tables_option
from meterd.cli.words import NamingGroup
from meterd.edge.tables import all_tables, one_table, read_tables
from meterd.errors import EXIT_CONFIG, ConfigError
from meterd.money import format_cents, format_rate
from meterd.paytables.model import PayTable, Row
from meterd.paytables.parse import RESERVE_NOT_APPLICABLE, PaytableError
from meterd.paytables.pays import pay_text

#: Verbs with a file and imports of their own: name → (module, attribute).
LATER: Final = {
    "lint": ("meterd.cli.lint", "lint"),
    "parsheet": ("meterd.cli.parsheet", "parsheet"),
}


class PaytableGroup(NamingGroup):
    """A group that imports what only some of its verbs need when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs of this file, then the others."""
        return [*super().list_commands(ctx), *LATER]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One verb, or None if there is no such verb."""
        if cmd_name not in LATER:
            return super().get_command(ctx, cmd_name)
        module, attribute = LATER[cmd_name]
        command: click.Command = getattr(import_module(module), attribute)
        return command


@click.group(cls=PaytableGroup)
def paytable() -> None:
    """The pay tables of the regulations: list, show, export, lint, parsheet.

    Exit codes: 0 done, 1 lint found a fault, 2 no such pay table, 78 a pay table file cannot be used.
    """


def _all(extra: Path | None) -> Mapping[str, PayTable]:
    """The tables of ``--tables``, or the catalogue."""
    try:
        return all_tables(None) if extra is None else read_tables(extra)
    except PaytableError as error:
        click.echo(f"error: {error}", err=True)
        raise SystemExit(EXIT_CONFIG) from error
    except ConfigError as error:
        raise click.UsageError(str(error)) from error


def _one(table_id: str, extra: Path | None) -> PayTable:
    try:
        return one_table(table_id, extra)
    except PaytableError as error:
        click.echo(f"error: {error}", err=True)
        raise SystemExit(EXIT_CONFIG) from error
    except ConfigError as error:
        raise click.UsageError(str(error)) from error


@paytable.command("list")
@tables_option
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def list_tables(extra: Path | None, as_json: bool) -> None:
    """All pay tables, or those of --tables: id, kind, and the rules that print them."""
    tables = _all(extra).values()
    if as_json:
        click.echo(json.dumps([{"id": table.id, "game": table.game, "kind": table.kind} for table in tables]))
        return
    width = max(len(table.id) for table in tables)
    for table in tables:
        rules = ", ".join(dict.fromkeys(f"{source.jurisdiction} {source.rule}" for source in table.sources))
        click.echo(f"{table.id:<{width}}  {table.kind:<11}  {rules}")


@paytable.command()
@click.argument("table_id", metavar="PAYTABLE")
@tables_option
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def show(table_id: str, extra: Path | None, as_json: bool) -> None:
    """One pay table, as printed."""
    table = _one(table_id, extra)
    if as_json:
        click.echo(json.dumps(table.to_json(), ensure_ascii=False))
        return
    click.echo(f"{table.id}: {table.game}, {table.wager}, {table.basis}")
    for source in table.sources:
        click.echo(f"  printed in {source.jurisdiction} {source.rule} as {source.table}")
    for fact in _facts(table):
        click.echo(f"  {fact}")
    width = max(len(row.printed_hand or row.hand) for row in table.rows)
    for row in table.rows:
        click.echo(f"  {_row_line(row, width)}")
    if table.note:
        click.echo(f"  note: {table.note}")


def _row_line(row: Row, width: int) -> str:
    """One row as printed; a row that only a sentence of the rule has says so."""
    read = " + ".join(map(pay_text, row.pays))
    pay = f"{read} (not printed)" if row.derived else row.printed_pay or "(blank)"
    envy = f"  envy {row.printed_envy}" if row.printed_envy else ""
    note = f"  {row.printed_note}" if row.printed_note else ""
    return f"{row.printed_hand or row.hand:<{width}}  {pay}{envy}{note}"


def _facts(table: PayTable) -> list[str]:
    """Wager, seed, rates and envy, each in a few words; only what is known or is not the usual."""
    facts = [f"wager {format_cents(table.wager_cents)}"]
    if table.seed_cents is not None:
        facts.append(f"seed {format_cents(table.seed_cents)}{', grows with the wager' if table.seed_scales else ''}")
    if table.increment_ppm is not None:
        facts.append(f"increment {format_rate(table.increment_ppm)}")
    if table.reserve_ppm is not None:
        none = table.reserve_ppm == RESERVE_NOT_APPLICABLE
        facts.append(f"reserve {'N/A' if none else format_rate(table.reserve_ppm)}")
    unusual = {
        f"dealt from {' or '.join(map(str, table.decks_allowed))} decks": bool(table.decks_allowed),
        "the original wager is not returned": not table.original_wager_returned,
        "the envy is paid to the dealer": table.envy_to == "dealer",
        f"envy for wagers of at least {format_cents(table.envy_min_cents)}": table.envy_min_cents > 0,
        "only the highest hand of a round gives envy": table.envy_trigger == "highest",
        f"settlement: {table.settlement}": bool(table.settlement),
        "printed from the lowest pay up": table.rows_printed == "worst-first",
        "which cards count depends on play": table.depends_on_play,
        "cannot be evaluated": table.evaluator is None,
    }
    return facts + [fact for fact, holds in unusual.items() if holds]


@paytable.command()
@click.argument("table_ids", metavar="[PAYTABLE]…", nargs=-1)
@tables_option
@click.option("--json", "as_json", is_flag=True, help="The only format; the flag keeps scripts clear.")
def export(table_ids: tuple[str, ...], extra: Path | None, as_json: bool) -> None:
    """Every cell with its rule, as one JSON document: all tables, those of --tables, or those named."""
    del as_json
    tables = [_one(table_id, extra) for table_id in table_ids] if table_ids else list(_all(extra).values())
    click.echo(json.dumps([table.to_json() for table in tables], ensure_ascii=False, indent=1))
