"""Reads a page of the scenario language: one statement a line, by the table of forms. No rule of money lives here.

Rule 1: a line is either a statement or a finding that names the line, what was expected and the nearest known word.
Rule 2: all findings of a page are reported at once; a page with one finding is not played.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final, NamedTuple

from meterd.app.scenario_forms import FIELDS, FORMS, choices
from meterd.app.scenario_words import Form
from meterd.errors import MeterdError


class Finding(NamedTuple):
    """One line of a page that is no statement."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        """``file:line: message``."""
        return f"{self.file}:{self.line}: {self.message}"


class PageError(MeterdError):
    """A page that cannot be played as written. ``findings`` name every line at fault."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        super().__init__("\n".join(str(finding) for finding in findings))
        self.findings = tuple(findings)


@dataclass(frozen=True, slots=True)
class Statement:
    """One line of a page: the name of its form and the values written in it."""

    file: str
    line: int
    text: str
    name: str
    values: Mapping[str, Any]

    def __getitem__(self, key: str) -> Any:
        """The value of a field that the form requires."""
        return self.values[key]

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a field that may be left out."""
        return self.values.get(key, default)


_TOKEN: Final = re.compile(
    r'\s*(?:(?P<comment>#.*)|"(?P<quoted>[^"]*)"(?=\s|$)|(?P<word>[^\s"]+)(?=\s|$)|(?P<bad>\S.*))'
)
_WORD_MAX: Final = 40  # of a word that may be meant; comparing takes the square of its length
_LINE_END: Final = re.compile(r"\r\n|\r|\n")  # as editors count lines; a form feed or U+2028 ends none
_GROUP: Final = re.compile(r"([\[(])(\S+) (\S+)[\])]")


class _Miss(Exception):  # noqa: N818 - it never leaves this module
    """A form did not match: after how many words, what stood there, what was expected."""

    def __init__(self, matched: int, found: str | None, expected: str, known: Sequence[str] = ()) -> None:
        super().__init__(expected)
        self.matched, self.found, self.expected, self.known = matched, found, expected, known


class _Shape(NamedTuple):
    """A form taken apart: the words and fields in their order, then the groups in any order."""

    fixed: tuple[str, ...]
    groups: Mapping[str, str]
    required: tuple[str, ...]


def _shape(form: Form) -> _Shape:
    groups = {word: name for _, word, name in _GROUP.findall(form.pattern)}
    required = tuple(word for bracket, word, _ in _GROUP.findall(form.pattern) if bracket == "(")
    return _Shape(tuple(_GROUP.sub("", form.pattern).split()), groups, required)


_SHAPES: Final = tuple((form, _shape(form)) for form in FORMS)
VERBS: Final = tuple(dict.fromkeys(shape.fixed[0] for _, shape in _SHAPES))


def _read(name: str, text: str, at: int) -> Any:
    field = FIELDS[name]
    try:
        return field.read(text)
    except ValueError as cause:
        said = str(cause) if name.startswith(("AMOUNT", "MONEY", "RATE")) else ""
        raise _Miss(at, said or f"found {text!r}", field.expected, known=choices(name)) from None


def _fixed(words: Sequence[str], shape: _Shape) -> tuple[dict[str, Any], int]:
    """Match the words and fields that come first and in order."""
    values: dict[str, Any] = {}
    at = 0
    for part in shape.fixed:
        if at >= len(words):
            raise _Miss(at, None, FIELDS[part].expected if part in FIELDS else part)
        if part == "SEATS":
            stop = at
            while stop < len(words) and re.fullmatch(r"\d[\d-]*", words[stop]):
                stop += 1
            values["seats"] = _read(part, " ".join(words[at:stop]) or words[at], at)
            at = stop
        elif part in FIELDS:
            values[part.partition("_")[0].lower()] = _read(part, words[at], at)
            at += 1
        elif words[at] in part.split("|"):
            at += 1
        else:
            raise _Miss(at, f"found {words[at]!r}", part.replace("|", " or "), known=part.split("|"))
    return values, at


def _match(words: Sequence[str], shape: _Shape) -> dict[str, Any]:
    """The values of a line read as this form."""
    values, at = _fixed(words, shape)
    while at < len(words):
        word = words[at]
        if word in values and word in shape.groups:
            raise _Miss(at, f"{word} is there twice", "each word once")
        if word not in shape.groups:
            expected = " or ".join(group for group in shape.groups if group not in values) or "the end of the line"
            raise _Miss(at, f"found {word!r}", expected, known=tuple(shape.groups))
        if at + 1 >= len(words):
            raise _Miss(at + 1, None, FIELDS[shape.groups[word]].expected)
        values[word] = _read(shape.groups[word], words[at + 1], at + 1)
        at += 2
    for word in shape.required:
        if word not in values:
            raise _Miss(at, None, f"{word} and {FIELDS[shape.groups[word]].expected}")
    return values


def _words(text: str) -> list[str]:
    """The words of a line; a quoted text is one word, a comment none."""
    words: list[str] = []
    for match in _TOKEN.finditer(text):
        if match["bad"] is not None:
            raise _Miss(len(words), f"found {match['bad']!r}", "a word, or a text between two quotation marks")
        if match["comment"] is None:
            words.append(match["word"] if match["word"] is not None else match["quoted"])
    return words


def _statement(words: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """The name of the form these words match, and their values."""
    missed: _Miss | None = None
    for form, shape in _SHAPES:
        if words[0] not in shape.fixed[0].split("|"):
            continue
        try:
            return form.name, _match(words, shape)
        except _Miss as miss:
            if missed is None or miss.matched > missed.matched:
                missed = miss
            elif miss.matched == missed.matched:
                missed = _Miss(
                    miss.matched,
                    missed.found,
                    missed.expected if miss.expected in missed.expected else f"{missed.expected}, or {miss.expected}",
                    known=(*missed.known, *miss.known),
                )
    raise missed or _Miss(0, f"found {words[0]!r}", "a statement", known=VERBS)


def _message(words: Sequence[str], miss: _Miss) -> str:
    """What is wrong with a line, in one sentence."""
    found = "the line ends" if miss.found is None else miss.found
    message = f"expected {miss.expected}; {found}"
    if miss.found is not None and miss.matched < len(words) and len(words[miss.matched]) <= _WORD_MAX:
        near = get_close_matches(words[miss.matched], miss.known, n=1)
        if near:
            message += f" (did you mean {near[0]}?)"
    return message


def parse_page(text: str, file: str) -> tuple[Statement, ...]:
    """Read a page.

    Raises:
        PageError: with one finding for each line that is no statement.
    """
    statements: list[Statement] = []
    findings: list[Finding] = []
    for number, line in enumerate(_LINE_END.split(text.removeprefix("\ufeff")), 1):
        words: list[str] = []
        try:
            words = _words(line)
            if words:
                name, values = _statement(words)
                statements.append(Statement(file, number, line.partition(" #")[0].strip(), name, values))
        except _Miss as miss:
            findings.append(Finding(file, number, _message(words, miss)))
    if findings:
        raise PageError(findings)
    return tuple(statements)
