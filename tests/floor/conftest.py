"""A table of the floor in memory, open or not yet."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from floor_table import TestFloor


@pytest.fixture
def closed_floor() -> TestFloor:
    """A table just defined; no module has answered yet."""
    return TestFloor()


@pytest.fixture
def floor() -> TestFloor:
    """A table that opened by itself after both modules were trusted."""
    return TestFloor().open()


@pytest.fixture
def make_floor() -> Callable[..., TestFloor]:
    """The class, for tests that need a table of another shape."""
    return TestFloor
