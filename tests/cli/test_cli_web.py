"""``meterd web`` listens where the site file says, unless the command line says otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from meterd.cli.web import web
from meterd.errors import EXIT_CONFIG

SITE = Path(__file__).parents[2] / "docs" / "site.example.toml"


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    found: dict[str, Any] = {}
    monkeypatch.setattr("uvicorn.run", lambda _app, **words: found.update(words))
    return found


@pytest.mark.parametrize(
    ("words", "where"),
    [
        ([], ("127.0.0.1", 9477)),
        (["--config"], ("localhost", 9500)),
        (["--config", "--listen", "::1", "--port", "80"], ("::1", 80)),
    ],
)
def test_the_address_is_that_of_the_site_file(
    words: list[str], where: tuple[str, int], tmp_path: Path, served: dict[str, Any]
) -> None:
    """Nothing said: loopback and the usual port."""
    text = SITE.read_text(encoding="utf-8").replace(
        'listen = "127.0.0.1"\nport = 9477', 'listen = "localhost"\nport = 9500'
    )
    (tmp_path / "site.toml").write_text(text, encoding="utf-8")
    if words[:1] == ["--config"]:
        words = ["--config", str(tmp_path / "site.toml"), *words[1:]]
    assert 0 == CliRunner().invoke(web, words).exit_code
    assert where == (served["host"], served["port"])


def test_a_site_file_that_cannot_be_used_is_exit_78(tmp_path: Path, served: dict[str, Any]) -> None:
    """Nothing is served on a guess."""
    assert EXIT_CONFIG == CliRunner().invoke(web, ["--config", str(tmp_path / "none.toml")]).exit_code
    assert {} == served
