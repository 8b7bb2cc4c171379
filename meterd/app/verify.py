"""Verify a ledger from end to end: where its bytes (chain) meet its money (fold).

Rule 1: whatever the files hold, the answer is a report that names the first row that does not hold, never an exception.
Rule 2: nothing is written, and the writer is not disturbed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple

from meterd.accounting.book import Book
from meterd.accounting.entries import Entry, Kind
from meterd.accounting.facts import wrong_facts
from meterd.app.borders import KeysSet, out_of_form, unsigned, wrong_about_itself
from meterd.app.checkpoints import Kept, read_checkpoint
from meterd.app.rows import draft_entry
from meterd.app.volumes import Standing, carries, carries_itself, opened
from meterd.edge import sqlite, volume
from meterd.edge.store import SEAL, read_records
from meterd.errors import LedgerError, MeterdError
from meterd.ledger.canonical import is_canonical
from meterd.ledger.chain import GENESIS
from meterd.ledger.note import Checkpoint, NoteError
from meterd.ledger.record import Record
from meterd.ledger.verify import FirstBad, check_record

#: Accounts whose every movement an entry must answer for with the level's values after it.
_OF_A_LEVEL: Final = ("meter/", "reserve/", "overflow/")


#: Looks at an entry and the book before it, and says why it should not be there, or None.
Judge = Callable[[Book, Record, Entry], str | None]


class Report(NamedTuple):
    """``entries``, ``head`` and ``levels`` tell what held before ``first_bad``; ``file`` is where that was found.

    ``first_seq`` is the first entry looked at: 1, or the first of a later volume that was given alone. ``checkpoint``
    names the ledger as it stands, None where nothing held. ``since`` are the sizes that a checkpoint proved.
    """

    entries: int
    head: bytes
    levels: dict[str, dict[str, int]]
    first_bad: FirstBad | None
    file: Path | None
    first_seq: int = 1
    checkpoint: Checkpoint | None = None
    since: tuple[int, ...] = ()

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
            "first_seq": self.first_seq,
            "origin": self.checkpoint and self.checkpoint.origin,
            "root": self.checkpoint and self.checkpoint.root.hex(),
            "since": list(self.since),
        }


def verify(
    *paths: Path,
    since: Sequence[Checkpoint] = (),
    notes: Sequence[Path] = (),
    keys: Sequence[str] = (),
    judge: Judge | None = None,
    ends: Callable[[], str | None] | None = None,
) -> Report:
    """Verify a ledger's folder, or its files in the order given.

    Each entry is hashed, put in its place in the chain, folded, and the level values it stores are compared with the
    fold's. The shape of each file (tables, triggers, format) is checked too, and that a volume begins with the book of
    the one before. ``since`` are checkpoints that somebody kept: the ledger must begin with what they tell. ``notes``
    are such in files, signed by one of ``keys`` (``name+id+key``) or, without any, of those the ledger says it had.
    ``judge`` looks at each entry before it is folded; ``ends`` says why the last one cannot be the last.
    """
    where: list[FirstBad] = []
    file: Path | None = None
    audit = Audit(judge=judge)
    kept: list[Checkpoint] = list(since)
    try:
        for file in notes:
            kept += [_note(file, ()).checkpoint]
        audit.asked = frozenset(checkpoint.size for checkpoint in kept)
        for file in _files(paths):
            audit.begin_volume()
            finding = _verify_file(file, audit)
            if finding is not None:
                where.append(finding)
                break
        if not where and audit.entries == 0:
            where.append(FirstBad(None, "there is no ledger here"))
        if not where and ends is not None and (more := ends()) is not None:
            where.append(FirstBad(audit.next_seq, more))
        if not where:
            where.extend(bad for one in since if (bad := audit.proves(one)) is not None)
        for file in notes if not where else ():
            found = _note(file, keys or [key for _, key in audit.keys])
            bad = audit.proves(found.checkpoint)
            reason = bad.reason if bad is not None else unsigned(found.signers, audit.keys, found.checkpoint.size)
            if reason is not None:
                where.append(bad or FirstBad(None, reason))
                break
    except Exception as cause:  # noqa: BLE001 - rule 1: an unforeseen kind of damage is still a finding
        where.append(FirstBad(None, _words(cause)))
    standing = audit.standing
    return Report(
        audit.entries,
        audit.head,
        audit.levels(),
        where[0] if where else None,
        file or paths[0],
        audit.first_seq,
        None if standing is None else standing.checkpoint,
        tuple(sorted({one.size for one in kept})) if not where else (),
    )


def _note(file: Path, keys: Iterable[str]) -> Kept:
    """A checkpoint from a file.

    Raises:
        LedgerError: it is none, or a signature by one of the keys does not hold.
    """
    try:
        return read_checkpoint(file, keys)
    except NoteError as cause:
        raise LedgerError(str(cause)) from cause


def unusable(paths: Sequence[Path], notes: Sequence[Path] = ()) -> str | None:
    """Why these paths are nothing to verify, or None: wrong use, as opposed to a ledger that does not hold."""
    try:
        folders = [path for path in paths if path.is_dir()]
        if folders and len(paths) > 1:
            return "give one folder, or the volumes of one ledger in order: two folders are two ledgers"
        for folder in folders:
            if not volume.volumes(folder) and not (folder / volume.LINK).is_symlink():
                return f"there is no ledger in {folder}"
    except OSError as cause:
        return f"{cause.filename} cannot be read by this user ({cause.strerror})"
    files = [*notes, *(path for path in paths if path not in folders)]
    return next((wrong for path in files if (wrong := sqlite.unreadable(path)) is not None), None)


class Audit:
    """Takes entries one by one and says of each whether it holds behind those before it."""

    def __init__(self, asked: frozenset[int] = frozenset(), judge: Judge | None = None) -> None:
        """Begin before the first entry. ``asked`` are sizes at which the tree's root is wanted later.

        ``keys`` of an audit are those of its entries, each with the entry that put it in force or carried it over.
        """
        self.entries = 0
        self.head = GENESIS
        self.first_seq = 1
        self.standing: Standing | None = None
        self.keys: KeysSet = []
        self.asked = asked
        self._judge = judge
        self._roots: dict[int, bytes] = {}
        self._first = True  # the next entry is the first of a volume

    @property
    def book(self) -> Book:
        """The fold of what held so far."""
        return Book() if self.standing is None else self.standing.book

    @property
    def next_seq(self) -> int:
        """The number of the entry that is looked at."""
        return self.first_seq + self.entries

    def begin_volume(self) -> None:
        """The next entry is the first of a file."""
        self._first = True

    def take(self, record: Record) -> str | None:
        """Why the next entry does not hold, or None. After a reason the audit is over."""
        standing = self.standing
        if standing is None:
            self.first_seq, self.head = (record.seq, record.prev) if record.seq != 1 else (1, GENESIS)
            reason = check_record(record, self.first_seq, self.head)
        else:
            reason = check_record(record, standing.last.seq + 1, standing.last.hash)
        reason = reason or self._fold(record)
        if reason is None:
            self.entries += 1
            self.head = record.hash
        return reason

    def levels(self) -> dict[str, dict[str, int]]:
        """What the fold says of every level, in microcents."""
        book = self.book
        keys = (f"{link.settings.id}/{level}" for link in book.links.values() for level in link.rules.levels)
        return {key: book.level_values(key) for key in keys}

    def proves(self, checkpoint: Checkpoint) -> FirstBad | None:
        """What keeps the ledger from being one that goes on from a checkpoint, once all its entries hold."""
        standing = self.standing
        if standing is None or checkpoint.origin != standing.origin:
            return FirstBad(None, f"the checkpoint is of {checkpoint.origin}, another ledger")
        if checkpoint.size > standing.last.seq:
            last = standing.last.seq
            return FirstBad(last + 1, f"it is missing: {last} are here, the checkpoint proves {checkpoint.size}")
        if checkpoint.size not in self._roots:
            return FirstBad(None, f"entry {checkpoint.size} lies in an earlier volume: verify that one too")
        if checkpoint.root != self._roots[checkpoint.size]:
            return FirstBad(None, f"its first {checkpoint.size} entries are not those that the checkpoint was made of")
        return None

    def _fold(self, record: Record) -> str | None:
        try:
            entry = draft_entry(record)
            if not is_canonical(record.body, entry.body):
                return "the body is not canonical JSON"
            wrong = out_of_form(record, self.book.site_id) or self._place(record, entry) or wrong_facts(entry)
            return wrong or self._enter(record, entry)
        except MeterdError as cause:
            return str(cause)
        except Exception as cause:  # noqa: BLE001 - a forged body can break the fold in any way; each is this row's fault
            return f"it cannot be folded: {_words(cause)}"

    def _enter(self, record: Record, entry: Entry) -> str | None:
        standing = self.standing
        if standing is None:
            self.standing = standing = opened(record)
            self._note_root(standing)
        if self._judge is not None and (wrong := self._judge(standing.book, record, entry)) is not None:
            return wrong
        standing.book.apply(record.seq, record.at_utc, entry)
        if standing.book.site_id != record.site:
            return f"it is of the site {record.site!r}, and tells of {standing.book.site_id!r}"
        wrong = _unstored(entry) or standing.book.check_levels(entry)
        if wrong is None:
            standing.tree.append(record.hash)
            standing.last = record
            self._note_root(standing)
            self.keys += [(record.seq, key) for key in standing.book.keys[len(self.keys) :]]
        return wrong

    def _place(self, record: Record, entry: Entry) -> str | None:
        """Whether an entry of this kind may stand here: the first one of a volume, or another."""
        standing, first = self.standing, self._first
        self._first = False
        if (entry.kind is Kind.LEDGER_CREATED) != (record.seq == 1):
            return f"a ledger begins with LedgerCreated and holds no other; this is {entry.kind.value}"
        if (entry.kind is Kind.BOOK_CARRIED) != (first and record.seq > 1):
            return f"each later volume begins with BookCarried and holds no other; this is {entry.kind.value}"
        if standing is None:
            return carries_itself(entry, record.seq, record.prev) if entry.kind is Kind.BOOK_CARRIED else None
        if first:
            wrong = carries(standing, entry)
            standing.first_seq = record.seq
            return wrong
        if standing.last.kind == SEAL:
            return f"entry {standing.last.seq} has sealed this volume: nothing follows it here"
        return wrong_about_itself(standing.book, entry)

    def _note_root(self, standing: Standing) -> None:
        if standing.tree.size in self.asked:
            self._roots[standing.tree.size] = standing.tree.root()


def audited_book(records: Iterable[Record]) -> Book:
    """The fold of a whole ledger in which every entry holds; what a writer starts from.

    Raises:
        LedgerError: an entry does not hold; it is named, and nothing may be written behind it.
    """
    audit = Audit()
    try:
        for record in records:
            if record.kind == Kind.BOOK_CARRIED:
                audit.begin_volume()
            reason = audit.take(record)
            if reason is not None:
                raise LedgerError(
                    f"entry {record.seq} does not hold: {reason}. Nothing is written behind it:"
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
    named, first = volume.first_seq_of(file), audit.next_seq
    try:
        with closing(sqlite.reader(file)) as db:
            shape = volume.shape_findings(db)
            bad_row = _first_bad_row(volume.rows(db), audit)
            first = audit.first_seq if audit.entries and first == 1 else first
            if bad_row is None and not shape and named not in {None, first}:
                return FirstBad(None, f"its name says that it begins with entry {named}, and it begins with {first}")
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
                return FirstBad(audit.next_seq, reason)
    except volume.BadRowError as cause:
        return FirstBad(max(cause.seq, audit.next_seq), cause.reason)  # an unread first row has no number of its own
    except sqlite.Error as cause:
        return FirstBad(None, _words(cause))
    return None


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        files = volume.readable_volumes(path)
        later = volume.later_volumes(path, volume.current_volume(path)) if files else []
        later = [one for one in later if one in files]
        yield from files
        if later and (len(later) > 1 or sum(1 for _ in read_records(later[0])) > 1):
            raise LedgerError(f"{path / volume.LINK} does not lead to the newest volume, {files[-1].name}")


def _words(cause: BaseException) -> str:
    return str(cause) if isinstance(cause, MeterdError) else sqlite.describe(cause)
