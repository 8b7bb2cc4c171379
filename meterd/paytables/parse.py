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
from typing import Any, Final

from meterd.handrank.cards import RANKS
from meterd.money import AMOUNT_CENTS_MAX, parse_money, parse_rate
from meterd.paytables.evaluators import EVALUATORS, Evaluator
from meterd.paytables.fits import misfits
from meterd.paytables.hands import hand_key, streak_key
from meterd.paytables.match import nearest, parse_match
from meterd.paytables.model import Game, PayTable, Row, Source
from meterd.paytables.pays import check_sum, parse_pay
from meterd.paytables.place import PaytableError, Place, shown

__all__ = ["DECKS_MAX", "KINDS", "RESERVE_NOT_APPLICABLE", "PaytableError", "parse_paytables"]

KINDS: Final = ("progressive", "bonus", "envy-bonus", "base", "roulette", "craps", "wheel")

#: What "N/A" in the reserve column is stored as (not printed at all is None).
RESERVE_NOT_APPLICABLE: Final = -1

_TEXT: Final = ("id", "game", "wager", "kind", "basis")
_NUMBERS: Final = ("decks", "wager_cents", "seed_cents", "envy_min_cents")
_FLAGS: Final = ("joker", "original_wager_returned", "envy_scales", "seed_scales", "common_outcome", "depends_on_play")
_RATES: Final = ("increment", "reserve")
_NOTES: Final = ("note", "settlement", "without_ranks", "base_least", "base_most")
_CHOICES: Final = {
    "rows_printed": ("best-first", "worst-first"),
    "envy_to": ("players", "dealer"),
    "envy_trigger": ("every", "highest"),
    "split": ("no-effect", "two-hands", "dead"),
}
_LISTS: Final = ("decks_allowed", "lint_accepts", "wagers_allowed_cents")
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

#: Most letters of an amount: "$90,000,000,000.00" and some more.
_AMOUNT_TEXT_MAX: Final = 30

_ACCEPTS: Final = re.compile(r"[A-Z_]+( [a-z0-9-]+)?: .+")
_ID: Final = re.compile(r"[a-z]{2}(?:/[a-z0-9]+(?:-[a-z0-9]+)*){2}")


def parse_paytables(text: str | bytes, filename: str) -> list[PayTable]:
    """All pay tables of one file; bytes are UTF-8.

    Raises:
        PaytableError: names ``filename``, line, key and what was expected.
    """
    if isinstance(text, bytes):
        text = _decoded(text, filename)
    text = text.removeprefix("\ufeff")  # a mark that some editors put before the first line
    document = _document(text, filename)
    whole = Place(filename, text)
    _known(document, ("shared", "paytable"), whole)
    tables = document.get("paytable", [])
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise whole.error("paytable", "expected at least one table: a line [[paytable]], and its keys below it")
    shared = _typed(document.get("shared", {}), dict, "a table [shared]", "shared", whole)
    found: dict[str, PayTable] = {}
    for number, data in enumerate(tables):
        place = whole.inside("paytable", number)
        table = _table({**shared, **data}, place)
        if table.id in found:
            raise place.error("id", f"{table.id!r} stands twice in this file")
        found[table.id] = table
    return list(found.values())


def _document(text: str, filename: str) -> dict[str, Any]:
    """The TOML document, or an error with its line."""
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        deepest = _line_with_most(r"\[", text)
        raise PaytableError(filename, deepest, "TOML", "brackets within brackets, too deep to be read") from error
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        message = f"{error}: expected TOML, key = value lines below [[paytable]]"
        raise PaytableError(filename, int(line[1]) if line else text.count("\n") + 1, "TOML", message) from error
    except ValueError as error:  # a number of more digits than Python reads
        message = "a number of so many digits cannot be read; correct it"
        raise PaytableError(filename, _line_with_most(r"[0-9_]", text), "TOML", message) from error


def _line_with_most(pattern: str, text: str) -> int:
    return max(enumerate(text.split("\n"), start=1), key=lambda numbered: len(re.findall(pattern, numbered[1])))[0]


def _decoded(text: bytes, filename: str) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        line = text[: error.start].count(b"\n") + 1
        raise PaytableError(filename, line, "UTF-8", f"byte 0x{text[error.start]:02x} is no UTF-8 text") from error


def _table(data: dict[str, Any], place: Place) -> PayTable:
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
    rows = _rows(_records(data, "rows", place), evaluator, place)
    sources = _records(data, "sources", place)
    if not sources:
        raise place.error("sources", "expected at least one rule that prints the table")
    table = PayTable(
        sources=tuple(_source(source, number, rows, place) for number, source in enumerate(sources)),
        games=tuple(_game(game, number, place) for number, game in enumerate(_records(data, "games", place))),
        rows=rows,
        evaluator=evaluator,
        **facts,
    )
    for key, message, number in misfits(table):
        raise place.error(key, message, number)
    return table


def _facts(data: dict[str, Any], place: Place) -> dict[str, Any]:
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
        facts["decks_allowed"] = _decks_allowed(_list(data, "decks_allowed", place), place)
    wagers = _list(data, "wagers_allowed_cents", place) if "wagers_allowed_cents" in data else []
    facts["wagers_allowed_cents"] = tuple(_whole(each, "wagers_allowed_cents", place) for each in wagers)
    if "decks" in facts:
        _decks(facts["decks"], "decks", place)
    for rank in facts.get("without_ranks", ""):
        if rank not in RANKS:
            raise place.error("without_ranks", f"{rank!r} is no rank ({' '.join(RANKS)})")
    if "lint_accepts" in data:
        facts["lint_accepts"] = tuple(_accepted(each, place) for each in _list(data, "lint_accepts", place))
    return facts


def _list(data: Mapping[str, Any], key: str, place: Place) -> list[Any]:
    return list(_typed(data[key], list, "a list", key, place))


def _decks_allowed(values: list[Any], place: Place) -> tuple[int, ...]:
    if not values:
        raise place.error("decks_allowed", "expected the numbers of decks that are allowed; leave it out for any")
    return tuple(_decks(value, "decks_allowed", place) for value in values)


def _decks(value: Any, key: str, place: Place) -> int:
    decks = _whole(value, key, place)
    if not 1 <= decks <= DECKS_MAX:
        raise place.error(key, f"{decks} is not a number of decks from 1 to {DECKS_MAX}")
    return decks


def _whole(value: Any, key: str, place: Place) -> int:
    return int(_typed(value, int, "a whole number", key, place))


def _accepted(value: Any, place: Place) -> str:
    text = str(_typed(value, str, "text", "lint_accepts", place))
    if not _ACCEPTS.fullmatch(text):
        raise place.error("lint_accepts", f"{text!r} is not 'CODE: reason' or 'CODE row-key: reason'")
    return text


def _check_evaluator(evaluator: Evaluator, data: Mapping[str, Any], place: Place) -> None:
    """A table with cards says how they are dealt; a joker is only where the evaluator knows one."""
    if evaluator.model not in _WITHOUT_CARDS and not data.get("games"):
        raise place.error("games", "a table with an evaluator names its games, which say how many cards are dealt")
    if data.get("joker") and not evaluator.jokers:
        raise place.error("joker", f"the evaluator {evaluator.name} knows no joker")


def _rows(rows: list[dict[str, Any]], evaluator: str | None, place: Place) -> tuple[Row, ...]:
    if not rows:
        raise place.error("rows", "a pay table has at least one row")
    read = tuple(_row(data, number, evaluator, place) for number, data in enumerate(rows))
    _check_keys(read, evaluator, place)
    return read


def _check_keys(rows: Sequence[Row], evaluator: str | None, place: Place) -> None:
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


def _row(data: dict[str, Any], number: int, evaluator: str | None, place: Place) -> Row:
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
            key = "match" if match else "hand" if data.get("hand") else "printed_hand"
            raise place.error(key, str(error), number) from error
    elif match:
        raise place.error(
            "match", "a table without an evaluator ranks no hands; name the evaluator, or no match", number
        )
    try:
        read = tuple(parse_pay(_typed(pay, str, "text", "pays", place, number)) for pay in pays)
        check_sum(read)
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


def _envy_cents(data: dict[str, Any], number: int, place: Place) -> int:
    """What the row says, else what is printed: ``$1,000`` or ``$1000`` as 100,000."""
    if "envy_cents" in data:
        return int(_typed(data["envy_cents"], int, "a whole number", "envy_cents", place, number))
    printed = data.get("printed_envy")
    if printed is None:
        return 0
    try:
        if printed.startswith(("-", "$-")) or len(printed) > _AMOUNT_TEXT_MAX:
            raise ValueError(f"{printed!r} is no amount of envy")  # noqa: TRY301 - one message for all that is wrong
        return parse_money(printed.removeprefix("$"))
    except ValueError as error:
        message = f"{error}; a cell that is no amount needs envy_cents beside it"
        raise place.error("printed_envy", message, number) from error


def _game(data: dict[str, Any], number: int, place: Place) -> Game:
    _known(data, _GAME_KEYS, place, number, under="games")
    _required(data, ("name", "basis", "own_cards"), place, number, under="games")
    kinds = {"name": (str, "text"), "basis": (str, "text"), "folded_live": (bool, "true or false")}
    for key, value in data.items():
        kind, name = kinds.get(key, (int, "a whole number"))
        _typed(value, kind, name, f"games.{key}", place, number)
    return Game(**data)


def _source(data: dict[str, Any], number: int, rows: Sequence[Row], place: Place) -> Source:
    _known(data, (*_SOURCE_KEYS, "prints"), place, number, under="sources")
    _required(data, _SOURCE_KEYS, place, number, under="sources")
    for key in _SOURCE_KEYS:
        _typed(data[key], str, "text", f"sources.{key}", place, number)
    form = "cells such as { Straight = 'straight' }"
    prints = _typed(data.get("prints", {}), dict, form, "sources.prints", place, number)
    cells = {cell for row in rows for cell in (row.printed_hand, row.printed_pay, row.printed_envy, row.printed_note)}
    for ours, cell in prints.items():
        _typed(cell, str, "text", "sources.prints", place, number)
        if ours not in cells:
            known = sorted(filter(None, cells))
            raise place.error("sources.prints", f"no row prints {shown(ours)!r}{nearest(ours, known)}", number)
    return Source(data["jurisdiction"], data["rule"], data["table"], tuple(sorted(prints.items())))


def _rate(value: object, key: str, place: Place) -> int:
    text = _typed(value, str, "text such as '20%'", key, place)
    if key == "reserve" and text == "N/A":
        return RESERVE_NOT_APPLICABLE
    try:
        return parse_rate(text)
    except ValueError as error:
        raise place.error(key, str(error)) from error


def _records(data: Mapping[str, Any], key: str, place: Place) -> list[dict[str, Any]]:
    value = data.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise place.error(key, "expected a list of { … }")
    return value


def _typed(value: Any, kind: type, name: str, key: str, place: Place, row: int | None = None) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise place.error(key, f"expected {name}, not {shown(repr(value))}", row)
    if isinstance(value, int) and not 0 <= value <= AMOUNT_CENTS_MAX:
        raise place.error(key, f"{value} is below zero" if value < 0 else "this is above the largest amount", row)
    return value


def _known(data: Mapping[str, Any], keys: Sequence[str], place: Place, row: int | None = None, under: str = "") -> None:
    for key in data:
        if key not in keys:
            raise place.error(f"{under}.{key}" if under else key, f"unknown key{nearest(key, keys)}", row)


def _required(
    data: Mapping[str, Any], keys: Sequence[str], place: Place, row: int | None = None, under: str = ""
) -> None:
    for key in keys:
        if key not in data:
            raise place.error(f"{under}.{key}" if under else key, "missing", row)
