"""How far a ledger can still be read, whatever state its files are in.

Rule 1: what can be read counts: an entry that is there was there.
Rule 2: a volume that cannot be read to its end may have held more, and that is said, not guessed away.
"""

from __future__ import annotations

from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

from meterd.edge import sqlite, volume
from meterd.errors import LedgerError


class Readable(NamedTuple):
    """Number and hash of the last entry that can be read, and the files that may have held entries behind it."""

    last: tuple[int, bytes] | None
    broken: tuple[Path, ...]


def readable(folder: Path) -> Readable:
    """How far the ledger in a folder can be read: its newest volumes, back to one that can be read to its end."""
    last: tuple[int, bytes] | None = None
    broken: list[Path] = []
    for file in reversed(volume.volumes(folder)) if folder.is_dir() else ():
        found, to_its_end = _last_of(file)
        if not to_its_end:
            broken.append(file)
        last = last or found
        if found is not None:
            break
    return Readable(last, tuple(broken))


def _last_of(file: Path) -> tuple[tuple[int, bytes] | None, bool]:
    """The last entry of one file that can be read, and whether it is surely its last one."""
    if not volume.may_hold_entries(file):
        return None, True
    try:
        with closing(sqlite.reader(file)) as db:
            forwards, gap = _walked(db)
            backwards = None
            with suppress(sqlite.Error):
                backwards = _entry(db.execute("SELECT seq, hash FROM entry ORDER BY seq DESC LIMIT 1").fetchone())
    except (OSError, sqlite.Error, LedgerError):
        return None, False
    ends = max(filter(None, (forwards, backwards)), default=None)
    return ends, ends is not None and ends == backwards and not (gap and ends == forwards)


def _walked(db: sqlite.Database) -> tuple[tuple[int, bytes] | None, bool]:
    """The last entry from the first on without a gap, and whether something else than the end is behind it."""
    last: tuple[int, bytes] | None = None
    try:
        for row in db.execute("SELECT seq, hash FROM entry ORDER BY seq"):
            found = _entry(row)
            if found is None or (last is not None and found[0] != last[0] + 1):
                return last, True
            last = found
    except sqlite.Error:
        return last, True
    return last, False


def _entry(row: Any) -> tuple[int, bytes] | None:
    """Number and hash of a row, where they are of their types."""
    return (row[0], row[1]) if row is not None and isinstance(row[0], int) and isinstance(row[1], bytes) else None
