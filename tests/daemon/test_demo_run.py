"""``meterd demo`` as a visitor meets it: one command, from anywhere, and a figure that moves."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser
from floor_laws import ledger_findings
from floor_rig import LIMIT_S

from meterd.edge.store import read_records

MEGA = "document.querySelector('[data-level=mega] .amount')?.getAttribute('aria-label')"


def test_the_demo_plays_from_anywhere_and_reports(tmp_path: Path) -> None:
    """Started in ``/`` it ends by itself with one JSON document of the agreed fields, true to its ledger."""
    data = tmp_path / "demo"
    done = subprocess.run(
        [sys.executable, "-m", "meterd", "demo", "--seconds", "8", "--speed", "20", "--headless", "--json",
         "--data", str(data)],
        cwd="/", capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert re.search(r"DEMO.*http://127\.0\.0\.1:\d+/", done.stderr)
    report = json.loads(done.stdout)
    print(report)
    assert [
        "rounds", "wagers", "awards", "late_bets", "residual_microcents", "ledger_ok", "head", "late_polls",
        "steady_lamps_seen", "lamp_ms",
    ] == list(report)  # fmt: skip
    assert ["p50", "p99"] == list(report["lamp_ms"])

    records = list(read_records(data))
    kinds = Counter(record.kind for record in records)
    wagers = sum(len(json.loads(record.body)["wagers"]) for record in records if record.kind == "Locked")
    told = (kinds["GameEnded"], wagers, kinds["Claimed"], kinds["LateBet"], 0, True, records[-1].hash.hex())
    assert told == tuple(report.values())[:7]
    assert report["rounds"] > 0
    assert 0 < report["steady_lamps_seen"] <= wagers
    assert [] == ledger_findings(data, records)
    assert ["LedgerCreated", "Stopped"] == [records[0].kind, records[-1].kind]
    assert json.loads(records[0].body)["demo"] is True


class Visit:
    """A demo that goes on until told to stop."""

    def __init__(self, folder: Path) -> None:
        self.began_s = time.monotonic()
        self.words = folder / "demo.err"
        with self.words.open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "meterd", "demo", "--headless", "--data", str(folder / "demo")],
                stdout=subprocess.DEVNULL, stderr=err, start_new_session=True,
            )  # fmt: skip

    def address(self) -> str:
        """Where its pages are, once it says that they are there."""
        until = time.monotonic() + LIMIT_S
        while not (found := re.search(r"http://127\.0\.0\.1:\d+/", self.words.read_text("utf-8"))):
            assert time.monotonic() < until, self.words.read_text("utf-8")
            time.sleep(0.01)
        return found[0]

    def since_s(self) -> float:
        return time.monotonic() - self.began_s

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(LIMIT_S)


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    window = Browser(tmp_path / "profile")
    yield window
    window.close()


@pytest.mark.peer
def test_a_visitor_sees_a_figure_that_moves(tmp_path: Path, browser: Browser) -> None:
    """The sign's page answers and its figure changes at least twice; how soon is printed. Ctrl-C ends it cleanly."""
    visit = Visit(tmp_path)
    try:
        url = f"{visit.address()}sign/nexus-1"
        browser.open(url)
        browser.wait(f"return Boolean({MEGA})", True)
        answered_s = visit.since_s()
        browser.run(
            f"""window.seen = [{MEGA}];
            new MutationObserver(() => {{ const now = {MEGA}; if (now !== window.seen.at(-1)) window.seen.push(now); }})
              .observe(document.body, {{attributes: true, subtree: true, childList: true, characterData: true}});"""
        )
        browser.wait("return window.seen.length > 2", True)
        moved_s = visit.since_s()
        browser.wait("return document.getElementById('demo').hidden", False)
        browser.screenshot(tmp_path / "sign.png")
        print(
            f"answered after {answered_s:.1f} s, changed twice {moved_s - answered_s:.1f} s later; {tmp_path}/sign.png"
        )
        print(browser.run("return window.seen.slice(0, 20)"))
        assert [] == browser.console()
    finally:
        code = visit.stop()
    assert code == 0
    records = list(read_records(tmp_path / "demo"))
    assert [] == ledger_findings(tmp_path / "demo", records)
