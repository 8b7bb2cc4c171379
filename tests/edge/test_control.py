"""The control socket, over a real socket."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import stat
from pathlib import Path
from typing import Any

from meterd.edge.control import ControlServer, ask


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
