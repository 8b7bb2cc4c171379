"""Words of acts that were refused or half done: the option, the key, the module, the file to name next."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest
from click.testing import CliRunner
from demo_book import book_of, demo_site, done

from meterd.accounting.book import Book
from meterd.accounting.commands import SYSTEM, Actor, Claim, Command, Lock, OpenTable, Role, WagerSeen
from meterd.accounting.commands_links import Discontinue, PostCaps, SetLimit, Transfer
from meterd.accounting.refusals import ADVICE, Refusal
from meterd.accounting.rules import Decision, decide
from meterd.app.act_words import refusal_words, words
from meterd.app.acts import ActDesk, Unreadable, read_act
from meterd.app.asked import unheard
from meterd.app.parameters import differences
from meterd.cli.main import main
from meterd.config import Person, Site
from meterd.edge import control
from meterd.edge.requests import Told
from meterd.floor.session import TableSession

DEALER = Actor("dealer@LIR-1", Role.DEALER)
ADM = Actor("adm-1", Role.ADMINISTRATOR)
ACC = Actor("acc-1", Role.ACCOUNTING)
SIGNED: dict[str, Any] = {"actor": ADM, "second": ACC, "reference": "CO 17"}


@pytest.fixture
def site() -> Site:
    return demo_site()


@pytest.fixture
def book(tmp_path: Path, site: Site) -> Book:
    return book_of(tmp_path / "l", site)


def _locked(book: Book) -> None:
    """A round of one wager at LIR-1."""
    done(book, OpenTable(actor=SYSTEM, table="LIR-1"))
    done(book, Lock(actor=DEALER, table="LIR-1", wagers=(WagerSeen(1),)))


def said(book: Book, command: Command) -> str:
    refusal = decide(book, command).refusal
    assert refusal is not None
    return refusal_words(refusal)


def told(decision: Decision) -> str:
    entries = [Told(1, each.kind, each.table, each.link, each.actor, dict(each.body)) for each in decision.entries]
    return words(entries, "USD", {})


def test_an_act_without_its_reference_names_the_option() -> None:
    """Not only what the line of the language lacks."""
    people = [Person("sup-1", Role.SUPERVISOR), Person("acc-1", Role.ACCOUNTING)]
    with pytest.raises(Unreadable, match=r"expected ref .*\(--ref TEXT\)"):
        read_act("undo A17", people)
    with pytest.raises(Unreadable) as other:
        read_act("undo", people)
    assert "--ref" not in str(other.value)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), "(--and ID: the second person; --ref TEXT: the approval's reference)"),
        (("--ref", "x"), "(--and ID: the second person)"),
        (("--and", "acc-1"), "(--ref TEXT: the approval's reference)"),
        (("--and", "acc-1", "--ref", "x"), "needed"),
    ],
)
def test_the_command_line_names_its_options(
    monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], expected: str
) -> None:
    """Those that were not given, where two people or a reference are asked for."""
    answer = {"refused": "SECOND_PERSON_REQUIRED", "text": "needed"}
    monkeypatch.setattr(control, "ask", lambda *_: answer)
    command = ["act", "suspend nexus-1 reason x", "--by", "sup-1", *options, "--pins-from", "-", "--socket", "/s"]
    result = CliRunner().invoke(main, command, input="1\n2\n")
    assert 2 == result.exit_code
    assert result.stderr.strip().endswith(expected), result.stderr


def test_what_else_two_people_lack_is_told(book: Book) -> None:
    """In the line of the language, too."""
    alone = Transfer(actor=ADM, level="nexus-1/mega", target="nexus-1/minor", cents=1)
    assert "a second person is needed. Somebody of another department signs second." == said(book, alone)
    nameless = Transfer(actor=ADM, second=ACC, level="nexus-1/mega", target="nexus-1/minor", cents=1)
    assert "the reference of an approval is needed. Name it: `ref TEXT`." == said(book, nameless)


def test_an_unknown_table_comes_by_adopting() -> None:
    """A restart alone is refused where the site file has more than the ledger."""
    assert "`meterd ledger adopt`" in ADVICE[Refusal.TABLE_UNKNOWN].next_step


def test_a_link_that_ends_names_where_its_money_may_go(book: Book) -> None:
    """Both words that the line takes."""
    _locked(book)
    text = said(book, Discontinue(**SIGNED, link="nexus-1"))
    assert text.startswith("players' money needs an approved target. Name it: `to LINK/LEVEL` of this house, or")


def test_a_limit_is_told_as_the_site_file_has_it(book: Book, site: Site) -> None:
    """The place, each key by its own name, each value as it is written; and the next start names the same key."""
    text = told(done(book, PostCaps(**SIGNED, table="LIR-1", player_cents=10_000_000_00, table_cents=None)))
    place = (
        'under [[table]] id = "LIR-1": player_cap_cents = 1000000000; table_cap_cents = "none"; tip_cap_cents = "none"'
    )
    assert place in text
    (line,) = differences(site, book)
    assert line == "table LIR-1.player_cap_cents: the ledger holds 1000000000, the site file says none"
    limit = SetLimit(**SIGNED, level="nexus-1/minor", limit_cents=9_000_00, overflow="level:mega")
    expected = '[[link.level]] name = "minor" of the link "nexus-1": limit_cents = 900000; overflow = "level:mega"'
    assert expected in told(done(book, limit))


def test_a_hand_that_is_not_listed_names_what_is(book: Book) -> None:
    """And the verb that shows it."""
    _locked(book)
    text = said(book, Claim(actor=DEALER, table="LIR-1", seat=1, hand="banana"))
    paytable = book.links["nexus-1"].settings.paytable
    assert text.startswith(f"banana: {ADVICE[Refusal.HAND_NOT_IN_PAYTABLE].cause} {paytable.id} has ")
    assert text.endswith(f": `meterd paytable show {paytable.id}`.")
    for row in paytable.rows:
        assert row.hand in text


def test_a_table_that_cannot_open_names_the_module(book: Book, site: Site) -> None:
    """Every one that is away, and where to look."""
    refused = unheard(OpenTable(actor=ADM, table="LIR-1"), {"LIR-1": TableSession(site.tables[0])}, book)
    assert refused is not None
    for device in site.tables[0].devices:
        assert device.device in refused.detail
    assert "`meterd ports`" in refused.step


@pytest.mark.parametrize("path", [None, Path("/etc/meterd/people.toml")])
def test_a_missing_people_file_is_named(path: Path | None, tmp_path: Path) -> None:
    """By its path, where that is known."""
    desk = ActDesk(None, cast("Any", None), cast("Any", None), tmp_path, dict, path)
    answer = asyncio.run(desk.act({"statement": "x", "by": [{"id": "a", "pin": "1"}]}, 0))
    assert f"no people file{'' if path is None else f' at {path}'}, so that nobody may act" in answer["text"]
