"""``meterd check-config``: exit codes, words, JSON, and the schema for editors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from meterd.cli.config import check_config, schema_text

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "docs" / "site.example.toml"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(check_config, list(arguments))


def test_a_usable_site_is_summed_up() -> None:
    """Exit 0, and links, tables, signs and the use of each line in words."""
    result = run(str(SAMPLE))
    assert (0, "") == (result.exit_code, result.stderr)
    for words in ("site riverside: usable", "tables LIR-1, LIR-2, UTH-1", "bus pit-1: busy 51 % of each second"):
        assert words in result.stdout


def test_json_is_one_document() -> None:
    """A program reads the same facts, with the line time of each unit."""
    summary = json.loads(run("--config", str(SAMPLE), "--json").stdout)
    assert (True, ["mega", "major", "minor"]) == (summary["ok"], summary["links"][0]["levels"])
    assert ["unit 40", "unit 41", "unit 42", "unit 44"] == [unit["name"] for unit in summary["buses"][0]["units"]]


def test_six_planted_errors_are_printed_with_place_key_and_nearest_name(tmp_path: Path) -> None:
    """Exit 78, one line each, in order of lines; with --json the same as one document."""
    text = SAMPLE.read_text(encoding="utf-8")
    for old, new in (
        ("increment_ppm = 120_000", "increment_pmm = 120_000"),
        ('reset = "seed_plus_reserve"', 'reset = "seed_plus_reserv"'),
        ('paytable = "co/three-card-poker/progressive-1"', 'paytable = "co/three-card-poker/progresive-1"'),
        ('game = "let-it-ride"', 'game = "let-it-rise"'),
        ('profile = "adam-4055"', 'profile = "adam-4056"'),
        ('"nexus-1/mega", "nexus-1/major"', '"nexus-1/maga", "nexus-1/major"'),
    ):
        text = text.replace(old, new, 1)
    path = tmp_path / "site.toml"
    path.write_text(text, encoding="utf-8")
    result = run(str(path))
    lines = result.stdout.splitlines()
    assert (78, 6) == (result.exit_code, len(lines))
    known = ("increment_ppm", "seed_plus_reserve", "co/three-card-poker/progressive-1", "let-it-ride", "adam-4055",
             "nexus-1/mega")  # fmt: skip
    for line, nearest in zip(lines, known, strict=True):
        assert line.startswith(f"{path}:")
        assert line.endswith(f"(did you mean '{nearest}'?)")
    assert "6 findings: nothing was started" in result.stderr
    document = json.loads(run(str(path), "--json").stdout)
    assert (False, list(known)) == (document["ok"], [found["nearest"] for found in document["findings"]])


def test_warnings_go_to_standard_error(tmp_path: Path) -> None:
    """They stop nothing, and JSON stays one document on standard output."""
    path = tmp_path / "site.toml"
    path.write_text(SAMPLE.read_text(encoding="utf-8").replace("unit = 40", "unit = 4"), encoding="utf-8")
    result = run(str(path), "--json")
    assert (0, True) == (result.exit_code, json.loads(result.stdout)["ok"])
    assert "warning:" in result.stderr
    assert "table[0].sensors.unit" in result.stderr


def test_a_file_that_cannot_be_read_is_a_finding(tmp_path: Path) -> None:
    """Exit 78 with the reason, as for every verb that reads a site file; the same for a folder. No file named: 2."""
    result = run(str(tmp_path / "site.toml"))
    assert (78, True) == (result.exit_code, "No such file" in result.stdout)
    assert 78 == run(str(tmp_path)).exit_code
    assert 2 == run().exit_code
    assert 2 == run(str(SAMPLE), "--config", str(SAMPLE)).exit_code


def test_a_file_that_is_not_utf8_has_a_line(tmp_path: Path) -> None:
    """Exit 78 with the line of the first bad byte."""
    path = tmp_path / "site.toml"
    path.write_bytes(b'[site]\nid = "caf\xe9"\n')
    result = run(str(path))
    assert (78, True) == (result.exit_code, result.stdout.startswith(f"{path}:2: not UTF-8"))


def test_a_port_that_can_be_none_is_a_finding(tmp_path: Path) -> None:
    """A file or a folder in place of a device: exit 78 with line and key. What is not plugged in yet is usable."""
    path = tmp_path / "site.toml"
    port = "/dev/serial/by-path/pci-0000:00:14.0-usb-0:1:1.0-port0"
    text = SAMPLE.read_text(encoding="utf-8")
    for there, what in ((str(SAMPLE), "a file"), (str(tmp_path), "a folder")):
        path.write_text(text.replace(port, there), encoding="utf-8")
        result = run(str(path))
        assert 78 == result.exit_code
        assert f'bus[0].port: "{there}" is {what}, no serial port' in result.stdout
        assert "1 finding: nothing was started" in result.stderr
    for fine in ("/dev/null", str(tmp_path / "absent")):
        path.write_text(text.replace(port, fine), encoding="utf-8")
        assert 0 == run(str(path)).exit_code


def test_a_time_zone_that_does_not_exist_is_a_finding(tmp_path: Path) -> None:
    """With the nearest one that does."""
    path = tmp_path / "site.toml"
    path.write_text(SAMPLE.read_text(encoding="utf-8").replace("America/Denver", "America/Denvr"), encoding="utf-8")
    result = run(str(path))
    assert 78 == result.exit_code
    assert """site.timezone: there is no time zone "America/Denvr" (did you mean 'America/Denver'?)""" in result.stdout


def test_the_schema_for_editors_is_up_to_date() -> None:
    """``schema/site.schema.json`` is what ``meterd check-config --schema`` prints; if not, write it again."""
    stored = (ROOT / "schema" / "site.schema.json").read_text(encoding="utf-8")
    assert schema_text() == stored
    assert stored == run("--schema").stdout


@pytest.mark.parametrize("word", ["seed_cents", "reserve_ppm", "limit_cents", "overflow", "floor", "ties"])
def test_the_schema_asks_for_every_level_setting(word: str) -> None:
    """An editor says so before ``check-config`` does."""
    level = json.loads(schema_text())["$defs"]["LevelShape"]
    assert word in level["required"]
    assert level["additionalProperties"] is False
