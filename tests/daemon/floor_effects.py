"""What the other end saw of decided facts, each with the moment at which the ledger says it was decided.

Times are seconds of the monotonic clock.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from floor_laws import seconds
from floor_rig import Floor, books

from meterd.ledger.record import Record
from meterd.money import format_cents, whole_cents

#: What a pad says where a key asked for nothing that the ledger would hold.
NO_ENTRY = (
    "OK CLEAR", "NO SEAT KEYED", "NO HAND KEYED", "NO LINE KEYED", "NO KEY IT ALONE", "NO TOO LONG", "NO AWARD",
    "NO DEVICE",
)  # fmt: skip
KEYED = {
    "Locked", "Claimed", "Confirmed", "Paid", "Voided", "WagerVoided", "GameEnded", "Refused", "Folded", "Joined",
    "CountMismatch",
}  # fmt: skip


class Effect(NamedTuple):
    """Something the other end saw, and the entry that it speaks of; ``decided_s`` None: no entry says so."""

    what: str
    seen_s: float
    decided_s: float | None


def effects_seen(floor: Floor, records: Sequence[Record]) -> dict[str, list[Effect]]:
    """Everything that speaks of a decided fact, by kind."""
    return {
        "lamp": lamps_seen(floor, records),
        "answer": answers_seen(floor, records),
        "figure": figure_effects(floor, records),
        "state": states_seen(floor, records),
    }


def unbacked(floor: Floor, records: Sequence[Record]) -> list[str]:
    """Effects that no entry stands behind."""
    seen = effects_seen(floor, records)
    return [f"{e.what} at {e.seen_s}: no entry says so" for each in seen.values() for e in each if e.decided_s is None]


def latest(records: Sequence[Record], at_s: float, table: str, kinds: set[str]) -> float | None:
    """When the newest entry of these kinds was decided for a table, as of a moment."""
    times = [seconds(record) for record in records if record.table_id == table and record.kind in kinds]
    place = bisect_right(times, at_s)
    return times[place - 1] if place else None


def of_award(records: Sequence[Record], award: str) -> list[Record]:
    """Entries that speak of one award."""
    return [record for record in records if json.loads(record.body).get("award") == award]


def lamps_seen(floor: Floor, records: Sequence[Record]) -> list[Effect]:
    """Steady lamps and the LOCK of their round."""
    return [
        Effect(f"lamp {e['table']} seat {e['seat']}", e["t"], latest(records, e["t"], e["table"], {"Locked"}))
        for e in floor.seen("lamp", lamp="steady")
    ]


def answers_seen(floor: Floor, records: Sequence[Record]) -> list[Effect]:
    """Answers to keys that made an entry. A dealer presses the next key only after the answer to the last."""
    effects = []
    before: dict[str, str] = defaultdict(str)
    for event in floor.seen("text"):
        table, line = event["table"], event["lines"][1]
        changed, before[table] = line != before[table], line
        if changed and line.startswith(("OK", "NO", "WAIT SUP")) and not line.startswith(NO_ENTRY):
            award = re.match(r"OK (A\d+)", line)
            mine = records if award is None else of_award(records, award[1])
            effects.append(Effect(f"{table} {line}", event["t"], latest(mine, event["t"], table, KEYED)))
    return effects


def states_seen(floor: Floor, records: Sequence[Record]) -> list[Effect]:
    """Line 1 says LOCKED or OPEN only for what is decided and on disk; CLOSED may come at once."""
    effects = []
    before: dict[str, str] = defaultdict(str)
    for event in floor.seen("text"):
        table, word = event["table"], event["lines"][0].partition(" ")[0]
        changed, before[table] = word != before[table], word
        kinds = {"LOCKED": {"Locked"}, "OPEN": {"GameEnded", "TableOpened"}}.get(word)
        if changed and kinds:
            effects.append(Effect(f"{table} {word}", event["t"], latest(records, event["t"], table, kinds)))
    return effects


def figures_seen(floor: Floor) -> list[tuple[float, str, int, str]]:
    """Amounts that signs showed: when, which sign, which of its figures, the text."""
    return [
        (event["t"], event["sign"], ord(event["string"]) - ord("a"), event["text"])
        for event in floor.seen("figure")
        if event["text"].startswith("$")
    ]


def figure_effects(floor: Floor, records: Sequence[Record]) -> list[Effect]:
    """Amounts on signs and the last change of the meter to each, as of that moment. A reset meter may repeat one."""
    changes: dict[tuple[str, str], list[tuple[float, str]]] = defaultdict(list)
    for record, book in books(records):
        for link in book.links.values():
            for name, level in link.levels.items():
                text = "$" + format_cents(whole_cents(level.display_microcents))
                known = changes[link.settings.id, name]
                if not known or known[-1][1] != text:
                    known.append((seconds(record), text))
    shows = {sign.id: sign.shows for sign in floor.site.signs}
    effects = []
    for at_s, sign, n, shown in figures_seen(floor):
        before = [made_s for made_s, text in changes[shows[sign][n]] if text == shown and made_s <= at_s]
        effects.append(Effect(f"{sign} {shown}", at_s, before[-1] if before else None))
    return effects
