"""What a folder tells of the last backup of its ledger that was finished: ``backup-last.json``, written behind it."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Final, NamedTuple

from meterd.errors import LedgerError

LAST: Final = "backup-last.json"
_LONGEST: Final = 1_000_000  # bytes; it lists a digest for each day's volume


class LastBackup(NamedTuple):
    """Where it is, its last entry's number and hash, when it was read back, and of which ledger it is.

    ``origin`` is empty where an older meterd wrote the file.
    """

    path: str
    entries: int
    head: str
    verified_at_utc: str
    origin: str


def read_last(folder: Path) -> LastBackup | None:
    """What the file in a folder tells; None where there is none.

    Raises:
        LedgerError: it cannot be read.
    """
    path = folder / LAST
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe would be waited for
            raise LedgerError(f"{path} is no regular file")
        with path.open("rb") as file:
            told = json.loads(file.read(_LONGEST))
        found = LastBackup(told["path"], told["entries"], told["head"], told["verified_at_utc"], told.get("origin", ""))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as cause:
        raise LedgerError(f"{path} cannot be read: {cause}") from cause
    texts = (found.path, found.head, found.verified_at_utc, found.origin)
    if not all(isinstance(text, str) and (text.isprintable()) for text in texts) or type(found.entries) is not int:
        raise LedgerError(f"{path} cannot be read: it is not what a backup writes")
    return found
