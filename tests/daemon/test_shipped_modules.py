"""Bought modules under the whole program: tables hang on them, people play, and the ledger is what they saw."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from floor_laws import FOREVER, ledger_findings, rounds
from floor_rig import FLOOR, Floor, site_text


@pytest.mark.parametrize("profile", ["moxa-iologik-r1212", "adam-4150-counters"])
def test_a_table_plays_on_a_bought_module(profile: str, make_floor: Callable[..., Floor], tmp_path: Path) -> None:
    """Inputs, counters of that word order, lamps and the lock button where its profile says; we blink its lamps.

    Every wager had a lamp that stayed lit, and every such lamp a wager. (Where we toggle lamps, one that was lit when
    LOCK came has been lit since before, so the moment it came on is no measure here.)
    """
    table = FLOOR[1]._replace(seats=6)
    text = site_text(tmp_path / "floor" / "ports", (table,), signs=False, levels_ms=100)
    floor = make_floor(site=text.replace('"generic-sensors-16"', f'"{profile}"'), tables=(table,))
    sim = floor.start_sim()
    run = floor.start_run()
    floor.until_kinds(3, "GameEnded", run, sim)
    assert 0 == floor.end(run)
    records = floor.records()
    assert [] == ledger_findings(floor.ledger, records)
    lit: dict[int, set[int]] = {}
    for lamp in floor.seen("lamp", lamp="steady"):
        lit.setdefault(lamp["lock"], set()).add(lamp["seat"])
    taken = [set(each.seats) for each in rounds(records) if each.seats and each.ended_s < FOREVER]
    assert taken == [lit[press] for press in sorted(lit)][: len(taken)]
    assert [] == floor.of_kind("DeviceLost")


def test_a_module_without_power_for_a_moment(make_floor: Callable[..., Floor], tmp_path: Path) -> None:
    """Its counters begin again at 0, and nothing of them is taken for what was before: the laws hold of each part."""
    table = FLOOR[1]
    text = site_text(tmp_path / "floor" / "ports", (table,), signs=False)
    floor = make_floor(site=text, tables=(table,))
    device = floor.site.tables[0].sensors.device
    sim = floor.start_sim(f"at 12 reboot {device}\n")
    run = floor.start_run()
    floor.until_kinds(1, "DeviceLost", run, sim)
    ended = len(floor.of_kind("GameEnded"))
    assert ended > 0
    floor.until_kinds(ended + 4, "GameEnded", run, sim)
    assert 0 == floor.end(run)
    records = floor.records()
    assert ["restarted"] == [json.loads(record.body)["cause"] for record in floor.of_kind("DeviceLost")]
    assert [] == ledger_findings(floor.ledger, records, rebooted={device})
    assert ledger_findings(floor.ledger, records), "that presses are numbered anew must be seen"
