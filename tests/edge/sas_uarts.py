"""UARTs that are not there: one that works, one that speaks too early, one without a ninth bit."""

from __future__ import annotations

import time
from collections import deque

from protocols.sas import Word


class FakeUart:
    """Each byte leaves with the parity that is set when it leaves, ``lag_s`` after it was written.

    ``honest`` says whether ``drain`` waits for that. ``ninth`` False: every word leaves plain. ``stuck`` True: parity
    never changes once it is set. Two of them can be joined by ``far``, who hears what leaves.
    """

    def __init__(
        self, *, lag_s: float = 0.0005, honest: bool = True, ninth: bool = True, far: FakeUart | None = None
    ) -> None:
        self.line: list[Word] = []
        self.heard: deque[Word] = deque()
        self.lag_s, self.honest, self.ninth, self.far = lag_s, honest, ninth, far
        self._mark = False
        self._waiting: deque[tuple[float, int]] = deque()
        self.closed = False

    def switch(self, *, mark: bool) -> None:
        self._leave()
        self._mark = mark

    def write(self, data: bytes) -> None:
        self._leave()
        last_s = self._waiting[-1][0] if self._waiting else time.monotonic()
        for byte in data:
            last_s = max(last_s, time.monotonic()) + self.lag_s
            self._waiting.append((last_s, byte))

    def drain(self) -> None:
        if self.honest and self._waiting:
            time.sleep(max(0.0, self._waiting[-1][0] - time.monotonic()))
            self._leave(everything=True)

    def read(self, timeout_s: float) -> list[Word]:
        found = list(self.heard)
        self.heard.clear()
        return found

    def close(self) -> None:
        self.closed = True

    def left(self) -> list[Word]:
        """What is on the line once nothing waits any more."""
        self._leave(everything=True)
        return self.line

    def _leave(self, *, everything: bool = False) -> None:
        while self._waiting and (everything or self._waiting[0][0] <= time.monotonic()):
            word = Word(self._waiting.popleft()[1], self._mark and self.ninth)
            self.line.append(word)
            if self.far is not None:
                self.far.heard.append(word)
