"""Which files are open, and by whom. A ledger has one writer; this finds one that does not ask for the lock."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

_PROC: Final = Path("/proc")


class Opener(NamedTuple):
    """A process, by its number and its name, with the file it has open for writing."""

    pid: int
    name: str
    path: Path

    def __str__(self) -> str:
        """For a message."""
        return f"process {self.pid} ({self.name}) has {self.path} open for writing"


def writers_of(paths: frozenset[Path]) -> tuple[Opener, ...]:
    """Other processes that have one of these files open for writing.

    Only processes that this user may look into are seen: all of them for root, one's own otherwise. A reader of SQLite
    opens the ``-wal`` and ``-shm`` files for writing too, so these are not worth asking about.
    """
    names = {str(path.resolve()) for path in paths}
    found = []
    for folder in _PROC.iterdir():
        if folder.name.isdecimal() and int(folder.name) != os.getpid():
            with suppress(OSError):  # it ended meanwhile, or is somebody else's
                found += _writes_of(folder, names)
    return tuple(found)


def _writes_of(folder: Path, names: set[str]) -> list[Opener]:
    found = []
    for link in (folder / "fd").iterdir():
        target = os.readlink(link)  # noqa: PTH115 - a plain text to compare, for every descriptor of the machine
        if target in names and _for_writing(folder, link.name):
            found.append(Opener(int(folder.name), (folder / "comm").read_text().strip(), Path(target)))
    return found


def _for_writing(folder: Path, descriptor: str) -> bool:
    for line in (folder / "fdinfo" / descriptor).read_text().splitlines():
        name, _, value = line.partition(":")
        if name == "flags":
            return int(value.strip(), 8) & os.O_ACCMODE != os.O_RDONLY
    return False


def open_files(path: Path) -> list[tuple[str, str]]:
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
