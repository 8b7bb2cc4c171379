"""The last finished backup as a witness: a ledger that lacks what it holds was cut, replaced, or restored too far back.

Rule 1: like a checkpoint it stops a start, for what would be written then makes a second ledger of the same number.
Rule 2: a restore says in the ledger what it goes back to, and two people approved what is lost: that explains it.
Rule 3: the file is for alerts, anybody may write it by hand, and old ones say not of which ledger: one that cannot be
        read, or is of another ledger, is told in the log and stops nothing.
"""

from __future__ import annotations

import json
from pathlib import Path

import structlog

from meterd.accounting.entries import Kind
from meterd.edge import volume
from meterd.edge.last_backup import LAST, LastBackup, read_last
from meterd.edge.store import Store
from meterd.errors import LedgerError

log = structlog.get_logger()


def require_backed_up(store: Store, origin: str) -> None:
    """The ledger has at least what its last finished backup holds, and the same.

    Raises:
        LedgerError: it has not, and no approved restore says why.
    """
    folder = store.path.parent
    try:
        told = read_last(folder)
    except LedgerError as cause:
        log.warning("ledger.last_backup_unreadable", cause=str(cause), advice="the next backup writes it anew")
        return
    if told is None:
        return
    lacks = lacking(folder, store.seq, told)
    if not lacks:
        return
    if told.origin != origin:
        log.warning("ledger.last_backup_of_another", file=str(folder / LAST), origin=told.origin, ledger=origin)
        return
    if _explained(folder, told):
        log.warning("ledger.last_backup_before_restore", file=str(folder / LAST), entries=told.entries)
        return
    raise LedgerError(
        f"the ledger ends at entry {store.seq}, but {folder / LAST} tells of a backup that {lacks}: entries are "
        f"missing or replaced. Remove nothing; put the missing file back, or `meterd restore {told.path} {folder}`. "
        "Nothing is written to a ledger that was cut off"
    )


def takes_its_place(folder: Path, source: Path, seq: int, origin: str) -> bool:
    """Whether a backup just finished is to be told of in ``backup-last.json``, in place of the one told of there.

    It is the ledger that must have what that one holds, or say why not: else the loss of a file would be forgotten with
    the next nightly backup. The backup itself may hold less of an unharmed ledger, where another one was begun behind
    it and finished before it; then the file goes on telling of that. ``folder`` is the ledger's, ``source`` what was
    made of it, which ends with ``seq``.

    Raises:
        LedgerError: the ledger lacks something.
    """
    try:
        told = read_last(folder)
    except LedgerError:
        return True  # it tells nothing, and is written anew
    if told is None or told.origin != origin:
        return True
    end = volume.last_seq(folder)  # asked behind the file: what that tells of was in the ledger by then
    lacks = lacking(folder, end, told)
    if not lacks:
        return told.entries <= seq
    if _explained(folder, told):
        return True
    raise LedgerError(
        f"the backup in {source} is finished and was read back, but the ledger ends at entry {end}, and the one "
        f"before {lacks}: entries of the ledger are missing or replaced. Keep both; {folder / LAST} goes on telling of "
        "the one before. Put the missing file back, or restore that backup"
    )


def lacking(folder: Path, seq: int, told: LastBackup) -> str:
    """In words, what the backup has and a ledger that ends with ``seq`` has not; empty where that is nothing.

    An entry in a volume that was moved away cannot be compared.
    """
    if told.entries > seq:
        return f"holds {told.entries} ({told.path})"
    there = volume.row_at(folder, told.entries)[1]
    if there and there.hex() != told.head:
        return f"holds another entry {told.entries} ({told.path})"
    return ""


def _explained(folder: Path, told: LastBackup) -> bool:
    """Whether a restore behind that backup went back to before its end."""
    for at_utc, body in volume.bodies_of(folder, Kind.RESTORED):
        entries = json.loads(body).get("entries")
        if isinstance(entries, int) and entries < told.entries and at_utc > told.verified_at_utc:
            return True
    return False
