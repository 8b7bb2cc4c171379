"""A daemon's control socket with a snapshot that a test may change, and the real web process in front of it."""

from __future__ import annotations

import asyncio
import copy
import http.client
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from meterd.edge.control import ControlServer

LIMIT_S = 20

SNAPSHOT: dict[str, Any] = {
    "seq": 41,
    "at_utc": "2026-12-01T06:00:00.000000Z",
    "site": "riverside",
    "currency": "USD",
    "demo": True,
    "residual_microcents": 0,
    "closed": None,
    "links": {
        "nexus-1": {
            "paytable": "co/nexus/pmg-ml-02",
            "wager_cents": 100,
            "suspended": None,
            "liability_microcents": 123_000_000,
            "pending": 0,
            "levels": {
                name: {
                    "display_cents": cents,
                    "display_microcents": cents * 1_000_000,
                    "reserve_microcents": 3_000_000,
                    "overflow_microcents": 0,
                    "seed_cents": 100_000,
                    "limit_cents": None,
                    "wagers": 12,
                    "hits": 0,
                }
                for name, cents in (("mega", 5_001_234), ("major", 500_120), ("minor", 100_110))
            },
        }
    },
    "tables": {
        "T1": {
            "link": "nexus-1",
            "game": "let-it-ride",
            "state": "OPEN",
            "closed_reason": "",
            "round": 3,
            "seats": 7,
            "present": [1, 2],
            "accepted": [],
            "wagers_cents": 0,
            "pending": [],
            "text": ["OPEN 2 BETS", ""],
        }
    },
    "awards": [],
    "devices": {"pit-1/40": {"up": True, "cause": None}},
}

STATS: dict[str, Any] = {
    "version": "0.1.0",
    "site_sha256": "ab",
    "bets": {"T1": 12},
    "late_bets": {},
    "games": {"T1": 2},
    "refused": [["T1", "SEAT_HAS_NO_WAGER", 2]],
    "awards": {},
    "wagered_cents": {"nexus-1": 1200},
    "entries": 41,
    "clock_steps": 0,
    "log_dropped": 0,
    "queue": 0,
    "loop_lag_seconds_max": 0.01,
    "commit_seconds": {"bounds": [0.001, 0.01], "counts": [3, 1, 0], "sum": 0.004},
    "batch_entries": {"bounds": [1, 2], "counts": [4, 0, 0], "sum": 4},
    "buses": {"pit-1": {"polls": 100, "late_polls": 0, "frames": {"ok": 99, "crc": 1}}},
    "signs": {"pit-sign": {"up": True, "seq": 40}},
}


class FakeDaemon:
    """The socket side of a daemon, in a thread of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.snapshot = copy.deepcopy(SNAPSHOT)
        self._ready = threading.Event()
        self._stop = asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=lambda: self._loop.run_until_complete(self._main()))
        self._thread.start()
        assert self._ready.wait(LIMIT_S)

    async def _main(self) -> None:
        async def handle(_request: dict[str, Any], _uid: int) -> dict[str, Any]:
            return STATS

        self.server = ControlServer(self.path, lambda: self.snapshot, handle)
        await self.server.start()
        self._ready.set()
        await self._stop.wait()
        await self.server.stop()

    def show(self, cents: int, **changes: Any) -> None:
        """Publish a new figure on the mega."""
        snapshot = copy.deepcopy(self.snapshot)
        snapshot["seq"] += 1
        snapshot.update(changes)
        snapshot["links"]["nexus-1"]["levels"]["mega"]["display_cents"] = cents
        self.snapshot = snapshot
        self.announce()

    def announce(self) -> None:
        self._loop.call_soon_threadsafe(self.server.announce_soon)

    def stop(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(LIMIT_S)
            self._loop.close()


class Web:
    """The real process, asked over HTTP."""

    def __init__(self, control: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        command = [sys.executable, "-m", "meterd", "web", "--socket", str(control), "--port", str(self.port)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE)

    def get(self, path: str, **headers: str) -> tuple[int, dict[str, str], str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S)
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        body = answer.read().decode()
        connection.close()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, body

    def wait_ready(self, path: str = "/readyz", status: int = 200) -> None:
        """Until the process answers so, within the one generous limit."""
        until = time.monotonic() + LIMIT_S
        while time.monotonic() < until:
            try:
                if self.get(path)[0] == status:
                    return
            except OSError:
                assert self.process.poll() is None, self.process.stderr
        raise AssertionError(f"{path} never answered {status}")

    def events(self, path: str) -> Iterator[dict[str, Any]]:
        """Server-sent events as they come."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S)
        connection.request("GET", path)
        answer = connection.getresponse()
        try:
            while line := answer.fp.readline():
                if line.startswith(b"data: "):
                    yield json.loads(line[6:])
        finally:
            connection.close()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(LIMIT_S)
        assert self.process.stderr is not None
        self.process.stderr.close()


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[FakeDaemon]:
    fake = FakeDaemon(tmp_path / "control.sock")
    yield fake
    fake.stop()


@pytest.fixture
def web(daemon: FakeDaemon) -> Iterator[Web]:
    process = Web(daemon.path)
    process.wait_ready()
    yield process
    process.stop()
