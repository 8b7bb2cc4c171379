"""The command behind a refusal, as far as its entry tells it.

Rule 1: a refusal repeats a closed list of what was asked (``answer.KEYED``), but for what is null. What is not repeated
        stands at its default, or is null; an older version had a shorter list (``_FIRST``), so that a later name
        that is not repeated may have been anything.
Rule 2: a refusal that tells all of its command must be made again by the rules. One that tells a part may be, and is
        not held against the ledger where it is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields
from typing import Any, Final

from meterd.accounting.answer import KEYED
from meterd.accounting.commands import Actor, Command, EndGame, OpenTable, Role
from meterd.accounting.commands_day import ConfirmDay
from meterd.accounting.entries import Entry
from meterd.accounting.refusals import Refusal
from meterd.accounting.rules import COMMANDS
from meterd.app.redecide_commands import event_of

#: The names of ``KEYED`` that every version repeated.
_FIRST: Final = frozenset(
    {"table", "fund", "pool", "link", "level", "target", "to", "award", "round", "seat", "seats", "cents"}
    | {"limit_cents", "hand", "cards", "number", "reference"}
)

#: What the daemon may refuse that the rules alone would take: a module is not heard, another gaming day waits.
_AT_THE_DESK: Final = frozenset({OpenTable, EndGame, ConfirmDay})

_BY_NAME: Final = {kind.__name__: kind for kind in COMMANDS}
#: What every command has; it stands in the entry's own columns.
_COMMON: Final = frozenset(field.name for field in fields(Command))
#: What no rule reads before it refuses, and what stands in its place.
_SLIP: Final = dict.fromkeys(("slip", "method", "cashier", "payee", "payee_sha256"), "")
_NO_MATTER: Final[Mapping[str, Mapping[str, Any]]] = {
    "LateBet": {"ms_min": 0, "ms_max": 0},
    "Pay": _SLIP,
    "PayShare": _SLIP,
    "Rake": {"at_table": ""},
    "SuspendLink": {"reason": ""},
    "Void": {"reason": ""},
}
#: Signs above a meter make an award larger: only an amount beyond all bounds hangs on them.
_SIGNS: Final = "signs"


def asked_again(entry: Entry, at_utc: str) -> Iterator[Command]:
    """The command that was refused, as people of each role would ask for it; none where it needs more than is told."""
    kind = _BY_NAME.get(entry.body["command"])
    if kind is None:
        return
    keyed: Mapping[str, Any] = entry.body["keyed"]
    given: dict[str, Any] = {"device": entry.device, "event": event_of(entry.event_id), "now_utc": at_utc}
    for field in _asked(kind):
        if field.name in keyed:
            value = keyed[field.name]
            given[field.name] = tuple(value) if isinstance(value, list) else value
        elif field.name in KEYED:
            given[field.name] = None if _needed(field) else field.default
        elif field.name in _NO_MATTER.get(kind.__name__, ()):
            given[field.name] = _NO_MATTER[kind.__name__][field.name]
        elif _needed(field):
            return
    second = keyed.get("second")
    seconds = [Actor(second, role) for role in Role] if second is not None else [None]
    for role in Role:
        for other in seconds:
            signed = {"second": other} if hasattr(kind, "second") else {}
            yield kind(**{**given, "actor": Actor(entry.actor, role), **signed})


def told_in_part(entry: Entry) -> bool:
    """Whether a refusal leaves out something of its command, or may hang on what only the daemon knew."""
    kind = _BY_NAME.get(entry.body["command"])
    if kind is None or (kind in _AT_THE_DESK and "asked" in entry.body):
        return True
    keyed = entry.body["keyed"]
    beside = {*KEYED, *_NO_MATTER.get(kind.__name__, ())}
    if entry.body["refusal"] != Refusal.AMOUNT_OUT_OF_BOUNDS:
        beside.add(_SIGNS)
    return any(field.name not in beside or _may_be_left_out(field, keyed) for field in _asked(kind))


def _may_be_left_out(field: Field[Any], keyed: Mapping[str, Any]) -> bool:
    """Whether a name that is not repeated may have been another thing than null."""
    return field.name in KEYED and field.name not in keyed and (field.default is not None or field.name not in _FIRST)


def _asked(kind: type[Command]) -> list[Field[Any]]:
    return [field for field in fields(kind) if field.name not in _COMMON and field.name != "second"]


def _needed(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING
