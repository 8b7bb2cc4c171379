"""One row of the ledger with its postings, as it is hashed and stored.

``Draft`` is a record before its place in the chain is known; ``Record`` has its seq, prev and hash.
"""

from __future__ import annotations

from typing import NamedTuple


class Draft(NamedTuple):
    """What the committer hands to the chain. ``body`` is canonical JSON; ``at_utc`` ISO-8601 Z with microseconds."""

    at_utc: str
    boot: str
    mono_ns: int
    kind: str
    table_id: str | None
    link_id: str | None
    site: str
    actor: str
    device: str | None
    event_id: str | None
    body: str
    postings: tuple[tuple[str, int], ...]


class Record(NamedTuple):
    """A draft in its place. ``prev`` and ``hash`` are 32 bytes."""

    seq: int
    at_utc: str
    boot: str
    mono_ns: int
    kind: str
    table_id: str | None
    link_id: str | None
    site: str
    actor: str
    device: str | None
    event_id: str | None
    body: str
    prev: bytes
    hash: bytes
    postings: tuple[tuple[str, int], ...]
