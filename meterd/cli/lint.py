"""``meterd paytable lint``: what is wrong with pay tables, links and changes, before anybody plays."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from meterd.cli.tables import tables_option
from meterd.cli.words import complain, counted
from meterd.errors import EXIT_CONFIG, EXIT_DONE, EXIT_FINDING, ConfigError

if TYPE_CHECKING:
    from meterd.paytables.lint import Finding
    from meterd.paytables.model import PayTable

#: So many take long enough that a person wonders.
MANY: Final = 20

_PATH = click.Path(exists=True, path_type=Path)


@click.command("lint")
@click.argument("table_ids", metavar="[PAYTABLE]…", nargs=-1)
@tables_option
@click.option("--site", type=_PATH, help="A site file: its links, with their wagers, seeds, rates, games and seats.")
@click.option("--against", metavar="OLD", help="The live table that PAYTABLE would replace: an id, or a file.")
@click.option("--seats", type=click.IntRange(1, 32), help="Seats of a full table; else those of the site, else 7.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def lint(
    table_ids: tuple[str, ...],
    extra: Path | None,
    site: Path | None,
    against: str | None,
    seats: int | None,
    *,
    as_json: bool,
) -> None:
    """Say what is wrong with the pay tables named; or with those of --tables, or of --site; or with all there are.

    Exit codes: 0 no fault (there may be notices), 1 a fault, 2 wrong use, 78 a file that cannot be used.
    """
    from meterd.paytables.parse import PaytableError
    from meterd.paytables.parsheet import UniverseError

    try:
        findings, number = _lint(table_ids, extra, site, against, seats)
    except (PaytableError, UniverseError) as error:
        complain("error", error)
        raise SystemExit(EXIT_CONFIG) from error
    except ConfigError as error:
        raise click.UsageError(str(error)) from error
    faults = sum(finding.severity.value == "fault" for finding in findings)
    if as_json:
        click.echo(json.dumps(_document(findings, number, faults), ensure_ascii=False, indent=1))
    else:
        for line in _lines(findings):
            click.echo(line)
        notices = counted(len(findings) - faults, "notice")
        click.echo(f"{counted(number, 'pay table')}: {counted(faults, 'fault')}, {notices}", err=True)
    sys.exit(EXIT_FINDING if faults else EXIT_DONE)


def _lint(
    table_ids: Sequence[str], extra: Path | None, site: Path | None, against: str | None, seats: int | None
) -> tuple[list[Finding], int]:
    """The findings, and the number of pay tables looked at."""
    from meterd.edge.files import universe_text
    from meterd.edge.tables import all_tables, one_table, read_tables
    from meterd.paytables.lint import SEATS, lint_change, lint_link, lint_table, read_links
    from meterd.paytables.lint_pars import ParLaws

    laws = ParLaws(universe_text)
    found: list[Finding] = []
    looked_at: set[str] = set()
    tables = all_tables(extra) if site is not None else {}
    links = read_links(_text(site), str(site), tables, seats) if site is not None else ()
    for link in links:
        found += lint_link(link, tables, laws)
        looked_at.add(link.paytable.id)
    wanted: Mapping[str, PayTable] = {each: one_table(each, extra) for each in table_ids}
    if not wanted and site is None:
        wanted = read_tables(extra) if extra is not None else all_tables(None)
    if len(wanted) >= MANY:
        names = "; name some, or --site FILE for those of a floor, to be faster" if extra is None else ""
        click.echo(f"looking at {len(wanted)} pay tables; it may take minutes{names}", err=True)
    for table in wanted.values():
        found += lint_table(table, laws, seats=seats or SEATS)
        looked_at.add(table.id)
    if against is not None:
        if len(wanted) != 1:
            raise ConfigError(f"--against compares one pay table; {len(wanted)} are named")
        new = next(iter(wanted.values()))
        old = _old(against, new)
        terms = next((link.terms for link in links if link.paytable.id in {old.id, new.id}), None)
        found += lint_change(old, new, laws, terms=terms)
    return found, len(looked_at)


def _old(against: str, new: PayTable) -> PayTable:
    """The live table: by id, or from a file, where it has the new one's id or stands alone."""
    from meterd.edge.files import paytable
    from meterd.edge.tables import read_tables

    path = Path(against)
    if not path.exists():
        return paytable(against)
    tables = read_tables(path)
    if new.id in tables:
        return tables[new.id]
    if len(tables) == 1:
        return next(iter(tables.values()))
    raise ConfigError(f"{against} holds {', '.join(tables)}; none of them has the id {new.id!r}")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: the site file cannot be read ({error})") from error


def _document(findings: Sequence[Finding], number: int, faults: int) -> dict[str, Any]:
    return {
        "ok": not faults,
        "tables": number,
        "faults": faults,
        "notices": len(findings) - faults,
        "findings": [finding.to_json() for finding in findings],
    }


def _lines(findings: Sequence[Finding]) -> Iterator[str]:
    """Each finding with its next step, under its table; the table's note once, where there are oddities to explain."""
    shown: tuple[str, str | None] | None = None
    for finding in findings:
        head = (finding.table, finding.link)
        if head != shown:
            shown = head
            yield f"{finding.table}{f' on link {finding.link}' if finding.link else ''}"
            if finding.note:
                yield f"  note: {finding.note}"
        row = f" {finding.row}:" if finding.row else ""
        yield f"  {finding.severity.value} {finding.code}{row} {finding.found}"
        if finding.accepted is not None:
            yield f"    accepted: {finding.accepted}"
        elif finding.severity.value == "fault":
            yield f"    next: {finding.next_step}"
