"""``meterd award show``: the award, and where the rest of it stands."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner

from meterd.cli import award as verbs
from meterd.cli.main import main

AWARD: dict[str, Any] = {
    "id": "A3",
    "link": "nexus-1",
    "table": "LIR-1",
    "round": 12,
    "seat": 4,
    "hand": "flush",
    "status": "paid",
    "amount_cents": 12_345,
}
SNAPSHOT: dict[str, Any] = {"awards": [AWARD], "currency": "USD", "demo": False, "closed": None}


def show(monkeypatch: pytest.MonkeyPatch, name: str) -> Any:
    monkeypatch.setattr(verbs, "snapshot_for", lambda *_: SNAPSHOT)
    return CliRunner().invoke(main, ["award", "show", name])


def test_an_award_has_its_round_and_the_way_to_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cards and people stand in the ledger: the command that gathers the round is whole."""
    result = show(monkeypatch, "a3")
    assert 0 == result.exit_code, result.output
    assert "round       12\n" in result.stdout
    assert "`meterd dispute LEDGER LIR-1 12 --out FILE`" in result.stderr


def test_an_older_award_is_looked_up_in_the_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next step is named."""
    result = show(monkeypatch, "A1")
    assert 2 == result.exit_code
    assert "no award A1 is open or among the last twenty" in result.stderr
    assert "`meterd ledger at LEDGER TIME`" in result.stderr
