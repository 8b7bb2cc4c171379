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
    parts: Iterable[Any]
    if isinstance(value, dict):
        if not _TEXT.issuperset(map(type, value)):
            for key in value:
                if not isinstance(key, str):
                    raise MisuseError(f"no canonical JSON: the key {key!r} is no text")
        parts = value.values()
    elif isinstance(value, list | tuple):
        parts = value
    elif isinstance(value, str | int | None):
        return
    else:
        raise MisuseError(f"no canonical JSON: {value!r} is a {type(value).__name__}")
    if not _PLAIN.issuperset(map(type, parts)):
        for part in parts:
            if type(part) not in _PLAIN:
                _refuse_inexact(part)
