"""Clients of the control socket that mean no good: the wire loop goes on, and the next client is answered."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from meterd.edge import control
from meterd.edge.control import CLIENTS_MAX, CLIENTS_OF_ONE_MAX, ControlServer

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


@pytest.mark.parametrize(("users", "most"), [(1, CLIENTS_OF_ONE_MAX), (CLIENTS_MAX, CLIENTS_MAX)])
def test_clients_beyond_the_limit_are_sent_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, users: int, most: int
) -> None:
    """A port that comes back needs a descriptor, so clients cannot hold them all. One leaves, the next may ask."""
    uids = count()
    monkeypatch.setattr(control, "peer_uid", lambda _: next(uids) % users)

    async def crowd() -> tuple[bytes, dict[str, Any]]:
        path = tmp_path / "control.sock"
        async with served(path):
            idle = [await asyncio.open_unix_connection(path) for _ in range(most)]
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


def test_one_user_cannot_shut_the_others_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many connections a user holds, another is served."""
    uid = 1000
    monkeypatch.setattr(control, "peer_uid", lambda _: uid)

    async def crowd() -> dict[str, Any]:
        nonlocal uid
        path = tmp_path / "control.sock"
        async with served(path):
            held = [await asyncio.open_unix_connection(path) for _ in range(CLIENTS_MAX)]
            for reader, _ in held[CLIENTS_OF_ONE_MAX:]:
                await reader.read()  # the server has looked at them all
            uid = 1001
            answer = await _asked(path, b'{"op":"snapshot"}')
            for _, writer in held:
                writer.close()
        return answer

    assert {"seq": 1} == asyncio.run(crowd())


@pytest.mark.parametrize("said", [b"", b'{"op":', b"1\n"], ids=["nothing", "half a request", "one request"])
def test_a_connection_that_nobody_uses_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: bytes) -> None:
    """Within seconds the place is free again; a subscriber, who has nothing to ask, stays."""
    monkeypatch.setattr(control, "IDLE_S", 0.2)

    async def idle() -> bytes:
        path = tmp_path / "control.sock"
        async with served(path):
            subscriber, listening = await asyncio.open_unix_connection(path)
            listening.write(b'{"op":"subscribe"}\n')
            reader, writer = await asyncio.open_unix_connection(path)
            writer.write(said)
            await reader.read()  # until the server closes its end
            await subscriber.readline()
            heard = await subscriber.readline()  # a second later, that is after several times as long
            writer.close()
            listening.close()
        return heard

    assert b'{"seq":1}\n' == asyncio.run(idle())


def test_a_client_that_takes_no_answer_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that asks and asks and reads nothing does not keep its place either."""
    monkeypatch.setattr(control, "IDLE_S", 0.2)
    monkeypatch.setattr(control, "ANSWER_INTERVAL_S", 0)

    async def deaf() -> None:
        path = tmp_path / "control.sock"
        async with served(path) as server:
            begun = asyncio.Event()
            server._snapshot = lambda: begun.set() or {"much": "x" * 1_000_000}  # more than a socket's buffers hold
            _, writer = await asyncio.open_unix_connection(path, limit=1000)
            writer.write(b'{"op":"snapshot"}\n' * 20)
            await begun.wait()
            (serving,) = server._clients
            await asyncio.wait([serving])
            writer.close()

    asyncio.run(deaf())
