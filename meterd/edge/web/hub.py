"""The web's one line to the daemon: it subscribes to the control socket and keeps the newest snapshot.

Pages ask the hub, never the daemon, so a hundred screens cost the daemon one client. A daemon that is silent for
``STALE_S`` is gone: from then on every page says CLOSED.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from pathlib import Path
from typing import Any, Final

STALE_S: Final = 2.5  # the daemon speaks at least once a second
RETRY_S: Final = 0.5
SNAPSHOT_BYTES_MAX: Final = 8 * 1024 * 1024  # a hundred tables make 60 kB


class Hub:
    """Newest snapshot, its age, and a way to wait for the next."""

    def __init__(self, path: Path) -> None:
        """``path`` of the daemon's control socket."""
        self.path = path
        self.snapshot: dict[str, Any] = {}
        self.heard_s = -1e9
        self.version = 0
        self._news = asyncio.Condition()

    @property
    def alive(self) -> bool:
        """Whether the daemon was heard lately."""
        return time.monotonic() - self.heard_s < STALE_S

    async def run(self) -> None:
        """Subscribe, and subscribe again whenever the daemon went away."""
        while True:
            with contextlib.suppress(OSError, ValueError, asyncio.IncompleteReadError):
                await self._listen()
            await self._told()
            await asyncio.sleep(RETRY_S)

    async def _listen(self) -> None:
        reader, writer = await asyncio.open_unix_connection(self.path, limit=SNAPSHOT_BYTES_MAX)
        try:
            writer.write(b'{"op":"subscribe"}\n')
            await writer.drain()
            while line := await reader.readline():
                self.snapshot = json.loads(line)
                self.heard_s = time.monotonic()
                await self._told()
        finally:
            self.heard_s = -1e9  # the line is cut: the daemon is gone, or goes
            writer.close()

    async def _told(self) -> None:
        async with self._news:
            self.version += 1
            self._news.notify_all()

    async def newer(self, seen: int, timeout_s: float) -> int:
        """Wait for a version after ``seen``, at most ``timeout_s``; returns the version now."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s), self._news:
                await self._news.wait_for(lambda: self.version != seen)
        return self.version

    async def stats(self) -> dict[str, Any]:
        """The daemon's own numbers, asked for when somebody scrapes.

        Raises:
            OSError: nobody listens.
            ValueError: the answer was no JSON.
        """
        reader, writer = await asyncio.open_unix_connection(self.path, limit=SNAPSHOT_BYTES_MAX)
        try:
            writer.write(b'{"op":"stats"}\n')
            await writer.drain()
            async with asyncio.timeout(2.0):
                answer = json.loads(await reader.readline() or b"{}")
        finally:
            writer.close()
        return answer if isinstance(answer, dict) else {}
