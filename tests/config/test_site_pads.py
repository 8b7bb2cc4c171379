"""Pads that tell their presses one by one: profiles, buses, addresses, identities, line time, and the file of keys."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from meterd.cli.config import check_config
from meterd.cli.keypad import keypad
from meterd.config import Catalogue, Finding, PadProfile, PadRef, Site, SiteErrors, line_budget, load_profile
from meterd.edge.keypad_keys import add_key, keys_file, parse_keys, read_keys
from meterd.errors import ConfigError
from protocols.key_sequences import KeySequences
from protocols.osdp_keys import DEFAULT_KEY
from protocols.pad_words import KEYS

Findings = Callable[..., tuple[Finding, ...]]
Edit = tuple[str, str]

SAMPLE = Path(__file__).resolve().parents[2] / "docs" / "site.example.toml"
PORT = "/dev/serial/by-path/pci-0000:00:14.0-usb-0:2:1.0-port0"
KEYS_BUS = f'id = "keys-1"\nkind = "modbus"\nport = "{PORT}"\nbaud = 115200'


def bus(kind: str, port: str, *more: str) -> str:
    return "\n".join(['id = "keys-1"', f'kind = "{kind}"', f'port = "{port}"', *more])


def osdp(*pads: str, baud: str = "baud = 38400") -> list[Edit]:
    """The sample with OSDP pads on the keypads' line."""
    edits = [(KEYS_BUS, bus("osdp", PORT, baud) if baud else bus("osdp", PORT))]
    told = [*pads, *(f'unit = {n}, profile = "osdp-keypad-16"' for n in range(len(pads), 4))]
    return edits + [(f'unit = {50 + n}, profile = "generic-keypad-32"', pad) for n, pad in enumerate(told)]


def hid(pad: str, port: str = "/dev/input/by-path/pci-0-usb-0:3:1.0-event-kbd", *more: str) -> list[Edit]:
    """The sample with one USB keyboard at the first table, a new bus."""
    mine = f"[[bus]]\n{bus('hid', port, *more)}".replace("keys-1", "usb-1")
    old = 'keypad = { bus = "keys-1", unit = 50, profile = "generic-keypad-32" }'
    return [(old, f"keypad = {{ {pad} }}"), ("[[bus]]", f"{mine}\n\n[[bus]]")]


def keyed(found: tuple[Finding, ...]) -> list[str]:
    return [each.key for each in found]


# ── profiles ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["osdp-keypad-16", "osdp-keypad-12", "hid-keypad-24"])
def test_every_act_can_be_keyed_on_every_pad_we_know(name: str, catalogue: Catalogue) -> None:
    """No key is missing, and none begins another. A keyboard reads no badge, so it has no use for SUPERVISOR."""
    profile = catalogue.profiles[name]
    assert isinstance(profile, PadProfile)
    assert set(KEYS) - set(profile.keys) <= ({"supervisor"} if profile.kind == "hid-keypad" else set())
    KeySequences(profile.keys)


def pad_text(*lines: str) -> str:
    return "\n".join(['id = "x"', 'kind = "osdp-keypad"', *lines])


@pytest.mark.parametrize(
    ("text", "key", "word"),
    [
        (pad_text("[keys]", 'enter = "#"', 'hand-1 = "#1"'), "keys.hand-1", "begins with the whole"),
        (pad_text("[keys]", 'entr = "#"'), "keys.entr", "unknown key"),
        (pad_text("[keys]", 'enter = "Z"'), "keys.enter", "one to four of"),
        (pad_text("[keys]", "enter = 13"), "keys.enter", "one to four of"),
        (pad_text("[keys]"), "keys", "key names"),
        (pad_text("[text]", "lines = 2", "columns = 40", "[keys]", 'enter = "#"'), "text.columns", "8 to 32"),
        ('id = "x"\nkind = "hid-keypad"\nled = 0\n[keys]\nenter = 28', "led", "shows nothing"),
        ('id = "x"\nkind = "hid-keypad"\n[keys]\nenter = 0', "keys.enter", "key code of Linux"),
        ('id = "x"\nkind = "hid-keypad"\n[keys]\nenter = [28, 768]', "keys.enter", "key code of Linux"),
        ('id = "x"\nkind = "hid-keypad"\n[keys]\nenter = true', "keys.enter", "key code of Linux"),
    ],
)
def test_what_is_wrong_with_a_layout_is_named(text: str, key: str, word: str) -> None:
    """Key and cause, as for a site file."""
    with pytest.raises(SiteErrors) as caught:
        load_profile(text, "x.toml")
    (found,) = caught.value.findings
    assert (key, True) == (found.key, word in found.message), found


# ── sites ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_site_with_osdp_pads(site: Callable[..., Site]) -> None:
    """Pads are devices of their tables and no modules; 0 is an address; a badge speaks for 15 seconds."""
    loaded = site(*osdp('unit = 0, profile = "osdp-keypad-16", identity = "00BEBA-02-0000004D"'))
    table = loaded.tables[0]
    assert isinstance(table.keypad, PadRef)
    assert ("keys-1/0", "00BEBA-02-0000004D", 15_000) == (table.keypad.device, table.keypad.identity, table.badge_ms)
    assert ([table.sensors], [table.sensors, table.keypad]) == ([*table.modules], [*table.devices])
    assert ((), 4) == (loaded.modules_of("keys-1"), len(loaded.pads_of("keys-1")))


def test_how_long_a_badge_speaks_is_set(site: Callable[..., Site], findings: Findings) -> None:
    """In milliseconds, within bounds."""
    edit = ("[[bus]]", "[pads]\nbadge_ms = 8_000\n\n[[bus]]")
    assert {8_000} == {table.badge_ms for table in site(edit).tables}
    assert ["pads.badge_ms"] == keyed(findings(("[[bus]]", "[pads]\nbadge_ms = 500\n\n[[bus]]")))


def test_an_identity_is_taken_as_lsusb_prints_it(site: Callable[..., Site], findings: Findings) -> None:
    """In small letters; half of one is one mistake, and said once."""
    loaded = site(*hid('bus = "usb-1", unit = 1, profile = "hid-keypad-24", identity = "04d9:1203"'))
    keypad = loaded.tables[0].keypad
    assert isinstance(keypad, PadRef)
    assert "04D9:1203" == keypad.identity
    half = findings(*hid('bus = "usb-1", unit = 1, profile = "hid-keypad-24", identity = "04d9"'))
    assert ["table[0].keypad.identity"] == keyed(half)


@pytest.mark.parametrize(
    ("edits", "key", "words"),
    [
        (osdp('unit = 127, profile = "osdp-keypad-16"'), "table[0].keypad.unit", "0 to 126"),
        (osdp('unit = 1, profile = "osdp-keypad-16"'), "table[1].keypad.unit", "is used by table[0].keypad in line 91"),
        (osdp('unit = 0, profile = "hid-keypad-24"')[:2], None, ""),
        (
            osdp('unit = 0, profile = "osdp-keypad-16", identity = "04D9:1203"'),
            "table[0].keypad.identity",
            'such as "00BEBA-02-0000004D"',
        ),
        (osdp('unit = 0, profile = "osdp-keypad-16", identity = "x"'), "table[0].keypad.identity", "by OSDP such as"),
        (osdp('unit = 0, profile = "osdp-keypad-16", serial = "7"'), "table[0].keypad.serial", "has no registers"),
        (osdp(baud=""), "bus[1].baud", "missing: expected a usual speed"),
        (osdp(baud='baud = 38400\nparity = "E"'), "bus[1].parity", "8N1"),
        (osdp(baud="baud = 9600"), "bus[1].baud", "move address 3 to another bus"),
        ([('unit = 50, profile = "generic-keypad-32"', 'unit = 50, profile = "osdp-keypad-16"')],
         "table[0].keypad.bus", 'expected one of kind "osdp"'),
        ([('unit = 50, profile = "generic-keypad-32"', 'unit = 0, profile = "generic-keypad-32"')],
         "table[0].keypad.unit", "1 to 247"),
        ([('unit = 50, profile = "generic-keypad-32"',
           'unit = 50, profile = "generic-keypad-32", identity = "04D9:1203"')],
         "table[0].keypad.identity", "by its registers"),
        (hid('bus = "usb-1", unit = 2, profile = "hid-keypad-24"'), "table[0].keypad.unit", "alone on its bus"),
        (hid('bus = "usb-1", unit = 1, profile = "hid-keypad-24"', "/dev/input/x", "baud = 9600"),
         "bus[0].baud", "no speed"),
        (hid('bus = "usb-1", unit = 1, profile = "osdp-keypad-16"'), "table[0].keypad.bus", "expected one of kind"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_pad_is_named(edits: list[Edit], key: str | None, words: str, findings: Findings) -> None:
    """Addresses, identities, kinds of bus, speed, line time."""
    found = findings(*edits)
    if key is None:
        assert found
        return
    mine = [each for each in found if each.key == key]
    assert mine, found
    assert words in mine[0].message


def test_two_keyboards_cannot_share_a_device(findings: Findings) -> None:
    """One path, one table."""
    edits = hid('bus = "usb-1", unit = 1, profile = "hid-keypad-24"')
    second = ('keypad = { bus = "keys-1", unit = 51, profile = "generic-keypad-32" }',
              'keypad = { bus = "usb-1", unit = 1, profile = "hid-keypad-24" }')  # fmt: skip
    assert ["table[1].keypad.unit"] == keyed(findings(*edits, second))


def test_a_name_that_changes_with_plugging_is_not_advised(site: Callable[..., Site]) -> None:
    """As for serial ports."""
    loaded = site(*hid('bus = "usb-1", unit = 1, profile = "hid-keypad-24"', "/dev/input/event3"))
    assert any("/dev/input/by-path/" in warning.message for warning in loaded.warnings)
    assert 0 == loaded.bus("usb-1").baud
    assert 0 == next(budget for budget in line_budget(loaded) if budget.bus == "usb-1").percent


def test_how_busy_a_line_of_pads_is(site: Callable[..., Site]) -> None:
    """Each address by itself; at 38400 baud four pads with displays take most of a line."""
    budget = next(each for each in line_budget(site(*osdp())) if each.bus == "keys-1")
    assert ["address 0", "address 1", "address 2", "address 3"] == [unit.name for unit in budget.units]
    assert 60 <= budget.percent <= 80


# ── the file of keys ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_key_is_made_once_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    """Random, 16 bytes, mode 0600; a second one for the same pad is refused, the first stands."""
    path = tmp_path / "osdp-keys"
    runner = CliRunner()
    first = runner.invoke(keypad, ["key", "keys-1/5", "--file", str(path)])
    assert (0, 0o600) == (first.exit_code, stat.S_IMODE(path.stat().st_mode))
    add_key(path, "keys-1/6")
    keys = read_keys(path, ["keys-1/5", "keys-1/6"])
    assert (2, {16}) == (len(set(keys.values())), {len(key) for key in keys.values()})
    assert keys["keys-1/5"].hex() not in first.output
    before = path.read_text()
    again = runner.invoke(keypad, ["key", "keys-1/5", "--file", str(path)])
    assert (78, True, before) == (again.exit_code, "has a key already" in again.output, path.read_text())
    assert 2 == runner.invoke(keypad, ["key", "keys-1", "--file", str(path)]).exit_code


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("keys-1/5 00112233", ":1: expected a pad"),
        ("# all\n\nkeys-1/5 zz112233445566778899aabbccddeeff", ":3: expected a pad"),
        ("keys-1/5 " + "ab" * 16 + " more", ":1: expected a pad"),
        (("keys-1/5 " + "ab" * 16 + "\n") * 2, ":2: keys-1/5 stands here twice"),
        ("keys-1/6 " + "ab" * 16, "no key for keys-1/5: make one with `meterd keypad key keys-1/5 --file"),
        ("keys-1/5 " + DEFAULT_KEY.hex(), "from the factory"),
    ],
)
def test_a_key_file_that_cannot_be_used_says_where_and_shows_no_key(tmp_path: Path, text: str, words: str) -> None:
    """The line, never what stands there."""
    path = tmp_path / "osdp-keys"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(ConfigError) as caught:
        read_keys(path, ["keys-1/5"])
    assert words in str(caught.value)
    assert "abab" not in str(caught.value)
    assert DEFAULT_KEY.hex() not in str(caught.value)


def test_the_default_key_is_for_demos(tmp_path: Path) -> None:
    """Everybody knows it."""
    path = tmp_path / "osdp-keys"
    path.write_text(f"keys-1/5 {DEFAULT_KEY.hex()}")
    path.chmod(0o600)
    assert {"keys-1/5": DEFAULT_KEY} == read_keys(path, ["keys-1/5"], demo=True)


def test_a_key_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    """Also by their group."""
    path = tmp_path / "osdp-keys"
    path.write_text("keys-1/5 " + "ab" * 16)
    for mode in (0o640, 0o604, 0o666):
        path.chmod(mode)
        with pytest.raises(ConfigError, match="chmod 600"):
            read_keys(path, ["keys-1/5"])
        with pytest.raises(ConfigError, match="chmod 600"):
            add_key(path, "keys-1/6")


def test_credentials_of_the_service_manager_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of ours alone, where files are readable by their group."""
    handed = tmp_path / "credentials"
    handed.mkdir()
    beside = tmp_path / "site.toml"
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(handed))
    assert tmp_path / "osdp-keys" == keys_file(beside)
    (handed / "osdp-keys").write_text("keys-1/5 " + "ab" * 16)
    (handed / "osdp-keys").chmod(0o440)
    assert handed / "osdp-keys" == keys_file(beside)
    assert {"keys-1/5": b"\xab" * 16} == read_keys(keys_file(beside), ["keys-1/5"])


def test_keys_may_have_comments_and_lines_without_an_end(tmp_path: Path) -> None:
    """What a person would write."""
    path = tmp_path / "osdp-keys"
    path.write_text("# pads\nkeys-1/5 " + "AB" * 16 + "  # table LIR-1")
    path.chmod(0o600)
    add_key(path, "keys-1/6")
    assert {"keys-1/5", "keys-1/6"} == set(parse_keys(path.read_text(), "x"))


def test_check_config_names_the_command_that_makes_a_missing_key(tmp_path: Path) -> None:
    """A warning: the site file is usable, the pads are not yet."""
    text = SAMPLE.read_text("utf-8")
    for old, new in osdp():
        assert old in text
        text = text.replace(old, new, 1)
    path = tmp_path / "site.toml"
    path.write_text(text)
    result = CliRunner().invoke(check_config, [str(path)])
    assert 0 == result.exit_code, result.output
    command = f"meterd keypad key keys-1/0 --file {tmp_path / 'osdp-keys'}"
    assert command in result.stderr
    assert f"{path}:" in result.stderr
    told = json.loads(CliRunner().invoke(check_config, [str(path), "--json"]).stdout)
    assert any(command in warning["message"] for warning in told["warnings"])
    for n in range(4):
        add_key(tmp_path / "osdp-keys", f"keys-1/{n}")
    assert "keypad key" not in CliRunner().invoke(check_config, [str(path)]).stderr
