"""The listener of the pages, opened before anything is served, so that what is wrong with it can be said in a line."""

from __future__ import annotations

import errno
import socket

from meterd.errors import ConfigError

#: What stops one address of a name and leaves the others: this machine does not have that family or that address.
_NOT_HERE = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)


def listeners(listen: str, port: int) -> list[socket.socket]:
    """Open sockets on every address of this machine that ``listen`` names; the caller closes them.

    Raises:
        ConfigError: none could be opened, or one is taken; the address, the cause and the next step are named.
    """
    where = f"[{listen}]:{port}" if ":" in listen else f"{listen}:{port}"
    try:
        found = socket.getaddrinfo(listen, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise ConfigError(
            f"cannot listen on {where}: {listen!r} names no address. Give --listen 127.0.0.1, or one of this machine's"
        ) from error
    opened: list[socket.socket] = []
    last: OSError | None = None
    for family, _, _, _, address in dict.fromkeys(found):
        try:
            opened.append(socket.create_server(address[:2], family=family))
        except OSError as error:
            last = error
            if error.errno not in _NOT_HERE:
                break
    if last is None or (opened and last.errno in _NOT_HERE):
        return opened
    for listener in opened:
        listener.close()
    raise ConfigError(f"cannot listen on {where}: {_cause_and_step(last)}") from last


def _cause_and_step(error: OSError) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return "the port is in use. Stop the program that listens there, or give another one with --port"
        case errno.EACCES | errno.EPERM:
            return "permission denied. Give a --port of 1024 or above"
        case number if number in _NOT_HERE:
            return "this machine has no such address. Give --listen 127.0.0.1, or one of this machine's"
        case _:
            return f"{error.strerror or error}. Give another address with --listen or another port with --port"
