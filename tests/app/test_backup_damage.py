"""The way back where the disk went bad: what can still be read counts, and what cannot is not taken for nothing."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from verify_ledger import SUPERVISOR, write_ledger

from meterd.accounting.book import Book
from meterd.accounting.commands import Note
from meterd.accounting.entries import Kind
from meterd.app.backup import back_up
from meterd.app.commit import Committer, Stamp, draft_entry
from meterd.app.restore import restore
from meterd.app.signatures import Signatures
from meterd.app.verify import verify
from meterd.edge.store import Store, read_records
from meterd.errors import LedgerError, MisuseError


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    write_ledger(tmp_path / "ledger")
    return tmp_path / "ledger"


def grow(folder: Path, times: int) -> None:
    """More entries behind those there are."""
    with closing(Store.open(folder)) as store:
        book = Book()
        for record in store.records():
            book.apply(record.seq, record.at_utc, draft_entry(record))
        committer = Committer(book, store, lambda: Stamp("2026-12-01T14:00:00.000000Z", "boot-1", 1))
        for n in range(times):
            committer.decide(Note(actor=SUPERVISOR, kind=Kind.COUNT_MISMATCH, table="T1", facts={"accepted": n}))
        committer.commit()


def _page_of_the_last_entry(path: Path) -> tuple[int, int]:
    """Where the page begins that the last rows of the table of entries stand on, and where the first rows' begins."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(truncate)")
        (size,) = db.execute("PRAGMA page_size").fetchone()
        (root,) = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'entry'").fetchone()
    data = path.read_bytes()
    at = (root - 1) * size
    assert data[at] == 5, "the table has several pages"
    cell = at + int.from_bytes(data[at + 12 : at + 14], "big")
    last, first = (int.from_bytes(data[where : where + 4], "big") for where in (at + 8, cell))
    return (last - 1) * size, (first - 1) * size


def _damage(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] = 0xFF
    path.write_bytes(data)


def test_what_is_readable_before_a_damaged_page_is_not_lost_quietly(ledger: Path, tmp_path: Path) -> None:
    """One bad byte in the newest volume's last page: entries before it prove a loss, and more may have been there."""
    back_up(ledger, tmp_path / "copy")
    grow(ledger, 200)
    last, _ = _page_of_the_last_entry(ledger / "ledger-1.db")
    _damage(ledger / "ledger-1.db", last)
    with pytest.raises(LedgerError, match=r"goes at least to \d+; .*ledger-1\.db cannot be read behind entry \d+, and"):
        restore(tmp_path / "copy", ledger)
    restore(tmp_path / "copy", ledger, approval=Signatures("adm-1", "acc-1", "R-8"))
    told = json.loads(list(read_records(ledger))[-1].body)["lost"]
    assert ["at least to", "more may have been there"] == [
        words for words, one in zip(("at least to", "more may have been there"), told, strict=True) if words in one
    ]


def test_a_volume_that_ends_in_damage_is_a_loss(ledger: Path, tmp_path: Path) -> None:
    """Even where all that can be read is in the backup: nobody knows what came then; likewise wholly unread."""
    grow(ledger, 200)
    back_up(ledger, tmp_path / "copy")
    last, _ = _page_of_the_last_entry(ledger / "ledger-1.db")
    _damage(ledger / "ledger-1.db", last)
    with pytest.raises(LedgerError, match=r"but [^;]*cannot be read behind entry \d+, and more may have been there\."):
        restore(tmp_path / "copy", ledger)
    _damage(ledger / "ledger-1.db", 1)
    with pytest.raises(LedgerError, match=r"ledger-1\.db cannot be read at all, and more may have been there"):
        restore(tmp_path / "copy", ledger)


def test_damage_before_a_readable_end_loses_nothing(ledger: Path, tmp_path: Path) -> None:
    """Where the last entry can be read and is the backup's, nobody has to approve anything."""
    grow(ledger, 200)
    back_up(ledger, tmp_path / "copy")
    _, first = _page_of_the_last_entry(ledger / "ledger-1.db")
    _damage(ledger / "ledger-1.db", first)
    assert not verify(ledger).ok
    restore(tmp_path / "copy", ledger)
    assert verify(ledger).ok


def test_other_names_of_one_file(ledger: Path, tmp_path: Path) -> None:
    """A backup is not put onto itself where its files stand in the other folder under a second name."""
    back_up(ledger, tmp_path / "copy")
    (tmp_path / "twin").mkdir()
    os.link(tmp_path / "copy" / "ledger-1.db", tmp_path / "twin" / "ledger-1.db")
    with pytest.raises(MisuseError, match="share a volume"):
        restore(tmp_path / "copy", tmp_path / "twin")
    assert [tmp_path / "twin" / "ledger-1.db"] == list((tmp_path / "twin").iterdir())


def test_a_folder_under_a_second_name(ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bind mount is the folder itself under another path: the kernel numbers both alike."""
    back_up(ledger, tmp_path / "copy")
    (tmp_path / "bound").mkdir()
    stat_of = Path.stat

    def bound(path: Path, **options: bool) -> os.stat_result:
        return stat_of(tmp_path / "copy" if path == tmp_path / "bound" else path, **options)

    monkeypatch.setattr(Path, "stat", bound)
    for place in (tmp_path / "bound", tmp_path / "bound" / "ledger"):
        with pytest.raises(MisuseError, match="lie in each other"):
            restore(tmp_path / "copy", place)
