"""What an entry is worth in the log: its few facts, its level, and for a fault the port and the next step.

The ledger holds everything; the log is for whoever has to walk to a table.
"""

from __future__ import annotations

from typing import Any, Final

from meterd.accounting.entries import Entry, Kind
from meterd.config import Site

#: Facts of a body that a line carries under the same name.
_FACTS: Final = (
    "seat",
    "hand",
    "award",
    "amount_cents",
    "target",
    "cents",
    "limit_cents",
    "second",
    "reference",
    "refusal",
    "reason",
    "cause",
    "detail",
    "found",
    "step_ms",
    "number",
    "length",
)

#: Kinds that somebody on the floor should look into.
_WARNINGS: Final = frozenset(
    {Kind.GAME_WIN, Kind.DEVICE_LOST, Kind.MISSED_WHILE_AWAY, Kind.UNREASONABLE, Kind.CLOCK_STEP, Kind.LINK_SUSPENDED}
)

_ADVICE: Final = {
    "port_lost": "the port cannot be opened or was unplugged: check the adapter and the path in the site file",
    "timeout": "the module does not answer: check its power, its cable and its unit id",
    "refused": "the module answers with an error: check that its profile fits",
    "identity": "another kind of module answers there: check the cables and the unit ids",
    "serial": "another module of that kind answers there: check the cables, or the serial in the site file",
    "outputs": "the module does not show what is written to it: check its outputs, its safe state and its profile",
    "restarted": "the module restarted: check its power supply",
    "overrun": "this machine could not keep up: look at its load and its disk",
    "counter_fell": "the module restarted: check its power supply",
}


def level_of(entry: Entry) -> str:
    """``info``, or ``warning`` where a person should look."""
    if entry.kind in _WARNINGS or (entry.kind is Kind.TABLE_CLOSED and entry.body.get("needs_end_game")):
        return "warning"
    return "info"


def facts_of(entry: Entry, site: Site) -> dict[str, Any]:
    """The facts of a log line; what has no meaning for the entry is left out."""
    facts: dict[str, Any] = {"table": entry.table, "link": entry.link, "actor": entry.actor, "device": entry.device}
    facts |= {key: entry.body[key] for key in _FACTS if key in entry.body}
    facts["meter"] = entry.body.get("level")  # "level" is the log's own word
    if entry.kind is Kind.WAGER_VOIDED:
        facts["seats"] = entry.body.get("seats")
    if entry.kind is Kind.DEVICE_LOST and entry.device is not None:
        bus = entry.device.split("/", 1)[0]
        facts["port"] = next((line.port for line in site.buses if line.id == bus), None)
        facts["advice"] = _ADVICE.get(str(entry.body.get("cause")))
    if entry.kind is Kind.TABLE_CLOSED and entry.body.get("needs_end_game"):
        facts["advice"] = "the table opens again by END GAME, once all its modules answer"
    return {key: value for key, value in facts.items() if value is not None}
