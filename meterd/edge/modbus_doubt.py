"""What a module says on a line that garbles: nothing new is believed until a second read agrees.

Of garbled replies one in 65,536 has the right checksum by chance. Where replies are garbled all day long, such a one
comes, and would show a chip, a key or a restart that never was.
Rule 1: on a noisy line a reply that shows anything new is put aside as if it had been garbled; the module is asked
again at once, and the read that agrees is the one that counts. So nothing is told earlier than it was said twice.
Rule 2: a counter may have gone on a little between the two reads. It agrees all the same.
Rule 3: on a line that is well everything is believed at once; nobody is asked twice.

Nothing here waits or touches a port. Places are bits, counters or registers of one module.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

#: Presses of one key between two reads that follow each other.
STEPS_MAX: Final = 8


class Doubt:
    """What was believed of each place, and what was said of it once."""

    def __init__(self, modulus: int = 0) -> None:
        """``modulus``: where counters wrap; 0: these are no counters and agree only where they are the same."""
        self._modulus = modulus
        self._believed: dict[int, int] = {}
        self._said: dict[int, int] = {}
        self.unconfirmed = 0  # replies that the next read of the same places did not repeat

    def forget(self) -> None:
        """The module is not trusted any more: whatever it says first is new."""
        self._believed.clear()
        self._said.clear()

    def believes(self, fresh: Mapping[int, int], *, noisy: bool) -> bool:
        """Whether a reply counts. One that does not is remembered, for the next to agree with."""
        repeated = {place for place, value in fresh.items() if self._agrees(place, value)}
        self.unconfirmed += any(place in self._said and place not in repeated for place in fresh)
        new = {place: value for place, value in fresh.items() if noisy and value != self._believed.get(place)}
        for place in fresh:
            self._said.pop(place, None)
        if new.keys() - repeated:
            self._said.update(new)
            return False
        self._believed.update(fresh)
        return True

    def _agrees(self, place: int, value: int) -> bool:
        """Whether this was said before, or goes on a little from what was."""
        said, believed = self._said.get(place), self._believed.get(place)
        if said is None or value == said:
            return said is not None
        if not self._modulus or believed is None:
            return False
        return all(0 < step % self._modulus <= STEPS_MAX for step in (said - believed, value - said))
