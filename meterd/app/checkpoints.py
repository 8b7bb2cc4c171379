"""Checkpoints of a ledger: made and kept after each reading and on demand, remembered at each start.

Rule 1: a checkpoint that was kept is never replaced by another; one that says the same is left as it is.
Rule 2: the last reading has its checkpoint in every folder: what a crash, a full disk or a folder that was away kept
        from being made is made at the next start, or after the next reading.
Rule 3: a ledger that lacks what a kept checkpoint proves is not written to: it was cut, replaced, or restored too far
        back, and only people can say which.
Rule 4: nothing is signed on the word of the open volume about those before it: where the last reading's checkpoint was
        not yet signed by the key in force, or by the one that was when the day was read, the volumes must bear it out,
        or this run signs nothing.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import structlog

from meterd.accounting.book import Book
from meterd.app.checkpoints_borne_out import not_borne_out
from meterd.app.volumes import Standing, opened
from meterd.edge import volume
from meterd.edge.folder import sync
from meterd.edge.keys import SigningKey, signature_holds
from meterd.edge.store import Store, read_records
from meterd.errors import ConfigError, LedgerError
from meterd.ledger.canonical import parse
from meterd.ledger.note import Checkpoint, NoteError, PublicKey, parse_checkpoint, parse_key, parse_note, signed_by

_NAME: Final = "checkpoint-*.txt"
_LONGEST: Final = 100_000  # bytes of a file that can be one

log = structlog.get_logger()


#: Why a checkpoint is not to be signed, or None.
Doubt = Callable[[], str | None]


class Kept(NamedTuple):
    """A checkpoint in a file. ``signers`` are those of the keys asked about that have signed it."""

    path: Path
    checkpoint: Checkpoint
    signers: tuple[PublicKey, ...] = ()


def read_checkpoint(path: Path, keys: Iterable[str] = ()) -> Kept:
    """A checkpoint from a file, its signatures held against ``keys`` in their written form.

    Raises:
        NoteError: it is none, or a signature of one of the keys does not hold.
        OSError: the file cannot be read.
    """
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise NoteError("it is no regular file")
    with path.open("rb") as file:
        data = file.read(_LONGEST)
    try:
        note = parse_note(data.decode("utf-8"))
    except UnicodeDecodeError as cause:
        raise NoteError("it is no text") from cause
    signers = signed_by(note, [parse_key(key) for key in keys], signature_holds)
    return Kept(path, parse_checkpoint(note.text), signers)


def remembered(folders: Iterable[Path]) -> list[Kept]:
    """Every checkpoint that lies in these folders, the largest last.

    Raises:
        LedgerError: a file of that name is no checkpoint.
    """
    found = []
    for folder in folders:
        for path in sorted(folder.glob(_NAME)):
            try:
                found.append(read_checkpoint(path))
            except (NoteError, OSError) as cause:
                raise LedgerError(f"{path} cannot be read as a checkpoint ({cause}), nor be ignored") from cause
    return sorted(found, key=lambda kept: kept.checkpoint.size)


def require_not_shorter(seq: int, kept: Sequence[Kept]) -> None:
    """The ledger has at least what its kept checkpoints prove.

    Raises:
        LedgerError: it has not.
    """
    if kept and kept[-1].checkpoint.size > seq:
        raise LedgerError(
            f"the ledger ends at entry {seq}, but {kept[-1].path} proves that it had {kept[-1].checkpoint.size}: "
            "entries are missing. Restore the newest verified backup; nothing is written to a ledger that was cut off"
        )


def require_same(standing: Standing, kept: Iterable[Kept]) -> None:
    """The checkpoints are of this ledger and no other.

    Raises:
        LedgerError: one is not.
    """
    for one in kept:
        if one.checkpoint.origin != standing.origin:
            raise LedgerError(f"{one.path} is of {one.checkpoint.origin}, and this ledger is {standing.origin}")


def require_key_in_force(book: Book, key: SigningKey | None) -> None:
    """A key that is handed over is the one in force; a ledger without a key takes none by itself.

    Raises:
        ConfigError: it is not.
    """
    if key is not None and (not book.keys or book.keys[-1] != str(key.public)):
        raise ConfigError(
            f"the key {key.public} is not in force in this ledger: let two people put it in force, with the daemon "
            "stopped: `meterd ledger key adopt DIR --key FILE --by A --and B --reference TEXT`"
        )


def keep(checkpoint: Checkpoint, key: SigningKey, folders: Iterable[Path]) -> Path:
    """Sign a checkpoint and keep it in each folder; the path of the first.

    Raises:
        LedgerError: another checkpoint of this size is there, or one signed by another key, or the disk failed.
    """
    text = key.sign_note(checkpoint.text)
    paths = [folder / f"checkpoint-{checkpoint.size}.txt" for folder in folders]
    for path in paths:
        try:
            if path.exists():
                there = read_checkpoint(path, [str(key.public)])
                if there.checkpoint != checkpoint:
                    raise LedgerError(f"{path} is of other entries than this ledger's: keep both, and verify")
                if not there.signers:
                    raise LedgerError(f"{path} says the same, signed by another key than {key.public.name}: it stays")
                continue
            write_whole(path, text)
        except (OSError, NoteError) as cause:
            raise LedgerError(f"the checkpoint could not be kept as {path}: {cause}") from cause
    return paths[0]


def write_whole(path: Path, text: str) -> None:
    """A file that is there with all of its text, or not at all."""
    step = path.with_name(f".{path.name}.{os.getpid()}")
    step.write_text(text, encoding="utf-8")
    sync(step)
    step.replace(path)
    sync(path.parent)


def of_last_reading(store: Store, standing: Standing) -> Checkpoint | None:
    """The ledger up to the reading that sealed the newest sealed volume; None where there is none yet.

    Taken of a store whose entries were looked at and that has not written yet. Behind the reading this is the tree that
    the open volume began with.
    """
    if store.sealed:
        return standing.checkpoint
    first = next(read_records(store.path))
    return opened(first).checkpoint if first.seq > 1 else None


class Keeper:
    """Signs and keeps what the money thread read, in a thread of its own: a slow second folder stops nothing."""

    def __init__(self, key: SigningKey | None, folders: Sequence[Path], began_s: float | None = None) -> None:
        """Without a key nothing is kept, and each reading says so in the log.

        ``began_s`` is when the open volume began, in Unix seconds: nothing older can have been kept since.
        """
        self._key = key
        self._folders = folders
        self._one = threading.Lock()  # two readings are kept one after the other
        self._owed: list[tuple[Path, Checkpoint]] = []
        self._withheld: str | None = None
        self._unsigned = 0
        self._made_up = 0
        self._last_of_before = 0  # entries up to the reading that an earlier run made and did not sign
        now_s = time.time()
        self._kept_at_s = now_s if began_s is None else min(began_s, now_s)

    def state(self) -> dict[str, Any]:
        """Plain JSON values for metrics: what folders did not take, readings without a key, when one was last kept.

        ``made_up``: files that were signed in place of the run which read the day and signed none.
        """
        return {
            "owed": len(self._owed) or int(self._withheld is not None),
            "unsigned": self._unsigned,
            "made_up": self._made_up,
            "kept_at_s": self._kept_at_s if self._key is not None else None,
        }

    def take(self, checkpoint: Checkpoint) -> None:
        """Keep a checkpoint soon."""
        if self._key is None:
            self._unsigned += 1
            log.warning("ledger.no_checkpoint", size=checkpoint.size, advice="make a key: `meterd ledger key new FILE`")
            return
        self._soon(checkpoint, self._key, self._folders, None)

    def make_up(self, checkpoint: Checkpoint | None, kept: Sequence[Kept], doubt: Doubt | None = None) -> None:
        """Keep that of the last reading where it is missing: the run that read it did not come to it.

        ``kept`` are those that a key of the ledger signed. ``doubt`` is asked first, where it is given.
        """
        now_s = time.time()
        with suppress(OSError, ValueError):  # none yet, or one that went away meanwhile
            self._kept_at_s = max(at_s for one in kept if (at_s := one.path.stat().st_mtime) <= now_s)
        if checkpoint is None or self._key is None:
            return
        there = {one.path.parent for one in kept if one.checkpoint == checkpoint}
        missing = [folder for folder in self._folders if folder not in there]
        if missing and not there:
            log.warning("ledger.checkpoint_made_up", size=checkpoint.size, folders=[str(folder) for folder in missing])
            self._last_of_before = checkpoint.size
        if missing or doubt is not None:
            self._soon(checkpoint, self._key, missing, doubt)

    def _soon(self, checkpoint: Checkpoint, key: SigningKey, folders: Sequence[Path], doubt: Doubt | None) -> None:
        arguments = (checkpoint, key, folders, doubt)
        threading.Thread(target=self._keep, args=arguments, name="checkpoint", daemon=True).start()

    def _keep(
        self,
        checkpoint: Checkpoint,
        key: SigningKey,
        folders: Sequence[Path] | None = None,
        doubt: Doubt | None = None,
    ) -> None:
        with self._one:
            self._owed += [(folder, checkpoint) for folder in (self._folders if folders is None else folders)]
            try:
                self._withheld = self._withheld or (None if doubt is None else doubt())
            except Exception as cause:  # noqa: BLE001 - what could not be looked at is not signed
                self._withheld = repr(cause)
            if self._withheld is not None:
                log.error("ledger.checkpoint_withheld", size=checkpoint.size, cause=self._withheld)
                return
            for owed in list(self._owed):
                folder, one = owed
                try:
                    path = keep(one, key, [folder])
                except Exception as cause:  # noqa: BLE001 - it stays owed, whatever it was
                    log.error("ledger.checkpoint_failed", cause=str(cause) or repr(cause))  # noqa: TRY400
                    continue
                self._owed.remove(owed)
                self._kept_at_s = time.time()
                self._made_up += one.size == self._last_of_before
                log.info("ledger.checkpoint", size=one.size, root=one.root.hex(), path=str(path))


def keeper_for(
    store: Store, standing: Standing, key: SigningKey | None, folders: Sequence[Path], kept: Sequence[Kept]
) -> Keeper:
    """The keeper of a ledger that begins to be written; what the run before did not come to is made up.

    Raises:
        ConfigError: the key is not the one in force.
    """
    require_key_in_force(standing.book, key)
    keeper = Keeper(key, folders, _began_s(store))
    signed = [again for one in kept if (again := _signed(one, standing.book.keys)) is not None]
    last = of_last_reading(store, standing)
    doubt: Doubt | None = None
    if last is not None and key is not None:
        ours = _proofs(store.path.parent, standing.book, key.public, signed)
        if not any(one.size >= last.size for one in ours):  # a later one was held against the open volume, as this was
            doubt = partial(not_borne_out, store.path.parent, last, [one.checkpoint for one in kept], ours)
    keeper.make_up(last, signed, doubt)
    return keeper


def _proofs(folder: Path, book: Book, key: PublicKey, signed: Sequence[Kept]) -> list[Checkpoint]:
    """Those that the key in force signed, and the last one before them that a retired key signed while it was in force.

    Which key that was, an open volume may invent: it counts for nothing behind the first that the key in force signed.
    ``signed`` are those that a key of the ledger signed, the largest last.
    """
    found = [one.checkpoint for one in signed if key in one.signers]
    for one in reversed(signed):
        if found and one.checkpoint.size >= found[0].size:
            continue
        if _in_force_behind(folder, book, one.checkpoint.size) in {str(signer) for signer in one.signers}:
            return [*found, one.checkpoint]
    return found


def _in_force_behind(folder: Path, book: Book, size: int) -> str | None:
    """The key that was in force when a reading ended a volume, as the next one carries it; None where none tells."""
    with suppress(LedgerError, OSError, ValueError, LookupError, TypeError, StopIteration):
        first = next(read_records(folder / volume.volume_name(size + 1)))
        keys = tuple(parse(first.body)["keys"])
        if keys == book.keys[: len(keys)]:
            return str(keys[-1])
    return None


def _began_s(store: Store) -> float | None:
    """When the open volume began, in Unix seconds, by its first entry."""
    with suppress(ValueError, OverflowError):
        return datetime.fromisoformat(next(read_records(store.path)).at_utc).timestamp()
    return None


def _signed(one: Kept, keys: Sequence[str]) -> Kept | None:
    """A kept checkpoint with those of the ledger's keys that signed it; None where none did, which is logged."""
    with suppress(NoteError, OSError):
        again = read_checkpoint(one.path, keys)
        if again.signers:
            return again
    log.warning("ledger.checkpoint_of_nobody", path=str(one.path), advice="no key of this ledger signed it")
    return None
