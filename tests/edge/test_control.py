"""The control socket, over a real socket."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import stat
from pathlib import Path
from typing import Any

import pytest

from meterd.edge.control import PATH_BYTES_MAX, ControlServer, ask
from meterd.errors import ConfigError


class _Daemon:
    """A snapshot that a test can change, and the server in front of it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.snapshot: dict[str, Any] = {"seq": 1}
        self.uids: list[int] = []
        self.server = ControlServer(path, lambda: self.snapshot, self._handle)

    async def _handle(self, request: dict[str, Any], uid: int) -> dict[str, Any]:
        self.uids.append(uid)
        return {"heard": request.get("op")}


def _run(scenario: Any, path: Path) -> _Daemon:
    daemon = _Daemon(path)

    async def main() -> None:
        await daemon.server.start()
        try:
            async with asyncio.timeout(20):
                await scenario(daemon)
        finally:
            await daemon.server.stop()

    asyncio.run(main())
    return daemon


def test_a_question_gets_one_answer_and_the_peer_is_known(tmp_path: Path) -> None:
    """The answer is one line; the kernel says who asked; the socket is for owner and group."""

    async def scenario(daemon: _Daemon) -> None:
        assert await asyncio.to_thread(ask, daemon.path, {"op": "snapshot"}) == {"seq": 1}
        assert await asyncio.to_thread(ask, daemon.path, {"op": "stats"}) == {"heard": "stats"}
        assert stat.S_IMODE(daemon.path.stat().st_mode) == 0o660

    daemon = _run(scenario, tmp_path / "control.sock")
    assert daemon.uids == [os.getuid()]


def test_a_subscriber_sees_the_newest_and_skips_the_rest(tmp_path: Path) -> None:
    """A burst of changes reaches a reader as the first and the last, never an older one after a newer."""

    async def scenario(daemon: _Daemon) -> None:
        reader, writer = await asyncio.open_unix_connection(daemon.path)
        writer.write(b'{"op":"subscribe"}\n')
        seen = [json.loads(await reader.readline())["seq"]]
        for seq in range(2, 500):
            daemon.snapshot = {"seq": seq}
            daemon.server.announce_soon()
        while seen[-1] != 499:
            seen.append(json.loads(await reader.readline())["seq"])
        assert seen == sorted(seen)
        assert len(seen) < 20
        writer.close()

    _run(scenario, tmp_path / "control.sock")


def test_what_is_no_request_is_answered_in_words(tmp_path: Path) -> None:
    """Garbage, a list and an endless line change nothing and do not end the server."""

    async def scenario(daemon: _Daemon) -> None:
        reader, writer = await asyncio.open_unix_connection(daemon.path)
        for bad in (b"garbage\n", b"[1]\n", b"\xff\xfe\n"):
            writer.write(bad)
            assert "not a request" in json.loads(await reader.readline())["error"]
        writer.write(b"x" * 300_000 + b"\n")
        with contextlib.suppress(ConnectionResetError):
            assert await reader.read() == b""
        writer.close()
        assert await asyncio.to_thread(ask, daemon.path, {"op": "snapshot"}) == {"seq": 1}

    _run(scenario, tmp_path / "control.sock")


def test_silence_is_broken_once_a_second(tmp_path: Path) -> None:
    """A subscriber hears the same snapshot again, so that silence can only mean that the daemon is gone."""

    async def scenario(daemon: _Daemon) -> None:
        reader, writer = await asyncio.open_unix_connection(daemon.path)
        writer.write(b'{"op":"subscribe"}\n')
        assert [json.loads(await reader.readline()) for _ in range(2)] == [{"seq": 1}, {"seq": 1}]
        writer.close()

    _run(scenario, tmp_path / "control.sock")


def _dead_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
        dead.bind(str(path))


def test_the_socket_of_a_dead_daemon_is_replaced(tmp_path: Path) -> None:
    """Nobody listens there: the next daemon does, and takes its own socket away with it."""
    path = tmp_path / "control.sock"
    _dead_socket(path)

    async def scenario(daemon: _Daemon) -> None:
        assert await asyncio.to_thread(ask, path, {"op": "snapshot"}) == {"seq": 1}

    _run(scenario, path)
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["file", "folder", "link to a dead socket", "link to nothing"])
def test_what_is_no_socket_stays(tmp_path: Path, kind: str) -> None:
    """A mistyped path removes nobody's file."""
    path = tmp_path / "precious.txt"
    match kind:
        case "file":
            path.write_text("precious")
        case "folder":
            path.mkdir()
        case "link to a dead socket":
            _dead_socket(tmp_path / "dead.sock")
            path.symlink_to(tmp_path / "dead.sock")
        case _:
            path.symlink_to(tmp_path / "nothing")
    before = path.lstat()
    server = _Daemon(path).server
    with pytest.raises(ConfigError, match=r"precious\.txt cannot be opened: something that is no socket is there"):
        server.open()
    asyncio.run(server.stop())
    assert (before.st_ino, before.st_mtime_ns) == (path.lstat().st_ino, path.lstat().st_mtime_ns)
    if kind == "file":
        assert "precious" == path.read_text()


def test_a_socket_that_answers_is_not_taken_over(tmp_path: Path) -> None:
    """The second daemon is refused, and its end does not touch the socket of the first."""

    async def scenario(daemon: _Daemon) -> None:
        second = _Daemon(daemon.path).server
        with pytest.raises(ConfigError, match=f"another daemon answers at {daemon.path}"):
            await second.start()
        await second.stop()
        assert await asyncio.to_thread(ask, daemon.path, {"op": "snapshot"}) == {"seq": 1}

    _run(scenario, tmp_path / "control.sock")


def test_an_open_socket_answers_before_it_serves(tmp_path: Path) -> None:
    """From the moment it is taken, nobody else gets the path."""
    first, second = (_Daemon(tmp_path / "control.sock").server for _ in range(2))
    first.open()
    with pytest.raises(ConfigError, match="another daemon answers"):
        second.open()
    asyncio.run(first.stop())
    second.open()
    asyncio.run(second.stop())
    assert [] == list(tmp_path.iterdir())


def test_only_our_own_socket_is_removed(tmp_path: Path) -> None:
    """Somebody deleted ours and put another one there: it stays."""
    path = tmp_path / "control.sock"

    async def scenario(daemon: _Daemon) -> None:
        path.unlink()
        _dead_socket(path)

    _run(scenario, path)
    assert path.is_socket()


def test_a_path_that_cannot_be_used_is_named_with_cause_and_next_step(tmp_path: Path) -> None:
    """Missing folder, too long, not a folder: a sentence, and nothing is made."""
    (tmp_path / "file").write_text("")
    long = tmp_path / ("x" * (PATH_BYTES_MAX + 1 - len(os.fsencode(tmp_path)) - 1))
    assert PATH_BYTES_MAX + 1 == len(os.fsencode(long))
    for path, words in (
        (tmp_path / "none" / "control.sock", rf"there is no folder {tmp_path}/none\. Make it, or .* --socket"),
        (long, r"its path is longer than 107 bytes\. Choose a shorter one"),
        (tmp_path / "file" / "control.sock", r"Not a directory\. Give another path with --socket"),
    ):
        with pytest.raises(ConfigError, match=words):
            _Daemon(path).server.open()
    assert [tmp_path / "file"] == list(tmp_path.iterdir())


def test_the_longest_path_works(tmp_path: Path) -> None:
    """107 bytes are not too many."""
    path = tmp_path / ("x" * (PATH_BYTES_MAX - len(os.fsencode(tmp_path)) - 1))
    server = _Daemon(path).server
    server.open()
    assert path.is_socket()
    asyncio.run(server.stop())


def test_a_folder_that_is_closed_to_us_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The usual start as an ordinary user: who we are, and what to do."""

    def denied(_socket: socket.socket, _path: str) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(socket.socket, "bind", denied)
    with pytest.raises(ConfigError, match=rf"uid {os.getuid()} may not write there .* Give a path with --socket"):
        _Daemon(tmp_path / "control.sock").server.open()
