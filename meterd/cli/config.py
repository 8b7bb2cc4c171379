"""``meterd check-config``: what is wrong with a site file, all at once, or what it amounts to."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from meterd.cli.words import counted
from meterd.errors import EXIT_CONFIG, EXIT_DONE


@click.command("check-config")
@click.argument("site_file", required=False, type=click.Path(path_type=Path))
@click.option("--config", "config", type=click.Path(path_type=Path), help="The site file; may also stand alone.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--schema", "schema", is_flag=True, help="Print the JSON Schema of a site file, for editors, and stop.")
def check_config(site_file: Path | None, config: Path | None, *, as_json: bool, schema: bool) -> None:
    """Check a site file: every finding with file, line, key, and the nearest name that exists.

    Exit codes: 0 usable, 2 wrong use, 78 findings, or a file that cannot be read.
    """
    if schema:
        click.echo(schema_text(), nl=False)
        return
    path = config or site_file
    if path is None or (config is not None and site_file is not None):
        raise click.UsageError("name one site file: meterd check-config SITE.toml")
    sys.exit(_check(path, as_json))


def schema_text() -> str:
    """The JSON Schema of a site file as ``schema/site.schema.json`` holds it."""
    from meterd.config import site_schema

    return json.dumps(site_schema(), indent=2, ensure_ascii=False) + "\n"


def _check(path: Path, as_json: bool) -> int:
    from meterd.config import Finding, SiteErrors, load_site
    from meterd.edge.catalogue import catalogue
    from meterd.edge.surroundings import pad_warnings, surroundings

    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        findings: tuple[Finding, ...] = (Finding(str(path), 1, "", f"it cannot be read: {error.strerror}"),)
        return _print_findings(findings, as_json)
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        findings = (Finding(str(path), line, "", "not UTF-8, as TOML must be"),)
        return _print_findings(findings, as_json)
    try:
        site = load_site(text, str(path), catalogue())
    except SiteErrors as error:
        return _print_findings(error.findings, as_json)
    findings = surroundings(text, str(path), site)
    if findings:
        return _print_findings(findings, as_json)
    warnings = (*site.warnings, *pad_warnings(text, str(path), site))
    for warning in warnings:
        click.echo(f"warning: {warning}", err=True)
    summary = {**_summary(site), "warnings": [warning.to_json() for warning in warnings]}
    click.echo(json.dumps(summary, indent=2) if as_json else _words(summary))
    return EXIT_DONE


def _print_findings(findings: Any, as_json: bool) -> int:
    if as_json:
        click.echo(json.dumps({"ok": False, "findings": [finding.to_json() for finding in findings]}, indent=2))
    else:
        for finding in findings:
            click.echo(str(finding))
        click.echo(f"{counted(len(findings), 'finding')}: nothing was started", err=True)
    return EXIT_CONFIG


def _summary(site: Any) -> dict[str, Any]:
    from meterd.config import line_budget

    return {
        "ok": True,
        "site": site.settings.id,
        "links": [
            {
                "id": link.id,
                "paytable": link.paytable.id,
                "levels": [level.name for level in link.levels],
                "tables": [table.id for table in site.tables if table.settings.link == link.id],
            }
            for link in site.links
        ],
        "tables": [
            {"id": table.id, "game": table.settings.game, "link": table.settings.link, "seats": table.settings.seats}
            for table in site.tables
        ],
        "buses": [
            {
                "id": budget.bus,
                "used_percent": budget.percent,
                "units": [{"name": unit.name, "used_us": unit.used_us} for unit in budget.units],
            }
            for budget in line_budget(site)
        ],
        "signs": [
            {"id": sign.id, "model": sign.model.id, "shows": [f"{link}/{level}" for link, level in sign.shows]}
            for sign in site.signs
        ],
    }


def _words(summary: dict[str, Any]) -> str:
    """The summary for a person: links with their tables, signs, and how busy each line is."""
    lines = [f"site {summary['site']}: usable"]
    for link in summary["links"]:
        tables = ", ".join(link["tables"]) or "no table yet"
        lines.append(f"  link {link['id']}: {link['paytable']}; levels {', '.join(link['levels'])}; tables {tables}")
    lines += [f"  table {table['id']}: {table['game']}, {table['seats']} seats" for table in summary["tables"]]
    lines += [f"  sign {sign['id']}: {sign['model']} shows {', '.join(sign['shows'])}" for sign in summary["signs"]]
    lines += [f"  bus {bus['id']}: busy {bus['used_percent']} % of each second" for bus in summary["buses"]]
    return "\n".join(lines)
