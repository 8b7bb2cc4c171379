"""One ledger file, called a volume: its name, whether its shape is ours, and its rows.

A folder holds ``ledger-<number of the first entry>.db`` files and ``ledger.db``, a symbolic link to the one in use.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from meterd.edge import sqlite
from meterd.edge.files import schema_text
from meterd.edge.last_backup import LastBackup, read_last
from meterd.errors import LedgerError
from meterd.ledger.record import Record

LINK: Final = "ledger.db"
#: New volumes are of this format; volumes of all formats up to it are read, and their last one is gone on with.
FORMAT: Final = 2
APPLICATION_ID: Final = int.from_bytes(b"METR", "big")

_VOLUME: Final = re.compile(r"ledger-([1-9]\d{0,17})\.db")
_COLUMNS: Final = "seq, at_utc, boot, mono_ns, kind, table_id, link_id, site, actor, device, event_id, body, prev, hash"
_NO_ENTRY: Final = "it has postings, but the entry itself is missing"


class BadRowError(LedgerError):
    """A row that cannot be what we wrote."""

    def __init__(self, seq: int, reason: str) -> None:
        """Name the entry and say why."""
        super().__init__(f"entry {seq}: {reason}")
        self.seq = seq
        self.reason = reason


def schema_sql(version: int = FORMAT) -> str:
    """The SQL that makes an empty volume of a format."""
    return schema_text(f"ledger/{version:04d}.sql")


def volume_name(first_seq: int) -> str:
    """The file name of the volume that begins with this entry."""
    return f"ledger-{first_seq}.db"


def first_seq_of(path: Path) -> int | None:
    """The number in a volume's name; None where the name is no volume's."""
    match = _VOLUME.fullmatch(path.name)
    return int(match[1]) if match else None


def volumes(folder: Path) -> list[Path]:
    """All volumes in a folder, oldest first."""
    found = [(first, path) for path in folder.iterdir() if (first := first_seq_of(path)) is not None]
    return [path for _, path in sorted(found)]


def current_volume(folder: Path) -> Path:
    """The volume that ``ledger.db`` points to.

    Raises:
        LedgerError: there is none, or the link points to something else.
    """
    link = folder / LINK
    if not link.exists():
        raise LedgerError(_without_link(folder))
    target = link.resolve()
    if target.parent != folder.resolve() or first_seq_of(target) is None:
        raise LedgerError(f"{link} must be a symbolic link to a ledger-<number>.db beside it, not {target}")
    return target


def later_volumes(folder: Path, current: Path) -> list[Path]:
    """Volumes that begin behind the one in use: a change of volumes that was cut short, or a link put back."""
    first = first_seq_of(current) or 0
    return [path for path in volumes(folder) if (first_seq_of(path) or 0) > first]


def readable_volumes(folder: Path) -> list[Path]:
    """All volumes for a reader, oldest first: without one behind the link that nothing can be read from.

    That is what a change of volumes looks like while it is under way, and what an interrupted one leaves. Nothing was
    ever told of it.
    """
    files = volumes(folder)
    link = folder / LINK
    if (
        len(files) > 1
        and link.exists()
        and later_volumes(folder, link.resolve()) == files[-1:]
        and not _holds(files[-1])
    ):
        files.pop()
    return files


def _holds(path: Path) -> bool:
    """Whether an entry can be read from a file."""
    try:
        with closing(sqlite.reader(path)) as db:
            return db.execute("SELECT 1 FROM entry LIMIT 1").fetchone() is not None
    except (OSError, sqlite.Error, LedgerError):
        return False


def _without_link(folder: Path) -> str:
    """What is there where ``ledger.db`` leads nowhere, and the next step. Entries are never to be removed."""
    link = folder / LINK
    found = volumes(folder) if folder.is_dir() else []
    if found:
        lost = _lost_behind(folder, found[-1])
        if lost:
            return lost
        says = f"{link} leads nowhere, but {', '.join(path.name for path in found)} is there: "
        if any(may_hold_entries(path) for path in found):
            files = " ".join(map(str, found))
            return (
                f"{says}remove nothing. Let `meterd ledger verify {files}` say that they hold, then put the link back, "
                f"as the ledger's user: `ln -sfn {found[-1].name} {link}`"
            )
        return f"{says}it holds no entry, its creation was cut short: remove it and create the ledger again"
    if link.is_symlink():
        lost = f"{link} leads to {link.readlink()}, which is not there"
        return f"{lost}: restore the folder from a verified backup{_backup_told(folder)}"
    return f"no ledger in {folder}: restore one, or `meterd ledger create`"


def _lost_behind(folder: Path, newest: Path) -> str:
    """That a volume behind the newest one there is missing, as far as the dead link or the last backup tells.

    The link is never to be put back then: the daemon would begin that volume anew, without what it held.
    """
    link = folder / LINK
    missing = Path(link.readlink()) if link.is_symlink() else None
    first = first_seq_of(missing) if missing is not None else None
    ends = _ends(newest)
    if missing is not None and first is not None and first > (first_seq_of(newest) or 0):
        what = f"{folder / missing.name} is missing, the volume in use, and every entry from {first} on with it"
    elif ends is not None and (told := _told(folder)) is not None and told.entries > ends:
        what = (
            f"{link} leads nowhere, and {newest.name}, the newest volume there, ends at entry {ends}: the volume "
            f"behind it is missing, and entries up to {told.entries} at least with it"
        )
    else:
        return ""
    return (
        f"{what}. Remove nothing and put no link in its place: put the file itself back, or "
        f"`meterd restore BACKUP {folder}`{_backup_told(folder)}"
    )


def _told(folder: Path) -> LastBackup | None:
    try:
        return read_last(folder)
    except LedgerError:
        return None


def _backup_told(folder: Path) -> str:
    """Where the last finished backup is, as its folder tells."""
    told = _told(folder)
    return f" (the last one is {told.path}, of {told.entries} entries)" if told is not None else ""


def _ends(path: Path) -> int | None:
    """The number of a volume's last entry; None where it cannot be read."""
    try:
        with closing(sqlite.reader(path)) as db:
            (last,) = db.execute("SELECT max(seq) FROM entry").fetchone()
    except (OSError, sqlite.Error, LedgerError):
        return None
    return last if isinstance(last, int) else None


def last_seq(folder: Path) -> int:
    """The number of a ledger's last entry, as far as it can be read; 0 where none can."""
    return next((last for path in reversed(volumes(folder)) if (last := _ends(path)) is not None), 0)


def row_at(folder: Path, seq: int) -> tuple[str, bytes]:
    """Kind and hash of one entry, as far as it can be read; both empty where it cannot."""
    for file in reversed(volumes(folder)):
        try:
            with closing(sqlite.reader(file)) as db:
                row = db.execute("SELECT kind, hash FROM entry WHERE seq = ?", [seq]).fetchone()
        except (OSError, sqlite.Error, LedgerError):
            continue
        if row is not None:
            return str(row[0]), bytes(row[1])
    return "", b""


def bodies_of(folder: Path, kind: str) -> Iterator[tuple[str, str]]:
    """Instant and body of each entry of a kind, as far as it can be read. Looks at each entry: for rare questions."""
    for file in volumes(folder):
        try:
            with closing(sqlite.reader(file)) as db:
                found = db.execute("SELECT at_utc, body FROM entry WHERE kind = ? ORDER BY seq", [kind]).fetchall()
        except (OSError, sqlite.Error, LedgerError):
            continue
        yield from found


def may_hold_entries(path: Path) -> bool:
    """False only where the file is surely one that no entry was ever put into."""
    try:
        with closing(sqlite.reader(path)) as db:
            if db.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,):
                return path.stat().st_size > 0
            return db.execute("SELECT 1 FROM entry LIMIT 1").fetchone() is not None
    except (OSError, sqlite.Error, LedgerError):
        return True


def shape_findings(db: sqlite.Database) -> list[str]:
    """What in this file's identity, tables and triggers differs from what we create. Empty where nothing does.

    Raises:
        Error: SQLite cannot read it.
    """
    (application_id,) = db.execute("PRAGMA application_id").fetchone()
    if application_id != APPLICATION_ID:
        return [f"it is no meterd ledger (application_id {application_id})"]
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if not 1 <= version <= FORMAT:
        return [f"it is of format {version}; this meterd reads formats 1 to {FORMAT}"]
    fresh = sqlite.in_memory(schema_sql(version))
    try:
        expected = _shape(fresh)
    finally:
        fresh.close()
    found = _shape(db)
    findings = [f"the {key[0]} {key[1]} is missing" for key in expected.keys() - found.keys()]
    findings += [f"the {key[0]} {key[1]} is none of ours" for key in found.keys() - expected.keys()]
    findings += [
        f"the {key[0]} {key[1]} was changed" for key in expected.keys() & found.keys() if expected[key] != found[key]
    ]
    return sorted(findings)


def rows(db: sqlite.Database, first_seq: int = 1) -> Iterator[Record]:
    """The entries from ``first_seq`` on with their postings, as they stand; nothing about them is checked but order.

    Raises:
        BadRowError: postings that belong to no entry or are out of order, or a page that SQLite cannot read.
        Error: the tables are not there.
    """
    entries = db.execute(f"SELECT {_COLUMNS} FROM entry WHERE seq >= ? ORDER BY seq", [first_seq])  # noqa: S608 - a constant
    seq = first_seq - 1
    try:
        postings = _Postings(db, first_seq)
        for row in entries:
            before, seq = seq, row[0]
            yield Record._make((*row, postings.of(seq, before)))
        postings.require_end()
    except sqlite.Error as cause:
        raise BadRowError(seq + 1, f"it cannot be read: {sqlite.describe(cause)}") from cause
    except TypeError as cause:
        raise BadRowError(seq + 1, f"it is not of the types of a ledger: {cause}") from cause


class _Postings:
    """The postings in the order they were written, handed out entry by entry."""

    def __init__(self, db: sqlite.Database, first_seq: int) -> None:
        select = "SELECT seq, n, account, microcents FROM posting"
        if first_seq <= 1:
            self._cursor = db.execute(f"{select} ORDER BY rowid")
        else:
            from_there = "WHERE rowid >= (SELECT min(rowid) FROM posting WHERE seq >= ?)"
            self._cursor = db.execute(f"{select} {from_there} ORDER BY rowid", [first_seq])
        self._next = self._cursor.fetchone()

    def of(self, seq: int, before: int) -> tuple[tuple[Any, Any], ...]:
        """The postings of entry ``seq``, the entry read last being ``before``."""
        found: list[tuple[Any, Any]] = []
        waiting = self._next
        try:
            while waiting is not None and waiting[0] == seq:
                found.append(waiting[2:])
                if waiting[1] != len(found):
                    raise BadRowError(seq, "its postings are not numbered 1, 2, 3 … in the order they were written")
                waiting = self._cursor.fetchone()
        except sqlite.Error as cause:
            raise BadRowError(
                seq, f"a posting of it or of the next cannot be read: {sqlite.describe(cause)}"
            ) from cause
        if waiting is not None and waiting[0] <= seq:
            if waiting[0] > before:
                raise BadRowError(waiting[0], _NO_ENTRY)
            raise BadRowError(seq, f"a posting of entry {waiting[0]} stands behind its own")
        self._next = waiting
        return tuple(found)

    def require_end(self) -> None:
        """Nothing may be left once all entries are read."""
        if self._next is not None:
            raise BadRowError(self._next[0], _NO_ENTRY)


def _shape(db: sqlite.Database) -> dict[tuple[str, str], str]:
    """What the schema holds, as its SQL says it, without what SQLite adds by itself."""
    found = db.execute("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
    return {(kind, name): sql for kind, name, sql in found}
