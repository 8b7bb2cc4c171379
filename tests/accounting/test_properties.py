"""What holds for any history: money adds up, refusals change nothing, a fold is the book, a void leaves no trace.

Histories are lists of small numbers; ``Casino`` checks after every command that deciding changed nothing, that the
entry's stored level values are the fold's, and that the residual is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from accounting_build import (
    ACCOUNTANT,
    ADMINISTRATOR,
    DEALER,
    OTHER,
    SUPERVISOR,
    Casino,
    event,
    fixed,
    frozen,
    level,
    link,
    paytable,
    percent,
    row,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from meterd.accounting.commands import (
    SYSTEM,
    Claim,
    CloseTable,
    Command,
    Confirm,
    Correct,
    EndGame,
    Fold,
    Hold,
    Join,
    LateBet,
    Lock,
    Note,
    OpenTable,
    TrustDevice,
    Undo,
    Void,
    VoidRound,
    VoidSeat,
    WagerSeen,
)
from meterd.accounting.commands import Pay as PayAward
from meterd.accounting.entries import Kind
from meterd.accounting.settings import LinkSettings, SiteSettings
from meterd.accounting.state import TableStatus
from meterd.paytables.model import Pay, PayKind

TABLE = paytable(
    row("all-a", percent("100%", "a"), envy="10"),
    row("tenth-a", percent("10%", "a")),
    row("all-b", percent("100%", "b"), Pay(PayKind.ODDS_TO, n=25), envy="3"),
    row("both", percent("100%", "b"), percent("10%", "a")),
    row("meter-b", fixed("7.00", from_meter=True, level="b")),
    row("house", fixed("5.00")),
    row("odds", Pay(PayKind.ODDS_FOR, n=7, d=2)),
)
#: The only kinds of entry by which a meter may fall.
FALLS = {Kind.CLAIMED, Kind.VOIDED, Kind.CORRECTED, Kind.WAGER_VOIDED, Kind.CORRECTION}
HANDS = [*(r.hand for r in TABLE.rows), "no-such-hand"]


class Act(NamedTuple):
    verb: int
    table: int
    a: int
    b: int


ACTS = st.lists(
    st.builds(Act, st.integers(0, 99), st.integers(1, 3), st.integers(0, 255), st.integers(0, 255)),
    min_size=10,
    max_size=60,
)
RESETS = st.sampled_from(["seed_plus_reserve", "reserve_funds_seed", "larger_of"])
TIES = st.sampled_from(["sequential", "split", "full_each"])
FLOORS = st.sampled_from(["none", "seed"])


@st.composite
def links(draw: st.DrawFn, *, spills: bool = True) -> LinkSettings:
    ways = ["next_meter", "house", *(["level:b"] if spills else [])]
    limited = draw(st.booleans())
    seed, limit = draw(st.sampled_from([("0", "1.50"), ("20", "20"), ("99.99", "101")]))
    first = level(
        "a",
        seed,
        draw(st.sampled_from(["0%", "2.375%", "20%", "47.0001%"])),
        draw(st.sampled_from([None, "0%", "7.5%", "30%"])),
        draw(RESETS),
        draw(TIES),
        draw(FLOORS),
        limit=limit if limited else None,
        overflow=draw(st.sampled_from(ways)) if limited else None,
        share_scales=draw(st.booleans()),
    )
    tight = draw(st.booleans())
    second = level(
        "b",
        "5",
        draw(st.sampled_from(["0%", "5%", "19.9999%"])),
        draw(st.sampled_from([None, "3%"])),
        draw(RESETS),
        draw(TIES),
        draw(FLOORS),
        limit="5.50" if tight else None,
        overflow=draw(st.sampled_from(["next_meter", "house"])) if tight else None,
    )
    return link(first, second, table=TABLE, wager=draw(st.sampled_from(["1.00", "5.00"])), units=5)


def aim(act: Act, casino: Casino) -> tuple[str, int, str]:
    """A table, a seat and an award for an act: mostly such as it can be done on, else any."""
    book = casino.book
    if act.b % 11 == 0:
        return f"T{act.table}", act.a % 9, f"A{1 + act.a % (len(book.awards) + 1)}"
    awards = [*book.links["nexus"].pending] if act.b % 5 else [*book.awards]
    award = awards[act.a % len(awards)] if awards else "A1"
    claimed = {(a.table, a.round, a.seat) for a in book.awards.values() if a.state_word != "voided"}
    free = [
        (name, seat)
        for name, table in book.tables.items()
        for seat in table.wagers
        if (name, table.round, seat) not in claimed
    ]
    table, seat = free[act.a % len(free)] if free else (f"T{act.table}", act.a % 9)
    return table, seat, award


def make(act: Act, casino: Casino) -> Command:
    """The command these numbers stand for."""
    table, seat, award = aim(act, casino)
    signs = {"a": act.b * 100} if act.b % 7 == 0 else {}
    wagers = tuple(
        WagerSeen(s, 1 + (act.b >> s) % 6, event(act.b, f"m/1/di{s}") if act.b % 3 == 0 else None)
        for s in range(9)
        if act.a >> s & 1
    )
    opened = f"T{act.table}"
    makers: list[tuple[int, Callable[[], Command]]] = [
        (12, lambda: Lock(actor=DEALER, table=opened, wagers=wagers)),
        (33, lambda: Claim(actor=DEALER, table=table, seat=seat, hand=HANDS[act.b % len(HANDS)], signs=signs)),
        (10, lambda: Confirm(actor=SUPERVISOR, award=award)),
        (8, lambda: Void(actor=SUPERVISOR, award=award, reason="x")),
        (
            6,
            lambda: Correct(actor=OTHER, award=award, hand=HANDS[act.b % len(HANDS)], seat=seat if act.b % 2 else None),
        ),
        (3, lambda: Hold(actor=SUPERVISOR, award=award)),
        (3, lambda: PayAward(actor=DEALER, award=award)),
        (3, lambda: Undo(actor=ADMINISTRATOR, award=award, second=ACCOUNTANT, reference="R")),
        (3, lambda: VoidSeat(actor=SUPERVISOR, table=table, seat=seat)),
        (2, lambda: VoidRound(actor=SUPERVISOR, table=table)),
        (2, lambda: Fold(actor=DEALER, table=table, seat=seat)),
        (1, lambda: Join(actor=DEALER, table=table, seats=(seat, act.b % 9))),
        (9, lambda: EndGame(actor=DEALER, table=opened)),
        (1, lambda: LateBet(actor=SYSTEM, table=table, seat=seat, ms_min=0, ms_max=act.b)),
        (1, lambda: Note(actor=SYSTEM, kind=Kind.STARTED)),
        (1, lambda: CloseTable(actor=SYSTEM, table=opened, reason=["stopped", "device_lost"][act.b % 2])),
        (1, lambda: OpenTable(actor=SYSTEM, table=opened)),
        (1, lambda: TrustDevice(actor=SYSTEM, tables=(table,), counts={f"m/1/di{seat}": act.b}, modulus=256)),
    ]
    rest = act.verb
    for weight, maker in makers:
        if rest < weight:
            return maker()
        rest -= weight
    raise AssertionError(act)


@given(settings_=links(), acts=ACTS, confirm_above=st.sampled_from([0, 600]))
@settings(max_examples=400)
def test_any_history_adds_up(settings_: LinkSettings, acts: list[Act], confirm_above: int) -> None:
    """No command raises, none that is refused moves money, and the book is the fold of its entries.

    A meter falls only by an award, a void, a correction or an undo, and never stands above its limit.
    """
    casino = Casino(settings_, site=SiteSettings("test", confirm_above_cents=confirm_above), tables=3)
    for table in ("T1", "T2", "T3"):
        casino.lock((1, 2, 3, 4, 5), table)
    for act in acts:
        command = make(act, casino)
        money = {account: amount for account, amount in casino.book.balances.items() if amount}
        decision = casino.decide(command)
        casino.take(decision)
        for rules in casino.book.links["nexus"].rules.levels.values():
            assert all(casino.microcents(account) >= 0 for account in (rules.meter, rules.reserve, rules.overflow))
            assert casino.microcents(rules.meter) <= rules.limit_microcents
        for entry in decision.entries:
            falls = any(p.account.startswith("meter/") and p.microcents < 0 for p in entry.postings)
            assert not falls or entry.kind in FALLS
        assert casino.book.liability_microcents("nexus") >= 0
        if decision.refusal is not None:
            assert money == {account: amount for account, amount in casino.book.balances.items() if amount}
    for award in casino.book.awards.values():
        owed = award.amount_cents if award.state_word in {"pending", "held", "confirmed"} else 0
        assert casino.microcents(f"payable/{award.id}") == owed * 1_000_000
        assert sum(part.cents for part in award.parts) == award.amount_cents
    assert frozen(casino.folded()) == frozen(casino.book)


#: Acts of other tables that neither depend on the claim's status nor are changed by it.
OTHERS = st.lists(
    st.tuples(
        st.sampled_from(["lock", "claim", "claim", "claim", "void-seat", "void", "end"]),
        st.integers(2, 3),
        st.integers(0, 255),
    ),
    min_size=3,
    max_size=25,
)


def others(casino: Casino, acts: Sequence[tuple[str, int, int]]) -> None:
    for verb, number, a in acts:
        table = f"T{number}"
        state = casino.book.tables[table]
        seats = [*state.wagers] or [1]
        seat = seats[a % len(seats)]
        command: Command
        if verb == "lock" or state.state is TableStatus.OPEN:
            command = Lock(actor=DEALER, table=table, wagers=tuple(WagerSeen(s) for s in range(1, 8) if a >> s & 1))
        elif verb == "claim":
            command = Claim(actor=DEALER, table=table, seat=seat, hand=HANDS[a % len(HANDS)])
        elif verb == "void-seat":
            command = VoidSeat(actor=SUPERVISOR, table=table, seat=seat)
        elif verb == "void":
            mine = [n for n in state.awards if casino.book.awards[n].pending] or ["A0"]
            command = Void(actor=SUPERVISOR, award=mine[a % len(mine)], reason="x")
        else:
            command = Hold(actor=SUPERVISOR, award=(state.awards or ("A0",))[0])
            casino.take(casino.decide(command))
            command = EndGame(actor=DEALER, table=table)
        casino.take(casino.decide(command))


@given(settings_=links(spills=False), before=OTHERS, between=OTHERS, hand=st.sampled_from(HANDS[:-1]))
@settings(max_examples=300)
def test_a_voided_claim_leaves_no_trace(
    settings_: LinkSettings,
    before: list[tuple[str, int, int]],
    between: list[tuple[str, int, int]],
    hand: str,
) -> None:
    """Claim, anything on other tables, void: all money and all later awards are as if it had never been claimed."""
    with_it, without_it = Casino(settings_, tables=3), Casino(settings_, tables=3)
    names = {}
    for casino in (with_it, without_it):
        others(casino, before)
        casino.lock((1, 2, 3))
        if casino is with_it:
            names = {name: name for name in casino.book.awards}
            gone = casino.claim(1, hand)
        others(casino, between)
    with_it.void(gone)
    kept = [name for name in with_it.book.awards if name != gone]
    names = dict(zip(kept, without_it.book.awards, strict=True))

    def money(casino: Casino, names: dict[str, str]) -> dict[str, int]:
        found = {}
        for account, amount in casino.book.balances.items():
            kind, _, rest = account.partition("/")
            if amount:
                found[f"payable/{names.get(rest, rest)}" if kind == "payable" else account] = amount
        return found

    assert money(without_it, {}) == money(with_it, names)
    for ours, theirs in names.items():
        here, there = with_it.book.awards[ours], without_it.book.awards[theirs]
        assert there.state_word == here.state_word
        if here.state_word != "voided":  # a voided award keeps the amount it had
            assert (there.amount_cents, there.parts) == (here.amount_cents, here.parts)
    levels = without_it.book.links["nexus"].levels
    assert levels == with_it.book.links["nexus"].levels
