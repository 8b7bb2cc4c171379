"""Module profiles and sign models: what is shipped loads, and a bad one hears everything at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from meterd.config import KEY_NAMES, Catalogue, Profile, SiteErrors, load_profile, load_signs
from protocols.pad_words import KEYS

ROOT = Path(__file__).resolve().parents[2]
PROFILES = ROOT / "schema" / "profiles"
SENSORS = (PROFILES / "generic-sensors-16.toml").read_text(encoding="utf-8")
KEYPAD = (PROFILES / "generic-keypad-32.toml").read_text(encoding="utf-8")


MODULES = ("moxa-iologik-r1212", "adam-4055", "adam-4150", "adam-4150-counters")


def findings_of(text: str) -> list[tuple[str, str, str | None]]:
    with pytest.raises(SiteErrors) as caught:
        load_profile(text, "p.toml")
    return [(found.key, found.message, found.nearest) for found in caught.value.findings]


def test_the_shipped_profiles_and_signs_load(catalogue: Catalogue) -> None:
    """The module profiles under the name of their file, and the sign models."""
    assert {"generic-sensors-16", "generic-keypad-32", *MODULES} <= set(catalogue.profiles)
    assert "betabrite-213c" in catalogue.signs


def test_the_advantech_inputs_lie_in_the_coil_area(catalogue: Catalogue) -> None:
    """Manuals count from 1: input 0 is coil 1 and output 0 coil 17, so 0 and 16 on the wire."""
    for name, inputs in (("adam-4055", 8), ("adam-4150", 7)):
        profile = catalogue.profiles[name]
        assert profile.outputs is not None
        assert (1, 0, inputs) == (profile.inputs.function, profile.inputs.address, profile.inputs.count)
        assert (1, 16, 8) == (profile.outputs.function, profile.outputs.address, profile.outputs.count)


def test_the_moxa_points_lie_where_the_maker_prints_them(catalogue: Catalogue) -> None:
    """Inputs by 02 from 0, counters by 04 from 32, high word first, outputs by 01 from 320, six words of serial."""
    profile = catalogue.profiles["moxa-iologik-r1212"]
    counters, outputs, serial = profile.counters, profile.outputs, profile.serial
    assert counters is not None
    assert outputs is not None
    assert serial is not None
    assert (2, 0, 8) == (profile.inputs.function, profile.inputs.address, profile.inputs.count)
    assert (4, 0x20, 32, True) == (counters.function, counters.address, counters.bits, counters.high_word_first)
    assert counters.clear is not None
    assert 0x20 == counters.clear.address
    assert (1, 0x140, 8) == (outputs.function, outputs.address, outputs.count)
    assert (4, 0x754B, 6) == (serial.function, serial.address, serial.words)


def test_a_counter_whose_word_order_nobody_prints_wraps_where_it_does_not_matter(catalogue: Catalogue) -> None:
    """65,536 leaves 1 modulo 65,535, so high and low word may be swapped."""
    assert 65_535 == catalogue.profiles["adam-4150-counters"].modulus
    assert 1 << 32 == catalogue.profiles["moxa-iologik-r1212"].modulus


@pytest.mark.parametrize("name", ["generic-sensors-16", *MODULES])
def test_each_sensor_module_says_what_darkens_its_lamps_when_nobody_speaks_to_it(
    name: str, catalogue: Catalogue
) -> None:
    """The module's own watchdog stands in its profile: after how long, and how it is set up."""
    safe = catalogue.profiles[name].safe_state
    assert safe is not None
    assert safe.watches
    assert safe.set_up


def test_a_module_without_counters_has_no_lock_button(catalogue: Catalogue) -> None:
    """A press that fell between two polls would be lost, and one that did not would have no identity."""
    for profile in (each for each in catalogue.profiles.values() if isinstance(each, Profile)):
        assert profile.counters is not None or profile.lock is None, profile.id


def test_the_generic_modules_have_what_a_table_needs(catalogue: Catalogue) -> None:
    """Counters, lamps and a bank that flashes them, lock and lockout, heartbeat; keys and a display."""
    sensors, keypad = catalogue.profiles["generic-sensors-16"], catalogue.profiles["generic-keypad-32"]
    assert (1 << 32, 1 << 16) == (sensors.modulus, keypad.modulus)
    assert (8, 8, 8, 8) == (len(sensors.seats), len(sensors.lamps), sensors.lock, sensors.lockout)
    assert sensors.flash is not None
    assert (16, 32) == (sensors.flash.address, sensors.heartbeat)
    assert keypad.text is not None
    assert (2, 16, 16) == (keypad.text.lines, keypad.text.columns, keypad.text.words)
    assert set(KEY_NAMES) == set(keypad.keys)


def test_both_ends_of_the_keypad_wire_name_the_keys_alike() -> None:
    """The pure room of the wires and this one keep the same list."""
    assert set(KEYS) == set(KEY_NAMES)


@pytest.mark.parametrize(
    ("old", "new", "key", "words"),
    [
        ("count = 16\nactive_high = true", "count = 6", "wiring.seats[6]", "input 6 does not exist"),
        ("lock = 8", "lock = 7", "wiring.lock", "input 7 is used twice"),
        ("lock = 8", "lock = 16", "wiring.lock", "input 16 does not exist"),
        ("lockout = 8", "lockout = 3", "wiring.lockout", "output 3 is used twice"),
        ("lamps = [0, 1, 2, 3, 4, 5, 6, 7]", "lamps = [0, 1]", "wiring.lamps", "a lamp for each of the 8 seats"),
        ("address = 16\ncount = 16", "address = 8\ncount = 16", "flash.address", "coil 8 belongs to outputs"),
        ("address = 16\ncount = 16", "address = 16\ncount = 8", "flash.count", "each of the 16 outputs"),
        ("heartbeat = 32", "heartbeat = 31", "heartbeat", "coil 31 belongs to flash"),
        ("function = 1\naddress = 0", "function = 2\naddress = 0", "outputs.function", "outputs are coils"),
        ("bits = 32", "bits = 24", "counters.bits", "expected 16 or 32, found 24"),
        ('kind = "sensors"', 'kind = "sensor"', "kind", 'expected "sensors" or "keypad"'),
        ("[wiring]", "[wirring]", "wirring", "unknown key"),
        ("expected = [0x4D53, 0x3136]", "expected = []", "identity.expected", "a list of 1 to 16"),
        ("turnaround_ms = 2", "turnaround_ms = 2.0", "turnaround_ms", "milliseconds"),
    ],
)
def test_a_sensor_profile_with_an_error_says_where(old: str, new: str, key: str, words: str) -> None:
    """The same quality of findings as for a site file."""
    assert old in SENSORS
    found = findings_of(SENSORS.replace(old, new, 1))
    assert any(each == key and words in message for each, message, _ in found), found


def test_a_lock_button_needs_counters() -> None:
    """Without [counters] the lock of a sensor module is refused."""
    start = SENSORS.index("[counters]")
    text = SENSORS[:start] + SENSORS[SENSORS.index("[outputs]") :]
    ((key, message, _),) = findings_of(text)
    assert ("wiring.lock", True) == (key, "needs a counter" in message)


def test_each_kind_of_profile_has_its_own_parts() -> None:
    """Keys belong to a keypad, wiring to sensors, and a flash bank to outputs."""
    assert "keys" in {key for key, _, _ in findings_of(SENSORS + "[keys]\nlock = 9\n")}
    assert ["wiring"] == [key for key, _, _ in findings_of(SENSORS[: SENSORS.index("[wiring]")])]
    outputs = SENSORS[SENSORS.index("[outputs]") : SENSORS.index("[flash]")]
    assert "flash" in {key for key, _, _ in findings_of(SENSORS.replace(outputs, ""))}


def test_a_keypad_profile_with_errors_hears_all_of_them() -> None:
    """An unknown key with the nearest known one, an input used twice, an input that is not there."""
    text = KEYPAD.replace("void-seat = 24", "void-seet = 24").replace("fold = 22", "fold = 21")
    text = text.replace("end-game = 28", "end-game = 32")
    found = {key: (message, near) for key, message, near in findings_of(text)}
    assert {"keys.void-seet", "keys.fold", "keys.end-game"} == set(found)
    assert "void-seat" == found["keys.void-seet"][1]


def test_a_keypad_needs_counters_and_keys_and_has_no_wiring() -> None:
    """The counter is the identity of a press."""
    text = 'id = "x"\nkind = "keypad"\nturnaround_ms = 2\n[inputs]\nfunction = 2\naddress = 0\ncount = 8\n'
    assert {"counters", "keys"} == {key for key, _, _ in findings_of(text)}
    assert "wiring" in {key for key, _, _ in findings_of(text + "[wiring]\nseats = [0]\n")}


def test_counters_fit_into_one_reading() -> None:
    """64 counters of 32 bits are 128 registers; one request reads 125."""
    text = KEYPAD.replace("count = 32", "count = 64").replace("bits = 16", "bits = 32")
    ((key, message, _),) = findings_of(text)
    assert ("counters.bits", True) == (key, "128 registers" in message)


def test_a_sign_list_with_errors_hears_all_of_them() -> None:
    """A name used twice, an unknown key, a size that no file has."""
    text = (PROFILES / "signs.toml").read_text(encoding="utf-8")
    with pytest.raises(SiteErrors) as caught:
        load_signs(text.replace('id = "alpha-80x7"', 'id = "betabrite-213c"'), "signs.toml")
    assert ["sign[1].id"] == [found.key for found in caught.value.findings]
    with pytest.raises(SiteErrors) as caught:
        load_signs(
            text.replace("string_bytes = 16", "string_bytes = 126").replace("columns =", "colums =", 1), "signs.toml"
        )
    assert {"sign[0].colums", "sign[0].string_bytes", "sign[1].string_bytes", "sign[2].string_bytes"} == {
        found.key for found in caught.value.findings
    }
