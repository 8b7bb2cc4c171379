"""The house a scenario plays in: the real rules and the real fold, a ledger in memory, a clock that stands still.

Rule 1: every command goes through the same ``decide`` and every entry through the same ``Book.apply`` as in the daemon.
Rule 2: every entry is sealed into the chain; ``restart`` keeps the sealed records and nothing else.
Units: the virtual clock moves by one second a command.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from meterd.accounting.book import Book
from meterd.accounting.commands import SYSTEM, Command, CreateLedger
from meterd.accounting.rules import Decision, decide
from meterd.app.commit import Stamp, draft_entry, entry_draft
from meterd.errors import InvariantBroken, require
from meterd.ledger.chain import GENESIS, seal
from meterd.ledger.record import Record
from meterd.ledger.verify import check_chain

SITE_ID: Final = "scenario"
_BEGIN: Final = datetime(2020, 1, 1, 6, 0, tzinfo=UTC)
_STEP: Final = timedelta(seconds=1)
_SECOND_NS: Final = 1_000_000_000


@dataclass(slots=True)
class World:
    """A book, its ledger in memory and a virtual clock."""

    book: Book = field(default_factory=Book)
    records: list[Record] = field(default_factory=list)
    now: datetime = _BEGIN
    _checked: int = 0  # records whose chain was found to hold

    @classmethod
    def create(cls) -> World:
        """A world with an empty ledger."""
        world = cls()
        world.act(CreateLedger(actor=SYSTEM, site=SITE_ID, currency="USD", demo=False))
        return world

    @property
    def head(self) -> bytes:
        """Hash of the last record."""
        return self.records[-1].hash if self.records else GENESIS

    def act(self, command: Command) -> Decision:
        """Decide one command and put its entries into the ledger and the book."""
        self.now += _STEP
        stamp = Stamp(self.now.strftime("%Y-%m-%dT%H:%M:%S.000000Z"), SITE_ID, len(self.records) * _SECOND_NS)
        decision = decide(self.book, replace(command, now_utc=stamp.at_utc))
        for entry in decision.entries:
            record = seal(entry_draft(entry, stamp, SITE_ID), len(self.records) + 1, self.head)
            self.records.append(record)
            self.book.apply(record.seq, record.at_utc, entry)
        return decision

    def restart(self) -> None:
        """Drop the book and fold it again from the sealed records.

        Raises:
            InvariantBroken: the chain does not hold, or the new book is not the one that was dropped.
        """
        before = self.records[self._checked - 1].hash if self._checked else GENESIS
        report = check_chain(self.records[self._checked :], self._checked + 1, before)
        require(report.first_bad is None, "the ledger's chain does not hold", first_bad=report.first_bad)
        self._checked = len(self.records)
        folded = Book()
        for record in self.records:
            folded.apply(record.seq, record.at_utc, draft_entry(record))
        for name, before, after in differences(self.book, folded):
            raise InvariantBroken(f"folded again, {name} is {after!r}; it was {before!r}")
        self.book = folded


def picture(book: Book) -> dict[str, Any]:
    """Everything a book says, without the accounts that are empty."""
    return {
        "seq": book.seq,
        "site": book.site,
        **{f"link {link}": state for link, state in book.links.items()},
        **{f"table {table}": state for table, state in book.tables.items()},
        **{f"award {award}": state for award, state in book.awards.items()},
        **{f"fund {fund}": state for fund, state in book.funds.items()},
        **{f"share {share}": state for share, state in book.fund_awards.items()},
        **{f"account {account}": amount for account, amount in book.balances.items() if amount},
    }


def differences(before: Book, after: Book) -> list[tuple[str, Any, Any]]:
    """What two books say differently: name, value before, value after."""
    old, new = picture(before), picture(after)
    return [(name, old.get(name), new.get(name)) for name in {**old, **new} if old.get(name) != new.get(name)]
