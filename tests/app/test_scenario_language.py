"""The scenario language: what a line means, and what is said about a line that means nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meterd.accounting.commands import Actor, Role
from meterd.accounting.refusals import Refusal
from meterd.accounting.settings import Floor, ResetMode, Ties
from meterd.app.scenario import unplayed
from meterd.app.scenario_forms import FORMS
from meterd.app.scenario_parse import PageError, parse_page

LEVEL_LINE = (
    "level n/a seed 5000.00 increment 5% reserve none reset larger_of ties split floor seed"
    " limit 20000.00 overflow next_meter share_scales yes"
)
DOCS = Path(__file__).resolve().parents[2] / "docs" / "scenario.md"


def read(line: str) -> tuple[str, dict[str, object]]:
    (statement,) = parse_page(line, "page.scn")
    return statement.name, dict(statement.values)


def complaint(text: str) -> list[str]:
    with pytest.raises(PageError) as raised:
        parse_page(text, "page.scn")
    return [str(finding) for finding in raised.value.findings]


@pytest.mark.parametrize(
    ("line", "name", "values"),
    [
        ("site confirm_above 100.00", "site", {"confirm_above": 10_000}),
        (
            "link nexus wager 1.00 units 3 paytable co/nexus/pmg-ml-02",
            "link",
            {"link": "nexus", "wager": 100, "units": 3, "paytable": "co/nexus/pmg-ml-02"},
        ),
        (
            LEVEL_LINE,
            "level",
            {
                "level": "n/a",
                "seed": 500_000,
                "increment": 50_000,
                "reserve": None,
                "reset": ResetMode.LARGER_OF,
                "ties": Ties.SPLIT,
                "floor": Floor.SEED,
                "limit": 2_000_000,
                "overflow": "next_meter",
                "share_scales": True,
            },
        ),
        ("wagers T1 seats 1-4 6", "wagers", {"table": "T1", "seats": (1, 2, 3, 4, 6)}),
        ("wagers T1 seat 2 units 3 base 25.00", "wagers", {"table": "T1", "seats": (2,), "units": 3, "base": 2_500}),
        ("rounds T2 500 seats 1-5", "rounds", {"table": "T2", "count": 500, "seats": (1, 2, 3, 4, 5)}),
        ("claim T1 seat 3 4-of-a-kind  # digits", "claim", {"table": "T1", "seat": 3, "hand": "four-of-a-kind"}),
        (
            'claim T1 seat 3 cards "As Ks" community "Qs Js Ts" dealer "2c"',
            "claim",
            {"table": "T1", "seat": 3, "cards": "As Ks", "community": "Qs Js Ts", "dealer": "2c"},
        ),
        (
            "void A1 by sup-1 and adm-2 reason misread",
            "void",
            {
                "award": "A1",
                "by": Actor("sup-1", Role.SUPERVISOR),
                "and": Actor("adm-2", Role.ADMINISTRATOR),
                "reason": "misread",
            },
        ),
        ("correct A1 seat 4 by sup-1", "correct", {"award": "A1", "seat": 4, "by": Actor("sup-1", Role.SUPERVISOR)}),
        ("clock after 120 days", "after", {"count": 120}),
        ("after 1 day", "after", {"count": 1}),
        ("refused SEAT_HAS_NO_WAGER", "refused", {"refusal": Refusal.SEAT_HAS_NO_WAGER}),
        ("expect reserve nexus/mega none", "expect-reserve", {"level": "nexus/mega", "money": None}),
        ("expect award A1 held", "expect-award", {"award": "A1", "status": "held"}),
        ("expect award A1 paid 1,234.56", "expect-award", {"award": "A1", "status": "paid", "money": 123_456}),
        ("expect house seed nexus/mega -50000.00", "expect-house-seed", {"level": "nexus/mega", "money": -5_000_000}),
        ("expect account house/pays/T1 -1.44", "expect-account", {"account": "house/pays/T1", "money": -144}),
        ("expect accounts sum 0", "expect-accounts-sum", {"money": 0}),
        ("number T9 00", "number", {"table": "T9", "number": "00"}),
        ("number T9 2+2", "number", {"table": "T9", "number": "2+2"}),
        ("claim T1 board 4-of-a-kind", "claim-board", {"table": "T1", "hand": "four-of-a-kind"}),
        ('claim T1 board cards "As"', "claim-board", {"table": "T1", "cards": "As"}),
        ("split T1 seat 2", "split", {"table": "T1", "seat": 2}),
        ("void-spin T9 by sup-1", "void-spin", {"table": "T9", "by": Actor("sup-1", Role.SUPERVISOR)}),
        ("expect toke T1 5.00", "expect-toke", {"table": "T1", "money": 500}),
        ("expect streak T9 3", "expect-streak", {"table": "T9", "whole": 3}),
    ],
)
def test_a_line_is_read_as_the_values_written_in_it(line: str, name: str, values: dict[str, object]) -> None:
    """Each form yields its name and exactly the values on the line."""
    assert (name, values) == read(line)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("lokc T1", "expected a statement; found 'lokc' (did you mean lock?)"),
        ("lock", "expected the name of a table; the line ends"),
        ("expect meter nexus 5.00", "expected a level such as nexus/mega; found 'nexus'"),
        ("refused SEAT_HAS_NO_WAGR", "(did you mean SEAT_HAS_NO_WAGER?)"),
        ("wagers T1 seats 4-1", "expected seat numbers such as 1-4 6; found '4-1'"),
        ("wagers T1 seats 1 1", "expected seat numbers such as 1-4 6; found '1 1'"),
        ('claim T1 seat 3 "royal', "a text between two quotation marks"),
        ("site confirm_above 1.234", "'1.234' is not an amount in whole cents such as 1234.56"),
        ("site confirm_above -1.00", "expected an amount such as 1234.56"),
        ("link x wager 1.00", "expected paytable and a pay table such as"),
        ("level x/y seed 1.00 increment 2.37512% reserve none", "at most four decimals"),
        ("expect award A1 voided 5.00 x", "expected the end of the line; found 'x'"),
        ("expect awards A1 voided", "did you mean award?"),
        ("lock T1 T2", "expected the end of the line; found 'T2'"),
        ("clock 2026-13-01T06:00", "expected a time like 2026-12-01T06:00"),
    ],
)
def test_a_line_at_fault_says_what_was_expected(line: str, expected: str) -> None:
    """A finding names file, line, the thing expected and the nearest known word."""
    (said,) = complaint(f"# a page\n\n{line}\n")
    assert said.startswith("page.scn:3: ")
    assert expected in said


def test_all_lines_at_fault_are_reported_at_once() -> None:
    """A page is corrected in one go."""
    assert [2, 4] == [int(said.split(":")[1]) for said in complaint("lock T1\nlokc T1\nend T1\nedn T1\n")]


def test_every_form_is_played() -> None:
    """Language and player agree: no form is read and then forgotten."""
    assert set() == unplayed(form.name for form in FORMS)


def test_every_form_is_on_the_reference_page() -> None:
    """The reference shows each form letter by letter."""
    text = DOCS.read_text(encoding="utf-8").replace("\\|", "|")
    assert [] == [form.pattern for form in FORMS if f"`{form.pattern}`" not in text]


def outcome(text: str) -> int:
    """How many statements or, negative, how many findings a text has."""
    try:
        return len(parse_page(text, "page.scn"))
    except PageError as error:
        return -len(error.findings)


@given(st.text(max_size=80))
def test_any_text_is_statements_or_findings(text: str) -> None:
    """No line makes the reader fail in any other way, and no line counts twice."""
    assert abs(outcome(text)) <= len(text.splitlines())


@given(st.lists(st.sampled_from(["expect", "lock", "T1", "seat", "3", "A1", "by", "sup-1", '"', "#", "none", "1.00"])))
def test_any_words_are_one_statement_or_one_finding(words: list[str]) -> None:
    """The same for words of the language in any order."""
    assert abs(outcome(" ".join(words))) <= 1


def test_a_byte_order_mark_is_no_word() -> None:
    """Some editors begin a file with one."""
    assert ["lock"] == [statement.name for statement in parse_page("\ufefflock T1\n", "page.scn")]


def test_a_word_given_twice_is_named() -> None:
    """Which of two amounts was meant nobody can say; no other word is proposed."""
    assert ["page.scn:1: expected each word once; confirm_above is there twice"] == complaint(
        "site confirm_above 1.00 confirm_above 2.00"
    )


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_counted_as_editors_count_them(end: str) -> None:
    """A form feed, a vertical tab or a line separator in a comment ends no line."""
    page = parse_page(end.join(["# a\x0bb\x0cc\u2028d\x85e", "", "lock T1"]), "page.scn")
    assert [3] == [statement.line for statement in page]


@pytest.mark.parametrize("name", ["sup-1 ", " sup-1", "sup-1\u00a0", "sup-\u200b1"])
def test_nobody_is_two_people_by_a_blank(name: str) -> None:
    """A blank at an end, or a letter nobody sees, would let one person sign twice."""
    (message,) = complaint(f'confirm A1 by "{name}"')
    assert message.startswith("page.scn:1: expected a person")
