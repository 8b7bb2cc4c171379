"""Random histories with numbers, boards, splits and the envy of the games, reckoned by the rules and by the twin.

After every act both give the same answer and the same money, envy and tokes; a refusal leaves the book as it was; in
the end the fold of the entries, as text, is the book.
"""

from __future__ import annotations

import ast
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from machine_rules import link_settings
from test_twin import COMMANDS, LINK, SUPERVISOR, TABLES, Act, compare, dealer
from twin_records import Level, Row
from twin_streak import StreakRules, StreakTwin

from meterd.accounting import commands as ask
from meterd.accounting.book import Book
from meterd.accounting.commands import SYSTEM, Command
from meterd.accounting.commands_streak import ClaimBoard, Number, Split, VoidSpin
from meterd.accounting.entries import Entry, Posting
from meterd.accounting.rules import decide
from meterd.accounting.settings import EnvyTo, EnvyTrigger, LinkSettings, Settlement, SiteSettings, SplitHand
from meterd.accounting.settings import TableSettings as Table

START = "2026-01-01T00:00:00.000000Z"
Word = tuple[object, ...]

#: A wheel with a longest streak of 4; length 1 loses.
SPINS = {
    "streak-4": Row((("percent", "1", "big"),), envy=100),
    "streak-3": Row((("percent", "0.25", "small"), ("for", 10, 1)), envy=30),
    "streak-2": Row((("house", 250, True),)),
}
CARDS = {
    "royal": Row((("percent", "1", "big"),), envy=100),
    "straight-flush": Row((("percent", "1", "small"), ("percent", "0.1", "big")), envy=30),
    "quads": Row((("meter", 500, "small", True),), envy=7),
    "flush": Row((("to", 5, 2),)),
}
#: Without a meter, as the bonus bets with envy are.
BONUS = {
    "five-of-a-kind": Row((("to", 40, 1),), envy=100),
    "quads": Row((("to", 7, 1),), envy=7),
    "trips": Row((("push",),)),
}
NUMBERS = ("0", "00", "1", "2", "3", "5", "8", "20", "35", "36", "37", "x")
VERBS = (
    *("lock",) * 5,
    *("number",) * 9,
    *("claim", "confirm") * 4,
    *("board",) * 4,
    *("end",) * 6,
    *("void", "void-spin", "correct", "split") * 2,
    *("hold", "join", "pay", "undo", "fold", "void-seat", "void-round"),
)
HISTORIES = 12
STREAK_COMMANDS: dict[str, Callable[..., Command]] = {
    "number": lambda table, number: Number(actor=dealer(table), table=table, number=number),
    "void-spin": lambda table: VoidSpin(actor=SUPERVISOR, table=table),
    "board": lambda table, hand: ClaimBoard(actor=dealer(table), table=table, hand=hand),
    "split": lambda table, seat: Split(actor=dealer(table), table=table, seat=seat),
}


def streak_settings(link: StreakRules) -> LinkSettings:
    plain = link_settings(link)
    wheel = replace(plain.paytable, evaluator="rising-streak", common_outcome=True)
    return replace(
        plain,
        paytable=wheel if link.longest else plain.paytable,
        envy_trigger=EnvyTrigger(link.trigger),
        envy_min_cents=link.envy_min,
        envy_to=EnvyTo(link.envy_to),
        board_triggers=link.board_triggers,
        split=SplitHand(link.split),
    )


class Real:
    """The real rules with their book and what they wrote."""

    def __init__(self, link: StreakRules) -> None:
        self.book, self.entries = Book(), list[Entry]()
        self.act(ask.CreateLedger(actor=SYSTEM, site="twin", currency="USD", demo=False))
        self.act(ask.SetSite(actor=SYSTEM, settings=SiteSettings("twin", confirm_above_cents=link.confirm_above)))
        self.act(ask.OpenLink(actor=SYSTEM, settings=streak_settings(link)))
        order = Settlement.CLOCKWISE if link.clockwise else Settlement.COUNTER_CLOCKWISE
        for table, (seats, live) in link.tables.items():
            self.act(ask.DefineTable(actor=SYSTEM, settings=Table(table, LINK, "twin", seats, live, settlement=order)))
            self.act(ask.OpenTable(actor=SYSTEM, table=table))

    def act(self, command: Command) -> str | None:
        decision = decide(self.book, command)
        before = dict(self.book.balances)
        for entry in decision.entries:
            self.entries.append(entry)
            self.book.apply(self.book.seq + 1, START, entry)
            assert None is self.book.check_levels(entry)
        if decision.refusal is not None:
            assert before == self.book.balances
        return None if decision.refusal is None else decision.refusal.refusal.value

    def fold(self) -> Book:
        book = Book()
        for entry in self.entries:
            body = json.loads(json.dumps(entry.body))
            postings = tuple(Posting(*posting) for posting in json.loads(json.dumps(entry.postings)))
            where = (entry.kind, entry.actor, entry.table, entry.link, entry.device, entry.event_id)
            book.apply(book.seq + 1, START, Entry(*where, body, postings))
        return book


def make(act: Act, twin: StreakTwin) -> Word:  # noqa: PLR0911 - one return per form
    """The act these numbers stand for: seven times in eight one that can be done."""
    verb, table = VERBS[act.verb], f"T{act.a + 1}"
    current = twin.state.rounds[table]
    if act.c % 8 and (current is None) != (verb == "lock"):
        verb = "lock" if current is None else "number" if twin.rules.longest else "claim"
    hands = (*twin.rules.rows, *twin.rules.rows, "no-such-hand")
    hand = hands[act.c % len(hands)]
    if verb == "lock":
        seats = [seat for seat in range(1, 5) if act.b >> seat & 1] or [1]
        return (verb, table, {seat: 3 if act.c >> seat & 1 else 1 for seat in seats})
    if verb == "number":
        return (verb, table, NUMBERS[act.b % len(NUMBERS)])
    if verb in {"void-spin", "void-round", "end"}:
        return (verb, table)
    if verb == "board":
        return (verb, table, hand)
    if verb == "join":
        return (verb, table, (1 + act.b % 4, 1 + act.c % 4))
    seats = sorted(current.stakes) if current is not None and act.c % 8 else []
    seat = seats[act.b % len(seats)] if seats else 1 + act.b % 5
    if verb in {"claim", "fold", "void-seat", "split"}:
        return (verb, table, seat, hand, {}) if verb == "claim" else (verb, table, seat)
    wanted = {"pay": ("confirmed",), "undo": ("confirmed", "paid")}.get(verb, ("pending",))
    fitting = [name for name, win in twin.state.wins.items() if win.status in wanted]
    award = fitting[act.b % len(fitting)] if act.c % 8 and fitting else f"A{1 + act.b % (twin.claims + 1)}"
    if verb == "correct":
        return (verb, award, seat if act.c % 3 == 0 else None, None if act.c % 3 == 0 else hand)
    return (verb, award)


def reaches_back(act: Word, twin: StreakTwin) -> bool:
    """A correction into a tie that is confirmed already: who then funds what, the rules do not say."""
    if act[0] != "correct" or act[3] is None or str(act[1]) not in twin.state.wins:
        return False
    win = twin.state.wins[str(act[1])]
    new = set(twin.state.levels_of(str(act[3]))) if act[3] in twin.rules.rows else set()
    settled = [other for other in twin.state.wins.values() if other.percent and other.status != "pending"]
    return any(
        other.tied & (new if other.round is win.round else new - win.levels)
        for other in settled
        if other.round is win.round or int(other.id[1:]) > int(win.id[1:])
    )


def play(link: StreakRules, acts: Sequence[Act]) -> None:
    twin, real = StreakTwin(link), Real(link)
    history: list[Word] = []
    for numbers in acts:
        act = make(numbers, twin)
        if reaches_back(act, twin):
            continue
        history.append(act)
        command = {**COMMANDS, **STREAK_COMMANDS}[str(act[0])](*act[1:])
        ours, theirs = twin.do(act), real.act(command)
        if act[0] == "correct" and ours is not None:
            assert theirs is not None  # which of several reasons: the round may be long gone
        else:
            assert ours == theirs, (ours, theirs, history)
        compare(twin, real.book)
        assert (twin.state.wagers, twin.state.units) == (real.book.links[LINK].wagers, real.book.links[LINK].units)
        for table, state in real.book.tables.items():
            if twin.state.rounds[table] is None:
                assert twin.state.tokes[table] == state.last_toke_cents
    assert vars(real.fold()) == vars(real.book)


def random_level(pick: random.Random) -> Level:
    return Level(
        seed=pick.choice([500, 1_000, 1_999]),
        rate=pick.choice([Fraction(0), Fraction(2_375, 100_000), Fraction(1, 5)]),
        reserve=pick.choice([None, Fraction(0), Fraction(4, 100), Fraction(3, 10)]),
        reset=pick.choice(["seed_plus_reserve", "reserve_funds_seed", "larger_of"]),
        ties=pick.choice(["sequential", "split", "full_each"]),
        floor=pick.choice(["none", "seed"]),
        limit=pick.choice([None, 2_000, 2_050]),
        overflow=pick.choice(["next_meter", "house"]),
        share_scales=pick.random() < 0.5,
    )


def random_link(pick: random.Random, rows: dict[str, Row], *, longest: int = 0, meters: bool = True) -> StreakRules:
    """Any settings; a second wager for a split hand only where no meter would have to take it."""
    return StreakRules(
        wager=200,
        units_max=3,
        printed=100,
        returned=pick.random() < 0.5,
        envy_scales=pick.random() < 0.5,
        levels={"big": random_level(pick), "small": random_level(pick)} if meters else {},
        rows=rows,
        tables=TABLES,
        confirm_above=pick.choice([0, 1_000, 2_600]),
        longest=longest,
        split=pick.choice(["no-effect", "dead"] if meters else ["two-hands", "two-hands", "dead"]),
        trigger=pick.choice(["all", "highest"]),
        envy_min=pick.choice([0, 300]),
        envy_to=pick.choice(["players", "players", "dealer"]),
        board_triggers=pick.random() < 0.5,
        clockwise=pick.random() < 0.5,
    )


def play_seed(seed: int, rows: dict[str, Row], *, longest: int = 0, meters: bool = True) -> None:
    """Some long histories from one seed."""
    pick = random.Random(seed)
    for _ in range(HISTORIES):
        link = random_link(pick, rows, longest=longest, meters=meters)
        acts = [Act(pick.randrange(len(VERBS)), *(pick.randrange(top) for top in (2, 256, 256))) for _ in range(120)]
        play(link, acts)


@pytest.mark.parametrize("seed", range(5))
def test_streaks_agree_account_by_account(seed: int) -> None:
    """Numbers, numbers taken back, claims of all live seats, with voids and corrections in between."""
    play_seed(seed, SPINS, longest=4)


@pytest.mark.parametrize("seed", range(5))
def test_hands_from_the_board_agree_account_by_account(seed: int) -> None:
    """Boards and hands of seats on two levels; a number is refused at a card table."""
    play_seed(seed, CARDS)


@pytest.mark.parametrize("seed", range(5))
def test_split_hands_and_the_envy_of_bonus_bets_agree(seed: int) -> None:
    """Second wagers, two claims of a seat, the highest hand only, smallest wagers, tokes."""
    play_seed(seed, BONUS, meters=False)


def test_this_twin_knows_nothing_of_the_rules_it_checks_either() -> None:
    """It is made from the twin and from the money rules alone."""
    tree = ast.parse((Path(__file__).parent / "twin_streak.py").read_text(encoding="utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    known = {"__future__", "dataclasses", "fractions", "twin", "twin_records", "twin_state"}
    assert (set(), []) == (imported - known, [node for node in ast.walk(tree) if isinstance(node, ast.Import)])
