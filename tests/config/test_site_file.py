"""A site file as a whole: the sample is usable, and a bad one hears everything at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meterd.accounting.settings import Floor, ResetMode, Ties
from meterd.config import Catalogue, Finding, Site, SiteErrors, load_site
from meterd.edge.catalogue import catalogue as shipped

SAMPLE = Path(__file__).resolve().parents[2] / "docs" / "site.example.toml"
Findings = Callable[..., tuple[Finding, ...]]

#: old text, new text, key, nearest known name: each edit plants one error.
PLANTED = [
    ("increment_ppm = 120_000", "increment_pmm = 120_000", "link[0].level[0].increment_pmm", "increment_ppm"),
    ('reset = "seed_plus_reserve"', 'reset = "seed_plus_reserv"', "link[0].level[0].reset", "seed_plus_reserve"),
    (
        '"co/three-card-poker/progressive-1"',
        '"co/three-card-poker/progresive-1"',
        "link[1].paytable",
        "co/three-card-poker/progressive-1",
    ),
    ('game = "let-it-ride"', 'game = "let-it-rise"', "table[0].game", "let-it-ride"),
    ('profile = "adam-4055"', 'profile = "adam-4056"', "table[1].sensors.profile", "adam-4055"),
    ('shows = ["nexus-1/mega"', 'shows = ["nexus-1/maga"', "sign[0].shows[0]", "nexus-1/mega"),
]


def test_the_sample_is_usable_and_says_what_it_shows(site: Callable[..., Site]) -> None:
    """The sample file loads without a warning: two links, three tables of two games on one of them, two signs."""
    loaded = site()
    assert () == loaded.warnings
    assert ["nexus-1", "tcp-1"] == [link.id for link in loaded.links]
    on_nexus = [table.settings for table in loaded.tables if table.settings.link == "nexus-1"]
    assert (3, 2) == (len(on_nexus), len({table.game for table in on_nexus}))
    mega, major, _ = loaded.links[0].levels
    assert (5_000_000, 120_000, 30_000) == (mega.seed_cents, mega.increment_ppm, mega.reserve_ppm)
    assert (None, None, None) == (mega.limit_cents, mega.overflow, major.reserve_ppm)
    assert (10_000_000, "level:mega") == (major.limit_cents, major.overflow)
    assert (ResetMode.SEED_PLUS_RESERVE, Ties.SEQUENTIAL, Floor.NONE) == (mega.reset, mega.ties, mega.floor)
    assert "pit-1/40" == loaded.tables[0].sensors.device
    assert (("nexus-1", "mega"), ("nexus-1", "major")) == loaded.signs[0].shows
    assert "02" == loaded.signs[1].model.address
    assert (0, 50_000, 1_000_000) == (
        loaded.settings.confirm_above_cents,
        loaded.settings.cards_above_cents,
        loaded.settings.two_person_cents,
    )


def test_a_link_carries_the_hash_of_its_pay_table_file(site: Callable[..., Site], catalogue: Catalogue) -> None:
    """The entry that brings a link into force can say exactly which printed table it was."""
    assert catalogue.paytable_sha256 is not None
    wanted = catalogue.paytable_sha256["co/nexus/pmg-ml-02"]
    assert (64, wanted) == (len(wanted), site().link_sha256["nexus-1"])


def test_six_planted_errors_are_reported_together(findings: Findings, sample: str) -> None:
    """Each of six errors comes with file, line, key and the nearest known name; nothing else is reported."""
    found = findings(*((old, new) for old, new, _, _ in PLANTED))
    lines = sample.split("\n")
    wanted = [
        ("site.toml", next(n for n, line in enumerate(lines, 1) if old in line), key, near)
        for old, _, key, near in PLANTED
    ]
    assert sorted(wanted) == sorted((each.file, each.line, each.key, each.nearest) for each in found)
    assert list(found) == sorted(found, key=lambda each: each.line)


def test_a_finding_reads_as_one_line(findings: Findings) -> None:
    """Place, key, what is wrong, and what was probably meant."""
    (found,) = findings((PLANTED[3][0], PLANTED[3][1]))
    assert str(found).startswith('site.toml:87: table[0].game: "co/nexus/pmg-ml-02" is not approved for "let-it-rise"')
    assert str(found).endswith("(did you mean 'let-it-ride'?)")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[site]\nid = \n", 2),
        ('[site]\nid = "a"\nid = "b"\n', 3),
        ("[site\n", 1),
        ("[site]\n\nx = [1,\n2", 4),
        ("a = 1\n" * 2, 2),
    ],
)
def test_a_syntax_error_is_the_only_finding_and_has_its_line(text: str, line: int, catalogue: Catalogue) -> None:
    """What cannot be read cannot be judged: one finding, with its line."""
    with pytest.raises(SiteErrors) as caught:
        load_site(text, "site.toml", catalogue)
    (found,) = caught.value.findings
    assert ("site.toml", line, True) == (found.file, found.line, found.message.startswith("not valid TOML"))


def test_an_empty_file_hears_what_a_site_needs(catalogue: Catalogue) -> None:
    """Nothing is assumed: the four tables without which there is no site are asked for."""
    with pytest.raises(SiteErrors) as caught:
        load_site("", "site.toml", catalogue)
    assert ["site", "link", "table", "bus"] == [found.key for found in caught.value.findings]


LEVEL_SETTINGS = (
    'name = "mega"', "seed_cents = 5_000_000", "increment_ppm = 120_000", "reserve_ppm = 30_000",
    'reset = "seed_plus_reserve"', 'limit_cents = "none"', 'overflow = "none"', 'ties = "sequential"',
    'share_scales = "no"', 'floor = "none"',
)  # fmt: skip


@pytest.mark.parametrize("setting", LEVEL_SETTINGS)
def test_every_level_setting_is_explicit(setting: str, findings: Findings, sample: str) -> None:
    """Leaving one out is a finding at the level's header: what the rules leave open has no default."""
    key, header = setting.split(" ", maxsplit=1)[0], sample.split("\n").index("[[link.level]]") + 1
    missing = [each for each in findings((setting, "")) if "missing" in each.message]
    assert [(f"link[0].level[0].{key}", header)] == [(each.key, each.line) for each in missing]


@pytest.mark.parametrize(
    ("old", "new", "key", "expected"),
    [
        ("seed_cents = 5_000_000", 'seed_cents = "5000000"', "link[0].level[0].seed_cents", "a whole number of cents"),
        ("seed_cents = 5_000_000", "seed_cents = 5_000_000.5", "link[0].level[0].seed_cents", "a whole number"),
        ("seed_cents = 5_000_000", "seed_cents = true", "link[0].level[0].seed_cents", "a whole number"),
        ("seed_cents = 5_000_000", "seed_cents = -1", "link[0].level[0].seed_cents", "a whole number"),
        ("seed_cents = 5_000_000", "seed_cents = 9_000_000_000_001", "link[0].level[0].seed_cents", "whole number"),
        ("reserve_ppm = 30_000", 'reserve_ppm = "nil"', "link[0].level[0].reserve_ppm", "which is not 0"),
        ("increment_ppm = 120_000", "increment_ppm = 1_000_001", "link[0].level[0].increment_ppm", "0 to 1_000_000"),
        ('limit_cents = "none"', "limit_cents = 1e9", "link[0].level[0].limit_cents", 'or "none"'),
        ('overflow = "none"', 'overflow = "nowhere"', "link[0].level[0].overflow", '"level:NAME"'),
        ('share_scales = "no"', "share_scales = false", "link[0].level[0].share_scales", '"yes" or "no"'),
        ('timezone = "America/Denver"', 'timezone = "-07:00"', "site.timezone", "America/Denver"),
        ('gaming_day_starts = "06:00"', 'gaming_day_starts = "6 am"', "site.gaming_day_starts", '"06:00"'),
        ("wager_cents = 100", "wager_cents = 0", "link[0].wager_cents", "1 or more"),
        ("levels_ms = 100", "levels_ms = 10", "poll.levels_ms", "20 to 500"),
        ("levels_ms = 100", "levels_ms = 501", "poll.levels_ms", "20 to 500"),
        ("baud = 115200", "baud = 115201", "bus[0].baud", "a usual speed"),
        ("unit = 40", "unit = 248", "table[0].sensors.unit", "1 to 247"),
        ('id = "LIR-1"', 'id = "LIR/1"', "table[0].id", "a name of letters"),
        ("sensors = {", "sensors = 3 # {", "table[0].sensors", "a table with bus, unit, profile"),
        ('shows = ["nexus-1/mega", "nexus-1/major"]', 'shows = "nexus-1/mega"', "sign[0].shows", "a list"),
    ],
)
def test_a_wrong_type_or_value_says_what_was_expected(
    old: str, new: str, key: str, expected: str, findings: Findings
) -> None:
    """Nothing is converted: a text is no number, true is no 1, and a bound is a bound."""
    mine = [each for each in findings((old, new)) if each.key == key]
    assert 1 == len(mine)
    assert expected in mine[0].message
    assert "found" in mine[0].message


def test_one_wrong_value_does_not_hide_what_else_is_wrong(findings: Findings) -> None:
    """Cross checks run beside the shape checks: a wrong type in a link leaves its other findings visible."""
    found = findings(
        ("units_max = 1", 'units_max = "1"'),
        ("increment_ppm = 50_000", "increment_ppm = 950_000"),
        ('bus = "pit-1", unit = 41', 'bus = "pit-1", unit = 40'),
    )
    wanted = {"link[0].units_max", "link[0].level", "table[1].sensors.unit"}
    assert wanted == {each.key for each in found}


def _values() -> st.SearchStrategy[Any]:
    return st.sampled_from(
        ["3", "-1", "2.5", "true", '"none"', '"nexus-1"', '"nexus-1/mega"', '"pit-1"', '"adam-4055"', "1979-05-27",
         '"co/nexus/pmg-ml-02"', '"level:mega"', "[]", "{}", "[{}]", "[[1]]", '["a", 1]', "{ id = 1 }"]
    )  # fmt: skip


def findings_of(text: str) -> tuple[Finding, ...]:
    try:
        load_site(text, "site.toml", shipped())
    except SiteErrors as error:
        return error.findings
    return ()


EDITS = st.tuples(st.integers(0, 170), st.sampled_from(["set", "drop", "double", "swap"]), _values())


@given(st.lists(EDITS, min_size=1, max_size=6))
def test_any_edits_give_findings_and_never_another_exception(edits: list[tuple[int, str, str]]) -> None:
    """Whatever stands behind any key, whatever lines are lost, doubled or moved: a site, or findings with a line."""
    lines = SAMPLE.read_text(encoding="utf-8").split("\n")
    for place, act, value in edits:
        at = place % (len(lines) - 1)
        match act:
            case "set" if "=" in lines[at] and not lines[at].startswith("#"):
                lines[at] = f"{lines[at].split('=', maxsplit=1)[0]}= {value}"
            case "drop":
                del lines[at]
            case "double":
                lines.insert(at, lines[at])
            case _:
                lines[at], lines[at + 1] = lines[at + 1], lines[at]
    found = findings_of("\n".join(lines))
    assert all(1 <= each.line <= len(lines) and each.message for each in found)


def test_a_finding_stays_on_one_line() -> None:
    """A key or value with a line end in it cannot forge a second finding."""
    found = findings_of('[site]\nid = "a\\nsite.toml:1: fine"\n"x\\u001b[2J" = 1\n')
    assert all("\n" not in str(each) and "\x1b" not in str(each) for each in found)
    assert any("fine" in str(each) for each in found)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("baud = 115200", 'baud = "115200"', 'found the text "115200": a number stands without quotes'),
        ("wager_cents = 100", 'wager_cents = "1_00"', 'found the text "1_00": a number stands without quotes'),
        (
            '"/dev/serial/by-path/pci-0000:00:14.0-usb-0:1:1.0-port0"',
            '"ttyUSB0"',
            "expected the whole path",
        ),
        ('listen = "127.0.0.1"', 'listen = "banana"', 'expected an IP address such as "127.0.0.1", found "banana"'),
        ('listen = "127.0.0.1"', 'listen = "1.2.3.400"', "expected an IP address"),
    ],
)
def test_what_could_not_work_is_a_finding(findings: Findings, old: str, new: str, says: str) -> None:
    """A quoted number, a port without its folder, an address that is none: each says what was expected."""
    (found,) = findings((old, new))
    assert says in found.message


def test_addresses_of_both_kinds_are_taken(site: Callable[..., Site]) -> None:
    """IPv4, IPv6, and the one name that leads nowhere else."""
    for listen in ("10.0.0.7", "::1", "localhost"):
        assert listen == site(('listen = "127.0.0.1"', f'listen = "{listen}"')).web.listen
