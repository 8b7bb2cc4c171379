"""Entries for the tests of the ledger, drawn by hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

from meterd.ledger.chain import GENESIS, seal
from meterd.ledger.record import Draft, Record

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
perhaps = st.none() | text
int64 = st.integers(-(2**63), 2**63 - 1)
drafts = st.builds(
    Draft,
    at_utc=text,
    boot=text,
    mono_ns=int64,
    kind=text,
    table_id=perhaps,
    link_id=perhaps,
    site=text,
    actor=text,
    device=perhaps,
    event_id=perhaps,
    body=text,
    postings=st.lists(st.tuples(text, int64), max_size=4).map(tuple),
)

PLAIN = Draft(
    at_utc="2026-12-01T13:00:00.000000Z",
    boot="boot-1",
    mono_ns=1,
    kind="Locked",
    table_id="T1",
    link_id="nexus",
    site="riverside",
    actor="dealer@T1",
    device="pit-1/40",
    event_id="pit-1/40/di7:1:1",
    body="{}",
    postings=(("drop/T1", -100), ("meter/nexus/mega", 100)),
)


def chain_of(*links: Draft) -> list[Record]:
    """These drafts in a chain that begins at entry 1."""
    records: list[Record] = []
    for draft in links:
        records.append(seal(draft, len(records) + 1, records[-1].hash if records else GENESIS))
    return records
