"""The book before its first entry, entries that cannot be, old words of entries, and what is owed and unclaimed."""

from __future__ import annotations

import pytest
from accounting_build import Casino, level, link
from pools_build import CardRoom, fund, pool, winning

from meterd.accounting import commands_pools as ask
from meterd.accounting.awards import LinkMoney
from meterd.accounting.book import Book
from meterd.accounting.carry import carried
from meterd.accounting.commands import SYSTEM, CreateLedger, SetSite
from meterd.accounting.due import DueKind, due
from meterd.accounting.entries import Entry, Kind, Posting
from meterd.accounting.refusals import Refusal
from meterd.accounting.rules import decide
from meterd.accounting.settings import SiteSettings
from meterd.errors import InvariantBroken

MICRO = 1_000_000


def test_a_book_begins_empty() -> None:
    """Before the first entry nothing stands in it: no site, no day, no demonstration, no key, no money."""
    book = Book()
    assert (0, "", "", "", False) == (book.seq, book.at_utc, book.site_id, book.currency, book.demo)
    assert (None, "", (), 0, 0) == (book.site, book.gaming_day, book.keys, book.gone_awards, book.gone_shares)
    assert 0 == book.residual_microcents()
    everything = (book.links, book.tables, book.awards, book.open_awards, book.balances, book.devices, book.funds)
    assert not any(everything)
    assert not any((book.fund_awards, book.open_shares, book.counts_by_key))
    assert "A1" == book.award_name()


@pytest.mark.parametrize("demo", [False, True])
def test_a_ledger_says_whether_it_is_a_demonstration(demo: bool) -> None:
    """As it was created, so the book says; a second beginning is refused."""
    book = Book()
    command = CreateLedger(actor=SYSTEM, site="here", currency="EUR", demo=demo)
    (entry,) = decide(book, command).entries
    book.apply(1, "2026-01-01T00:00:00.000000Z", entry)
    assert ("here", "EUR", demo, 1) == (book.site_id, book.currency, book.demo, book.seq)
    refusal = decide(book, command).refusal
    assert refusal is not None
    assert Refusal.ALREADY_DONE is refusal.refusal


@pytest.mark.parametrize(
    "postings",
    [
        (("drop/T1", -5), ("house/hold/T1", 4)),
        (("drop/T1", 5),),
        (("drop/T1", -5), ("drop/T1", 5)),
        (("drop/T1", -5), ("drop/T1", 2), ("house/hold/T1", 3)),
        (("drop/T1", 0), ("drop/T1", 0)),
    ],
)
def test_an_entry_that_does_not_balance_cannot_be(postings: tuple[tuple[str, int], ...]) -> None:
    """Money that comes from nowhere, or an account named twice: there is no such entry."""
    with pytest.raises(InvariantBroken):
        Entry(Kind.LOCKED, "x", postings=tuple(Posting(*one) for one in postings))


def test_an_entry_that_balances_can_be() -> None:
    """Nothing moved, or as much taken as given."""
    assert () == Entry(Kind.LOCKED, "x").postings
    moved = (Posting("drop/T1", -5), Posting("house/hold/T1", 2), Posting("meter/nexus/main", 3))
    assert moved == Entry(Kind.LOCKED, "x", postings=moved).postings


def test_an_entry_without_the_word_for_adjustments_has_none() -> None:
    """A ledger from before adjustments: the level has nothing adjusted, and the rest as it is told."""
    casino = Casino(link(level(seed="1000")))
    casino.lock((1,))
    casino.claim(1, "royal-flush")
    told = dict(casino.entries[-1].body["levels"]["nexus/main"])
    del told["adjusted_microcents"]
    casino.book.read_levels({"nexus/main": told})
    counts = casino.book.counts_by_key["nexus/main"]
    assert (0, told["resets"], told["hits"]) == (counts.adjusted, counts.resets, counts.hits)
    stored = casino.book.money("nexus").to_json()
    assert "adjusted_microcents" in stored["levels"]["main"]
    del stored["levels"]["main"]["adjusted_microcents"]
    read = LinkMoney.from_json(casino.book.links["nexus"].rules, stored)
    assert 0 == read.levels["main"].adjusted


def test_a_press_marks_its_input_once() -> None:
    """An entry that tells an older press than the last one heard leaves the mark where it is."""
    book = Book()
    for seq, (count, mark) in enumerate([(3, 3), (5, 5), (4, 5), (5, 5), (6, 6)], start=1):
        book.apply(seq, "", Entry(Kind.REFUSED, "x", event_id=f"pit/40/di0:1:{count}"))
        assert (1, mark) == tuple(book.devices["pit/40/di0"])
    book.apply(9, "", Entry(Kind.REFUSED, "x", event_id="pit/40/di0:2:0"))
    assert (2, 0) == tuple(book.devices["pit/40/di0"])


def test_an_unclaimed_share_is_owed_once_also_in_a_new_volume() -> None:
    """What nobody claimed lies apart; a volume that begins then owes exactly what the last one did."""
    room = CardRoom(fund(pool()), strict=False)
    room.rake(200, 30)
    room.post()
    room.do(winning())
    room.after(days=121)
    room.do(ask.UnclaimedShare(actor=SYSTEM, award="J1"))
    owed = room.book.liability_microcents("P1")
    assert 6_000 * MICRO == owed
    alone = Book()
    alone.apply(1, room.book.at_utc, Entry(Kind.BOOK_CARRIED, "meterd", body=carried(room.book)))
    assert owed == alone.liability_microcents("P1")


def test_with_no_days_at_all_an_award_is_unclaimed_from_its_confirmation_on() -> None:
    """A site that waits no day has it due at once; one that says nothing of days never."""
    for days, expected in ((0, [("A1", "2026-01-01T00:00:00.000000Z")]), (None, [])):
        casino = Casino(link(level()), site=SiteSettings("test", unclaimed_days=days))
        casino.lock((1,))
        casino.confirm(casino.claim(1, "royal-flush"))
        found = due(casino.book, "2026-01-01T00:00:01.000000Z")
        assert expected == [(one.subject, one.since_utc) for one in found if one.kind is DueKind.AWARD_UNCLAIMED]


def test_a_site_is_put_in_force_once() -> None:
    """The same thresholds again are ALREADY_DONE; others are not."""
    casino = Casino()
    assert Refusal.ALREADY_DONE is casino.refuses(SetSite(actor=SYSTEM, settings=SiteSettings("test")))
    casino.do(SetSite(actor=SYSTEM, settings=SiteSettings("test", confirm_above_cents=1)))
