"""Entries and ledgers for the tests of the store. Imported, and run as a child that commits until it is killed.

As a child: ``python store_rows.py FOLDER SYNCHRONOUS COUNT GROUP`` tells the number of each entry it has committed.
"""

from __future__ import annotations

import os
import sys
from itertools import pairwise
from pathlib import Path

from meterd.edge.store import Store
from meterd.errors import LedgerError
from meterd.ledger.chain import seal
from meterd.ledger.record import Draft, Record

#: The child checkpoints once in so many entries, so that the WAL begins again and again.
CHECKPOINT_EACH = 40


def draft(n: int) -> Draft:
    """The ``n``-th LOCK of a table, of the size such an entry has."""
    return Draft(
        at_utc="2026-12-01T13:00:00.000000Z",
        boot="boot-1",
        mono_ns=n,
        kind="Locked",
        table_id="T1",
        link_id="nexus",
        site="riverside",
        actor="dealer@T1",
        device="pit-1/40",
        event_id=f"pit-1/40/di7:1:{n}",
        body=f'{{"n":{n},"seats":[1,2,3,4,5,6,7],"text":"{"x" * 300}"}}',
        postings=(("drop/T1", -700 * n), ("house/hold/T1", 600 * n), ("meter/nexus/mega", 100 * n)),
    )


def following(store: Store, count: int) -> list[Record]:
    """The next ``count`` entries of a store, sealed."""
    records: list[Record] = []
    seq, head = store.seq, store.head
    for _ in range(count):
        seq += 1
        records.append(seal(draft(seq), seq, head))
        head = records[-1].hash
    return records


def new_ledger(folder: Path, entries: int = 1) -> Path:
    """A closed ledger with this many entries; the path of its only volume."""
    Store.create(folder, [draft(n) for n in range(1, entries + 1)])
    return folder / "ledger-1.db"


def commit_and_tell(folder: Path, synchronous: str, count: int, group: int) -> None:
    """Commit group by group, and tell each one on standard output only when it is done.

    A failure of the ledger is told, and so is that nothing more is taken after it. Ends as a crash does: untidied.
    """
    store = None
    try:
        store = Store.open(folder, synchronous=synchronous)
        target = store.seq + count
        while store.seq < target:
            store.commit(following(store, group))
            os.write(1, b"acked %d\n" % store.seq)
            if store.seq % CHECKPOINT_EACH < group:
                store.checkpoint()
        os.write(1, b"done\n")
        os._exit(0)
    except LedgerError as error:
        os.write(1, f"failed {error}\n".encode())
    if store is not None:
        try:
            store.commit(following(store, 1))
            os.write(1, b"acked %d\n" % store.seq)
        except LedgerError:
            os.write(1, b"refused\n")
    os._exit(0)


def acked(output: str) -> int:
    """The highest number a child told."""
    told = [int(line.split()[1]) for line in output.splitlines() if line.startswith("acked ")]
    assert all(a < b for a, b in pairwise(told))
    return told[-1] if told else 0


if __name__ == "__main__":
    commit_and_tell(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
