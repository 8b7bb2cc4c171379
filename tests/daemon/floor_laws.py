"""What must hold of any run of a floor, from two independent accounts of it: the ledger, and what the other end saw.

Each check returns its findings as sentences; none is well. Times are seconds of the monotonic clock.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from floor_rig import LOCK_INPUT, Floor, fold

from meterd.app.verify import verify
from meterd.ledger.record import Record

#: A write on its way when the daemon changes its mind, or dies, still arrives: one exchange of a line and the relay.
IN_FLIGHT_S = 0.25
FOREVER = float("inf")


class Round(NamedTuple):
    """One round of a table: when LOCK and END GAME were decided, and the seats with a wager."""

    table: str
    number: int
    locked_s: float
    ended_s: float
    seats: tuple[int, ...]


class Death(NamedTuple):
    """One kill of the daemon: when, the last entry it left, and when the next one was decided to have started."""

    at_s: float
    seq: int


def seconds(record: Record) -> float:
    return record.mono_ns / 1e9


def rounds(records: Iterable[Record]) -> list[Round]:
    """Every round that the ledger knows, in order of LOCK."""
    found: list[Round] = []
    open_at: dict[str, int] = {}
    for record in records:
        table = record.table_id or ""
        if record.kind == "Locked":
            body = json.loads(record.body)
            seats = tuple(wager["seat"] for wager in body["wagers"])
            open_at[table] = len(found)
            found.append(Round(table, body["round"], seconds(record), FOREVER, seats))
        elif record.kind == "GameEnded" and table in open_at:
            at = open_at.pop(table)
            found[at] = found[at]._replace(ended_s=seconds(record))
    return found


def events_of(record: Record) -> list[tuple[str, int, int]]:
    """Identities of device events that an entry stands on: its own, and those of its wagers: input, epoch, count."""
    texts = [record.event_id] if record.event_id else []
    if record.kind == "Locked":
        texts += [wager["event"] for wager in json.loads(record.body)["wagers"] if "event" in wager]
    found = []
    for text in texts:
        name, epoch, count = text.rsplit(":", 2)
        found.append((name, int(epoch), int(count)))
    return found


def ledger_findings(folder: Path, records: Sequence[Record], rebooted: Collection[str] = ()) -> list[str]:
    """The chain holds, the money sums to zero, no device event was counted twice under any epoch.

    Of ``rebooted`` modules (``pit-1/60``) counters began again: their presses are told apart by their epochs.
    """
    report = verify(folder)
    found = [] if report.ok else [f"verify: {report.first_bad}"]
    residual = sum(microcents for record in records for _, microcents in record.postings)
    found += [f"residual {residual} microcents"] if residual else []
    ids = Counter(record.event_id for record in records if record.event_id)
    found += [f"event {name} in {n} entries" for name, n in ids.items() if n > 1]
    counted = Counter(
        (name, epoch if name.rpartition("/")[0] in rebooted else 0, count)
        for record in records
        for name, epoch, count in events_of(record)
        if record.kind != "Refused"  # a wager's refusal stands behind its LOCK; both may name the press
    )
    found += [f"press {count} of {name} counted {n} times" for (name, _, count), n in counted.items() if n > 1]
    numbers = Counter((each.table, each.number) for each in rounds(records))
    found += [f"round {number} of {table} locked {n} times" for (table, number), n in numbers.items() if n > 1]
    return found


def lamp_findings(floor: Floor, records: Sequence[Record]) -> list[str]:
    """Every steady lamp that anybody saw has its wager in the ledger, once, in the round that stood at that moment."""
    found = []
    known = rounds(records)
    for lamp in floor.seen("lamp", lamp="steady"):
        at_s, table, seat = lamp["t"], lamp["table"], lamp["seat"]
        standing = [r for r in known if r.table == table and r.locked_s <= at_s <= r.ended_s + IN_FLIGHT_S]
        if not any(each.seats.count(seat) == 1 for each in standing[-2:]):
            found.append(f"{table} seat {seat} was lit at {at_s} (press {lamp['lock']}): {standing[-2:]}")
    return found


def wager_findings(floor: Floor, records: Sequence[Record], deaths: Sequence[Death] = ()) -> list[str]:
    """Every wager of a round that was begun and ended by people, under one daemon, got its lamp."""
    found = []
    lamps: dict[tuple[str, int], list[float]] = defaultdict(list)
    for lamp in floor.seen("lamp", lamp="steady"):
        lamps[lamp["table"], lamp["seat"]].append(lamp["t"])
    for each in rounds(records):
        disturbed = any(each.locked_s <= death.at_s <= each.ended_s for death in deaths)
        if each.ended_s == FOREVER or disturbed:
            continue
        found += [
            f"{each.table} round {each.number} seat {seat}: a wager without a lamp"
            for seat in each.seats
            if not any(each.locked_s < at_s < each.ended_s for at_s in lamps[each.table, seat])
        ]
    return found


def death_findings(floor: Floor, records: Sequence[Record], death: Death) -> list[str]:
    """LOCKED stays LOCKED, what was open waits for END GAME, what was pending stays pending."""
    left = fold(records[: death.seq])
    after = [record for record in records if record.seq > death.seq]
    found = []
    for table_id, table in left.tables.items():
        if table.state.value == "CLOSED" and not table.needs_end_game:
            continue
        turns = [r for r in after if r.table_id == table_id and r.kind in {"TableOpened", "Locked", "GameEnded"}]
        if turns and turns[0].kind != "GameEnded":
            found.append(f"{table_id} was {table.state}, and {turns[0].kind} came without END GAME: {turns[0].seq}")
        until_s = seconds(turns[0]) if turns else FOREVER
        found += [
            f"{table_id} was {table.state} and its pad said {text['lines']} before END GAME"
            for text in floor.seen("text", table=table_id)
            if death.at_s + IN_FLIGHT_S < text["t"] < until_s and text["lines"][0].startswith("OPEN")
        ]
    started = next((record for record in after if record.kind == "Started"), None)
    if started is not None:
        reborn = fold(records[: started.seq])
        for table_id, table in left.tables.items():
            if table.state.value == "LOCKED" and reborn.tables[table_id] != table:
                found.append(f"{table_id}: the start changed a locked table")
        pending = {name for name, award in left.awards.items() if award.pending}
        if {name for name, award in reborn.awards.items() if award.pending} != pending:
            found.append("the start changed what is pending")
    return found


def missed_findings(floor: Floor, records: Sequence[Record]) -> tuple[list[str], int]:
    """Presses that no daemon heard changed nothing; and how many there were.

    A press is known by its input and its count there: the other end's log gives both without the ledger's help.
    """
    presses = press_times(floor)
    found: list[str] = []
    baselines: dict[tuple[str, int], int] = {}
    missed: list[tuple[str, int]] = []
    for record in records:
        body: dict[str, Any] = json.loads(record.body)
        if record.kind == "DeviceTrusted":
            baselines |= {(name, body["epoch"]): count for name, count in body["counts"].items()}
            found += _too_low(record, body["counts"], presses)
        elif record.kind == "MissedWhileAway":
            for name, moved in body["inputs"].items():
                missed += [(name, n) for n in range(moved["before"] + 1, moved["now"] + 1)]
                if baselines[name, body["epoch"]] != moved["now"] or moved["before"] >= moved["now"]:
                    found.append(f"{name}: missed {moved}, baseline {baselines[name, body['epoch']]}")
        found += [
            f"{record.kind} {record.seq} stands on press {count} of {name}: nobody heard it"
            for name, epoch, count in events_of(record)
            if count <= baselines[name, epoch]
        ]
    counted = {(name, count) for record in records for name, _, count in events_of(record)}
    found += [f"press {n} of {name} was missed and counted" for name, n in missed if (name, n) in counted]
    return found, sum(name in presses for name, _ in missed)


def _too_low(record: Record, counts: dict[str, int], presses: dict[str, list[float]]) -> list[str]:
    """Inputs whose baseline is below what the other end had pressed well before."""
    found = []
    for name, count in counts.items():
        pressed = sum(at_s < seconds(record) - 1.0 for at_s in presses.get(name, ()))
        if pressed > count:
            found.append(f"{name}: pressed {pressed} times, and the baseline of {record.seq} is {count}")
    return found


def press_times(floor: Floor) -> dict[str, list[float]]:
    """Input → when it was pressed, by the other end's own log. Lock buttons and keys; chips are not logged."""
    inputs: dict[tuple[str, str], str] = {}
    for table in floor.site.tables:
        inputs[table.settings.id, "lock"] = f"{table.sensors.device}/di{LOCK_INPUT}"
        if table.keypad is not None:
            for key, index in table.keypad.profile.keys.items():
                inputs[table.settings.id, f"key {key}"] = f"{table.keypad.device}/di{index}"
    times: dict[str, list[float]] = defaultdict(list)
    for event in floor.sim_log.read():
        if event["what"] == "lock":
            times[inputs[event["table"], "lock"]].append(event["t"])
        elif event["what"] == "key":
            times[inputs[event["table"], f"key {event['key']}"]].append(event["t"])
    return times


def last_by(events: list[dict[str, Any]], *keys: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The newest event for each value of these facts."""
    return {tuple(event[key] for key in keys): event for event in events}


def safe_findings(floor: Floor, by_s: float = float("inf")) -> list[str]:
    """Every lamp is dark, every sign says CLOSED, every pad begins with CLOSED; and was so by then."""
    lamps = last_by(floor.seen("lamp"), "table", "seat")
    figures = last_by(floor.seen("figure"), "sign", "string")
    pads = last_by(floor.seen("text"), "table")
    found = [f"{e['table']} seat {e['seat']} is {e['lamp']}" for e in lamps.values() if e["lamp"] != "dark"]
    found += [f"{e['sign']} shows {e['text']}" for e in figures.values() if e["text"] != "CLOSED"]
    found += [f"{e['table']} says {e['lines']}" for e in pads.values() if not e["lines"][0].startswith("CLOSED")]
    late = [e for e in (*lamps.values(), *figures.values(), *pads.values()) if e["t"] > by_s]
    return found + [f"only at {e['t']}: {e}" for e in late]
