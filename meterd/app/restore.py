"""The way back from a backup.

Rule 1: a restore never loses quietly what is known to have existed: entries that a checkpoint proves, or that can still
        be read in the place to restore to, or there before an interrupted restore. Two people with a reference may say
        so; the ledger then says it too, and what proved them: after a fire there may be no people file to prove by.
Rule 2: it removes nothing: what was there is moved aside.
Rule 3: it is done or it can be done again: the copy is made and read back beside the ledger; then a mark is set that
        keeps every writer out, files change places, the ledger tells of it, and the mark goes.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from meterd.accounting.commands import SYSTEM, Actor, Note, Role
from meterd.accounting.entries import Kind
from meterd.app.backup import (
    CHECKPOINTS,
    Backup,
    held,
    read_backup,
    read_note,
    require_apart,
    require_regular,
    root_at,
    write_document,
)
from meterd.app.commit import resume
from meterd.app.last_backup import lacking
from meterd.app.rows import stamps
from meterd.app.signatures import Signatures
from meterd.edge import sqlite, volume
from meterd.edge.clock import Clock
from meterd.edge.folder import RESTORING, hold_folder, point_to, sync
from meterd.edge.last_backup import LAST, read_last
from meterd.edge.openers import writers_of
from meterd.edge.salvage import readable
from meterd.edge.store import Store
from meterd.errors import LedgerError, MisuseError

_STAGING: Final = "restore-staging"
_ASIDE: Final = "replaced-"


class Mark(NamedTuple):
    """A restore under way: of which backup, what it loses and who approved that, and where the old files go."""

    head: str
    lost: tuple[str, ...]
    approval: Signatures | None
    aside: str | None


def restore(
    source: Path, folder: Path, *, known: Sequence[Path] = (), approval: Signatures | None = None
) -> tuple[Backup, Path | None]:
    """Put a finished backup in the place of the ledger in ``folder``; where what was there went, if anything was.

    Raises:
        LedgerError: the backup is not finished or does not hold, somebody writes the ledger, the disk failed, or
            entries would be lost that are known to have existed and nobody approved it.
        MisuseError: a checkpoint file that is none, an approval that is not by two people of two departments, or a
            backup that lies in the ledger's folder, or the other way round.
    """
    if approval is not None:
        approval.require_two()
    require_apart(source, folder)
    backup = read_backup(source)
    try:
        with hold_folder(folder):
            others = writers_of(frozenset(volume.volumes(folder)))
            if others:
                raise LedgerError(f"{others[0]}: end that process first")
            before = _read_mark(folder)
            told = before is not None and before.head == backup.head and _goes_on(folder, backup)
            mark = before if before is not None and told else _begin(backup, folder, before, known, approval)
            if not told:
                _change_places(folder, mark)
        if not told:
            _tell(folder, source, backup, mark)
        (folder / RESTORING).unlink()
        sync(folder)
    except (OSError, sqlite.Error) as cause:
        why = sqlite.describe(cause)
        raise LedgerError(f"the restore into {folder} was not finished: {why}. Do it again") from cause
    return backup, folder / mark.aside if mark.aside else None


def _goes_on(folder: Path, backup: Backup) -> bool:
    """Whether an interrupted restore had come as far as the entry that tells of it."""
    seq = backup.entries
    return (
        volume.row_at(folder, seq)[1] == bytes.fromhex(backup.head)
        and volume.row_at(folder, seq + 1)[0] == Kind.RESTORED
    )


def _begin(
    backup: Backup, folder: Path, before: Mark | None, known: Sequence[Path], approval: Signatures | None
) -> Mark:
    """Everything that can be refused or can fail without a trace; then the mark is set."""
    again = before is not None and before.head == backup.head
    lost = _known_beyond(backup, folder, before, known)
    if again and before is not None:  # what it loses was approved, and may not be seen any more
        lost += [words for words in before.lost if words not in lost]
        approval = approval or before.approval
    if lost and approval is None:
        raise LedgerError(
            f"{backup.path} ends with entry {backup.entries}, but {'; '.join(lost)}. Restore a later backup; or two "
            "people approve the loss with --by, --and and --reference"
        )
    mark = Mark(backup.head, tuple(lost), approval, _aside(folder, before))
    told = [backup.path.name, *lost, *(approval[:3] if approval is not None else ())]
    if not all(words.isprintable() for words in told):
        raise MisuseError("names, reference and folders of a restore are told in the ledger: they must be plain text")
    _stage(backup, folder)
    document = {**mark._asdict(), "backup": backup.path.name, "approval": approval and approval._asdict()}
    write_document(folder / RESTORING, document)
    return mark


def _read_mark(folder: Path) -> Mark | None:
    """The mark of a restore that was not finished."""
    try:
        require_regular(folder / RESTORING)
        found = json.loads((folder / RESTORING).read_text(encoding="utf-8"))
        approval = _approval(found["approval"])
        return Mark(found["head"], tuple(found["lost"]), approval, found["aside"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as cause:
        raise LedgerError(f"{folder / RESTORING} cannot be read: {cause}. Look at it, then remove it") from cause


def _approval(found: dict[str, Any] | None) -> Signatures | None:
    """Who had approved an interrupted restore; marks of older versions tell no roles, for nothing proved them."""
    if not found:
        return None
    roles = found.get("roles")
    proven = (Role(roles[0]), Role(roles[1])) if roles else None
    return Signatures(found["first"], found["second"], found["reference"], proven, found.get("people", ""))


def _stage(backup: Backup, folder: Path) -> None:
    """A copy beside the ledger, on the disk it will stay on, read back."""
    staging = folder / _STAGING
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir()
    for name in backup.files:
        shutil.copyfile(backup.path / name, staging / name)
        sync(staging / name)
    point_to(staging, volume.volumes(staging)[-1])
    if held(staging).head.hex() != backup.head:
        raise LedgerError(f"what was written to {staging} is not the backup: do not use this disk")


def _aside(folder: Path, before: Mark | None) -> str | None:
    """The name of a folder for the files that are there; that of an interrupted restore goes on taking them."""
    if before is not None and before.aside:
        return before.aside
    if not _old(folder):
        return None
    numbers = [int(path.name.removeprefix(_ASIDE)) for path in folder.glob(f"{_ASIDE}*") if path.name[9:].isdecimal()]
    return f"{_ASIDE}{max(numbers, default=0) + 1}"


def _old(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.iterdir()) if path.name.startswith(("ledger", "checkpoint", LAST))]


def _change_places(folder: Path, mark: Mark) -> None:
    """The old files aside, the staged ones here. Names that an interrupted restore moved stay where it moved them."""
    if mark.aside:
        aside = folder / mark.aside
        aside.mkdir(exist_ok=True)
        for path in _old(folder):
            goal = aside / path.name
            if goal.exists() or goal.is_symlink():  # put here by the restore that was interrupted: the backup has it
                path.unlink()
            else:
                path.rename(goal)
        sync(aside)
        sync(folder)
    for path in sorted((folder / _STAGING).iterdir()):
        path.rename(folder / path.name)
    sync(folder)
    shutil.rmtree(folder / _STAGING)


def _known_beyond(backup: Backup, folder: Path, before: Mark | None, known: Sequence[Path]) -> list[str]:
    """In words, what is known to have existed and is not in the backup."""
    places = [folder, *([folder / before.aside] if before is not None and before.aside else [])]
    found = []
    for note in [*known, *(note for place in places for note in sorted(place.glob(CHECKPOINTS)))]:
        proven = read_note(note)
        if proven.size > backup.entries:
            found.append(f"{note.name} proves {proven.size}")
        elif proven.root != root_at(backup.path, proven.size):
            found.append(f"{note.name} proves other entries up to {proven.size}")
    for place in places:
        if words := _backed_up_beyond(backup, place):
            found.append(words)
        found += _read_beyond(backup, place)
    return found


def _backed_up_beyond(backup: Backup, place: Path) -> str:
    """What the last finished backup of the same ledger held and this one lacks; what cannot be read tells nothing."""
    with suppress(LedgerError):
        told = read_last(place)
        if told is not None and told.origin == backup.origin:
            lacks = lacking(backup.path, backup.entries, told)
            return f"{LAST} tells of a backup that {lacks}" if lacks else ""
    return ""


def _read_beyond(backup: Backup, place: Path) -> list[str]:
    """What can still be read there and the backup lacks; and what cannot be read to its end, for it may be more."""
    last, broken = readable(place)
    found = []
    if last is not None and last[0] > backup.entries:
        least = "at least to" if broken else "to"
        found.append(f"the ledger in {place} goes {least} {last[0]}")
    elif last is not None and last[1] != volume.row_at(backup.path, last[0])[1]:
        found.append(f"the ledger in {place} is another: its entry {last[0]} is not the backup's")
    for file in broken:
        read = f"behind entry {last[0]}" if last is not None else "at all"
        found.append(f"{file} cannot be read {read}, and more may have been there")
    return found


def _tell(folder: Path, source: Path, backup: Backup, mark: Mark) -> None:
    """The first entry behind the restored ones says what happened and who approved what."""
    approval = mark.approval
    actor = SYSTEM if approval is None else Actor(f"{approval.first}+{approval.second}", Role.ADMINISTRATOR)
    facts: dict[str, Any] = {
        "backup": source.name,
        "entries": backup.entries,
        "verified_at_utc": backup.verified_at_utc,
        "lost": list(mark.lost),
        "reference": "" if approval is None else approval.reference,
    }
    store = Store.open(folder, restoring=True)
    try:
        committer = resume(store, stamps(Clock()))
        asked = None if approval is None else approval.asked(f"restore {source.name}")
        committer.decide(Note(actor=actor, kind=Kind.RESTORED, facts=facts), asked)
        committer.commit()
    finally:
        store.close()
