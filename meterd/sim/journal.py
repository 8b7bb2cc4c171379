"""What the simulated end saw and did: one JSON line an event, and the counts of a run.

``t`` is the kernel's monotonic clock in seconds, the same in every process of the machine, so that a line here can be
laid beside what the daemon noted.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from typing import Any, TextIO


class Journal:
    """Events to ``log`` (or nowhere), each written out at once; counts for the summary."""

    def __init__(self, log: TextIO | None = None) -> None:
        self._log = log
        self.counts: Counter[str] = Counter()
        self.lamp_ms: list[float] = []
        self._lit: set[tuple[str, int, int]] = set()

    def note(self, what: str, at: float | None = None, **facts: Any) -> None:
        """One event. ``at`` defaults to now."""
        if self._log is not None:
            line = {"t": round(time.monotonic() if at is None else at, 6), "what": what, **facts}
            self._log.write(json.dumps(line, separators=(",", ":")) + "\n")
            self._log.flush()

    def steady(self, table: str, lock: int, seat: int, ms: float | None) -> None:
        """A lamp went steady ``ms`` after the lock press. A lamp lit again in the same round counts once."""
        if (table, lock, seat) not in self._lit:
            self._lit.add((table, lock, seat))
            if ms is not None:
                self.lamp_ms.append(ms)

    def summary(self) -> dict[str, Any]:
        """The counts of the run."""
        ordered = sorted(self.lamp_ms)
        return {
            "rounds": self.counts["rounds"],
            "wagers": self.counts["wagers"],
            "late_bets": self.counts["late_bets"],
            "late_lamps_lit": self.counts["late_lamps_lit"],
            "steady_lamps_seen": len(self._lit),
            "lamp_ms": {"p50": quantile(ordered, 0.50), "p99": quantile(ordered, 0.99)},
            "claims": self.counts["claims"],
            "claims_refused": self.counts["claims_refused"],
            "confirmed": self.counts["confirmed"],
            "paid": self.counts["paid"],
            "awards_voided": self.counts["awards_voided"],
            "mistyped": self.counts["mistyped"],
            "seats_voided": self.counts["seats_voided"],
            "rounds_voided": self.counts["rounds_voided"],
            "keys": self.counts["keys"],
            "keys_unanswered": self.counts["keys_unanswered"],
            "sign_frames": self.counts["sign_frames"],
            "sign_faults": self.counts["sign_faults"],
        }


def quantile(ordered: list[float], share: float) -> float | None:
    """The value that ``share`` of the values do not exceed, to a tenth; None of nothing."""
    if not ordered:
        return None
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 1)
