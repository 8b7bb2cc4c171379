"""The disk under the ledger fails while people play: the floor closes, and nothing that anybody was told is lost."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from floor_effects import unbacked
from floor_laws import IN_FLIGHT_S, lamp_findings, ledger_findings, safe_findings
from floor_rig import Floor, named

from meterd.errors import EXIT_LEDGER

pytestmark = pytest.mark.peer


@pytest.mark.parametrize(
    "fault",
    [
        "fdatasync:error=EIO:when=60+",
        "fdatasync:error=EIO:when=60",
        "pwrite64:error=ENOSPC:when=400+",
        "pwrite64:error=EROFS:when=400+",
    ],
    ids=["syncs fail", "one sync fails", "the disk is full", "the disk turns read-only"],
)
def test_a_failing_disk_closes_the_floor(make_floor: Callable[..., Floor], fault: str) -> None:
    """Windows close, lamps go dark, signs say CLOSED, exit 74; the next start verifies and plays on."""
    floor = make_floor(habits={"lucky": 0.4})
    sim = floor.start_sim()
    call = fault.partition(":")[0]
    run = floor.start_run("strace", "-D", "-f", "--seccomp-bpf", "-o", "/dev/null",
                          "-e", f"trace={call}", "-e", f"inject={fault}")  # fmt: skip
    floor.until(lambda: run.code is not None, "the daemon ends by itself", sim)
    ended_s = time.monotonic()
    assert run.code == EXIT_LEDGER
    cause = named(run.log.read(), "money.closed")[0]["cause"]
    print(cause)
    assert "unknown" in cause or "failed" in cause
    floor.until_none(safe_findings, "a safe floor", sim)
    assert [] == safe_findings(floor, ended_s + IN_FLIGHT_S)
    lost = len(floor.records())
    assert [] == findings(floor)

    run = floor.start_run()
    floor.until_kinds(len(floor.of_kind("GameEnded")) + 4, "GameEnded", run, sim)
    assert floor.end(run) == 0
    assert len(floor.records()) > lost
    assert [] == findings(floor)


def findings(floor: Floor) -> list[str]:
    """Whatever anybody was told stands in a ledger that holds."""
    records = floor.records()
    return ledger_findings(floor.ledger, records) + lamp_findings(floor, records) + unbacked(floor, records)
