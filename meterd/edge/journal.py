"""The log: structlog events through a bounded queue and one writer thread.

The log may drop lines and counts them; it can neither raise into the caller nor make it wait: the ledger is the
record, not the log. Money stays in integer cents, raw bytes become hex, and what JSON cannot say becomes its text.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from collections.abc import Callable
from typing import Any, Final

import structlog

QUEUE_LINES: Final = 4096  # about 1 MB of text; at a hundred lines a second that is 40 s of a stuck reader

#: syslog levels, understood by journald as a line prefix
_LEVELS: Final = {"critical": 2, "error": 3, "warning": 4, "info": 6, "debug": 7}

Writer = Callable[[str], None]


def _plain(value: object) -> str:
    """Anything JSON does not know, as text that cannot raise."""
    try:
        return value.hex() if isinstance(value, bytes | bytearray) else str(value)
    except Exception:  # noqa: BLE001 - a broken __str__ must not stop the money path
        return f"<{type(value).__name__}>"


class Journal:
    """One bounded queue, one writer thread, one drop counter."""

    def __init__(self, write: Writer | None = None, *, prefix: bool | None = None) -> None:
        """``write`` takes one line; default is standard error. ``prefix`` adds ``<6>`` for journald."""
        self.dropped = 0
        self._write = write or _to_stderr
        self._prefix = "JOURNAL_STREAM" in os.environ if prefix is None else prefix
        self._lines: queue.Queue[str | None] = queue.Queue(QUEUE_LINES)
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    def processor(self, _logger: object, _method: str, event: structlog.typing.EventDict) -> str:
        """The last processor of the chain: render, queue, never fail."""
        level = str(event.get("level", "info"))
        try:
            line = json.dumps(event, default=_plain, allow_nan=False, ensure_ascii=False)
        except Exception:  # noqa: BLE001 - NaN, cycles, broken keys: say that a line was lost, and go on
            line = json.dumps({"event": "log.unprintable", "level": level})
        try:
            self._lines.put_nowait(f"<{_LEVELS.get(level, 6)}>{line}" if self._prefix else line)
        except queue.Full:
            self.dropped += 1
        raise structlog.DropEvent

    def close(self, timeout_s: float = 2.0) -> None:
        """Write what waits, as far as the reader takes it in ``timeout_s``."""
        try:
            self._lines.put(None, timeout=timeout_s)
        except queue.Full:
            return
        self._thread.join(timeout_s)

    def _run(self) -> None:
        while (line := self._lines.get()) is not None:
            try:
                self._write(line + "\n")
            except Exception:  # noqa: BLE001 - full disk, closed pipe: count and go on
                self.dropped += 1


def _to_stderr(line: str) -> None:
    sys.stderr.write(line)
    sys.stderr.flush()


def start(**facts: Any) -> tuple[Journal, structlog.stdlib.BoundLogger]:
    """Configure structlog once and return the journal and a logger bound to ``facts``."""
    journal = Journal()
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            journal.processor,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(20),
        logger_factory=structlog.ReturnLoggerFactory(),
        cache_logger_on_first_use=True,
    )
    logger: structlog.stdlib.BoundLogger = structlog.get_logger(**facts)
    return journal, logger
