"""``meterd rank``: which row of a pay table some cards or spins earn."""

from __future__ import annotations

import json
from pathlib import Path

import click

from meterd.cli.tables import tables_option
from meterd.cli.words import complain
from meterd.edge.tables import one_table
from meterd.errors import EXIT_CONFIG, ConfigError
from meterd.handrank.cards import CardError
from meterd.paytables.decide import reads_dealer
from meterd.paytables.model import PayTable
from meterd.paytables.outcome import Outcome, outcome
from meterd.paytables.parse import PaytableError
from meterd.paytables.pays import pay_text

LOSS = [{"kind": "loss"}]


@click.command(short_help="Which row of a pay table some cards or spins earn.")
@click.argument("table_id", metavar="PAYTABLE")
@click.option("--cards", default="", help="The player's own cards in dealt order, such as 'As Td 9h'.")
@click.option("--community", default="", help="Community cards in dealt order: flop, turn, river.")
@click.option("--dealer", default="", help="The dealer's cards, up card first.")
@click.option("--number", default="", help="Spins or rolls in order, for streak games: '00 4 9 9'.")
@tables_option
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def rank(
    table_id: str, cards: str, community: str, dealer: str, number: str, extra: Path | None, as_json: bool
) -> None:
    """Say which hand of PAYTABLE the cards make, what it pays, and which cards made it.

    Exit code 0 also for a losing hand; 2 for cards that cannot be, or a table that cannot be evaluated.
    """
    try:
        table = one_table(table_id, extra)
        result = outcome(table, cards=cards, community=community, dealer=dealer, number=number)
    except PaytableError as error:
        complain("error", error)
        raise SystemExit(EXIT_CONFIG) from error
    except (CardError, ConfigError) as error:
        raise click.UsageError(str(error)) from error
    if dealer and not reads_dealer(table):
        click.echo(f"note: the dealer's cards decide nothing on {table.id}; they are checked for repeats", err=True)
    click.echo(json.dumps(document(table, result), ensure_ascii=False) if as_json else sentence(table, result))


def document(table: PayTable, result: Outcome) -> dict[str, object]:
    """The public JSON form. Amounts are cents for the wager the table prints."""
    row = result.row
    return {
        "paytable": table.id,
        "hand": None if row is None else row.hand,
        "pays": LOSS if row is None else [pay.to_json() for pay in row.pays],
        "envy_cents": 0 if row is None else row.envy_cents,
        "cards_used": list(result.cards_used),
    }


def sentence(table: PayTable, result: Outcome) -> str:
    """One line for a person."""
    used = f" ({' '.join(result.cards_used)})" if result.cards_used else ""
    if result.row is None:
        return f"{table.id}: {result.reached}{used}, no pay"
    envy = f", envy {result.row.printed_envy}" if result.row.envy_cents else ""
    if envy and table.envy_to == "dealer":
        envy += " to the dealer"
    hand = result.row.printed_hand or result.row.hand
    pay = result.row.printed_pay or f"{' + '.join(map(pay_text, result.row.pays))} (not printed, see its note)"
    return f"{table.id}: {hand}{used} pays {pay}{envy}"
