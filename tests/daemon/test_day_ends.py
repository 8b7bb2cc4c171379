"""A real daemon on a ledger whose day is long over: it reads the day, begins the next file and signs, and survives."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from meterd.accounting.commands import SYSTEM, EndGame, Lock, OpenTable, WagerSeen
from meterd.app import create
from meterd.app.checkpoints import remembered
from meterd.app.commit import Stamp, resume
from meterd.app.create import create_ledger
from meterd.app.demo_floor import site_text
from meterd.app.key_change import put_in_force
from meterd.app.redecide import Judging
from meterd.app.verify import verify
from meterd.config import load_site
from meterd.edge.catalogue import catalogue
from meterd.edge.clock import Clock, Instant
from meterd.edge.keys import new_key_file
from meterd.edge.store import Store, read_records
from meterd.edge.volume import volumes

LIMIT_S = 20


class EarlierClock(Clock):
    """The clock of a day ago."""

    def now(self) -> Instant:
        now = super().now()
        back = 86_400 * 10**9
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime((now.wall_ns - back) // 10**9))
        return Instant(f"{at}.000000Z", now.boot, now.mono_ns, now.wall_ns - back)


def _run(folder: Path, *options: str) -> subprocess.Popen[bytes]:
    ledger, socket = folder / "ledger", folder / "control.sock"
    site = folder / "site.toml"
    command = [
        sys.executable,
        "-m",
        "meterd",
        "run",
        "--demo",
        "--config",
        site,
        "--ledger",
        ledger,
        "--socket",
        socket,
    ]
    with (folder / "log").open("ab") as log:
        return subprocess.Popen([*command, *options], stderr=log, stdout=log)


def _wait(wanted: Path, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + LIMIT_S
    while not wanted.exists():
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < until, log.read_text()
        os.sched_yield()


def test_a_day_that_is_over_is_read_and_signed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed with -9 behind its checkpoint; the next run goes on; without the key's own copy it does not start."""
    text = site_text(tmp_path / "ports", 100, 9477)
    (tmp_path / "site.toml").write_text(text)
    monkeypatch.setattr(create, "Clock", EarlierClock)
    ledger = tmp_path / "ledger"
    create_ledger(ledger, load_site(text, "site.toml", catalogue()), demo=True)
    public = new_key_file(tmp_path / "key", "demo")
    monkeypatch.setattr("meterd.app.key_change.Clock", EarlierClock)
    put_in_force(ledger, public, first="adm-1", second="acc-1", reference="K-1")
    with closing(Store.open(ledger)) as store:  # a ledger in which nothing was played begins on the clock's day
        now = EarlierClock().now
        committer = resume(store, lambda: Stamp(now().at_utc, now().boot, now().mono_ns))
        for command in (
            OpenTable(actor=SYSTEM, table="LIR-1"),
            Lock(actor=SYSTEM, table="LIR-1", wagers=(WagerSeen(1),)),
            EndGame(actor=SYSTEM, table="LIR-1"),
        ):
            assert committer.decide(command).refusal is None
        committer.commit()
    size = sum(1 for _ in read_records(ledger)) + 2  # Started, and the reading
    process = _run(tmp_path, "--key", str(tmp_path / "key"))
    try:
        _wait(ledger / f"checkpoint-{size}.txt", process, tmp_path / "log")
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(LIMIT_S)
    assert 2 == len(volumes(ledger))
    new_key_file(tmp_path / "other", "demo")
    stranger = _run(tmp_path, "--key", str(tmp_path / "other"))
    assert 78 == stranger.wait(LIMIT_S)
    assert "is not in force" in (tmp_path / "log").read_text()
    (tmp_path / "control.sock").unlink(missing_ok=True)
    process = _run(tmp_path, "--key", str(tmp_path / "key"))
    try:
        _wait(tmp_path / "control.sock", process, tmp_path / "log")
    finally:
        process.send_signal(signal.SIGTERM)
        assert 0 == process.wait(LIMIT_S)
    kept = remembered([ledger])
    report = verify(ledger, since=[one.checkpoint for one in kept], judge=Judging().judge)
    assert report.ok, report.first_bad
    assert (size,) == report.since
    told = ["Started", "DayRead", "BookCarried", "Started", "Stopped"]  # between them, the modules that are not there
    kinds = [record.kind for record in read_records(ledger) if record.kind in told]
    assert told == kinds
