"""Posted jackpots and pool tables in a site file."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from meterd.accounting.settings_pools import AtCap, FundSettings, PoolGame, PoolSettings
from meterd.config import Finding, Site

Findings = Callable[..., tuple[Finding, ...]]
LINES = "# ---- lines: name a port"


def example(sample: str) -> str:
    """The fund that stands in the sample as a comment, without the marks of the comment."""
    part = sample[sample.index("# [[fund]]") : sample.index(LINES)]
    return "\n".join(line.removeprefix("# ").removeprefix("#") for line in part.splitlines()) + "\n\n"


def added(sample: str, *edits: tuple[str, str]) -> tuple[str, str]:
    """An edit that puts the sample's fund in force, with changes."""
    text = example(sample)
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new, 1)
    return LINES, text + LINES


def test_the_sample_s_jackpot(sample: str, site: Callable[..., Site]) -> None:
    """The commented lines of the sample are a jackpot that works; without them there is none."""
    assert () == site().funds
    (fund,) = site(added(sample)).funds
    assert fund == FundSettings(
        "bad-beat",
        PoolGame.POSTED,
        (
            PoolSettings("primary", 600_000, 5_000_000, AtCap.STOP),
            PoolSettings("secondary", 400_000, reseeds="primary", offered=True),
        ),
        200,
    )


@pytest.mark.parametrize(
    ("edit", "key", "words"),
    [
        (('id = "bad-beat"', 'id = "nexus-1"'), "fund[0].id", "is a link or table"),
        (('id = "bad-beat"', 'id = "LIR-1"'), "fund[0].id", "is a link or table"),
        (("take_max_cents = 200", "take_max_cents = 201"), "fund[0].pool", "at most 200 cents"),
        (("share_ppm = 600_000", "share_ppm = 500_000"), "fund[0].pool", "100% together"),
        (('game = "posted"', 'game = "poker"'), "fund[0].game", 'expected "posted"'),
        (('at_cap = "stop"', 'at_cap = "none"'), "fund[0].pool", "a cap says what happens there"),
        (('reseeds = "primary"', 'reseeds = "first"'), "fund[0].pool", "there is no such pool"),
        (("unclaimed_days = 120", "unclaimed_days = 0"), "fund[0].unclaimed_days", "days, 1 or more"),
        (("unclaimed_days = 120\n", "\n"), "fund[0].unclaimed_days", "missing"),
        (('offered = "yes"', "offered = true"), "fund[0].pool[1].offered", 'expected "yes" or "no"'),
    ],
)
def test_a_jackpot_that_cannot_be(sample: str, findings: Findings, edit: tuple[str, str], key: str, words: str) -> None:
    """Each thing that is wrong with it is named with its key."""
    found = [(each.key, each.message) for each in findings(added(sample, edit))]
    assert any(where.startswith(key) and words in said for where, said in found), found


def test_two_jackpots_of_one_name(sample: str, findings: Findings) -> None:
    """The second one is named."""
    twice = (LINES, example(sample) + example(sample) + LINES)
    assert any("fund[1].id" == each.key for each in findings(twice))
