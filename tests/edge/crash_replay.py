"""Rebuilds what a power cut could have left of a traced program's files.

``strace`` wrote down every write, sync and name that the program made. A crash state takes that list up to some moment:
what was synced is there; of what was not, each 512-byte sector is there or not, at random; a file whose folder was not
synced since it was made may be missing. The shared-memory file is left out: it never survives a power cut.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

SECTOR = 512
TRACED = "openat,write,pwrite64,pwritev,writev,fdatasync,fsync,ftruncate,fallocate,unlink,rename,renameat,mmap"

_CALL = re.compile(r"^\d+ +(\w+)\((.*)\) += (-?\d+)(.*)$")
_FILE = re.compile(r"^(\d+)<((?:\\x[0-9a-f]{2})*)>")
_STRING = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')


class Made(NamedTuple):
    """A file came into being."""

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


Event = Made | Wrote | Cut | Synced | Acked


def _bytes(hexed: str) -> bytes:
    return bytes.fromhex(hexed.replace("\\x", ""))


def read_trace(lines: Iterable[str], folder: Path, known: set[str]) -> Iterator[Event]:
    """What the traced program did in ``folder``, in order. ``known`` files were there before."""
    for line in lines:
        match = _CALL.match(line)
        if match is None or int(match[3]) < 0:
            continue
        call, arguments, result, rest = match.groups()
        if call == "openat":
            opened = _FILE.match(result + rest)
            path = Path(_bytes(opened[2]).decode()) if opened else Path("/")
            if path.parent == folder and path.name not in known:
                known.add(path.name)
                yield Made(path.name)
            continue
        target = _FILE.match(arguments)
        if target is None:
            continue
        path = Path(_bytes(target[2]).decode())
        if call == "write" and target[1] == "1":
            told = _bytes(_STRING.findall(arguments)[0]).decode()
            if told.startswith("acked "):
                yield Acked(int(told.split()[1]))
        elif path == folder and call in {"fdatasync", "fsync"}:
            yield Synced(".")
        elif path.parent == folder and path.name not in {"lock", "ledger-1.db-shm"}:
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
    """Files as a crash left them, and what had been told by then."""

    files: dict[str, bytes]
    acked: int


def crash(base: dict[str, bytes], events: list[Event], at: int, draw: random.Random) -> CrashState:
    """The files after a power cut right before event ``at``; ``base`` is what was there before the first."""
    disk = _Disk(base)
    for event in events[:at]:
        disk.take(event)
    return disk.cut(draw)


class _Disk:
    """Files as they are for certain, and what may or may not be added to them."""

    def __init__(self, base: dict[str, bytes]) -> None:
        self.files = {name: bytearray(data) for name, data in base.items()}
        self.unsynced: dict[str, list[Wrote | Cut]] = {name: [] for name in base}
        self.unlisted: set[str] = set()
        self.acked = 0

    def take(self, event: Event) -> None:
        match event:
            case Made(name):
                self.files[name] = bytearray()
                self.unsynced[name] = []
                self.unlisted.add(name)
            case Wrote(name) | Cut(name):
                self.unsynced[name].append(event)
            case Synced("."):
                self.unlisted.clear()
            case Synced(name):
                for change in self.unsynced[name]:
                    _apply(self.files[name], change)
                self.unsynced[name].clear()
            case Acked(seq):
                self.acked = seq

    def cut(self, draw: random.Random) -> CrashState:
        kept = draw.choice([0.0, 0.1, 0.5, 0.9, 1.0])
        for name, changes in self.unsynced.items():
            for part in (part for change in changes for part in _sectors(change)):
                if draw.random() < kept:
                    _apply(self.files[name], part)
        gone = {name for name in self.unlisted if draw.random() < 0.5}
        return CrashState({name: bytes(data) for name, data in self.files.items() if name not in gone}, self.acked)


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
