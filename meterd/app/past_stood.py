"""How everything stood at a moment: every meter, table, round, award and share.

Rule 1: an award that was settled long ago leaves the book with the reading of a day, which names it. It is looked up in
        the volume that this reading sealed, and shown as it stood then: nothing becomes of it any more.
Rule 2: what lies in a volume that is not at hand is said, with the volume's name; nothing is left out in silence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from itertools import takewhile
from pathlib import Path
from typing import Any, Final, NamedTuple

from meterd.accounting.book import Book
from meterd.app.snapshot import award_json, fund_json, link_json
from meterd.app.volumes import Standing, stand
from meterd.edge import sqlite, volume
from meterd.edge.store import SEAL, read_records
from meterd.errors import LedgerError
from meterd.ledger.canonical import parse
from meterd.ledger.record import Record


class Gone(NamedTuple):
    """What had left the book, as it stood then; ``missing`` are names of volumes that are not at hand."""

    awards: list[dict[str, Any]]
    shares: list[dict[str, Any]]
    missing: list[str]


_NOTHING_GONE: Final = Gone([], [], [])


def as_it_stood(standing: Standing, folder: Path) -> dict[str, Any]:
    """Every meter, table, round, award and share of a moment.

    ``not_here`` names the awards and shares that only a volume tells of that is not in the folder, and that volume.

    Raises:
        LedgerError: a sealed volume that is needed cannot be read.
    """
    book = standing.book
    gone = _gone(standing, folder) if book.gone_awards or book.gone_shares else _NOTHING_GONE
    return {
        "seq": standing.last.seq,
        "at_utc": standing.last.at_utc,
        "hash": standing.last.hash.hex(),
        "site": book.site_id,
        "currency": book.currency,
        "gaming_day": book.gaming_day,
        "links": {link: link_json(book, link) for link in book.links},
        "funds": {fund: fund_json(book, fund) for fund in book.funds},
        "tables": {table: _table(book, table) for table in book.tables},
        "awards": sorted([*gone.awards, *(_award(book, one) for one in book.awards)], key=_number),
        "shares": sorted([*gone.shares, *(_share(book, one) for one in book.fund_awards)], key=_number),
        "not_here": {
            "awards": _lacking("A", book.gone_awards + len(book.awards), [*gone.awards, *map(_named, book.awards)]),
            "shares": _lacking(
                "J", book.gone_shares + len(book.fund_awards), [*gone.shares, *map(_named, book.fund_awards)]
            ),
            "volumes": list(gone.missing),
        },
        "balances": {account: amount for account, amount in sorted(book.balances.items()) if amount},
        "residual_microcents": book.residual_microcents(),
    }


def _table(book: Book, table_id: str) -> dict[str, Any]:
    table = book.tables[table_id]
    return {
        "link": table.settings.link,
        "game": table.settings.game,
        "state": table.state.value,
        "closed_reason": table.closed_reason,
        "round": table.round,
        "wagers": {str(seat): wager._asdict() for seat, wager in sorted(table.wagers.items())},
        "folded": sorted(table.folded),
        "late": table.late,
        "awards": list(table.awards),
    }


def _award(book: Book, award_id: str) -> dict[str, Any]:
    award = book.awards[award_id]
    return {
        **award_json(book, award_id),
        "units": award.units,
        "at_utc": award.at_utc,
        "keyed_by": award.keyed_by,
        "confirmed_by": award.confirmed_by,
        "envy_cents": award.envy_cents,
        "parts": [part.to_json() for part in award.parts],
    }


def _share(book: Book, share_id: str) -> dict[str, Any]:
    share = book.fund_awards[share_id]
    return {
        "id": share.id,
        "fund": share.fund,
        "pool": share.pool,
        "win": share.win,
        "amount_cents": share.cents,
        "at_utc": share.at_utc,
        "status": share.state_word,
    }


def _named(name: str) -> dict[str, Any]:
    return {"id": name}


def _number(one: Mapping[str, Any]) -> int:
    """Awards are A1, A2, …, shares J1, J2, …, each numbered over the whole ledger."""
    return int(one["id"][1:])


def _lacking(letter: str, count: int, found: Iterable[Mapping[str, Any]]) -> list[str]:
    """Names of those that the ledger had by then and that were not found."""
    numbers = {_number(one) for one in found}
    return [f"{letter}{number}" for number in range(1, count + 1) if number not in numbers]


def _gone(standing: Standing, folder: Path) -> Gone:
    """What left the book in this volume or in one before it."""
    gone = Gone([], [], [])
    paths = volume.readable_volumes(folder) if folder.is_dir() else [folder]
    wanted: int | None = standing.first_seq
    for path in reversed(paths):
        first, last = ends(path)
        if wanted is None or first.seq > wanted:
            continue
        if first.seq < wanted:
            gone.missing.append(volume.volume_name(wanted))
        wanted = parse(first.body)["sealed"]["first_seq"] if first.seq > 1 else None
        if last.kind == SEAL and last.seq <= standing.last.seq:
            _take(path, last, gone)
    if wanted is not None:
        gone.missing.append(volume.volume_name(wanted))
    return gone


def _take(path: Path, reading: Record, gone: Gone) -> None:
    """Add what a day's reading let go of, as it stood before the reading."""
    body = parse(reading.body)
    if not body["left"]["awards"] and not body["left"]["shares"]:
        return
    book = stand(takewhile(lambda record: record.seq < reading.seq, read_records(path))).book
    left = {"left_with": {"seq": reading.seq, "day": body["day"]}}
    gone.awards.extend({**_award(book, one), **left} for one in body["left"]["awards"])
    gone.shares.extend({**_share(book, one), **left} for one in body["left"]["shares"])


def ends(path: Path) -> tuple[Record, Record]:
    """First and last entry of a volume."""
    try:
        with closing(sqlite.reader(path)) as db:
            low, high = db.execute("SELECT min(seq), max(seq) FROM entry").fetchone()
            if low is None:
                raise LedgerError(f"{path} holds no entry")
            return next(volume.rows(db, low)), next(volume.rows(db, high))
    except sqlite.Error as cause:
        raise LedgerError(f"{path} cannot be read: {sqlite.describe(cause)}") from cause
