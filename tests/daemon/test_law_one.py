"""Nothing leaves before COMMIT: a slow disk makes the order of things visible from outside."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from floor_laws import lamp_findings, ledger_findings, seconds
from floor_rig import Floor, books

from meterd.ledger.record import Record
from meterd.money import format_cents, whole_cents

pytestmark = pytest.mark.peer

SYNC_S = 0.3
SLOW_DISK = (
    "strace", "-D", "-f", "--seccomp-bpf", "-o", "/dev/null",
    "-e", "trace=fdatasync", "-e", f"inject=fdatasync:delay_exit={int(SYNC_S * 1e6)}",
)  # fmt: skip
EARLY = str(Path(__file__).with_name("early_release.py"))

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

    @property
    def early(self) -> bool:
        return self.decided_s is None or self.seen_s - self.decided_s < SYNC_S


def test_no_effect_before_its_sync_returned(make_floor: Callable[..., Floor]) -> None:
    """Every sync takes 0.3 s more: lamps, figures and answers come at least so long after what decided them."""
    floor = make_floor(habits={"lucky": 0.6, "late": 0.3, "busy": 0.8})
    effects = play(floor)
    print({what: len(effects[what]) for what in effects})
    print({what: f"{min(e.seen_s - (e.decided_s or 0) for e in effects[what]):.3f} s" for what in effects})
    assert [] == [effect for each in effects.values() for effect in each if effect.early]
    records = floor.records()
    assert [] == ledger_findings(floor.ledger, records) + lamp_findings(floor, records)


def test_control_effects_released_before_commit_are_noticed(make_floor: Callable[..., Floor]) -> None:
    """The same play with effects released first: every kind of effect is found early, so the test above can fail."""
    floor = make_floor(habits={"lucky": 0.6, "late": 0.3, "busy": 0.8})
    effects = play(floor, program=(EARLY,))
    early = {what: sum(effect.early for effect in each) for what, each in effects.items()}
    print(early)
    assert all(early.values())


def play(floor: Floor, program: Sequence[str] = ("-m", "meterd")) -> dict[str, list[Effect]]:
    """Until enough lamps, figures and answers were seen; all of them, by kind."""
    sim = floor.start_sim()
    run = floor.start_run(*SLOW_DISK, program=program)
    floor.until_sim(8, "lamp", run, sim, lamp="steady")
    floor.until_sim(6, "claim", run, sim)
    floor.until_kinds(4, "GameEnded", run, sim)
    floor.until(lambda: len(figures_seen(floor)) >= 6, "six figures on signs", run, sim)
    assert floor.end(run) == 0
    assert floor.end(sim) == 0
    records = floor.records()
    return {
        "lamp": lamps_seen(floor, records),
        "answer": answers_seen(floor, records),
        "figure": [Effect(f"figure {text}", at_s, figure_decided(floor, records, sign, n, text, at_s))
                   for at_s, sign, n, text in figures_seen(floor)],
        "state": states_seen(floor, records),
    }  # fmt: skip


def latest(records: Sequence[Record], at_s: float, table: str, kinds: set[str]) -> float | None:
    """When the newest entry of these kinds was decided for a table, as of a moment."""
    times = [seconds(record) for record in records if record.table_id == table and record.kind in kinds]
    place = bisect_right(times, at_s)
    return times[place - 1] if place else None


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
            effects.append(Effect(f"{table} {line}", event["t"], latest(records, event["t"], table, KEYED)))
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


def figure_decided(floor: Floor, records: Sequence[Record], sign: str, n: int, text: str, at_s: float) -> float | None:
    """When the last change to this amount was decided, as of that moment. A meter that was reset may repeat one."""
    shows = next(each.shows for each in floor.site.signs if each.id == sign)
    link, level = shows[n]
    decided, held = None, ""
    for record, book in books(records):
        if seconds(record) > at_s:
            break
        if link in book.links and level in book.links[link].levels:
            cents = whole_cents(book.links[link].levels[level].display_microcents)
            now = "$" + format_cents(cents)
            if now != held and now == text:
                decided = seconds(record)
            held = now
    if decided is not None and json.loads(records[0].body)["demo"]:
        return decided
    return None
