from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ledger_drafts import PLAIN, chain_of, drafts, int64, perhaps, text

from meterd.errors import MisuseError
from meterd.ledger.chain import GENESIS, entry_hash, preimage, seal
from meterd.ledger.record import Draft, Record
from meterd.ledger.verify import check_chain, check_record

prevs = st.binary(min_size=32, max_size=32)


def _read_back(data: bytes) -> list[bytes | None]:
    """Netstrings, read by code that shares nothing with the writer."""
    fields: list[bytes | None] = []
    at = 0
    while at < len(data):
        if data[at : at + 2] == b"-,":
            fields.append(None)
            at += 2
            continue
        colon = data.index(b":", at)
        end = colon + 1 + int(data[at:colon])
        fields.append(data[colon + 1 : end])
        assert b"," == data[end : end + 1]
        at = end + 1
    return fields


@given(drafts, st.integers(1, 2**62), prevs)
def test_what_is_hashed_can_be_read_back(draft: Draft, seq: int, prev: bytes) -> None:
    """The hashed bytes say every column and posting and nothing is ambiguous: a stranger reads the same values."""
    record = seal(draft, seq, prev)

    def field(value: str | int | bytes | None) -> bytes | None:
        return value if value is None or isinstance(value, bytes) else str(value).encode()

    expected = [b"meterd-entry-v1", *(field(value) for value in record[:13])]
    for account, microcents in record.postings:
        expected += [field(account), field(microcents)]
    assert expected == _read_back(preimage(record))
    assert hashlib.sha256(preimage(record)).digest() == record.hash


replacements: dict[str, st.SearchStrategy[Any]] = {
    "at_utc": text,
    "boot": text,
    "mono_ns": int64,
    "kind": text,
    "table_id": perhaps,
    "link_id": perhaps,
    "site": text,
    "actor": text,
    "device": perhaps,
    "event_id": perhaps,
    "body": text,
    "prev": prevs,
    "hash": prevs,
}


@given(st.lists(drafts, min_size=1, max_size=4), st.data())
def test_each_change_of_one_field_is_named(links: list[Draft], data: st.DataObject) -> None:
    """Whatever single column of whatever entry is changed, the check names an entry, that one or the one after it."""
    records = chain_of(*links)
    at = data.draw(st.integers(0, len(records) - 1))
    name = data.draw(st.sampled_from(sorted(replacements)))
    value = data.draw(replacements[name].filter(lambda v: v != getattr(records[at], name)))
    records[at] = records[at]._replace(**{name: value})
    report = check_chain(records)
    assert report.first_bad is not None
    assert at + 1 == report.first_bad.seq
    assert at == report.entries


@given(st.lists(drafts.filter(lambda d: d.postings), min_size=1, max_size=3), st.data())
def test_each_change_of_a_posting_is_named(links: list[Draft], data: st.DataObject) -> None:
    """A posting changed, left out, added or moved: the check names its entry."""
    records = chain_of(*links)
    at = data.draw(st.integers(0, len(records) - 1))
    old = records[at].postings
    n = data.draw(st.integers(0, len(old) - 1))
    new = data.draw(
        st.one_of(
            int64.map(lambda amount: (*old[:n], (old[n][0], amount), *old[n + 1 :])),
            text.map(lambda account: (*old[:n], (account, old[n][1]), *old[n + 1 :])),
            st.just((*old[:n], *old[n + 1 :])),
            st.tuples(text, int64).map(lambda posting: (*old[:n], posting, *old[n:])),
            st.just(old[::-1]),
        ).filter(lambda postings: postings != old)
    )
    records[at] = records[at]._replace(postings=new)
    report = check_chain(records)
    assert report.first_bad is not None
    assert at + 1 == report.first_bad.seq


@pytest.mark.parametrize("column", ["table_id", "link_id", "device", "event_id"])
def test_nothing_is_not_the_empty_text(column: str) -> None:
    """A column without a value and one with an empty text have different hashes."""
    empty = seal(PLAIN._replace(**{column: ""}), 1, GENESIS)
    none = seal(PLAIN._replace(**{column: None}), 1, GENESIS)
    assert empty.hash != none.hash


def test_a_value_cannot_move_to_the_next_column() -> None:
    """The same characters divided otherwise between two columns have another hash."""
    assert entry_hash(chain_of(PLAIN._replace(site="ab", actor="c"))[0]) != entry_hash(
        chain_of(PLAIN._replace(site="a", actor="bc"))[0]
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda r: [r[0], r[2]], "entry 2 is missing"),
        (lambda r: [r[0], r[2], r[1]], "entry 2 is missing"),
        (lambda r: [r[0], r[0], r[1], r[2]], "entry 2 is missing"),
        (lambda r: r[1:], "entry 1 is missing"),
        (lambda r: [r[0], chain_of(PLAIN, PLAIN._replace(body="[]"))[1], r[2]], "prev is not the hash of entry 2"),
    ],
)
def test_rows_missing_moved_doubled_or_forged(change: Any, reason: str) -> None:
    """A row left out, moved, written twice, or replaced by one with a right hash of its own is named."""
    records = chain_of(*(PLAIN._replace(mono_ns=n) for n in (1, 2, 3)))
    report = check_chain(change(records))
    assert report.first_bad is not None
    assert reason in report.first_bad.reason


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("seq", True),
        ("seq", "1"),
        ("mono_ns", 1.0),
        ("mono_ns", None),
        ("body", b"{}"),
        ("table_id", 7),
        ("prev", "0" * 32),
        ("hash", b"short"),
        ("hash", None),
        ("postings", ((None, 5),)),
        ("postings", (("drop/T1", 5.0),)),
        ("postings", (("drop/T1", "5"),)),
        ("body", "\ud800"),
    ],
)
def test_wrong_types_are_named_and_raise_nothing(column: str, value: object) -> None:
    """Whatever type a forged file holds, the answer is a reason and no exception."""
    record = chain_of(PLAIN)[0]._replace(**{column: value})
    assert check_record(record, 1, GENESIS) is not None


@pytest.mark.parametrize(
    "draft",
    [
        PLAIN._replace(mono_ns=1.0),  # type: ignore[arg-type]
        PLAIN._replace(mono_ns=True),
        PLAIN._replace(postings=(("drop/T1", 1.5),)),  # type: ignore[arg-type]
        PLAIN._replace(postings=(("drop/T1", 2**63),)),
        PLAIN._replace(postings=((None, 1),)),  # type: ignore[arg-type]
        PLAIN._replace(site="\ud800"),
    ],
)
def test_what_a_column_would_store_as_something_else_is_never_sealed(draft: Draft) -> None:
    """SQLite takes 12.0 and '12' for 12: such a value is refused before it gets a hash."""
    with pytest.raises(MisuseError):
        seal(draft, 1, GENESIS)


def test_an_untouched_chain_holds() -> None:
    """Entries sealed one behind the other hold, from the start and from any place in the middle."""
    records = chain_of(*(PLAIN._replace(mono_ns=n) for n in range(5)))
    assert (5, records[-1].hash, None) == check_chain(records)
    assert (3, records[-1].hash, None) == check_chain(records[2:], 3, records[1].hash)
    assert (0, GENESIS, None) == check_chain([])


def test_the_written_example_is_true() -> None:
    """schema/README.md shows one entry, the bytes hashed and the hash; they are what the code does."""
    page = (Path(__file__).parents[2] / "schema" / "README.md").read_text(encoding="utf-8")
    example = re.search(r"```text\n(15:meterd-entry-v1,.*?)```", page, re.DOTALL)
    digest = re.search(r"`([0-9a-f]{64})`", page)
    assert example is not None
    assert digest is not None
    shown = example[1].replace("\n", "").encode().replace(b"(32 zero bytes)", bytes(32))
    record = Record(
        1,
        "2026-12-01T13:00:00.000000Z",
        "0d6c0c3e-5bb0-4c4e-9d8d-2f3b8c1a7e55",
        81234567890,
        "Locked",
        "T1",
        "nexus",
        "riverside",
        "dealer@T1",
        "pit-1/40",
        "pit-1/40/di7:3:12",
        '{"note":"3 €","seats":[1,2]}',
        GENESIS,
        b"",
        (("drop/T1", -200000000), ("house/hold/T1", 170000000), ("meter/nexus/mega", 30000000)),
    )
    assert shown == preimage(record)
    assert digest[1] == entry_hash(record).hex()
