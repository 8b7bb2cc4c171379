"""What all tests share: one hypothesis profile, and a word on what was left out."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, settings

#: Derandomized so that a run says the same thing twice; ``bench/`` explores at random.
settings.register_profile(
    "fixed", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("explore", derandomize=False, deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))

_LEFT_OUT = pytest.StashKey[int]()


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Count the tests that need an independent peer (once: every worker deselects the same)."""
    if items:
        stash = items[0].config.stash
        stash[_LEFT_OUT] = stash.get(_LEFT_OUT, 0) + sum(1 for item in items if item.get_closest_marker("peer"))
        output = getattr(items[0].config, "workeroutput", None)
        if output is not None:
            output["left_out"] = stash[_LEFT_OUT]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object) -> None:
    """Take the count over from a worker."""
    left_out = getattr(node, "workeroutput", {}).get("left_out", 0)
    config: pytest.Config = node.config  # type: ignore[attr-defined] # xdist's node
    config.stash[_LEFT_OUT] = max(config.stash.get(_LEFT_OUT, 0), left_out)


def pytest_terminal_summary(terminalreporter: object, config: pytest.Config) -> None:
    """Say how many tests wait for their peers."""
    left_out = config.stash.get(_LEFT_OUT, 0)
    if left_out:
        why = "need an independent peer (a browser, libmodbus, strace …) and were left out: pytest -m peer"
        terminalreporter.write_line(f"{left_out} tests {why}")  # type: ignore[attr-defined]
