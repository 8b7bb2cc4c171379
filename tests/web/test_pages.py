"""The pages process, over real HTTP, in front of a real control socket."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from typing import Any

import pytest


def test_ready_follows_the_daemon(web: Any, daemon: Any) -> None:
    """/healthz is this process; /readyz is the daemon behind it and says why not."""
    assert web.get("/healthz")[::2] == (200, "ok\n")
    daemon.show(5_001_300, closed="the ledger's disk failed")
    web.wait_ready(status=503)
    assert web.get("/readyz")[2] == "not ready: the ledger's disk failed\n"


def test_closed_tables_are_told_and_do_not_make_the_daemon_unready(web: Any, daemon: Any) -> None:
    """Ready is the daemon and its ledger; a closed floor is for the alerts, and is said."""
    assert web.get("/readyz")[::2] == (200, "ready\n")
    shut = {name: {**table, "state": "CLOSED"} for name, table in daemon.snapshot["tables"].items()}
    daemon.show(5_001_300, tables=shut)
    next(e for e in web.events("/events") if all(t["state"] == "CLOSED" for t in e["tables"].values()))
    assert web.get("/readyz")[::2] == (200, f"ready, {len(shut)} of {len(shut)} tables closed\n")


def test_a_dead_daemon_closes_every_page(web: Any, daemon: Any) -> None:
    """When the daemon is gone the events say so, and no amount is offered as current."""
    daemon.stop()
    web.wait_ready(status=503)
    closed = next(e for e in web.events("/events?link=nexus-1") if e["closed"])
    assert closed["closed"] == "the controller does not answer"


def test_events_bring_newer_figures_and_never_an_older_one(web: Any, daemon: Any) -> None:
    """A sign page hears each committed state in order, or skips it."""
    stream = web.events("/events?link=nexus-1")
    first = next(stream)
    assert first["link"]["levels"]["mega"]["display_cents"] == 5_001_234
    assert set(first) == {"seq", "at_utc", "site", "currency", "demo", "closed", "link", "awards"}
    for cents in range(5_001_300, 5_001_400):
        daemon.show(cents)
    seen = list(itertools.takewhile(lambda e: e["link"]["levels"]["mega"]["display_cents"] != 5_001_399, stream))
    assert [e["seq"] for e in seen] == sorted(e["seq"] for e in seen)


def test_a_foreign_host_is_refused_and_every_answer_is_guarded(web: Any) -> None:
    """A page elsewhere cannot reach us by another name; ours may load nothing but ours."""
    assert web.get("/", Host="evil.example")[0] == 400
    status, headers, _ = web.get("/")
    assert status == 200
    assert headers["content-security-policy"].startswith("default-src 'self';")
    assert "access-control-allow-origin" not in headers


def test_an_unknown_link_names_the_known_ones(web: Any) -> None:
    """A mistyped sign address says what there is."""
    assert web.get("/sign/nexus-2")[::2] == (404, "no link 'nexus-2' here; links: nexus-1\n")
    assert web.get("/sign/nexus-1")[0] == 200


def test_metrics_name_units_and_links(web: Any) -> None:
    """The exposition speaks of every link, level and table, in major units with a currency."""
    _, headers, text = web.get("/metrics")
    assert headers["content-type"].startswith("text/plain")
    for line in (
        'meterd_meter_amount{currency="USD",level="mega",link="nexus-1"} 50012.34',
        'meterd_table_state{state="OPEN",table="T1"} 1.0',
        'meterd_bets_total{table="T1"} 12.0',
        'meterd_late_bets_total{table="T1"} 0.0',
        'meterd_wager_amount_total{currency="USD",link="nexus-1"} 12.0',
        'meterd_serial_frames_total{port="pit-1",result="crc"} 1.0',
        'meterd_ledger_commit_seconds_bucket{le="+Inf"} 4.0',
        "meterd_reconcile_difference_amount 0.0",
        "meterd_demo_mode 1.0",
        "meterd_up 1.0",
    ):
        assert line in text.splitlines(), line


def test_a_dead_daemon_is_a_metric(web: Any, daemon: Any) -> None:
    """A scrape is answered without a daemon, and says only that it is gone."""
    daemon.stop()
    web.wait_ready(status=503)
    samples = [line for line in web.get("/metrics")[2].splitlines() if not line.startswith("#")]
    assert samples == ["meterd_up 0.0"]


@pytest.mark.peer
def test_promtool_finds_nothing_wrong_with_the_metrics(web: Any) -> None:
    """Prometheus' own linter reads the exposition."""
    promtool = shutil.which("promtool")
    assert promtool is not None
    text = web.get("/metrics")[2]
    lint = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    assert (lint.returncode, lint.stdout + lint.stderr) == (0, "")
