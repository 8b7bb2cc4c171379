"""Which presses count: the keys of one snapshot, the presses of a pad with its own numbering, and bounces.

Rule 1: two different keys in one snapshot have no order; nothing is taken, the line is cleared, the pad says so. One
key twice in a snapshot is one press that bounced, unless it is a digit: 3 3 has only one order.
Rule 2: a pad that tells its keys one by one has given them an order, however close they come, also where several come
in one reply. A press that was lost on its way clears the line, for what stands there may lack it.
Rule 3: one finger, one act. The same key again so soon that no finger can have been lifted in between is a bounce, and
LOCK or END GAME again within a second is a key held down, on a pad that repeats by itself: each prolongs the one
before, and so does a press that was lost, for it may have been the same. Let go for a second, the key is heard again.
Rule 4: times come in events; nothing here asks a clock.
Units: ``*_ms`` milliseconds of the one monotonic clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from meterd.accounting.commands import Event
from meterd.accounting.state import DeviceMark
from meterd.floor.transitions import Signal
from protocols import pad_words
from protocols.events import KEY_LOST, KEY_PART

#: No finger presses one key twice within this.
BOUNCE_MS: Final = 50
#: LOCK and END GAME: a second press within this is the first one held. Keyboards repeat 10 to 30 times a second after
#: a quarter to a whole second.
HELD_MS: Final = 1_000

SIGNALS: Final[Mapping[str, Signal]] = {
    **dict.fromkeys(pad_words.DIGITS, Signal.DIGIT),
    **dict.fromkeys(pad_words.HANDS, Signal.HAND),
    pad_words.KEY_LOCK: Signal.LOCK_KEY,
    pad_words.KEY_ENTER: Signal.ENTER,
    pad_words.KEY_CLEAR: Signal.CLEAR,
    pad_words.KEY_FOLD: Signal.FOLD,
    pad_words.KEY_JOIN: Signal.JOIN,
    pad_words.KEY_VOID_SEAT: Signal.VOID_SEAT,
    pad_words.KEY_VOID_ROUND: Signal.VOID_ROUND,
    pad_words.KEY_COUNT_MISMATCH: Signal.COUNT_MISMATCH,
    pad_words.KEY_SUPERVISOR: Signal.SUPERVISOR,
    pad_words.KEY_END_GAME: Signal.END_GAME_KEY,
    pad_words.KEY_HOLD: Signal.HOLD,
    pad_words.KEY_SPLIT: Signal.SPLIT,
    pad_words.KEY_BOARD: Signal.BOARD,
    KEY_PART: Signal.PART,
    KEY_LOST: Signal.TOO_FAST,
}
_HELD: Final = frozenset({Signal.LOCK_KEY, Signal.END_GAME_KEY})
#: What repeats without being one press: digits, and what is no key.
_EACH_COUNTS: Final = frozenset({Signal.DIGIT, Signal.PART, Signal.TOO_FAST})


class Press(NamedTuple):
    """A key that was pressed: its meaning, the number on it (0 where it has none), and the index of its input."""

    signal: Signal
    number: int
    input: int = 0


def presses(keys: Mapping[str, int], moved: Mapping[int, int]) -> tuple[Press, ...]:
    """The keys of one snapshot, by rule 1.

    Args:
        keys: key name → index of its input.
        moved: index of an input → how often its counter moved.
    """
    pressed = [(name, index, moved[index]) for name, index in keys.items() if index in moved and name in SIGNALS]
    if not pressed:
        return ()
    name, index, times = pressed[0]
    if len(pressed) > 1:
        return (Press(Signal.TOO_FAST, 0, index),)
    return (_press(name, index),) * (times if SIGNALS[name] is Signal.DIGIT else 1)


def pressed(name: str) -> Press | None:
    """A key that came by name; None for a name that no key has."""
    return _press(name, 0) if name in SIGNALS else None


def _press(name: str, index: int) -> Press:
    signal = SIGNALS[name]
    number = int(name.rpartition("-")[2]) if signal in {Signal.DIGIT, Signal.HAND} else 0
    return Press(signal, number, index)


class Repeats:
    """Rule 3, for the keys of one pad."""

    def __init__(self) -> None:
        """Begin with no key pressed."""
        self._last: Press | None = None
        self._at_ms = 0

    def again(self, press: Press, at_ms: int) -> bool:
        """Whether a press is none: the last one, bouncing or held. Each one prolongs what it repeats."""
        if press.signal is Signal.TOO_FAST and self._last is not None and self._last.signal in _HELD:
            self._at_ms = at_ms
            return False
        within_ms = HELD_MS if press.signal in _HELD else BOUNCE_MS
        same = press == self._last and press.signal not in _EACH_COUNTS and at_ms - self._at_ms <= within_ms
        self._last, self._at_ms = press, at_ms
        return same

    def forget(self) -> None:
        """Something else happened at the table: the same key now means something new."""
        self._last = None


class PadNumbers:
    """The numbering of one pad's presses since it came up, as identities. Silent until :meth:`trust`."""

    def __init__(self, device: str) -> None:
        """Begin at 0: what was pressed before is nothing."""
        self.device = device
        self.trusted = False
        self.modulus = 1  # no counter goes on from one life of a pad to the next, so none can have moved meanwhile
        self._epoch = 0
        self._count = 0

    @property
    def name(self) -> str:
        """The name of the one input that all keys and cards of a pad are counted on: ``keys-1/5/key``."""
        return f"{self.device}/key"

    def baseline(self) -> dict[str, int]:
        """What trust begins with."""
        return {self.name: 0}

    def trust(self, marks: Mapping[str, DeviceMark]) -> None:
        """The book has taken the baseline: its mark holds the epoch."""
        self._epoch, self._count = marks[self.name]
        self.trusted = True

    def heard(self, marks: Mapping[str, DeviceMark]) -> dict[str, int]:
        """The count that was heard, where it stands above the book's mark."""
        above = self.trusted and self._count > marks[self.name].count
        return {self.name: self._count} if above else {}

    def take(self, count: int) -> int:
        """Go on to a press: 0 where it was taken before, 1 for the next one, more where others were lost before it."""
        steps = max(0, count - self._count)
        self._count += steps
        return steps

    def event(self) -> Event:
        """The identity of the press taken last."""
        return Event(self.name, self._epoch, self._count)
