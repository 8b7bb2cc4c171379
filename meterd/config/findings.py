"""What is wrong with a file, so that a person can go and repair it: place, key, what was expected, the nearest name."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final, NamedTuple

from meterd.config.lines import KeyPath, key_lines
from meterd.errors import ConfigError

_PLACE: Final = re.compile(r"\(at line (\d+), column \d+\)$|\(at end of document\)$")
_TOO_LONG: Final = re.compile(r"[0-9_]{4300}")


class Finding(NamedTuple):
    """One thing to repair. ``key`` is the path, as in ``link[0].level[1].seed_cents``; ``nearest`` exists."""

    file: str
    line: int
    key: str
    message: str
    nearest: str | None = None

    def __str__(self) -> str:
        """``site.toml:12: link[0].wager_cents: … (did you mean …?)``."""
        place = f"{self.file}:{self.line}: {self.key}: " if self.key else f"{self.file}:{self.line}: "
        hint = f" (did you mean {self.nearest!r}?)" if self.nearest else ""
        return _on_one_line(f"{place}{self.message}{hint}")

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return self._asdict()


class SiteErrors(ConfigError):  # noqa: N818 - it holds many findings, and its name says so
    """A site file, profile or sign list that cannot be used: all findings at once, in order of their lines."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(sorted(findings, key=lambda finding: (finding.file, finding.line)))
        super().__init__("\n".join(str(finding) for finding in self.findings))


def _on_one_line(text: str) -> str:
    """``text`` with escapes for what would break the line or steer a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def nearest(name: object, known: Iterable[str]) -> str | None:
    """The known name most like ``name``, or None if none is near."""
    folded = {each.lower(): each for each in known}
    found = get_close_matches(str(name).lower(), list(folded), n=1, cutoff=0.6)
    return folded[found[0]] if found else None


def path_text(path: KeyPath) -> str:
    """A key path as a person writes it: ``link[0].level[1].seed_cents``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else (f".{part}" if text else part)
    return text


@dataclass(slots=True)
class Document:
    """A parsed file with the places of its keys. Findings and warnings are noted here.

    ``wrong``: values that have a finding of their own, which no cross check looks at any more.
    """

    file: str
    raw: Mapping[str, Any]
    lines: Mapping[KeyPath, int]
    findings: list[Finding] = field(default_factory=list)
    warnings: list[Finding] = field(default_factory=list)
    wrong: set[KeyPath] = field(default_factory=set)

    @classmethod
    def parse(cls, text: str, filename: str) -> Document:
        """Read TOML text. Raises :class:`SiteErrors` with the one syntax error and its line."""
        try:
            raw = tomllib.loads(text)
            lines = key_lines(text)
        except tomllib.TOMLDecodeError as error:
            message = str(error)
            place = _PLACE.search(message)
            line = int(place[1]) if place and place[1] else text.rstrip("\n").count("\n") + 1
            reason = _PLACE.sub("", message).strip()
            raise SiteErrors([Finding(filename, line, "", f"not valid TOML: {reason}")]) from error
        except RecursionError as error:
            raise SiteErrors([Finding(filename, 1, "", "not valid TOML: nested too deeply")]) from error
        except ValueError as error:  # no TOMLDecodeError: Python reads no whole number of more than 4300 digits
            digits = _TOO_LONG.search(text)
            line = text.count("\n", 0, digits.start()) + 1 if digits else 1
            raise SiteErrors([Finding(filename, line, "", "not valid TOML: a number has too many digits")]) from error
        return cls(filename, raw, lines)

    def root(self) -> Node:
        """The whole document."""
        return Node(self, (), self.raw)

    def line(self, path: KeyPath) -> int:
        """The line of a key, or of the nearest thing around it that stands in the file."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def finding(self, path: KeyPath, message: str, near: str | None = None) -> None:
        """Note something that must be repaired."""
        self.findings.append(Finding(self.file, self.line(path), path_text(path), message, near))

    def warning(self, path: KeyPath, message: str) -> None:
        """Note something that works but is not advised."""
        self.warnings.append(Finding(self.file, self.line(path), path_text(path), message))


@dataclass(frozen=True, slots=True)
class Node:
    """A table of the document, read without trust: a value of another type than asked for is None.

    The shapes report wrong types, values out of bounds and missing keys; the cross checks use this so that one wrong
    value in a table does not hide what else is wrong with it, and makes no second finding: what has one is None.
    """

    document: Document
    path: KeyPath
    raw: Mapping[str, Any]

    def value(self, key: str) -> Any:
        """Whatever stands there, unless it has a finding; or None."""
        return None if self.wrong(key) else self.raw.get(key)

    def wrong(self, key: str) -> bool:
        """Whether the key has a finding of its own: a wrong value, none at all, or a misspelt name."""
        return (*self.path, key) in self.document.wrong

    def has(self, key: str) -> bool:
        """Whether somebody wrote the key, be it wrong or misspelt."""
        return key in self.raw or self.wrong(key)

    def text(self, key: str) -> str | None:
        """A string, or None."""
        value = self.value(key)
        return value if isinstance(value, str) else None

    def number(self, key: str) -> int | None:
        """A whole number, or None."""
        value = self.value(key)
        return value if type(value) is int else None

    def texts(self, key: str) -> tuple[str | None, ...]:
        """An array of strings, None for each element that is none; empty where there is no array."""
        value = self.value(key)
        return tuple(each if isinstance(each, str) else None for each in value) if isinstance(value, list) else ()

    def node(self, key: str) -> Node | None:
        """A table, or None."""
        value = self.raw.get(key)
        return Node(self.document, (*self.path, key), value) if isinstance(value, dict) else None

    def nodes(self, key: str) -> Iterator[Node]:
        """The tables of an array."""
        value = self.raw.get(key)
        for index, each in enumerate(value if isinstance(value, list) else ()):
            if isinstance(each, dict):
                yield Node(self.document, (*self.path, key, index), each)

    def finding(self, key: str | tuple[str | int, ...], message: str, near: str | None = None) -> None:
        """Note something wrong with a key of this table (an empty tuple: with the table itself)."""
        self.document.finding(self._at(key), message, near)

    def warning(self, key: str | tuple[str | int, ...], message: str) -> None:
        """Note something not advised about a key of this table."""
        self.document.warning(self._at(key), message)

    def _at(self, key: str | tuple[str | int, ...]) -> KeyPath:
        return (*self.path, *((key,) if isinstance(key, str) else key))


def check_unique(nodes: list[Node], key: str, what: str) -> None:
    """Note every name that stands twice."""
    seen: dict[str, Node] = {}
    for node in nodes:
        name = node.text(key)
        if name is None:
            continue
        if name in seen:
            line = node.document.line((*seen[name].path, key))
            node.finding(key, f'{what} "{name}" stands in line {line} already')
        seen.setdefault(name, node)


def named(nodes: list[Node], key: str = "id") -> Mapping[str, Node]:
    """The nodes by name; the first of two that share one."""
    found: dict[str, Node] = {}
    for node in nodes:
        name = node.text(key)
        if name is not None:
            found.setdefault(name, node)
    return found


def all_named(nodes: Iterable[Node], key: str = "id") -> bool:
    """Whether each of these has a name. Where one has not, a reference that leads nowhere may be to that one."""
    return all(node.text(key) is not None for node in nodes)


def levels_of(root: Node) -> tuple[Mapping[str, Node], bool]:
    """All levels as ``link/level``, and whether there is none that lacks its name or that of its link."""
    links = list(root.nodes("link"))
    levels = [(link, level) for link in links for level in link.nodes("level")]
    found = {f"{link.text('id')}/{level.text('name')}": level for link, level in levels if all_named([link])}
    unnamed = not all_named(links) or not all_named([level for _, level in levels], "name")
    return {name: level for name, level in found.items() if all_named([level], "name")}, not unnamed


#: Kinds of buses. A bus of another kind has its own finding; whoever names it has none.
BUS_KINDS: Final = frozenset({"modbus", "alpha", "sas", "osdp", "hid"})


def check_bus_of(node: Node, bus: str | None, buses: Mapping[str, Node], kind: str | None) -> None:
    """The ``bus`` that ``node`` names exists and is of the ``kind`` it needs; None: nobody knows which."""
    if bus is None:
        return
    if bus not in buses:
        if all_named(node.document.root().nodes("bus")):
            node.finding("bus", f'there is no bus "{bus}"', nearest(bus, buses))
    elif kind is not None and buses[bus].text("kind") in BUS_KINDS - {kind}:
        node.finding("bus", f'bus "{bus}" is of kind "{buses[bus].text("kind")}": expected one of kind "{kind}"')
