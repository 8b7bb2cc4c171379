"""Two people at the machine of a stopped daemon: the options that name them, and what proves them.

The same for every verb that writes into a ledger in their names: adopting a site file or a key, and a restore that
loses something.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from meterd.cli.files import FileToRead
from meterd.errors import ConfigError, MisuseError

if TYPE_CHECKING:
    from meterd.accounting.commands import Role
    from meterd.app.signatures import Signatures
    from meterd.config import People

#: Where a floor has its people file: beside the site file of the units.
USUAL_PEOPLE: Final = Path("/etc/meterd/people.toml")
LINE_MAX: Final = 1024
WORDS_MAX: Final = 200  # characters of a name or a reference that nothing else bounds: an entry keeps them for good


class Signing(NamedTuple):
    """The options as they were given."""

    first: str | None
    second: str | None
    reference: str | None
    people: Path | None
    pins_from: Any
    unproven: bool

    @property
    def given(self) -> bool:
        """Whether anybody signs."""
        return self.first is not None or self.second is not None or self.reference is not None or self.unproven


def signing_options(first: str, second: str, usual: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """``--by``, ``--and``, ``--reference``, ``--people``, ``--pins-from`` and ``--unproven`` of a verb, as ``signing``.

    ``first`` and ``second``: what the first two mean there. ``usual``: the people file where none is named.
    """
    options = (
        click.option("--by", "first", metavar="ID", help=first),
        click.option("--and", "second", metavar="ID", help=second),
        click.option("--reference", metavar="TEXT", help="the approval's reference"),
        click.option(
            "--people",
            type=FileToRead(),
            metavar="FILE",
            help=f"who may act, and what proves them; without it {usual}",
        ),
        click.option(
            "--pins-from",
            metavar="FILE|-",
            type=click.File(),
            help="read the two PINs, a line each; without it they are asked for",
        ),
        click.option(
            "--unproven",
            is_flag=True,
            help="there is no people file, nor one at the floor's place: take both at their word; the entry says that"
            " nothing proved them",
        ),
    )

    def around(verb: Callable[..., None]) -> Callable[..., None]:
        @wraps(verb)
        def called(**values: Any) -> None:
            names = ("first", "second", "reference", "people", "pins_from", "unproven")
            signing = Signing(*(values.pop(name) for name in names))
            verb(signing=signing, **values)

        signed: Callable[..., None] = called
        for option in reversed(options):
            signed = option(signed)
        return signed

    return around


def signatures(signing: Signing, usual: Path) -> Signatures:
    """Both who sign, proven by their PINs; ``usual``: the people file where none was named.

    Nobody goes unproven past a people file: one that is named, ``usual``, or that of this machine's floor.

    Raises:
        UsageError: an option is missing.
        ConfigError: the people file cannot be used.
        MisuseError: a PIN is wrong, or there is nothing to prove anybody by and nobody said so.
    """
    from meterd.app.signatures import Signatures
    from meterd.edge.catalogue import read_people

    first, second, reference = named(signing)
    found = signing.people or (usual if _there(usual) else None)
    if signing.unproven:
        around = found or (USUAL_PEOPLE if _there(USUAL_PEOPLE) else None)
        if around is not None:
            raise MisuseError(f"{around} is there to prove who signs: leave out --unproven")
        return Signatures(first, second, reference)
    if found is None:
        raise MisuseError(
            f"there is no people file {usual} to prove {first} and {second} by: name it with --people FILE. Where "
            "there is none left, --unproven takes both at their word, and the ledger says that nothing proved them"
        )
    path = str(found.absolute())
    if not path.isprintable():
        raise MisuseError(f"the entry tells which people file proved both, and {path!r} is no plain text")
    names, roles = proven(read_people(found), (first, second), signing.pins_from)
    return Signatures(*names, reference, roles, path)


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


def typed_pins(people: Sequence[str], source: Any) -> list[str]:
    """The PIN of each person, asked for without echo, or from lines of ``source``."""
    if source is not None:
        try:
            lines = [source.readline(LINE_MAX) for _ in people]
        except UnicodeDecodeError as error:
            raise click.UsageError("--pins-from is no text") from error
        if "" in lines:
            raise click.UsageError(f"--pins-from has {lines.index('')} lines, {len(people)} people sign")
        return [line.rstrip("\r\n") for line in lines]
    if not sys.stdin.isatty():
        raise click.UsageError(
            "PINs are asked for on a terminal; elsewhere give --pins-from FILE, or - for standard input"
        )
    return [click.prompt(f"PIN of {name}", hide_input=True, err=True) for name in people]


def named(signing: Signing) -> tuple[str, str, str]:
    """All three of them, and two different people.

    Raises:
        UsageError: one is missing, or not to be told in one line.
    """
    values = {"--by": signing.first, "--and": signing.second, "--reference": signing.reference}
    for option, value in values.items():
        if value is None or not value.strip():
            missing = "is missing" if value is None else "is empty"
            raise click.UsageError(f"{option} {missing}: two people sign, with a reference")
        if '"' in value or not value.isprintable() or len(value) > WORDS_MAX:
            raise click.UsageError(f"{option} is one line of plain text without quotation marks, {WORDS_MAX} at most")
    first, second, reference = (value or "" for value in values.values())
    if first.strip().casefold() == second.strip().casefold():
        raise click.UsageError("--by and --and name two different people")
    return first, second, reference


def _there(path: Path) -> bool:
    """Whether something is at a path; what may not be looked at is not taken for nothing.

    Raises:
        ConfigError: its folder may not be looked into.
    """
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as cause:
        raise ConfigError(f"{path}: whether there is a people file cannot be seen ({cause.strerror})") from cause
    return True
