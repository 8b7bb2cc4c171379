"""Shape errors in words: each names the key, what was expected, what stands there, and the nearest known name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from meterd.config.findings import Document, nearest
from meterd.config.lines import KeyPath
from meterd.money import AMOUNT_CENTS_MAX

Model = TypeVar("Model", bound=BaseModel)

_SHOWN_MAX: Final = 40  # characters of a found value that help; more would push the hint off the screen


def check_shape(document: Document, model: type[Model]) -> Model | None:
    """The document as a ``model``, or None with a finding noted for each shape error."""
    try:
        return model.model_validate(document.raw)
    except ValidationError as error:
        told = error.errors(include_url=False, include_input=False)
    errors = [(kind, path) for path, kind in _once(told, document.raw).items()]
    unknown = {path: _meant(path[-1], _fields(model, path[:-1])) for kind, path in errors if kind == "extra_forbidden"}
    meant = {(*path[:-1], near) for path, near in unknown.items() if near is not None}
    document.wrong |= {path for _, path in errors} | meant
    for kind, path in errors:
        if kind == "extra_forbidden":
            elsewhere = path[-1] == "checksum" and path[0] == "bus"
            document.finding(path, f"unknown key{': it belongs to [[sign]]' if elsewhere else ''}", unknown[path])
        elif kind == "missing":
            if path not in meant:  # a misspelt key is one finding, not two
                document.finding(path, f"missing: expected {_expected(model, path)}")
        elif kind != "too_short" or not _at(document.raw, path):  # pydantic also counts only the valid elements
            found = _at(document.raw, path)
            near = nearest(found, _choices(model, path)) if isinstance(found, str) else None
            document.finding(path, f"expected {_expected(model, path)}, found {_found(model, path, found)}", near)
    return None


def _once(told: Iterable[Mapping[str, Any]], raw: Any) -> dict[KeyPath, str]:
    """Path → kind of its first error: where a number or a word may stand, each alternative has an error."""
    found: dict[KeyPath, str] = {}
    for each in told:
        found.setdefault(_in_file(raw, each["loc"]), each["type"])
    return found


def _in_file(raw: Any, path: KeyPath) -> KeyPath:
    """A path without what leads on below a value: there the shapes name the alternatives that were tried."""
    for end, part in enumerate(path):
        if not isinstance(raw, (dict, list)):
            return path[:end]
        raw = _at(raw, (part,))
        if raw is None:
            return path[: end + 1]
    return path


def _meant(name: object, known: Iterable[str]) -> str | None:
    """The known key most like a word, or what other makers call it."""
    near = nearest(name, known)
    return "unit" if near is None and nearest(name, ["address"]) and "unit" in known else near


def shown(value: Any) -> str:
    """A value as it would stand in the file, shortened."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return f'"{value[:_SHOWN_MAX]}{"…" if len(value) > _SHOWN_MAX else ""}"'
        case list():
            return "a list" if value else "an empty list"
        case dict():
            return "a table"
        case _:
            return str(value)[:_SHOWN_MAX]


def _found(model: type[BaseModel], path: KeyPath, value: Any) -> str:
    """What stands there; a number in quotes would otherwise read like the one that was expected."""
    if isinstance(value, str) and value.replace("_", "").isdecimal() and _takes_numbers(model, path):
        return f"the text {shown(value)}: a number stands without quotes"
    if isinstance(value, int) and value > AMOUNT_CENTS_MAX and "number of cents" in _expected(model, path):
        return f"{shown(value)}: the largest amount is {AMOUNT_CENTS_MAX:_}"
    return shown(value)


def _takes_numbers(model: type[BaseModel], path: KeyPath) -> bool:
    field = _field(model, path)
    return field is not None and any(each is int or isinstance(each, int) for each in _leaves(field.annotation))


def _leaves(annotation: Any) -> Iterator[Any]:
    """The innermost types and words of an annotation."""
    inner = get_args(annotation)
    if inner:
        for each in inner:
            yield from _leaves(each)
    else:
        yield annotation


def _at(raw: Any, path: KeyPath) -> Any:
    """The value at a path; None where the path leaves the document."""
    for part in path:
        try:
            raw = raw[part]
        except (KeyError, IndexError, TypeError):
            return None
    return raw


def _fields(model: type[BaseModel], path: KeyPath) -> dict[str, FieldInfo]:
    """The known keys of the table at a path."""
    for part in path:
        if isinstance(part, str):
            field = model.model_fields.get(part)
            inner = next(_models(field.annotation), None) if field else None
            if inner is None:
                return {}
            model = inner
    return model.model_fields


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The shapes inside an annotation such as ``tuple[LinkShape, ...]``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)


def _field(model: type[BaseModel], path: KeyPath) -> FieldInfo | None:
    """The field that rules a path: the last part of it that is a known key."""
    for end in range(len(path), 0, -1):
        name = path[end - 1]
        if isinstance(name, str):
            found = _fields(model, path[: end - 1]).get(name)
            if found is not None:
                return found
    return None


def _expected(model: type[BaseModel], path: KeyPath) -> str:
    """What was expected at a path, in words."""
    field = _field(model, path)
    if field is not None and field.description:
        return field.description
    inner = next(_models(field.annotation), None) if field else None
    if inner is None:
        return "another value"
    required = [name for name, each in inner.model_fields.items() if each.is_required()]
    return f"a table with {', '.join(required)}" if required else "a table"


def _choices(model: type[BaseModel], path: KeyPath) -> list[str]:
    """The words allowed at a path."""
    field = _field(model, path)
    return [word for word in _words(field.annotation) if isinstance(word, str)] if field else []


def _words(annotation: Any) -> Iterator[Any]:
    if get_origin(annotation) is Literal:
        yield from get_args(annotation)
    else:
        for inner in get_args(annotation):
            yield from _words(inner)
