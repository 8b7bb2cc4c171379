"""What people hand to the verbs of the ledger that is no ledger: one line, the documented exit code, no traceback."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tampering import KEY, write_unsigned

from meterd import second_verifier
from meterd.app.backup import back_up
from meterd.app.checkpoints import keep
from meterd.app.past import checkpoint_now
from meterd.app.verify import verify
from meterd.edge.keys import SigningKey, new_key_file
from meterd.errors import LedgerError

GENEROUS_S = 60
ENTRIES = 60
LONG = "x" * 300


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_unsigned(tmp_path_factory.mktemp("original") / "ledger", ENTRIES)


@pytest.fixture
def ledger(original: Path, tmp_path: Path) -> Path:
    shutil.copytree(original, tmp_path / "ledger", symlinks=True)
    return tmp_path / "ledger"


def code_of(*arguments: object, out: str = os.devnull) -> int:
    """The exit code of a verb, which says something in words and never that it was surprised."""
    command = [sys.executable, "-m", "meterd", *(os.fsdecode(os.fsencode(str(one))) for one in arguments)]
    return _ended(command, out)


def second_of(*arguments: object, out: str = os.devnull) -> int:
    return _ended([sys.executable, second_verifier.__file__, *map(str, arguments)], out)


def _ended(command: list[str], out: str) -> int:
    with Path(out).open("w", encoding="utf-8") as stream:
        done = subprocess.run(
            command, stdout=stream, stderr=subprocess.PIPE, text=True, check=False, timeout=GENEROUS_S
        )
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode


def test_no_pipe_is_waited_for(ledger: Path, tmp_path: Path) -> None:
    """As a ledger, a checkpoint, a proof, a pack, a backup's list, or a volume in the folder."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    key = ("--key", KEY.public)
    assert 2 == code_of("ledger", "verify", pipe)
    assert 2 == code_of("ledger", "verify", ledger, "--since", pipe)
    assert 74 == code_of("ledger", "tail", pipe)
    assert 2 == code_of("ledger", "prove", ledger, 3, "--checkpoint", pipe)
    assert [2, 2, 2, 2] == [
        second_of(pipe),
        second_of(ledger, "--since", pipe),
        second_of("--proof", pipe, *key),
        second_of("--pack", pipe, *key),
    ]
    os.mkfifo(ledger / "ledger-999.db")
    os.mkfifo(ledger / "checkpoint-9.txt")
    assert (1, 1) == (code_of("ledger", "verify", ledger), second_of(ledger))
    (tmp_path / "backup").mkdir()
    os.mkfifo(tmp_path / "backup" / "backup.json")
    assert 74 == code_of("restore", tmp_path / "backup", tmp_path / "new")


def test_what_is_no_document(tmp_path: Path) -> None:
    """Nested beyond reason, a name too long, text that cannot be printed."""
    document = tmp_path / "document.json"
    key = ("--key", str(KEY.public))
    for text in ("[" * 100_000, '{"summary": {"\\ud800": 1}}', "5", "[]", '{"checkpoint": 5}'):
        document.write_text(text)
        assert (1, 1) == (second_of("--pack", document, *key), second_of("--proof", document, *key))
    for option in ("--pack", "--proof"):
        assert 2 == second_of(option, tmp_path / LONG, *key)
    assert (2, 2) == (second_of(tmp_path / LONG), code_of("ledger", "verify", tmp_path / LONG))


def test_what_is_no_ledger_to_read(ledger: Path, tmp_path: Path) -> None:
    """Files of other kinds, moments beyond the calendar, numbers that are not there or not of ours."""
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "other").write_bytes(bytes(range(256)) * 40)
    for path in (tmp_path / "empty", tmp_path / "other", "/dev/null"):
        assert 74 == code_of("ledger", "tail", path)
        assert 74 == code_of("ledger", "at", path, "2026-12-01")
    for when in ("0001-01-01T00:00:00+23:00", "9999-12-31T23:59:59-23:00", "0003-01-01", "0999-12-31", "٣", "9" * 5000):
        assert 2 == code_of("ledger", "at", ledger, when)
    assert 2 == code_of("ledger", "export", ledger, "--from", 300)
    assert 2 == code_of("ledger", "export", ledger, "--from", 5, "--to", 2)


def test_where_an_answer_cannot_be_written(ledger: Path, tmp_path: Path) -> None:
    """Not the exit code of a finding: 74, and 2 of the second verifier, which knows no other."""
    assert 74 == code_of("ledger", "verify", ledger, out="/dev/full")
    assert 74 == code_of("ledger", "export", ledger, out="/dev/full")
    assert 74 == code_of("backup", ledger, tmp_path / "backup", out="/dev/full")
    assert 2 == second_of(ledger, out="/dev/full")
    for out in ("/dev/full", tmp_path / LONG, tmp_path / "no" / "folder"):
        assert 74 == code_of("dispute", ledger, "T1", 1, "--out", out)


def test_backups_that_cannot_be_made(ledger: Path, tmp_path: Path) -> None:
    """A name too long; a note beside the ledger that cannot be written does not undo a backup, and is told."""
    assert 74 == code_of("backup", tmp_path / LONG, tmp_path / "one")
    (ledger / "backup-last.json.new").mkdir()
    with pytest.raises(LedgerError, match="is finished and was read back, but"):
        back_up(ledger, tmp_path / "two")
    assert (tmp_path / "two" / "backup.json").exists()


def _manifest(backup: Path, change: Callable[[dict[str, object]], object]) -> None:
    told = json.loads((backup / "backup.json").read_text())
    change(told)
    (backup / "backup.json").write_text(json.dumps(told))


def test_a_restore_refuses_before_anything_is_moved(ledger: Path, tmp_path: Path) -> None:
    """Names that no entry can tell, lists that are none; what the list does not name stays in the backup."""
    backup = tmp_path / "backup"
    back_up(ledger, backup)
    before = sorted(path.name for path in ledger.iterdir())
    two = ("--and", "acc-1", "--reference", "R-1")
    assert 2 == code_of("restore", backup, ledger, "--by", "\udcff", *two)
    assert 2 == code_of("restore", backup, ledger, "--by", "a\nb", *two)
    good = (backup / "backup.json").read_text()
    for text in ('{"files": ["x"]}', "[" * 100_000, "5", '{"files": {"../x.db": ""}}'):
        (backup / "backup.json").write_text(text)
        assert 74 == code_of("restore", backup, ledger)
    (backup / "backup.json").write_text(good)
    _manifest(backup, lambda told: told.update(files={}))
    assert 74 == code_of("restore", backup, ledger)
    assert before == sorted(path.name for path in ledger.iterdir() if path.name != "lock" or "lock" in before)
    (backup / "backup.json").write_text(good)
    (backup / "checkpoint-7.txt").write_text("rubbish")
    (backup / "notes.txt").mkdir()
    assert 0 == code_of("restore", backup, ledger)
    assert not (ledger / "checkpoint-7.txt").exists()
    assert verify(ledger).ok


def test_a_restore_looks_for_writers(ledger: Path, tmp_path: Path) -> None:
    """One that does not hold the lock any more, too."""
    back_up(ledger, tmp_path / "backup")
    newest = max(ledger.glob("ledger-*.db"), key=lambda path: int(path.stem[7:]))
    with subprocess.Popen(
        [sys.executable, "-c", f"f = open({str(newest)!r}, 'r+b'); print(flush=True); input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        assert 74 == code_of("restore", tmp_path / "backup", ledger)
        other.communicate(b"\n")
    assert 0 == code_of("restore", tmp_path / "backup", ledger)


def test_a_checkpoint_signed_by_another_key_is_not_told_as_ours(ledger: Path, tmp_path: Path) -> None:
    """The one that is there stays, and somebody hears of it."""
    made = checkpoint_now(ledger)
    keep(made, KEY, [ledger])
    with pytest.raises(LedgerError, match="signed by another key"):
        keep(made, SigningKey("other", bytes(32)), [ledger])
    new_key_file(tmp_path / "key", "other")
    assert 74 == code_of("ledger", "checkpoint", ledger, "--key", tmp_path / "key")


@pytest.mark.parametrize("site", ["\udcff", "x\ny", " "])
def test_a_site_is_plain_text(tmp_path: Path, site: str) -> None:
    """It is told in every entry."""
    assert 2 == code_of("ledger", "create", tmp_path / "new", "--site", site, "--currency", "USD")


def test_checkpoints_beside_the_ledger_are_looked_at_by_both(ledger: Path) -> None:
    """Rubbish, one by a key that nobody knows, one of more entries; and a good one."""
    made = checkpoint_now(ledger)
    path = ledger / f"checkpoint-{made.size}.txt"
    beyond = made._replace(size=made.size + 1)
    key = ("--key", KEY.public)
    for text, options, code in (
        ("rubbish", (), 1),
        (KEY.sign_note(made.text), (), 1),
        (KEY.sign_note(beyond.text), key, 1),
        (KEY.sign_note(made.text), key, 0),
    ):
        path.write_text(text, encoding="utf-8")
        assert (code, code) == (code_of("ledger", "verify", ledger, *options), second_of(ledger, *options))
