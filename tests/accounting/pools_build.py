"""A card room for the tests of funds: a book, a clock, and a floor that decides and folds.

After each command it insists on what must always hold: deciding changed nothing, entries balance, what an entry says
of its pools is the fold's, nothing negative is owed, and no more is posted than is held.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from meterd.accounting import commands_pools as ask
from meterd.accounting.book import Book
from meterd.accounting.commands import SYSTEM, Actor, Command, Role, SetSite
from meterd.accounting.entries import Entry
from meterd.accounting.refusals import Refusal
from meterd.accounting.rules import Decision, decide
from meterd.accounting.settings import SiteSettings
from meterd.accounting.settings_pools import MOST_CENTS, AtCap, FundSettings, PoolGame, PoolSettings
from meterd.accounting.state_pools import FundState
from meterd.app.scenario_world import picture
from meterd.money import parse_money, parse_rate

DEALER = Actor("dealer@P1", Role.DEALER)
SUPERVISOR = Actor("sup-1", Role.SUPERVISOR)
ADMINISTRATOR = Actor("adm-1", Role.ADMINISTRATOR)
ACCOUNTANT = Actor("acc-1", Role.ACCOUNTING)
TECHNICIAN = Actor("tech-1", Role.TECHNICIAN)
MICRO = 1_000_000


def pool(
    name: str = "primary",
    share: str = "100%",
    cap: str | None = None,
    at_cap: str | None = None,
    then: str | None = None,
    reseeds: str | None = None,
    *,
    offered: bool = False,
) -> PoolSettings:
    return PoolSettings(
        name,
        parse_rate(share),
        None if cap is None else parse_money(cap),
        None if at_cap is None else AtCap(at_cap),
        None if then is None else parse_rate(then),
        reseeds,
        offered,
    )


def fund(
    *pools: PoolSettings,
    name: str = "P1",
    game: PoolGame = PoolGame.POSTED,
    most: int | None = -1,
    seats: int | None = None,
    days: int = 120,
    high_hand: int | None = None,
) -> FundSettings:
    table = game in {PoolGame.HOME_RUN, PoolGame.TRIPS}
    return FundSettings(
        name,
        game,
        pools or (pool(),),
        MOST_CENTS.get(game) if most == -1 else most,
        days,
        (9 if table else 0) if seats is None else seats,
        high_hand,
    )


class CardRoom:
    """A book with its entries and a clock that moves a second a command. ``strict`` compares books around decisions."""

    def __init__(
        self, *funds: FundSettings, strict: bool = True, release: bool = True, confirm_above: int = 10**9
    ) -> None:
        self.book = Book()
        self.now = datetime(2026, 12, 1, 5, 59, 59, tzinfo=UTC)
        self.entries: list[tuple[str, Entry]] = []
        self.strict = strict
        self.do(
            SetSite(
                actor=SYSTEM, settings=SiteSettings("test", confirm_above_cents=confirm_above, release_to_house=release)
            )
        )
        for settings in funds or (fund(),):
            self.do(ask.OpenFund(actor=SYSTEM, settings=settings))

    def act(self, command: Command) -> Decision:
        """Decide and fold, whatever the answer."""
        self.now += timedelta(seconds=1)
        at = self.now.strftime("%Y-%m-%dT%H:%M:%S.000000Z")
        object.__setattr__(command, "now_utc", at)
        before = repr(picture(self.book)) if self.strict else ""
        decision = decide(self.book, command)
        if self.strict:
            assert before == repr(picture(self.book)), "deciding changed the book"
        for entry in decision.entries:
            json.dumps(dict(entry.body))
            self.entries.append((at, entry))
            self.book.apply(self.book.seq + 1, at, entry)
            assert self.book.check_levels(entry) is None
            moved = {one.account.removeprefix("pool/") for one in entry.postings if one.account.startswith("pool/")}
            assert moved <= set(entry.body.get("pools", ())), "an entry moves a pool and does not say what it holds"
        self._insist()
        return decision

    def _insist(self) -> None:
        assert self.book.residual_microcents() == 0
        for name, state in self.book.funds.items():
            assert self.book.liability_microcents(name) >= 0
            held = dict.fromkeys(state.pools, 0)
            for pool_name, stands in state.pools.items():
                held[stands.backed_by or pool_name] += stands.posted_cents * MICRO
            for pool_name, promised in held.items():
                assert promised <= state.microcents(pool_name), f"{name}/{pool_name}: more is posted than is held"

    def do(self, command: Command) -> Decision:
        """Must be accepted."""
        decision = self.act(command)
        assert decision.refusal is None, decision.refusal
        return decision

    def refuses(self, command: Command) -> Refusal:
        """Must be refused, and change nothing; returns why."""
        before = {name: state for name, state in picture(self.book).items() if name != "seq"}
        said = repr(before)
        decision = self.act(command)
        assert decision.refusal is not None
        assert said == repr({name: state for name, state in picture(self.book).items() if name != "seq"})
        return decision.refusal.refusal

    def folded(self) -> Book:
        """A new book from the same entries, as read back from a ledger."""
        book = Book()
        for seq, (at, entry) in enumerate(self.entries, start=1):
            body = json.loads(json.dumps(dict(entry.body), sort_keys=True))
            again = Entry(entry.kind, entry.actor, entry.table, entry.link, entry.device, entry.event_id, body)
            object.__setattr__(again, "postings", entry.postings)
            book.apply(seq, at, again)
        return book

    def after(self, *, days: int = 0, hours: int = 0, seconds: int = 0) -> None:
        self.now += timedelta(days=days, hours=hours, seconds=seconds)

    # the words of a page

    def rake(self, cents: int, count: int = 1, name: str = "P1") -> None:
        strict, self.strict = self.strict, self.strict and count == 1
        for _ in range(count):
            self.do(ask.Rake(actor=DEALER, fund=name, cents=cents))
        self.strict = strict

    def post(self, name: str = "P1", day: str = "") -> None:
        self.do(ask.Post(actor=ACCOUNTANT, fund=name, gaming_day=day))

    def win(self, *shares: tuple[str, int], pool_name: str = "primary", name: str = "P1") -> list[str]:
        """The amounts of the shares, player by player."""
        known = set(self.book.fund_awards)
        self.do(winning(*shares, pool_name=pool_name, name=name))
        return [cents(one.cents) for one in self.book.fund_awards.values() if one.id not in known]

    def state(self, name: str = "P1") -> FundState:
        return self.book.funds[name]

    def held(self, pool_name: str = "primary", name: str = "P1") -> str:
        return cents(self.state(name).microcents(pool_name) // MICRO)

    def posted(self, pool_name: str = "primary", name: str = "P1") -> str:
        return cents(self.state(name).pools[pool_name].posted_cents)

    def account(self, name: str) -> str:
        return cents(int(self.book.balances.get(name, 0) / MICRO))


def winning(*shares: tuple[str, int], pool_name: str = "primary", name: str = "P1") -> ask.WinPool:
    asked = tuple(ask.Share(parse_rate(rate), players) for rate, players in shares or (("100%", 1),))
    return ask.WinPool(actor=SUPERVISOR, fund=name, pool=pool_name, shares=asked, second=DEALER)


def bets(seats: Sequence[int], each: int, name: str = "T4") -> ask.PotBets:
    return ask.PotBets(actor=DEALER, fund=name, seats=tuple(seats), cents=each)


def cents(amount: int) -> str:
    sign = "-" if amount < 0 else ""
    return f"{sign}{abs(amount) // 100:,}.{abs(amount) % 100:02d}"
