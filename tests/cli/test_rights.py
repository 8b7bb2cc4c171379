"""Paths of a floor, asked by a user who may not: whose they are and as whom to work."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from meterd.app.create import create_bare
from meterd.cli.client import nobody_answers
from meterd.cli.main import main


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ledger that the user may not read."""
    create_bare(tmp_path / "ledger", site="x", currency="USD")
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    monkeypatch.setattr(os, "geteuid", lambda: 12_345)
    return tmp_path / "ledger"


VERBS = (
    "ledger verify DIR",
    "ledger tail DIR",
    "ledger at DIR 1",
    "ledger export DIR",
    "backup DIR NEW",
    "dispute DIR T1 1",
    "meters --socket DIR/ledger-1.db",
    "ports --socket DIR/ledger-1.db",
)


@pytest.mark.parametrize("verb", VERBS)
def test_who_may_not_read_is_told_as_whom_to_work(ledger: Path, verb: str) -> None:
    """With the owner of the path and his own name."""
    result = CliRunner().invoke(main, verb.replace("DIR", str(ledger)).replace("NEW", str(ledger.parent / "n")).split())
    assert 2 == result.exit_code
    assert "is not readable. " in result.stderr
    assert "this is user 12345: work as the ledger's user (`sudo -u meterd …`)" in " ".join(result.stderr.split())


def test_a_folder_that_may_not_be_entered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies in it is not told to be missing without that word; what is missing is."""
    command = ["ledger", "tail", str(tmp_path / "no" / "ledger")]
    monkeypatch.setattr(os, "geteuid", lambda: 12_345)
    assert "sudo" not in CliRunner().invoke(main, command).stderr
    monkeypatch.setattr("meterd.cli.rights.forbidden", lambda _: True)
    assert "`sudo -u meterd …`" in CliRunner().invoke(main, command).stderr


def test_a_socket_that_may_not_be_asked(tmp_path: Path) -> None:
    """Not that no daemon is there."""
    said = nobody_answers("meters", tmp_path / "control.sock", PermissionError(13, "Permission denied"))
    assert said.startswith(f"meterd meters: this user may not ask the daemon at {tmp_path / 'control.sock'}. ")
    assert "`sudo -u meterd …`" in said
    assert "Is meterd.service running?" in nobody_answers("meters", tmp_path, FileNotFoundError())
