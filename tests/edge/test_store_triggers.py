# ruff: noqa: S608 - the statements of this file are an attacker's
from __future__ import annotations

import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from store_rows import new_ledger

from meterd.edge.store import read_records
from meterd.ledger.verify import check_chain

COLUMNS = "(seq, at_utc, boot, mono_ns, kind, site, actor, event_id, body, prev, hash)"


def row(seq: object, event: str = "NULL") -> str:
    return f"({seq}, 't', 'b', 1, 'k', 's', 'a', {event}, '{{}}', zeroblob(32), zeroblob(32))"


def entry(seq: object, event: str = "NULL", verb: str = "INSERT INTO", rest: str = "") -> str:
    return f"{verb} entry {COLUMNS} VALUES {row(seq, event)} {rest}"


COUNTED = "'pit-1/40/di7:1:2'"

#: Statements that would change, displace, add out of order or take away something of a ledger of three entries.
FORBIDDEN = [
    "UPDATE entry SET body = 'x' WHERE seq = 2",
    "UPDATE entry SET seq = 9 WHERE seq = 3",
    "UPDATE OR REPLACE entry SET seq = 1 WHERE seq = 3",
    "UPDATE entry SET rowid = 9 WHERE seq = 3",
    "DELETE FROM entry",
    "DELETE FROM entry WHERE seq = 3",
    entry(2, verb="REPLACE INTO"),
    entry(3, verb="INSERT OR REPLACE INTO"),
    entry(4, COUNTED, verb="REPLACE INTO"),
    entry(3, verb="INSERT OR IGNORE INTO"),
    entry(5),
    entry(0),
    entry(-1),
    entry("NULL"),
    entry(3, rest="ON CONFLICT (seq) DO UPDATE SET body = 'x'"),
    entry(4, COUNTED, rest="ON CONFLICT (event_id) DO UPDATE SET body = 'x'"),
    entry(4, rest=f", {row(6)}"),
    entry(2).replace("(seq,", "(rowid,"),
    "UPDATE posting SET microcents = 0",
    "UPDATE posting SET rowid = 99 WHERE rowid = 1",
    "UPDATE OR REPLACE posting SET seq = 1, n = 2 WHERE seq = 1 AND n = 1",
    "DELETE FROM posting WHERE seq = 1",
    "INSERT INTO posting VALUES (3, 4, 'drop/T1', 5)",
    "INSERT INTO posting VALUES (2, 4, 'drop/T1', 5)",
    "INSERT INTO posting VALUES (4, 2, 'drop/T1', 5)",
    "INSERT INTO posting VALUES (4, 0, 'drop/T1', 5)",
    "INSERT INTO posting VALUES (4, 1, 'drop/T1', 5), (4, 3, 'drop/T1', 5)",
    "INSERT INTO posting VALUES (5, 1, 'drop/T1', 5), (4, 1, 'drop/T1', 5)",
    "INSERT OR REPLACE INTO posting VALUES (3, 1, 'drop/T1', 5)",
    "INSERT OR IGNORE INTO posting VALUES (3, 1, 'drop/T1', 5)",
    "REPLACE INTO posting (rowid, seq, n, account, microcents) VALUES (1, 4, 1, 'drop/T1', 5)",
    "REPLACE INTO posting (rowid, seq, n, account, microcents) VALUES (99, 4, 1, 'drop/T1', 5)",
    "INSERT INTO posting VALUES (1, 1, 'drop/T1', 5) ON CONFLICT (seq, n) DO UPDATE SET microcents = 5",
]


@pytest.fixture(scope="module")
def volume(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return new_ledger(tmp_path_factory.mktemp("triggers"), 3)


@pytest.mark.parametrize("recursive", ["OFF", "ON"])
@pytest.mark.parametrize("statement", FORBIDDEN)
def test_any_program_is_stopped(volume: Path, statement: str, recursive: str) -> None:
    """A plain connection, with SQLite's defaults and without, changes nothing."""
    before = list(read_records(volume))
    with closing(sqlite3.connect(volume, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA recursive_triggers = {recursive}")
        with pytest.raises(sqlite3.IntegrityError, match=r"an entry|a posting|an event"):
            connection.execute(statement)
    assert before == list(read_records(volume))


@pytest.mark.peer
@pytest.mark.parametrize("statement", FORBIDDEN)
def test_the_sqlite3_shell_is_stopped(volume: Path, statement: str) -> None:
    """The shell an administrator would use, as Debian ships it, changes nothing either."""
    before = list(read_records(volume))
    shell = subprocess.run(["sqlite3", str(volume), statement], capture_output=True, text=True, check=False, timeout=20)
    assert 0 != shell.returncode
    assert "an entry" in shell.stderr or "a posting" in shell.stderr
    assert before == list(read_records(volume))
    assert check_chain(read_records(volume)).first_bad is None


@pytest.mark.parametrize(
    "values",
    [
        (4, "t", "b", 1.5, "k", "s", "a", None, "{}", b"", b""),
        (4, "t", "b", 1, "k", "s", None, None, "{}", b"", b""),
        (4, "t", "b", 1, "k", "s", "a", None, b"{}", b"", b""),
        (4, "t", "b", 1, "k", "s", "a", None, "{}", "text", b""),
    ],
)
def test_columns_hold_their_types(volume: Path, values: tuple[object, ...]) -> None:
    """A fraction, nothing, or bytes where text belongs: the table itself refuses."""
    with closing(sqlite3.connect(volume, isolation_level=None)) as connection, pytest.raises(sqlite3.IntegrityError):
        connection.execute(f"INSERT INTO entry {COLUMNS} VALUES (?,?,?,?,?,?,?,?,?,?,?)", values)


def test_the_order_that_is_allowed(tmp_path: Path) -> None:
    """Postings first, numbered from 1, then their entry: what the store does, and several entries at once."""
    path = new_ledger(tmp_path, 3)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(
            "INSERT INTO posting VALUES (4, 1, 'a', 1), (4, 2, 'b', -1), (6, 1, 'a', 1), (6, 2, 'b', -1)"
        )
        for seq in (4, 5, 6):
            connection.execute(entry(seq))
    assert 6 == sum(1 for _ in read_records(path))


def test_a_later_volume_begins_where_the_one_before_ended(tmp_path: Path) -> None:
    """An empty file takes any first number; from then on there is no gap."""
    path = new_ledger(tmp_path)
    with closing(sqlite3.connect(path)) as connection:
        schema = [sql for (sql,) in connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")]
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for sql in schema:
            connection.execute(sql)
        connection.execute(entry(500))
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(entry(502))
        connection.execute(entry(501))
