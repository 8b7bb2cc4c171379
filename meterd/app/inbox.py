"""The one queue into the money thread: bounded, never waited for.

A full queue drops what is offered and raises the *overrun flag* of its source, a level. The money thread reads the
flags before it decides the next command, so the tables of that port close before anything is decided on a picture
with holes in it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Final

BATCH_MAX: Final = 64  # commands decided, hashed and committed together
WAITING_MAX: Final = 1024  # 100 tables that lock, light and key in one poll cycle leave two thirds of it free


class Inbox:
    """Producers on any thread offer; the money thread takes."""

    def __init__(self, waiting_max: int = WAITING_MAX) -> None:
        """Begin empty."""
        self._waiting_max = waiting_max
        self._items: deque[Any] = deque()
        self._overrun: set[str] = set()
        self._changed = threading.Condition()
        self._closed = False

    def offer(self, item: object, source: str) -> bool:
        """Queue one item, or raise ``source``'s overrun flag and return False. A closed queue flags nothing.

        On the way out every table closes anyway, and what moves from now on is missed by the next start's baseline: a
        flag would only close tables as if something had been lost, and as often as a port goes on talking.
        """
        with self._changed:
            if self._closed:
                return False
            if len(self._items) >= self._waiting_max:
                self._overrun.add(source)
                self._changed.notify()
                return False
            self._items.append(item)
            self._changed.notify()
            return True

    def take(self, timeout_s: float) -> tuple[frozenset[str], list[Any]]:
        """The overrun flags (now lowered) and up to ``BATCH_MAX`` items; waits ``timeout_s`` at most for the first."""
        with self._changed:
            if not self._items and not self._overrun and not self._closed:
                self._changed.wait(timeout_s)
            overrun = frozenset(self._overrun)
            self._overrun.clear()
            items = [self._items.popleft() for _ in range(min(BATCH_MAX, len(self._items)))]
            return overrun, items

    def drop(self, which: Callable[[Any], bool]) -> None:
        """Forget what waits and is ``which``: it comes from before a hole, and nothing may be decided across one."""
        with self._changed:
            self._items = deque(item for item in self._items if not which(item))

    def close(self) -> None:
        """Refuse all that comes from now on; what waits can still be taken."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def __len__(self) -> int:
        """How many items wait."""
        return len(self._items)
