"""Pay tables that are in no catalogue: a file or folder that the command line names, besides what ``schema/`` holds."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from meterd.edge.files import load_paytables, paytable
from meterd.errors import ConfigError
from meterd.paytables.model import PayTable
from meterd.paytables.parse import PaytableError, parse_paytables
from meterd.paytables.place import shown


def read_tables(path: Path) -> dict[str, PayTable]:
    """All pay tables of a file, or of all ``*.toml`` files below a folder, by id.

    Raises:
        PaytableError: a file cannot be read as pay tables, or an id stands in two of them.
        ConfigError: there is no such file, or no ``*.toml`` file below the folder.
    """
    files = sorted(path.rglob("*.toml")) if path.is_dir() else [path]
    if not files:
        raise ConfigError(f"{path}: no *.toml file is below this folder")
    found: dict[str, PayTable] = {}
    for file in files:
        for table in parse_paytables(_bytes(file), str(file)):
            if table.id in found:
                raise PaytableError(str(file), 1, "id", f"{table.id!r} stands in another file of {path} too")
            found[table.id] = table
    return found


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: it cannot be read: {error.strerror}") from error


def all_tables(extra: Path | None) -> Mapping[str, PayTable]:
    """The catalogue, with the tables of ``extra`` in place of those with the same id."""
    return load_paytables() | (read_tables(extra) if extra is not None else {})


def one_table(table_id: str, extra: Path | None) -> PayTable:
    """One pay table: of ``extra`` if it is there, else of the catalogue.

    Raises:
        ConfigError: there is no table of this id; the message names the nearest ones.
    """
    if extra is None:
        return paytable(table_id)
    tables = read_tables(extra)
    if table_id in tables:
        return tables[table_id]
    near = get_close_matches(table_id, tables, n=1, cutoff=0.6)
    if near:
        raise ConfigError(f"there is no pay table {shown(table_id)!r} in {extra}; did you mean {near[0]!r}?")
    return paytable(table_id)
