"""Changed settings of a house that plays: who may, when, what is not shortened, and what stays as it was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from accounting_build import ACCOUNTANT, ADMINISTRATOR, DEALER, OTHER, SUPERVISOR, Casino, level, link

from meterd.accounting.commands import Actor, Claim, Command, Role
from meterd.accounting.commands_links import ChangeSite, ChangeTable, Discontinue, GiveNotice, PostCaps
from meterd.accounting.entries import Kind
from meterd.accounting.refusals import Refusal as No
from meterd.accounting.settings import SiteSettings, TableSettings
from meterd.accounting.state import TableStatus
from meterd.errors import MisuseError

SITE = SiteSettings("test", unclaimed_days=120, discontinue_notice_days=30)
TECHNICIAN = Actor("tech-1", Role.TECHNICIAN)
REGULATOR = Actor("reg-1", Role.REGULATOR)


@pytest.fixture
def house() -> Casino:
    return Casino(link(), link(level(reserve=None), name="other"), site=SITE)


def signed(make: Callable[..., Command], **facts: Any) -> Command:
    return make(**{"actor": ADMINISTRATOR, "second": ACCOUNTANT, "reference": "r-1", **facts})


def site(**changes: Any) -> Command:
    return signed(ChangeSite, settings=replace(SITE, **changes))


def table(house: Casino, **changes: Any) -> Command:
    return signed(ChangeTable, settings=replace(house.book.tables["T1"].settings, **changes))


PEOPLE = [
    ({"actor": DEALER}, No.NOT_AUTHORISED),
    ({"actor": REGULATOR}, No.NOT_AUTHORISED),
    ({"second": TECHNICIAN}, No.NOT_AUTHORISED),
    ({"second": Actor(" ADM-1", Role.ACCOUNTING)}, No.SAME_PERSON),
    ({"second": None}, No.SECOND_PERSON_REQUIRED),
    ({"actor": SUPERVISOR, "second": OTHER}, No.SECOND_PERSON_REQUIRED),
    ({"reference": " "}, No.SECOND_PERSON_REQUIRED),
]


@pytest.mark.parametrize(("change", "reason"), PEOPLE)
def test_two_people_of_two_departments_with_a_reference(house: Casino, change: dict[str, Any], reason: No) -> None:
    """Before anything else is looked at."""
    wanted = TableSettings("T9", "nexus", "Test", 7)
    assert reason is house.refuses(signed(ChangeSite, settings=SITE, **change))
    assert reason is house.refuses(signed(ChangeTable, settings=wanted, **change))


def test_thresholds_change_between_awards_and_rounds(house: Casino) -> None:
    """A pending award and a locked round anywhere are waited for; then one entry tells both states."""
    wanted = site(two_person_cents=100, seed_recovery=True)
    house.lock(table="T3")
    assert No.NOT_YET is house.refuses(wanted)
    award = house.claim(1, "royal-flush", table="T3")
    assert No.LEVEL_HAS_PENDING_AWARD is house.refuses(wanted)
    house.confirm(award)
    assert No.NOT_YET is house.refuses(wanted)
    house.end("T3")
    (entry,) = house.do(wanted).entries
    assert Kind.SITE_SET is entry.kind
    assert () == entry.postings
    assert (SITE.to_json(), "acc-1", "r-1") == (entry.body["was"], entry.body["second"], entry.body["reference"])
    assert replace(SITE, two_person_cents=100, seed_recovery=True) == house.book.site == house.folded().site
    assert No.ALREADY_DONE is house.refuses(wanted)


def test_the_days_to_collect_are_not_shortened_while_an_award_is_owed(house: Casino) -> None:
    """More days, or no last day, may be given at any time; fewer once it is paid."""
    house.lock()
    award = house.claim(1, "royal-flush")
    house.confirm(award)
    house.end()
    assert No.NOT_YET is house.refuses(site(unclaimed_days=119))
    house.do(site(unclaimed_days=121))
    house.do(site(unclaimed_days=None))
    assert No.NOT_YET is house.refuses(site(unclaimed_days=365))
    house.pay(award)
    house.do(site(unclaimed_days=1))


def test_a_notice_that_runs_is_not_shortened(house: Casino) -> None:
    """It may be made longer; once the link has ended it holds nothing up."""
    house.do(site(discontinue_notice_days=29))
    house.do(signed(GiveNotice, link="other"))
    assert No.NOT_YET is house.refuses(site(discontinue_notice_days=28))
    house.do(site(discontinue_notice_days=30))
    ended = signed(Discontinue, link="other", target="nexus/main", now_utc="2026-05-01T00:00:00.000000Z")
    house.do(ended)
    house.do(site(discontinue_notice_days=0))


@pytest.mark.parametrize("change", [{"id": "elsewhere"}, {"currency": "EUR"}])
def test_a_ledger_is_one_sites_and_in_one_currency(house: Casino, change: dict[str, Any]) -> None:
    """Whoever asks for another has not read the site file against the ledger."""
    with pytest.raises(MisuseError):
        house.decide(site(**change))


def test_a_table_changes_between_its_rounds(house: Casino) -> None:
    """Its own rounds and awards only: what is played elsewhere on the link does not wait."""
    wanted = table(house, seats=5, lowest_chip_cents=100)
    house.lock()
    house.lock(table="T2")
    assert No.NOT_YET is house.refuses(wanted)
    house.claim(1, "straight-flush", table="T2")
    award = house.claim(1, "royal-flush")
    assert No.LEVEL_HAS_PENDING_AWARD is house.refuses(wanted)
    house.void(award)
    house.end()
    (entry,) = house.do(wanted).entries
    assert (Kind.TABLE_CHANGED, "T1", "nexus", ()) == (entry.kind, entry.table, entry.link, entry.postings)
    for book in (house.book, house.folded()):
        assert (5, 100) == (book.tables["T1"].settings.seats, book.tables["T1"].settings.lowest_chip_cents)
        assert TableStatus.OPEN is book.tables["T1"].state
    assert 7 == house.book.tables["T2"].settings.seats
    assert No.ALREADY_DONE is house.refuses(wanted)
    assert No.SEAT_UNKNOWN is house.refuses(locking(house, 6))


def locking(house: Casino, seat: int) -> Command:
    """A claim on a seat that the table has no more."""
    house.lock((1,))
    return Claim(actor=DEALER, table="T1", seat=seat, hand="royal-flush")


def test_limits_are_posted_and_not_changed_along(house: Casino) -> None:
    """What a changed table says of aggregate limits is left out; those posted keep their time."""
    house.do(signed(PostCaps, table="T1", player_cents=1_000_000, table_cents=None))
    held = house.book.tables["T1"].caps
    house.do(table(house, seats=5, cap_player_cents=777_777))
    settings = house.book.tables["T1"].settings
    assert (5, 1_000_000) == (settings.seats, settings.cap_player_cents)
    assert held == house.book.tables["T1"].caps
    assert No.ALREADY_DONE is house.refuses(table(house, cap_table_cents=888_888))


def test_a_table_nobody_knows_and_another_link(house: Casino) -> None:
    """The first is refused; the second is no question that may be asked."""
    unknown = TableSettings("T9", "nexus", "Test", 7)
    assert No.TABLE_UNKNOWN is house.refuses(signed(ChangeTable, settings=unknown))
    with pytest.raises(MisuseError):
        house.decide(table(house, link="other"))
