"""``[[sas]]``: which lines, levels and games can be, and what a site file is told of those that cannot."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from meterd.config import Catalogue, Finding, SasConfig, SasGame, Site, SiteErrors, line_budget, load_site

LINE = """
[[bus]]
id = "sas-1"
kind = "sas"
port = "/dev/serial/by-path/sas"
baud = 19200

[[sas]]
bus = "sas-1"
group = 1
levels = ["nexus-1/mega", "none", "nexus-1/minor"]
games = [{ address = 1 }, { address = 2, table = "LIR-1", seat = 7 }]
"""


@pytest.fixture
def load(sample: str, catalogue: Catalogue) -> Callable[..., Site]:
    def of(*edits: tuple[str, str]) -> Site:
        text = LINE
        for old, new in edits:
            assert old in text, old
            text = text.replace(old, new, 1)
        return load_site(sample + text, "site.toml", catalogue)

    return of


@pytest.fixture
def found(load: Callable[..., Site]) -> Callable[..., Finding]:
    def of(*edits: tuple[str, str]) -> Finding:
        with pytest.raises(SiteErrors) as caught:
            load(*edits)
        (one,) = caught.value.findings
        return one

    return of


def test_a_line_with_games(load: Callable[..., Site]) -> None:
    """Levels keep their numbers, a number left out included; what is not said has its usual value."""
    site = load()
    (sas,) = site.sas
    assert (
        SasConfig("sas-1", 1, (("nexus-1", "mega"), None, ("nexus-1", "minor")), (SasGame(1), SasGame(2, "LIR-1", 7)))
        == sas
    )
    assert {1: ("nexus-1", "mega"), 3: ("nexus-1", "minor")} == sas.numbered
    assert [] == [each for each in site.warnings if "sas" in each.key]


def test_the_line_budget_of_games(load: Callable[..., Site]) -> None:
    """86 with three levels is 24 characters, 13,750 µs, five times a second: 7 %."""
    (budget,) = [each for each in line_budget(load()) if each.bus == "sas-1"]
    assert (7, 68_750) == (budget.percent, budget.used_us)


@pytest.mark.parametrize(
    ("old", "new", "key", "words"),
    [
        ('bus = "sas-1"\n', 'bus = "sas-l"\n', "sas[0].bus", 'there is no bus "sas-l"'),
        ('bus = "sas-1"\n', 'bus = "pit-1"\n', "sas[0].bus", 'expected one of kind "sas"'),
        ("baud = 19200", "baud = 9600", "bus[3].baud", "runs at 19200"),
        ("baud = 19200", 'baud = 19200\nparity = "E"', "bus[3].parity", "leave this out"),
        ("baud = 19200", "baud = 19200\nstopbits = 2", "bus[3].stopbits", "leave this out"),
        ("group = 1", "group = 0", "sas[0].group", "1 to 255"),
        ("group = 1", "group = 256", "sas[0].group", "1 to 255"),
        ('"nexus-1/minor"', '"nexus-1/minro"', "sas[0].levels[2]", "there is no level"),
        ('"nexus-1/minor"', '"nexus-1/mega"', "sas[0].levels[2]", "SAS level 1 already"),
        ("address = 2", "address = 1", "sas[0].games[1].address", "taken on this line"),
        ("address = 2", "address = 128", "sas[0].games[1].address", "1 to 127"),
        ("address = 2", "address = 0", "sas[0].games[1].address", "1 to 127"),
        (", seat = 7", "", "sas[0].games[1]", "both, or neither"),
        ("seat = 7", "seat = 8", "sas[0].games[1].seat", "has 7 seats"),
        ('table = "LIR-1"', 'table = "LIR-9"', "sas[0].games[1].table", "there is no table"),
        ('table = "LIR-1"', 'table = "TCP-1"', "sas[0].games[1].table", "plays for none of the levels"),
        ("group = 1", 'group = 1\nbroadcast = "8A"', "sas[0].broadcast", '"80", "86" or "7A"'),
        ("group = 1", "group = 1\nstale_ms = 6000", "sas[0].stale_ms", "1500 to 5000"),
        ("group = 1", "group = 1\ngrid_ms = 100", "sas[0].grid_ms", "200 to 1000"),
    ],
)
def test_what_cannot_be_is_told(old: str, new: str, key: str, words: str, found: Callable[..., Finding]) -> None:
    """Each finding names the key and what was expected."""
    one = found((old, new))
    assert (key, True) == (one.key, words in one.message), one


def test_a_line_has_one_block(found: Callable[..., Finding]) -> None:
    """Two groups on one line would each need the whole of it."""
    one = found(
        ('[[sas]]\nbus = "sas-1"', '[[sas]]\nbus = "sas-1"\ngroup = 2\nlevels = ["tcp-1/main"]\n[[sas]]\nbus = "sas-1"')
    )
    assert ("sas[1].bus", True) == (one.key, "has a [[sas]] already" in one.message)


def test_more_games_than_a_turn_of_five_seconds_holds(found: Callable[..., Finding], load: Callable[..., Site]) -> None:
    """Ten games and the broadcasts between them take 4 s; the eleventh belongs on another line."""
    games = ", ".join(f"{{ address = {n} }}" for n in range(3, 11))
    assert 10 == len(load(("seat = 7 }", f"seat = 7 }}, {games}")).sas[0].games)
    one = found(("seat = 7 }", f"seat = 7 }}, {games}, {{ address = 11 }}"))
    assert ("sas[0].games", True) == (one.key, "4400 ms" in one.message)


def test_a_limit_that_sas_cannot_say(sample: str, catalogue: Catalogue) -> None:
    """Ten digits of cents are all there are."""
    text = sample.replace(
        'limit_cents = "none"\noverflow = "none"', 'limit_cents = 10_000_000_000\noverflow = "next_meter"', 1
    )
    text = text.replace('shows = ["nexus-1/mega", ', 'shows = ["nexus-1/minor", ')
    with pytest.raises(SiteErrors) as caught:
        load_site(text + LINE, "site.toml", catalogue)
    assert ["sas[0].levels[0]"] == [one.key for one in caught.value.findings]


def test_a_rehearsal_is_warned_of(load: Callable[..., Site]) -> None:
    """No game understands a line without the wakeup bit."""
    site = load(("group = 1", 'group = 1\nparity = "none-for-rehearsal"'))
    assert site.sas[0].rehearsal
    assert ["sas[0].parity"] == [one.key for one in site.warnings if one.key.startswith("sas")]


def test_a_sas_line_that_nobody_uses_is_warned_of(sample: str, catalogue: Catalogue) -> None:
    """A bus without a block was meant for something."""
    site = load_site(sample + LINE.partition("[[sas]]")[0], "site.toml", catalogue)
    assert "nothing is wired to this bus" in [one.message for one in site.warnings]
