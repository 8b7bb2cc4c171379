"""The most that somebody with the files can do: change entries of any volume and make all hashes and trees anew."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from meterd.edge import volume
from meterd.edge.store import read_records
from meterd.ledger.canonical import canonical, parse
from meterd.ledger.chain import GENESIS, seal
from meterd.ledger.merkle import Tree
from meterd.ledger.note import origin_of
from meterd.ledger.record import Draft, Record

Body = dict[str, Any]


def forge_all(folder: Path, change: Callable[[Record, Body], Record | None]) -> None:
    """Hand each entry with its facts to ``change`` and write the whole ledger anew.

    It may alter the facts in place, and give back an entry with other columns or postings.
    """
    tree, head, seq, first, origin = Tree(), GENESIS, 0, 1, ""
    for path in volume.volumes(folder):
        forged: list[Record] = []
        for record in list(read_records(path)):
            body = parse(record.body)
            if record.kind == "BookCarried":
                nodes = [node.hex() for node in tree.frontier]
                body["sealed"] = {"first_seq": first, "last_seq": seq, "head": head.hex()}
                body["tree"] = {"size": tree.size, "root": tree.root().hex(), "frontier": nodes}
                body["origin"], first = origin, seq + 1
            record = change(record, body) or record  # noqa: PLW2901 - the forger's
            sealed = seal(Draft(*record._replace(body=canonical(body))[1:12], record.postings), seq + 1, head)
            seq, head = sealed.seq, sealed.hash
            tree.append(head)
            origin = origin or origin_of(sealed.site, head)
            forged.append(sealed)
        write_anew(path, forged)


def write_anew(path: Path, records: list[Record]) -> None:
    """These entries in the place of all that a volume holds."""
    with closing(sqlite3.connect(path)) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("DELETE FROM posting")
        connection.execute("DELETE FROM entry")
        for record in records:
            for n, (account, amount) in enumerate(record.postings, 1):
                connection.execute("INSERT INTO posting VALUES (?, ?, ?, ?)", (record.seq, n, account, amount))
            connection.execute("INSERT INTO entry VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)", record[:14])
        for _, sql in triggers:
            connection.execute(sql)
        connection.commit()
        connection.execute("PRAGMA journal_mode=DELETE")
