"""Alerts: every number that means that somebody must act has one, and each alert is tried loud and quiet."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from meterd.app.stats import Histogram
from meterd.edge.web.metrics import exposition

RULES = Path(__file__).parents[2] / "systemd" / "prometheus" / "meterd.rules.yml"
TRIED = RULES.with_name("meterd.rules.test.yml")

#: What nobody has to act on, and why.
QUIET = {
    "meterd_build_info": "what runs",
    "meterd_config_info": "what runs",
    "meterd_meter_amount": "money: the ledger and its reports are looked at, not a float",
    "meterd_reserve_amount": "money",
    "meterd_overflow_amount": "money",
    "meterd_liability_amount": "money",
    "meterd_wager_amount": "money",
    "meterd_level_hits": "play",
    "meterd_awards": "play; what waits for somebody is meterd_award_pending",
    "meterd_table_state": "play; tables close every night",
    "meterd_bets": "play",
    "meterd_late_bets": "play",
    "meterd_games": "play",
    "meterd_sign_seq": "stands still while the floor sleeps; a sign that cannot be written is meterd_sign_up",
    "meterd_sas_level_age_seconds": "games notice after 5 s by themselves; silence while no table is open is right",
    "meterd_ledger_head_seq": "play",
    "meterd_ledger_entries": "play",
    "meterd_ledger_batch_entries": "how commits are shared; what is slow is meterd_ledger_commit_seconds",
}
#: What `meterd backup --metrics` writes for a node exporter.
WRITTEN = {"meterd_backup_timestamp_seconds"}


def families() -> set[str]:
    """The names of everything that a floor with one of each thing exposes."""
    level = {"display_microcents": 0, "reserve_microcents": 0, "overflow_microcents": 0, "hits": 0}
    snapshot = {
        "links": {"l": {"pending": 0, "liability_microcents": 0, "levels": {"m": level}}},
        "tables": {"T": {"state": "OPEN"}},
        "devices": {"d": {"up": True}},
    }
    line = {"up": True, "games": {"1": True}, "counts": {"polls": 1}, "level_age_ms": {"l/m": 1}}
    stats: dict[str, Any] = {
        "buses": {"b": {"frames": {"ok": 1}, "stuck": {"d/di0": 1}}},
        "signs": {"s": {"up": True}},
        "sas": {"b": line},
        "refused": [["T", "R", 1]],
        "checkpoints": {"signs": True, "owed": 0, "unsigned": 0, "made_up": 0, "kept_at_s": 1.0},
        "commit_seconds": Histogram().to_json(),
        "batch_entries": Histogram().to_json(),
    }
    text = exposition(snapshot, stats, up=True).decode()
    return {name.removesuffix("_total") for name in re.findall(r"^# TYPE (\w+) ", text, re.MULTILINE)}


def test_every_number_has_an_alert_or_a_reason_to_have_none() -> None:
    """Of a new metric somebody decides it; a rule about a metric that is gone is found, too."""
    expressions = re.findall(r"expr: (.*(?:\n {10,}.*)*)", RULES.read_text("utf-8"))
    named = {re.sub(r"_(total|bucket)$", "", name) for text in expressions for name in re.findall(r"meterd_\w+", text)}
    there = families()
    assert WRITTEN == named - there
    assert set() == there - named - set(QUIET)
    assert set() == set(QUIET) - (there - named)


def test_each_alert_is_tried_loud_and_quiet() -> None:
    """A unit test of each: silent when nothing is wrong, with its words when something is."""
    alerts = re.findall(r"- alert: (\w+)", RULES.read_text("utf-8"))
    tried = TRIED.read_text("utf-8")
    assert sorted(alerts) == sorted(re.findall(r"alertname: (\w+), exp_alerts: \[\]", tried))
    assert sorted(alerts) == sorted(re.findall(r"alertname: (\w+)\n +exp_alerts:\n +- exp_labels", tried))


@pytest.mark.peer
def test_promtool_agrees() -> None:
    """Prometheus' own tool evaluates them."""
    promtool = shutil.which("promtool")
    assert promtool is not None
    done = subprocess.run([promtool, "test", "rules", str(TRIED)], capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stdout + done.stderr


def test_whether_readings_are_kept_is_told() -> None:
    """A checkpoint that a folder did not take, a reading that nobody signed; nothing is invented where nobody tells."""

    def lines(stats: dict[str, Any]) -> list[str]:
        text = exposition({"closed": "disk"}, stats, up=True).decode()
        found = ("meterd_checkpoint_", "meterd_readings_", "meterd_closed", "meterd_frames_", "meterd_overruns_total")
        return [line for line in text.splitlines() if line.startswith(found) and "_created" not in line]

    state = {"owed": 2, "unsigned": 1, "kept_at_s": 1_780_000_000.0}
    assert [
        "meterd_closed 1.0",
        'meterd_overruns_total{port="pit-1"} 3.0',
        "meterd_frames_lost_total 4.0",
        "meterd_frames_failures_total 5.0",
        "meterd_checkpoint_owed 2.0",
        "meterd_readings_unsigned_total 1.0",
        "meterd_checkpoint_timestamp_seconds 1.78e+09",
    ] == lines({"checkpoints": state, "frames": {"lost": 4, "failures": 5}, "overruns": {"pit-1": 3}})
    assert [
        "meterd_closed 1.0",
        "meterd_frames_lost_total 0.0",
        "meterd_frames_failures_total 0.0",
        "meterd_readings_unsigned_total 0.0",
    ] == lines({})
