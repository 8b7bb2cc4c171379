"""Rebuilds what a power cut could have left of a traced program's files.

``strace`` wrote down every write, sync and name that the program made. A crash state takes that list up to some moment:
what was synced is there; of what was not, each 512-byte sector is there or not, at random; names that were made, moved
or removed since their folder was synced may be as before: all from some moment on, or any of them. The shared-memory
file is left out: it never survives a power cut.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

SECTOR = 512
TRACED = (
    "openat,write,pwrite64,pwritev,writev,fdatasync,fsync,ftruncate,fallocate,"
    "unlink,unlinkat,rename,renameat,renameat2,symlink,symlinkat,link,linkat"
)

_CALL = re.compile(r"^\d+ +(\w+)\((.*)\) += (-?\d+)(.*)$")
_FILE = re.compile(r"^(\d+)<((?:\\x[0-9a-f]{2})*)>")
_STRING = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')


class Made(NamedTuple):
    """A file came into being."""

    name: str


class Linked(NamedTuple):
    """A symbolic link came into being."""

    name: str
    target: str


class Moved(NamedTuple):
    """A name took the place of another."""

    name: str
    to: str


class Removed(NamedTuple):
    """A name went away."""

    name: str


class Wrote(NamedTuple):
    """Bytes at an offset of a file."""

    name: str
    offset: int
    data: bytes


class Cut(NamedTuple):
    """A file got another length."""

    name: str
    size: int


class Synced(NamedTuple):
    """A file, or the folder (name ``.``), was synced."""

    name: str


class Acked(NamedTuple):
    """The program told that everything up to this number is committed."""

    seq: int


Event = Made | Linked | Moved | Removed | Wrote | Cut | Synced | Acked


def _bytes(hexed: str) -> bytes:
    return bytes.fromhex(hexed.replace("\\x", ""))


def read_trace(lines: Iterable[str], folder: Path, known: set[str]) -> Iterator[Event]:
    """What the traced program did in ``folder``, in order. ``known`` files were there before."""
    names = set(known)
    for line in lines:
        match = _CALL.match(line)
        if match is None or int(match[3]) < 0:
            continue
        call, arguments, result, rest = match.groups()
        if call == "openat":
            opened = _FILE.match(result + rest)
            path = Path(_bytes(opened[2]).decode()) if opened else Path("/")
            if path.parent == folder and path.name not in names:
                names.add(path.name)
                yield Made(path.name)
            continue
        if _FILE.match(arguments) is None:
            named = _naming(call, arguments, folder)
            if named is not None:
                names -= {named.name} if not isinstance(named, Linked) else set()
                names |= {named.to} if isinstance(named, Moved) else set()
                yield named
            continue
        yield from _on_file(call, arguments, folder)


def _naming(call: str, arguments: str, folder: Path) -> Linked | Moved | Removed | None:
    """A call that makes, moves or removes a name in the folder."""
    paths = [Path(_bytes(found).decode("utf-8", "replace")) for found in _STRING.findall(arguments)]
    if not any(path.parent == folder for path in paths):
        return None
    if call == "symlink":
        return Linked(paths[1].name, str(paths[0]))
    if call == "rename":
        return Moved(paths[0].name, paths[1].name)
    if call == "unlink":
        return Removed(paths[0].name)
    raise AssertionError(f"this replay does not know {call} of {paths}")


def _on_file(call: str, arguments: str, folder: Path) -> Iterator[Event]:
    """A call on an open file."""
    target = _FILE.match(arguments)
    assert target is not None
    path = Path(_bytes(target[2]).decode())
    if call == "write" and target[1] == "1":
        told = _bytes(_STRING.findall(arguments)[0]).decode()
        if told.startswith("acked "):
            yield Acked(int(told.split()[1]))
    elif path == folder and call in {"fdatasync", "fsync"}:
        yield Synced(".")
    elif path.parent == folder and path.name != "lock" and not path.name.endswith("-shm"):
        yield _event(call, path.name, arguments)


def _event(call: str, name: str, arguments: str) -> Event:
    if call == "pwrite64":
        data = _bytes(_STRING.findall(arguments)[0])
        return Wrote(name, int(arguments.rsplit(",", 1)[1]), data)
    if call == "ftruncate":
        return Cut(name, int(arguments.rsplit(",", 1)[1]))
    if call in {"fdatasync", "fsync"}:
        return Synced(name)
    raise AssertionError(f"this replay does not know {call} of {name}")


class CrashState(NamedTuple):
    """Files and links as a crash left them, and what had been told by then."""

    files: dict[str, bytes]
    links: dict[str, str]
    acked: int

    def write(self, folder: Path) -> None:
        """Make a folder that holds them."""
        folder.mkdir()
        for name, data in self.files.items():
            (folder / name).write_bytes(data)
        for name, target in self.links.items():
            (folder / name).symlink_to(target)


def crash(
    base: Mapping[str, bytes], events: list[Event], at: int, draw: random.Random, links: Mapping[str, str] | None = None
) -> CrashState:
    """What is left of a power cut right before event ``at``; ``base`` and ``links`` were there before the first."""
    disk = _Disk(base, links or {})
    for event in events[:at]:
        disk.take(event)
    return disk.cut(draw)


class _File:
    """What is certain of a file, and what may or may not be added to it."""

    def __init__(self, data: bytes) -> None:
        self.data = bytearray(data)
        self.unsynced: list[Wrote | Cut] = []

    def sync(self) -> None:
        """All of it is certain now."""
        for change in self.unsynced:
            _apply(self.data, change)
        self.unsynced.clear()


_Names = dict[str, "_File | str"]


class _Disk:
    """Names and files as they are for certain, and what may or may not be added to them. A text is a link's target."""

    def __init__(self, base: Mapping[str, bytes], links: Mapping[str, str]) -> None:
        self.names: _Names = {**{name: _File(data) for name, data in base.items()}, **links}
        self.certain: _Names = dict(self.names)
        self.files = [file for file in self.names.values() if isinstance(file, _File)]
        self.unlisted: list[tuple[Made | Linked | Moved | Removed, _File | str | None]] = []
        self.acked = 0

    def take(self, event: Event) -> None:
        """Let it happen."""
        match event:
            case Made() | Linked() | Moved() | Removed():
                self._take_name(event)
            case Wrote(name) | Cut(name):
                if isinstance(file := self.names.get(name), _File):
                    file.unsynced.append(event)
            case Synced("."):
                for known, new in self.unlisted:
                    _name(self.certain, known, new)
                self.unlisted.clear()
            case Synced(name):
                if isinstance(file := self.names.get(name), _File):
                    file.sync()
            case Acked(seq):
                self.acked = seq

    def _take_name(self, event: Made | Linked | Moved | Removed) -> None:
        new: _File | str | None = event.target if isinstance(event, Linked) else None
        if isinstance(event, Made):
            new = _File(b"")
            self.files.append(new)
        self.unlisted.append((event, new))
        _name(self.names, event, new)

    def cut(self, draw: random.Random) -> CrashState:
        kept = draw.choice([0.0, 0.1, 0.5, 0.9, 1.0])
        for file in self.files:
            for part in (part for change in file.unsynced for part in _sectors(change)):
                if draw.random() < kept:
                    _apply(file.data, part)
        in_order = draw.random() < 0.5
        until = draw.randint(0, len(self.unlisted))
        for n, (event, new) in enumerate(self.unlisted):
            if n < until if in_order else draw.random() < 0.5:
                _name(self.certain, event, new)
        files = {name: bytes(file.data) for name, file in self.certain.items() if isinstance(file, _File)}
        links = {name: target for name, target in self.certain.items() if isinstance(target, str)}
        return CrashState(files, links, self.acked)


def _name(names: _Names, event: Made | Linked | Moved | Removed, new: _File | str | None) -> None:
    """Make, move or remove a name; what is not there cannot be moved."""
    if isinstance(event, Made | Linked):
        assert new is not None
        names[event.name] = new
    elif isinstance(event, Moved):
        if event.name in names:
            names[event.to] = names.pop(event.name)
    else:
        names.pop(event.name, None)


def _apply(content: bytearray, change: Wrote | Cut) -> None:
    end = change.size if isinstance(change, Cut) else change.offset + len(change.data)
    if len(content) < end:
        content.extend(bytes(end - len(content)))
    if isinstance(change, Cut):
        del content[change.size :]
    else:
        content[change.offset : end] = change.data


def _sectors(change: Wrote | Cut) -> Iterator[Wrote | Cut]:
    """A write as the disk does it: sector by sector, each whole or not at all."""
    if isinstance(change, Cut):
        yield change
        return
    start = change.offset
    end = start + len(change.data)
    while start < end:
        stop = min(end, (start // SECTOR + 1) * SECTOR)
        yield Wrote(change.name, start, change.data[start - change.offset : stop - change.offset])
        start = stop
