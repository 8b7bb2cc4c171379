"""Hand keys: a printed hand name as a short word for files, ledgers and keypads."""

from __future__ import annotations

import re
from typing import Final

_COUNT_WORDS: Final = dict(zip("2345678", ("two", "three", "four", "five", "six", "seven", "eight"), strict=True))
_DIGIT_OF_A_KIND: Final = re.compile(r"(?<![a-z0-9])([2-8])(?=-of-a-kind)")


def hand_key(printed: str) -> str:
    """Lower case, no apostrophes, other signs and spaces one hyphen; ``4 of a Kind`` is ``four-of-a-kind``."""
    bare = re.sub(r"['’‘]", "", printed.lower())
    hyphenated = re.sub(r"[^a-z0-9]+", "-", bare).strip("-")
    return _DIGIT_OF_A_KIND.sub(lambda match: _COUNT_WORDS[match[1]], hyphenated)


def streak_key(length: int) -> str:
    """The key of a streak of this length."""
    return f"streak-{length}"
