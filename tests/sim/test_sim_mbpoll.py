"""The simulated module as a stranger's master sees it: mbpoll (C, libmodbus) on the daemon's side of the line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from meterd.app.demo_floor import plan, site_text
from meterd.config import load_site
from meterd.edge.catalogue import catalogue

pytestmark = pytest.mark.peer

LIMIT_S = 20


@pytest.fixture
def port(tmp_path: Path) -> Iterator[Path]:
    """The line of the first table's sensors, served by the real ``meterd sim``."""
    ports = tmp_path / "ports"
    ports.mkdir()
    floor = plan(load_site(site_text(ports, 40, 9477), "site.toml", catalogue()))
    (tmp_path / "plan.json").write_text(json.dumps({**floor, "tables": []}), encoding="utf-8")
    command = [sys.executable, "-m", "meterd", "sim", "--plan", str(tmp_path / "plan.json")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as sim:
        assert sim.stdout is not None
        assert json.loads(sim.stdout.readline())["ready"] is True
        yield ports / "pit-1"
        sim.terminate()


def _mbpoll(port: Path, *arguments: str, unit: int = 60) -> tuple[int, list[str]]:
    """Exit code, and the values that were read, without their numbers."""
    line = ["mbpoll", "-m", "rtu", "-a", str(unit), "-b", "115200", "-P", "none", "-q"]
    done = subprocess.run([*line, *arguments], capture_output=True, text=True, timeout=LIMIT_S, check=False)
    return done.returncode, [row.split()[-1] for row in done.stdout.splitlines() if row.startswith("[")]


def test_a_stranger_reads_inputs_identity_and_writes_lamps(port: Path) -> None:
    """Sixteen inputs are off, the identity registers say MS16, and coils keep what was written."""
    assert (0, ["0"] * 16) == _mbpoll(port, "-t", "1", "-r", "1", "-c", "16", "-1", str(port))
    assert (0, ["0x4D53", "0x3136"]) == _mbpoll(port, "-t", "3:hex", "-r", "257", "-c", "2", "-1", str(port))
    assert 0 == _mbpoll(port, "-t", "0", "-r", "1", str(port), "1", "0", "1")[0]
    assert (0, ["1", "0", "1"]) == _mbpoll(port, "-t", "0", "-r", "1", "-c", "3", "-1", str(port))


def test_a_unit_that_is_not_there_stays_silent(port: Path) -> None:
    """Nobody answers for unit 61 on this line."""
    code, values = _mbpoll(port, "-t", "1", "-1", "-o", "0.3", str(port), unit=61)
    assert (1, []) == (code, values)
