"""Which files make up a ledger: nothing else is ever written over one of them.

Rule 1: in a folder with a volume in it, whether of a ledger or a backup, their names are taken.
Rule 2: a volume stays one under any other name; so do the files that SQLite keeps beside it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from meterd.edge.folder import LOCK, RESTORING
from meterd.edge.last_backup import LAST
from meterd.edge.volume import APPLICATION_ID, LINK, first_seq_of, volumes

_BESIDE: Final = re.compile(r"(.+)-(wal|shm|journal)")
_CHECKPOINT: Final = re.compile(r"checkpoint.*\.txt")
_NAMES: Final = frozenset({LINK, LOCK, RESTORING, LAST, "backup.json"})
_MAGIC: Final = b"SQLite format 3\x00"
_APPLICATION_ID_AT: Final = 68  # https://www.sqlite.org/fileformat.html, 1.3


def is_of_a_ledger(path: Path) -> bool:
    """Whether writing to this path would write over a part of a ledger or a backup, or into its place.

    What cannot be looked at is none.
    """
    try:
        places = {path.parent.resolve() / path.name, path.resolve()}
        return any(_taken(place) for place in places)
    except (OSError, RuntimeError, ValueError):
        return False


def _taken(path: Path) -> bool:
    beside = _BESIDE.fullmatch(path.name)
    of = path.with_name(beside[1]) if beside is not None else path
    if of.is_file() and _is_volume(of):
        return True
    name = of.name
    named = name in _NAMES or first_seq_of(of) is not None or _CHECKPOINT.fullmatch(name) is not None
    return named and path.parent.is_dir() and bool(volumes(path.parent) or (path.parent / LINK).is_symlink())


def _is_volume(path: Path) -> bool:
    """Whether a file says of itself that it is a volume."""
    with path.open("rb") as file:
        head = file.read(_APPLICATION_ID_AT + 4)
    return head.startswith(_MAGIC) and head[_APPLICATION_ID_AT:] == APPLICATION_ID.to_bytes(4, "big")
