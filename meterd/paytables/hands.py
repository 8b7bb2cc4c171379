"""Hand keys: a printed hand name as a short word for files, ledgers and keypads."""

from __future__ import annotations

import re
from typing import Final

_COUNT_WORDS: Final = {
    "2": "two",
    "3": "three",
    "4": "four",
    "5": "five",
    "6": "six",
    "7": "seven",
    "8": "eight",
    "9": "nine",
}
_DIGIT_OF_A_KIND: Final = re.compile(r"(?<![a-z0-9])([2-9])(?=-of-a-kind)")


def hand_key(printed: str) -> str:
    """Lower case, apostrophes dropped, every other run of non-alphanumerics one hyphen, ``4 of a Kind`` as ``four-of-a-kind``."""
    bare = re.sub(r"['’‘]", "", printed.lower())
    hyphenated = re.sub(r"[^a-z0-9]+", "-", bare).strip("-")
    return _DIGIT_OF_A_KIND.sub(lambda match: _COUNT_WORDS[match[1]], hyphenated)


def streak_key(length: int) -> str:
    """The key of a streak of this length."""
    return f"streak-{length}"
