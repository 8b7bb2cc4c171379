"""How the words of the scenario language are read: the shape of a form, the shape of a field, and the readers.

Rule 1: a reader takes one word and gives its value, or raises ValueError; it knows nothing of the page around it.
Units: amounts are written ``1.00`` and become cents; rates are written ``12.5%`` and become ppm.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from meterd.accounting.commands import Actor, Role
from meterd.money import parse_money
from meterd.paytables.hands import hand_key


class Form(NamedTuple):
    """One form of statement.

    ``pattern``: lower case stands for itself (``a|b`` for either), upper case is a field. ``(word FIELD)`` must and
    ``[word FIELD]`` may follow, in any order. ``says`` is the form's one-line meaning.
    """

    name: str
    pattern: str
    says: str


_ROLES: Final = {
    "sup-": Role.SUPERVISOR,
    "acc-": Role.ACCOUNTING,
    "adm-": Role.ADMINISTRATOR,
    "tech-": Role.TECHNICIAN,
}


def person(text: str) -> Actor:
    """A person by name; the prefix gives the role, a name without one is a dealer's."""
    if text != text.strip() or not text.isprintable():  # a blank nobody sees would make two people of one
        raise ValueError
    for prefix, role in _ROLES.items():
        if text.startswith(prefix) and len(text) > len(prefix):
            return Actor(text, role)
    if not re.fullmatch(r"[A-Za-z0-9@._-]+", text):
        raise ValueError
    return Actor(text, Role.DEALER)


def seat(text: str) -> int:
    """A seat number."""
    if not re.fullmatch(r"[1-9]\d?", text):
        raise ValueError
    return int(text)


def seats(text: str) -> tuple[int, ...]:
    """``"1-4 6"`` as seat numbers."""
    found: list[int] = []
    for part in text.split():
        first, dash, last = part.partition("-")
        low = seat(first)
        high = seat(last) if dash else low
        if high < low:
            raise ValueError
        found.extend(range(low, high + 1))
    if len(set(found)) != len(found) or not found:
        raise ValueError
    return tuple(found)


def hand(text: str) -> str:
    """A hand key; the digit form ``4-of-a-kind`` is the same as ``four-of-a-kind``."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", text):
        raise ValueError
    return hand_key(text)


def matching(expression: str) -> Callable[[str], str]:
    """A reader of words that match."""
    compiled = re.compile(expression)

    def check(text: str) -> str:
        if not compiled.fullmatch(text):
            raise ValueError
        return text

    return check


def whole(text: str) -> int:
    """A whole number, also below nothing."""
    if not re.fullmatch(r"-?\d+", text):
        raise ValueError
    return int(text)


def count(text: str) -> int:
    """A whole number from 1."""
    if not re.fullmatch(r"[1-9]\d{0,8}", text):
        raise ValueError
    return int(text)


def or_none(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """A reader that also takes the word none."""
    return lambda text: None if text == "none" else read(text)


def one_of(*words: str) -> Callable[[str], str]:
    """A reader of these words."""
    return matching("|".join(words))


_money_not_negative = matching(r"[0-9,.]+")


def amount(text: str) -> int:
    """An amount that is not negative, in cents."""
    return parse_money(_money_not_negative(text))


NAME: Final = r"[A-Za-z0-9][A-Za-z0-9_.-]*"
name = matching(NAME)


class Field(NamedTuple):
    """How one field is read, and the words for what was expected."""

    read: Callable[[str], Any]
    expected: str
