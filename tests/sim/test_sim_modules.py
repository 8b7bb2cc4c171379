"""Simulated modules count, show and go dark as their register map says."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest
from sim_floor import KEYPAD, SENSORS, the_plan

from meterd.config import Profile
from meterd.edge.catalogue import catalogue
from meterd.sim.modules import Lamp, SimModule
from meterd.sim.plan import Plan, Shape
from meterd.sim.world import ModuleLine
from protocols.modbus_crc import sealed
from protocols.modbus_slave import unpack_bits


def shape(profile: dict[str, Any]) -> Shape:
    bus = {"id": "b", "kind": "modbus", "port": "p", "baud": 9600, "modules": [{"unit": 60, "profile": profile}]}
    return Plan.parse(json.dumps({"buses": [bus]})).lines[0].modules[0].shape


def ask(module: SimModule, body: str, at: float = 0.0) -> bytes:
    [reply] = [ModuleLine([module]).serve(sealed(bytes.fromhex(body)), at)]
    return reply[2:-2]


def test_an_edge_counts_and_a_level_does_not() -> None:
    """Putting a chip counts once, however long it lies; lifting it counts nothing."""
    module = SimModule(60, shape(SENSORS))
    for on in (True, True, False, False, True):
        module.set_input(2, on=on, at=0)
    assert bytes.fromhex("040000") + bytes([0, 2]) == ask(module, "3c0400040002")
    assert unpack_bits(ask(module, "3c0200000010")[1:], 16)[2]
    assert 2 == module.counter(2)
    assert 0 == module.counter(3)


@pytest.mark.parametrize(
    ("bits", "high", "wire"), [(16, True, "0000"), (32, True, "00010000"), (32, False, "00000001")]
)
def test_counters_wrap_and_carry_in_word_order(bits: int, high: bool, wire: str) -> None:
    """A 16-bit counter wraps to 0; a 32-bit one carries into its high word, wherever that stands."""
    counters = {"function": 3, "address": 4, "bits": bits, "high_word_first": high}
    module = SimModule(60, shape(SENSORS | {"counters": counters}))
    words = bits // 16
    low = 4 + words + (words - 1 if high else 0)
    module.bank.holding[low] = 0xFFFF
    module.set_input(1, on=True, at=0)
    assert bytes.fromhex(wire) == ask(module, f"3c03{4 + words:04x}{words:04x}")[1:]


def test_inputs_in_the_coil_area_and_low_active() -> None:
    """A module that shows inputs as coils, active low, reads 1 while nothing is there; inputs are not writable."""
    profile = SENSORS | {
        "inputs": {"function": 1, "address": 0, "count": 8, "active_high": False},
        "outputs": {"function": 1, "address": 16, "count": 8, "active_high": False},
        "flash": None,
        "lock": None,
    }
    module = SimModule(60, shape(profile))
    assert b"\x01\xff" == ask(module, "3c0100000008")
    module.set_input(0, on=True, at=0)
    assert b"\x01\xfe" == ask(module, "3c0100000008")
    assert Lamp.DARK is module.lamp(0)
    ask(module, "3c0500100000")
    assert Lamp.STEADY is module.lamp(0)
    assert b"\x02" == ask(module, "3c050000ff00")


def test_lamps_flash_by_their_bank_and_text_reads_back() -> None:
    """One write over outputs and flash bank sets both; text is two characters a register, a line on its own."""
    sensors, keypad = (SimModule(unit, shape(profile)) for unit, profile in ((60, SENSORS), (60, KEYPAD)))
    ask(sensors, "3c0f00000020040100" + "0200")
    assert [Lamp.STEADY, Lamp.FLASH, Lamp.DARK] == [sensors.lamp(n) for n in range(3)]
    ask(keypad, "3c1000080001" + "02" + b"S3".hex())
    assert ("", "S3") == keypad.text()


def test_a_module_nobody_speaks_to_goes_dark() -> None:
    """A second without a request darkens every output once; the next write lights it again; inputs keep counting."""
    told: list[float] = []
    module = SimModule(60, shape(SENSORS))
    module.listeners.append(told.append)
    ask(module, "3c0f0000002004ff00ff00", at=10.0)
    module.watch(10.9)
    assert Lamp.FLASH is module.lamp(0)
    told.clear()
    module.watch(11.1)
    module.watch(11.2)
    assert [11.1] == told
    assert {Lamp.DARK} == {module.lamp(n) for n in range(16)}
    assert bytes(1) == ask(module, "3c0100000008", at=12.0)[1:]
    ask(module, "3c0f0000002004ff00ff00", at=12.0)
    module.watch(12.5)
    assert Lamp.FLASH is module.lamp(0)


def test_a_missing_heartbeat_darkens_too() -> None:
    """A module with a heartbeat goes dark when polls go on and the heartbeat does not."""
    module = SimModule(60, shape(SENSORS | {"heartbeat": 32}))
    ask(module, "3c0f0000002004ff000000", at=1.0)
    ask(module, "3c0f0020000101" + "01", at=1.0)
    for at in (1.5, 2.0, 2.5, 3.0):
        ask(module, "3c0200000010", at=at)
        module.watch(at)
        assert Lamp.STEADY is module.lamp(0)
    ask(module, "3c0200000010", at=3.2)
    module.watch(3.2)
    assert Lamp.DARK is module.lamp(0)
    assert 1 == module.bank.coils[8], "betting closed is lit"


def test_a_power_cut_forgets_counters_and_outputs() -> None:
    """After a power cut counters begin at 0 and lamps are dark, while the chip still lies there."""
    module = SimModule(60, shape(SENSORS))
    module.set_input(0, on=True, at=0)
    ask(module, "3c0f0000002004ff000000")
    module.power_cut(1.0)
    assert 0 == module.counter(0)
    assert module.input(0)
    assert Lamp.DARK is module.lamp(0)
    assert bytes.fromhex("4d533136") == ask(module, "3c0401000002")[1:]


def test_every_shipped_profile_can_be_simulated() -> None:
    """Each profile of a Modbus module that comes with the program makes a module whose whole map answers."""
    modules = [profile for profile in catalogue().profiles.values() if isinstance(profile, Profile)]
    assert len(modules) >= 6
    for profile in modules:
        module = SimModule(60, shape(asdict(profile) | {"keys": dict(profile.keys)}))
        block = profile.inputs
        reply = ask(module, f"3c{block.function:02x}{block.address:04x}{block.count:04x}")
        assert (block.count + 7) // 8 == reply[0]
        if profile.counters:
            count = block.count * profile.counters.bits // 16
            reply = ask(module, f"3c{profile.counters.function:02x}{profile.counters.address:04x}{count:04x}")
            assert 2 * count == reply[0]


def test_a_serial_number_and_cleared_counters_are_where_the_profile_says() -> None:
    """Six words of text by 04 at 30027; a 1 into coil 33 sets the counter of input 1 back and nothing else."""
    profile = catalogue().profiles["moxa-iologik-r1212"]
    module = SimModule(60, shape(asdict(profile)), "TAHGB1047")
    assert b"TAHGB1047   " == ask(module, "3c04754b0006")[1:]
    for index in (1, 1, 2):
        module.set_input(index, on=True, at=0)
        module.set_input(index, on=False, at=0)
    assert [2, 1] == [module.counter(1), module.counter(2)]
    ask(module, "3c050021ff00")
    assert [0, 1] == [module.counter(1), module.counter(2)]
    assert b"\x01\x00" == ask(module, "3c0100210001")


def test_a_stuck_input_knows_nothing_of_chips() -> None:
    """It stays on whatever is taken away, and counts nothing; freed, it works again."""
    module = SimModule(60, shape(SENSORS))
    module.stick(3, level=True, at=0)
    module.set_input(3, on=False, at=1)
    module.set_input(3, on=True, at=2)
    assert (True, 1) == (module.input(3), module.counter(3))
    module.stick(3, level=None, at=3)
    module.set_input(3, on=False, at=4)
    assert not module.input(3)


@pytest.mark.parametrize("fault", ["refuses", "inert"])
def test_a_module_may_refuse_its_outputs_or_only_acknowledge_them(fault: str) -> None:
    """An exception to every write, or a good reply and dark lamps: what a daemon has to notice."""
    module = SimModule(60, shape(SENSORS))
    setattr(module.bank, fault, 4 if fault == "refuses" else True)
    assert (b"\x04" if fault == "refuses" else b"\x00\x00\x00\x08") == ask(module, "3c0f0000000801ff")
    assert not any(module.bank.coils)


def test_a_plan_that_cannot_be_played_is_refused() -> None:
    """A table that names a module no bus has is a mistake of the plan."""
    assert 2 == len(the_plan().lines[0].modules)
    with pytest.raises(ValueError, match="no bus has it"):
        the_plan(modules=[{"unit": 60, "profile": SENSORS}])
    for text in ("[]", "{", '{"buses": [{"id": "a"}]}', '{"buses": [{"modules": [{}]}]}'):
        with pytest.raises(ValueError, match=r"plan|bus"):
            Plan.parse(text)
