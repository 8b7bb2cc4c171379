"""A simulated Alpha sign on a pseudo-terminal of its own, in the test's loop."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Iterator

from wire_rig import raw_pty

from meterd.sim.sign import AlphaSign, SignLine


class SignPort:
    """The signs of one line behind a pty: ``port`` is the name to open, ``heard`` what was sent to them."""

    def __init__(self, *signs: AlphaSign) -> None:
        self.line = SignLine(list(signs), 10 / 9600)
        self.heard = b""
        self._master, self.port = raw_pty()
        asyncio.get_running_loop().add_reader(self._master, self._ready)

    def _ready(self) -> None:
        with contextlib.suppress(OSError):  # hung up: nobody holds the other end
            data = os.read(self._master, 4096)
            self.heard += data
            said = self.line.serve(data, asyncio.get_running_loop().time())
            if said:
                os.write(self._master, said)
            return
        asyncio.get_running_loop().remove_reader(self._master)
        asyncio.get_running_loop().call_later(0.01, self._again)

    def _again(self) -> None:
        if self._master >= 0:
            asyncio.get_running_loop().add_reader(self._master, self._ready)

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._master)
        os.close(self._master)
        self._master = -1


@contextlib.contextmanager
def sign_port(*signs: AlphaSign) -> Iterator[SignPort]:
    """A line of signs for as long as the ``with`` lasts."""
    port = SignPort(*signs)
    try:
        yield port
    finally:
        port.close()
