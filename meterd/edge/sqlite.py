"""The only ``import sqlite3``: opens ledger files, one way for the writer and one for everybody else.

Rule 1: one read-write connection per file, in one thread, which also checkpoints. Before SQLite 3.51.3 a checkpoint in
one connection could lose what another was committing.
Rule 2: readers open ``mode=ro``.
Rule 3: sqlite-utils gets a connection that we opened, and loads no plugins into it.
"""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from sqlite_utils import Database

from meterd.errors import LedgerError

__all__ = [
    "Connection",
    "Database",
    "Error",
    "IntegrityError",
    "bystander",
    "copy",
    "describe",
    "in_memory",
    "new_file",
    "reader",
    "unreadable",
    "writer",
]

Connection = sqlite3.Connection
Error = sqlite3.Error
IntegrityError = sqlite3.IntegrityError

#: How long the writer waits for a lock that nobody should hold.
BUSY_SECONDS: Final = 1.0
#: How long a reader waits, for instance while the writer recovers the file at its start.
READER_BUSY_SECONDS: Final = 10.0

#: What SQLite says where its disk has no room, also to a reader: it keeps an index of the WAL beside the file.
_NO_ROOM: Final = frozenset({"SQLITE_FULL", "SQLITE_IOERR_SHMSIZE", "SQLITE_IOERR_SHMMAP", "SQLITE_IOERR_SHMOPEN"})

_HARMLESS: Final = frozenset(
    {
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_FUNCTION,
        sqlite3.SQLITE_TRANSACTION,
        sqlite3.SQLITE_SAVEPOINT,
    }
)


def writer(path: Path, *, synchronous: str = "FULL") -> Database:
    """Open an existing ledger file for adding rows, and for nothing else.

    ``synchronous`` is FULL in the product; the crash tests lower it to prove that they would notice.

    Raises:
        Error: SQLite cannot open it.
        LedgerError: the file cannot be kept in WAL mode.
    """
    # The connection is made where the ledger is checked and then handed over to the money thread, once.
    connection = _connect(path, "mode=rw", BUSY_SECONDS)
    try:
        _require_wal(connection, path)
        connection.execute(f"PRAGMA synchronous={synchronous}")
        connection.execute("PRAGMA trusted_schema=OFF")
        db = Database(connection, execute_plugins=False)
        connection.set_authorizer(_adds_rows_only)
    except BaseException:
        connection.close()
        raise
    return db


def new_file(path: Path, schema: str) -> Database:
    """Create a ledger file with its tables, in a transaction that the caller commits. It must not exist.

    Raises:
        FileExistsError: something of that name is there.
        Error: SQLite cannot create it.
    """
    path.open("xb").close()
    db = Database(_connect(path, "mode=rw", BUSY_SECONDS), execute_plugins=False)
    db.execute("PRAGMA synchronous=FULL")
    db.executescript(f"BEGIN IMMEDIATE;\n{schema}")  # the caller's first rows come in the same transaction
    return db


def repairer(path: Path) -> Database:
    """Open a file so that SQLite takes back what was cut short in it. For a file that nobody else uses.

    Raises:
        Error: SQLite cannot read it.
    """
    connection = _connect(path, "mode=rw", BUSY_SECONDS)
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    return Database(connection, execute_plugins=False)


def settle(path: Path) -> bool:
    """Move what the WAL of a file still holds into it, without waiting for its readers; whether that was all.

    For a file that nobody writes any more, in the thread that wrote it.

    Raises:
        Error: the disk failed.
    """
    connection = _connect(path, "mode=rw", 0)
    try:
        _, waiting, moved = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    finally:
        connection.close()
    return bool(waiting == moved)


def bystander(path: Path) -> Connection:
    """A connection that reads nothing: while it is open, closing the writer moves and removes nothing.

    SQLite moves the WAL into the file as the last connection closes, whatever had failed before. After a failed sync or
    a damaged page the two must stay as they are: only the next start, which looks at every frame's checksum, may.

    Raises:
        Error: SQLite cannot read the file.
    """
    connection = _connect(path, "mode=ro", BUSY_SECONDS)
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    return connection


def in_memory(schema: str) -> Database:
    """A database of the same shape, to compare with."""
    db = Database(sqlite3.connect(":memory:", isolation_level=None), execute_plugins=False)
    db.executescript(schema)
    return db


def reader(path: Path) -> Database:
    """Open a ledger file for reading, inside one transaction: what is read is one state of the ledger.

    Works beside a running writer, after one, and for a user who may not write in the folder.

    Raises:
        Error: SQLite cannot read it.
        LedgerError: a writer died here, and this user may not let SQLite finish its work.
    """
    try:
        return _begin_reading(path, "mode=ro")
    except sqlite3.OperationalError as cause:
        if cause.sqlite_errorcode & 0xFF not in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}:
            raise
    # Without write permission and without a writer SQLite cannot make its index of the WAL. Where there is no WAL
    # there is nothing to index, and the file alone is the whole truth.
    wal = path.with_name(path.name + "-wal")
    if wal.exists():
        raise LedgerError(
            f"{path} has a {wal.name} that this user cannot read through: if no writer runs, one died here; "
            "read it as the ledger's own user, or copy both to a folder of your own and read them there"
        )
    return _begin_reading(path, "mode=ro&immutable=1")


def copy(source: Path, target: Path) -> None:
    """Copy one state of a ledger file into a new file, beside a running writer, and have the disk keep it.

    Raises:
        FileExistsError: something is at ``target``.
        Error: SQLite cannot read the one or write the other.
    """
    target.open("xb").close()
    with closing(reader(source)) as db, closing(_connect(target, "mode=rw", BUSY_SECONDS)) as into:
        into.execute("PRAGMA synchronous=FULL")
        db.conn.backup(into)


def describe(error: BaseException) -> str:
    """An error as SQLite names it, with its words."""
    name = getattr(error, "sqlite_errorname", None)
    if name in _NO_ROOM:
        return f"{name}: {error} (is the disk full? nothing is said of what the file holds)"
    return f"{name}: {error}" if name else f"{type(error).__name__}: {error}"


def unreadable(path: Path) -> str | None:
    """Why a path is no file that this user can read to its end, or None. Nothing waits: a pipe is not opened."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return f"{path} is no regular file"
        path.open("rb").close()
    except FileNotFoundError:
        return f"{path} does not exist"
    except OSError as cause:
        return f"{path} cannot be read by this user ({cause.strerror})"
    return None


def _connect(path: Path, options: str, timeout: float) -> sqlite3.Connection:
    with suppress(OSError):
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe would be waited for
            raise LedgerError(f"{path} is no regular file")
    uri = f"{path.resolve().as_uri()}?{options}"
    return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=timeout, check_same_thread=False)


def _require_wal(connection: sqlite3.Connection, path: Path) -> None:
    (mode,) = connection.execute("PRAGMA journal_mode=WAL").fetchone()
    if mode != "wal":
        raise LedgerError(f"{path} cannot be kept in WAL mode (it is in {mode} mode): is its disk a network share?")


def _begin_reading(path: Path, options: str) -> Database:
    connection = _connect(path, options, READER_BUSY_SECONDS)
    try:
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except BaseException:
        connection.close()
        raise
    return Database(connection, recursive_triggers=False, execute_plugins=False)


def _adds_rows_only(action: int, first: str | None, second: str | None, _database: str | None, _by: str | None) -> int:
    """What the writer's connection may do: read, add rows to the two tables, checkpoint."""
    allowed = (
        action in _HARMLESS
        or (action == sqlite3.SQLITE_INSERT and first in {"entry", "posting"})
        or (action == sqlite3.SQLITE_PRAGMA and (first == "wal_checkpoint" or second is None))
    )
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY
