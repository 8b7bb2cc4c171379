"""What mutants are tried with: checks, and the lines of the money's code that each of them executes.

A check is a test (one item of pytest, run without its reports), a random floor or a card room against its twin, made
from its seed.
"""

from __future__ import annotations

import functools
import os
import random
import resource
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import hypothesis
import pytest

FLOORS, MORE_FLOORS, STEPS = 16, 40, 80
ROOMS, ACTS = 12, 60
#: A check that takes longer than this tries no mutants: random floors do what it would, in less time.
LONG_S = 0.35
#: Known to take longer: not even looked at.
SLOW = (
    "test_machine.py",
    "test_properties.py",
    "test_twin_links.py",
    "test_corrected.py",
    "test_twin.py",
    "test_twin_caps.py::test_limits_agree",
    "test_worked_examples.py",
    "test_long_run.py::test_the_mean",
    "TestRollingFloor",
    "test_pool_twin.py",
)
MEMORY = 2_000_000_000
#: Where tests are taken from; ``tests/app`` plays the scenario pages.
TESTS = (
    "test_money.py",
    "accounting",
    "app/test_scenario_play.py",
    "app/test_scenario_language.py",
    "app/test_scenario_pools.py",
    "app/test_scenario_rates.py",
    "app/test_verify_pools.py",
    "app/test_snapshot_funds.py",
    "app/test_effects.py",
    "app/test_moment_of_deciding.py",
    "app/test_gaming_day.py",
    "app/test_clocks.py",
    "app/test_volumes.py",
    "config/test_site_money.py",
    "config/test_site_funds.py",
    "config/test_site_envy.py",
)

hypothesis.settings.register_profile(
    "mutants",
    derandomize=True,
    deadline=None,
    database=None,
    phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),
    suppress_health_check=list(hypothesis.HealthCheck),
)
hypothesis.settings.load_profile("mutants")
os.environ["HYPOTHESIS_PROFILE"] = "mutants"

Lines = dict[str, frozenset[int]]


class Check(NamedTuple):
    """A test or a random floor; raises where something does not hold."""

    name: str
    kind: str
    run: Callable[[], None]


class Known(NamedTuple):
    """What a check takes, and the lines it executes, by file."""

    seconds: float
    lines: Lines


FLAGS = ["-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:xdist", "--no-header", "--assert=plain"]
FLAGS += ["-c", os.devnull, "-m", "not peer and not slow"]


def flags_of(tree: Path) -> list[str]:
    """What tells pytest that it is in the tree."""
    tests = tree / "tests"
    return [f"--rootdir={tests}", f"--confcutdir={tests}", f"--basetemp={tree / 'temp'}"]


def paths(tree: Path) -> list[str]:
    """The files of tests that this tree has."""
    return [str(tree / "tests" / name) for name in TESTS if (tree / "tests" / name).exists()]


def of_item(item: pytest.Item) -> Check:
    """A test of pytest's, without its reports."""

    def run() -> None:
        state = item.session._setupstate  # noqa: SLF001 - reports cost more than most tests
        if isinstance(item, pytest.Function):
            item._initrequest()  # noqa: SLF001 - its fixtures afresh
        state.setup(item)
        try:
            item.runtest()
            if getattr(item, "_excinfo", None):
                raise AssertionError(item.nodeid)
        finally:
            state.teardown_exact(None)

    return Check(item.nodeid, "test", run)


def random_checks(*, thorough: bool) -> Iterator[Check]:
    """Random floors and card rooms, each against its twin; a thorough run has others, and more of them."""
    for seed in range(FLOORS, FLOORS + MORE_FLOORS) if thorough else range(FLOORS):
        yield Check(f"floor {seed}", "floor", functools.partial(floor, seed))
    for seed in range(ROOMS, 4 * ROOMS) if thorough else range(ROOMS):
        yield Check(f"room {seed}", "floor", functools.partial(room, seed))


def floor(seed: int) -> None:
    """A floor and some steps on it."""
    from machine_acts import VERBS  # noqa: PLC0415 - of the tree, whose tests are collected by now
    from machine_floor import random_world  # noqa: PLC0415

    numbers = random.Random(seed)
    world = random_world(numbers.randrange)
    for _ in range(STEPS):
        verb = VERBS[numbers.randrange(len(VERBS))]
        world.step(verb, numbers.randrange(256), numbers.randrange(256), numbers.randrange(256))
    world.restart()


def room(seed: int) -> None:
    """A card room: a jackpot, a Home Run table and a Trips table."""
    from pool_runs import play  # noqa: PLC0415

    failure = play(seed, ACTS)
    assert failure is None, failure


def warm() -> None:
    """The catalogue is read once, before the forks."""
    from meterd.edge.files import load_paytables  # noqa: PLC0415 - of the tree

    load_paytables()


def look(check: Check, wanted: set[str], tree: Path) -> Known:
    """How long a check takes, and what it executes, where it is short enough to be used."""
    if any(name in check.name for name in SLOW):
        return Known(1e9, {})
    found: dict[str, set[int]] = {file: set() for file in wanted}

    def outer(frame: FrameType, _event: str, _arg: object) -> Any:
        lines = found.get(frame.f_code.co_filename)
        if lines is None:
            return None
        lines.add(frame.f_lineno)

        def inner(frame: FrameType, _event: str, _arg: object) -> Any:
            lines.add(frame.f_lineno)
            return inner

        return inner

    begun = time.process_time()
    try:
        check.run()
        seconds = time.process_time() - begun
        if seconds < LONG_S:
            sys.settrace(outer)
            check.run()
    except BaseException:  # noqa: BLE001 - told where all are known
        seconds = -1.0
    finally:
        sys.settrace(None)
    return Known(seconds, {str(Path(file).relative_to(tree)): frozenset(n) for file, n in found.items() if n})


def quiet() -> None:
    """Say nothing, and take no more memory than there is."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
