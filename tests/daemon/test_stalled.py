"""Somebody does not take what the daemon says: its log, its pages' stream, a sign's line. The floor plays on."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import socket
import subprocess
import sys
import tty
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from floor_effects import unbacked
from floor_laws import lamp_findings, ledger_findings
from floor_rig import LIMIT_S, Floor

from meterd.edge.control import ask

ROUNDS = 12


@contextlib.contextmanager
def a_log_nobody_reads(floor: Floor) -> Iterator[None]:
    """The daemon with a pipe for its log that was full before its first line."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writing, b"x" * 4096)
    os.set_blocking(writing, True)
    places = ("--config", str(floor.site_file), "--ledger", str(floor.ledger), "--socket", str(floor.socket))
    command = [sys.executable, "-m", "meterd", "run", *places, "--demo"]
    with subprocess.Popen(command, stdout=writing, stderr=writing, start_new_session=True) as run:
        try:
            yield
            run.send_signal(signal.SIGTERM)
            assert run.wait(LIMIT_S) == 0
        finally:
            run.kill()
            os.close(reading)
            os.close(writing)


@contextlib.contextmanager
def a_stream_nobody_reads(floor: Floor) -> Iterator[None]:
    """A client of the control socket that subscribes and leaves it at that."""
    run = floor.start_run()
    with socket.socket(socket.AF_UNIX) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(str(floor.socket))
        client.sendall(b'{"op":"subscribe"}\n')
        yield
    assert floor.end(run) == 0


@contextlib.contextmanager
def a_sign_that_takes_nothing(floor: Floor) -> Iterator[None]:
    """A line to a sign with nobody at its other end, full after some writes."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    line = floor.ports / "sign-1"
    line.unlink()
    line.symlink_to(os.ttyname(slave))
    os.set_blocking(slave, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(slave, b"x" * 1024)
    run = floor.start_run()
    yield
    assert floor.end(run) == 0
    os.close(slave)
    os.close(master)


STALLS = [a_log_nobody_reads, a_stream_nobody_reads, a_sign_that_takes_nothing]


@pytest.mark.peer
@pytest.mark.parametrize("stall", STALLS)
def test_the_floor_plays_on(
    make_floor: Callable[..., Floor], stall: Callable[[Floor], contextlib.AbstractContextManager[None]]
) -> None:
    """Rounds are locked and ended, every lamp has its wager, the other sign shows its figures, and a stop is clean."""
    floor = make_floor(habits={"lucky": 0.2})
    sim = floor.start_sim()
    with stall(floor):
        floor.until(lambda: _answers(floor.socket), "the daemon answers", sim)
        floor.until_kinds(ROUNDS, "GameEnded", sim)
        assert floor.snapshot()["residual_microcents"] == 0
    records = floor.records()
    assert [] == ledger_findings(floor.ledger, records) + lamp_findings(floor, records) + unbacked(floor, records)
    assert "Stopped" == records[-1].kind


def _answers(path: Path) -> bool:
    with contextlib.suppress(OSError):
        return bool(ask(path, {"op": "snapshot"}))
    return False
