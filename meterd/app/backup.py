"""Backups of a ledger that count, and the way back.

Rule 1: a backup is finished when its own files were read back and every entry in them holds; only then it gets its
        ``backup.json``, and without that nothing is restored from it.
Rule 2: a restore never loses quietly what is known to have existed: entries that a checkpoint proves, or that can still
        be read in the place to restore to. Two people with a reference may say so; the ledger then says it too.
Rule 3: a restore removes nothing: what was there is moved aside.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from hashlib import file_digest
from pathlib import Path
from typing import Any, Final, NamedTuple

from meterd.accounting.commands import SYSTEM, Actor, Note, Role
from meterd.accounting.entries import Kind
from meterd.app.commit import Stamp, resume
from meterd.app.verify import Report, verify
from meterd.edge import sqlite, volume
from meterd.edge.clock import Clock
from meterd.edge.folder import hold_folder, point_to, sync
from meterd.edge.store import Store, read_records
from meterd.errors import LedgerError, MeterdError, MisuseError
from meterd.ledger.merkle import Tree
from meterd.ledger.note import Checkpoint, NoteError, parse_checkpoint, parse_note

MANIFEST: Final = "backup.json"
#: Beside the ledger: what the last finished backup held, for alerts.
LAST: Final = "backup-last.json"

_CHECKPOINTS: Final = "checkpoint-*.txt"


class Backup(NamedTuple):
    """A finished backup: where it is, how many entries it holds, the hash of the last, and when it was read back."""

    path: Path
    entries: int
    head: str
    verified_at_utc: str


class Approval(NamedTuple):
    """Two people and a reference."""

    first: str
    second: str
    reference: str


def back_up(folder: Path, target: Path) -> Backup:
    """Copy a ledger, which may be written meanwhile, into the new folder ``target`` and read the copy back.

    Raises:
        LedgerError: there is no ledger, the copy cannot be made, or it does not hold. What was copied is left to be
            looked at; without a ``backup.json`` it is no backup.
    """
    if not folder.is_dir() or not volume.volumes(folder):
        raise LedgerError(f"no ledger in {folder}: there is nothing to back up")
    try:
        target.mkdir(parents=True)
    except FileExistsError:
        raise LedgerError(f"{target} is there already: a backup goes into a new folder") from None
    except OSError as cause:
        raise LedgerError(f"{target} cannot be made: {cause.strerror}") from cause
    try:
        files = _copy_all(folder, target)
        for note in sorted(folder.glob(_CHECKPOINTS)):
            shutil.copyfile(note, target / note.name)
            sync(target / note.name)
        point_to(target, target / files[-1].name)
    except (OSError, sqlite.Error) as cause:
        raise LedgerError(f"the backup into {target} failed: {sqlite.describe(cause)}. It is no backup") from cause
    report = _held(target)
    made = Backup(target, report.entries, report.head.hex(), Clock().now().at_utc)
    manifest = {
        "meterd_backup": 1,
        "entries": made.entries,
        "head": made.head,
        "verified_at_utc": made.verified_at_utc,
        "files": {file.name: _digest(target / file.name) for file in files},
    }
    _write(target / MANIFEST, manifest)
    if os.access(folder, os.W_OK):
        _write(folder / LAST, {**manifest, "path": str(target.resolve())})
    return made


def restore(
    source: Path, folder: Path, *, known: Sequence[Path] = (), approval: Approval | None = None
) -> tuple[Backup, Path | None]:
    """Put a finished backup in the place of the ledger in ``folder``; where what was there went, if anything was.

    Raises:
        LedgerError: the backup is not finished or does not hold, somebody writes the ledger, or entries would be lost
            that are known to have existed and nobody approved it.
        MisuseError: a checkpoint file that is none, or an approval that names one person twice.
    """
    if approval is not None and approval.first.strip().casefold() == approval.second.strip().casefold():
        raise MisuseError("two different people approve a loss: --by and --and name one")
    backup = read_backup(source)
    with hold_folder(folder):
        lost = _known_beyond(backup, folder, [*known, *sorted(folder.glob(_CHECKPOINTS))])
        if lost and approval is None:
            raise LedgerError(
                f"{source} ends with entry {backup.entries}, but {'; '.join(lost)}. Restore a later backup; or two "
                "people approve the loss with --by, --and and --reference"
            )
        aside = _set_aside(folder)
        for file in sorted(source.iterdir()):
            if file.name != MANIFEST and not file.is_symlink() and file.suffix in {".db", ".txt"}:
                shutil.copyfile(file, folder / file.name)
                sync(folder / file.name)
        point_to(folder, volume.volumes(folder)[-1])
        if _held(folder).head.hex() != backup.head:
            raise LedgerError(f"what was written to {folder} is not the backup: do not use this disk")
    _tell(folder, source, backup, lost, approval)
    return backup, aside


def read_backup(source: Path) -> Backup:
    """A finished backup, every entry of which holds and whose files are those that were read back when it was made.

    Raises:
        LedgerError: it is none.
    """
    try:
        manifest = json.loads((source / MANIFEST).read_text(encoding="utf-8"))
        files = {name: _digest(source / name) for name in manifest["files"]}
        made = Backup(source, manifest["entries"], manifest["head"], manifest["verified_at_utc"])
    except FileNotFoundError as cause:
        raise LedgerError(f"{source} is no finished backup: there is no {Path(cause.filename or '').name}") from cause
    except (OSError, ValueError, KeyError, TypeError) as cause:
        raise LedgerError(f"{source / MANIFEST} cannot be read: {cause}") from cause
    changed = sorted(name for name, digest in manifest["files"].items() if files[name] != digest)
    if changed:
        raise LedgerError(f"{', '.join(changed)} of the backup {source} changed since it was made")
    report = _held(source)
    if (report.entries, report.head.hex()) != (made.entries, made.head):
        raise LedgerError(f"{source} holds other entries than its {MANIFEST} says")
    return made


def _held(folder: Path) -> Report:
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


def _known_beyond(backup: Backup, folder: Path, notes: Sequence[Path]) -> list[str]:
    """In words, what is known to have existed and is not in the backup."""
    found = []
    for note in notes:
        proven = _checkpoint(note)
        if proven.size > backup.entries:
            found.append(f"{note.name} proves {proven.size}")
        elif proven.root != _root_at(backup.path, proven.size):
            found.append(f"{note.name} proves other entries up to {proven.size}")
    there = _last_readable(folder)
    if there > backup.entries:
        found.append(f"the ledger in {folder} goes to {there}")
    return found


def _checkpoint(path: Path) -> Checkpoint:
    try:
        return parse_checkpoint(parse_note(path.read_text(encoding="utf-8")).text)
    except (OSError, UnicodeDecodeError, NoteError) as cause:
        raise MisuseError(f"{path} is no checkpoint: {cause}") from cause


def _root_at(folder: Path, size: int) -> bytes:
    tree = Tree()
    for record in read_records(folder):
        if tree.size == size:
            break
        tree.append(record.hash)
    return tree.root()


def _last_readable(folder: Path) -> int:
    """The number of the last entry that can be read in a folder, whatever state it is in; 0 where none can."""
    for file in reversed(volume.volumes(folder)):
        try:
            with closing(sqlite.reader(file)) as db:
                (last,) = db.execute("SELECT max(seq) FROM entry").fetchone()
        except (OSError, sqlite.Error, MeterdError):
            continue
        if isinstance(last, int):
            return last
    return 0


def _set_aside(folder: Path) -> Path | None:
    """Move what is of a ledger in ``folder`` into a folder beside it; the newest state is always the highest number."""
    old = [path for path in sorted(folder.iterdir()) if path.name.startswith(("ledger", "checkpoint"))]
    if not old:
        return None
    numbers = (int(path.name.rpartition("-")[2]) for path in folder.glob("replaced-*") if path.name[9:].isdecimal())
    aside = folder / f"replaced-{max(numbers, default=0) + 1}"
    aside.mkdir()
    for path in old:
        path.rename(aside / path.name)
    sync(aside)
    sync(folder)
    return aside


def _tell(folder: Path, source: Path, backup: Backup, lost: list[str], approval: Approval | None) -> None:
    """The first entry behind the restored ones says what happened and who approved what."""
    actor = SYSTEM if approval is None else Actor(f"{approval.first}+{approval.second}", Role.ADMINISTRATOR)
    facts: dict[str, Any] = {
        "backup": source.name,
        "entries": backup.entries,
        "verified_at_utc": backup.verified_at_utc,
        "lost": lost,
        "reference": "" if approval is None else approval.reference,
    }
    clock = Clock()

    def now() -> Stamp:
        instant = clock.now()
        return Stamp(instant.at_utc, instant.boot, instant.mono_ns)

    with _opened(folder) as store:
        committer = resume(store, now)
        committer.decide(Note(actor=actor, kind=Kind.RESTORED, facts=facts))
        committer.commit()


@contextmanager
def _opened(folder: Path) -> Iterator[Store]:
    store = Store.open(folder)
    try:
        yield store
    finally:
        store.close()


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


def _write(path: Path, document: dict[str, Any]) -> None:
    """One file that is there whole or not at all."""
    step = path.with_name(f"{path.name}.new")
    step.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    sync(step)
    step.replace(path)
    sync(path.parent)
