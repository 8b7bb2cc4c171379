"""``meterd paytable parsheet``: how likely each row of a pay table is, and what follows from that, exactly."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from meterd.cli.tables import tables_option
from meterd.cli.words import complain
from meterd.errors import EXIT_CONFIG, ConfigError
from meterd.money import format_cents, parse_money, parse_rate

if TYPE_CHECKING:
    from meterd.paytables.model import PayTable
    from meterd.paytables.parsheet import ParSheet

WHEELS = ("double-zero", "single-zero")


@click.command("parsheet", short_help="How likely each row is, and what follows: return, break-even meter, mean award.")
@click.argument("table_id", metavar="PAYTABLE")
@click.option("--decks", type=int, metavar="N", help="Decks in the shoe, 1 to 8; else as many as the table says.")
@click.option("--wheel", type=click.Choice(WHEELS), default=WHEELS[0], show_default=True, help="Pockets of the wheel.")
@click.option(
    "--seed", "seeds", multiple=True, metavar="LEVEL=AMOUNT", help="What a level starts from: main=10,000.00."
)
@click.option(
    "--increment", "increments", multiple=True, metavar="LEVEL=RATE", help="What a wager adds to it: main=9.5%."
)
@tables_option
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def parsheet(
    table_id: str,
    decks: int | None,
    wheel: str,
    seeds: Sequence[str],
    increments: Sequence[str],
    extra: Path | None,
    *,
    as_json: bool,
) -> None:
    """Work out the exact par sheet of PAYTABLE, per unit of the wager it prints, without envy.

    Seeds and increments are taken from the print where it has them; --seed and --increment add or replace them, for the
    wager that the table prints. A table whose chances depend on how somebody plays has no par sheet.

    Exit codes: 0 done, 2 no such table, or one that has no par sheet, 78 a file cannot be used.
    """
    from meterd.edge.files import universe_text
    from meterd.edge.tables import one_table
    from meterd.paytables.parse import PaytableError
    from meterd.paytables.parsheet import UniverseError, seconds
    from meterd.paytables.parsheet import parsheet as par_sheet

    try:
        table = one_table(table_id, extra)
        about = seconds(table, decks=decks, cached=universe_text)
        if about > 1:
            complain("parsheet", f"these hands are not kept as data; working them out takes about {about} s")
        sheet = par_sheet(
            table,
            decks=decks,
            wheel=wheel,
            cached=universe_text,
            seeds=_by_level(seeds, parse_money),
            increments_ppm=_by_level(increments, parse_rate),
        )
    except (PaytableError, UniverseError) as error:
        complain("error", error)
        raise SystemExit(EXIT_CONFIG) from error
    except (ConfigError, ValueError) as error:
        raise click.UsageError(str(error)) from error
    if as_json:
        click.echo(json.dumps(sheet.to_json(), ensure_ascii=False))
        return
    for line in _page(table, sheet):
        click.echo(line)


def _by_level(given: Sequence[str], read: Callable[[str], int]) -> dict[str, int]:
    """``main=10,000.00`` as ``{"main": 1000000}``."""
    found = {}
    for text in given:
        level, equals, value = text.partition("=")
        if not equals:
            raise ValueError(
                f"{text!r}: expected LEVEL=VALUE, such as main={'10,000.00' if read is parse_money else '9.5%'}"
            )
        if level in found:
            raise ValueError(f"{text!r}: {level} is given twice")
        found[level] = read(value)
    return found


def _page(table: PayTable, sheet: ParSheet) -> Iterator[str]:
    """The sheet for a person: decimals rounded, one row a line."""
    dealt = f", {sheet.decks} decks" if sheet.decks is not None and sheet.decks > 1 else ""
    wheel = f", {sheet.wheel} wheel" if sheet.wheel else ""
    yield f"{table.id}: {table.game}, {table.wager}{dealt}{wheel}; {sheet.universe:,} equally likely outcomes"
    if sheet.note:
        yield f"  note: {sheet.note}"
    printed = {row.hand: row.printed_hand or row.hand for row in table.rows}
    pays = {row.hand: row.printed_pay or "(by the rule)" for row in table.rows}
    name = max((len(printed[row.hand]) for row in sheet.rows), default=4)
    pay = max((len(pays[row.hand]) for row in sheet.rows), default=4)
    for row in sheet.rows:
        line = f"  {printed[row.hand]:<{name}}  {pays[row.hand]:<{pay}}  {row.count:>20,}  {_chance(row.probability)}"
        yield line if row.house_edge is None else f"{line}  house edge {_percent(row.house_edge)}"
    if sheet.lose_probability is not None:
        yield f"  {'no paying row':<{name}}  {'':<{pay}}  {'':>20}  {_chance(sheet.lose_probability)}"
    yield from _money(sheet)


def _money(sheet: ParSheet) -> Iterator[str]:
    """Returns, levels and envy."""
    if sheet.fixed_return is not None:
        yield f"Return apart from meters: {_percent(sheet.fixed_return)} of the wager"
    if sheet.from_meter_return:
        yield f"Return of fixed sums from meters: {_percent(sheet.from_meter_return)}"
    for level, meter in sheet.meters.items():
        share = _percent(meter.share_probability)
        known = _levels(meter.break_even_cents, meter.mean_award_cents)
        yield f"Level {level}: a wager wins {share} of the meter; {known}"
    if sheet.house_edge_at_seed is not None:
        yield f"House edge{' at seed' if sheet.meters else ''}: {_percent(sheet.house_edge_at_seed)}"
    if sheet.envy_return_per_other_player:
        yield f"Envy return per other player: {_percent(sheet.envy_return_per_other_player)}"


def _levels(break_even: int | None, mean_award: int | None) -> str:
    even = "no break-even meter known" if break_even is None else f"break-even meter {format_cents(break_even)}"
    mean = "mean award not known" if mean_award is None else f"mean award {format_cents(mean_award)}"
    return f"{even}, {mean}"


def _chance(probability: Fraction) -> str:
    """``0.000153908 %  (1 in 649,740.0)``."""
    if not probability:
        return "never"
    return f"{_percent(probability):>16}  1 in {_decimal(1 / probability, 1)}"


def _percent(value: Fraction) -> str:
    return f"{_decimal(value * 100, 8)} %"


def _decimal(value: Fraction, places: int) -> str:
    """Rounded half up, without floating point."""
    scaled = abs(value) * 10**places
    whole = (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)
    digits = f"{whole // 10**places:,}.{whole % 10**places:0{places}d}"
    return f"-{digits}" if value < 0 and whole else digits
