"""The line budget: arithmetic against figures worked out by hand, and what a bus over it hears."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from meterd.config import BusConfig, Catalogue, Finding, ModuleRef, PollConfig, Site, line_budget
from meterd.config.budget import bus_budget, gap_us, transaction_us

PIT = 'kind = "modbus"\nport = "/dev/serial/by-path/pci-0000:00:14.0-usb-0:1:1.0-port0"\nbaud = 115200'


def bus(baud: int, parity: str = "N") -> BusConfig:
    return BusConfig("b", "modbus", "/dev/x", baud, parity=parity)  # type: ignore[arg-type]


@pytest.mark.parametrize(("baud", "milliseconds"), [(9600, 28), (19200, 17), (115200, 10)])
def test_one_poll_takes_the_known_time(baud: int, milliseconds: int) -> None:
    """Sixteen inputs by function 02: 8 + 7 bytes, two silences and 5 ms of a module's own, to the millisecond."""
    took = transaction_us(bus(baud), 8, 7, 5)
    assert abs(milliseconds * 1000 - took) < 1000


def test_the_silence_is_counted_in_characters_up_to_19200_baud() -> None:
    """3.5 characters of 10 or 11 bits, then a fixed 1.75 ms."""
    assert (3_646, 4_011, 1_750) == (gap_us(9600, 10), gap_us(9600, 11), gap_us(38400, 11))


def test_a_parity_bit_makes_a_character_longer() -> None:
    """8E1 has 11 bits a character."""
    assert (10, 11) == (bus(9600).bits_per_character, bus(9600, "E").bits_per_character)
    assert transaction_us(bus(38400), 8, 7, 0) < transaction_us(bus(38400, "E"), 8, 7, 0)


def test_a_sensor_module_adds_up_by_hand(catalogue: Catalogue) -> None:
    """At 100,000 bits a second a character is 0.1 ms; gaps and turnaround are 5.5 ms an exchange.

    10 level polls of 15 bytes, 2 counter reads of 77, one write of 21 for outputs and flash bank side by side,
    2 read-backs of 15, a heartbeat of 18.
    """
    module = ModuleRef("b", 40, catalogue.profiles["generic-sensors-16"])
    exchanges = [15] * 10 + [77] * 2 + [21] + [15] * 2 + [18]
    wanted = sum(100 * characters + 5_500 for characters in exchanges)
    assert wanted == bus_budget(bus(100_000), [module], PollConfig()).used_us


def test_a_keypad_is_polled_by_its_counters(catalogue: Catalogue) -> None:
    """10 counter reads of 77 bytes, two writes of the display of 49, one read-back of it of 45."""
    module = ModuleRef("b", 50, catalogue.profiles["generic-keypad-32"])
    wanted = sum(100 * characters + 5_500 for characters in [77] * 10 + [49] * 2 + [45])
    assert wanted == bus_budget(bus(100_000), [module], PollConfig()).used_us


def test_four_tables_share_a_line_of_38400_baud(site: Callable[..., Site]) -> None:
    """What the floor is laid out for: four sensor modules a port at ten polls a second."""
    budgets = {budget.bus: budget for budget in line_budget(site((PIT, PIT.replace("115200", "38400"))))}
    assert (75, True, 4) == (budgets["pit-1"].percent, budgets["pit-1"].fits, len(budgets["pit-1"].units))
    assert {"pit-1", "keys-1", "sign-1"} == set(budgets)


def test_a_bus_over_its_budget_hears_the_speed_or_the_units(findings: Callable[..., tuple[Finding, ...]]) -> None:
    """The finding names a speed that would do, and else the units that have to go."""
    (found,) = findings((PIT, PIT.replace("115200", "19200")))
    assert ("bus[0].baud", True) == (found.key, "111 %" in found.message)
    assert "set baud = 38400, or move unit 42 (29 %) and unit 44 (29 %) to another bus" in found.message
    fast = findings(("levels_ms = 100", "levels_ms = 40"))
    assert ["bus[0].baud", "bus[1].baud"] == [each.key for each in fast]
    assert all("set baud" not in each.message and "move unit" in each.message for each in fast)


def test_moving_is_advised_only_where_it_helps(findings: Callable[..., tuple[Finding, ...]]) -> None:
    """Keypads that are each too much for a slow line hear of a speed only; at no speed enough, of both."""
    keys = PIT.replace("0:1:1", "0:2:1")
    slow = next(each for each in findings((keys, keys.replace("115200", "9600"))) if each.key == "bus[1].baud")
    assert slow.message.endswith("at most 80 % is allowed: set baud = 115200")
    both = next(
        each
        for each in findings((keys, keys.replace("115200", "9600")), ("levels_ms = 100", "levels_ms = 40"))
        if each.key == "bus[1].baud"
    )
    assert "set baud = 115200 and move unit 52 (34 %) and unit 53 (34 %) to another bus" in both.message
    worse = next(
        each
        for each in findings((keys, keys.replace("115200", "1200")), ("levels_ms = 100", "levels_ms = 20"))
        if each.key == "bus[1].baud"
    )
    assert "set baud = 115200 and move unit 51" in worse.message


def test_a_bus_with_a_wrong_setting_is_left_alone(findings: Callable[..., tuple[Finding, ...]]) -> None:
    """One mistake is not reported twice."""
    (found,) = findings((PIT, PIT.replace("115200", "1")))
    assert "bus[0].baud" == found.key
    assert "a usual speed" in found.message
