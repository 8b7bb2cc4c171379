"""The fold of the ledger's own life: a day's reading, the book a volume begins with, the key of its checkpoints.

Rule 1: as in ``fold``: facts of the entry and nothing else.
Rule 2: nothing leaves the book, or is left out of one that is carried, while somebody has something to get by it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from meterd.accounting.carry import take_over
from meterd.accounting.entries import Entry, Kind
from meterd.errors import InvariantBroken

if TYPE_CHECKING:
    from meterd.accounting.book import Book


class Began(NamedTuple):
    """What stood when the volume began, so that its reading can tell what the day brought.

    ``taken``: wagers and units by link; ``won``: hits and cents by ``link/level``; ``awards``: those then open, and how
    they stood.
    """

    seq: int
    at_utc: str
    balances: dict[str, int]
    taken: dict[str, tuple[int, int]]
    won: dict[str, tuple[int, int]]
    rounds: dict[str, int]
    awards: dict[str, str]

    @classmethod
    def of(cls, book: Book) -> Began:
        """The book as it stands."""
        return cls(
            book.seq,
            book.at_utc,
            dict(book.balances),
            {name: (link.wagers, link.units) for name, link in book.links.items()},
            {key: (counts.hits, counts.won_cents) for key, counts in book.counts_by_key.items()},
            {name: table.round for name, table in book.tables.items()},
            {name: award.status.value for name, award in book.awards.items()},
        )


#: Before the first entry of a ledger nothing stood.
NOTHING: Final = Began(1, "", {}, {}, {}, {}, {})


def _day_read(book: Book, entry: Entry) -> None:
    """The day is over: what its reading says leaves the book.

    Raises:
        InvariantBroken: something leaves that is not settled.
    """
    body = entry.body
    for name in (*body["left"]["awards"], *body["left"]["shares"]):
        if name in book.open_awards or name in book.open_shares:
            raise InvariantBroken(f"the day's reading lets {name} leave the book, and it is not settled")
    book.gaming_day = body["next_day"]
    book.day_confirmed = ""
    for name in body["left"]["awards"]:
        award = book.awards.pop(name)
        table = book.tables[award.table]
        table.left_round = max(table.left_round, award.round)
    for name in body["left"]["shares"]:
        del book.fund_awards[name]
    book.gone_awards += len(body["left"]["awards"])
    book.gone_shares += len(body["left"]["shares"])
    for account in [account for account, amount in book.balances.items() if not amount]:
        del book.balances[account]


def book_carried(book: Book, entry: Entry) -> None:
    """A volume begins. A fold that comes from the volume before holds all of it already.

    Raises:
        InvariantBroken: the book lacks an award or a share that is not settled.
    """
    if not book.site_id:
        take_over(book, entry.body)
    gone = [*(book.open_awards.keys() - book.awards), *(book.open_shares.keys() - book.fund_awards)]
    if gone:
        raise InvariantBroken(f"the book that a volume begins with lacks {min(gone)}, which is not settled")
    book.began = Began.of(book)


def _day_confirmed(book: Book, entry: Entry) -> None:
    book.day_confirmed = entry.body["day"]


def _key_set(book: Book, entry: Entry) -> None:
    book.keys = (*book.keys, entry.body["key"])


HANDLERS: Final[dict[Kind, Callable[[Book, Entry], None]]] = {
    Kind.DAY_READ: _day_read,
    Kind.DAY_CONFIRMED: _day_confirmed,
    Kind.BOOK_CARRIED: book_carried,
    Kind.KEY_SET: _key_set,
}
