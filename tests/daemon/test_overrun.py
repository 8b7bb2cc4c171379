"""A queue that overflows again and again: tables close and say so, the lines begin anew, and nothing is invented."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from floor_effects import unbacked
from floor_laws import lamp_findings, ledger_findings, missed_findings
from floor_rig import Floor

from meterd.edge.control import ask

FULL_QUEUE = str(Path(__file__).with_name("full_queue.py"))


def test_lost_events_close_their_tables_and_the_floor_goes_on(make_floor: Callable[..., Floor]) -> None:
    """Every overrun is noted and overcome by END GAME; lamps, wagers and keys stay true throughout."""
    floor = make_floor(habits={"lucky": 0.3, "late": 0.3})
    sim = floor.start_sim()
    run = floor.start_run(program=(FULL_QUEUE,))
    floor.until(lambda: sum('"overrun"' in r.body for r in floor.of_kind("TableClosed")) >= 4, "overruns", run, sim)
    had = games(floor)
    floor.until(lambda: all(games(floor)[table] >= had[table] + 2 for table in had), "games at each table", run, sim)
    stats = ask(floor.socket, {"op": "stats"})
    assert sum(stats["overruns"].values()) >= 4
    assert 0 == floor.end(run)
    records = floor.records()
    unheard, _ = missed_findings(floor, records)
    assert [] == ledger_findings(floor.ledger, records) + lamp_findings(floor, records) + unbacked(floor, records)
    assert [] == unheard


def games(floor: Floor) -> Counter[str]:
    """Games ended, by table; each table once more, so that none is left out."""
    return Counter([record.table_id or "" for record in floor.of_kind("GameEnded")] + [t.id for t in floor.site.tables])
