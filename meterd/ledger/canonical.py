r"""Canonical JSON: one text for one value, so that a hash over it means something.

Keys in order of their code points, no spaces, text as it is (only ``"``, ``\`` and characters below U+0020 are
escaped), whole numbers only. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final, NoReturn

from meterd.errors import MisuseError

_ENCODE: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")).encode


def _refuse_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a whole number")


_DECODE: Final = json.JSONDecoder(parse_float=_refuse_number, parse_constant=_refuse_number).decode

#: Types that need no second look.
_PLAIN: Final = frozenset({str, int, bool, type(None)})
_TEXT: Final = frozenset({str})

#: Containers in one body. The largest, a void over a long history, has a few thousand.
_PARTS_MAX: Final = 1_000_000


def canonical(value: Any) -> str:
    """``value`` as canonical JSON. Takes dict with text keys, list, tuple, str, int, bool and None.

    Raises:
        MisuseError: a float, a key that is no text, text that is no Unicode, or anything JSON has no word for.
    """
    try:
        _refuse_inexact(value)
        text = _ENCODE(value)
        text.encode()  # a lone surrogate has no UTF-8 form
    except (TypeError, ValueError, RecursionError) as cause:
        raise MisuseError(f"no canonical JSON: {cause}") from cause
    return text


def parse(text: str) -> Any:
    """The value of a JSON text that holds whole numbers only.

    Raises:
        ValueError: no JSON, or a number that is not whole.
    """
    return _DECODE(text)


def is_canonical(text: str, value: Any) -> bool:
    """Whether ``text`` is the canonical form of ``value``, which :func:`parse` read from it."""
    return _ENCODE(value) == text


def _refuse_inexact(value: Any) -> None:
    """Refuse what the encoder would quietly turn into something else: floats, and keys that are no text."""
    waiting = [value]
    for part in waiting:  # grows while it is walked: each container adds the containers inside it
        parts: Iterable[Any]
        if isinstance(part, dict):
            if not _TEXT.issuperset(map(type, part)):
                _refuse_keys(part)
            parts = part.values()
        elif isinstance(part, list | tuple):
            parts = part
        elif isinstance(part, str | int | None):
            continue
        else:
            raise MisuseError(f"no canonical JSON: {part!r} is a {type(part).__name__}")
        if not _PLAIN.issuperset(map(type, parts)):
            waiting += [inner for inner in parts if type(inner) not in _PLAIN]
        if len(waiting) > _PARTS_MAX:
            raise MisuseError("no canonical JSON: the value contains itself, or is beyond all bounds")


def _refuse_keys(part: dict[Any, Any]) -> None:
    """Refuse a key that is no text; a kind of text will do."""
    for key in part:
        if not isinstance(key, str):
            raise MisuseError(f"no canonical JSON: the key {key!r} is no text")
