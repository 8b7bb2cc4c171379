"""The line scanner against tomllib, over documents made to be awkward."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meterd.config.lines import KeyPath, key_lines

PRINTABLE = st.characters(codec="utf-8", exclude_categories=("Cs", "Cc"))
AWKWARD = st.sampled_from(['"', "'", '"""', "'''", "#", "[", "]", "{", "}", "=", ",", ".", "\\", " ", "é", "a"])
CONTENT = st.lists(AWKWARD | PRINTABLE, max_size=8).map("".join)
SCALARS = st.sampled_from(
    ["0", "-17", "1_000", "0xFF", "3.5", "1e9", "inf", "true", "false", "1979-05-27", "07:32:00",
     "1979-05-27 07:32:00", "1979-05-27T07:32:00Z"]
)  # fmt: skip


def basic(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def spellings(key: str) -> list[str]:
    """All ways in which the writer below may spell a key."""
    ways = [basic(key), '"' + "".join(f"\\U{ord(c):08X}" for c in key) + '"']
    if re.fullmatch(r"[A-Za-z0-9_-]+", key):
        ways.append(key)
    if "'" not in key:
        ways.append(f"'{key}'")
    return ways


class Writer:
    """Writes one document; every key is new, so that a line cannot contain it by accident."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.lines: list[str] = []
        self.keys = 0

    def one(self, *choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def key(self) -> str:
        self.keys += 1
        key = f"{self.draw(CONTENT)}k{self.keys}k" if self.draw(st.booleans()) else f"k{self.keys}k"
        return str(self.one(*spellings(key)))

    def dotted(self, *parts: str) -> str:
        return str(self.one(".", " . ", ". ")).join(parts)

    def string(self) -> str:
        text = self.draw(CONTENT)
        lines = text + self.one("", "\n", "\n\n") + self.draw(CONTENT)
        style = self.one("basic", "literal", "many", "many-literal")
        if style == "literal" and "'" not in text:
            return f"'{text}'"
        if style == "many":
            escaped = lines.replace("\\", "\\\\").replace('"""', '""\\"')
            return f'"""{self.one("", chr(10))}{escaped}"""'
        if style == "many-literal" and "'" not in lines:
            return f"'''{lines}{self.one('', chr(39), chr(39) * 2)}'''"
        return basic(text)

    def value(self, depth: int) -> str:
        kind = self.one("scalar", "string", "array", "table") if depth else self.one("scalar", "string")
        if kind == "scalar":
            return str(self.draw(SCALARS))
        if kind == "string":
            return self.string()
        items = range(self.draw(st.integers(0, 3)))
        if kind == "table":
            inner = [f"{self.key()} = {self.value(depth - 1)}" for _ in items]
            return "{" + self.one("", " ") + ", ".join(inner) + self.one("", " ") + "}"
        gaps = [self.one("", " ", "\n", " # a ] comment\n", "\n\n\t") for _ in range(8)]
        text = "".join(f"{gaps[n]}{self.value(depth - 1)}{gaps[n + 3]}," for n in items)
        return f"[{text if items and self.one(True, False) else text.removesuffix(',')}{gaps[7]}]"

    def comment(self) -> str:
        return str(self.one("", "", " # [not.a.table] x = 1", "\t#"))

    def body(self, path: tuple[str, ...], depth: int) -> None:
        for _ in range(self.draw(st.integers(0, 3))):
            self.lines.append(self.one("", "  ", "# comment = 1"))
            key = self.dotted(*(self.key() for _ in range(self.draw(st.integers(1, 3)))))
            self.lines.append(f"{self.one('', '  ')}{key} = {self.value(2)}{self.comment()}")
        if not depth:
            return
        for _ in range(self.draw(st.integers(0, 2))):
            key = self.key()
            match self.one("table", "array", "implicit"):
                case "table":
                    self.lines.append(f"[{self.dotted(*path, key)}]{self.comment()}")
                    self.body((*path, key), depth - 1)
                case "array":
                    for _ in range(self.draw(st.integers(1, 3))):
                        self.lines.append(f"[[ {self.dotted(*path, key)} ]]{self.comment()}")
                        self.body((*path, key), depth - 1)
                case _:
                    inner = self.key()
                    self.lines.append(f"[{self.dotted(*path, key, inner)}]")
                    self.body((*path, key, inner), depth - 1)
                    if self.draw(st.booleans()):
                        self.lines.append(f" [{self.dotted(*path, key)}]")


@st.composite
def documents(draw: st.DrawFn) -> str:
    writer = Writer(draw)
    writer.body((), 2)
    ending = draw(st.sampled_from(["\n", "\r\n"]))
    return "\n".join(writer.lines).replace("\n", ending) + draw(st.sampled_from(["", ending]))


def paths(value: Any, path: KeyPath = ()) -> Iterator[KeyPath]:
    if path:
        yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from paths(inner, (*path, index))


@given(documents())
def test_every_key_path_of_tomllib_has_the_line_it_stands_in(text: str) -> None:
    """For any document, the paths found are exactly tomllib's, and each key stands in the line given for it."""
    wanted = set(paths(tomllib.loads(text)))
    lines = key_lines(text)
    assert wanted == set(lines)
    source = text.split("\n")
    for path, line in lines.items():
        key = path[-1]
        if isinstance(key, str):
            assert any(way in source[line - 1] for way in spellings(key)), (path, line)


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("a = 1\n[b]\nc = 2\n", ("b", "c"), 3),
        ("[[a]]\nx = 1\n[[a]]\nx = 2\n[a.b]\ny = 3\n", ("a", 1, "b", "y"), 6),
        ("[[a]]\n[[a.b]]\n[[a.b]]\n[[a]]\n[[a.b]]\nz = 1\n", ("a", 1, "b", 0, "z"), 6),
        ('a = """\n\nb = 1\n"""\nb = 2\n', ("b",), 5),
        ("a = [\n  1, # ]\n  2,\n]\n", ("a", 1), 3),
        ("s = { x = [\n{ y = 1 },\n{ y = 2 }] }\n", ("s", "x", 1, "y"), 3),
        ("[x.y]\n[x]\nz = 1\n", ("x",), 2),
        ('a = """x"""""\nb = 1', ("b",), 2),
    ],
)
def test_named_places(text: str, path: KeyPath, line: int) -> None:
    """The forms a site file uses, each with the line a person would point at."""
    assert line == key_lines(text)[path]
