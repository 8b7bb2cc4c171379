"""Where things stand in a pay-table file: TOML keeps no lines, so the text is gone through a second time for them.

Only text that ``tomllib`` has read comes here, so nothing is checked again. Units: lines are counted from 1.
"""

from __future__ import annotations

import re
from typing import Final

from meterd.errors import ConfigError

#: Keys and indexes on the way to a value: ("paytable", 1, "rows", 3, "match").
Path = tuple[str | int, ...]

_SPACE: Final = re.compile(r"(?:\s|#[^\n]*)+")
_TEXT: Final = re.compile(r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\])*"|\'[^\']*\'', re.DOTALL)
_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR: Final = re.compile(r"[^,\]}\n#]*")

#: Most of a value or a word that a message repeats.
_SHOWN_MAX: Final = 60
_UNBROKEN: Final = re.compile(r"\S{100,}")


def shown(value: object) -> str:
    """A value as a message repeats it: a long one is cut."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}… ({len(text)} characters)"


class PaytableError(ConfigError):
    """A pay-table file that cannot be read. ``file``, ``line`` and ``key`` say where."""

    def __init__(self, file: str, line: int, key: str, message: str) -> None:
        message = _UNBROKEN.sub(lambda match: shown(match[0]), message)
        super().__init__(f"{file}:{line}: {shown(key)}: {message}")
        self.file = file
        self.line = line
        self.key = key


class Place:
    """One table of a file (``path``), for errors about its keys and about the records of its lists."""

    def __init__(self, filename: str, text: str, path: Path = ()) -> None:
        self.filename = filename
        self._text = text
        self._path = path

    def inside(self, *path: str | int) -> Place:
        """A place further in."""
        return Place(self.filename, self._text, (*self._path, *path))

    def error(self, key: str, message: str, number: int | None = None) -> PaytableError:
        """An error about a key. ``number``: of a row, or of the record of the list that the key names before a dot."""
        return PaytableError(self.filename, self._line(key, number), key, message)

    def _line(self, key: str, number: int | None) -> int:
        """Line of the key in the table or else in [shared], of what it would stand in, or of the table's head."""
        lines = lines_of(self._text)
        inside, _, name = key.rpartition(".")
        top = inside or (key if number is None else "rows")
        base = next((base for base in (self._path, ("shared",)) if (*base, top) in lines), None)
        if base is None:
            return lines.get(self._path, 1)
        record = (*base, top) if number is None else (*base, top, number)
        return lines.get((*record, name), lines.get(record, lines[*base, top]))


def lines_of(text: str) -> dict[Path, int]:
    """The line of every table, key and element of a document."""
    walk = _Walk(text)
    try:
        walk.document()
    except (RecursionError, IndexError):
        return walk.lines  # too deep to be gone through twice: what was found so far
    return walk.lines


class _Walk:
    """One pass through a document."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[Path, int] = {}
        self._arrays: dict[Path, int] = {}  # tables under [[…]]: the index of the newest

    def document(self) -> None:
        base: Path = ()
        while self._more():
            if self.text[self.at] == "[":
                base = self._head()
            else:
                self._pair(base)

    def _more(self) -> bool:
        """Whether something follows after spaces, newlines and comments."""
        space = _SPACE.match(self.text, self.at)
        self.at = space.end() if space else self.at
        return self.at < len(self.text)

    def _note(self, path: Path, at: int) -> None:
        self.lines.setdefault(path, self.text.count("\n", 0, at) + 1)

    def _head(self) -> Path:
        """``[table]`` or ``[[table]]``: the path that the pairs after it belong to."""
        start = self.at
        many = self.text.startswith("[[", start)
        self.at += 2 if many else 1
        names = self._names()
        self.at += 2 if many else 1
        path: Path = ()
        for place, name in enumerate(names, start=1):
            path = (*path, name)
            if many and place == len(names):
                self._note(path, start)
                self._arrays[path] = self._arrays.get(path, -1) + 1
            if path in self._arrays:
                path = (*path, self._arrays[path])
        self._note(path, start)
        return path

    def _names(self) -> list[str]:
        """``a.b."c"``, up to what is no part of a key."""
        names = []
        while True:
            self._more()
            text = _TEXT.match(self.text, self.at)
            bare = text or _KEY.match(self.text, self.at)
            names.append(bare[0].strip("\"'") if bare else "")
            self.at = bare.end() if bare else self.at + 1
            self._more()
            if self.at >= len(self.text) or self.text[self.at] != ".":
                return names
            self.at += 1

    def _pair(self, base: Path) -> None:
        """``key = value``."""
        start = self.at
        path = base
        for name in self._names():
            path = (*path, name)
            self._note(path, start)
        self.at += 1  # the equals sign
        self._value(path)

    def _value(self, path: Path) -> None:
        self._more()
        opening = self.text[self.at]
        if opening in "[{":
            self.at += 1
            self._inside(path, closing="]" if opening == "[" else "}")
        else:
            text = _TEXT.match(self.text, self.at) or _SCALAR.match(self.text, self.at)
            self.at = text.end() if text else self.at + 1

    def _inside(self, path: Path, closing: str) -> None:
        """The elements of a list, or the pairs of an inline table."""
        index = 0
        while self._more() and self.text[self.at] != closing:
            if self.text[self.at] == ",":
                self.at += 1
            elif closing == "]":
                self._note((*path, index), self.at)
                self._value((*path, index))
                index += 1
            else:
                self._pair(path)
        self.at += 1
