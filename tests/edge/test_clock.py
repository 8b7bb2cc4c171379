"""The only clock."""

from __future__ import annotations

import re

from meterd.edge.clock import Clock, Instant


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
