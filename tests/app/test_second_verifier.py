"""The second verifier against the first: what holds, what is owed, and what both say of a ledger somebody changed."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from verify_ledger import write_ledger

from meterd import second_verifier
from meterd.accounting.book import Book
from meterd.app.commit import draft_entry
from meterd.app.verify import Report, verify
from meterd.edge.files import schema_text
from meterd.edge.store import read_records

FLIPS = 150
SEED = 20261130


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("original")
    write_ledger(folder)
    return folder


def test_it_agrees_about_a_sound_ledger(original: Path) -> None:
    """Entries, head, what each level holds, and what the house owes, by two programs that share nothing."""
    book = Book()
    for record in read_records(original):
        book.apply(record.seq, record.at_utc, draft_entry(record))
    report, found = verify(original), second_verifier.check([original])
    levels = {key: {name: level[name] for name in report.levels[key]} for key, level in found["levels"].items()}
    told = {name: value for name, value in report.to_json().items() if name in found}
    assert told == {name: found[name] for name in told if name != "levels"} | {"levels": levels}
    assert {link: book.liability_microcents(link) for link in book.links} == found["liability_microcents"]
    standing = {
        f"{link}/{name}": level.standing_seed_microcents
        for link, state in book.links.items()
        for name, level in state.levels.items()
    }
    assert standing == {key: level["standing_seed_microcents"] for key, level in found["levels"].items()}
    assert 0 == found["residual_microcents"]


def test_the_file_works_alone(original: Path, tmp_path: Path) -> None:
    """Copied away and run by a Python that sees neither meterd nor any package, it says the same."""
    alone = tmp_path / "anywhere.py"
    shutil.copy(second_verifier.__file__, alone)
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(alone), "--json", str(original)], cwd=tmp_path, capture_output=True, check=True
    )
    assert second_verifier.check([original]) == json.loads(done.stdout)


def test_it_knows_the_shape_of_each_format() -> None:
    """The digests in the file are those of the SQL that makes a ledger."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.text_factory = second_verifier.Text
        db.executescript(schema_text("ledger/0001.sql"))
        second_verifier.check_shape(db)


def flip(path: Path, numbers: random.Random) -> str:
    """Turn one bit of the file."""
    content = bytearray(path.read_bytes())
    place, bit = numbers.randrange(len(content)), numbers.randrange(8)
    content[place] ^= 1 << bit
    path.write_bytes(content)
    return f"bit {bit} of byte {place}"


def agree(first: Report, second: dict[str, Any]) -> bool:
    """Both hold the ledger good with one head, or both bad at one row.

    A row that SQLite cannot read to its end may be blamed on itself by one and on its neighbour by the other, and what
    is wrong with a file's schema may be told as the file's fault or as that of the row it hides.
    """
    if first.ok or second["ok"]:
        return (first.ok, first.head.hex()) == (second["ok"], second["head"])
    rows = first.first_bad.seq if first.first_bad else None, second["first_bad"]["seq"]
    return None in rows or abs(rows[0] - rows[1]) <= 1


def test_one_bit_anywhere(original: Path, tmp_path: Path) -> None:
    """Each bit of a file either carries no fact, and both report the unchanged head, or both name where it stood."""
    numbers = random.Random(SEED)
    print("seed", SEED)
    sound = verify(original)
    unlike, unnoticed = [], 0
    for n in range(FLIPS):
        folder = tmp_path / str(n)
        shutil.copytree(original, folder, symlinks=True)
        what = flip(folder / "ledger-1.db", numbers)
        first, second = verify(folder), second_verifier.check([folder])
        if not agree(first, second):
            unlike.append((what, first.first_bad, second))
        if first.ok:
            unnoticed += 1
            assert sound.head == first.head
        shutil.rmtree(folder)
    assert [] == unlike
    assert 0 < unnoticed < FLIPS, "some bits carry no fact, most do"
