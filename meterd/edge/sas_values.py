"""What may be said of each level right now, from the daemon's committed snapshots.

Rule 1: a figure is said only while the daemon is heard. A snapshot counts for ``stale_ms`` from when it came; after
that nothing is said, and the games notice by themselves. Nothing is ever repeated to bridge a silence.
Rule 2: a level is said where a sign would show it: its link plays and is not suspended, and the floor is not closed.
Rule 3: after a win a level waits for a snapshot that knows of it, and for a meter that was reset by it. A win for which
the book has no award yet leaves the level unsaid until somebody has booked one: nobody is shown a jackpot that is won.

Units: ``*_s`` seconds of the monotonic clock, cents.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from meterd.config import SasConfig
from protocols.sas_host import Quote

RETRY_S: Final = 0.5
SILENT_S: Final = 10.0  # the daemon speaks each second; a connection this quiet is made anew
LINE_BYTES_MAX: Final = 8 * 1024 * 1024
SAID_KEPT: Final = 512  # figures of a level that a game may still tell as won


class Newest(NamedTuple):
    """The newest snapshot and when it came; None before the first."""

    snapshot: Mapping[str, Any]
    heard_s: float


class Hit(NamedTuple):
    """A level that was won. ``seq``: the entry that knows of it; -1 before it is known. ``booked``: as an award."""

    display_cents: int
    hits: int
    seq: int = -1
    booked: bool = False


def levels_of(newest: Newest | None, sas: SasConfig) -> dict[int, Mapping[str, Any]]:
    """SAS level → the level as the snapshot has it, as far as it knows them."""
    links = newest.snapshot.get("links", {}) if newest is not None else {}
    return {
        number: links[link]["levels"][level]
        for number, (link, level) in sas.numbered.items()
        if level in links.get(link, {}).get("levels", {})
    }


def quotes(
    newest: Newest | None,
    sas: SasConfig,
    hits: Mapping[int, Hit],
    now_s: float,
    rates: Mapping[tuple[str, str], int] | None = None,
) -> dict[int, Quote]:
    """What may be said now, by SAS level. ``rates``: (link, level) → increment in millionths, for the long form."""
    if newest is None or now_s - newest.heard_s >= sas.stale_ms / 1000 or newest.snapshot.get("closed"):
        return {}
    snapshot = newest.snapshot
    playing = {table["link"] for table in snapshot.get("tables", {}).values() if table["state"] != "CLOSED"}
    said = {}
    for number, level in levels_of(newest, sas).items():
        link = sas.numbered[number][0]
        if link not in playing or snapshot["links"][link].get("suspended"):
            continue
        if number in hits and not released(hits[number], snapshot, level):
            continue
        said[number] = Quote(level["display_cents"], level["seed_cents"], (rates or {}).get(sas.numbered[number], 0))
    return said


def released(hit: Hit, snapshot: Mapping[str, Any], level: Mapping[str, Any]) -> bool:
    """Whether a level that was won may be said again."""
    if hit.seq < 0 or int(snapshot.get("seq", -1)) < hit.seq:
        return False
    return hit.booked or level["hits"] != hit.hits or level["display_cents"] < hit.display_cents


class Values:
    """Subscribes to the control socket in a thread of its own and keeps the newest snapshot."""

    def __init__(self, path: Path) -> None:
        """Nothing starts before :meth:`start`."""
        self._path = path
        self._newest: Newest | None = None
        self._news = threading.Condition()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="values", daemon=True)

    @property
    def newest(self) -> Newest | None:
        """The newest snapshot; None before the first."""
        return self._newest

    def start(self) -> None:
        """Begin to listen."""
        self._thread.start()

    def stop(self) -> None:
        """Stop listening; whoever waits is told."""
        self._stopping.set()
        with self._news:
            self._news.notify_all()

    def first(self, timeout_s: float) -> Newest | None:
        """The newest snapshot, waited for."""
        with self._news:
            self._news.wait_for(lambda: self._newest is not None or self._stopping.is_set(), timeout_s)
        return self._newest

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._listen()
            except (OSError, ValueError):
                self._stopping.wait(RETRY_S)

    def _listen(self) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.settimeout(SILENT_S)
            client.connect(str(self._path))
            client.sendall(b'{"op":"subscribe"}\n')
            with client.makefile("rb") as stream:
                while not self._stopping.is_set():
                    line = stream.readline(LINE_BYTES_MAX)
                    heard_s = time.monotonic()
                    if not line.endswith(b"\n"):
                        raise ConnectionError("the daemon hung up")
                    snapshot = json.loads(line)
                    with self._news:
                        self._newest = Newest(snapshot, heard_s)
                        self._news.notify_all()


class SaidBefore:
    """The figures that were really said of each level, so that a game's win can be held against them."""

    def __init__(self) -> None:
        """Begin with nothing said."""
        self._figures: dict[int, deque[int]] = {}

    def note(self, said: Mapping[int, int]) -> None:
        """Level → cents that just went out."""
        for level, cents in said.items():
            figures = self._figures.setdefault(level, deque(maxlen=SAID_KEPT))
            if not figures or figures[-1] != cents:
                figures.append(cents)

    def was(self, level: int, cents: int) -> bool:
        """Whether this figure was said of this level."""
        return cents in self._figures.get(level, ())
