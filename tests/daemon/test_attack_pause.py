"""A daemon that is stopped and goes on knows that nobody listened meanwhile: no late chip hides behind LOCK."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Callable

import pytest
from floor_rig import Floor

from meterd.edge.modbus_unit import UNHEARD_MS
from meterd.sim.journal import Journal
from meterd.sim.modules import Lamp
from meterd.sim.plan import Plan
from meterd.sim.world import World, loop_factory


async def _late_chip(floor: Floor, paused_s: float) -> None:
    """Two chips in time; the daemon is stopped; LOCK, and a chip put down much later; the daemon goes on."""
    world = World(Plan.parse(json.dumps(floor.plan)), Journal())
    watching = asyncio.ensure_future(world._watch_modules())
    run = await asyncio.to_thread(floor.start_run)
    table = world.people[0].table
    assert await table.until(table.is_open, 20)
    table.put_chip(1)
    table.put_chip(2)
    assert await table.until(lambda: table.lamp(1) is table.lamp(2) is Lamp.FLASH, 20)
    run.process.send_signal(signal.SIGSTOP)
    table.lock_held_s = paused_s + 1
    locking = asyncio.ensure_future(table.press_lock())
    await asyncio.sleep(paused_s)  # the pause is the attack
    table.put_chip(7)
    run.process.send_signal(signal.SIGCONT)
    assert await table.until(lambda: not table.is_open(), 20)
    assert await table.until(table.needs_end_game, 20), table.state
    assert [Lamp.DARK] * 7 == [table.lamp(seat) for seat in table.seats]
    locking.cancel()
    watching.cancel()
    assert 0 == await asyncio.to_thread(floor.end, run)
    await world.close()


@pytest.mark.parametrize("paused_s", [2 * UNHEARD_MS / 1000])
def test_a_chip_put_down_in_a_pause_behind_lock_is_no_wager(make_floor: Callable[..., Floor], paused_s: float) -> None:
    """LOCK and chips of the pause have no order: the table closes until END GAME, and no wager is made of them."""
    floor = make_floor()
    with asyncio.Runner(loop_factory=loop_factory) as runner:
        runner.run(_late_chip(floor, paused_s))
    assert [] == floor.of_kind("Locked")
    causes = {json.loads(record.body)["cause"] for record in floor.of_kind("DeviceLost")}
    assert {"unheard"} == causes
