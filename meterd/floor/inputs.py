"""The inputs of one module: levels, and counters unwrapped from the baseline of the epoch.

Rule 1: an input's identity is ``device/diN``, the epoch of trust and the unwrapped count; it never comes twice.
Rule 2: nothing that moved before the baseline is an event.
Rule 3: a counter that went back, or moved further than anybody can press, means another life of the module: it must be
trusted again before it says anything.
Units: counts of presses; ``*_ms`` of the one monotonic clock of the readings.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from meterd.accounting.commands import Event
from meterd.accounting.state import DeviceMark
from meterd.config import Profile
from protocols.events import Reading

#: More presses of one input than this between two readings is no finger: counters are read at least once a second.
#: A 16-bit counter that fell to 0 shows as a move of 65,536 less its value, so a fall from below 65,281 is seen here.
MOVES_MAX: Final = 255


class Moves(NamedTuple):
    """What changed from one reading to the next.

    ``moved`` maps the index of an input to how often its counter moved; ``rose`` holds the inputs whose level went on.
    ``broken`` is True where a counter cannot be the continuation of the last reading.
    """

    moved: Mapping[int, int]
    rose: frozenset[int]
    broken: bool


class Inputs:
    """Levels and counts of one module since its baseline. Silent until :meth:`trust`."""

    def __init__(self, device: str, profile: Profile, modulus: int, baseline: Reading) -> None:
        self.device = device
        self.size = profile.inputs.count
        self.trusted = False
        self._counted = profile.counters is not None
        self.modulus = modulus if self._counted and modulus > 1 else 1
        self._raw = self._raw_counts(baseline)
        self._levels = self._levels_of(baseline)
        self._counts = [0] * self.size
        self._epochs = [0] * self.size

    def name(self, index: int) -> str:
        """The name of an input, for example ``pit-1/40/di3``."""
        return f"{self.device}/di{index}"

    def level(self, index: int) -> bool:
        """Whether the input was active in the last reading."""
        return index < self.size and self._levels[index]

    def baseline(self) -> dict[str, int]:
        """The raw counters by input name: what trust begins with."""
        return {self.name(index): raw for index, raw in enumerate(self._raw)}

    def trust(self, marks: Mapping[str, DeviceMark]) -> None:
        """The book has taken the baseline: its marks hold the epoch and where counting begins."""
        for index in range(self.size):
            mark = marks[self.name(index)]
            self._epochs[index] = mark.epoch
            self._counts[index] = mark.count
        self.trusted = True

    def heard(self, marks: Mapping[str, DeviceMark]) -> dict[str, int]:
        """Counts that were heard and stand above the book's marks: presses and chips that led to no entry."""
        names = [self.name(index) for index in range(self.size)] if self.trusted else []
        return {name: self._counts[i] for i, name in enumerate(names) if self._counts[i] > marks[name].count}

    def event(self, index: int) -> Event:
        """The identity of the last press or edge of an input."""
        return Event(self.name(index), self._epochs[index], self._counts[index])

    def take(self, reading: Reading) -> Moves:
        """Go on to the next reading and say what changed. On ``broken`` nothing was taken."""
        levels = self._levels_of(reading)
        rose = frozenset(i for i in range(self.size) if levels[i] and not self._levels[i])
        if self._counted:
            raw = self._raw_counts(reading)
            steps = [(now - last) % self.modulus for now, last in zip(raw, self._raw, strict=True)]
            if max(steps, default=0) > min(MOVES_MAX, self.modulus // 2):
                return Moves({}, frozenset(), broken=True)
            self._raw = raw
        else:
            steps = [int(index in rose) for index in range(self.size)]
        self._levels = levels
        for index, step in enumerate(steps):
            self._counts[index] += step
        return Moves({index: step for index, step in enumerate(steps) if step}, rose, broken=False)

    def _levels_of(self, reading: Reading) -> list[bool]:
        return [index < len(reading.levels) and reading.levels[index] for index in range(self.size)]

    def _raw_counts(self, reading: Reading) -> list[int]:
        if not self._counted:
            return [0] * self.size
        known = len(reading.counts)
        return [reading.counts[index] % self.modulus if index < known else 0 for index in range(self.size)]
