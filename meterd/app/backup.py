"""Backups of a ledger that count.

A backup is finished when its own files were read back and every entry in them holds; only then it gets its
``backup.json``, and without that nothing is restored from it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
from datetime import datetime
from hashlib import file_digest
from pathlib import Path
from typing import Any, Final, NamedTuple

from meterd.app.last_backup import takes_its_place
from meterd.app.verify import Report, verify
from meterd.app.volumes import opened
from meterd.edge import sqlite, volume
from meterd.edge.clock import Clock
from meterd.edge.folder import point_to, sync
from meterd.edge.last_backup import LAST
from meterd.edge.store import read_records
from meterd.errors import LedgerError, MisuseError
from meterd.ledger.merkle import Tree
from meterd.ledger.note import Checkpoint, NoteError, parse_checkpoint, parse_note

MANIFEST: Final = "backup.json"

#: A ledger's folder and what lies in it are for its user and group; a stricter umask stays.
FOLDER_MODE: Final = 0o750
FILE_MODE: Final = 0o640

CHECKPOINTS: Final = "checkpoint-*.txt"
_OF_A_BACKUP: Final = re.compile(r"ledger-[1-9]\d{0,17}\.db|checkpoint-\d{1,18}\.txt")


class Backup(NamedTuple):
    """A finished backup: where it is, the number of its last entry and its hash, when it was read back, its files.

    ``origin``: of which ledger it is, as its checkpoints name it.
    """

    path: Path
    entries: int
    head: str
    verified_at_utc: str
    files: tuple[str, ...] = ()
    origin: str = ""


def back_up(folder: Path, target: Path) -> Backup:
    """Copy a ledger, which may be written meanwhile, into the new folder ``target`` and read the copy back.

    Raises:
        LedgerError: there is no ledger, the copy cannot be made, or it does not hold. What was copied is left to be
            looked at; without a ``backup.json`` it is no backup. Or it is finished, and the ledger lacks what the one
            before holds.
        MisuseError: the two folders lie in each other.
    """
    require_apart(folder, target)
    try:
        if not folder.is_dir() or not volume.volumes(folder):
            raise LedgerError(f"no ledger in {folder}: there is nothing to back up")
    except OSError as cause:
        raise LedgerError(f"{folder} cannot be read: {cause.strerror}") from cause
    if target.exists() or target.is_symlink():
        raise LedgerError(f"{target} is there already: a backup goes into a new folder")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.mkdir(mode=FOLDER_MODE)
    except OSError as cause:
        raise LedgerError(f"{target} cannot be made: {cause.strerror}") from cause
    try:
        files = _copy_all(folder, target)
        point_to(target, target / files[-1].name)
    except (OSError, sqlite.Error) as cause:
        raise LedgerError(f"the backup into {target} failed: {sqlite.describe(cause)}. It is no backup") from cause
    report = held(target)
    notes = _copy_notes(folder, target, report)
    try:
        _tidy(target)
    except OSError as cause:
        raise LedgerError(f"the backup into {target} failed: {cause}. It is no backup") from cause
    names = [*(file.name for file in files), *notes]
    last = report.first_seq + report.entries - 1
    made = Backup(target, last, report.head.hex(), Clock().now().at_utc, tuple(names), _origin(report))
    manifest = {
        "meterd_backup": 1,
        "entries": made.entries,
        "head": made.head,
        "verified_at_utc": made.verified_at_utc,
        "files": {name: _digest(target / name) for name in names},
    }
    try:
        write_document(target / MANIFEST, manifest, FILE_MODE)
    except OSError as cause:
        raise LedgerError(f"the backup into {target} failed: {cause}. It is no backup") from cause
    try:
        if takes_its_place(folder, target, made.entries, made.origin) and os.access(folder, os.W_OK):
            write_document(folder / LAST, {**manifest, "path": str(target.resolve()), "origin": made.origin})
    except OSError as cause:
        raise LedgerError(
            f"the backup in {target} is finished and was read back, but {folder / LAST} was not written ({cause}): "
            "alerts go on telling of the one before"
        ) from cause
    return made


def write_metrics(path: Path, made: Backup) -> None:
    """When a backup was finished and what it holds, in Prometheus' text format, whole or not at all.

    Raises:
        LedgerError: it cannot be written; the backup is finished all the same.
    """
    finished = datetime.fromisoformat(made.verified_at_utc)
    lines = [
        "# HELP meterd_backup_timestamp_seconds When the last finished backup had been read back.",
        "# TYPE meterd_backup_timestamp_seconds gauge",
        f"meterd_backup_timestamp_seconds {finished.timestamp():.0f}",
        "# HELP meterd_backup_entries The last entry of the last finished backup.",
        "# TYPE meterd_backup_entries gauge",
        f"meterd_backup_entries {made.entries}",
    ]
    try:
        write_text(path, "\n".join(lines) + "\n")
    except OSError as cause:
        raise LedgerError(
            f"the backup in {made.path} is finished and was read back, but {path} was not written ({cause}): "
            "alerts go on telling of the one before"
        ) from cause


def _tidy(target: Path) -> None:
    """Leave what the manifest names: reading back makes an index, and a WAL with nothing in it, beside each file.

    Raises:
        OSError: the disk failed, or a WAL holds something: then the file beside it is not all of it.
    """
    for path in sorted(target.iterdir()):
        if path.name.endswith("-wal") and path.stat().st_size:
            raise OSError(f"{path} is not empty")
        if path.name.endswith(("-wal", "-shm")):
            path.unlink()
        elif not path.is_symlink():
            path.chmod(path.stat().st_mode & FILE_MODE)
    sync(target)


def require_apart(one: Path, other: Path) -> None:
    """Two folders of which neither is the other or lies in it, under whatever names, and that share no volume.

    Raises:
        MisuseError: they are not.
    """
    try:
        first, second = one.resolve(), other.resolve()
        around_first, around_second = ([_identity(path) for path in (at, *at.parents)] for at in (first, second))
        shared = _volumes_at(first) & _volumes_at(second)
    except (OSError, RuntimeError) as cause:
        raise MisuseError(f"{one} and {other} are no two folders: {cause}") from cause
    same = around_first[0] is not None and around_first[0] in around_second
    if same or (around_second[0] is not None and around_second[0] in around_first):
        raise MisuseError(f"{one} and {other} lie in each other: a backup and a ledger have folders of their own")
    if first == second or first in second.parents or second in first.parents:  # not there yet
        raise MisuseError(f"{one} and {other} lie in each other: a backup and a ledger have folders of their own")
    if shared:
        raise MisuseError(f"{one} and {other} share a volume (a link to one file): a backup has files of its own")


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file or folder a name leads to (another name of it, such as a bind mount, has the same); None for none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _volumes_at(folder: Path) -> set[tuple[int, int] | None]:
    try:
        return {_identity(file) for file in volume.volumes(folder)} - {None}
    except OSError:  # no folder, or none that may be looked into: said by whoever reads it
        return set()


def _copy_notes(folder: Path, target: Path, report: Report) -> list[str]:
    """The checkpoints that the copy bears out; one made meanwhile may tell of entries behind it."""
    names = []
    for note in sorted(folder.glob(CHECKPOINTS)):
        try:
            proven = read_note(note)
            if proven.size > report.first_seq + report.entries - 1 or proven.root != root_at(target, proven.size):
                continue
            shutil.copyfile(note, target / note.name)
            sync(target / note.name)
        except (MisuseError, OSError):
            continue
        names.append(note.name)
    return names


def read_backup(source: Path) -> Backup:
    """A finished backup, every entry of which holds and whose files are those that were read back when it was made.

    Raises:
        LedgerError: it is none.
    """
    try:
        require_regular(source / MANIFEST)
        manifest = json.loads((source / MANIFEST).read_text(encoding="utf-8"))
        named = {name for name in manifest["files"] if _OF_A_BACKUP.fullmatch(name)}
        files = {name: _digest(source / name) for name in named}
        made = Backup(source, manifest["entries"], manifest["head"], manifest["verified_at_utc"], tuple(sorted(named)))
    except FileNotFoundError as cause:
        raise LedgerError(f"{source} is no finished backup: there is no {Path(cause.filename or '').name}") from cause
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as cause:
        raise LedgerError(f"{source / MANIFEST} cannot be read: {cause}") from cause
    if manifest["files"].keys() != named or {path.name for path in volume.volumes(source)} - named:
        raise LedgerError(f"{source / MANIFEST} names other files than those of a ledger that are there")
    changed = sorted(name for name, digest in manifest["files"].items() if files[name] != digest)
    if changed:
        raise LedgerError(f"{', '.join(changed)} of the backup {source} changed since it was made")
    report = held(source)
    if (report.first_seq + report.entries - 1, report.head.hex()) != (made.entries, made.head):
        raise LedgerError(f"{source} holds other entries than its {MANIFEST} says")
    return made._replace(origin=_origin(report))


def _origin(report: Report) -> str:
    return report.checkpoint.origin if report.checkpoint is not None else ""


def held(folder: Path) -> Report:
    """The report on a ledger that holds.

    Raises:
        LedgerError: it does not.
    """
    report = verify(folder)
    if report.first_bad is not None:
        row = "the file" if report.first_bad.seq is None else f"entry {report.first_bad.seq}"
        raise LedgerError(f"{report.file} does not hold: {row}: {report.first_bad.reason}")
    return report


def _copy_all(folder: Path, target: Path) -> list[Path]:
    """Every volume; once more from the one in use where the day rolled meanwhile."""
    files: list[Path] = []
    while files != (found := volume.volumes(folder)):
        for again in files[-1:]:  # it was in use when it was copied, and has been sealed since
            (target / again.name).unlink()
        done = {file.name for file in files[:-1]}
        files = found
        for file in files:
            if file.name not in done:
                sqlite.copy(file, target / file.name)
                sync(target / file.name)
    return files


def read_note(path: Path) -> Checkpoint:
    """What a checkpoint file says; whose signature it bears is not asked, for it is a warning here.

    Raises:
        MisuseError: it is none.
    """
    try:
        require_regular(path)
        return parse_checkpoint(parse_note(path.read_text(encoding="utf-8")).text)
    except (OSError, UnicodeDecodeError, NoteError) as cause:
        raise MisuseError(f"{path} is no checkpoint: {cause}") from cause


def root_at(folder: Path, size: int) -> bytes | None:
    """The root of the tree of a ledger's first entries; None where its volumes begin behind them, or end before."""
    tree: Tree | None = None
    for record in read_records(folder):
        if tree is None:
            tree = opened(record).tree
        if tree.size == size:
            break
        tree.append(record.hash)
    return tree.root() if tree is not None and tree.size == size else None


def require_regular(path: Path) -> None:
    """What is there under this name is a file: a pipe would be waited for.

    Raises:
        OSError: it is none, or nothing is there.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(f"{path} is no regular file")


def _digest(path: Path) -> str:
    require_regular(path)
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


def write_document(path: Path, document: dict[str, Any], mode: int = 0o666) -> None:
    """A JSON document as ``write_text`` writes it.

    Raises:
        OSError: the disk failed, or something that is no file is in the way.
    """
    write_text(path, json.dumps(document, indent=1) + "\n", mode)


def write_text(path: Path, text: str, mode: int = 0o666) -> None:
    """One file that is there whole or not at all; ``mode`` takes rights away, as the umask does.

    Raises:
        OSError: the disk failed, or something that is no file is in the way.
    """
    step = path.with_name(f"{path.name}.new")
    step.unlink(missing_ok=True)
    with os.fdopen(os.open(step, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as file:
        file.write(text)
    sync(step)
    step.replace(path)
    sync(path.parent)
