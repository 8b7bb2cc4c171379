"""What lies in ``schema/``: the only door to it. Files are read when they are asked for, not before.

An installed wheel carries the folder as ``meterd/_schema``; an editable checkout has it beside the package.
A pay table ``co/nexus/pmg-ml-02`` stands in ``paytables/co/nexus.toml``.
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from pathlib import Path

from meterd.errors import ConfigError, MisuseError
from meterd.paytables.model import PayTable
from meterd.paytables.parse import PaytableError, parse_paytables
from meterd.paytables.place import shown

#: No id of a table is longer, and no file system takes a much longer name.
_ID_MAX = 200

_PACKAGE = Path(__file__).resolve().parent.parent


@cache
def schema_root() -> Path:
    """The folder with the schema data.

    Raises:
        MisuseError: the installation lacks it.
    """
    for folder in (_PACKAGE / "_schema", _PACKAGE.parent / "schema"):
        if (folder / "paytables").is_dir():
            return folder
    raise MisuseError(
        f"the installation lacks its schema data: looked for {_PACKAGE}/_schema and {_PACKAGE.parent}/schema"
    )


def schema_text(name: str) -> str:
    """The text of one file, by its path below ``schema/``, such as ``ledger/0001.sql``.

    Raises:
        MisuseError: there is no such file.
    """
    path = schema_root() / name
    if not path.is_file():
        raise MisuseError(f"no file {name} in {schema_root()}")
    return path.read_text(encoding="utf-8")


def schema_files(folder: str, suffix: str) -> dict[str, str]:
    """The texts of all files below a folder with this suffix, by their path below ``schema/``, in order of path."""
    root = schema_root()
    return {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted((root / folder).rglob(f"*{suffix}"))
    }


@cache
def universe_text(name: str) -> str | None:
    """A universe of hands kept as data, such as ``7-of-52-five-card``; None where there is none of that name."""
    path = schema_root() / "universes" / f"{name}.txt"
    return path.read_text(encoding="ascii") if path.is_file() else None


@cache
def _tables_of(name: str) -> tuple[PayTable, ...]:
    """The tables of one file, each checked to stand where its id says."""
    tables = parse_paytables(schema_text(name), name)
    for table in tables:
        if _file_of(table.id) != name:
            raise PaytableError(name, 1, "id", f"{table.id!r} belongs into {_file_of(table.id)}")
    return tuple(tables)


def _file_of(paytable_id: str) -> str:
    """``co/nexus/pmg-ml-02`` → ``paytables/co/nexus.toml``."""
    return f"paytables/{'/'.join(paytable_id.split('/')[:2])}.toml"


def load_paytables() -> dict[str, PayTable]:
    """All pay tables, by id, in order of file and position.

    Raises:
        PaytableError: a file cannot be read as pay tables.
    """
    root = schema_root()
    names = (path.relative_to(root).as_posix() for path in sorted((root / "paytables").rglob("*.toml")))
    return {table.id: table for name in names for table in _tables_of(name)}


def paytable(paytable_id: str) -> PayTable:
    """One pay table; only its own file is read.

    Raises:
        ConfigError: there is no table of this id; the message names the nearest ones.
    """
    name = _file_of(paytable_id)
    if ".." not in paytable_id and len(paytable_id) <= _ID_MAX and (schema_root() / name).is_file():
        for table in _tables_of(name):
            if table.id == paytable_id:
                return table
    known = load_paytables()
    close = get_close_matches(paytable_id, known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(close)}?" if close else "`meterd paytable list` prints them all"
    raise ConfigError(f"there is no pay table {shown(paytable_id)!r}; {hint}")
