"""How a demo ends that nobody stops: it leaves no process, no port and no torn ledger, and says what happened."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from floor_laws import ledger_findings
from floor_rig import LIMIT_S, LOOK_S

from meterd.app.create import create_ledger
from meterd.app.demo import PORT_WANTED
from meterd.app.demo_floor import site_text
from meterd.config import load_site
from meterd.edge.catalogue import catalogue
from meterd.edge.store import Store, read_records

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts demos in the folder ``demo``; ends them and their children whatever happens."""
    started: list[subprocess.Popen[str]] = []

    def begin(*options: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "meterd", "demo", "--headless", "--data", str(tmp_path / "demo"), *options],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        started.append(process)
        return process

    yield begin
    for process in started:
        for pid in (*children(process.pid).values(), process.pid):
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        process.wait(LIMIT_S)
        if process.stderr is not None:
            process.stderr.close()


def children(parent: int) -> dict[str, int]:
    """The verbs of a demo's children and their process ids."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes().decode().split("\0")
            if _stat(int(folder.name))[1] == str(parent) and "meterd" in words:
                found[words[words.index("meterd") + 1]] = int(folder.name)
    return found


def _stat(pid: int) -> list[str]:
    """State, parent and so on, as the kernel tells them."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _lives(pid: int) -> bool:
    try:
        return _stat(pid)[0] != "Z"
    except OSError:
        return False


def _told(process: subprocess.Popen[str], words: str) -> list[str]:
    """What a demo says, up to a line with these words."""
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        lines.append(line)
        if words in line:
            return lines
    raise AssertionError(f"{words!r} was never said: {lines}")


def test_the_children_of_a_killed_demo_end_in_order(start: Start, tmp_path: Path) -> None:
    """Kill -9: all three end, the ports and the socket are gone, and the ledger ends with Stopped and holds."""
    demo = start()
    _told(demo, "END GAME")
    left = children(demo.pid)
    assert {"sim", "run", "web"} == set(left)
    demo.kill()
    demo.wait(LIMIT_S)
    until = time.monotonic() + LIMIT_S
    while any(map(_lives, left.values())):
        assert time.monotonic() < until, left
        time.sleep(LOOK_S)
    folder = tmp_path / "demo"
    assert [] == list((folder / "ports").iterdir())
    assert not (folder / "control.sock").exists()
    records = list(read_records(folder))
    assert "Stopped" == records[-1].kind
    assert [] == ledger_findings(folder, records)


def test_a_demo_that_nobody_reads_ends_cleanly(start: Start, tmp_path: Path) -> None:
    """The reader of its standard error leaves, as ``head -3`` does: exit 0, and the ledger ends with Stopped."""
    demo = start()
    first = _told(demo, "control socket")
    assert any(f"meterd meters --socket {tmp_path}/demo/control.sock" in line for line in first)
    assert demo.stderr is not None
    demo.stderr.close()
    assert 0 == demo.wait(LIMIT_S)
    assert "Stopped" == list(read_records(tmp_path / "demo"))[-1].kind


def test_a_child_that_is_killed_is_named(start: Start, tmp_path: Path) -> None:
    """Exit 2; which, how, and where all its output is."""
    demo = start()
    _told(demo, "control socket")
    os.kill(children(demo.pid)["run"], signal.SIGKILL)
    words = "".join(_told(demo, "All its output"))
    assert "meterd demo: run ended by itself (signal 9)" in words
    assert f"All its output: {tmp_path}/demo/run.log" in words
    assert 2 == demo.wait(LIMIT_S)


def test_the_last_words_of_a_child_are_on_the_screen(start: Start, tmp_path: Path) -> None:
    """The daemon finds its ledger held by another: its sentence is not only in its log."""
    folder = tmp_path / "demo"
    text = site_text(folder / "ports", 100, 9477)
    create_ledger(folder, load_site(text, "site.toml", catalogue()), demo=True)
    holder = Store.open(folder)
    demo = start()
    words = "".join(_told(demo, "All its output"))
    holder.close()
    assert "(exit 74): meterd run: " in words
    assert "held" in words
    assert 2 == demo.wait(LIMIT_S)


def test_a_port_that_is_taken_is_said(start: Start) -> None:
    """The pages move, and the first line says so."""
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):  # taken already is as good
            other.bind(("127.0.0.1", PORT_WANTED))
            other.listen()
        demo = start("--seconds", "1")
        first, second = _told(demo, "DEMO")
        port = second.partition("127.0.0.1:")[2].partition("/")[0]
        assert f"port {PORT_WANTED} is in use by another program: the pages are at port {port} instead\n" == first
        assert port != str(PORT_WANTED)
        _told(demo, "ledger verified")
        assert 0 == demo.wait(LIMIT_S)
