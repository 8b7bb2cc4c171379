"""Clients of the control socket that mean no good: the wire loop goes on, and the next client is answered."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from meterd.edge.control import CLIENTS_MAX, ControlServer

LIMIT_S = 20
ASKED = 50


@asynccontextmanager
async def served(path: Path) -> AsyncIterator[ControlServer]:
    """A control socket that knows one snapshot."""

    async def no_op(_request: dict[str, Any], _uid: int) -> dict[str, Any]:
        return {"error": "unknown op"}

    server = ControlServer(path, lambda: {"seq": 1}, no_op)
    await server.start()
    async with asyncio.timeout(LIMIT_S):
        yield server
    await server.stop()


async def _asked(path: Path, line: bytes) -> dict[str, Any]:
    reader, writer = await asyncio.open_unix_connection(path)
    writer.write(line + b"\n")
    answer = json.loads(await reader.readline())
    writer.close()
    assert isinstance(answer, dict)
    return answer


@pytest.mark.parametrize("line", [b"1", b'{"op":"snapshot"}', b'{"op":"x"}'])
def test_a_client_that_asks_without_pause_leaves_turns_to_the_ports(tmp_path: Path, line: bytes) -> None:
    """Between two answers to one client everybody else has had a turn."""

    async def flood() -> int:
        turns = 0

        async def a_port() -> None:
            nonlocal turns
            while True:
                await asyncio.sleep(0)
                turns += 1

        async with served(tmp_path / "control.sock"):
            reader, writer = await asyncio.open_unix_connection(tmp_path / "control.sock")
            writer.write((line + b"\n") * 1000)
            await reader.readline()
            port = asyncio.create_task(a_port())
            for _ in range(ASKED):
                await reader.readline()
            port.cancel()
            writer.close()
        return turns

    assert asyncio.run(flood()) >= ASKED


def test_what_is_no_request_is_answered(tmp_path: Path) -> None:
    """Brackets deeper than the parser's stack, too long a number, half a character: an answer, and no exception."""

    async def ask_all() -> list[dict[str, Any]]:
        lines = (b"[" * 60_000, b'{"op":' * 9_000, b'{"a":' + b"9" * 50_000 + b"}", b"\xff\xfe", b"null", b"")
        async with served(tmp_path / "control.sock"):
            return [await _asked(tmp_path / "control.sock", line) for line in lines]

    answers = asyncio.run(ask_all())
    assert [True] * 6 == [answer["error"].startswith("not a request") for answer in answers]


def test_clients_beyond_the_limit_are_sent_away(tmp_path: Path) -> None:
    """A port that comes back needs a descriptor, so idle clients cannot hold them all. One leaves, the next may ask."""

    async def crowd() -> tuple[bytes, dict[str, Any]]:
        path = tmp_path / "control.sock"
        async with served(path):
            idle = [await asyncio.open_unix_connection(path) for _ in range(CLIENTS_MAX)]
            for _, writer in idle:
                writer.write(b"1\n")
            for reader, _ in idle:
                await reader.readline()  # all of them are served now
            refused, writer = await asyncio.open_unix_connection(path)
            sent_away = await refused.read()
            writer.close()
            idle[0][1].write_eof()
            await idle[0][0].read()  # the server has closed its end
            answer = await _asked(path, b'{"op":"snapshot"}')
            for _, writer in idle:
                writer.close()
        return sent_away, answer

    assert (b"", {"seq": 1}) == asyncio.run(crowd())
