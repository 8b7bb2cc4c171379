"""What is due: the clocks of the rules that have run out, each until somebody has acted on it (accounting/due.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

from meterd.accounting.due import Due, DueKind, due
from meterd.app.scenario import Setup, _Player
from meterd.app.scenario_parse import parse_page
from meterd.app.scenario_world import World
from meterd.edge.files import load_paytables

LINK = """
site unclaimed_days 120 notice_days 30
link l wager 1.00 paytable co/blazing-sevens/b7p2
level l/main seed 1000.00 increment 20% reserve none reset seed_plus_reserve ties sequential floor none
link m wager 1.00 paytable co/blazing-sevens/b7p2
level m/main seed 1000.00 increment 20% reserve none reset seed_plus_reserve ties sequential floor none
table T1 link l game hit-and-run seats 5
pool P/main cap 1.00 at_cap stop days 10
pool Q/main share 100%
clock 2026-01-01T06:00
wagers T1 seats 1-2
lock T1
claim T1 seat 1 three-7s-diamonds
claim T1 seat 2 first-two-cards-7
confirm A1 by sup-1
confirm A2 by sup-1
end T1
pay A2
"""


class House:
    """A page played line by line, and what is due at its clock."""

    def __init__(self, text: str) -> None:
        self.player = _Player(World.create(), Setup(load_paytables(), Path()))
        self.play(text)

    def play(self, text: str) -> None:
        for line in parse_page(text, "page.scn"):
            self.player.step(line)

    def due(self) -> list[tuple[DueKind, str]]:
        world = self.player.world
        return [(one.kind, one.subject) for one in due(world.book, f"{world.now:%Y-%m-%dT%H:%M:%S}Z")]


@pytest.fixture
def house() -> House:
    """A confirmed award nobody has collected, one that was paid, and two jackpots opened on the first of January."""
    return House(LINK)


def test_an_award_nobody_collects_is_due_after_the_sites_days_until_it_is_marked(house: House) -> None:
    """Requirement R71, CO 47.1-1046(1)(c): on the 120th day, and no more once it lies with the unclaimed."""
    house.play("close P\nclose Q\nafter 119 days")
    assert [] == house.due()
    house.play("after 1 day")
    assert [(DueKind.AWARD_UNCLAIMED, "A1")] == house.due()
    house.play("unclaimed A1 by acc-1")
    assert [] == house.due()


def test_a_site_without_days_has_no_unclaimed_awards() -> None:
    """No number of days, nothing due."""
    house = House(LINK.replace("unclaimed_days 120 ", ""))
    house.play("close P\nclose Q\nafter 900 days")
    assert [] == house.due()


def test_a_stopped_jackpot_is_due_six_months_after_its_cap_until_it_is_won(house: House) -> None:
    """CO 47.1-1046(7)(c)."""
    house.play("close Q\nrake P 1.00\npost P by sup-1\nclock 2026-06-30T06:00\npost P by sup-1")
    assert [(DueKind.AWARD_UNCLAIMED, "A1")] == house.due()
    house.play("clock 2026-07-01T06:10\npost P by sup-1")
    assert [(DueKind.AWARD_UNCLAIMED, "A1"), (DueKind.PAY_OUT, "P/main")] == house.due()
    house.play('win P/main shares "100% to 1" by sup-1 and sup-2\npay A1')
    assert [] == house.due()


def test_a_share_nobody_claims_is_due_after_the_funds_days(house: House) -> None:
    """Ten days here; due until it is marked or paid."""
    house.play('close Q\nrake P 1.00\npost P by sup-1\nwin P/main shares "50% to 2" by sup-1 and sup-2')
    house.play("after 10 days\npost P by sup-1\npay J2")
    assert [(DueKind.SHARE_UNCLAIMED, "J1")] == house.due()
    house.play("unclaimed J1 by acc-1")
    assert [] == house.due()


def test_a_notice_that_has_run_is_due_until_the_link_ends(house: House) -> None:
    """CO 47.1-899.11(16)(g): the notice of 30 days."""
    house.play('close P\nclose Q\npay A1\nnotice l by adm-1 and acc-1 ref "letter 1"\nafter 29 days')
    assert [] == house.due()
    house.play("after 1 day")
    assert [(DueKind.NOTICE_OVER, "l")] == house.due()
    house.play('discontinue l to m/main by adm-1 and acc-1 ref "letter 2"')
    assert [] == house.due()


def test_a_day_without_a_posting_is_due_from_the_opening_on(house: House) -> None:
    """CO 47.1-1046(2): once a gaming day, at about the same time; both jackpots, then the one that was not posted."""
    house.play("clock 2026-01-02T07:59")
    assert [] == house.due()
    house.play("clock 2026-01-02T08:01")
    assert [(DueKind.POSTING, "P"), (DueKind.POSTING, "Q")] == house.due()
    house.play("post P by sup-1")
    assert [(DueKind.POSTING, "Q")] == house.due()
    house.play("restart")
    assert [(DueKind.POSTING, "Q")] == house.due()
    (one,) = due(house.player.world.book, "2026-01-02T09:00:00Z")
    assert Due(DueKind.POSTING, "Q", one.since_utc) == one
    assert one.since_utc.startswith("2026-01-02T08:00:")
