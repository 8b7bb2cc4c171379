"""The service manager's socket."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from meterd.edge.notify import notify, watchdog_interval_s


def test_a_message_reaches_the_manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """READY=1 arrives as one datagram."""
    path = tmp_path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(path))
        manager.settimeout(20)
        monkeypatch.setenv("NOTIFY_SOCKET", str(path))
        assert notify("READY=1") is True
        assert manager.recv(100) == b"READY=1"


def test_an_abstract_socket_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address that begins with @ names a socket without a file."""
    name = f"meterd-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind("\0" + name)
        manager.settimeout(20)
        monkeypatch.setenv("NOTIFY_SOCKET", "@" + name)
        assert notify("WATCHDOG=1") is True
        assert manager.recv(100) == b"WATCHDOG=1"


def test_without_a_manager_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a shell, or with a dead manager, a notification is simply not sent."""
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    assert notify("READY=1") is False
    monkeypatch.setenv("NOTIFY_SOCKET", "/nonexistent/notify")
    assert notify("READY=1") is False


def test_the_watchdog_is_ours_only_if_it_names_us(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half the interval, and only for the process the manager watches."""
    monkeypatch.setenv("WATCHDOG_USEC", "10000000")
    monkeypatch.setenv("WATCHDOG_PID", str(os.getpid()))
    assert watchdog_interval_s() == 5.0
    monkeypatch.setenv("WATCHDOG_PID", "1")
    assert watchdog_interval_s() is None
    monkeypatch.delenv("WATCHDOG_USEC")
    assert watchdog_interval_s() is None
