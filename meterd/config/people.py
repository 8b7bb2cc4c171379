"""People text → :class:`People`: who may act on a floor, in which role, and what proves each of them.

Rule 1: two ids that differ only in the case of letters are one person, and one person stands once.
Rule 2: a PIN stands here as an argon2id hash only. No finding repeats what stands in its place.
Rule 3: a badge is ``BITS:HEX``: how many bits the card has, then its bytes as they are read, eight bits to two digits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from meterd.accounting.commands import SYSTEM, Actor, Role
from meterd.config.explain import check_shape
from meterd.config.findings import Document, Finding, Node, SiteErrors
from meterd.config.shapes import Name, Shape
from meterd.errors import MisuseError

#: What argon2 may be asked for by a line of this file: a sign-in must stay a sign-in. KiB, passes, lanes.
MEMORY_KIB_MAX: Final = 1 << 20
PASSES_MAX: Final = 64
LANES_MAX: Final = 16

BADGE_BITS_MAX: Final = 512
MAKE_ONE: Final = "make one with `meterd person pin`"

_HASH: Final = re.compile(
    r"\$argon2id\$v=19\$m=([1-9]\d{0,7}),t=([1-9]\d{0,3}),p=([1-9]\d?)"
    r"\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{22,86}"
)
_BADGE: Final = re.compile(r"([1-9]\d{0,2}):((?:[0-9A-F]{2})+)")


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who may act. ``badge`` and ``pin_hash`` prove who it is, on a keypad and everywhere else."""

    id: str
    role: Role
    badge: str | None = None
    pin_hash: str | None = field(default=None, repr=False)

    @property
    def actor(self) -> Actor:
        """The person as the rules and the ledger know it."""
        return Actor(self.id, self.role)


@dataclass(frozen=True, slots=True)
class People:
    """All people of a floor, by id in the order of the file. ``warnings``: what works but is not advised."""

    persons: tuple[Person, ...] = ()
    warnings: tuple[Finding, ...] = ()
    _by_id: Mapping[str, Person] = field(init=False, repr=False, compare=False)
    _by_badge: Mapping[str, Person] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Index the people once."""
        object.__setattr__(self, "_by_id", {folded(person.id): person for person in self.persons})
        object.__setattr__(
            self, "_by_badge", {person.badge: person for person in self.persons if person.badge is not None}
        )

    def by_id(self, person_id: str) -> Person | None:
        """The person of this id, whatever the case of its letters; None where there is none."""
        return self._by_id.get(folded(person_id))

    def by_badge(self, badge: str) -> Person | None:
        """The person who holds this badge (``BITS:HEX``); None where nobody does."""
        return self._by_badge.get(badge.upper())


NOBODY: Final = People()


def folded(person_id: str) -> str:
    """What two ids of one person have in common."""
    return person_id.strip().casefold()


class PersonShape(Shape):
    """``[[person]]``: one person."""

    id: Name
    role: Annotated[
        Literal["dealer", "supervisor", "technician", "accounting", "administrator", "regulator"],
        Field(description='"dealer", "supervisor", "technician", "accounting", "administrator" or "regulator"'),
    ]
    badge: Annotated[
        str | None, Field(description='a badge such as "26:0123ABC0": its bits, then its bytes in hex digits')
    ] = None
    pin_hash: Any = None  # looked at by hand, for no finding may show what stands here
    pin: Any = None


class PeopleFile(Shape):
    """A people file."""

    person: Annotated[tuple[PersonShape, ...], Field(min_length=1, strict=False, description="at least one [[person]]")]


def load_people(text: str, filename: str) -> People:
    """The people of a floor from the text of their file.

    Raises:
        SiteErrors: the one syntax error, or else everything that is wrong, in order of lines.
    """
    document = Document.parse(text, filename)
    shape = check_shape(document, PeopleFile)
    persons = list(document.root().nodes("person"))
    _check_ids(persons)
    _check_badges(persons)
    for node in persons:
        _check_pin(node)
    if document.findings:
        raise SiteErrors(document.findings)
    if shape is None:
        raise MisuseError("a shape error without a finding")
    return People(
        tuple(
            Person(each.id, Role(each.role), each.badge.upper() if each.badge is not None else None, each.pin_hash)
            for each in shape.person
        ),
        tuple(document.warnings),
    )


def _check_ids(persons: list[Node]) -> None:
    """Note every id that is another person's, or the daemon's own."""
    seen: dict[str, Node] = {}
    for node in persons:
        name = node.text("id")
        if name is None:
            continue
        key = folded(name)
        if key == SYSTEM.id:
            node.finding("id", f'"{name}" is how the daemon signs: give the person another id')
        elif key in seen:
            line = node.document.line((*seen[key].path, "id"))
            other = seen[key].text("id")
            same = "stands" if other == name else f'is the same person as "{other}", which stands'
            node.finding("id", f'person "{name}" {same} in line {line} already')
        seen.setdefault(key, node)


def _check_badges(persons: list[Node]) -> None:
    """Note every badge that is none, or that somebody else holds."""
    seen: dict[str, Node] = {}
    for node in persons:
        badge = node.text("badge")
        if badge is None:
            continue
        wrong = badge_problem(badge)
        if wrong is not None:
            node.finding("badge", wrong)
        elif badge.upper() in seen:
            other = seen[badge.upper()]
            line = node.document.line((*other.path, "badge"))
            node.finding("badge", f'"{other.text("id")}" holds this badge already, in line {line}')
        else:
            seen[badge.upper()] = node


def badge_problem(badge: str) -> str | None:
    """Why a text is no badge, or None."""
    match = _BADGE.fullmatch(badge.upper())
    if match is None:
        return 'expected a badge such as "26:0123ABC0": its bits, a colon, its bytes in hex digits'
    bits, digits = int(match[1]), len(match[2])
    if bits > BADGE_BITS_MAX:
        return f"a badge has {BADGE_BITS_MAX} bits at most, not {bits}"
    wanted = 2 * ((bits + 7) // 8)
    return None if digits == wanted else f"{bits} bits are {wanted} hex digits, there are {digits}"


def pin_hash_problem(value: object) -> str | None:
    """Why a value is no PIN hash of ours, or None. Never repeats the value: it may be somebody's PIN."""
    match = _HASH.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return f"expected an argon2id hash; a PIN as it is typed never stands in a file: {MAKE_ONE}"
    memory, passes, lanes = (int(each) for each in match.groups())
    if memory > MEMORY_KIB_MAX or passes > PASSES_MAX or lanes > LANES_MAX or memory < 8 * lanes:
        return (
            f"argon2 may use {MEMORY_KIB_MAX} KiB, {PASSES_MAX} passes and {LANES_MAX} lanes at most,"
            f" and 8 KiB for each lane at least: {MAKE_ONE}"
        )
    return None


def _check_pin(node: Node) -> None:
    """Note a PIN in clear, or a person whom nothing proves."""
    if "pin" in node.raw:
        node.finding("pin", f"a PIN as it is typed never stands in a file: {MAKE_ONE} and write pin_hash")
    if "pin_hash" in node.raw:
        wrong = pin_hash_problem(node.raw["pin_hash"])
        if wrong is not None:
            node.finding("pin_hash", wrong)
    elif "badge" not in node.raw and "pin" not in node.raw:
        node.warning((), "neither a badge nor a PIN: nothing can prove that it is this person")
