"""The control socket: newline-delimited JSON over one Unix socket. Commands in, committed snapshots out.

A client that does not read gets the newest snapshot when it reads again and skips the rest; nothing here waits for it.
The peer's uid, as the kernel tells it, becomes part of the actor of whatever it asks for.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

LINE_BYTES_MAX: Final = 64 * 1024  # the longest command is a claim with cards, under 1 kB
PUSH_INTERVAL_S: Final = 0.05  # a page cannot show more than this, and 100 of them must stay cheap
ANSWER_INTERVAL_S: Final = 0.01  # a client that asks without pause must not take the loop from the ports
CLIENTS_MAX: Final = 256  # each holds a descriptor, and a port that comes back needs one; all pages together are one
ALIVE_INTERVAL_S: Final = 1.0  # a subscriber hears us at least this often, so that silence means we are gone

Answer = dict[str, Any]
Handler = Callable[[dict[str, Any], int], Awaitable[Answer]]


class ControlServer:
    """Serves one socket. ``snapshot`` gives the newest committed state; ``handle`` answers every other request."""

    def __init__(self, path: Path, snapshot: Callable[[], Answer], handle: Handler) -> None:
        """Nothing is opened before :meth:`start`."""
        self._path = path
        self._snapshot = snapshot
        self._handle = handle
        self._server: asyncio.Server | None = None
        self._news = asyncio.Condition()
        self._version = 0
        self._clients: set[asyncio.Task[None]] = set()
        self._announcing: set[asyncio.Future[None]] = set()

    async def start(self) -> None:
        """Listen. A stale socket file of a dead daemon is replaced; the ledger's lock already says we are alone."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listener.bind(str(self._path))
            self._path.chmod(0o660)  # before anybody can connect: the group may ask; the acts need more than that
            self._server = await asyncio.start_unix_server(self._accept, sock=listener, limit=LINE_BYTES_MAX)
        except BaseException:
            listener.close()
            raise

    def announce_soon(self) -> None:
        """Tell all subscribers that there is a newer snapshot; from the loop's own thread."""
        task = asyncio.ensure_future(self._announce())
        self._announcing.add(task)
        task.add_done_callback(self._announcing.discard)

    async def _announce(self) -> None:
        async with self._news:
            self._version += 1
            self._news.notify_all()

    async def stop(self) -> None:
        """Close the socket and every client."""
        if self._server is not None:
            self._server.close()
        for task in list(self._clients):
            task.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)
        self._path.unlink(missing_ok=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if len(self._clients) >= CLIENTS_MAX:
            writer.close()
            return
        if task is not None:
            self._clients.add(task)
            task.add_done_callback(self._clients.discard)
        try:
            await self._serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError, ValueError):
            pass  # the client left, or sent a line beyond the limit; either way it is gone
        finally:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        uid = peer_uid(writer)
        while line := await reader.readline():
            try:
                request = json.loads(line)
                if not isinstance(request, dict):
                    raise ValueError("a request is a JSON object")  # noqa: TRY004, TRY301 - answered just below
            except (ValueError, RecursionError) as error:  # a line of brackets is deeper than the parser's stack
                await self._send(writer, {"error": f"not a request: {error}"})
                continue
            match request.get("op"):
                case "snapshot":
                    await self._send(writer, self._snapshot())
                case "subscribe":
                    await self._stream(writer)
                    return
                case _:
                    await self._send(writer, await self._handle(request, uid))

    async def _stream(self, writer: asyncio.StreamWriter) -> None:
        seen = -1
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(ALIVE_INTERVAL_S), self._news:
                    await self._news.wait_for(lambda: self._version != seen)  # noqa: B023 - evaluated before it changes
            seen = self._version
            await self._send(writer, self._snapshot())
            await asyncio.sleep(PUSH_INTERVAL_S)

    @staticmethod
    async def _send(writer: asyncio.StreamWriter, answer: Answer) -> None:
        writer.write(json.dumps(answer, separators=(",", ":")).encode() + b"\n")
        await writer.drain()
        await asyncio.sleep(ANSWER_INTERVAL_S)


def peer_uid(writer: asyncio.StreamWriter) -> int:
    """The uid of the process at the other end, as the kernel tells it."""
    sock: socket.socket = writer.get_extra_info("socket")
    raw = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _, uid, _ = struct.unpack("3i", raw)
    return int(uid)


def ask(path: Path, request: dict[str, Any], timeout_s: float = 5.0) -> Answer:
    """One question over the socket, for the command line.

    Raises:
        OSError: nobody listens there, or no answer in ``timeout_s``.
        ValueError: the answer is no JSON object.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(timeout_s)
        client.connect(str(path))
        client.sendall(json.dumps(request).encode() + b"\n")
        with client.makefile("rb") as stream:
            answer = json.loads(stream.readline() or b"null")
    if not isinstance(answer, dict):
        raise ValueError("the daemon closed the connection without an answer")  # noqa: TRY004
    return answer
