"""Which entries answered a request: looked up in the ledger itself, the only memory that outlives a crash.

Read only, beside the writer. A request is found by its identity among the newest volumes: who asks again after days is
asking for something new.
"""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple

from meterd.edge import sqlite, volume
from meterd.errors import LedgerError

VOLUMES: Final = 8  # a volume is a gaming day: a week, and today
ENTRIES_MAX: Final = 64  # of one answer; the ninth seat's envy and its cuts are far from it

_COLUMNS: Final = "seq, kind, table_id, link_id, actor, body"


class Told(NamedTuple):
    """One entry of an answer, without its money: what it says of that stands in the body."""

    seq: int
    kind: str
    table: str | None
    link: str | None
    actor: str
    body: dict[str, Any]


def answer_to(folder: Path, event_id: str) -> tuple[Told, ...]:
    """The entries that answered a request, in order; none where it was never decided.

    Raises:
        LedgerError: the ledger cannot be read.
    """
    try:
        for path in reversed(volume.readable_volumes(folder)[-VOLUMES:]):
            with closing(sqlite.reader(path)) as db:
                first = db.execute("SELECT seq FROM entry WHERE event_id = ?", [event_id]).fetchone()
                if first is not None:
                    return _from(db, first[0])
    except (OSError, sqlite.Error) as cause:
        raise LedgerError(f"the ledger in {folder} cannot be read: {sqlite.describe(cause)}") from cause
    return ()


def _from(db: sqlite.Database, seq: int) -> tuple[Told, ...]:
    """The entry at ``seq`` and those behind it that answer the same request."""
    select = f"SELECT {_COLUMNS} FROM entry WHERE seq >= ? ORDER BY seq LIMIT {ENTRIES_MAX}"  # noqa: S608 - constants
    found: list[Told] = []
    for row in db.execute(select, [seq]):
        told = Told._make((*row[:5], json.loads(row[5])))
        if found and told.body.get("asked") != found[0].body.get("asked"):
            break
        found.append(told)
    return tuple(found)
