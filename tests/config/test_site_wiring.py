"""Tables, buses and signs: who is wired to what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from meterd.config import Catalogue, Finding, Site

Findings = Callable[..., tuple[Finding, ...]]

FIRST_PORT = "usb-0:1:1.0-port0"
SECOND_PORT = "usb-0:2:1.0-port0"


def only(found: tuple[Finding, ...]) -> tuple[str, str, str | None]:
    (one,) = found
    return one.key, one.message, one.nearest


@pytest.mark.parametrize(
    ("old", "new", "key", "near"),
    [
        ('link = "nexus-1"', 'link = "nexus-l"', "table[0].link", "nexus-1"),
        ('bus = "pit-1", unit = 40', 'bus = "pit1", unit = 40', "table[0].sensors.bus", "pit-1"),
        ('bus = "keys-1", unit = 50', 'bus = "key-1", unit = 50', "table[0].keypad.bus", "keys-1"),
        ('"generic-sensors-16"', '"generic-sensor-16"', "table[0].sensors.profile", "generic-sensors-16"),
        ('"generic-keypad-32"', '"generic-keypad-23"', "table[0].keypad.profile", "generic-keypad-32"),
        ('game = "let-it-ride"', 'game = "Let It Ride"', "table[0].game", "let-it-ride"),
        ('model = "betabrite-213c"', 'model = "betabrite-213"', "sign[0].model", "betabrite-213c"),
        ('bus = "sign-1"', 'bus = "sign-2"', "sign[0].bus", "sign-1"),
        ('shows = ["tcp-1/main"]', 'shows = ["tcp-1/mian"]', "sign[1].shows[0]", "tcp-1/main"),
    ],
)
def test_an_unknown_name_comes_with_the_nearest_known_one(
    old: str, new: str, key: str, near: str, findings: Findings
) -> None:
    """Every name that a site file uses must exist; the finding says which one was probably meant."""
    found_key, _, nearest = only(findings((old, new)))
    assert (key, near) == (found_key, nearest)


def test_a_pay_table_is_dealt_only_at_games_it_is_approved_for(findings: Findings) -> None:
    """Three Card Poker cannot pay by a table printed for five cards."""
    key, message, _ = only(findings(('game = "ultimate-texas-holdem"', 'game = "three-card-poker"')))
    assert ("table[2].game", True) == (key, "ultimate-texas-holdem" in message)


def test_whether_a_folded_hand_wins_comes_from_the_pay_table(site: Callable[..., Site], catalogue: Catalogue) -> None:
    """It is the game's rule, so the site file has no say in it."""
    loaded = site(('game = "ultimate-texas-holdem"', 'game = "big-raise-stud"'))
    game = catalogue.paytables["co/nexus/pmg-ml-02"].game_named("big-raise-stud")
    assert game is not None
    assert (False, False) == (game.folded_live, loaded.tables[2].settings.folded_live)


def test_a_table_has_no_more_seats_than_sensors(findings: Findings, site: Callable[..., Site]) -> None:
    """A seat that nobody can see cannot bet."""
    key, message, _ = only(findings(("seats = 7", "seats = 9")))
    assert ("table[0].seats", True) == (key, "sensors for 8 seats" in message)
    assert 8 == site(("seats = 7", "seats = 8")).tables[0].settings.seats


def test_a_module_belongs_to_one_table(findings: Findings) -> None:
    """A unit id used twice on a bus is a finding that names the first use; on another bus it is another module."""
    key, message, _ = only(findings(("unit = 41, ", "unit = 40, ")))
    assert ("table[1].sensors.unit", True) == (key, "table[0].sensors in line 90" in message)


def test_the_same_unit_id_on_another_bus_is_another_module(site: Callable[..., Site]) -> None:
    """Unit ids belong to a line."""
    assert "keys-1/40" == site(("unit = 50", "unit = 40")).tables[0].keypad.device  # type: ignore[union-attr]


def test_a_port_carries_one_bus(findings: Findings) -> None:
    """Two masters on one wire would shout each other down."""
    key, message, _ = only(findings((SECOND_PORT, FIRST_PORT)))
    assert ("bus[1].port", True) == (key, '"pit-1"' in message)


def test_modules_and_signs_need_a_bus_of_their_kind(findings: Findings) -> None:
    """A module on a line of signs, and a sign on a line of modules."""
    assert "table[0].sensors.bus" == only(findings(('bus = "pit-1", unit = 40', 'bus = "sign-1", unit = 40')))[0]
    assert "sign[0].bus" == only(findings(('bus = "sign-1"', 'bus = "pit-1"')))[0]


def test_somebody_must_be_able_to_end_betting(findings: Findings) -> None:
    """A module without counters has no lock button, so such a table needs a keypad."""
    keypad = 'keypad = { bus = "keys-1", unit = 51, profile = "generic-keypad-32" }\n'
    key, message, _ = only(findings((keypad, "")))
    assert ("table[1].sensors", True) == (key, "nothing can end betting" in message)


def test_a_hand_without_a_key_is_a_warning(site: Callable[..., Site], catalogue: Catalogue) -> None:
    """It can still be claimed from a page."""
    keypad = catalogue.profiles["generic-keypad-32"]
    few = replace(keypad, keys={name: index for name, index in keypad.keys.items() if name not in {"hand-8", "hand-9"}})
    fewer = replace(few, keys={name: index for name, index in few.keys.items() if name not in {"hand-6", "hand-7"}})
    assert () == site(catalogue=catalogue._replace(profiles={**catalogue.profiles, few.id: few})).warnings
    warnings = site(catalogue=catalogue._replace(profiles={**catalogue.profiles, few.id: fewer})).warnings
    assert ["table[0].keypad", "table[1].keypad", "table[2].keypad"] == [each.key for each in warnings]
    assert all("5 hand keys for the 7 rows" in each.message for each in warnings)


def test_a_table_without_a_keypad_is_fine_where_a_lock_button_is_wired(site: Callable[..., Site]) -> None:
    """Claims then come from a page or the command line."""
    keypad = 'keypad = { bus = "keys-1", unit = 50, profile = "generic-keypad-32" }\n'
    assert site((keypad, "")).tables[0].keypad is None


def test_a_keypad_is_no_sensor_module(findings: Findings) -> None:
    """Each place takes profiles of its own kind."""
    key, message, _ = only(findings(('profile = "adam-4055"', 'profile = "generic-keypad-32"')))
    assert ("table[1].sensors.profile", True) == (key, 'expected "sensors"' in message)


def test_a_sign_is_wide_enough_for_the_limit(findings: Findings, site: Callable[..., Site]) -> None:
    """The widest figure of a level is its limit: $10,000,000.00 is one character too many for 13 columns."""
    limit = ("limit_cents = 10_000_000", "limit_cents = 10_000_000_00")
    key, message, _ = only(findings(limit))
    assert ("sign[0].shows[1]", True) == (key, "the limit $10,000,000.00 needs 14" in message)
    assert site(limit, ('model = "betabrite-213c"', 'model = "alpha-120x7"'))
    assert site((limit[0], "limit_cents = 9_999_999_99"))


def test_a_sign_is_wide_enough_for_a_level_without_a_limit(findings: Findings, catalogue: Catalogue) -> None:
    """Without a limit, room for $9,999,999.99 is asked for."""
    small = replace(catalogue.signs["betabrite-213c"], columns=12)
    found = findings(catalogue=catalogue._replace(signs={"betabrite-213c": small}))
    assert ["sign[0].shows[0]", "sign[1].shows[0]"] == [each.key for each in found]
    assert all("$9,999,999.99 needs 13" in each.message for each in found)


def test_signs_of_one_line_have_addresses_of_their_own(findings: Findings) -> None:
    """Otherwise one would show what was meant for the other; 00 reaches every sign."""
    assert "sign[1].address" == only(findings(('address = "02"', 'address = "01"')))[0]
    assert "sign[1].address" == only(findings(('address = "02"\n', "")))[0]


def test_labels_go_with_what_is_shown(findings: Findings) -> None:
    """One label for each figure, printable and short enough."""
    assert "sign[0].labels" == only(findings(('labels = ["MEGA", "MAJOR"]', 'labels = ["MEGA"]')))[0]
    assert "sign[1].labels[0]" == only(findings(('labels = ["JACKPOT"]', 'labels = ["JÄCKPOT"]')))[0]
    assert "sign[1].labels[0]" == only(findings(('labels = ["JACKPOT"]', 'labels = ["THREE CARD POKER"]')))[0]


@pytest.mark.parametrize(
    ("old", "new", "key", "words"),
    [
        ("unit = 40", "unit = 43", "table[0].sensors.unit", "function code"),
        ("unit = 40", "unit = 4", "table[0].sensors.unit", "function code"),
        ("unit = 40", "unit = 128", "table[0].sensors.unit", "function code"),
        (f'"/dev/serial/by-path/pci-0000:00:14.0-{FIRST_PORT}"', '"/dev/ttyUSB0"', "bus[0].port", "by-path"),
        (
            f'"/dev/serial/by-path/pci-0000:00:14.0-{FIRST_PORT}"',
            '"/dev/serial/by-id/usb-1a86_USB_Serial-if00-port0"',
            "bus[0].port",
            "by-path",
        ),
        ("levels_ms = 100", "levels_ms = 200", "poll.levels_ms", "150 ms"),
        ('listen = "127.0.0.1"', 'listen = "0.0.0.0"', "web.listen", "other machines"),
        (
            '[[table]]\nid = "TCP-1"\ngame = "three-card-poker"\nlink = "tcp-1"',
            '[[table]]\nid = "TCP-1"\ngame = "let-it-ride"\nlink = "nexus-1"',
            "link[1].id",
            "no table plays",
        ),
        (
            "[[bus]]",
            '[[bus]]\nid = "spare"\nkind = "modbus"\nport = "/dev/x"\nbaud = 9600\n[[bus]]',
            "bus[0].id",
            "nothing is wired",
        ),
    ],
)
def test_what_works_but_is_not_advised_is_a_warning(
    old: str, new: str, key: str, words: str, site: Callable[..., Site]
) -> None:
    """A warning stops nothing."""
    (warning,) = site((old, new)).warnings
    assert (key, True) == (warning.key, words in warning.message)


def test_a_module_without_lamps_is_a_warning(site: Callable[..., Site], catalogue: Catalogue) -> None:
    """Players would not see that a wager was accepted."""
    dark = replace(catalogue.profiles["adam-4055"], lamps=())
    (warning,) = site(catalogue=catalogue._replace(profiles={**catalogue.profiles, "adam-4055": dark})).warnings
    assert ("table[1].sensors", True) == (warning.key, "lamps" in warning.message)


R1212 = 'unit = 41, profile = "moxa-iologik-r1212"'


def test_a_serial_number_is_of_one_module_that_tells_it(findings: Findings, site: Callable[..., Site]) -> None:
    """It goes with the module; a module that has none to tell, or a number used twice, is refused."""
    loaded = site(('unit = 41, profile = "adam-4055"', f'{R1212}, serial = "TAHGB1047"'))
    assert [None, "TAHGB1047"] == [table.sensors.serial for table in loaded.tables[:2]]
    key, message, _ = only(findings(('profile = "adam-4055"', 'profile = "adam-4055", serial = "7"')))
    assert ("table[1].sensors.serial", True) == (key, "no registers" in message)
    twice = ('unit = 40, profile = "generic-sensors-16"', 'unit = 40, profile = "generic-sensors-16", serial = "S1"')
    key, message, _ = only(findings(twice, ('unit = 41, profile = "adam-4055"', f'{R1212}, serial = "S1"')))
    assert ("table[1].sensors.serial", True) == (key, "is the module in line" in message)


@pytest.mark.parametrize(
    ("serial", "says"), [("WAYTOOLONG", "at most 8 characters, not 10"), ("é", "is ASCII"), ("S1 ", "without blanks")]
)
def test_a_serial_number_that_its_registers_cannot_tell_is_refused(findings: Findings, serial: str, says: str) -> None:
    """The module would never be trusted and its table never open."""
    unit = 'unit = 40, profile = "generic-sensors-16"'
    key, message, _ = only(findings((unit, f'{unit}, serial = "{serial}"')))
    assert ("table[0].sensors.serial", True) == (key, says in message)


def test_a_serial_number_that_is_to_be_learned_is_a_warning(site: Callable[..., Site]) -> None:
    """Any number of modules may have a question mark; each is refused until its number stands there."""
    first = ('unit = 40, profile = "generic-sensors-16"', 'unit = 40, profile = "generic-sensors-16", serial = "?"')
    warnings = site(first, ('unit = 41, profile = "adam-4055"', f'{R1212}, serial = "?"')).warnings
    assert ["table[0].sensors.serial", "table[1].sensors.serial"] == [warning.key for warning in warnings]


def test_lines_whose_plugs_could_be_swapped_unnoticed_are_a_warning(site: Callable[..., Site]) -> None:
    """The same unit id and kind on two lines, and no serial number to tell them apart; with one there is none."""
    line = '[[bus]]\nid = "pit-2"\nkind = "modbus"\nport = "/dev/serial/by-path/2"\nbaud = 115200\n[[bus]]'
    moved = (
        'bus = "pit-1", unit = 41, profile = "adam-4055"',
        'bus = "pit-2", unit = 40, profile = "generic-sensors-16"',
    )
    (warning,) = site(("[[bus]]", line), moved).warnings
    assert "swapped plugs" in warning.message
    assert 'or a "serial"' in warning.message
    assert () == site(("[[bus]]", line), (moved[0], f'{moved[1]}, serial = "S2"')).warnings


def test_counters_are_not_read_more_often_than_levels(findings: Findings) -> None:
    """The levels say when counters are worth reading."""
    assert (
        "poll.counters_ms"
        == only(findings(("levels_ms = 100\ncounters_ms = 1000", "levels_ms = 200\ncounters_ms = 150")))[0]
    )


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('kind = "alpha"', 'kind = "alfa"', "bus[2].kind"),
        ("levels_ms = 100", "levels_ms = 5", "poll.levels_ms"),
        ('shows = ["tcp-1/main"]', "shows = []", "sign[1].shows"),
        (
            'bus = "keys-1", unit = 50, profile = "generic-keypad-32"',
            'bus = "sign-1", unit = 50, profile = "osdp-keypad-17"',
            "table[0].keypad.profile",
        ),
    ],
)
def test_one_mistake_is_one_finding(old: str, new: str, key: str, findings: Findings) -> None:
    """What only follows from it is not told."""
    assert key == only(findings((old, new)))[0]


def test_a_key_by_another_name_or_in_another_place(findings: Findings) -> None:
    """The address of a module is its unit; a checksum is of a sign, not of its line."""
    assert ("table[0].keypad.addres", "unknown key", "unit") == only(findings(("unit = 50", "addres = 50")))
    line = 'kind = "alpha"'
    assert ("bus[2].checksum", "unknown key: it belongs to [[sign]]") == only(
        findings((line, f"{line}\nchecksum = false"))
    )[:2]
