"""Pages about posted jackpots and pool tables: how lines are read, and what is said about those that cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from meterd.accounting.commands_pools import Share
from meterd.accounting.settings_pools import AtCap, PoolGame
from meterd.app.scenario import Outcome, play
from meterd.app.scenario_parse import PageError, parse_page


def read(line: str) -> tuple[str, dict[str, object]]:
    (statement,) = parse_page(line, "page.scn")
    return statement.name, dict(statement.values)


def played(text: str) -> Outcome:
    return play("page.scn", parse_page(text, "page.scn"), paytables={}, folder=Path())


@pytest.mark.parametrize(
    ("line", "name", "values"),
    [
        (
            "pool P1/primary share 60% cap 50000.00 at_cap stop",
            "pool",
            {"pool": "P1/primary", "share": 600_000, "cap": 5_000_000, "at_cap": AtCap.STOP},
        ),
        ("pool P1/main cap none", "pool", {"pool": "P1/main", "cap": None}),
        ("pool T3/x game 208-poker", "pool", {"pool": "T3/x", "game": PoolGame.P208}),
        ("rake P1 2.00", "rake", {"fund": "P1", "amount": 200}),
        ("rakes P1 500 2.00", "rakes", {"fund": "P1", "count": 500, "amount": 200}),
        ("post P1", "post", {"fund": "P1"}),
        ("post P1 day 2026-12-01", "post", {"fund": "P1", "day": "2026-12-01"}),
        ("runner T3 seat 2", "runner", {"fund": "T3", "seat": 2}),
        ("rollover T4 5%", "rollover", {"fund": "T4", "rate": 50_000}),
        ("rollover T4", "rollover", {"fund": "T4"}),
        (
            "rollover T4 50% seats 1-2 rake 1.00",
            "rollover",
            {"fund": "T4", "rate": 500_000, "seats": (1, 2), "rake": 100},
        ),
        ("close T3", "close", {"fund": "T3"}),
        ("expect posted P1/primary 5000.00", "expect-posted", {"pool": "P1/primary", "money": 500_000}),
        ("expect share J1 paid 5.00", "expect-share", {"share": "J1", "state": "paid", "money": 500}),
        ("pay J1", "pay-share", {"share": "J1"}),
        ("drop P5 seats 1-3 each 1.00", "drop", {"fund": "P5", "seats": (1, 2, 3), "each": 100}),
    ],
)
def test_a_line_is_read_as_the_values_written_in_it(line: str, name: str, values: dict[str, object]) -> None:
    """The lines of the language, letter by letter."""
    assert (name, values) == read(line)


def test_shares_are_read_in_their_order() -> None:
    """Without a number it is one player."""
    _, values = read('win P1/primary shares "50%, 25% to 2,25% to 6" by sup-1')
    assert (Share(500_000, 1), Share(250_000, 2), Share(250_000, 6)) == values["shares"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("win P1/primary shares 50%% by sup-1", "shares such as"),
        ('win P1/primary shares "50% to 0" by sup-1', "shares such as"),
        ("post P1 day 2026-13-01", "a day such as"),
        ("rake P1", "an amount such as"),
        ("pool P1", "a pool such as P1/primary"),
        ("pool P1/a at_cap stopp", "did you mean stop?"),
        ("pool P1/a game trips-pokr", "did you mean trips-poker?"),
        ("expect posted P1 1.00", "a pool such as P1/primary"),
    ],
)
def test_a_line_at_fault_says_what_was_expected(text: str, said: str) -> None:
    """With the nearest known word where there is one."""
    with pytest.raises(PageError) as raised:
        parse_page(text, "page.scn")
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pool P1/a\npool P1/a\nrake P1 1.00", "page.scn:2: pool P1/a is set up already"),
        ("pool P1/a\nrake P1 1.00\npool P1/b\nrake P1 1.00", "page.scn:3: P1 is in force already"),
        ("pool P1/a share 60%\nrake P1 1.00", "page.scn:1: the shares of all pools are 100% together"),
        ("pool P1/a most 2.01\nrake P1 1.00", "page.scn:1: posted takes at most 200 cents at once"),
        ("pool P1/a share 50% days 3\npool P1/b share 50% days 4\nrake P1 1.00", "page.scn:2: days of P1 is said"),
        ("pool P1/a\nexpect posted P1/b 0.00", "page.scn:2: P1 has no pool b; it has a"),
        ("pool P1/a\nexpect pool P2/b 0.00", "page.scn:2: there is no jackpot or pool table P2"),
        ("pool P1/a\nexpect runners P2 seat 1 0", "page.scn:2: there is no jackpot or pool table P2"),
        ("link P1 wager 1.00 paytable x\npool P1/a", "page.scn:2: P1 is a link"),
    ],
)
def test_a_page_that_cannot_be_set_up(text: str, said: str) -> None:
    """The line at fault is named, and what is wrong with it."""
    with pytest.raises(PageError) as raised:
        played(text)
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("text", "expected", "actual"),
    [
        ("rake P1 1.00\nexpect pool P1/a 2.00", "2.00", "1.00"),
        ("post P1\nexpect posted P1/a 2.00", "2.00", "0.00"),
        ("expect share J1 paid", "paid", "no such share"),
        ("rakes P1 3 2.01", "accepted", "refused RAKE_TOO_HIGH (201 cents, at most 200 from one pot)"),
        (
            "rake P1 1.00\npost P1\nwin P1/a shares 100% by sup-1\nexpect share J1 paid 1.00",
            "paid 1.00",
            "confirmed 1.00",
        ),
        ("rake P1 1.00\npost P1\nwin P1/a shares 100% by sup-1\nexpect share J1 paid", "paid", "confirmed"),
    ],
)
def test_an_expectation_that_does_not_hold(text: str, expected: str, actual: str) -> None:
    """In the words of the page."""
    failure = played(f"pool P1/a\n{text}").failure
    assert failure is not None
    assert (expected, actual) == (failure.expected, failure.actual)


def test_a_secondary_pool_is_offered_unless_the_page_says_not() -> None:
    """``secondary`` re-seeds the first pool and is offered; ``reseeds none`` and ``offered no`` say otherwise."""
    rest = "rakes P1 5 2.00\npost P1\nwin P1/primary shares 100% by sup-1\nexpect posted P1/primary {}\n"
    pools = "pool P1/primary share 80%\npool P1/secondary share 20% {}\n"
    for words, posted in (("", "2.00"), ("reseeds none", "0.00"), ("offered no", "0.00"), ("reseeds primary", "0.00")):
        assert None is played(pools.format(words) + rest.format(posted)).failure, words
