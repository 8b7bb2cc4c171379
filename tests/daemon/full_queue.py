"""``meterd`` with a queue into the money thread that holds next to nothing: events are lost again and again."""

from __future__ import annotations

import time
from typing import Any

from meterd.app import inbox
from meterd.cli.main import main

WAITING = 2
EACH_NTH = 6  # batches between two that take long
STUCK_S = 0.25

_take = inbox.Inbox.take
_made = inbox.Inbox.__init__
_batches = 0


def _made_small(self: inbox.Inbox, waiting_max: int = WAITING) -> None:
    _made(self, waiting_max)


def _take_late(self: inbox.Inbox, timeout_s: float) -> Any:
    """As when the disk stands still for a moment."""
    global _batches  # noqa: PLW0603 - one daemon in this process
    taken = _take(self, timeout_s)
    _batches += bool(taken[1])
    if taken[1] and _batches % EACH_NTH == 0:
        time.sleep(STUCK_S)
    return taken


inbox.Inbox.__init__ = _made_small  # type: ignore[method-assign]
inbox.Inbox.take = _take_late  # type: ignore[method-assign]
main()
