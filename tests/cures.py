"""The cures of the 23 failure modes that users of serial libraries report, each with a switch that takes it out.

A test of a mode carries ``@failure_mode(number, "switch", …)``. Its body runs once as it is and must pass, and once
without each of its cures, where the same body must fail by an AssertionError or a TimeoutError: a test that passes
without the cure shows nothing. Waits inside the body take ``limit_s()``, which is generous with the cure and short
without it.

A switch is a function that patches the product; it is registered with ``@switch("name", "what goes missing")`` and
imports what it patches itself, so that this file needs no driver's library. ``tests/test_failure_modes.py`` holds the
list of modes against the tests.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import pytest

WITH_S: Final = 20.0
WITHOUT_S: Final = 3.0


class Switch(NamedTuple):
    """One cure: ``off`` takes it out of the product for as long as the patch lasts."""

    name: str
    missing: str
    off: Callable[[pytest.MonkeyPatch], None]


#: What is reported, by the number under which docs/wiring.md tells of it.
MODES: Final[dict[int, str]] = {
    1: "after an unplug, calls raise three kinds of errors",
    2: "an adapter comes back under another name because the old node is still open",
    3: "two identical adapters share one name, so cables are swapped",
    4: "two programs on one port get half of the bytes each",
    5: "a late reply is taken for the next request's",
    6: "one stray byte before a reply hides it",
    7: "the own request comes back and is taken for a reply",
    8: "one dead module stalls the whole line",
    9: "endless noise makes a read hang for ever",
    10: "no silence between frames",
    11: "the wait before a reconnect doubles without bound",
    12: "a short press is lost, a stuck sensor stays on",
    13: "a duplicated event is counted twice",
    14: "parity is switched before the byte has left",
    15: "mark and space parity are ignored by the driver",
    16: "an adapter's latency timer adds up to 16 ms to each reply",
    17: "nobody is told that a port is gone",
    18: "OSDP: the sequence number rises on a retry",
    19: "OSDP: a device never recovers from garbage",
    20: "Alpha: a write into a resetting sign disappears",
    21: "Alpha: wrong data bits, the sign ignores all",
    22: "SAS: machines answer differently",
    23: "a port that says one byte waits when more do",
}

SWITCHES: Final[dict[str, Switch]] = {}
_limit_s = WITH_S


def limit_s() -> float:
    """How long a test of a failure mode waits for an event."""
    return _limit_s


def switch(
    name: str, missing: str
) -> Callable[[Callable[[pytest.MonkeyPatch], None]], Callable[[pytest.MonkeyPatch], None]]:
    """Register the function that takes the cure ``name`` out."""

    def register(off: Callable[[pytest.MonkeyPatch], None]) -> Callable[[pytest.MonkeyPatch], None]:
        assert name not in SWITCHES, f"two switches called {name}"
        SWITCHES[name] = Switch(name, missing, off)
        return off

    return register


def failure_mode(number: int, *switches: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A test of a mode: run as it is, and without each of ``switches``, where it must fail.

    The test is an ordinary function: fixtures and parametrize marks work, and it starts an event loop if it needs one.
    """
    assert number in MODES, f"there is no failure mode {number}"
    assert switches, "a failure mode needs a cure"
    assert set(switches) <= SWITCHES.keys(), f"no such switch: {set(switches) - SWITCHES.keys()}"

    def wrap(body: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(body)
        def run(*, cure: str, **fixtures: Any) -> None:
            if cure == "with":
                body(**fixtures)
            else:
                _must_fail(SWITCHES[cure.removeprefix("without ")], lambda: body(**fixtures))

        parameters = [*inspect.signature(body).parameters.values()]
        added = inspect.Parameter("cure", inspect.Parameter.KEYWORD_ONLY)
        run.__signature__ = inspect.Signature([*parameters, added])  # type: ignore[attr-defined]
        cases = ["with", *(f"without {name}" for name in switches)]
        return pytest.mark.parametrize("cure", cases)(run)

    return wrap


def _must_fail(taken_out: Switch, body: Callable[[], None]) -> None:
    """Run ``body`` without one cure; passing is the failure."""
    global _limit_s  # noqa: PLW0603 - one test runs at a time
    _limit_s = WITHOUT_S
    try:
        with pytest.MonkeyPatch.context() as patch:
            taken_out.off(patch)
            try:
                body()
            except (AssertionError, TimeoutError) as failed:
                print(f"without {taken_out.name} ({taken_out.missing}): {type(failed).__name__} {failed}"[:300])
                return
    finally:
        _limit_s = WITH_S
    pytest.fail(f"passes without its cure {taken_out.name} ({taken_out.missing}): the test shows nothing")
