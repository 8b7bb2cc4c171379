"""Badges held to a pad: who signs the act that is keyed next, alone or with a second person.

Rule 1: a badge speaks for its holder's next act on that pad, and for a short time only. The act uses it up, taken or
refused, unless all that was missing is a second person.
Rule 2: times come in events. A badge whose time is over is found out by the press that comes too late, and that press
is not taken.
Rule 3: two badges are two persons: the first one signs, the other is the second person. A third takes the second's
place. The same badge again is the same person, with new time.
Rule 4: what the holder may do is the rules' answer, from the role; nothing here decides it.
Units: ``*_ms`` milliseconds of the one monotonic clock.
"""

from __future__ import annotations

from typing import Final

from meterd.accounting.commands import Actor
from meterd.config import NOBODY, People, Person

#: Persons that one act can name.
PERSONS_MAX: Final = 2


class Badges:
    """The badges that count on one pad."""

    def __init__(self, people: People = NOBODY, lasts_ms: int = 15_000) -> None:
        """``lasts_ms``: how long a badge speaks after it was read."""
        self._people = people
        self._lasts_ms = lasts_ms
        self._read: list[tuple[Person, int]] = []

    def read(self, badge: str, at_ms: int) -> bool:
        """A card was held to the pad. False: nobody on this floor holds it."""
        person = self._people.by_badge(badge)
        if person is None:
            return False
        self._expire(at_ms)
        known = [n for n, (other, _) in enumerate(self._read) if other.id == person.id]
        if known:
            self._read[known[0]] = (person, at_ms)
        else:
            self._read = [*self._read[: PERSONS_MAX - 1], (person, at_ms)]
        return True

    def actors(self, at_ms: int) -> tuple[Actor, ...]:
        """Who signs an act keyed at this moment: the first, then the second; empty where no badge counts."""
        self._expire(at_ms)
        return tuple(person.actor for person, _ in self._read)

    @property
    def names(self) -> str:
        """Who was read and has not been dropped, for the pad: ``S-ANN+S-BOB``."""
        return "+".join(person.id.upper() for person, _ in self._read)

    def drop(self) -> None:
        """An act used them up, or nobody is there any more."""
        self._read = []

    def _expire(self, at_ms: int) -> None:
        self._read = [(person, read_ms) for person, read_ms in self._read if at_ms - read_ms <= self._lasts_ms]
