"""Records as plain JSON values and back, by their own type hints, so that no field can be forgotten.

A dataclass becomes an object of the fields that are not at their default; a named tuple, a list; a dict, a list of
[key, value] in its order (a list of keys where it is an ordered set); a mapping, the same in the order of its keys; a
set, a sorted list. A class that brings ``to_json`` and ``from_json`` is asked. A field added later, with a default,
reads older values as that default.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import cache
from typing import Any, Final, NamedTuple, Union, cast, get_args, get_origin, get_type_hints

from meterd.errors import MisuseError

_NONE: Final = type(None)
_UNIONS: Final = (Union, type(int | None))
_PLAIN: Final = frozenset({int, str, bool, _NONE})
_MISSING: Final = object()


class Codec(NamedTuple):
    """How values of one type are written and read."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


class Field(NamedTuple):
    """A field of a record: its name, what it is where nobody says, how it is written."""

    name: str
    default: Any
    codec: Codec


def _same(value: Any) -> Any:
    return value


_SAME: Final = Codec(_same, _same)


@cache
def codec(hint: Any) -> Codec:
    """How values of a type are written and read.

    Raises:
        MisuseError: a type this module has no form for.
    """
    if hint in _PLAIN:
        return _SAME
    origin, inner = get_origin(hint), get_args(hint)
    if origin in _UNIONS:
        return _optional(hint, inner)
    if origin in (tuple, list, Sequence):
        return _sequence(origin, inner)
    if origin is frozenset:
        item = codec(inner[0])
        return Codec(lambda value: sorted(map(item.write, value)), lambda data: frozenset(map(item.read, data)))
    if origin in (dict, Mapping):
        pairs = _mapping(*inner)
        return pairs if origin is dict else Codec(lambda value: sorted(pairs.write(value)), pairs.read)
    if isinstance(hint, type):
        return _of_class(hint)
    raise MisuseError(f"no plain form for {hint!r}")


def fields_of(kind: type, without: frozenset[str] = frozenset()) -> tuple[Field, ...]:
    """The fields of a dataclass, less some that the caller writes in another way."""
    hints = get_type_hints(kind)
    return tuple(
        Field(field.name, _default(field), codec(hints[field.name]))
        for field in dataclasses.fields(kind)
        if field.name not in without
    )


def write_fields(fields: Sequence[Field], record: Any) -> dict[str, Any]:
    """The fields of a record that are not at their default."""
    found = {}
    for name, default, (write, _) in fields:
        value = getattr(record, name)
        if value != default:
            found[name] = write(value)
    return found


def read_fields(fields: Sequence[Field], data: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments for a record from what :func:`write_fields` wrote.

    Raises:
        ValueError: a field that the record does not have.
    """
    known = {field.name: field.codec.read for field in fields}
    if not known.keys() >= data.keys():
        raise ValueError(f"unknown fields: {', '.join(sorted(data.keys() - known.keys()))}")
    return {name: known[name](value) for name, value in data.items()}


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    return _MISSING if field.default_factory is dataclasses.MISSING else field.default_factory()


def _optional(hint: Any, inner: tuple[Any, ...]) -> Codec:
    some = [one for one in inner if one is not _NONE]
    if len(some) != 1 or len(some) == len(inner):
        raise MisuseError(f"no plain form for {hint!r}")
    write, read = codec(some[0])
    if write is _same:
        return _SAME
    return Codec(
        lambda value: None if value is None else write(value), lambda data: None if data is None else read(data)
    )


def _sequence(origin: Any, inner: tuple[Any, ...]) -> Codec:
    made = list if origin is list else tuple
    if origin is tuple and (len(inner) != 2 or inner[1] is not Ellipsis):
        return _row([codec(one) for one in inner], tuple)
    item = codec(inner[0])
    if item.write is _same:
        return Codec(list, made)
    return Codec(lambda value: [item.write(one) for one in value], lambda data: made(map(item.read, data)))


def _row(items: Sequence[Codec], make: Callable[[list[Any]], Any]) -> Codec:
    writes, reads = [one.write for one in items], [one.read for one in items]

    def write(value: Sequence[Any]) -> list[Any]:
        return [put(one) for put, one in zip(writes, value, strict=True)]

    def read(data: Sequence[Any]) -> Any:
        return make([take(one) for take, one in zip(reads, data, strict=False)])

    return Codec(write, read)


def _mapping(key_type: Any, value_type: Any) -> Codec:
    key = codec(key_type)
    if value_type is None or value_type is _NONE:
        return Codec(lambda value: [key.write(one) for one in value], lambda data: dict.fromkeys(map(key.read, data)))
    item = codec(value_type)
    return Codec(
        lambda value: [[key.write(name), item.write(one)] for name, one in value.items()],
        lambda data: {key.read(name): item.read(one) for name, one in data},
    )


def _of_class(kind: type[Any]) -> Codec:
    if issubclass(kind, Enum):
        return Codec(lambda value: value.value, kind)
    if hasattr(kind, "to_json") and hasattr(kind, "from_json"):
        return Codec(lambda value: value.to_json(), kind.from_json)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        hints = get_type_hints(kind)
        return _row([codec(hints[name]) for name in kind._fields], lambda values: kind(*values))
    if not dataclasses.is_dataclass(kind):
        raise MisuseError(f"no plain form for {kind!r}")
    fields, make = fields_of(kind), cast("Callable[..., Any]", kind)
    return Codec(lambda value: write_fields(fields, value), lambda data: make(**read_fields(fields, data)))
