"""Two plugs swapped between lines whose modules have unit ids of their own: who answers is named."""

from __future__ import annotations

import asyncio

from wire_rig import KEYPAD, SENSORS, rig

from meterd.config import ModuleRef
from meterd.edge.modbus_identity import Identities
from protocols.events import DeviceDown

OWN = [ModuleRef("pit-1", unit, SENSORS) for unit in (40, 41)]
FAR = [ModuleRef("keys-1", unit, KEYPAD) for unit in (50, 51, 52, 53, 54, 55)]


def test_a_line_on_which_all_are_silent_names_who_answers() -> None:
    """The last of six is found, some at each look; both modules tell it, once."""

    async def scene() -> None:
        known = Identities.of([*OWN, *FAR])
        async with rig(units=(40, 41), mute=(40, 41), others=(55,), identities=known) as r:
            words = "keys-1/55 answers here: are the plugs of pit-1 and keys-1 swapped?"
            await r.floor.until(lambda: [words] * 2 == [e.found for e in r.floor.of(DeviceDown) if e.found])
            assert {"timeout"} == {e.cause for e in r.floor.of(DeviceDown)}

    asyncio.run(scene())


def test_one_dead_module_is_no_swapped_plug() -> None:
    """While a neighbour answers nobody else is asked for: a healthy line loses no time."""

    async def scene() -> None:
        known = Identities.of([*OWN, *FAR])
        async with rig(units=(40, 41), mute=(40,), others=(55,), identities=known) as r:
            await r.floor.until(lambda: bool(r.floor.of(DeviceDown, "pit-1/40")))
            (lost,) = r.floor.of(DeviceDown, "pit-1/40")
            assert ("timeout", "") == (lost.cause, lost.found)
            assert not [data for data in r.cable.requests if data[0] in range(50, 56)]

    asyncio.run(scene())


def test_a_unit_id_that_is_taken_here_is_asked_for_nowhere() -> None:
    """Whoever answers to it could be this line's own."""
    twin = ModuleRef("keys-1", 40, KEYPAD)
    assert tuple(FAR) == Identities.of([*OWN, twin, *FAR]).not_of("pit-1")
