"""The folder of a ledger: who holds it, which volume is in use, and what to say where it is not ours to write.

Rule 1: one process holds a folder, by a lock that dies with it.
Rule 2: what is renamed or linked here is on the disk when the function returns.
"""

from __future__ import annotations

import fcntl
import os
import pwd
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from meterd.edge import sqlite, volume
from meterd.errors import LedgerError

LOCK: Final = "lock"
#: The mark of a restore under way: files are changing places, and nobody but the restore may open them for writing.
RESTORING: Final = "restore-under-way.json"
_DAMAGED: Final = frozenset({"SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_IOERR_CORRUPTFS"})
_FORBIDDEN: Final = frozenset({"SQLITE_READONLY", "SQLITE_READONLY_DIRECTORY", "SQLITE_CANTOPEN"})


@contextmanager
def hold_folder(folder: Path) -> Iterator[None]:
    """Keep every writer out of a ledger's folder, which is made where it is not there.

    Raises:
        LedgerError: a process writes the ledger, or the folder cannot be used.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = take_lock(folder)
    except OSError as cause:
        raise LedgerError(f"{folder} cannot be used: {described(cause, folder)}") from cause
    try:
        yield
    finally:
        os.close(lock)


def require_whole(folder: Path) -> None:
    """No restore of this ledger was interrupted.

    Raises:
        LedgerError: one was, and is to be done again.
    """
    if (folder / RESTORING).exists():
        raise LedgerError(
            f"a restore into {folder} was interrupted (see {RESTORING} there): do it again with `meterd restore`; "
            "until then nothing is written"
        )


def take_lock(folder: Path) -> int:
    """Hold the folder for this process.

    Raises:
        LedgerError: another process holds it.
    """
    lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(lock, 20, 0).decode("ascii", "replace").strip() or "unknown"
        os.close(lock)
        raise LedgerError(_held(folder, holder)) from None
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{os.getpid()}\n".encode("ascii"), 0)
    return lock


def _held(folder: Path, holder: str) -> str:
    """Who has the lock, and what to do about it."""
    name = ""
    with suppress(OSError, ValueError):
        name = Path(f"/proc/{int(holder)}/comm").read_text(encoding="utf-8", errors="replace").strip()
    who = f"process {holder} ({name})" if name else f"process {holder}"
    return (
        f"the ledger in {folder} is held by {who}: only one may write it. If that is the daemon, stop it first: "
        "`systemctl stop meterd`"
    )


def point_to(folder: Path, path: Path) -> None:
    """Make ``ledger.db`` the link to this volume, in one step that a crash cannot halve."""
    step = folder / f"{volume.LINK}.new"
    step.unlink(missing_ok=True)
    step.symlink_to(path.name)
    step.replace(folder / volume.LINK)
    sync(folder)


def described(cause: BaseException, folder: Path) -> str:
    """A failure in words; the next step where the file is damaged; whose the folder is where we may not use it."""
    what = sqlite.describe(cause)
    if getattr(cause, "sqlite_errorname", "") in _DAMAGED:
        return f"{what}. The file is damaged: keep all files as they are, and restore a verified backup elsewhere"
    if not isinstance(cause, PermissionError) and getattr(cause, "sqlite_errorname", "") not in _FORBIDDEN:
        return what
    owner = owner_of(folder)
    return f"{what}. {owner}, or give it the folder (`chown -R meterd: …`)" if owner else what


def owner_of(path: Path) -> str:
    """Whose a path is, or the nearest folder around it that can be looked at, and as whom to work."""
    for each in (path, *path.absolute().parents):
        with suppress(OSError):
            return (
                f"{each} belongs to {_user(each.stat().st_uid)}, this is {_user(os.geteuid())}: work as the ledger's "
                "user (`sudo -u meterd …`)"
            )
    return ""


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
