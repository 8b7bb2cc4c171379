"""Which seats have a wager on the sensor, and which of them were there in time.

Rule 1: a wager is a chip *seen put down* while the table was open: the sensor's level is on and its edge was seen in
this round. A chip that has lain there since before (taken in the last round, late, put down while the table was closed,
or already there when the module was trusted) is no wager until it was lifted and put down again (PA 617b.4(c)(2):
nothing placed after "no more bets" may be recognised). The pad asks for such a seat to be cleared.
Rule 2: what one poll cannot order. A seat is in the round if it was on in the snapshot before the one that shows LOCK,
or in the same reply. Where LOCK comes from another module, the last snapshot that began before LOCK's own counts. One
that began before but was not whole when LOCK came is not waited for: what it shows is late, by 0 ms or more.
Rule 3: present is a level. A pulse shorter than the poll moves the counter and leaves the level off: no wager, and no
late one. A counter that moved while the level stayed on is a chip lifted and put back: a new edge.
Rule 4: an edge is used once. One that an entry already carries is not above the book's mark and counts no more.
Units: ``*_ms`` of the one monotonic clock of the readings.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from meterd.accounting.commands import Event, WagerSeen
from meterd.accounting.state import DeviceMark
from protocols.events import Reading

#: Snapshots kept to find the last one that began before a LOCK seen on another line. Lines are served in turn and hand
#: over what changed; more than a few changes of one table in one poll of another line do not happen.
SNAPSHOTS_KEPT: Final = 16

#: ``ms_max`` of a late bet when nobody here saw the LOCK (the daemon was restarted since, or a page locked the table).
MS_UNKNOWN: Final = -1


class Edge(NamedTuple):
    """A chip seen put down: which input and count, in which round, and between which two polls."""

    event: Event
    round: int
    began_ms: int
    after_ms: int
    by_ms: int


class Snapshot(NamedTuple):
    """One reply of the sensor module: by seat, the edge of the chip that lies there, None where none counts."""

    began_ms: int
    ended_ms: int
    on: tuple[bool, ...]
    edges: tuple[Edge | None, ...]


class LockSeen(NamedTuple):
    """When LOCK was pressed: after ``after_ms``, by ``by_ms`` at the latest. ``began_ms``: its snapshot's request.

    ``pad``: what told it, where that tells its presses one by one.
    """

    began_ms: int
    after_ms: int
    by_ms: int
    pad: str = ""


class Late(NamedTuple):
    """A chip put down after LOCK, and the interval since it, in milliseconds."""

    seat: int
    event: Event
    ms_min: int
    ms_max: int


class Closing(NamedTuple):
    """A LOCK asked for and not decided: how it was seen, and the late bets that follow if it is taken."""

    lock: LockSeen
    late: tuple[Late, ...]


class Seats:
    """The seats of one table, as their sensors tell it."""

    def __init__(self, baseline: Reading, on: Iterable[bool]) -> None:
        """Begin at a baseline: what lies there already is no wager."""
        levels = tuple(on)
        first = Snapshot(baseline.began_ms, baseline.ended_ms, levels, (None,) * len(levels))
        self._snapshots = deque([first], maxlen=SNAPSHOTS_KEPT)
        self.trusted_ms = baseline.ended_ms

    @property
    def before_last_ms(self) -> int:
        """When the snapshot before the last one was begun: what moved a counter without a level came after it."""
        return list(self._snapshots)[-2:][0].began_ms

    @property
    def _now(self) -> Snapshot:
        return self._snapshots[-1]

    def take(self, reading: Reading, on: Iterable[bool], edges: Mapping[int, Event], round_open: int | None) -> None:
        """Go on to the next snapshot.

        Args:
            reading: where the levels come from.
            on: the level of each seat.
            edges: seat → identity, for each chip put down since the last snapshot and still there.
            round_open: the round the table is open for, None where it is not open: then an edge is no wager.
        """
        levels = tuple(on)
        kept: list[Edge | None] = []
        for index, level in enumerate(levels):
            event = edges.get(index + 1)
            if not level or (event is not None and round_open is None):
                kept.append(None)
            elif event is not None and round_open is not None:
                kept.append(Edge(event, round_open, reading.began_ms, reading.previous_ended_ms, reading.ended_ms))
            else:
                kept.append(self._now.edges[index])
        self._snapshots.append(Snapshot(reading.began_ms, reading.ended_ms, levels, tuple(kept)))

    def present(self, round_open: int, marks: Mapping[str, DeviceMark]) -> frozenset[int]:
        """Seats whose chip counts for this round, were LOCK pressed now."""
        return frozenset(seat for seat, edge in _by_seat(self._now) if _counts(edge, round_open, marks))

    def to_clear(self, round_open: int, marks: Mapping[str, DeviceMark]) -> tuple[int, ...]:
        """Seats where a chip lies that counts for nothing."""
        present = self.present(round_open, marks)
        return tuple(seat for seat, on in enumerate(self._now.on, start=1) if on and seat not in present)

    def wagers(
        self, lock: LockSeen, same_reply: bool, round_open: int, marks: Mapping[str, DeviceMark]
    ) -> tuple[WagerSeen, ...]:
        """The seats that were there in time, by rule 2.

        Args:
            lock: when LOCK was seen.
            same_reply: LOCK was in the last snapshot taken here; else it came from another module.
            round_open: the round the table is open for.
            marks: the book's marks.
        """
        if same_reply:
            before = list(self._snapshots)[-2:]
        else:
            before = [snapshot for snapshot in self._snapshots if snapshot.began_ms < lock.began_ms][-1:]
        seen = {
            seat: edge.event
            for snapshot in before
            for seat, edge in _by_seat(snapshot)
            if edge is not None and _counts(edge, round_open, marks)
        }
        return tuple(WagerSeen(seat=seat, event=seen[seat]) for seat in sorted(seen))

    def after(self, lock: LockSeen, wagers: Iterable[WagerSeen], round_open: int) -> tuple[Late, ...]:
        """Chips already seen whose snapshot began with or after LOCK's: they came too late for ``wagers``."""
        taken = {wager.event for wager in wagers}
        return tuple(
            Late(seat, edge.event, *interval(lock, edge.after_ms, edge.by_ms))
            for seat, edge in _by_seat(self._now)
            if edge is not None
            and edge.round == round_open
            and edge.event not in taken
            and edge.began_ms >= lock.began_ms
        )


def interval(lock: LockSeen, after_ms: int, by_ms: int) -> tuple[int, int]:
    """``[ms_min, ms_max]`` from LOCK to an edge, from the two polls around each. Never negative."""
    return max(0, after_ms - lock.by_ms), max(0, by_ms - lock.after_ms)


def _by_seat(snapshot: Snapshot) -> Iterable[tuple[int, Edge | None]]:
    return enumerate(snapshot.edges, start=1)


def _counts(edge: Edge | None, round_open: int, marks: Mapping[str, DeviceMark]) -> bool:
    if edge is None or edge.round != round_open:
        return False
    mark = marks.get(edge.event.input)
    return mark is not None and mark.epoch == edge.event.epoch and edge.event.count > mark.count


def before_lock(lock: LockSeen | None, key: LockSeen) -> bool:
    """Whether a key, seen so, may have been pressed before this LOCK, for the round before it.

    What one pad tells after its LOCK was pressed after it, also where both came in one reply.
    """
    in_order = lock is not None and key.pad != "" and key.pad == lock.pad
    return lock is not None and key.after_ms < lock.by_ms and not in_order
