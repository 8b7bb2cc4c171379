"""Long replies through a bad cable: after garbled ones the counters of a module are read in pieces.

A reply counts only if each of its bytes arrived, so a long one seldom does where a short one often does.
Rule 1: garbled replies in a row halve the pieces, then quarter them. Three are enough where the pieces are still long.
Of a short exchange most is heads and checks, so below sixteen registers cutting saves nothing where bytes are hit by
chance, but does where long replies never arrive: it takes eight, and ends at eight registers.
Rule 2: a stretch of good replies joins them again. Where that was too early, three garbled ones take it back, and the
next stretch must be twice as long.
Rule 3: a piece is made of whole counters. The two registers of a wide one are never read apart.
Rule 4: pieces tell together what one reply would have told. Where one of them shows a press, those read before it are
read once more. So of two presses the later is never told first: both are told together, or in their order.

Nothing here waits or touches a port. Units: ``*_s`` seconds of the monotonic clock; places and counts are in counters.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

GARBLED_IN_A_ROW: Final = 3
SHORT_WORDS: Final = 16
GARBLED_IN_A_ROW_SHORT: Final = 8
LEAST_WORDS: Final = 8
STRETCH: Final = 4
STRETCH_MAX: Final = 128  # a cable that bends every long reply is tried again with one every few seconds


class Piece(NamedTuple):
    """Counters read by one request: the place of the first among those that are read, and how many."""

    first: int
    size: int


class Pieces:
    """What is still to be read until all counters of a module were read, and in pieces of which size."""

    def __init__(self, counters: int, words_each: int) -> None:
        """So many counters of so many registers each, read whole until replies are garbled."""
        self.parts = 1
        self._counters = counters
        self._words_each = words_each
        self._garbled = self._good = 0
        self._stretch = STRETCH
        self._joined = False
        self._known: dict[int, tuple[int, ...]] = {}
        self._held: dict[int, tuple[int, ...]] = {}
        self._moved: set[int] = set()
        self._times: dict[int, tuple[float, float]] = {}
        self._heard_s: dict[int, float] = {}

    # ---- what to read

    def next(self) -> Piece:
        """The first piece of which something is missing."""
        bounds = [self._counters * part // self.parts for part in range(self.parts + 1)]
        pieces = [Piece(low, high - low) for low, high in pairwise(bounds)]
        return next(p for p in pieces if any(i not in self._held for i in range(p.first, p.first + p.size)))

    def wider(self, piece: Piece) -> Piece:
        """The piece and a neighbour of it; as it is where it is everything."""
        first = max(0, piece.first - 1)
        return Piece(first, min(self._counters - first, piece.size + 1))

    def drop(self) -> None:
        """Begin this reading anew."""
        self._held.clear()
        self._times.clear()
        self._moved.clear()

    def forget(self) -> None:
        """The module is not trusted any more. What is known of its cable stays."""
        self.drop()
        self._known.clear()
        self._heard_s.clear()

    # ---- what came

    def took(self, piece: Piece, registers: Sequence[int], began_s: float, ended_s: float) -> float:
        """A good reply for ``piece``. Returns how long, at the most, one of its counters had not been heard."""
        words_each = self._words_each
        places = range(piece.first, piece.first + piece.size)
        fresh = {place: tuple(registers[n * words_each : (n + 1) * words_each]) for n, place in enumerate(places)}
        moved = {place for place, words in fresh.items() if self._known and words != self._known[place]} - self._moved
        if moved:
            self._held.clear()
            self._times.clear()
            self._moved |= moved
        self._held.update(fresh)
        self._times.update(dict.fromkeys(places, (began_s, ended_s)))
        unheard_s = max(ended_s - self._heard_s.get(place, ended_s) for place in places)
        self._heard_s.update(dict.fromkeys(places, ended_s))
        self._went_well()
        return unheard_s

    @property
    def whole(self) -> bool:
        """Whether every counter of this reading is there."""
        return len(self._held) == self._counters

    def take(self) -> tuple[tuple[int, ...], float, float, bool]:
        """The registers of a whole reading, when its first request left, when its last reply was there; if only one.

        Begins the next reading.
        """
        registers = tuple(word for place in range(self._counters) for word in self._held[place])
        began_s = min(began for began, _ in self._times.values())
        ended_s = max(ended for _, ended in self._times.values())
        in_one = len(set(self._times.values())) == 1
        self._known = dict(self._held)
        self.drop()
        return registers, began_s, ended_s, in_one

    # ---- the size

    def garbled(self) -> None:
        """Something of a reply came, and not all of it as it was sent."""
        self._good = 0
        self._garbled += 1
        words = self._counters * self._words_each // (2 * self.parts)
        enough = GARBLED_IN_A_ROW if words >= SHORT_WORDS or self._joined else GARBLED_IN_A_ROW_SHORT
        if words < LEAST_WORDS or self._garbled < enough:
            return
        self.parts *= 2
        self._garbled = 0
        if self._joined:
            self._stretch = min(STRETCH_MAX, 2 * self._stretch)
            self._joined = False

    def _went_well(self) -> None:
        self._garbled = 0
        self._good += 1
        if self.parts == 1:
            if self._good >= STRETCH_MAX:
                self._stretch, self._joined = STRETCH, False
        elif self._good >= self._stretch:
            self.parts //= 2
            self._good = 0
            self._joined = True
