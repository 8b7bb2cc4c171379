"""A pay-table file: TOML text in, pay tables out. Pure: the text is read elsewhere.

    [shared]                 what all tables of the file have in common; a table's own key wins
    [[paytable]]
    id = "co/three-card-poker/progressive-1"
    rows = [
      { printed_hand = "AKQ Spades", printed_pay = "100 percent", printed_envy = "$100", pays = ["100% meter"], … },
    ]

Rule 1: nothing is ignored. An unknown key, a missing one, a pay of no known form, a row that means no hand: an error.
Rule 2: an error names file, line and key, and the nearest known word.
Rule 3: an envy amount is read from its printed cell, unless the row gives it.
Rule 4: a hand key is the printed hand's; the row gives one only where the print has none, or the same one twice.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Final

from meterd.errors import ConfigError
from meterd.handrank.cards import RANKS
from meterd.money import AMOUNT_CENTS_MAX, parse_money, parse_rate
from meterd.paytables.evaluators import EVALUATORS, Evaluator
from meterd.paytables.hands import hand_key, streak_key
from meterd.paytables.match import nearest, parse_match
from meterd.paytables.model import Game, PayTable, Row, Source
from meterd.paytables.pays import parse_pay

KINDS: Final = ("progressive", "bonus", "envy-bonus", "base", "roulette", "craps", "wheel")

#: What "N/A" in the reserve column is stored as (not printed at all is None).
RESERVE_NOT_APPLICABLE: Final = -1

_TEXT: Final = ("id", "game", "wager", "kind", "basis")
_NUMBERS: Final = ("decks", "wager_cents", "seed_cents", "envy_min_cents")
_FLAGS: Final = ("joker", "original_wager_returned", "envy_scales", "seed_scales", "common_outcome", "depends_on_play")
_RATES: Final = ("increment", "reserve")
_NOTES: Final = ("note", "settlement", "without_ranks")
_CHOICES: Final = {
    "rows_printed": ("best-first", "worst-first"),
    "envy_to": ("players", "dealer"),
    "envy_trigger": ("every", "highest"),
    "split": ("no-effect", "two-hands", "dead"),
}
_LISTS: Final = ("decks_allowed", "lint_accepts")
_TABLE_KEYS: Final = (
    *_TEXT,
    *("sources", "evaluator", "games", "rows"),
    *_NOTES,
    *_NUMBERS,
    *_FLAGS,
    *_RATES,
    *_CHOICES,
    *_LISTS,
)
_TABLE_REQUIRED: Final = (*_TEXT, "sources", "rows")
_ROW_TEXT: Final = ("hand", "also", "printed_hand", "printed_pay", "printed_envy", "printed_note", "match")
_ROW_KEYS: Final = (*_ROW_TEXT, "pays", "envy_cents", "derived")
_ROW_REQUIRED: Final = ("printed_hand", "printed_pay", "pays")
_GAME_KEYS: Final = (
    "name",
    "basis",
    "own_cards",
    "own_dealt",
    "community_cards",
    "community_dealt",
    "dealer_cards",
    "dealer_dealt",
    "folded_live",
)
_SOURCE_KEYS: Final = ("jurisdiction", "rule", "table")
#: Evaluators whose hands are no cards, so that no game need say how many are dealt.
_WITHOUT_CARDS: Final = ("spins", "rolls", "wagers")

#: Most decks a shoe holds.
DECKS_MAX: Final = 8

_ACCEPTS: Final = re.compile(r"[A-Z_]+( [a-z0-9-]+)?: .+")
_ID: Final = re.compile(r"[a-z]{2}(?:/[a-z0-9]+(?:-[a-z0-9]+)*){2}")


class PaytableError(ConfigError):
    """A pay-table file that cannot be read. ``file``, ``line`` and ``key`` say where."""

    def __init__(self, file: str, line: int, key: str, message: str) -> None:
        super().__init__(f"{file}:{line}: {key}: {message}")
        self.file = file
        self.line = line
        self.key = key


class _Place:
    """Where something stands in a file: the section it begins in, and the lines of its rows."""

    def __init__(self, filename: str, lines: Sequence[str], first: int, last: int) -> None:
        self.filename = filename
        self._lines = lines
        self._first = first
        self._last = last

    def error(self, key: str, message: str, row: int | None = None) -> PaytableError:
        return PaytableError(self.filename, self._line(key, row), key, message)

    def _line(self, key: str, row: int | None) -> int:
        """Line of a row, or of a key in the section or in [shared]; else the head of the section."""
        section = range(self._first, self._last)
        if row is not None:
            rows = [number for number in section if "printed_hand" in self._lines[number]]
            return (rows[row] if row < len(rows) else self._first) + 1
        begins = re.compile(rf"\s*\[*{re.escape(key.partition('.')[0])}\b")
        for number in chain(section, range(self._first)):
            if begins.match(self._lines[number]):
                return number + 1
        return self._first + 1


def parse_paytables(text: str | bytes, filename: str) -> list[PayTable]:
    """All pay tables of one file; bytes are UTF-8.

    Raises:
        PaytableError: names ``filename``, line, key and what was expected.
    """
    if isinstance(text, bytes):
        text = _decoded(text, filename)
    try:
        document = tomllib.loads(text)
    except RecursionError as error:
        deepest = max(enumerate(text.splitlines(), start=1), key=lambda numbered: numbered[1].count("["))[0]
        raise PaytableError(filename, deepest, "TOML", "brackets within brackets, too deep to be read") from error
    except ValueError as error:  # a TOMLDecodeError, or a number of more digits than Python reads
        line = re.search(r"at line (\d+)", str(error))
        raise PaytableError(filename, int(line[1]) if line else text.count("\n") + 1, "TOML", str(error)) from error
    lines = text.splitlines()
    heads = [number for number, line in enumerate(lines) if line.strip() == "[[paytable]]"]
    whole = _Place(filename, lines, 0, len(lines))
    _known(document, ("shared", "paytable"), whole)
    tables = document.get("paytable", [])
    if not isinstance(tables, list) or not tables or len(heads) != len(tables):
        raise whole.error("paytable", "expected at least one table, each under a line [[paytable]] of its own")
    shared = _typed(document.get("shared", {}), dict, "a table [shared]", "shared", whole)
    found: dict[str, PayTable] = {}
    for head, after, data in zip(heads, [*heads[1:], len(lines)], tables, strict=True):
        place = _Place(filename, lines, head, after)
        table = _table({**shared, **data}, place)
        if table.id in found:
            raise place.error("id", f"{table.id!r} stands twice in this file")
        found[table.id] = table
    return list(found.values())


def _decoded(text: bytes, filename: str) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        line = text[: error.start].count(b"\n") + 1
        raise PaytableError(filename, line, "UTF-8", f"byte 0x{text[error.start]:02x} is no UTF-8 text") from error


def _table(data: dict[str, Any], place: _Place) -> PayTable:
    _known(data, _TABLE_KEYS, place)
    _required(data, _TABLE_REQUIRED, place)
    facts = _facts(data, place)
    evaluator = _typed(data["evaluator"], str, "text", "evaluator", place) if "evaluator" in data else None
    if evaluator is not None and evaluator not in EVALUATORS:
        raise place.error("evaluator", f"unknown evaluator {evaluator!r}{nearest(evaluator, tuple(EVALUATORS))}")
    if evaluator is None and not data.get("note"):
        raise place.error("note", "a table without an evaluator says in its note what is missing")
    if evaluator is not None:
        _check_evaluator(EVALUATORS[evaluator], data, place)
    return PayTable(
        sources=tuple(_source(source, place) for source in _records(data, "sources", place)),
        games=tuple(_game(game, place) for game in _records(data, "games", place)),
        rows=_rows(_records(data, "rows", place), evaluator, place),
        evaluator=evaluator,
        **facts,
    )


def _facts(data: dict[str, Any], place: _Place) -> dict[str, Any]:
    """The plain values of a table, each of its kind and within its limits."""
    facts: dict[str, Any] = {}
    for keys, kind, name in (
        ((*_TEXT, *_NOTES, *_CHOICES), str, "text"),
        (_NUMBERS, int, "a whole number"),
        (_FLAGS, bool, "true or false"),
    ):
        facts |= {key: _typed(data[key], kind, name, key, place) for key in keys if key in data}
    if not _ID.fullmatch(facts["id"]):
        raise place.error(
            "id", f"{facts['id']!r} is not jurisdiction/family/table, such as co/three-card-poker/progressive-1"
        )
    for key, known in (("kind", KINDS), *_CHOICES.items()):
        if key in facts and facts[key] not in known:
            raise place.error(key, f"unknown {key.replace('_', ' ')} {facts[key]!r}{nearest(facts[key], known)}")
    facts |= {f"{key}_ppm": _rate(data[key], key, place) for key in _RATES if key in data}
    if "decks_allowed" in data:
        facts["decks_allowed"] = tuple(
            _decks(each, "decks_allowed", place) for each in _list(data, "decks_allowed", place)
        )
    if "decks" in facts:
        _decks(facts["decks"], "decks", place)
    for rank in facts.get("without_ranks", ""):
        if rank not in RANKS:
            raise place.error("without_ranks", f"{rank!r} is no rank ({' '.join(RANKS)})")
    if "lint_accepts" in data:
        facts["lint_accepts"] = tuple(_accepted(each, place) for each in _list(data, "lint_accepts", place))
    return facts


def _list(data: Mapping[str, Any], key: str, place: _Place) -> list[Any]:
    return list(_typed(data[key], list, "a list", key, place))


def _decks(value: Any, key: str, place: _Place) -> int:
    decks = int(_typed(value, int, "a whole number", key, place))
    if not 1 <= decks <= DECKS_MAX:
        raise place.error(key, f"{decks} is not a number of decks from 1 to {DECKS_MAX}")
    return decks


def _accepted(value: Any, place: _Place) -> str:
    text = str(_typed(value, str, "text", "lint_accepts", place))
    if not _ACCEPTS.fullmatch(text):
        raise place.error("lint_accepts", f"{text!r} is not 'CODE: reason' or 'CODE row-key: reason'")
    return text


def _check_evaluator(evaluator: Evaluator, data: Mapping[str, Any], place: _Place) -> None:
    """A table with cards says how they are dealt; a joker is only where the evaluator knows one."""
    if evaluator.model not in _WITHOUT_CARDS and not data.get("games"):
        raise place.error("games", "a table with an evaluator names its games, which say how many cards are dealt")
    if data.get("joker") and not evaluator.jokers:
        raise place.error("joker", f"the evaluator {evaluator.name} knows no joker")


def _rows(rows: list[dict[str, Any]], evaluator: str | None, place: _Place) -> tuple[Row, ...]:
    if not rows:
        raise place.error("rows", "a pay table has at least one row")
    read = tuple(_row(data, number, evaluator, place) for number, data in enumerate(rows))
    _check_keys(read, evaluator, place)
    return read


def _check_keys(rows: Sequence[Row], evaluator: str | None, place: _Place) -> None:
    """Every name of a row is a key, and means no other row; a printed hand that can be the key is it."""
    printed = Counter(_printed_key(row.printed_hand, evaluator) for row in rows)
    seen: set[str] = set()
    for number, row in enumerate(rows):
        key = _printed_key(row.printed_hand, evaluator)
        if key != row.hand and key and printed[key] == 1:
            raise place.error("hand", f"the printed hand is the key, {key!r}; for {row.hand!r} say also = …", number)
        for name, text in (("hand", row.hand), *((("also", row.also),) if row.also else ())):
            if text != hand_key(text):
                raise place.error(name, f"{text!r} is no key; did you mean {hand_key(text)!r}?", number)
            if text in seen:
                raise place.error(name, f"{text!r} stands twice in this table", number)
            seen.add(text)


def _printed_key(printed_hand: str, evaluator: str | None) -> str:
    """The key that a printed hand gives; the bare number of a streak is a length."""
    if evaluator == "rising-streak" and printed_hand.isdecimal():
        return streak_key(int(printed_hand))
    return hand_key(printed_hand)


def _row(data: dict[str, Any], number: int, evaluator: str | None, place: _Place) -> Row:
    _known(data, _ROW_KEYS, place, number)
    _required(data, _ROW_REQUIRED, place, number)
    for key in data.keys() & _ROW_TEXT:
        _typed(data[key], str, "text", key, place, number)
    pays = _typed(data["pays"], list, "a list of pays", "pays", place, number)
    printed_hand = data["printed_hand"]
    hand = data.get("hand") or _printed_key(printed_hand, evaluator)
    if not hand_key(hand):
        raise place.error("hand", "a row without a printed hand needs a hand = …", number)
    derived = _typed(data.get("derived", False), bool, "true or false", "derived", place, number)
    if derived and data["printed_pay"]:
        raise place.error("derived", "a derived row has no printed cell: printed_pay is empty", number)
    match = data.get("match", "")
    if evaluator is not None:
        try:
            parse_match(match or hand, EVALUATORS[evaluator])
        except ValueError as error:
            raise place.error("match" if match else "printed_hand", str(error), number) from error
    try:
        read = tuple(parse_pay(_typed(pay, str, "text", "pays", place, number)) for pay in pays)
    except ValueError as error:
        raise place.error("pays", str(error), number) from error
    return Row(
        hand=hand,
        printed_hand=printed_hand,
        printed_pay=data["printed_pay"],
        printed_envy=data.get("printed_envy"),
        pays=read,
        envy_cents=_envy_cents(data, number, place),
        match=match,
        derived=derived,
        printed_note=data.get("printed_note", ""),
        also=data.get("also", ""),
    )


def _envy_cents(data: dict[str, Any], number: int, place: _Place) -> int:
    """What the row says, else what is printed: ``$1,000`` or ``$1000`` as 100,000."""
    if "envy_cents" in data:
        return int(_typed(data["envy_cents"], int, "a whole number", "envy_cents", place, number))
    printed = data.get("printed_envy")
    if printed is None:
        return 0
    try:
        return parse_money(printed.removeprefix("$"))
    except ValueError as error:
        message = f"{error}; a cell that is no amount needs envy_cents beside it"
        raise place.error("printed_envy", message, number) from error


def _game(data: dict[str, Any], place: _Place) -> Game:
    _known(data, _GAME_KEYS, place, under="games")
    _required(data, ("name", "basis", "own_cards"), place, under="games")
    kinds = {"name": (str, "text"), "basis": (str, "text"), "folded_live": (bool, "true or false")}
    for key, value in data.items():
        kind, name = kinds.get(key, (int, "a whole number"))
        _typed(value, kind, name, f"games.{key}", place)
    return Game(**data)


def _source(data: dict[str, Any], place: _Place) -> Source:
    _known(data, (*_SOURCE_KEYS, "prints"), place, under="sources")
    _required(data, _SOURCE_KEYS, place, under="sources")
    for key in _SOURCE_KEYS:
        _typed(data[key], str, "text", f"sources.{key}", place)
    prints = _typed(data.get("prints", {}), dict, "cells such as { Straight = 'straight' }", "sources.prints", place)
    for cell in prints.values():
        _typed(cell, str, "text", "sources.prints", place)
    return Source(data["jurisdiction"], data["rule"], data["table"], tuple(sorted(prints.items())))


def _rate(value: object, key: str, place: _Place) -> int:
    text = _typed(value, str, "text such as '20%'", key, place)
    if key == "reserve" and text == "N/A":
        return RESERVE_NOT_APPLICABLE
    try:
        return parse_rate(text)
    except ValueError as error:
        raise place.error(key, str(error)) from error


def _records(data: Mapping[str, Any], key: str, place: _Place) -> list[dict[str, Any]]:
    value = data.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise place.error(key, "expected a list of { … }")
    return value


def _typed(value: Any, kind: type, name: str, key: str, place: _Place, row: int | None = None) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise place.error(key, f"expected {name}, not {value!r}", row)
    if isinstance(value, int) and not 0 <= value <= AMOUNT_CENTS_MAX:
        raise place.error(key, f"{value} is below zero" if value < 0 else "this is above the largest amount", row)
    return value


def _known(
    data: Mapping[str, Any], keys: Sequence[str], place: _Place, row: int | None = None, under: str = ""
) -> None:
    for key in data:
        if key not in keys:
            raise place.error(f"{under}.{key}" if under else key, f"unknown key{nearest(key, keys)}", row)


def _required(
    data: Mapping[str, Any], keys: Sequence[str], place: _Place, row: int | None = None, under: str = ""
) -> None:
    for key in keys:
        if key not in data:
            raise place.error(f"{under}.{key}" if under else key, "missing", row)
