"""The hash chain: each entry's hash covers all its columns, its postings and the hash before it.

The bytes that are hashed are netstrings, ``<length>:<bytes>,`` with the length in decimal; a column without a value
is ``-,``. ``schema/README.md`` says the same with an example. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Final

from meterd.errors import MisuseError
from meterd.ledger.record import Draft, Record

#: ``prev`` of the very first entry.
GENESIS: Final = bytes(32)

HASH_BYTES: Final = 32
INT64_MIN: Final = -(2**63)
INT64_MAX: Final = 2**63 - 1

_TAG: Final = b"15:meterd-entry-v1,"


def entry_hash(record: Record) -> bytes:
    """SHA-256 over everything in ``record`` but its ``hash``.

    Raises:
        ValueError: a text that has no UTF-8 form.
    """
    return sha256(preimage(record)).digest()


def preimage(record: Record) -> bytes:
    """The bytes that :func:`entry_hash` hashes.

    Raises:
        ValueError: a text that has no UTF-8 form.
    """
    return _preimage(record[:13], record.postings)


def _preimage(columns: Iterable[str | int | bytes | None], postings: Iterable[tuple[str, int]]) -> bytes:
    """The tag, the columns from ``seq`` to ``prev`` in order, then account and amount of each posting."""
    parts = [_TAG]
    for value in columns:
        if value is None:
            parts.append(b"-,")
            continue
        field = value if isinstance(value, bytes) else str(value).encode()
        parts.append(b"%d:%b," % (len(field), field))
    for account, microcents in postings:
        name = account.encode()
        amount = b"%d" % microcents
        parts.append(b"%d:%b,%d:%b," % (len(name), name, len(amount), amount))
    return b"".join(parts)


def seal(draft: Draft, seq: int, prev: bytes) -> Record:
    """Put a draft in its place behind the entry whose hash is ``prev``.

    Raises:
        MisuseError: a value that the ledger's columns would store as something else.
    """
    for number in (seq, draft.mono_ns, *[microcents for _, microcents in draft.postings]):
        if type(number) is not int or not INT64_MIN <= number <= INT64_MAX:
            raise MisuseError(f"entry {seq}: {number!r} is not a whole number of 64 bits")
    columns = (seq, *draft[:11], prev)
    try:
        digest = sha256(_preimage(columns, draft.postings)).digest()
    except (ValueError, AttributeError, TypeError) as cause:
        raise MisuseError(f"entry {seq} cannot be hashed: {cause}") from cause
    return Record(*columns, digest, draft.postings)
