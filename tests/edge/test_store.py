from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from store_rows import draft, following, new_ledger

from meterd.edge import store as store_module
from meterd.edge import volume
from meterd.edge.store import Store, read_records
from meterd.errors import InvariantBroken, LedgerError, MisuseError
from meterd.ledger.chain import seal
from meterd.ledger.verify import check_chain


def test_what_is_committed_is_read_back(tmp_path: Path) -> None:
    """Entries and postings come back from the disk as they were given, in this process and in another's view."""
    Store.create(tmp_path, [draft(1), draft(2)])
    store = Store.open(tmp_path)
    written = [record for size in (1, 3, 10) for record in _committed(store, size)]
    assert written == list(store.records())[2:]
    assert written == list(read_records(tmp_path))[2:]
    store.close()
    again = Store.open(tmp_path)
    assert (16, written[-1].hash) == (again.seq, again.head)
    assert (16, again.head, None) == check_chain(again.records())
    again.close()


def _committed(store: Store, count: int) -> list[object]:
    records = following(store, count)
    store.commit(records)
    return list(records)


@pytest.mark.parametrize("count", [0, 1, 31, 32, 33, 64, 100])
def test_entries_of_any_number_of_postings(tmp_path: Path, count: int) -> None:
    """None, few or very many postings: all are there, in order."""
    postings = tuple((f"account/{n}", n) for n in range(count))
    Store.create(tmp_path, [draft(1)._replace(postings=postings), draft(2)])
    store = Store.open(tmp_path)
    store.commit([seal(draft(3)._replace(postings=postings), 3, store.head)])
    assert [postings, draft(2).postings, postings] == [record.postings for record in store.records()]
    store.close()


def test_the_files_of_a_new_ledger(tmp_path: Path) -> None:
    """A folder holds the volume named after its first entry, a relative link to it, and the lock."""
    new_ledger(tmp_path / "deep" / "folder")
    folder = tmp_path / "deep" / "folder"
    assert ["ledger-1.db", "ledger.db", "lock"] == sorted(path.name for path in folder.iterdir())
    assert "ledger-1.db" == str((folder / "ledger.db").readlink())
    store = Store.open(folder)
    store.commit(following(store, 1))
    assert (folder / "ledger-1.db-wal").exists()
    store.close()
    assert not (folder / "ledger-1.db-wal").exists()


@pytest.mark.parametrize("left", ["ledger-1.db", "ledger.db", "ledger-300.db", "checkpoint.txt"])
def test_a_new_ledger_is_made_only_where_none_was(tmp_path: Path, left: str) -> None:
    """Where anything of a ledger lies, none is created and nothing is touched."""
    (tmp_path / left).write_text("something")
    with pytest.raises(LedgerError, match="not empty of ledgers"):
        Store.create(tmp_path, [draft(1)])
    assert "something" == (tmp_path / left).read_text()


def test_no_ledger_none_is_made(tmp_path: Path) -> None:
    """Opening never creates: neither a file nor a folder."""
    for folder in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(LedgerError, match=r"no ledger in .*: restore one, or `meterd ledger create`"):
            Store.open(folder)
    assert [] == list(tmp_path.iterdir())


def test_second_writer_is_told_who_holds_it(tmp_path: Path) -> None:
    """A second opener is refused and hears the process id of the first; once that is gone, it may."""
    new_ledger(tmp_path)
    store = Store.open(tmp_path)
    with pytest.raises(LedgerError, match=rf"held by process {os.getpid()} \(.+\).*systemctl stop meterd"):
        Store.open(tmp_path)
    script = f"from pathlib import Path; from meterd.edge.store import Store; Store.open(Path({str(tmp_path)!r}))"
    child = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=20)
    assert f"held by process {os.getpid()}" in child.stderr
    store.commit(following(store, 1))
    store.close()
    Store.open(tmp_path).close()


def _broken(path: Path, *statements: str) -> None:
    """Change a ledger file as somebody who is root could."""
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        (["PRAGMA application_id = 7"], "no meterd ledger"),
        (["PRAGMA user_version = 3"], "format 3; this meterd reads formats 1 to 2"),
        (["DROP TRIGGER entry_no_update"], "trigger entry_no_update is missing"),
        (["DROP TRIGGER posting_continues"], "trigger posting_continues is missing"),
        (
            [
                "DROP TRIGGER entry_no_delete",
                "CREATE TRIGGER entry_no_delete BEFORE DELETE ON entry BEGIN SELECT 1; END",
            ],
            "trigger entry_no_delete was changed",
        ),
        (["CREATE TABLE extra (x)"], "table extra is none of ours"),
        (["CREATE TRIGGER more AFTER INSERT ON entry BEGIN SELECT 1; END"], "trigger more is none of ours"),
        (["DROP TRIGGER entry_no_update", "DROP TABLE posting"], "table posting is missing"),
    ],
)
def test_a_file_of_another_shape_is_refused(tmp_path: Path, statements: list[str], words: str) -> None:
    """A foreign file, another format, a dropped or rewritten trigger, a table too many: refused by name."""
    _broken(new_ledger(tmp_path, 3), *statements)
    with pytest.raises(LedgerError, match=words):
        Store.open(tmp_path)


def _with_trigger_away(path: Path, trigger: str, *statements: str) -> None:
    """Change rows and put the trigger back, word for word."""
    connection = sqlite3.connect(path)
    (sql,) = connection.execute("SELECT sql FROM sqlite_schema WHERE name = ?", [trigger]).fetchone()
    connection.close()
    _broken(path, f"DROP TRIGGER {trigger}", *statements, sql)


@pytest.mark.parametrize(
    ("trigger", "statement", "words"),
    [
        ("entry_no_update", "UPDATE entry SET body = '{}' WHERE seq = 4", "entry 4: the hash does not match"),
        ("posting_no_update", "UPDATE posting SET microcents = 1 WHERE seq = 5 AND n = 1", "entry 5: the hash"),
        ("posting_no_delete", "DELETE FROM posting WHERE seq = 5", "entry 5: the hash"),
        ("posting_no_delete", "DELETE FROM posting WHERE seq = 5 AND n = 1", "entry 5: its postings are not numbered"),
        ("entry_no_delete", "DELETE FROM entry WHERE seq = 3", "entry 3: it has postings, but the entry itself"),
        ("entry_no_delete", "DELETE FROM entry WHERE seq = 6", "entry 6: it has postings, but the entry itself"),
        ("entry_no_delete", "DELETE FROM entry", "holds no entry"),
    ],
)
def test_a_damaged_tail_is_refused(tmp_path: Path, trigger: str, statement: str, words: str) -> None:
    """A changed, shortened or lost entry among the last ones: the writer does not start."""
    _with_trigger_away(new_ledger(tmp_path, 6), trigger, statement)
    with pytest.raises(LedgerError, match=words):
        Store.open(tmp_path)


def test_only_the_tail_is_hashed_at_opening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change far back opens (the whole chain is for verify), one within the last entries does not."""
    monkeypatch.setattr(store_module, "TAIL", 1000)
    path = new_ledger(tmp_path, 1100)
    _with_trigger_away(path, "entry_no_update", "UPDATE entry SET body = '{}' WHERE seq = 100")
    Store.open(tmp_path).close()
    _with_trigger_away(path, "entry_no_update", "UPDATE entry SET body = '{}' WHERE seq = 101")
    with pytest.raises(LedgerError, match="entry 101: the hash does not match"):
        Store.open(tmp_path)


@pytest.mark.parametrize("content", [b"", b"not a database at all, but long enough to be looked at" * 20, bytes(4096)])
def test_a_file_that_is_no_database_is_refused(tmp_path: Path, content: bytes) -> None:
    """Nothing, text or zeros where the volume should be: an error of the ledger, and the file stays as it is."""
    path = new_ledger(tmp_path)
    path.write_bytes(content)
    with pytest.raises(LedgerError):
        Store.open(tmp_path)
    assert content == path.read_bytes()


def test_a_cut_file_is_refused(tmp_path: Path) -> None:
    """Half of the file's pages gone: refused."""
    path = new_ledger(tmp_path, 200)
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(LedgerError):
        Store.open(tmp_path)


def test_a_link_to_elsewhere_is_refused(tmp_path: Path) -> None:
    """ledger.db must lead to a volume in its own folder."""
    new_ledger(tmp_path / "a")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "ledger.db").symlink_to(tmp_path / "a" / "ledger-1.db")
    with pytest.raises(LedgerError, match=r"must be a symbolic link to a ledger-<number>\.db beside it"):
        Store.open(tmp_path / "b")
    (tmp_path / "a" / "ledger.db").unlink()
    with pytest.raises(LedgerError, match=r"leads nowhere, but ledger-1\.db is there"):
        Store.open(tmp_path / "a")


def test_records_that_do_not_continue_are_a_bug_and_written_nowhere(tmp_path: Path) -> None:
    """A gap, a wrong prev, nothing at all: refused before the disk is touched, and the store lives on."""
    new_ledger(tmp_path)
    store = Store.open(tmp_path)
    good = following(store, 3)
    for records in ([], good[1:], [good[0], good[2]], [seal(draft(2), 2, bytes(32))]):
        with pytest.raises(MisuseError):
            store.commit(records)
    store.commit(good)
    assert 4 == store.seq
    store.close()


def test_an_event_counted_twice_breaks_an_invariant(tmp_path: Path) -> None:
    """The unique event is a second lock: if it fires, nothing is written and the store takes nothing more."""
    new_ledger(tmp_path)
    store = Store.open(tmp_path)
    twice = draft(2)._replace(event_id=draft(1).event_id)
    with pytest.raises(InvariantBroken, match="an event counts once"):
        store.commit([seal(twice, 2, store.head)])
    with pytest.raises(LedgerError, match="takes nothing more"):
        store.commit(following(store, 1))
    store.close()
    again = Store.open(tmp_path)
    assert 1 == again.seq
    again.close()


def test_a_foreign_writer_is_noticed(tmp_path: Path) -> None:
    """Somebody who writes past the lock: the next commit fails, nothing is lost or doubled."""
    path = new_ledger(tmp_path)
    store = Store.open(tmp_path)
    record = following(store, 1)[0]._replace(event_id=None, postings=())
    other = sqlite3.connect(path)
    other.execute("INSERT INTO entry VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)", record[:14])
    other.commit()
    with pytest.raises((InvariantBroken, LedgerError), match=r"a posting precedes|another program wrote"):
        store.commit(following(store, 1))
    other.close()
    store.close()


def test_a_foreign_lock_is_an_error_not_a_wait(tmp_path: Path) -> None:
    """Somebody who holds SQLite's own write lock: the commit gives up, and says the outcome is not known."""
    path = new_ledger(tmp_path)
    store = Store.open(tmp_path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerError, match="outcome is unknown"):
        store.commit(following(store, 1))
    other.execute("ROLLBACK")
    with pytest.raises(LedgerError, match="takes nothing more"):
        store.commit(following(store, 1))
    other.close()
    store.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entry SET body = ''",
        "DELETE FROM posting",
        "DROP TABLE posting",
        "DROP TRIGGER entry_no_update",
        "ALTER TABLE entry ADD COLUMN more TEXT",
        "ATTACH DATABASE ':memory:' AS other",
        "CREATE TABLE other (x)",
        "PRAGMA writable_schema = ON",
        "PRAGMA synchronous = OFF",
        "PRAGMA journal_mode = DELETE",
        "INSERT INTO sqlite_schema VALUES (1, 2, 3, 4, 5)",
        "REINDEX",
    ],
)
def test_our_own_connection_can_only_add_rows(tmp_path: Path, statement: str) -> None:
    """What the writer's connection must never do, SQLite does not let it do."""
    new_ledger(tmp_path)
    store = Store.open(tmp_path)
    with pytest.raises(sqlite3.DatabaseError, match=r"not authorized|prohibited"):
        store._connection.execute(statement)
    store.close()


def test_durability_settings(tmp_path: Path) -> None:
    """WAL and FULL, on the connection that commits."""
    new_ledger(tmp_path)
    store = Store.open(tmp_path)
    assert ("wal",) == store._connection.execute("PRAGMA journal_mode").fetchone()
    assert (2,) == store._connection.execute("PRAGMA synchronous").fetchone()
    store.close()


def test_a_closed_store_takes_nothing(tmp_path: Path) -> None:
    """After close every commit is refused; closing twice is harmless."""
    new_ledger(tmp_path)
    store = Store.open(tmp_path)
    records = following(store, 1)
    store.close()
    store.close()
    with pytest.raises(LedgerError, match="it was closed"):
        store.commit(records)


_READ = """
import os, sys
from pathlib import Path
from meterd.edge.store import read_records
if os.getuid() == 0:
    os.setgid(65534); os.setuid(65534)
print(sum(1 for _ in read_records(Path(sys.argv[1]))))
"""


def _read_as_stranger(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _READ, str(folder)], capture_output=True, text=True, check=False, timeout=20
    )


@pytest.fixture
def shared() -> Iterator[Path]:
    """A ledger of five entries that another user may read and not write, outside pytest's own folders (0700)."""
    with tempfile.TemporaryDirectory(prefix="meterd-shared-") as outer:
        Path(outer).chmod(0o755)
        folder = Path(outer) / "ledger"
        new_ledger(folder, 5)
        folder.chmod(0o555)
        yield folder
        folder.chmod(0o755)


def test_a_reader_without_write_permission(shared: Path) -> None:
    """Reading works before the writer, beside it and after it, for a user who may write nothing there."""
    before = _read_as_stranger(shared)
    assert "5\n" == before.stdout, before.stderr
    shared.chmod(0o755)
    store = Store.open(shared)
    store.commit(following(store, 2))
    beside = _read_as_stranger(shared)
    assert "7\n" == beside.stdout, beside.stderr
    store.close()
    shared.chmod(0o555)
    after = _read_as_stranger(shared)
    assert "7\n" == after.stdout, after.stderr
    shared.chmod(0o755)


def test_a_reader_after_a_crash(shared: Path) -> None:
    """A writer was killed: the reader sees all that was committed, or is told what to do; never an old state."""
    shared.chmod(0o755)
    script = Path(__file__).with_name("store_rows.py")
    subprocess.run([sys.executable, str(script), str(shared), "FULL", "4", "2"], check=True, timeout=20, stdout=-3)
    assert (shared / "ledger-1.db-wal").exists()
    shared.chmod(0o555)
    seen = _read_as_stranger(shared)
    assert "9\n" == seen.stdout, seen.stderr
    shared.chmod(0o755)
    (shared / "ledger-1.db-shm").unlink()
    shared.chmod(0o555)
    seen = _read_as_stranger(shared)
    assert "9\n" == seen.stdout or "copy both to a folder of your own" in seen.stderr
    shared.chmod(0o755)


def test_a_reader_who_may_not_see_the_newest(shared: Path) -> None:
    """A reader who cannot get at what the running writer has in its WAL is told so and gets no old state."""
    shared.chmod(0o755)
    store = Store.open(shared)
    store.commit(following(store, 2))
    for suffix in ("-wal", "-shm"):
        (shared / f"ledger-1.db{suffix}").chmod(0o600)
    shared.chmod(0o555)
    seen = _read_as_stranger(shared)
    shared.chmod(0o755)
    store.close()
    if os.getuid() == 0:
        assert "" == seen.stdout
        assert "cannot read through" in seen.stderr
    else:
        assert "7\n" == seen.stdout


def test_reading_what_is_none_of_ours(tmp_path: Path) -> None:
    """A folder without volumes gives nothing; a foreign file and a missing one are errors of the ledger."""
    assert [] == list(read_records(tmp_path))
    foreign = tmp_path / "ledger-1.db"
    with pytest.raises(LedgerError):
        list(read_records(foreign))
    foreign.write_bytes(b"foreign" * 1000)
    with pytest.raises(LedgerError):
        list(read_records(foreign))


def test_volume_names() -> None:
    """A volume's name says the number of its first entry; nothing else is taken for one."""
    assert "ledger-300.db" == volume.volume_name(300)
    assert 300 == volume.first_seq_of(Path("/x/ledger-300.db"))
    for name in ("ledger.db", "ledger-0.db", "ledger-03.db", "ledger-3.db-wal", "xledger-3.db", "ledger-٣.db"):
        assert volume.first_seq_of(Path(name)) is None
