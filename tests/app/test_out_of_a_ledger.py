"""Files that verbs write never take the place of a ledger's own."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from verify_ledger import write_ledger

from meterd.app.verify import verify
from meterd.cli.main import main

LEDGERS = (
    *("ledger-1.db", "ledger-1.db-wal", "ledger-1.db-shm", "ledger.db", "ledger.db-wal", "ledger-9.db", "lock"),
    *("checkpoint-3.txt", "checkpoint-9.txt", "backup-last.json", "restore-under-way.json"),
)


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    write_ledger(tmp_path / "ledger")
    return tmp_path / "ledger"


def _verbs(ledger: Path, out: Path) -> tuple[tuple[str, ...], ...]:
    return (
        ("ledger", "export", str(ledger), "--to", "1", "--out", str(out)),
        ("ledger", "prove", str(ledger), "1", "--out", str(out)),
        ("ledger", "checkpoint", str(ledger), "--out", str(out)),
        ("dispute", str(ledger), "T1", "1", "--out", str(out)),
        ("backup", str(ledger), str(ledger.parent / "copy"), "--metrics", str(out)),
    )


@pytest.mark.parametrize("name", LEDGERS)
def test_no_verb_writes_over_a_part_of_a_ledger(ledger: Path, name: str) -> None:
    """Each name is refused as wrong use before anything is done, there or not yet, and the ledger stays as it was."""
    before = verify(ledger)
    files = sorted(ledger.iterdir())
    for verb in _verbs(ledger, ledger / name):
        told = CliRunner().invoke(main, verb)
        assert 2 == told.exit_code, (verb, told.output)
        assert "is a file of a ledger" in told.output
    assert (before, files) == (verify(ledger), sorted(ledger.iterdir()))


def test_nor_under_another_name(ledger: Path, tmp_path: Path) -> None:
    """A link to a volume, hard or symbolic, and a volume that was copied elsewhere are volumes."""
    os.link(ledger / "ledger-1.db", tmp_path / "hard")
    (tmp_path / "soft").symlink_to(ledger / "ledger.db")
    shutil.copy(ledger / "ledger-1.db", tmp_path / "evidence")
    for name in ("hard", "soft", "evidence", "evidence-wal"):
        for verb in _verbs(ledger, tmp_path / name):
            assert 2 == CliRunner().invoke(main, verb).exit_code, verb
    assert verify(ledger).ok


def test_other_files_are_written(ledger: Path, tmp_path: Path) -> None:
    """Elsewhere a file may be called what it likes, and beside a ledger anything that is not its own."""
    (tmp_path / "other").mkdir()
    for out in (tmp_path / "ledger-1.db", tmp_path / "other" / "lock", ledger / "entries.jsonl"):
        assert 0 == CliRunner().invoke(main, _verbs(ledger, out)[0]).exit_code
        assert out.read_text(encoding="utf-8").startswith("{")
