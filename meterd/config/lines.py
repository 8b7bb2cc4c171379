"""Where each key of a TOML document stands: key path → line.

``tomllib`` gives values without places. This scanner gives places without values: it follows the grammar far enough to
know which key a line sets, and leaves every judgement on values to ``tomllib``, which must have accepted the text.
Lines count from 1. A path is a tuple of keys and, inside arrays, indices: ``("link", 0, "level", 1, "seed_cents")``.
"""

from __future__ import annotations

import re
import tomllib
from typing import Final

from meterd.errors import MisuseError

KeyPath = tuple[str | int, ...]

_BLANK: Final = re.compile(r"[ \t]*")
#: Blanks, line ends and comments: what may stand between statements and between the elements of an array.
_GAP: Final = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
_STRINGS: Final = (
    re.compile(r'"""(?:[^\\]|\\.)*?"{3,5}', re.DOTALL),
    re.compile(r"'''.*?'{3,5}", re.DOTALL),
    re.compile(r'"(?:[^"\\\n]|\\.)*"'),
    re.compile(r"'[^'\n]*'"),
)
#: A number, date or boolean ends where one of these begins.
_PLAIN: Final = re.compile(r"[^,\]}#\r\n]*")


def key_lines(text: str) -> dict[KeyPath, int]:
    """The line of every key path of a document that ``tomllib`` accepts (of others it may raise ``MisuseError``).

    A table's line is that of its header where it has one, else of the first key or header that names it.
    """
    return _Scanner(text).document()


class _Scanner:
    """One walk over the text. ``_at`` only ever moves forward, so the line is counted as it goes."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line = 1
        self._lines: dict[KeyPath, int] = {}
        #: Arrays of tables → index of their last table.
        self._last: dict[KeyPath, int] = {}

    def document(self) -> dict[KeyPath, int]:
        table: KeyPath = ()
        self._skip(_GAP)
        while self._at < len(self._text):
            if self._peek("["):
                table = self._header()
            else:
                self._assignment(table)
            self._skip(_GAP)
        return self._lines

    def _header(self) -> KeyPath:
        """``[a.b]`` or ``[[a.b]]``; returns the path of the table that the next assignments go to."""
        is_array = self._peek("[[")
        self._advance(2 if is_array else 1)
        keys = self._keys()
        self._skip(_BLANK)
        self._advance(2 if is_array else 1)
        path: KeyPath = ()
        for key, line in keys[:-1]:
            path = self._into((*path, key), line)
        key, line = keys[-1]
        path = (*path, key)
        if not is_array:
            self._lines[path] = line
            return path
        self._lines.setdefault(path, line)
        self._last[path] = self._last.get(path, -1) + 1
        path = (*path, self._last[path])
        self._lines[path] = line
        return path

    def _into(self, path: KeyPath, line: int) -> KeyPath:
        """Step into a table named on the way; for an array of tables, into its last one."""
        self._lines.setdefault(path, line)
        return (*path, self._last[path]) if path in self._last else path

    def _assignment(self, table: KeyPath) -> None:
        path = table
        for key, line in self._keys():
            path = (*path, key)
            self._lines.setdefault(path, line)
        self._skip(_BLANK)
        self._advance(1)  # the equals sign
        self._skip(_BLANK)
        self._value(path)

    def _keys(self) -> list[tuple[str, int]]:
        """A dotted key: its parts and their line (a key never spans lines)."""
        keys = []
        while True:
            self._skip(_BLANK)
            keys.append((self._key(), self._line))
            self._skip(_BLANK)
            if not self._peek("."):
                return keys
            self._advance(1)

    def _key(self) -> str:
        if self._peek('"') or self._peek("'"):
            quoted = self._string()
            value: str = tomllib.loads(f"key = {quoted}")["key"]
            return value
        return self._skip(_BARE_KEY)

    def _value(self, path: KeyPath) -> None:
        if self._peek("["):
            self._array(path)
        elif self._peek("{"):
            self._inline_table(path)
        elif self._peek('"') or self._peek("'"):
            self._string()
        elif not self._skip(_PLAIN):
            raise self._lost("expected a value")

    def _array(self, path: KeyPath) -> None:
        self._advance(1)
        index = 0
        self._skip(_GAP)
        while not self._peek("]"):
            self._lines[(*path, index)] = self._line
            self._value((*path, index))
            index += 1
            self._skip(_GAP)
            if self._peek(","):
                self._advance(1)
                self._skip(_GAP)
        self._advance(1)

    def _inline_table(self, path: KeyPath) -> None:
        self._advance(1)
        self._skip(_GAP)
        while not self._peek("}"):
            self._assignment(path)
            self._skip(_GAP)
            if self._peek(","):
                self._advance(1)
                self._skip(_GAP)
        self._advance(1)

    def _string(self) -> str:
        for pattern in _STRINGS:
            match = pattern.match(self._text, self._at)
            if match:
                self._advance(len(match.group()))
                return match.group()
        raise self._lost("a string that does not end")

    def _lost(self, reason: str) -> MisuseError:
        """The scanner and tomllib read the same text differently."""
        return MisuseError(f"line {self._line} of accepted TOML: {reason}")

    def _peek(self, text: str) -> bool:
        return self._text.startswith(text, self._at)

    def _skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._text, self._at)
        found = match.group() if match else ""
        self._advance(len(found))
        return found

    def _advance(self, characters: int) -> None:
        end = self._at + characters
        if end > len(self._text):
            raise self._lost("the text ends too early")
        self._line += self._text.count("\n", self._at, end)
        self._at = end
