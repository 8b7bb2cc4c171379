"""The ledger on disk: created once, opened by one writer, read by anybody.

Rule 1: what :meth:`Store.commit` was given is on the disk when it returns.
Rule 2: a COMMIT that raises is unknown, not failed: the row may be there after a restart. The store then takes nothing
more; the next start looks at what is there.
Rule 3: one writer per folder, held by a lock that dies with its process.
Rule 4: what is committed into files that were deleted or replaced under us is lost with this process. That is looked at
behind each COMMIT, before anybody is told of it.
Rule 5: a program that does not ask for the lock is found out: at the start by its open file, later by what it wrote.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Final, Self

from meterd.edge import sqlite, volume
from meterd.edge.folder import described, point_to, require_whole, sync, take_lock
from meterd.edge.openers import open_files, writers_of
from meterd.errors import InvariantBroken, LedgerError, MisuseError
from meterd.ledger.chain import GENESIS, seal
from meterd.ledger.record import Draft, Record
from meterd.ledger.verify import check_chain

#: Entries whose hashes are checked when the ledger is opened. The whole chain is for ``meterd ledger verify``.
TAIL: Final = 1000

#: The kind of the last entry of a sealed volume.
SEAL: Final = "DayRead"

_ADD_ENTRY: Final = "INSERT INTO entry VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
#: Postings added by one statement; an entry with more takes several. A row each would cost a third more.
_POSTINGS_AT_ONCE: Final = 32
_ADD_POSTINGS: Final = tuple(
    ",".join(["INSERT INTO posting VALUES (?,?,?,?)", *["(?,?,?,?)"] * more]) for more in range(_POSTINGS_AT_ONCE)
)


class Store:
    """The one writer of a ledger. ``seq`` and ``head`` are those of the last entry on disk."""

    def __init__(self, db: sqlite.Database, path: Path, lock: int, last: Record, synchronous: str) -> None:
        """Use :meth:`open`."""
        self._files = open_files(path)
        self.path = path
        self.seq = last.seq
        self.head = last.hash
        self.sealed = last.kind == SEAL
        self._synchronous = synchronous
        self._unsettled = _with_wal(path)
        self._db = db
        self._connection = db.conn
        self._lock = lock
        self._version = self._data_version()
        self._bystander = sqlite.bystander(path)
        self._dead: str | None = None

    @classmethod
    def create(cls, folder: Path, drafts: Sequence[Draft]) -> None:
        """Make a new ledger whose first entries are ``drafts``.

        Raises:
            LedgerError: something of a ledger is there already, or the disk failed.
        """
        if not drafts:
            raise MisuseError("a ledger begins with at least one entry")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = take_lock(folder)
            try:
                _create(folder, drafts)
            finally:
                os.close(lock)
        except (OSError, sqlite.Error) as cause:
            raise LedgerError(f"no ledger could be made in {folder}: {described(cause, folder)}") from cause

    @classmethod
    def open(cls, folder: Path, *, synchronous: str = "FULL", restoring: bool = False) -> Self:
        """Open the ledger in ``folder`` for writing, after looking at its shape and its last entries.

        ``restoring``: it is the restore itself that asks, which left a mark there for everybody else.

        Raises:
            LedgerError: there is none, another process holds it, it is not ours, or its last entries do not hold.
        """
        try:
            if not restoring:
                require_whole(folder)
            path = volume.current_volume(folder)
            lock = take_lock(folder)
            try:
                return cls._open(path, lock, synchronous)
            except BaseException:
                os.close(lock)
                raise
        except (OSError, sqlite.Error) as cause:
            raise LedgerError(f"the ledger in {folder} cannot be opened: {described(cause, folder)}") from cause

    @classmethod
    def _open(cls, path: Path, lock: int, synchronous: str) -> Self:
        with closing(sqlite.reader(path)) as looked_at:  # a foreign file is not touched
            _require_our_shape(looked_at, path)
        others = writers_of(frozenset({path}))
        if others:
            raise LedgerError(f"{others[0]}: a ledger has one writer. End that process first")
        db = sqlite.writer(path, synchronous=synchronous)
        try:
            last = _check_tail(db, path)
            _require_last_volume(path, last)
            _require_joined(path)
            sync(path.parent)  # SQLite made the WAL file just now, and would not notice a folder that cannot be synced
        except BaseException:
            db.close()
            raise
        return cls(db, path, lock, last, synchronous)

    def records(self) -> Iterator[Record]:
        """The entries of the open volume in order, for the fold. Read them to the end before the first commit."""
        try:
            yield from volume.rows(self._db)
        except sqlite.Error as cause:
            raise LedgerError(f"the ledger cannot be read: {sqlite.describe(cause)}") from cause

    def commit(self, records: Sequence[Record]) -> None:
        """Write these entries in one transaction; they are on the disk when this returns.

        Raises:
            LedgerError: SQLite or the disk failed, now or earlier. Nothing more is taken.
            InvariantBroken: the ledger itself refused a row, for instance an event counted already.
            MisuseError: the records do not continue the chain.
        """
        if self._dead is not None:
            raise LedgerError(f"the ledger takes nothing more: {self._dead}")
        if self.sealed:
            raise LedgerError("the volume is sealed by its day's reading: the next one has to be begun first")
        self._require_continuation(records)
        committing = False
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._require_alone()
            _add(self._connection, records)
            committing = True
            self._connection.execute("COMMIT")
            self._require_in_place()
        except BaseException as cause:
            self._die(cause, committing)
            raise
        self.seq, self.head = records[-1].seq, records[-1].hash
        self.sealed = records[-1].kind == SEAL

    def roll(self, first: Record, same: Callable[[Record], bool] = lambda _found: False) -> Record:
        """Close the volume, which its last entry has sealed, and go on in a new one that begins with ``first``.

        Whatever it is interrupted by, the next start finds the last entry sealing and comes here again: nothing that
        was done is undone, and the new volume's only entry is the same. Where another version was interrupted, ``same``
        says whether the entry it has left is as good. Returns the first entry that stands.

        Raises:
            LedgerError: the disk failed, or another new volume is there. Nothing more is taken.
            MisuseError: the volume is not sealed, or the entry does not follow.
        """
        if self._dead is not None:
            raise LedgerError(f"the ledger takes nothing more: {self._dead}")
        self._require_continuation([first])
        if not self.sealed:
            raise MisuseError("only a volume that was read to its end is closed")
        self._dead = "its volumes were being changed"
        folder = self.path.parent
        path = folder / volume.volume_name(first.seq)
        try:
            # Not TRUNCATE: it waits for readers, and one that verifies reads for minutes. What they keep in the WAL is
            # moved when they have gone.
            self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            self._bystander.close()
            self._connection.close()
            self._unsettled.append(self.path)
            first = _begin_volume(path, first, same)
            point_to(folder, path)
            db = sqlite.writer(path, synchronous=self._synchronous)
            sync(folder)
            self._connection, self._db = db.conn, db
            self._files = open_files(path)
            self._version = self._data_version()
            self._bystander = sqlite.bystander(path)
        except (OSError, sqlite.Error) as cause:
            raise LedgerError(f"no new volume could be begun: {described(cause, folder)}") from cause
        self.path, self.seq, self.head = path, first.seq, first.hash
        self.sealed = False
        self._dead = None
        return first

    def checkpoint(self) -> None:
        """Move what is in the WAL into the file; for a quiet moment, so that no commit has to do it.

        Raises:
            LedgerError: the disk failed. Nothing more is taken.
        """
        if self._dead is not None:
            return
        try:
            self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            self._unsettled = [path for path in self._unsettled if not sqlite.settle(path)]
        except sqlite.Error as cause:
            self._dead = f"a checkpoint failed ({sqlite.describe(cause)})"
            raise LedgerError(f"{self._dead}: the ledger takes nothing more") from cause

    def close(self) -> None:
        """Move everything into the file and let another writer in.

        Of a ledger that failed before, nothing is moved and nothing is raised: its files stay as they are.

        Raises:
            LedgerError: it fails now.
        """
        try:
            if self._dead is None:
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                self._bystander.close()
        except sqlite.Error as cause:
            raise LedgerError(f"the ledger could not be closed well: {sqlite.describe(cause)}") from cause
        finally:
            self._dead = self._dead or "it was closed"
            with suppress(sqlite.Error):
                self._connection.close()
                self._bystander.close()
            if self._lock >= 0:
                os.close(self._lock)
                self._lock = -1

    def _require_continuation(self, records: Sequence[Record]) -> None:
        if not records:
            raise MisuseError("a commit without entries")
        seq, head = self.seq, self.head
        for record in records:
            seq += 1
            if record.seq != seq or record.prev != head:
                raise MisuseError(f"entry {record.seq} does not continue the chain at {seq}")
            head = record.hash

    def _require_in_place(self) -> None:
        """The files that SQLite writes to still stand under the names they were opened by."""
        for link, path in self._files:
            if os.readlink(link) != path:  # noqa: PTH115 - after every commit: one system call and plain text
                raise LedgerError(f"{path} was deleted or replaced while the ledger is open")

    def _data_version(self) -> int:
        """A number that changes when another connection has written into the file."""
        (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        return int(version)

    def _require_alone(self) -> None:
        """Nobody else wrote into the file; asked inside a transaction, so that nobody can until it ends."""
        if self._data_version() != self._version:
            raise LedgerError("another program wrote into the ledger")

    def _die(self, cause: BaseException, committing: bool) -> None:
        """Take nothing more, and say what is known about the entries that were being written."""
        what = sqlite.describe(cause)
        self._dead = f"an earlier commit failed ({what})"
        with suppress(sqlite.Error):
            self._connection.execute("ROLLBACK")
        if isinstance(cause, sqlite.IntegrityError) and not committing:
            raise InvariantBroken(f"the ledger refused a row, nothing was written: {what}") from cause
        if isinstance(cause, Exception):
            raise LedgerError(
                f"the ledger could not be written ({what}): the commit's outcome is unknown until the next start"
            ) from cause


def _add(connection: sqlite.Connection, records: Sequence[Record]) -> None:
    """Add entries inside an open transaction, the postings before the entries."""
    for record in records:
        seq = record.seq
        for start in range(0, len(record.postings), _POSTINGS_AT_ONCE):
            some = record.postings[start : start + _POSTINGS_AT_ONCE]
            values = [value for n, (name, amount) in enumerate(some, start + 1) for value in (seq, n, name, amount)]
            connection.execute(_ADD_POSTINGS[len(some) - 1], values)
    connection.executemany(_ADD_ENTRY, [record[:14] for record in records])


def read_records(path: Path) -> Iterator[Record]:
    """All entries of a ledger, from its folder or from one of its files, without disturbing its writer.

    Raises:
        LedgerError: it is not there, is no ledger of ours, or cannot be read to its end.
    """
    try:
        for file in volume.readable_volumes(path) if path.is_dir() else [path]:
            with closing(sqlite.reader(file)) as db:
                _require_our_shape(db, file)
                yield from volume.rows(db)
    except (OSError, sqlite.Error) as cause:
        raise LedgerError(f"{path} cannot be read: {sqlite.describe(cause)}") from cause


def _require_our_shape(db: sqlite.Database, path: Path) -> None:
    findings = volume.shape_findings(db)
    if findings:
        raise LedgerError(f"{path}: {'; '.join(findings)}")


def _check_tail(db: sqlite.Database, path: Path) -> Record:
    """Check the hashes of the last entries and return the last one."""
    (last_seq,) = db.execute("SELECT max(seq) FROM entry").fetchone()
    if last_seq is None:
        raise LedgerError(f"{path} holds no entry: its creation was cut short")
    first_seq = volume.first_seq_of(path) or 1
    tail = list(volume.rows(db, max(first_seq, last_seq - TAIL + 1)))
    if not tail:
        raise LedgerError(f"{path}: its entries are not those of a volume that begins with entry {first_seq}")
    prev = GENESIS if tail[0].seq == 1 else tail[0].prev
    first_bad = check_chain(tail, max(first_seq, last_seq - TAIL + 1), prev).first_bad
    if first_bad is not None:
        raise LedgerError(f"{path}: entry {first_bad.seq}: {first_bad.reason}")
    return tail[-1]


#: Names that tell of a ledger that is or was in a folder.
_OF_A_LEDGER: Final = ("ledger", "checkpoint", "replaced-", "restore-")


def _create(folder: Path, drafts: Sequence[Draft]) -> None:
    left = sorted(path.name for path in folder.iterdir() if path.name.startswith(_OF_A_LEDGER))
    if left:
        raise LedgerError(f"{folder} is not empty of ledgers ({', '.join(left)}): a new one is made in a new folder")
    path = folder / volume.volume_name(1)
    records: list[Record] = []
    for seq, draft in enumerate(drafts, 1):
        records.append(seal(draft, seq, records[-1].hash if records else GENESIS))
    with closing(sqlite.new_file(path, volume.schema_sql())) as db:
        _add(db.conn, records)
        db.execute("COMMIT")
    sync(path)
    sync(folder)
    point_to(folder, path)


def _begin_volume(path: Path, first: Record, same: Callable[[Record], bool]) -> Record:
    """Make the volume of one entry, unless an interrupted start has left that volume; its entry.

    Raises:
        LedgerError: it holds something else.
    """
    if path.exists():
        with closing(sqlite.repairer(path)):
            pass  # what was cut short in the middle of a write is taken back by SQLite
        if volume.may_hold_entries(path):
            found = list(read_records(path))
            if found != [first] and not (len(found) == 1 and found[0].prev == first.prev and same(found[0])):
                raise LedgerError(f"{path} does not go on where the volume before it ends: remove nothing, and verify")
            return found[0]
        path.unlink()
    with closing(sqlite.new_file(path, volume.schema_sql())) as db:
        _add(db.conn, [first])
        db.execute("COMMIT")
    sync(path)
    sync(path.parent)
    return first


def _with_wal(path: Path) -> list[Path]:
    """Sealed volumes whose WAL a reader had kept when they were closed."""
    wals = {one: one.with_name(f"{one.name}-wal") for one in volume.volumes(path.parent) if one.name != path.name}
    return [one for one, wal in wals.items() if wal.exists() and wal.stat().st_size]


def _require_joined(path: Path) -> None:
    """The volume goes on from the one before it, where that still lies beside it."""
    first_seq = volume.first_seq_of(path) or 1
    earlier = [one for one in volume.volumes(path.parent) if (volume.first_seq_of(one) or 0) < first_seq]
    if not earlier:
        return
    last = "SELECT seq, hash FROM entry ORDER BY seq DESC LIMIT 1"
    with closing(sqlite.reader(earlier[-1])) as before, closing(sqlite.reader(path)) as db:
        ends, begins = before.execute(last).fetchone(), db.execute("SELECT seq, prev FROM entry LIMIT 1").fetchone()
    if ends is None or begins != (ends[0] + 1, ends[1]):
        raise LedgerError(f"{path} does not go on where {earlier[-1].name} ends: one of the two is another ledger's")


def _require_last_volume(path: Path, last: Record) -> None:
    """Nothing lies behind the volume in use but what an interrupted change of volumes leaves."""
    later = volume.later_volumes(path.parent, path)
    if not later or (last.kind == SEAL and [volume.first_seq_of(one) for one in later] == [last.seq + 1]):
        return
    names = ", ".join(one.name for one in later)
    raise LedgerError(
        f"{volume.LINK} leads to {path.name}, but {names} came after it: remove nothing. Let `meterd ledger verify`"
        f" say that they hold, then put the link back: `ln -sfn {later[-1].name} {path.parent / volume.LINK}`"
    )
