"""Random histories, reckoned twice: by the real rules and by a twin that knows nothing of them.

A history is a list of small numbers, so that hypothesis can shrink it. After every act both must give the same answer,
and every account, award, liability and envy share must be the same to the microcent.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st
from machine_rules import link_settings
from twin import Twin
from twin_records import Level, Row, Rules

from meterd.accounting import commands as ask
from meterd.accounting.book import Book
from meterd.accounting.commands import SYSTEM, Actor, Command, Role
from meterd.accounting.rules import decide
from meterd.accounting.settings import Floor, ResetMode, SiteSettings, TableSettings, Ties

MICRO = 1_000_000
LINK = "L"
TABLES = {"T1": (4, True), "T2": (4, False)}
SUPERVISOR = Actor("sup-1", Role.SUPERVISOR)
ADMINISTRATOR = Actor("adm-1", Role.ADMINISTRATOR)
ACCOUNTANT = Actor("acc-1", Role.ACCOUNTING)
CORRECTOR = Actor("sup-2", Role.SUPERVISOR)

ROWS = {
    "royal": Row((("percent", "1", "big"),), envy=100),
    "straight-flush": Row((("percent", "1", "small"),), envy=30),
    "quads": Row((("percent", "0.1", "big"),)),
    "full-house": Row((("meter", 500, "small", True),)),
    "flush": Row((("for", 10, 1),)),
    "straight": Row((("to", 5, 2),)),
    "trips": Row((("percent", "0.1", "small"), ("to", 3, 1))),
    "two-pair": Row((("percent", "1", "small"), ("house", 250, True), ("percent", "0.1", "big"))),
    "pair": Row((("house", 199, False),)),
    "ace": Row((("push",),)),
}
HANDS = (*ROWS, "royal", "straight-flush", "royal", "straight-flush", "no-such-hand")  # ties are wanted


class Act(NamedTuple):
    """Small numbers from which an act is made; what they mean depends on where the history stands."""

    verb: int
    a: int
    b: int
    c: int


VERBS = (
    *("lock",) * 4,
    *("claim",) * 6,
    *("confirm",) * 3,
    *("void",) * 3,
    *("correct",) * 2,
    *("end",) * 3,
    "hold",
    "join",
    "pay",
    "undo",
    "fold",
    "void-seat",
    "void-round",
)

LEVELS = st.builds(
    Level,
    seed=st.sampled_from([500, 1_000, 1_999]),
    rate=st.sampled_from([Fraction(0), Fraction(2_375, 100_000), Fraction(1, 5)]),
    reserve=st.sampled_from([None, Fraction(0), Fraction(4, 100), Fraction(3, 10)]),
    reset=st.sampled_from(list(ResetMode)),
    ties=st.sampled_from(list(Ties)),
    floor=st.sampled_from(list(Floor)),
    limit=st.sampled_from([None, 2_000, 2_050]),
    overflow=st.sampled_from(["next_meter", "house"]),
    share_scales=st.booleans(),
)
ACTS = st.lists(
    st.builds(Act, st.integers(0, len(VERBS) - 1), st.integers(0, 1), st.integers(0, 255), st.integers(0, 255)),
    min_size=25,
    max_size=60,
)


def rules(big: Level, small: Level, *, returned: bool, envy_scales: bool, confirm_above: int = 0) -> Rules:
    return Rules(
        wager=200,
        units_max=3,
        printed=100,
        returned=returned,
        envy_scales=envy_scales,
        levels={"big": big, "small": small},
        rows=ROWS,
        tables=TABLES,
        confirm_above=confirm_above,
    )


class Real:
    """The real rules with their book."""

    def __init__(self, link: Rules) -> None:
        self.book = Book()
        self.act(ask.CreateLedger(actor=SYSTEM, site="twin", currency="USD", demo=False))
        self.act(ask.SetSite(actor=SYSTEM, settings=SiteSettings(id="twin", confirm_above_cents=link.confirm_above)))
        self.act(ask.OpenLink(actor=SYSTEM, settings=link_settings(link)))
        for table, (seats, live) in link.tables.items():
            settings = TableSettings(table, LINK, "twin", seats, folded_live=live)
            self.act(ask.DefineTable(actor=SYSTEM, settings=settings))
            self.act(ask.OpenTable(actor=SYSTEM, table=table))

    def act(self, command: Command) -> str | None:
        decision = decide(self.book, command)
        for entry in decision.entries:
            self.book.apply(self.book.seq + 1, "2026-01-01T00:00:00.000000Z", entry)
        return None if decision.refusal is None else decision.refusal.refusal.value


def dealer(table: str) -> Actor:
    return Actor(f"dealer@{table}", Role.DEALER)


def wagers(units: dict[int, int]) -> tuple[ask.WagerSeen, ...]:
    return tuple(ask.WagerSeen(seat, count) for seat, count in units.items())


COMMANDS: dict[str, Callable[..., Command]] = {
    "lock": lambda table, units: ask.Lock(actor=dealer(table), table=table, wagers=wagers(units)),
    "claim": lambda table, seat, hand, signs: ask.Claim(
        actor=dealer(table), table=table, seat=seat, hand=hand, signs=signs
    ),
    "fold": lambda table, seat: ask.Fold(actor=dealer(table), table=table, seat=seat),
    "join": lambda table, seats: ask.Join(actor=dealer(table), table=table, seats=seats),
    "void-seat": lambda table, seat: ask.VoidSeat(actor=SUPERVISOR, table=table, seat=seat),
    "void-round": lambda table: ask.VoidRound(actor=SUPERVISOR, table=table),
    "end": lambda table: ask.EndGame(actor=dealer(table), table=table),
    "confirm": lambda award: ask.Confirm(actor=SUPERVISOR, award=award),
    "hold": lambda award: ask.Hold(actor=SUPERVISOR, award=award),
    "void": lambda award: ask.Void(actor=SUPERVISOR, award=award, reason="misread"),
    "pay": lambda award: ask.Pay(actor=SUPERVISOR, award=award),
    "undo": lambda award: ask.Undo(actor=ADMINISTRATOR, award=award, second=ACCOUNTANT, reference="r-1"),
    "correct": lambda award, seat, hand: ask.Correct(actor=CORRECTOR, award=award, seat=seat, hand=hand),
}


def _lock(act: Act) -> tuple[object, ...]:
    seats = [seat for seat in range(1, 5) if act.b >> seat & 1] or [1]
    return ("lock", f"T{act.a + 1}", {seat: 3 if act.c >> seat & 1 else 1 for seat in seats})


def _correct(award: str, act: Act) -> tuple[object, ...]:
    if act.c % 3 == 0:
        return ("correct", award, 1 + act.c // 3 % 5, None)
    return ("correct", award, None, HANDS[act.c % len(HANDS)])


def _award(verb: str, act: Act, twin: Twin) -> str:
    """Seven times in eight an award this verb can do something with, else any, also an unknown one."""
    wanted = {"pay": ("confirmed",), "undo": ("confirmed", "paid")}.get(verb, ("pending",))
    fitting = [name for name, win in twin.state.wins.items() if win.status in wanted]
    if act.c % 8 and fitting:
        return fitting[act.b % len(fitting)]
    return f"A{1 + act.b % (twin.claims + 1)}"


def _seat(verb: str, act: Act, twin: Twin) -> int:
    """Seven times in eight a seat this verb can do something with, else any, also one the table lacks."""
    current = twin.state.rounds[f"T{act.a + 1}"]
    if act.c % 8 and current is not None and current.stakes:
        claimed = {win.seat for win in twin.wins_of(current)} if verb == "claim" else set()
        fitting = sorted(set(current.stakes) - claimed) or sorted(current.stakes)
        return fitting[act.b % len(fitting)]
    return 1 + act.b % 5


def make(act: Act, twin: Twin) -> tuple[object, ...]:
    """The act these numbers stand for, where the history now stands."""
    verb, table = VERBS[act.verb], f"T{act.a + 1}"
    locked = twin.state.rounds[table] is not None
    if act.c % 8 and locked == (verb == "lock"):
        verb = "claim" if locked else "lock"
    seat = _seat(verb, act, twin)
    about_tables: dict[str, tuple[object, ...]] = {
        "lock": _lock(act),
        "claim": ("claim", table, seat, HANDS[act.c % len(HANDS)], {}),
        "fold": ("fold", table, seat),
        "void-seat": ("void-seat", table, seat),
        "join": ("join", table, (1 + act.b % 4, 1 + act.c % 4)),
        "void-round": ("void-round", table),
        "end": ("end", table),
        "correct": _correct(_award(verb, act, twin), act),
    }
    return about_tables.get(verb, (verb, _award(verb, act, twin)))


def reaches_back(act: tuple[object, ...], twin: Twin) -> bool:
    """A correction whose new hand would have changed a tie that is confirmed already.

    Such a tie keeps its amount; who then funds what, the rules do not say.
    """
    if act[0] != "correct" or act[3] is None or str(act[1]) not in twin.state.wins:
        return False
    win = twin.state.wins[str(act[1])]
    row = twin.rules.rows.get(str(act[3]))
    new = {str(pay[2]) for pay in row.pays if pay[0] in {"percent", "meter"}} if row else set()
    for other in twin.state.wins.values():
        if not other.percent or other.status == "pending":
            continue
        later = int(other.id[1:]) > int(win.id[1:]) and other.tied & (new - win.levels)
        if later or (other.round is win.round and other.tied & new):
            return True
    return False


# comparing


def account(name: str) -> str:
    """The twin's account by its real name."""
    kind, _, level = name.rpartition("/")
    return f"{kind}/{LINK}/{level}" if kind in {"meter", "reserve", "overflow", "house/seed"} else name


def compare(twin: Twin, book: Book) -> None:
    ours = {account(name): amount * MICRO for name, amount in twin.state.accounts.items() if amount}
    theirs = {name: Fraction(amount) for name, amount in book.balances.items() if amount}
    assert ours == theirs
    awards = {name: (win.word, win.amount) for name, win in twin.state.wins.items()}
    awards |= {name: (win.word, win.amount) for name, win in twin.voided.items()}
    assert awards == {name: (award.state_word, award.amount_cents) for name, award in book.awards.items()}
    levels = book.links[LINK].levels
    assert {name: amount * MICRO for name, amount in twin.state.standing.items()} == {
        name: Fraction(level.standing_seed_microcents) for name, level in levels.items()
    }
    assert twin.state.liability() * MICRO == book.liability_microcents(LINK)
    assert book.liability_microcents(LINK) >= 0
    assert 0 == book.residual_microcents()
    for table, state in book.tables.items():
        if twin.state.rounds[table] is None:
            assert sorted(twin.state.past_envy[table]) == sorted(tuple(share) for share in state.last_envy)


def play(link: Rules, acts: Sequence[Act]) -> None:
    twin, real = Twin(link), Real(link)
    history: list[tuple[object, ...]] = []
    for numbers in acts:
        act = make(numbers, twin)
        if reaches_back(act, twin):
            continue
        history.append(act)
        ours, theirs = twin.do(act), real.act(COMMANDS[str(act[0])](*act[1:]))
        if act[0] == "correct" and ours is not None:
            assert theirs is not None  # which of several reasons: the round may be long gone
        else:
            assert (ours, history) == (theirs, history)
        compare(twin, real.book)


@given(
    big=LEVELS,
    small=LEVELS,
    returned=st.booleans(),
    envy_scales=st.booleans(),
    confirm_above=st.sampled_from([0, 1_000, 2_500]),
    acts=ACTS,
)
@settings(max_examples=250)
def test_random_histories_agree_account_by_account(
    big: Level, small: Level, returned: bool, envy_scales: bool, confirm_above: int, acts: list[Act]
) -> None:
    """Two tables on two levels, any settings, any order of acts: the same answers and the same money."""
    link = rules(big, small, returned=returned, envy_scales=envy_scales, confirm_above=confirm_above)
    play(link, acts)


@given(big=LEVELS, small=LEVELS, acts=ACTS)
@settings(max_examples=80)
def test_overflow_into_another_level_agrees(big: Level, small: Level, acts: list[Act]) -> None:
    """What a limit keeps out goes to the other level, and when the past is told again only the difference moves."""
    big = replace(big, limit=2_000, overflow="level:small")
    play(rules(big, small, returned=True, envy_scales=True), acts)


def test_the_twin_knows_nothing_of_the_rules_it_checks() -> None:
    """Two reckonings agree only by being right if neither is made from the other."""
    for name in ("twin.py", "twin_records.py", "twin_flow.py", "twin_state.py"):
        tree = ast.parse((Path(__file__).parent / name).read_text(encoding="utf-8"))
        imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        imported |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        known = {"__future__", "collections", "dataclasses", "fractions", "twin_records", "twin_flow", "twin_state"}
        assert set() == imported - known
