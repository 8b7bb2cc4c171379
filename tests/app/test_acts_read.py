"""Reading an act: which lines ask for something, and that only who signed acts."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from meterd.accounting.book import Book
from meterd.accounting.commands import Actor, Confirm, Pay, Role
from meterd.accounting.commands_links import Adjust, TwoPeople
from meterd.accounting.commands_pools import WinPool
from meterd.accounting.entries import Kind
from meterd.accounting.refusals import Refusal
from meterd.accounting.rules import decide
from meterd.app.act_words import _DONE
from meterd.app.acts import ACTS, NOT_ACTS, Unreadable, read_act
from meterd.app.scenario_forms import FORMS
from meterd.app.scenario_words import Form
from meterd.config import Person

SUP = Person("sup-1", Role.SUPERVISOR)
ADM = Person("adm-1", Role.ADMINISTRATOR)
REGULATOR = Person("reg-1", Role.REGULATOR)

#: What people may ask for. A new line of the language has to be put here or among ``NOT_ACTS`` by somebody.
EXPECTED = {
    "adjust", "bet", "caps", "claim", "claim-board", "close", "close-table", "confirm", "correct", "discontinue",
    "dispose", "dispose-share", "drop", "end", "fold", "gaming-day", "hand", "hold", "join", "late-claim", "leave",
    "limit", "notice", "number", "open-table", "pay", "pay-share", "post", "pot", "rake", "recover-seed", "release",
    "reopen", "resume", "return", "rollover", "runner", "split", "strike-out", "suspend", "tip", "transfer",
    "transfer-pool", "unclaimed", "unclaimed-share", "undo", "undo-pot", "undo-tip", "undo-win", "void", "void-round",
    "void-seat", "void-spin", "win",
}  # fmt: skip

#: One word for each field of the language that an act has.
SAMPLES = {
    "TABLE": "T1", "SEAT": "3", "SEATS": "1 2", "HAND": "royal-flush", "AWARD": "A1", "SHARE": "J1", "LINK": "nexus",
    "LEVEL": "nexus/mega", "FUND": "P1", "POOL": "P1/primary", "AMOUNT": "1.00", "MONEY": "1.00",
    "AMOUNT_OR_NONE": "1.00", "COUNT": "1", "RATE": "5%", "SHARES": '"50% to 1"', "NUMBER": "17", "PART": "reserve",
    "PLACE": "house", "POOL_OR_OUT": "house", "POOL_OR_LICENSEE": "licensee", "TEXT": '"a text"', "WORD": "misread",
    "DAY": "2026-12-01", "YES_OR_NO": "yes", "OVERFLOW": "house", "VERDICT": "easier", "PAYTABLE": "co/nexus/pmg-1",
    "TIP_REASON": "miskeyed",
}  # fmt: skip


def example(form: Form) -> str:
    """A line of this form with all it must have, but nobody in it."""
    line = re.sub(r"\[[^\]]*\]", "", form.pattern).replace("(by PERSON)", "")
    words = re.sub(r"[()]", "", line).split()
    return " ".join(SAMPLES.get(word, word.split("|")[0]) for word in words)


LINES = {form.pattern: example(form) for form in FORMS if form.name in ACTS}


def test_each_line_of_the_language_was_decided_on() -> None:
    """What people may ask for is a list that somebody wrote, not whatever the language happens to have."""
    assert EXPECTED == set(ACTS)
    assert not ACTS & set(NOT_ACTS)


@pytest.mark.parametrize("line", LINES.values())
def test_who_signed_acts_and_nobody_else(line: str) -> None:
    """Whatever a page would fill in for a dealer, a cashier or a caller: here only the one who signed."""
    command = read_act(line, [SUP])
    assert SUP.actor == command.actor
    people = {getattr(command, each.name) for each in dataclasses.fields(command) if each.name in {"actor", "second"}}
    assert {SUP.actor} == people - {None}
    assert getattr(command, "cashier", "sup-1") in {"sup-1", ""}


@pytest.mark.parametrize("line", LINES.values())
def test_a_regulator_reads_and_does_nothing(line: str) -> None:
    """Every act of that role is refused for its role, before anything else is looked at."""
    refusal = decide(Book(), read_act(line, [REGULATOR])).refusal
    assert refusal is not None
    assert Refusal.NOT_AUTHORISED is refusal.refusal


@pytest.mark.parametrize("line", LINES.values())
def test_a_second_person_is_taken_where_there_is_a_place_for_one(line: str) -> None:
    """Elsewhere it is said that one is enough, rather than one being dropped."""
    if any(each.name == "second" for each in dataclasses.fields(read_act(line, [SUP]))):
        assert ADM.actor == getattr(read_act(line, [SUP, ADM]), "second", None)
    else:
        with pytest.raises(Unreadable, match="leave out adm-1"):
            read_act(line, [SUP, ADM])


def test_roles_come_from_the_people_file_and_not_from_the_name() -> None:
    """``sup-9`` may be an accountant."""
    accountant = Person("sup-9", Role.ACCOUNTING)
    assert Actor("sup-9", Role.ACCOUNTING) == read_act("pay A1", [accountant]).actor


@pytest.mark.parametrize("line", ["pay A1 #", 'pay A1 # "', "pay A1 #by sup-cage"])
def test_a_comment_hides_nobody(line: str) -> None:
    """A page would let the cage pay; here the one who signed does."""
    command = read_act(line, [ADM])
    assert isinstance(command, Pay)
    assert (ADM.actor, "adm-1") == (command.actor, command.cashier)


def test_a_win_has_no_caller_that_nobody_is() -> None:
    """A page names the dealer as who called a jackpot; a running house wants the second person."""
    command = read_act('win P1/primary shares "100% to 1"', [SUP])
    assert isinstance(command, WinPool)
    assert command.second is None


def test_a_statement_may_name_who_signed_and_nobody_else() -> None:
    """A line copied from a page works for the people on it."""
    assert isinstance(read_act("confirm A1 by sup-1", [SUP]), Confirm)
    assert ADM.actor == getattr(read_act("confirm A1 by SUP-1 and adm-1", [SUP, ADM]), "second", None)
    for line in ("confirm A1 by adm-1", "confirm A1 by sup-1 and adm-1", "confirm A1 by adm-1 and sup-1"):
        with pytest.raises(Unreadable, match="signed"):
            read_act(line, [SUP])


@pytest.mark.parametrize("text", ["12.345", "NaN", "1e3", "90000000000000", "1_000", "١", "--5", "0x10", "inf"])
def test_an_amount_that_is_none_is_out_of_bounds(text: str) -> None:
    """A fraction of a cent, no number, too large, a digit of another script: the closed list has the word."""
    with pytest.raises(Unreadable) as caught:
        read_act(f'adjust nexus/mega amount {text} ref "x"', [SUP, ADM])
    assert Refusal.AMOUNT_OUT_OF_BOUNDS is caught.value.reason


def test_a_negative_amount_is_left_to_the_rules() -> None:
    """An adjustment may be taken back; what no rule allows is refused there, with an entry."""
    command = read_act('adjust nexus/mega amount -5.00 ref "x"', [SUP, ADM])
    assert isinstance(command, Adjust)
    assert -500 == command.cents
    with pytest.raises(Unreadable) as caught:
        read_act("rake P1 -2.00", [SUP])
    assert Refusal.AMOUNT_OUT_OF_BOUNDS is caught.value.reason


@pytest.mark.parametrize(
    "line",
    [
        "expect meter nexus/mega 1.00",
        "refused NOT_YET",
        "site two_person 1.00",
        "link nexus wager 1.00 paytable co/nexus/pmg-1",
        "table T9 link nexus game let-it-ride seats 7",
        "clock 2026-12-01T06:00",
        "after 120 days",
        "wagers T1 seats 1-4",
        "without-base T1 seat 2",
        "rounds T1 500 seats 1-5",
        "rakes P1 5 2.00",
        "restart",
        "lock T1",
        "late T1 seat 5",
        "spin T1 17",
        "crash",
        "ease nexus paytable co/nexus/pmg-1 verdict easier",
        "pay A1\npay A2",
        "",
        "#",
        "pay",
        "pya A1",
        'confirm A1 cards "As',
    ],
)
def test_what_asks_for_nothing_or_for_what_no_person_may_is_no_act(line: str) -> None:
    """Setup, expectations, the clock, and what only a device can have seen."""
    with pytest.raises(Unreadable):
        read_act(line, [SUP])


# ── what the page for administrators says ───────────────────────────────────────────────────────────────────────────

PAGE = Path(__file__).parents[2] / "docs" / "people.md"
FIRST = ("dealer", "supervisor", "technician", "accounting", "administrator")


def who(line: str) -> str:
    """Who may ask for this, in words, as the rules decide."""
    command = read_act(line, [SUP])
    if isinstance(command, TwoPeople):
        return "two, `ref`"
    roles = []
    for role in FIRST:
        refusal = decide(Book(), read_act(line, [Person("p-1", Role(role))])).refusal
        if refusal is None or refusal.refusal is not Refusal.NOT_AUTHORISED:
            roles.append(role)
    second = {each.name for each in dataclasses.fields(command)} & {"second"}
    return ", ".join(roles) + ("; a second person where needed" if second else "")


def rows() -> Iterator[str]:
    """The table of the page: one row for each line that is an act, without who signs it."""
    for form in FORMS:
        if form.name in ACTS:
            words = re.sub(r" ?[\[(](by|and|ref) [A-Z]+[\])]", "", form.pattern).replace("|", " or ")
            yield f"| `{words}` | {form.says} | {who(LINES[form.pattern])} |"


def test_the_page_for_administrators_lists_every_act_with_who_may() -> None:
    """In the order of the language, and as the rules decide."""
    page = PAGE.read_text(encoding="utf-8")
    start = page.index("| act | what it does | who |")
    table = page[start:].split("\n\n")[0].splitlines()[2:]
    assert list(rows()) == table


#: Kinds that no act of a person leads to.
NOT_ASKED_FOR = {
    "LedgerCreated", "SiteSet", "LinkOpened", "TableDefined", "TableChanged", "FundOpened", "Started", "Stopped",
    "ClockStep", "DeviceTrusted", "DeviceLost", "MissedWhileAway", "Locked", "LateBet", "UnreasonableContribution",
    "CountMismatch", "RulesEased", "DayRead", "BookCarried", "KeySet", "GameWin", "Restored", "Refused",
}  # fmt: skip


def test_what_an_act_leads_to_has_words() -> None:
    """Whoever asked is told in words and not by the name of an entry."""
    assert set() == {kind.value for kind in Kind} - NOT_ASKED_FOR - {str(kind) for kind in _DONE}
