"""One mistake in a site file is one finding: what is wrong by itself makes nothing else wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from meterd.config import Catalogue, Finding, SiteErrors, load_site

MORE = """
[[bus]]
id = "sas-1"
kind = "sas"
port = "/dev/ttyS4"
baud = 19200

[[sas]]
bus = "sas-1"
group = 1
levels = ["nexus-1/mega", "none", "nexus-1/minor"]
games = [{ address = 1 }, { address = 2, table = "LIR-1", seat = 7 }]
broadcast = "86"
win_poll = "85"
stale_ms = 2500

[[fund]]
id = "bad-beat"
game = "posted"
take_max_cents = 200
unclaimed_days = 120
seats = 0
high_hand_ppm = "none"

[[fund.pool]]
name = "primary"
share_ppm = 1_000_000
cap_cents = 5_000_000
at_cap = "stop"
share_at_cap_ppm = "same"
reseeds = "none"
offered = "no"

[[bus]]
id = "keys-2"
kind = "osdp"
port = "/dev/ttyS5"
baud = 38400

[[bus]]
id = "keys-3"
kind = "hid"
port = "/dev/input/by-path/pci-0000:00:14.0-usb-0:4:1.0-event-kbd"
"""
PADS = (
    (
        'bus = "keys-1", unit = 53, profile = "generic-keypad-32"',
        'bus = "keys-2", unit = 5, profile = "osdp-keypad-16", identity = "00BEBA-02-0000004D"',
    ),
    (
        'bus = "keys-1", unit = 52, profile = "generic-keypad-32"',
        'bus = "keys-3", unit = 1, profile = "hid-keypad-24", identity = "04D9:1203"',
    ),
)
_VALUE = re.compile(r'(\w+)(\s*=\s*)("[^"]*"|\[[^\]]*\]|[\d_]+)')


def edited(text: str, *edits: tuple[str, str]) -> str:
    """``text`` with each old replaced, which must be there."""
    for old, new in edits:
        assert old in text
        text = text.replace(old, new, 1)
    return text


def findings(text: str, catalogue: Catalogue) -> tuple[Finding, ...]:
    try:
        load_site(text, "site.toml", catalogue)
    except SiteErrors as errors:
        return errors.findings
    return ()


def wrong_lines(line: str) -> Iterator[str]:
    """The line with one value of a type that is never right, an empty one, one out of all bounds, or a misspelt key."""
    for found in _VALUE.finditer(line.partition("  #")[0]):
        key, value = line[: found.start(3)], line[found.end(3) :]
        for wrong in ("true", '""', "[7]") if found[3][0] in '"[' else ("true", "-1", "1.5", "99_999_999_999_999"):
            yield f"{key}{wrong}{value}"
        yield f"{line[: found.end(1)]}x{line[found.end(1) :]}"


@pytest.fixture(scope="module")
def whole(sample: str) -> str:
    return edited(sample, *PADS) + MORE


def test_a_wrong_value_is_one_finding(whole: str, catalogue: Catalogue) -> None:
    """Every value of a site file with one of each thing, made wrong in several ways: never two findings.

    No other place is blamed: neither what refers to a name that cannot be read, nor a sum with a number that cannot be.
    """
    assert () == findings(whole, catalogue)
    lines = whole.splitlines()
    tried, several = 0, {}
    for number, line in enumerate(lines):
        for wrong in [] if line.startswith("#") else wrong_lines(line):
            found = findings("\n".join([*lines[:number], wrong, *lines[number + 1 :]]), catalogue)
            tried += 1
            if len(found) > 1:
                several[wrong] = [str(each) for each in found]
    assert {} == several
    assert tried > 400


def test_an_alternative_that_was_tried_is_no_part_of_a_key(whole: str, catalogue: Catalogue) -> None:
    """A number or a word, and neither stands there: the key as it is written, and what was found."""
    (found,) = findings(edited(whole, ("unclaimed_days = 120   ", "unclaimed_days = 0   ")), catalogue)
    assert ("site.unclaimed_days", True) == (found.key, found.message.endswith("found 0"))
