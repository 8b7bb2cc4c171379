"""The daemon dies at any moment, the floor around it lives on, and the next daemon goes on where the ledger stands."""

from __future__ import annotations

import json
import os
import random
import secrets
import signal
import time
from collections.abc import Callable
from typing import Any

import pytest
from floor_effects import unbacked
from floor_laws import (
    Death,
    death_findings,
    lamp_findings,
    ledger_findings,
    missed_findings,
    rounds,
    wager_findings,
)
from floor_rig import Child, Floor, fold

from meterd.ledger.record import Record

#: Without --seccomp-bpf, with which strace 6.1 injects no signal after the first call.
TRACED = ("strace", "-D", "-f", "-o", "/dev/null")
KILLS = int(os.environ.get("METERD_KILLS", "6"))


def test_killed_at_random_nothing_is_lost_doubled_or_invented(make_floor: Callable[..., Floor]) -> None:
    """Lit lamps have their wagers, LOCKED and pending stay, presses that nobody heard change nothing, the chain holds.

    ``METERD_KILLS`` says how often (6), ``METERD_SEED`` repeats a run's choices.
    """

    def kill(floor: Floor, chance: random.Random, n: int, sim: Child) -> Child:
        run = live_a_while(floor, chance, sim, young=n % 5 == 4)
        run.process.send_signal(signal.SIGKILL)
        return run

    a_life_of_deaths(make_floor, kill)


@pytest.mark.peer
def test_killed_in_the_middle_of_a_commit(make_floor: Callable[..., Floor]) -> None:
    """The same, when each death comes as a commit is about to be synced: durable or not, nobody was told of it."""

    def kill(floor: Floor, chance: random.Random, _n: int, sim: Child) -> Child:
        at = f"inject=fdatasync:signal=KILL:when={chance.randrange(1, 60)}"
        run = floor.spawn_run(*TRACED, "-e", "trace=fdatasync", "-e", at)
        floor.until(lambda: run.code is not None, at, sim)
        return run

    a_life_of_deaths(make_floor, kill)


def a_life_of_deaths(
    make_floor: Callable[..., Floor], kill: Callable[[Floor, random.Random, int, Child], Child]
) -> None:
    """A floor whose daemon dies ``KILLS`` times by ``kill`` and is started again; everything that must hold of it."""
    seed = int(os.environ.get("METERD_SEED", secrets.randbelow(10**6)))
    print(f"seed {seed}, {KILLS} kills")
    chance = random.Random(seed)
    floor = make_floor(seed=seed, habits={"lucky": 0.4, "late": 0.3})
    sim = floor.start_sim()
    first = floor.start_run()
    floor.until(lambda: amounts(floor), "a sign is set up and shows an amount", first, sim)
    assert 0 == floor.end(first)
    deaths: list[Death] = []
    for n in range(KILLS):
        run = kill(floor, chance, n, sim)
        at_s = time.monotonic()
        assert -signal.SIGKILL == run.wait()
        deaths.append(Death(at_s, fold(floor.records()).seq))
        if somebody_will_press(floor) and chance.random() < 0.5:
            floor.until(lambda: pressed_since(floor, at_s), "somebody presses a key of a dead floor", sim)  # noqa: B023
    run = floor.start_run()
    shown = len(amounts(floor))
    floor.until_kinds(len(floor.of_kind("GameEnded")) + 6, "GameEnded", run, sim)
    floor.until(lambda: len(amounts(floor)) > shown, "the signs show amounts again", run, sim)
    assert floor.end(run) == 0
    assert floor.end(sim) == 0
    hold(floor, deaths)


def hold(floor: Floor, deaths: list[Death]) -> None:
    """Every law, and the controls that show that two of them can fail."""
    records = floor.records()
    findings = ledger_findings(floor.ledger, records) + lamp_findings(floor, records)
    findings += wager_findings(floor, records, deaths) + unbacked(floor, records)
    for death in deaths:
        findings += death_findings(floor, records, death)
    unheard, missed = missed_findings(floor, records)
    lamps = len(floor.seen("lamp", lamp="steady"))
    left = [fold(records[: death.seq]) for death in deaths]
    locked = sum(table.state.value == "LOCKED" for book in left for table in book.tables.values())
    pending = sum(award.pending for book in left for award in book.awards.values())
    print(f"{len(records)} entries, {len(rounds(records))} rounds, {lamps} lamps; at the kills {locked} tables locked,")
    print(f"{pending} awards pending; {missed} presses unheard; {len(amounts(floor))} amounts on signs")
    assert [] == findings + unheard
    assert lamps > 0
    assert lamp_findings(floor, without_one_wager(records)), "a lamp without a wager must be found"
    assert ledger_findings(floor.ledger, [*records, records[-1]._replace(event_id=an_event(records))])


def amounts(floor: Floor) -> list[dict[str, Any]]:
    """Amounts that signs showed."""
    return [event for event in floor.seen("figure") if event["text"].startswith("$")]


def live_a_while(floor: Floor, chance: random.Random, sim: Child, *, young: bool) -> Child:
    """A daemon that lives until a random event of the floor, or, ``young``, dies somewhere in its start."""
    if young:
        run = floor.spawn_run()
        events = chance.randrange(30)
    else:
        run = floor.start_run()
        events = chance.randrange(400)
    had = len(floor.sim_log.read())
    limit = time.monotonic() + chance.uniform(0.2, 1.5) if young else float("inf")
    floor.until(
        lambda: len(floor.sim_log.read()) >= had + events or time.monotonic() > limit, f"{events} events", run, sim
    )
    return run


def somebody_will_press(floor: Floor) -> bool:
    """Whether a pad still shows a state that its dealer ends with END GAME."""
    shown = {text["table"]: text["lines"][0] for text in floor.seen("text")}
    return any(line.startswith(("LOCKED", "CLOSED END")) for line in shown.values())


def pressed_since(floor: Floor, at_s: float) -> bool:
    return any(event["t"] > at_s for what in ("key", "lock") for event in floor.seen(what))


def without_one_wager(records: list[Record]) -> list[Record]:
    """The same ledger with the first LOCK's wagers gone: the control of what the lamps tell."""
    at = next(n for n, record in enumerate(records) if record.kind == "Locked" and '"seat"' in record.body)
    body = {**json.loads(records[at].body), "wagers": []}
    return [*records[:at], records[at]._replace(body=json.dumps(body)), *records[at + 1 :]]


def an_event(records: list[Record]) -> str:
    return next(record.event_id for record in records if record.event_id)
