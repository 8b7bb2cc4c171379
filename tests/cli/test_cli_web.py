"""``meterd web`` listens where the site file says, unless the command line says otherwise."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from meterd.cli.meters import meters
from meterd.cli.web import web
from meterd.edge.web.listen import listeners
from meterd.errors import EXIT_CONFIG, EXIT_USAGE, ConfigError

SITE = Path(__file__).parents[2] / "docs" / "site.example.toml"


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    found: dict[str, Any] = {}

    def listeners(listen: str, port: int) -> list[socket.socket]:
        found["where"] = (listen, port)
        return []

    monkeypatch.setattr("meterd.edge.web.listen.listeners", listeners)
    monkeypatch.setattr("uvicorn.Server.run", lambda _server, sockets: None)
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
    assert where == served["where"]


def test_a_site_file_that_cannot_be_used_is_exit_78(tmp_path: Path, served: dict[str, Any]) -> None:
    """Nothing is served on a guess."""
    assert EXIT_CONFIG == CliRunner().invoke(web, ["--config", str(tmp_path / "none.toml")]).exit_code
    assert {} == served


def test_an_address_in_use_is_said_in_one_line() -> None:
    """What, why, what to do; exit 2; no log lines of the server."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        result = CliRunner().invoke(web, ["--port", str(port)])
    assert EXIT_USAGE == result.exit_code
    assert (
        f"meterd web: cannot listen on 127.0.0.1:{port}: the port is in use. "
        "Stop the program that listens there, or give another one with --port\n"
    ) == result.output


@pytest.mark.parametrize(
    ("listen", "cause"),
    [
        ("a..b", "'a..b' names no address. Give --listen 127.0.0.1"),
        ("x" * 70, "names no address. Give"),
        ("192.0.2.1", "this machine has no such address. Give --listen 127.0.0.1"),
        ("1", "this machine has no such address"),
    ],
)
def test_what_is_no_address_of_this_machine_is_said_in_one_line(listen: str, cause: str) -> None:
    """Exit 2, whatever was written there."""
    result = CliRunner().invoke(web, ["--listen", listen])
    assert EXIT_USAGE == result.exit_code
    (line,) = result.output.splitlines()
    assert line.startswith(f"meterd web: cannot listen on {listen}:9477: ")
    assert cause in line


def test_a_low_port_without_the_right_to_it_says_what_would_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """An ordinary user and port 80."""

    def denied(*_: Any, **__: Any) -> socket.socket:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(socket, "create_server", denied)
    with pytest.raises(ConfigError, match=r"127\.0\.0\.1:80: permission denied\. Give a --port of 1024 or above"):
        listeners("127.0.0.1", 80)


def test_a_name_with_several_addresses_is_served_on_those_that_are_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without IPv6 serves ``localhost`` all the same; one taken address of a name is an error."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        free, taken = (("127.0.0.1", 0), ("127.0.0.1", port))
        found: list[Any] = []
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
        for addresses, count in (([("192.0.2.1", 0), free], 1), ([free, ("192.0.2.1", 0)], 1)):
            found[:] = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", address) for address in addresses]
            opened = listeners("name", 9477)
            assert count == len(opened)
            for listener in opened:
                listener.close()
        found[:] = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", address) for address in (free, taken)]
        with pytest.raises(ConfigError, match="the port is in use"):
            listeners("name", 9477)


def test_meters_without_a_daemon_says_how_to_name_another(tmp_path: Path) -> None:
    """Beside a demo, the usual path is not the one."""
    result = CliRunner().invoke(meters, ["--socket", str(tmp_path / "none.sock")])
    assert EXIT_USAGE == result.exit_code
    assert "a demo's too, is asked with --socket PATH" in result.output
