"""Checks a chain of entries: numbers without a gap, types, each hash, each link to the hash before.

Names the first row that does not hold and says why. Knows no money and opens nothing: pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from meterd.ledger.chain import GENESIS, HASH_BYTES, entry_hash
from meterd.ledger.record import Record

_TEXT: Final = (str,)
_TEXT_OR_NONE: Final = (str, type(None))
_TYPES: Final[tuple[tuple[str, tuple[type, ...]], ...]] = (
    ("seq", (int,)),
    ("at_utc", _TEXT),
    ("boot", _TEXT),
    ("mono_ns", (int,)),
    ("kind", _TEXT),
    ("table_id", _TEXT_OR_NONE),
    ("link_id", _TEXT_OR_NONE),
    ("site", _TEXT),
    ("actor", _TEXT),
    ("device", _TEXT_OR_NONE),
    ("event_id", _TEXT_OR_NONE),
    ("body", _TEXT),
    ("prev", (bytes,)),
    ("hash", (bytes,)),
)


class FirstBad(NamedTuple):
    """The first row that does not hold. ``seq`` is None where the file itself is at fault."""

    seq: int | None
    reason: str


class ChainReport(NamedTuple):
    """``entries`` and ``head`` count and close what held before ``first_bad``."""

    entries: int
    head: bytes
    first_bad: FirstBad | None


def check_record(record: Record, seq: int, prev: bytes) -> str | None:
    """Why ``record`` is not entry ``seq`` behind the hash ``prev``; None where it is."""
    if (wrong := _wrong_type(record)) is not None:
        return wrong
    if record.seq != seq:
        return f"entry {seq} is missing or not in its place: entry {record.seq} stands there"
    if record.prev != prev:
        return f"prev is not the hash of entry {seq - 1}: one of the two was changed after it was written"
    try:
        expected = entry_hash(record)
    except ValueError as cause:
        return f"it cannot be hashed: {cause}"
    if record.hash != expected:
        return "the hash does not match: the entry or its postings were changed after it was written"
    return None


def check_chain(records: Iterable[Record], seq: int = 1, prev: bytes = GENESIS) -> ChainReport:
    """Check entries that must begin with number ``seq`` behind the hash ``prev``."""
    entries, head = 0, prev
    for record in records:
        reason = check_record(record, seq + entries, head)
        if reason is not None:
            return ChainReport(entries, head, FirstBad(seq + entries, reason))
        entries, head = entries + 1, record.hash
    return ChainReport(entries, head, None)


def _wrong_type(record: Record) -> str | None:
    for (name, types), value in zip(_TYPES, record, strict=False):
        if type(value) not in types:
            return f"{name} is of the wrong type ({type(value).__name__})"
    for account, microcents in record.postings:
        if type(account) is not str or type(microcents) is not int:
            return f"a posting is of the wrong type ({type(account).__name__}, {type(microcents).__name__})"
    if len(record.hash) != HASH_BYTES or len(record.prev) != HASH_BYTES:
        return f"prev and hash must have {HASH_BYTES} bytes"
    return None
