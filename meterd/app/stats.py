"""Numbers for metrics and status, counted in the process.

For display and alerts only; the ledger is the money truth.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from meterd.accounting.entries import Entry, Kind

#: Upper bounds in seconds; the slowest disk that is fit for a ledger syncs within 20 ms.
BUCKETS_S: Final = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0)


class Histogram:
    """Counts per bucket, as Prometheus wants them, without a lock: one thread writes."""

    def __init__(self, bounds: tuple[float, ...] = BUCKETS_S) -> None:
        """Begin with nothing observed."""
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        """Count one value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def to_json(self) -> dict[str, Any]:
        """Bounds, counts per bucket (not cumulative) and the sum."""
        return {"bounds": list(self.bounds), "counts": list(self.counts), "sum": self.total}


class Stats:
    """What the money thread counts since the daemon started."""

    def __init__(self) -> None:
        """Begin with nothing counted."""
        self.commit_seconds = Histogram()
        self.batch_entries = Histogram((1, 2, 5, 10, 20, 50, 100))
        self.bets: Counter[str] = Counter()
        self.late_bets: Counter[str] = Counter()
        self.games: Counter[str] = Counter()
        self.refused: Counter[tuple[str, str]] = Counter()
        self.awards: Counter[str] = Counter()
        self.game_wins: Counter[str] = Counter()
        self.wagered_cents: Counter[str] = Counter()
        self.entries = 0
        self.clock_steps = 0
        self.overruns: Counter[str] = Counter()

    def count(self, entry: Entry) -> None:
        """Count one committed entry."""
        self.entries += 1
        table = entry.table or ""
        match entry.kind:
            case Kind.LOCKED:
                self.bets[table] += len(entry.body.get("wagers", ()))
                for posting in entry.postings:
                    if posting.account.startswith("drop/"):
                        self.wagered_cents[entry.link or ""] -= posting.microcents // 1_000_000
            case Kind.LATE_BET | Kind.GAME_ENDED:
                (self.late_bets if entry.kind is Kind.LATE_BET else self.games)[table] += 1
            case Kind.CLAIMED:
                self.awards[entry.link or ""] += 1
            case Kind.COMMON_CLAIMED:
                self.awards[entry.link or ""] += len(entry.body["claims"])
            case Kind.GAME_WIN:
                self.game_wins[entry.device or ""] += 1
            case Kind.REFUSED:
                self.refused[(table, str(entry.body.get("refusal", "")))] += 1
            case Kind.CLOCK_STEP:
                self.clock_steps += 1
            case _:
                pass

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values for the control socket; asked for by another thread than the one that counts.

        A copy is one step of the interpreter; a loop over a table that grows meanwhile would raise.
        """
        return {
            "commit_seconds": self.commit_seconds.to_json(),
            "batch_entries": self.batch_entries.to_json(),
            "bets": dict(self.bets),
            "late_bets": dict(self.late_bets),
            "games": dict(self.games),
            "refused": [[table, reason, count] for (table, reason), count in list(self.refused.items())],
            "awards": dict(self.awards),
            "game_wins": dict(self.game_wins),
            "wagered_cents": dict(self.wagered_cents),
            "entries": self.entries,
            "clock_steps": self.clock_steps,
            "overruns": dict(self.overruns),
        }


@dataclass(slots=True)
class WireHealth:
    """What the wire loop shows of itself, and when it last heard of the money thread."""

    tick_s: float = field(default_factory=time.monotonic)
    lag_s_max: float = 0.0
    money_s: float = field(default_factory=time.monotonic)
    unheard: bool = False
