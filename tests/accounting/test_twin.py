"""Random histories, reckoned twice: by the real rules and by a twin that knows nothing of them.

A history is a list of small numbers, so that hypothesis can shrink it. After every act both must give the same answer,
and every account, award, liability and envy share must be the same to the microcent.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st
from twin import Level, Row, Rules, Twin

from meterd.accounting import commands as ask
from meterd.accounting.book import Book
from meterd.accounting.commands import SYSTEM, Actor, Command, Role
from meterd.accounting.rules import decide
from meterd.accounting.settings import (
    Floor,
    LevelSettings,
    LinkSettings,
    ResetMode,
    SiteSettings,
    TableSettings,
    Ties,
)
from meterd.paytables.model import Pay, PayKind, PayTable
from meterd.paytables.model import Row as PrintedRow

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
    "full-house": Row((("meter", 500, "small"),)),
    "flush": Row((("for", 10, 1),)),
    "straight": Row((("to", 5, 2),)),
    "trips": Row((("percent", "0.1", "small"), ("to", 3, 1))),
    "two-pair": Row((("percent", "1", "small"), ("house", 250, True), ("percent", "0.1", "big"))),
    "pair": Row((("house", 199, False),)),
    "ace": Row((("push",),)),
}
HANDS = (*ROWS, "no-such-hand")


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
    ties=st.sampled_from(["sequential", "split"]),
    floor=st.sampled_from(list(Floor)),
    limit=st.sampled_from([None, 2_000, 2_050]),
    overflow=st.sampled_from(["next_meter", "house"]),
    share_scales=st.booleans(),
)
ACTS = st.lists(
    st.builds(Act, st.integers(0, len(VERBS) - 1), st.integers(0, 1), st.integers(0, 255), st.integers(0, 255)),
    min_size=4,
    max_size=40,
)


def rules(big: Level, small: Level, *, returned: bool, envy_scales: bool) -> Rules:
    return Rules(
        wager=200,
        units_max=3,
        printed=100,
        returned=returned,
        envy_scales=envy_scales,
        levels={"big": big, "small": small},
        rows=ROWS,
        tables=TABLES,
    )


# the same link, told to the real rules


def printed(hand: str, row: Row) -> PrintedRow:
    pays = []
    for pay in row.pays:
        match pay:
            case ("percent", str(share), str(level)):
                ppm = int(Fraction(share) * MICRO)
                pays.append(Pay(PayKind.METER_PERCENT, percent_ppm=ppm, level=level))
            case ("meter", int(cents), str(level)):
                pays.append(Pay(PayKind.FIXED, cents=cents, from_meter=True, level=level))
            case ("house", int(cents), bool(scales)):
                pays.append(Pay(PayKind.FIXED, cents=cents, scales=scales))
            case ("to", int(n), int(d)):
                pays.append(Pay(PayKind.ODDS_TO, n=n, d=d))
            case ("for", int(n), int(d)):
                pays.append(Pay(PayKind.ODDS_FOR, n=n, d=d))
            case _:
                pays.append(Pay(PayKind.PUSH))
    return PrintedRow(hand, hand, "", None, tuple(pays), row.envy)


def link_settings(link: Rules) -> LinkSettings:
    paytable = PayTable(
        id="xx/twin/one",
        game="twin",
        wager="progressive",
        kind="progressive",
        sources=(),
        basis="",
        evaluator=None,
        games=(),
        rows=tuple(printed(hand, row) for hand, row in link.rows.items()),
        wager_cents=link.printed,
        original_wager_returned=link.returned,
        envy_scales=link.envy_scales,
    )
    levels = tuple(
        LevelSettings(
            name=name,
            seed_cents=level.seed,
            increment_ppm=int(level.rate * MICRO),
            reserve_ppm=None if level.reserve is None else int(level.reserve * MICRO),
            reset=ResetMode(level.reset),
            ties=Ties(level.ties),
            floor=Floor(level.floor),
            limit_cents=level.limit,
            overflow=None if level.limit is None else level.overflow,
            share_scales=level.share_scales,
        )
        for name, level in link.levels.items()
    )
    return LinkSettings(LINK, link.wager, link.units_max, paytable, levels)


class Real:
    """The real rules with their book."""

    def __init__(self, link: Rules) -> None:
        self.book = Book()
        self.act(ask.CreateLedger(actor=SYSTEM, site="twin", currency="USD", demo=False))
        self.act(ask.SetSite(actor=SYSTEM, settings=SiteSettings(id="twin")))
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


def real_command(act: tuple[object, ...]) -> Command:
    verb, *rest = act
    dealer = Actor(f"dealer@{rest[0]}", Role.DEALER)
    first = str(rest[0])
    match verb:
        case "lock":
            units = rest[1]
            assert isinstance(units, dict)
            return ask.Lock(actor=dealer, table=first, wagers=tuple(ask.WagerSeen(s, u) for s, u in units.items()))
        case "claim":
            return ask.Claim(actor=dealer, table=first, seat=int(str(rest[1])), hand=str(rest[2]))
        case "fold":
            return ask.Fold(actor=dealer, table=first, seat=int(str(rest[1])))
        case "void-seat":
            return ask.VoidSeat(actor=dealer, table=first, seat=int(str(rest[1])))
        case "void-round":
            return ask.VoidRound(actor=dealer, table=first)
        case "end":
            return ask.EndGame(actor=dealer, table=first)
        case "join":
            seats = rest[1]
            assert isinstance(seats, tuple)
            return ask.Join(actor=dealer, table=first, seats=seats)
        case "undo":
            return ask.Undo(actor=ADMINISTRATOR, award=first, second=ACCOUNTANT, reference="r-1")
        case "confirm":
            return ask.Confirm(actor=SUPERVISOR, award=first)
        case "hold":
            return ask.Hold(actor=SUPERVISOR, award=first)
        case "void":
            return ask.Void(actor=SUPERVISOR, award=first, reason="misread")
        case "pay":
            return ask.Pay(actor=SUPERVISOR, award=first)
        case "correct":
            seat, hand = rest[1:]
            assert seat is None or isinstance(seat, int)
            return ask.Correct(actor=CORRECTOR, award=first, seat=seat, hand=None if hand is None else str(hand))
        case _:
            raise AssertionError(verb)


def make(act: Act, twin: Twin) -> tuple[object, ...] | None:
    """The act these numbers stand for, where the history now stands. None: an act that says nothing here."""
    verb = VERBS[act.verb]
    table = f"T{act.a + 1}"
    award = f"A{1 + act.b % (twin.claims + 1)}"
    seat = 1 + act.b % 5
    match verb:
        case "lock":
            seats = [number for number in range(1, 5) if act.b >> number & 1] or [1]
            return ("lock", table, {number: 3 if act.c >> number & 1 else 1 for number in seats})
        case "claim":
            return ("claim", table, seat, HANDS[act.c % len(HANDS)])
        case "fold" | "void-seat":
            return (verb, table, seat)
        case "join":
            return ("join", table, (1 + act.b % 4, 1 + act.c % 4))
        case "void-round" | "end":
            return (verb, table)
        case "correct":
            if act.c % 3 == 0:
                return ("correct", award, 1 + act.c // 3 % 5, None)
            return ("correct", award, None, HANDS[act.c % len(HANDS)])
        case _:
            return (verb, award)


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
        if act is None:
            continue
        history.append(act)
        ours, theirs = twin.do(act), real.act(real_command(act))
        if act[0] == "correct" and ours is not None:
            assert theirs is not None  # which of several reasons: the round may be long gone
        else:
            assert (ours, history) == (theirs, history)
        compare(twin, real.book)


@given(big=LEVELS, small=LEVELS, returned=st.booleans(), envy_scales=st.booleans(), acts=ACTS)
@settings(max_examples=400)
def test_random_histories_agree_account_by_account(
    big: Level, small: Level, returned: bool, envy_scales: bool, acts: list[Act]
) -> None:
    """Two tables on two levels, any settings, any order of acts: the same answers and the same money."""
    play(rules(big, small, returned=returned, envy_scales=envy_scales), acts)
