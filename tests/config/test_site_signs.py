"""Signs of a site file: what each is given to know, and what is refused because nobody could read it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from meterd.config import Finding, Site
from meterd.config.signs import DISCLOSURE, widest_figure

Findings = Callable[..., tuple[Finding, ...]]


def test_a_sign_knows_its_widest_figures(site: Callable[..., Site]) -> None:
    """A level with a limit by its limit, one without by what it may reach."""
    pit, tcp = site().signs
    assert (len("$9,999,999.99"), len("$100,000.00")) == pit.widest
    assert (13,) == tcp.widest
    assert ("$5,000.00", "$9,999,999.99") == (widest_figure(5_000_00), widest_figure(None))


def test_a_sign_sends_checksums_unless_told_otherwise(site: Callable[..., Site]) -> None:
    """By its model, or by its own block."""
    without = ('address = "01"', 'address = "01"\nchecksum = false')
    assert [True, True] == [sign.model.checksum for sign in site().signs]
    assert [False, True] == [sign.model.checksum for sign in site(without).signs]


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (('release_to_house = "no"', 'release_to_house = "yes"'), (True, True)),
        (('overflow = "next_meter"', 'overflow = "house"'), (True, False)),
    ],
)
def test_players_are_told_where_the_house_may_keep_money(
    edit: tuple[str, str], told: tuple[bool, bool], site: Callable[..., Site]
) -> None:
    """On every sign of a site that may release, and on those of a link whose overflow is the house's."""
    assert [None, None] == [sign.notice for sign in site().signs]
    assert list(told) == [sign.notice == DISCLOSURE for sign in site(edit).signs]


def test_a_level_stands_on_a_sign_once(findings: Findings) -> None:
    """The same figure twice on one display was meant to be another."""
    edit = ('shows = ["nexus-1/mega", "nexus-1/major"]', 'shows = ["nexus-1/mega", "nexus-1/mega"]')
    found: Any = findings(edit)
    assert [("sign[0].shows[1]", True)] == [(each.key, "twice" in each.message) for each in found]


def test_a_label_fits_its_display(findings: Findings) -> None:
    """Thirteen columns, fourteen letters."""
    found: Any = findings(('labels = ["MEGA", "MAJOR"]', 'labels = ["MEGA", "MAJOR JACKPOTS"]'))
    assert [("sign[0].labels[1]", True)] == [(each.key, "13 characters" in each.message) for each in found]
