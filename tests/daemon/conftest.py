"""A floor of real processes for each test that asks for one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from floor_rig import Floor

sys.path.append(str(Path(__file__).parents[1] / "web"))  # its browser serves here too


@pytest.fixture
def make_floor(tmp_path: Path) -> Iterator[Callable[..., Floor]]:
    """Makes floors, each in a folder of its own; ends their processes."""
    with ExitStack() as floors:

        def make(name: str = "floor", **options: Any) -> Floor:
            return floors.enter_context(Floor(tmp_path / name, **options))

        yield make
