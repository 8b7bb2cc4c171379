"""The largest amounts through the real store and back: exact to the microcent, or refused and nothing changed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from meterd.accounting.book import Book
from meterd.accounting.commands import (
    SYSTEM,
    Actor,
    Claim,
    Command,
    Confirm,
    CreateLedger,
    DefineTable,
    EndGame,
    Lock,
    OpenLink,
    OpenTable,
    Pay,
    Role,
    SetSite,
    Void,
    WagerSeen,
)
from meterd.accounting.refusals import Refusal
from meterd.accounting.settings import (
    Floor,
    LevelSettings,
    LinkSettings,
    ResetMode,
    SiteSettings,
    TableSettings,
    Ties,
)
from meterd.app.commit import Committer, Stamp, draft_entry
from meterd.app.create import create_with
from meterd.app.verify import verify
from meterd.edge.files import load_paytables
from meterd.edge.store import Store
from meterd.money import AMOUNT_CENTS_MAX, MICROCENTS_MAX

DEALER = Actor("dealer@T1", Role.DEALER)
SUPERVISOR = Actor("sup-1", Role.SUPERVISOR)
WAGER = 100_000_000
PAYTABLE = "co/blazing-sevens/b7p2"


def opening(seed_cents: int) -> list[Command]:
    """One link whose level begins with this seed and takes all of a wager of a million dollars."""
    mode = ResetMode.SEED_PLUS_RESERVE
    level = LevelSettings("main", seed_cents, 1_000_000, None, mode, Ties.SEQUENTIAL, Floor.NONE)
    link = LinkSettings("l", WAGER, 1, load_paytables()[PAYTABLE], (level,))
    return [
        CreateLedger(actor=SYSTEM, site="s", currency="USD", demo=False),
        SetSite(actor=SYSTEM, settings=SiteSettings("s")),
        OpenLink(actor=SYSTEM, settings=link),
        DefineTable(actor=SYSTEM, settings=TableSettings("T1", "l", "hit-and-run", 7)),
        OpenTable(actor=SYSTEM, table="T1"),
    ]


class House:
    """A book and its ledger on disk."""

    def __init__(self, folder: Path, seed_cents: int) -> None:
        create_with(folder, opening(seed_cents))
        self.folder, self.store, self.book = folder, Store.open(folder), Book()
        for record in self.store.records():
            self.book.apply(record.seq, record.at_utc, draft_entry(record))
        self.ticks: Iterator[int] = iter(range(1, 10**6))
        self.committer = Committer(self.book, self.store, self.now)

    def now(self) -> Stamp:
        tick = next(self.ticks)
        return Stamp(f"2026-12-01T13:00:00.{tick:06d}Z", "boot-1", tick)

    def do(self, *commands: Command) -> list[Refusal | None]:
        decisions = [self.committer.decide(command) for command in commands]
        self.committer.commit()
        return [None if decision.refusal is None else decision.refusal.refusal for decision in decisions]

    def reread(self) -> dict[str, int]:
        """Every balance as a new book has it from the closed and opened file; verify finds nothing."""
        self.store.close()
        again = Book()
        with closing(Store.open(self.folder)) as store:
            for record in store.records():
                again.apply(record.seq, record.at_utc, draft_entry(record))
        assert verify(self.folder).to_json()["ok"]
        assert 0 == again.residual_microcents()
        return {account: amount for account, amount in again.balances.items() if amount}


@pytest.fixture
def brim(tmp_path: Path) -> House:
    """The meter stands one wager below the largest amount."""
    return House(tmp_path / "ledger", AMOUNT_CENTS_MAX - WAGER)


def lock() -> Lock:
    return Lock(actor=DEALER, table="T1", wagers=(WagerSeen(1),))


def test_the_largest_meter_is_stored_and_read_back_exactly(brim: House) -> None:
    """One wager fills it to the bound; what a new book reads is that, to the microcent."""
    assert [None, None] == brim.do(lock(), EndGame(actor=DEALER, table="T1"))
    wager = WAGER * 1_000_000
    assert {
        "meter/l/main": MICROCENTS_MAX,
        "house/seed/l/main": -(MICROCENTS_MAX - wager),
        "drop/T1": -wager,
    } == brim.reread()


def test_what_would_pass_the_largest_amount_is_refused_and_stored_as_refused(brim: House) -> None:
    """The second wager fits no more: a Refused entry in the file, and no account changed."""
    brim.do(lock(), EndGame(actor=DEALER, table="T1"))
    before = {account: amount for account, amount in brim.book.balances.items() if amount}
    assert [Refusal.AMOUNT_OUT_OF_BOUNDS] == brim.do(lock())
    assert before == brim.reread()


def test_the_largest_award_is_paid_exactly_where_its_reset_fits(tmp_path: Path) -> None:
    """Half of the largest amount as seed: claimed, voided, claimed again, confirmed, paid, all read back."""
    seed = AMOUNT_CENTS_MAX // 2
    house = House(tmp_path / "ledger", seed)
    claim = Claim(actor=DEALER, table="T1", seat=1, hand="three-7s-diamonds")
    award = seed + WAGER
    answers = house.do(
        lock(),
        claim,
        Void(actor=SUPERVISOR, award="A1", reason="misread"),
        claim,
        Confirm(actor=SUPERVISOR, award="A2"),
        Pay(actor=SUPERVISOR, award="A2"),
    )
    assert [None] * 6 == answers
    house.do(EndGame(actor=DEALER, table="T1"))
    assert award == house.book.awards["A2"].amount_cents
    read = house.reread()
    assert seed * 1_000_000 == read["meter/l/main"]
    assert -2 * seed * 1_000_000 == read["house/seed/l/main"] == -MICROCENTS_MAX
    assert award * 1_000_000 == read["paid/T1"]


def test_a_reset_that_the_house_cannot_seed_within_bounds_is_refused(brim: House) -> None:
    """The seed a second time would pass the bound of the house's account: the claim is refused, the meter stays."""
    brim.do(lock())
    claim = Claim(actor=DEALER, table="T1", seat=1, hand="three-7s-diamonds")
    assert [Refusal.AMOUNT_OUT_OF_BOUNDS] == brim.do(claim)
    assert MICROCENTS_MAX == brim.reread()["meter/l/main"]
