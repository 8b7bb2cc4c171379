"""The ledger on disk: created once, opened by one writer, read by anybody.

Rule 1: what :meth:`Store.commit` was given is on the disk when it returns.
Rule 2: a COMMIT that raises is unknown, not failed: the row may be there after a restart. The store then takes nothing
more; the next start looks at what is there.
Rule 3: one writer per folder, held by a lock that dies with its process.
Rule 4: what is committed into files that were deleted or replaced under us is lost with this process. That is looked at
behind each COMMIT, before anybody is told of it.
"""

from __future__ import annotations

import fcntl
import os
import pwd
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final, Self

from meterd.edge import sqlite, volume
from meterd.errors import InvariantBroken, LedgerError, MisuseError
from meterd.ledger.chain import GENESIS, seal
from meterd.ledger.record import Draft, Record
from meterd.ledger.verify import check_chain

#: Entries whose hashes are checked when the ledger is opened. The whole chain is for ``meterd ledger verify``.
TAIL: Final = 1000

_LOCK: Final = "lock"
_FORBIDDEN: Final = frozenset({"SQLITE_READONLY", "SQLITE_READONLY_DIRECTORY", "SQLITE_CANTOPEN"})
_ADD_ENTRY: Final = "INSERT INTO entry VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
#: Postings added by one statement; an entry with more takes several. A row each would cost a third more.
_POSTINGS_AT_ONCE: Final = 32
_ADD_POSTINGS: Final = tuple(
    ",".join(["INSERT INTO posting VALUES (?,?,?,?)", *["(?,?,?,?)"] * more]) for more in range(_POSTINGS_AT_ONCE)
)


class Store:
    """The one writer of a ledger. ``seq`` and ``head`` are those of the last entry on disk."""

    def __init__(self, db: sqlite.Database, path: Path, lock: int, seq: int, head: bytes) -> None:
        """Use :meth:`open`."""
        self._files = _open_files(path)
        self.seq = seq
        self.head = head
        self._db = db
        self._connection = db.conn
        self._lock = lock
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
            lock = _take_lock(folder)
            try:
                _create(folder, drafts)
            finally:
                os.close(lock)
        except (OSError, sqlite.Error) as cause:
            raise LedgerError(f"no ledger could be made in {folder}: {_described(cause, folder)}") from cause

    @classmethod
    def open(cls, folder: Path, *, synchronous: str = "FULL") -> Self:
        """Open the ledger in ``folder`` for writing, after looking at its shape and its last entries.

        Raises:
            LedgerError: there is none, another process holds it, it is not ours, or its last entries do not hold.
        """
        try:
            path = volume.current_volume(folder)
            lock = _take_lock(folder)
            try:
                return cls._open(path, lock, synchronous)
            except BaseException:
                os.close(lock)
                raise
        except (OSError, sqlite.Error) as cause:
            raise LedgerError(f"the ledger in {folder} cannot be opened: {_described(cause, folder)}") from cause

    @classmethod
    def _open(cls, path: Path, lock: int, synchronous: str) -> Self:
        with closing(sqlite.reader(path)) as looked_at:  # a foreign file is not touched
            _require_our_shape(looked_at, path)
        db = sqlite.writer(path, synchronous=synchronous)
        try:
            last = _check_tail(db, path)
            sync(path.parent)  # SQLite made the WAL file just now, and would not notice a folder that cannot be synced
        except BaseException:
            db.close()
            raise
        return cls(db, path, lock, last.seq, last.hash)

    def records(self) -> Iterator[Record]:
        """All entries in order, for the fold. Read them to the end before the first commit."""
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
        self._require_continuation(records)
        committing = False
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            _add(self._connection, records)
            committing = True
            self._connection.execute("COMMIT")
            self._require_in_place()
        except BaseException as cause:
            self._die(cause, committing)
            raise
        self.seq, self.head = records[-1].seq, records[-1].hash

    def checkpoint(self) -> None:
        """Move what is in the WAL into the file; for a quiet moment, so that no commit has to do it.

        Raises:
            LedgerError: the disk failed. Nothing more is taken.
        """
        if self._dead is not None:
            return
        try:
            self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        except sqlite.Error as cause:
            self._dead = f"a checkpoint failed ({sqlite.describe(cause)})"
            raise LedgerError(f"{self._dead}: the ledger takes nothing more") from cause

    def close(self) -> None:
        """Move everything into the file and let another writer in. Never raises for a ledger that failed before."""
        try:
            if self._dead is None:
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite.Error as cause:
            raise LedgerError(f"the ledger could not be closed well: {sqlite.describe(cause)}") from cause
        finally:
            self._dead = self._dead or "it was closed"
            with suppress(sqlite.Error):
                self._connection.close()
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
        for file in volume.volumes(path) if path.is_dir() else [path]:
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
    prev = GENESIS if tail[0].seq == 1 else tail[0].prev
    first_bad = check_chain(tail, max(first_seq, last_seq - TAIL + 1), prev).first_bad
    if first_bad is not None:
        raise LedgerError(f"{path}: entry {first_bad.seq}: {first_bad.reason}")
    return tail[-1]


@contextmanager
def hold_folder(folder: Path) -> Iterator[None]:
    """Keep every writer out of a ledger's folder, which is made where it is not there.

    Raises:
        LedgerError: a process writes the ledger, or the folder cannot be used.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = _take_lock(folder)
    except OSError as cause:
        raise LedgerError(f"{folder} cannot be used: {_described(cause, folder)}") from cause
    try:
        yield
    finally:
        os.close(lock)


def _take_lock(folder: Path) -> int:
    """Hold the folder for this process.

    Raises:
        LedgerError: another process holds it.
    """
    lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(lock, 20, 0).decode("ascii", "replace").strip() or "unknown"
        os.close(lock)
        raise LedgerError(f"the ledger in {folder} is held by process {holder}: only one may write it") from None
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{os.getpid()}\n".encode("ascii"), 0)
    return lock


def _create(folder: Path, drafts: Sequence[Draft]) -> None:
    left = sorted(path.name for path in folder.iterdir() if path.name.startswith(("ledger", "checkpoint")))
    if left:
        raise LedgerError(f"{folder} is not empty of ledgers ({', '.join(left)}): a new one is made in a new folder")
    path = folder / volume.volume_name(1)
    records: list[Record] = []
    for seq, draft in enumerate(drafts, 1):
        records.append(seal(draft, seq, records[-1].hash if records else GENESIS))
    with closing(sqlite.new_file(path, volume.schema_sql())) as db:
        db.execute("BEGIN IMMEDIATE")
        _add(db.conn, records)
        db.execute("COMMIT")
    sync(path)
    sync(folder)
    point_to(folder, path)


def point_to(folder: Path, path: Path) -> None:
    """Make ``ledger.db`` the link to this volume, in one step that a crash cannot halve."""
    step = folder / f"{volume.LINK}.new"
    step.unlink(missing_ok=True)
    step.symlink_to(path.name)
    step.replace(folder / volume.LINK)
    sync(folder)


def _open_files(path: Path) -> list[tuple[str, str]]:
    """The volume and its WAL as this process has them open: the kernel's link to each, and the name it has now.

    The link goes on telling the name, with ``(deleted)`` where the file lost it. Asking for the file's status instead
    would make the kernel give the next write a new time of change, which costs a third of a commit.
    """
    names = {str(path.resolve()), f"{path.resolve()}-wal"}
    found = []
    for link in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # the descriptor of this very walk
            if (name := str(link.readlink())) in names:
                found.append((str(link), name))
    return found


def _described(cause: BaseException, folder: Path) -> str:
    """A failure in words; where it is one of permission, whose the folder is and who asked."""
    what = sqlite.describe(cause)
    if not isinstance(cause, PermissionError) and getattr(cause, "sqlite_errorname", "") not in _FORBIDDEN:
        return what
    for path in (folder, *folder.parents):
        with suppress(OSError):
            return (
                f"{what}. {path} belongs to {_user(path.stat().st_uid)}, this is {_user(os.geteuid())}: work as the "
                "ledger's user (`sudo -u meterd …`), or give it the folder (`chown -R meterd: …`)"
            )
    return what


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def sync(path: Path) -> None:
    """Have the disk keep a file, or a folder's list of names."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
