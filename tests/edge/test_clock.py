"""The only clock."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from meterd.edge.clock import SYNCHRONISED_NS, Clock, Instant


def test_a_moment_is_written_with_microseconds_and_z() -> None:
    """The ledger's time has one form."""
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", Clock().now().at_utc)


def test_a_step_of_the_wall_clock_is_reported_once() -> None:
    """Half a second is tolerated; beyond it the step is told once and then becomes the new offset."""
    clock = Clock()
    base = clock.now()

    def later(mono_ms: int, step_ms: int) -> Instant:
        return base._replace(
            mono_ns=base.mono_ns + mono_ms * 1_000_000, wall_ns=base.wall_ns + (mono_ms + step_ms) * 1_000_000
        )

    assert clock.step_ms(later(1000, 0)) == 0
    assert clock.step_ms(later(2000, 400)) == 0
    assert abs(clock.step_ms(later(3000, -60_000)) + 60_000) <= 1
    assert clock.step_ms(later(4000, -60_000)) == 0
    assert abs(clock.step_ms(later(5000, 0)) - 60_000) <= 1


def test_a_clock_that_a_time_server_has_set_of_late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system's file was touched not long before; not where it is missing, old, or of a time to come."""
    file = tmp_path / "synchronized"
    monkeypatch.setattr("meterd.edge.clock.SYNCHRONISED", file)
    clock = Clock()
    now = clock.now()
    assert not clock.synchronised(now)
    file.touch()
    for ago_ns, says in {0: True, SYNCHRONISED_NS: True, SYNCHRONISED_NS + 1: False, -1: False}.items():
        os.utime(file, ns=(now.wall_ns - ago_ns, now.wall_ns - ago_ns))
        assert says is clock.synchronised(now), ago_ns
    os.utime(file, ns=(now.wall_ns, now.wall_ns))
    assert not clock.synchronised(now._replace(wall_ns=now.wall_ns + 3 * 86_400 * 10**9)), "set by hand since"
