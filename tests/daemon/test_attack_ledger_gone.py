"""The ledger's files are deleted or replaced under a daemon at work: nobody is told of what is no longer kept."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from floor_rig import Floor, named

from meterd.errors import EXIT_LEDGER


def _delete_volume(folder: Path) -> None:
    (folder / "ledger-1.db").unlink()


def _delete_wal(folder: Path) -> None:
    (folder / "ledger-1.db-wal").unlink()


def _replace_volume(folder: Path) -> None:
    shutil.copy(folder / "ledger-1.db", folder / "copy")
    (folder / "copy").replace(folder / "ledger-1.db")


@pytest.mark.parametrize("attack", [_delete_volume, _delete_wal, _replace_volume, shutil.rmtree])
def test_a_ledger_that_is_gone_closes_the_floor(
    make_floor: Callable[..., Floor], attack: Callable[[Path], None]
) -> None:
    """What is committed into a file without a name dies with the process: the next commit ends the daemon, exit 74."""
    floor = make_floor()
    sim = floor.start_sim()
    run = floor.start_run()
    floor.until_kinds(3, "GameEnded", run, sim)
    attack(floor.ledger)
    floor.until(lambda: run.code is not None, "the daemon ends by itself", sim)
    assert EXIT_LEDGER == run.code
    [closed] = named(run.log.read(), "money.closed")
    assert "was deleted or replaced while the ledger is open" in closed["cause"]
