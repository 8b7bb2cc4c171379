"""Verify a ledger from end to end: where its bytes (chain) meet its money (fold).

Rule 1: whatever the files hold, the answer is a report that names the first row that does not hold, never an exception.
Rule 2: nothing is written, and the writer is not disturbed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple

from meterd.accounting.book import Book
from meterd.accounting.entries import Entry, Kind
from meterd.app.commit import draft_entry
from meterd.edge import sqlite, volume
from meterd.errors import LedgerError, MeterdError
from meterd.ledger.canonical import is_canonical
from meterd.ledger.chain import GENESIS
from meterd.ledger.record import Record
from meterd.ledger.verify import FirstBad, check_record

#: Accounts whose every movement an entry must answer for with the level's values after it.
_OF_A_LEVEL: Final = ("meter/", "reserve/", "overflow/")


class Report(NamedTuple):
    """``entries``, ``head`` and ``levels`` tell what held before ``first_bad``; ``file`` is where that was found."""

    entries: int
    head: bytes
    levels: dict[str, dict[str, int]]
    first_bad: FirstBad | None
    file: Path | None

    @property
    def ok(self) -> bool:
        """Nothing was found that does not hold."""
        return self.first_bad is None

    def to_json(self) -> dict[str, Any]:
        """The document that ``meterd ledger verify --json`` prints."""
        bad = self.first_bad
        return {
            "ok": self.ok,
            "entries": self.entries,
            "head": self.head.hex(),
            "first_bad": bad and {"file": str(self.file), "seq": bad.seq, "reason": bad.reason},
            "levels": self.levels,
        }


def verify(*paths: Path) -> Report:
    """Verify a ledger's folder, or its files in the order given.

    Each entry is hashed, put in its place in the chain, folded, and the level values it stores are compared with the
    fold's. The shape of each file (tables, triggers, format) is checked too.
    """
    audit = Audit()
    where: list[FirstBad] = []
    file: Path | None = None
    try:
        for file in _files(paths):
            finding = _verify_file(file, audit)
            if finding is not None:
                where.append(finding)
                break
        if not where and audit.entries == 0:
            where.append(FirstBad(None, "there is no ledger here"))
    except Exception as cause:  # noqa: BLE001 - rule 1: an unforeseen kind of damage is still a finding
        where.append(FirstBad(None, _words(cause)))
    return Report(audit.entries, audit.head, audit.levels(), where[0] if where else None, file or paths[0])


def unusable(paths: Sequence[Path]) -> str | None:
    """Why these paths are nothing to verify, or None: wrong use, as opposed to a ledger that does not hold."""
    if len(paths) > 1 and any(path.is_dir() for path in paths):
        return "give one folder, or the volumes of one ledger in order: two folders are two ledgers"
    for path in paths:
        try:
            if not path.exists():
                return f"{path} does not exist"
            if not path.is_dir():
                path.open("rb").close()
            elif not volume.volumes(path) and not (path / volume.LINK).is_symlink():
                return f"there is no ledger in {path}"
        except OSError as cause:
            return f"{path} cannot be read by this user ({cause.strerror})"
    return None


class Audit:
    """Takes entries one by one and says of each whether it holds behind those before it."""

    def __init__(self) -> None:
        """Begin before entry 1."""
        self.entries = 0
        self.head = GENESIS
        self.book = Book()

    def take(self, record: Record) -> str | None:
        """Why the next entry does not hold, or None. After a reason the audit is over."""
        reason = check_record(record, self.entries + 1, self.head) or self._fold(record)
        if reason is None:
            self.entries += 1
            self.head = record.hash
        return reason

    def levels(self) -> dict[str, dict[str, int]]:
        """What the fold says of every level, in microcents."""
        keys = (f"{link.settings.id}/{level}" for link in self.book.links.values() for level in link.rules.levels)
        return {key: self.book.level_values(key) for key in keys}

    def _fold(self, record: Record) -> str | None:
        try:
            entry = draft_entry(record)
            if not is_canonical(record.body, entry.body):
                return "the body is not canonical JSON"
            if (entry.kind is Kind.LEDGER_CREATED) != (record.seq == 1):
                return f"a ledger begins with LedgerCreated and holds no other; this is {entry.kind.value}"
            self.book.apply(record.seq, record.at_utc, entry)
            return _unstored(entry) or self.book.check_levels(entry)
        except MeterdError as cause:
            return str(cause)
        except Exception as cause:  # noqa: BLE001 - a forged body can break the fold in any way; each is this row's fault
            return f"it cannot be folded: {_words(cause)}"


def audited_book(records: Iterable[Record]) -> Book:
    """The fold of a whole ledger in which every entry holds; what a writer starts from.

    Raises:
        LedgerError: an entry does not hold; it is named, and nothing may be written behind it.
    """
    audit = Audit()
    try:
        for record in records:
            reason = audit.take(record)
            if reason is not None:
                raise LedgerError(
                    f"entry {audit.entries + 1} does not hold: {reason}. Nothing is written behind it:"
                    " run `meterd ledger verify`, keep the files as they are, and restore a verified backup"
                )
    except volume.BadRowError as cause:
        raise LedgerError(f"entry {cause.seq} cannot be read: {cause.reason}. Run `meterd ledger verify`") from cause
    return audit.book


def _unstored(entry: Entry) -> str | None:
    """A level that the entry moves without storing its values."""
    stored = entry.body.get("levels", ())
    for account, _ in entry.postings:
        if account.startswith(_OF_A_LEVEL) and account.partition("/")[2] not in stored:
            return f"it moves {account} and does not store the level's values after it"
        if account.startswith("pool/") and account.partition("/")[2] not in entry.body.get("pools", ()):
            return f"it moves {account} and does not store what the pool holds after it"
    return None


def _verify_file(file: Path, audit: Audit) -> FirstBad | None:
    """What is wrong with one volume; a row before a fault of the file as a whole, because it says more."""
    try:
        with closing(sqlite.reader(file)) as db:
            shape = volume.shape_findings(db)
            bad_row = _first_bad_row(volume.rows(db), audit)
            if not shape or (bad_row is not None and bad_row.seq is not None):
                return bad_row
            return FirstBad(None, "; ".join(shape))
    except (OSError, sqlite.Error, LedgerError) as cause:
        return FirstBad(None, _words(cause))


def _first_bad_row(records: Iterator[Record], audit: Audit) -> FirstBad | None:
    try:
        for record in records:
            reason = audit.take(record)
            if reason is not None:
                return FirstBad(audit.entries + 1, reason)
    except volume.BadRowError as cause:
        return FirstBad(cause.seq, cause.reason)
    except sqlite.Error as cause:
        return FirstBad(None, _words(cause))
    return None


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            files = volume.volumes(path)
            yield from files
            if files and volume.current_volume(path) != files[-1].resolve():
                raise LedgerError(f"{path / volume.LINK} does not lead to the newest volume, {files[-1].name}")
        else:
            yield path


def _words(cause: BaseException) -> str:
    return str(cause) if isinstance(cause, MeterdError) else sqlite.describe(cause)
