"""The control socket: newline-delimited JSON over one Unix socket. Commands in, committed snapshots out.

A client that does not read gets the newest snapshot when it reads again and skips the rest; nothing here waits for it.
The peer's uid, as the kernel tells it, becomes part of the actor of whatever it asks for. Connections that nobody uses
are closed after a while, and no user has them all: the next one who asks must be heard.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import stat
import struct
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

from meterd.errors import ConfigError

LINE_BYTES_MAX: Final = 64 * 1024  # the longest command is a claim with cards, under 1 kB
PUSH_INTERVAL_S: Final = 0.05  # a page cannot show more than this, and 100 of them must stay cheap
ANSWER_INTERVAL_S: Final = 0.01  # a client that asks without pause must not take the loop from the ports
CLIENTS_MAX: Final = 256  # each holds a descriptor, and a port that comes back needs one; all pages together are one
CLIENTS_OF_ONE_MAX: Final = 128  # of one user, so that another always finds room
IDLE_S: Final = 10.0  # for a whole request to come, and for an answer to be taken; subscribers only listen
ALIVE_INTERVAL_S: Final = 1.0  # a subscriber hears us at least this often, so that silence means we are gone
PATH_BYTES_MAX: Final = 107  # unix(7): sun_path holds 108 with the zero byte
PROBE_S: Final = 1.0  # for an existing socket to take a connection; a full queue is somebody, too
QUEUE: Final = 100  # connections that wait until we serve them

Answer = dict[str, Any]
Handler = Callable[[dict[str, Any], int], Awaitable[Answer]]


class ControlServer:
    """Serves one socket. ``snapshot`` gives the newest committed state; ``handle`` answers every other request."""

    def __init__(self, path: Path, snapshot: Callable[[], Answer], handle: Handler) -> None:
        """Nothing is opened before :meth:`start`."""
        self._path = path
        self._snapshot = snapshot
        self._handle = handle
        self._listener: socket.socket | None = None
        self._ours: tuple[int, int] | None = None
        self._server: asyncio.Server | None = None
        self._news = asyncio.Condition()
        self._version = 0
        self._clients: dict[asyncio.Task[None], int] = {}  # each with the uid at its other end
        self._announcing: set[asyncio.Future[None]] = set()

    def open(self) -> None:
        """Take the path; who connects from now on waits for :meth:`start`.

        The socket of a daemon that is gone is replaced. What is no socket, or answers, stays as it is.

        Raises:
            ConfigError: the path cannot be taken; cause and next step are named.
        """
        self._listener = _bound(self._path)
        self._ours = _identity(self._path)

    async def start(self) -> None:
        """Serve.

        Raises:
            ConfigError: as :meth:`open`, where that was not called before.
        """
        if self._listener is None:
            self.open()
        self._server = await asyncio.start_unix_server(self._accept, sock=self._listener, limit=LINE_BYTES_MAX)

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
        """Close every client and the socket, and remove it where it is still the one we made."""
        if self._ours is not None and self._ours == _identity(self._path):
            self._path.unlink(missing_ok=True)  # while it is open, no other file can have its number
        self._ours = None
        if self._server is not None:
            self._server.close()
        elif self._listener is not None:
            self._listener.close()
        for task in list(self._clients):
            task.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        uid = peer_uid(writer)
        theirs = sum(1 for one in self._clients.values() if one == uid)
        if len(self._clients) >= CLIENTS_MAX or theirs >= CLIENTS_OF_ONE_MAX:
            writer.close()
            return
        if task is not None:
            self._clients[task] = uid
            task.add_done_callback(self._clients.pop)
        try:
            await self._serve(reader, writer, uid)
        except TimeoutError:
            writer.transport.abort()  # what it does not take would keep the descriptor
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError, ValueError):
            pass  # the client left, or sent a line beyond the limit; either way it is gone
        finally:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, uid: int) -> None:
        while True:
            async with asyncio.timeout(IDLE_S):
                line = await reader.readline()
            if not line:
                return
            try:
                request = json.loads(line)
                if not isinstance(request, dict):
                    raise ValueError("a request is a JSON object")  # noqa: TRY004, TRY301 - answered just below
            except (ValueError, RecursionError) as error:  # a line of brackets is deeper than the parser's stack
                await self._answer(writer, {"error": f"not a request: {error}"})
                continue
            match request.get("op"):
                case "snapshot":
                    await self._answer(writer, self._snapshot())
                case "subscribe":
                    await self._stream(writer)
                    return
                case _:
                    await self._answer(writer, await self._handle(request, uid))

    async def _stream(self, writer: asyncio.StreamWriter) -> None:
        seen = -1
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(ALIVE_INTERVAL_S), self._news:
                    await self._news.wait_for(lambda: self._version != seen)  # noqa: B023 - evaluated before it changes
            seen = self._version
            await self._send(writer, self._snapshot())
            await asyncio.sleep(PUSH_INTERVAL_S)

    async def _answer(self, writer: asyncio.StreamWriter, answer: Answer) -> None:
        async with asyncio.timeout(IDLE_S):
            await self._send(writer, answer)

    @staticmethod
    async def _send(writer: asyncio.StreamWriter, answer: Answer) -> None:
        writer.write(json.dumps(answer, separators=(",", ":")).encode() + b"\n")
        await writer.drain()
        await asyncio.sleep(ANSWER_INTERVAL_S)


def _bound(path: Path) -> socket.socket:
    """A listening socket at ``path``, for owner and group: the group may ask; the acts need more than that."""
    if len(os.fsencode(path)) > PATH_BYTES_MAX:
        raise _refused(path, f"its path is longer than {PATH_BYTES_MAX} bytes", "Choose a shorter one")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _make_room(path)
        listener.bind(str(path))
        path.chmod(0o660)  # before anybody can connect
        listener.listen(QUEUE)
    except OSError as error:
        listener.close()
        raise _refused(path, *_cause_and_step(path, error)) from error
    except BaseException:
        listener.close()
        raise
    return listener


def _make_room(path: Path) -> None:
    """Remove the socket of a daemon that is gone; nothing else is ever removed.

    Raises:
        ConfigError: there is something that is no socket, or somebody answers.
    """
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise _refused(path, "something that is no socket is there", "It was left as it is: choose another path")
    if answers(path):
        raise ConfigError(f"another daemon answers at {path}: stop it, or give this one another path with --socket")
    path.unlink()


def answers(path: Path) -> bool:
    """Whether somebody listens at ``path``. Only a refused connection or no socket at all says that nobody does.

    Raises:
        OSError: that cannot be told, for instance because we may not connect.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(PROBE_S)
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except (TimeoutError, BlockingIOError):
            return True
    return True


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _cause_and_step(path: Path, error: OSError) -> tuple[str, str]:
    match error:
        case FileNotFoundError():
            return f"there is no folder {path.parent}", "Make it, or give another path with --socket"
        case PermissionError():
            return (
                f"uid {os.getuid()} may not write there (permission denied)",
                "Give a path with --socket in a folder of this user, or run as the user that owns it",
            )
        case _:
            return error.strerror or str(error), "Give another path with --socket"


def _refused(path: Path, cause: str, step: str) -> ConfigError:
    return ConfigError(f"the control socket {path} cannot be opened: {cause}. {step}")


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
