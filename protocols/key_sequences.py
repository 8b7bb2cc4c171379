"""Keys that take one code or several: ``B 3`` is hand 3 on a pad of sixteen keys. Shared by all pads that send codes.

Rule 1: no key's codes begin with the whole of another key's, so a code that completes a key always does so at once.
Rule 2: a code that continues nothing drops what was begun and begins anew. It is never held back for later.
Rule 3: whoever pressed the first code of several and no more hears of it (:data:`~protocols.events.KEY_PART`): each
press of a finger is answered. Where the rest came in the same breath, the key itself is answer enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from protocols.events import KEY_LOST, KEY_PART


class KeySequences:
    """Codes in, key names out. One for each pad; :meth:`reset` where a pad comes or goes."""

    def __init__(self, keys: Mapping[str, Sequence[int]]) -> None:
        """``keys``: key name → its codes, in order.

        Raises:
            ValueError: a key without codes, or one that could never be told from another (rule 1).
        """
        self._names = {tuple(codes): name for name, codes in keys.items()}
        self._parts = {codes[:length] for codes in self._names for length in range(1, len(codes))}
        clash = ambiguous(keys)
        if clash is not None:
            raise ValueError(f"the codes of {clash[0]} begin those of {clash[1]}")
        self._begun: tuple[int, ...] = ()

    def reset(self) -> None:
        """Forget what was begun."""
        self._begun = ()

    def take(self, codes: Iterable[int]) -> tuple[str, ...]:
        """The keys that ``codes`` make, in order. A code that belongs to no key yields :data:`KEY_LOST`."""
        keys = [self._take(code) for code in codes]
        return tuple(key for key in keys[:-1] if key != KEY_PART) + tuple(keys[-1:])

    def _take(self, code: int) -> str:
        for codes in ((*self._begun, code), (code,)):
            if codes in self._names:
                self._begun = ()
                return self._names[codes]
            if codes in self._parts:
                self._begun = codes
                return KEY_PART
        self._begun = ()
        return KEY_LOST


def ambiguous(keys: Mapping[str, Sequence[int]]) -> tuple[str, str] | None:
    """Two keys of which one's codes begin the other's (equal ones included), or None."""
    listed = sorted((tuple(codes), name) for name, codes in keys.items())
    for (first, one), (second, other) in pairwise(listed):
        if second[: len(first)] == first:
            return one, other
    return None
