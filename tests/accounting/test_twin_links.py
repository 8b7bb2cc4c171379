"""Random histories with changes of a live link in them, reckoned twice: by the real rules and by the twin.

After every act both give the same answer and the same money; a refusal leaves the book as it was; in the end the fold
of the entries, as text, is the book.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from machine_rules import link_settings
from test_twin import ACTS, COMMANDS, HANDS, LEVELS, LINK, MICRO, Act, compare, make, reaches_back, rules
from twin_links import LinkTwin
from twin_records import Level, Rules

from meterd.accounting import commands as ask
from meterd.accounting import commands_links as change
from meterd.accounting.book import Book
from meterd.accounting.commands import SYSTEM, Actor, Command, Role
from meterd.accounting.entries import Entry, Kind, Posting
from meterd.accounting.rules import decide
from meterd.accounting.settings import SiteSettings, TableSettings

START, LATER = "2026-01-01T00:00:00.000000Z", "2026-01-02T00:00:00.000000Z"
ADMINISTRATOR = Actor("adm-1", Role.ADMINISTRATOR)
ACCOUNTANT = Actor("acc-1", Role.ACCOUNTING)
PLAYERS = ("meter/", "reserve/", "overflow/", "payable/", "unclaimed/")

#: A meter falls by an award, a void, a correction, a transfer or the recovery of seed, and by nothing else.
FALLS = {
    Kind.CLAIMED,
    Kind.VOIDED,
    Kind.WAGER_VOIDED,
    Kind.CORRECTED,
    Kind.CORRECTION,
    Kind.ADJUSTED,
    Kind.TRANSFERRED,
    Kind.SEED_RECOVERED,
}

Word = tuple[object, ...]
Limits = dict[str, tuple[int | None, int | None]]  # table → aggregate limits for a player, for the table


def _level(name: str) -> str:
    return f"{LINK}/{name}"


def signed(make_command: Callable[..., Command], **facts: object) -> Command:
    return make_command(actor=ADMINISTRATOR, second=ACCOUNTANT, reference="r-1", **facts)


LINK_COMMANDS: dict[str, Callable[..., Command]] = {
    "suspend": lambda: change.SuspendLink(actor=ACCOUNTANT, link=LINK, reason="short"),
    "resume": lambda: signed(change.ResumeLink, link=LINK),
    "adjust": lambda level, cents: signed(change.Adjust, level=_level(level), cents=cents),
    "transfer": lambda level, target, cents: signed(
        change.Transfer, level=_level(level), target=_level(target), cents=cents
    ),
    "limit": lambda level, cents, overflow: signed(
        change.SetLimit, level=_level(level), limit_cents=cents, overflow=overflow
    ),
    "recover-seed": lambda level, cents: signed(change.RecoverSeed, level=_level(level), cents=cents),
    "release": lambda level, part, cents: signed(change.Release, level=_level(level), part=part, cents=cents),
    "unclaimed": lambda award, late: change.MarkUnclaimed(
        actor=ACCOUNTANT, award=award, now_utc=LATER if late else START
    ),
    "dispose": lambda award, to: signed(
        change.Dispose, award=award, to=to if to in {"authority", "house"} else _level(to)
    ),
    "late-claim": lambda table, number, seat, hand, cents: signed(
        change.AdjustClaim, table=table, round=number, seat=seat, hand=hand, cents=cents
    ),
}
MOVES = ("adjust", "transfer", "limit", "recover-seed", "release", "dispose")
VERBS = ("suspend", "resume", "unclaimed", "unclaimed", "late-claim", *MOVES, *MOVES)


class Real:
    """The real rules with their book and what they wrote."""

    def __init__(self, link: Rules, limits: Limits) -> None:
        self.book, self.entries = Book(), list[Entry]()
        site = SiteSettings(
            "twin",
            confirm_above_cents=link.confirm_above,
            seed_recovery=True,
            release_to_house=True,
            unclaimed_days=1,
        )
        self.act(ask.CreateLedger(actor=SYSTEM, site="twin", currency="USD", demo=False))
        self.act(ask.SetSite(actor=SYSTEM, settings=site))
        self.act(ask.OpenLink(actor=SYSTEM, settings=link_settings(link)))
        for table, (seats, live) in link.tables.items():
            player, whole = limits.get(table, (None, None))
            settings_ = TableSettings(
                table, LINK, "twin", seats, folded_live=live, cap_player_cents=player, cap_table_cents=whole
            )
            self.act(ask.DefineTable(actor=SYSTEM, settings=settings_))
            self.act(ask.OpenTable(actor=SYSTEM, table=table))

    def act(self, command: Command) -> str | None:
        decision = decide(self.book, command)
        before = dict(self.book.balances)
        for entry in decision.entries:
            self.entries.append(entry)
            self.book.apply(self.book.seq + 1, START, entry)
            assert None is self.book.check_levels(entry)
            falls = [post for post in entry.postings if post.account.startswith("meter/") and post.microcents < 0]
            assert not falls or entry.kind in FALLS, entry
        if decision.refusal is not None:
            assert before == self.book.balances
        return None if decision.refusal is None else decision.refusal.refusal.value

    def fold(self) -> Book:
        """A new book from what was written, as text."""
        book = Book()
        for entry in self.entries:
            body = json.loads(json.dumps(entry.body))
            postings = tuple(Posting(*posting) for posting in json.loads(json.dumps(entry.postings)))
            where = (entry.kind, entry.actor, entry.table, entry.link, entry.device, entry.event_id)
            book.apply(book.seq + 1, START, Entry(*where, body, postings))
        return book


def link_act(act: Act, twin: LinkTwin) -> Word:  # noqa: PLR0911 - one return per verb
    """The change these numbers stand for: amounts lie about the bounds. In mid-round, often a step to its end."""
    verb = VERBS[(7 * act.verb + act.b) % len(VERBS)]
    state = twin.state
    if verb in MOVES and act.c % 8:
        step = _towards_the_end(twin)
        if step is not None:
            return step
    names = list(state.rules.levels)
    level, other = names[act.a], names[1 - act.a]
    pick = act.c
    players = int(state.meter(level) - state.standing[level])
    if verb in {"suspend", "resume"}:
        return ("suspend",) if verb == "suspend" and pick % 3 == 0 else ("resume",)
    if verb == "adjust":
        return (verb, level, [50, 333, -20, -1, 0, -int(state.adjusted[level]), -players][pick % 7])
    if verb == "transfer":
        return (verb, level, level if pick % 16 == 9 else other, [1, 40, players, players + 1][pick % 4])
    if verb == "limit":
        return _limit(level, pick, twin)
    if verb == "recover-seed":
        seed = state.rules.levels[level].seed
        return (verb, level, [1, 25, int(state.standing[level]), int(state.meter(level)) - seed][pick % 4])
    if verb == "release":
        part = "reserve" if pick & 1 else "overflow"
        held = int(state.accounts[f"{part}/{level}"])
        return (verb, level, part, [1, held, held + 1][pick // 2 % 3])
    return _late(verb, act, twin)


def _towards_the_end(twin: LinkTwin) -> Word | None:
    if twin.state.suspended:
        return ("resume",)
    for table, current in twin.state.rounds.items():
        for win in twin.wins_of(current) if current is not None else ():
            if win.status == "pending" and not win.held:
                return ("hold", win.id)
        if current is not None:
            return ("end", table)
    return None


def _limit(level: str, pick: int, twin: LinkTwin) -> Word:
    old = twin.state.rules.levels[level]
    shown = int(twin.state.meter(level))
    cents = [None, shown, shown - 1, shown + 30, old.seed][pick % 5]
    overflow = old.overflow if old.limit is not None and pick % 11 else ["next_meter", "house"][pick & 1]
    return ("limit", level, cents, None if cents is None else overflow)


def _late(verb: str, act: Act, twin: LinkTwin) -> Word:
    state = twin.state
    if verb == "late-claim":
        table = f"T{act.a + 1}"
        return (
            verb,
            table,
            act.c % (state.locks[table] + 2),
            1 + act.b // 3 % 5,
            HANDS[act.c % len(HANDS)],
            (0, 75, 9_000, 25_000)[act.c % 4],
        )
    wanted = [
        award
        for award, win in state.wins.items()
        if win.status == "confirmed" and (award in state.unclaimed_awards) == (verb == "dispose")
    ]
    award = wanted[act.b % len(wanted)] if wanted and act.c % 8 else f"A{1 + act.b % (twin.claims + 1)}"
    if verb == "unclaimed":
        return (verb, award, bool(act.c % 4))
    return (verb, award, ["big", "small", "authority", "house"][act.c % 4])


def play(link: Rules, acts: Sequence[Act], make_twin: type[LinkTwin] = LinkTwin, limits: Limits | None = None) -> None:
    twin, real = make_twin(link), Real(link, limits or {})
    history: list[Word] = []
    for place, numbers in enumerate(acts):
        act = link_act(numbers, twin) if (numbers.c + place) % 2 else make(numbers, twin)
        if reaches_back(act, twin):
            continue
        history.append(act)
        command = {**COMMANDS, **LINK_COMMANDS}[str(act[0])](*act[1:])
        ours, theirs = twin.do(act), real.act(command)
        if act[0] == "correct" and ours is not None:
            assert theirs is not None  # which of several reasons: the round may be long gone
        else:
            assert (ours, history) == (theirs, history)
        compare(twin, real.book)
        for account, amount in real.book.balances.items():
            assert amount >= 0 or not account.startswith(PLAYERS), account
        adjusted = {name: amount * MICRO for name, amount in twin.state.adjusted.items()}
        counts = real.book.links[LINK].counts
        assert adjusted == {name: Fraction(count.adjusted) for name, count in counts.items()}
    assert vars(real.fold()) == vars(real.book)


@given(
    big=LEVELS,
    small=LEVELS,
    returned=st.booleans(),
    confirm_above=st.sampled_from([0, 1_000, 2_500]),
    acts=ACTS,
)
@settings(max_examples=250)
def test_changes_of_a_live_link_agree_account_by_account(
    big: Level, small: Level, returned: bool, confirm_above: int, acts: list[Act]
) -> None:
    """Any changes between any rounds, claims, voids and corrections: the same answers and the same money."""
    play(rules(big, small, returned=returned, envy_scales=True, confirm_above=confirm_above), acts)


@given(big=LEVELS, small=LEVELS, acts=ACTS)
@settings(max_examples=80)
def test_they_agree_where_a_level_overflows_into_the_other(big: Level, small: Level, acts: list[Act]) -> None:
    """The same, where what a limit keeps out goes to the other level."""
    big = replace(big, limit=2_000, overflow="level:small")
    play(rules(big, small, returned=True, envy_scales=True), acts)


def test_the_twin_of_changes_knows_nothing_of_the_rules_it_checks() -> None:
    """Nor does that of aggregate limits."""
    for name in ("twin_links.py", "twin_caps.py"):
        tree = ast.parse((Path(__file__).parent / name).read_text(encoding="utf-8"))
        imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        imported |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        assert not {module for module in imported if module is None or module.startswith("meterd")}
