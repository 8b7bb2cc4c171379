"""What somebody who was refused reads: his own cause and next step, not a list of all that might have been."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from demo_book import done

from meterd.accounting.book import Book
from meterd.accounting.commands import (
    SYSTEM,
    Actor,
    Claim,
    CloseTable,
    Command,
    Confirm,
    EndGame,
    Lock,
    OpenTable,
    Pay,
    Role,
    Void,
    WagerSeen,
)
from meterd.accounting.commands_links import SuspendLink, Transfer
from meterd.accounting.refusals import ADVICE, Refusal, Refused
from meterd.accounting.rules import decide
from meterd.app.act_words import refusal_of, refusal_words, words
from meterd.app.acts import ActDesk
from meterd.app.asked import Asked
from meterd.app.commit import Committer, Stamp
from meterd.app.create import create_ledger
from meterd.app.demo_floor import site_text
from meterd.app.verify import audited_book
from meterd.config import load_site
from meterd.edge.catalogue import catalogue
from meterd.edge.requests import Told
from meterd.edge.store import Store, read_records

SUP, SUP_2 = Actor("sup-1", Role.SUPERVISOR), Actor("sup-2", Role.SUPERVISOR)
ACC, ADM, DEALER = Actor("acc-1", Role.ACCOUNTING), Actor("adm-1", Role.ADMINISTRATOR), Actor("d-1", Role.DEALER)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    site = load_site(site_text(Path("/nonexistent"), 100, 9477), "s", catalogue())
    create_ledger(tmp_path / "l", replace(site, settings=replace(site.settings, two_person_cents=100_00)))
    return tmp_path / "l"


@pytest.fixture
def book(folder: Path) -> Book:
    """One table open and locked, with a claim on its top hand."""
    found = audited_book(read_records(folder))
    done(
        found,
        OpenTable(actor=SYSTEM, table="LIR-1"),
        Lock(actor=SYSTEM, table="LIR-1", wagers=(WagerSeen(1), WagerSeen(2))),
        Claim(actor=DEALER, table="LIR-1", seat=1, hand="royal-flush"),
    )
    return found


def said(book: Book, command: Command) -> str:
    """The words of a refusal, by way of its entry, as they are read back from the ledger."""
    decision = decide(book, command)
    assert decision.refusal is not None, command
    (entry,) = decision.entries
    refused = refusal_of([Told(1, entry.kind, entry.table, entry.link, entry.actor, dict(entry.body))])
    assert decision.refusal == refused
    return refusal_words(refused)


def test_the_particular_cause_stands_alone() -> None:
    """A sentence and its step; a step in common where there is none; a bare name beside what all have in common."""
    advice = ADVICE[Refusal.NOT_YET]
    assert "A1 waits. END GAME first." == refusal_words(Refused(Refusal.NOT_YET, "A1 waits", "END GAME first."))
    assert f"A1 waits. {advice.next_step}" == refusal_words(Refused(Refusal.NOT_YET, "A1 waits"))
    assert f"A1: {advice.cause} {advice.next_step}" == refusal_words(Refused(Refusal.NOT_YET, "A1"))
    assert f"{advice.cause} {advice.next_step}" == refusal_words(Refused(Refusal.NOT_YET))


def test_who_may_not_reads_who_may(book: Book) -> None:
    """Not the source of a wheel's numbers, nor what the site allows."""
    assert "acc-1 may not do this as accounting. Who may: supervisor." == said(book, Confirm(actor=ACC, award="A1"))
    assert "Who may: dealer, supervisor, accounting." in said(book, Pay(actor=ADM, award="A1"))


def test_what_two_must_sign_names_the_award(book: Book) -> None:
    """A large one is not voided by one person: of links, departments and evaluators nothing."""
    text = said(book, Void(actor=SUP, award="A1", reason="keyed_wrong"))
    assert "A1 is above what one person may void. Name a second person." == text
    assert "sup-1 signs twice. Somebody else signs second." == said(
        book, Void(actor=SUP, award="A1", reason="keyed_wrong", second=SUP)
    )


def test_a_table_that_cannot_open_says_why_and_what_opens_it(book: Book) -> None:
    """A locked one by END GAME, an open one is; one that a person closed by open-table and never by END GAME."""
    opening = OpenTable(actor=SUP, table="LIR-1")
    assert "LIR-1 is locked. END GAME ends the round, and the next begins." == said(book, opening)
    done(book, OpenTable(actor=SYSTEM, table="LIR-2"))
    assert "LIR-2 is open. Nothing to do." == said(book, OpenTable(actor=SUP, table="LIR-2"))
    done(book, CloseTable(actor=SUP, table="LIR-2", reason="shift"))
    ending = said(book, EndGame(actor=SUP, table="LIR-2"))
    assert "LIR-2 is closed (shift). open-table opens it again." == ending
    assert "LIR-2 is closed (shift). Nothing to do." == said(book, CloseTable(actor=SUP, table="LIR-2", reason="x"))
    done(book, OpenTable(actor=SUP, table="LIR-2"), CloseTable(actor=SYSTEM, table="LIR-2", reason="device_lost"))
    opening = OpenTable(actor=SUP, table="LIR-2")
    assert "LIR-2 is closed (device_lost). END GAME opens it, once its devices answer." == said(book, opening)


def test_a_live_link_is_changed_between_rounds(book: Book) -> None:
    """Where a round is in the way no time is to be waited for; where an award is, it is named as what it is."""
    moving = Transfer(actor=ADM, second=ACC, reference="r", level="nexus-1/mega", target="nexus-1/minor", cents=1)
    assert "A1 on nexus-1/mega is pending. Settle the award first." == said(book, moving)
    done(book, Void(actor=SUP, award="A1", reason="keyed_wrong", second=SUP_2))
    text = said(book, moving)
    assert text.startswith("nexus-1 is in play at LIR-1. Let END GAME end the round of LIR-1, then close-table it")


def test_end_game_of_a_suspended_link_says_what_a_winner_would_lose(book: Book) -> None:
    """And what ends the round all the same."""
    done(book, SuspendLink(actor=SUP, link="nexus-1", reason="fund short"))
    text = said(book, EndGame(actor=SUP, table="LIR-1"))
    assert text.startswith("nexus-1 is suspended: fund short. Void the round, or let two people resume the link")


def test_closing_a_locked_table_says_that_it_stays_locked(book: Book) -> None:
    """Not "closed": END GAME opens it for the next round."""
    (entry,) = done(book, CloseTable(actor=SUP, table="LIR-1", reason="transfer")).entries
    told = Told(1, entry.kind, entry.table, entry.link, entry.actor, dict(entry.body))
    assert words([told], "USD", {}).startswith(
        "LIR-1: locked still: END GAME ends the round; close the table once more"
    )


def test_a_refusal_told_again_says_that_it_is_the_old_answer(folder: Path) -> None:
    """What stood in the way may be gone by now: nothing was tried, and without the id it will be."""
    store = Store.open(folder)
    committer = Committer(audited_book(store.records()), store, lambda: Stamp("2026-12-01T06:00:00.000000Z", "b", 1))
    about = Asked(1000, "confirm A1", ("sup-1",), "r-1")
    committer.decide(Confirm(actor=SUP, award="A1"), about)
    committer.commit()
    seq = store.seq
    store.close()
    desk = ActDesk(None, cast("Any", None), cast("Any", None), folder, dict)
    answer = asyncio.run(desk._decided(Confirm(actor=SUP, award="A1"), about))
    assert ("AWARD_UNKNOWN", True, seq) == (answer["refused"], answer["repeated"], answer["seq"])
    assert f"This is the answer of entry {seq} once more, and may be untrue by now: nothing was" in answer["text"]
    assert "--request" in answer["text"]


def test_who_pays_too_early_or_too_late_reads_different_steps(book: Book) -> None:
    """A pending award is confirmed first; one that was voided is nobody's any more."""
    assert "A1 is pending, not confirmed. Confirm it first." == said(book, Pay(actor=DEALER, award="A1"))
    done(book, Void(actor=SUP, award="A1", reason="keyed_wrong", second=SUP_2))
    text = said(book, Pay(actor=DEALER, award="A1"))
    assert text.startswith("A1 is voided, not confirmed. Look at the award.")
