"""What signs and lamps should show, from a book: never more than is on disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from meterd.accounting.book import Book
from meterd.accounting.commands import SYSTEM, Actor, Claim, CloseTable, Command, EndGame, Lock, OpenTable, Role
from meterd.accounting.commands import WagerSeen as Seen
from meterd.accounting.rules import decide
from meterd.app.demo_floor import site_text
from meterd.app.effects import closed_outputs, sensor_wanted, sign_wanted
from meterd.app.parameters import opening_commands
from meterd.config import SignConfig, Site, load_site
from meterd.edge.catalogue import catalogue
from meterd.floor.view import Lamp, TableView
from meterd.money import MICROCENTS_PER_CENT

DEALER = Actor("dealer@TCP-1", Role.DEALER)


@pytest.fixture
def site() -> Site:
    return load_site(site_text(Path("/nonexistent"), 100, 9477), "site.toml", catalogue())


@pytest.fixture
def book(site: Site) -> Book:
    """The demo's floor, every table closed."""
    book = Book()
    do(book, *opening_commands(site, SYSTEM))
    return book


@pytest.fixture
def sign(site: Site) -> SignConfig:
    """The sign of the link with one level."""
    return next(sign for sign in site.signs if sign.shows == (("tcp-1", "main"),))


def do(book: Book, *commands: Command) -> None:
    for command in commands:
        decision = decide(book, command)
        assert decision.refusal is None, decision.refusal
        for entry in decision.entries:
            book.apply(book.seq + 1, "", entry)


def display(book: Book) -> int:
    return book.links["tcp-1"].levels["main"].display_microcents


def test_a_sign_shows_whole_cents_and_never_more_than_the_meter(book: Book, sign: SignConfig) -> None:
    """Three wagers leave a fraction of a cent in the meter; the sign shows what is below it."""
    do(book, OpenTable(actor=SYSTEM, table="TCP-1"))
    book.balances["meter/tcp-1/main"] = 100_123 * MICROCENTS_PER_CENT + MICROCENTS_PER_CENT - 1
    assert ("$1,001.23",) == sign_wanted(9, sign, book).values
    assert 9 == sign_wanted(9, sign, book).seq


def test_a_sign_whose_link_does_not_play_says_closed(book: Book, sign: SignConfig) -> None:
    """No table open or in a round, or the link suspended."""
    assert ("CLOSED",) == sign_wanted(1, sign, book).values
    do(book, OpenTable(actor=SYSTEM, table="TCP-1"))
    assert ("CLOSED",) != sign_wanted(1, sign, book).values
    do(book, Lock(actor=DEALER, table="TCP-1", wagers=(Seen(1),)))
    assert ("CLOSED",) != sign_wanted(1, sign, book).values
    book.links["tcp-1"].suspended = "by hand"
    assert ("CLOSED",) == sign_wanted(1, sign, book).values
    book.links["tcp-1"].suspended = None
    do(book, EndGame(actor=DEALER, table="TCP-1"), CloseTable(actor=SYSTEM, table="TCP-1", reason="by hand"))
    assert ("CLOSED",) == sign_wanted(1, sign, book).values


def test_a_jackpot_takes_the_screen_while_it_waits(book: Book, sign: SignConfig, site: Site) -> None:
    """The amount won in words, the meter already at its new value; other links' signs say nothing of it."""
    do(book, OpenTable(actor=SYSTEM, table="TCP-1"), Lock(actor=DEALER, table="TCP-1", wagers=(Seen(1),)))
    won = display(book) // MICROCENTS_PER_CENT
    top = book.links["tcp-1"].settings.paytable.rows[0].hand
    do(book, Claim(actor=DEALER, table="TCP-1", seat=1, hand=top))
    wanted = sign_wanted(5, sign, book)
    assert f"WIN TCP-1 ${won // 100:,}.{won % 100:02d}" == wanted.priority
    assert display(book) // MICROCENTS_PER_CENT < won
    others = [each for each in site.signs if each.id != sign.id]
    assert [None] * len(others) == [sign_wanted(5, each, book).priority for each in others]


def test_lamps_of_a_module_and_the_safe_state(site: Site) -> None:
    """Steady: on. Blinking: on and flashing. Dark: off. Safe: all dark and betting closed, text CLOSED."""
    table = site.tables[0]
    view = TableView((Lamp.STEADY, Lamp.BLINK, *[Lamp.DARK] * (table.settings.seats - 2)), False, ("", ""))
    profile = table.sensors.profile
    wanted = sensor_wanted(3, table, view)
    assert [True, True, False] == [wanted.outputs[profile.lamps[seat]] for seat in range(3)]
    assert [False, True, False] == [wanted.flash[profile.lamps[seat]] for seat in range(3)]
    assert profile.lockout is not None
    assert wanted.outputs[profile.lockout] is False
    units, signs = closed_outputs(8, replace(site, tables=(table,)))
    safe = units[table.sensors.bus, table.sensors.unit]
    assert (profile.lockout,) == tuple(index for index, on in enumerate(safe.outputs) if on)
    assert not any(safe.flash)
    assert {8} == {each.seq for each in (*units.values(), *signs.values())}
    assert {"CLOSED"} == {value for each in signs.values() for value in each.values}
