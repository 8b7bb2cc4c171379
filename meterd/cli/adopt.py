"""``meterd ledger adopt``: a changed site file and the ledger that is in force."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from meterd.cli.act import typed_pins
from meterd.cli.words import complain
from meterd.errors import EXIT_CONFIG, EXIT_LEDGER, EXIT_USAGE, ConfigError, LedgerError, MisuseError

if TYPE_CHECKING:
    from meterd.accounting.commands import Role
    from meterd.config import People


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--config", required=True, type=click.Path(path_type=Path, dir_okay=False), help="the new site file")
@click.option("--by", "first", help="who asks for it; without --by and --and it is only told what would be adopted")
@click.option("--and", "second", help="who approves it; somebody else, of another department")
@click.option("--reference", help="the approval's reference")
@click.option(
    "--people",
    "people_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="who may act, and what proves them; without it people.toml beside the site file, where there is one",
)
@click.option("--pins-from", metavar="FILE|-", type=click.File(), help="read the two PINs, a line each")
def adopt(
    folder: Path,
    config: Path,
    first: str | None,
    second: str | None,
    reference: str | None,
    people_file: Path | None,
    pins_from: Any,
) -> None:
    """Tell what a changed site file asks of the ledger, or have two people put it in force.

    New links, tables and funds, thresholds of the site, settings of tables, limits, pay tables that are easier to win:
    all of it or nothing. To adopt, the daemon must be stopped.

    Exit codes: 0 adopted, or all of it could be; 2 wrong use, or refused; 74 the ledger needs a person; 78 something of
    the site file cannot be adopted.
    """
    try:
        if first is None and second is None and reference is None:
            _look(folder, config)
        else:
            _adopt(folder, config, _given(first, second, reference), people_file, pins_from)
    except ConfigError as error:
        complain("meterd ledger adopt", error)
        sys.exit(EXIT_CONFIG)
    except LedgerError as error:
        complain("meterd ledger adopt", error)
        sys.exit(EXIT_LEDGER)
    except MisuseError as error:
        complain("meterd ledger adopt", error)
        sys.exit(EXIT_USAGE)


def _given(first: str | None, second: str | None, reference: str | None) -> tuple[str, str, str]:
    """All three of them, and two different people."""
    values = {"--by": first, "--and": second, "--reference": reference}
    for option, value in values.items():
        if value is None or not value.strip():
            missing = "is missing" if value is None else "is empty"
            raise click.UsageError(f"{option} {missing}: two people adopt, with a reference")
    if (first or "").strip().casefold() == (second or "").strip().casefold():
        raise click.UsageError("--by and --and name two different people")
    return first or "", second or "", reference or ""


def _look(folder: Path, config: Path) -> None:
    from meterd.app.adopt import look
    from meterd.edge.catalogue import read_site

    outlook = look(folder, read_site(config)[0])
    for line in outlook.new:
        click.echo(f"new: {line}")
    for line in outlook.can:
        click.echo(f"changes: {line}")
    for line in outlook.cannot:
        click.echo(f"cannot be adopted: {line}")
    if outlook.cannot:
        sys.exit(EXIT_CONFIG)
    if not any(outlook):
        click.echo("the site file is what the ledger has in force")
    else:
        click.echo("two people adopt it, with the daemon stopped: --by A --and B --reference TEXT", err=True)


def _adopt(folder: Path, config: Path, given: tuple[str, str, str], people_file: Path | None, pins_from: Any) -> None:
    from meterd.app.adopt import UNPROVEN, adopt
    from meterd.edge.catalogue import people_beside, read_people, read_site

    site = read_site(config)[0]
    first, second, reference = given
    found = people_file or people_beside(config)
    roles = UNPROVEN
    if found is not None:
        (first, second), roles = proven(read_people(found), (first, second), pins_from)
    adopted = adopt(folder, site, first=first, second=second, reference=reference, roles=roles)
    words = zip(("links", "tables", "funds"), adopted[:3], strict=True)
    click.echo("adopted " + "; ".join(f"{what}: {', '.join(ids) or 'none'}" for what, ids in words))
    for line in adopted.changed:
        click.echo(f"changed {line}")


def proven(people: People, names: tuple[str, str], pins_from: Any) -> tuple[tuple[str, str], tuple[Role, Role]]:
    """The ids and roles of two people whose PINs are right.

    Raises:
        MisuseError: one is not, in the words of every other sign-in.
    """
    from meterd.edge.secrets import decoy, verify_pin

    found = [people.by_id(name) for name in names]
    hashes = [each.pin_hash if each is not None and each.pin_hash is not None else decoy(people) for each in found]
    right = [verify_pin(*pair) for pair in zip(hashes, typed_pins(names, pins_from), strict=True)]
    wrong = [name for name, ok in zip(names, right, strict=True) if not ok]
    one, two = found
    if wrong or one is None or two is None:
        raise MisuseError(f"{' and '.join(wrong)}: the PIN is wrong, or nobody with a PIN has this id")
    return (one.id, two.id), (one.role, two.role)
