"""Takes from a Modbus line only the one reply that the last request can have, and counts the rest by cause.

A general Modbus client may hand a late reply of another function to its caller, take an echo for a finished write, or
lose every reply behind one stray byte. :func:`find_reply` is the cure: given the request and what was heard since, it
returns the only acceptable frame or nothing. :class:`Guard` wears the shape of pymodbus' ``trace_packet`` hook:

    guard = Guard()
    client = AsyncModbusSerialClient(port, …, retries=0, trace_packet=guard)

pymodbus 3.16 calls the hook with ``(True, request)`` before sending and ``(False, everything heard since)`` on each
arrival; what the hook returns is what its framer sees. What stays unread is dropped with the next request.

Not curable here: a late reply to the *same* request. Whoever polls alternates the count, so that it no longer fits.
"""

from __future__ import annotations

from collections import Counter
from typing import Final, NamedTuple

from protocols.errors import Cause
from protocols.modbus_crc import MAX_FRAME, MIN_FRAME, is_sealed

_EXCEPTION_LENGTH: Final = 5
_WRITE_REPLY_LENGTH: Final = 8
_READ_BITS: Final = (1, 2)
_READ_REGISTERS: Final = (3, 4)
_ECHOING: Final = (5, 6)
_WRITE_MANY: Final = (15, 16)
_KNOWN: Final = frozenset((*_READ_BITS, *_READ_REGISTERS, *_ECHOING, *_WRITE_MANY))
#: More than pymodbus keeps of a line (264 bytes) is never looked at.
_MAX_HEARD: Final = 264


class Found(NamedTuple):
    """``frame`` is the acceptable reply or empty. ``cause`` names what else was heard, or is None."""

    frame: bytes
    cause: Cause | None


def find_reply(request: bytes, heard: bytes, *, echo: bool = False) -> Found:
    """The acceptable reply to ``request`` in ``heard``.

    It has a good check, the request's unit and function (or function + 80 hex: an exception), the exact length the
    request calls for, and the echo fields of a write equal. On a line that echoes (``echo``) the reply must come after
    our own request. A frame still arriving is waited for: ``frame`` is empty and ``cause`` None.
    Any two byte strings are allowed; nothing is raised.
    """
    heard = heard[:_MAX_HEARD]
    head, length = _expected(request)
    if not head:
        return Found(b"", Cause.STRAY if heard else None)
    rest, echoed = _behind_echo(request, heard, echo=echo)
    start, frame, waiting = _hunt(head, length, request[1], rest)
    if frame:
        return Found(frame, Cause.ECHO if echoed and not echo else diagnose(request, rest[:start]))
    if echoed and not echo:
        return Found(b"", Cause.ECHO)
    return Found(b"", None if waiting else diagnose(request, rest))


def diagnose(request: bytes, heard: bytes) -> Cause | None:
    """Why ``heard`` holds no acceptable reply; None when nothing was heard."""
    if not heard:
        return None
    unit, function = request[0], request[1]
    shaped = False
    for start in range(len(heard)):
        length = _own_length(heard, start)
        if not length:
            continue
        frame = heard[start : start + length]
        ours = frame[0] == unit and frame[1] & 0x7F == function
        if len(frame) < length:
            if ours and start == 0:
                return Cause.CUT
        elif is_sealed(frame):
            if ours:
                return Cause.MISMATCH
            return Cause.WRONG_FUNCTION if frame[0] == unit else Cause.WRONG_UNIT
        shaped = shaped or ours
    if shaped:
        return Cause.CRC
    return Cause.CUT if len(heard) < MIN_FRAME and request.startswith(heard) else Cause.STRAY


class Guard:
    """:func:`find_reply` in the shape of pymodbus' ``trace_packet`` hook; one for each client, never shared.

    ``echo``: the line's adapter repeats what we send. ``counts``: occasions by cause since the start, at most one for
    each request that heard something it could not use.
    """

    def __init__(self, *, echo: bool = False) -> None:
        self.echo = echo
        self.counts: Counter[Cause] = Counter()
        self._request = b""
        self._answered = False
        self._heard = b""

    def __call__(self, sending: bool, data: bytes) -> bytes:
        """The hook. Returns what may go on: the request as it is, or a reply, or nothing yet."""
        return self.sending(data) if sending else self.receiving(data)

    def sending(self, request: bytes) -> bytes:
        """Remember the request about to be sent; what the last one left unread is counted now."""
        self.settle()
        self._request, self._answered = bytes(request), False
        return request

    def receiving(self, heard: bytes) -> bytes:
        """Look through everything heard since the request. A request is answered at most once."""
        if self._answered:
            self.counts[Cause.STRAY] += 1
            return b""
        found = find_reply(self._request, bytes(heard), echo=self.echo)
        if not found.frame:
            self._heard = bytes(heard)
            return b""
        if found.cause:
            self.counts[found.cause] += 1
        self._answered, self._heard = True, b""
        return found.frame

    def unechoed(self) -> bool:
        """Whether a good reply waits unread because this line is said to echo and our own request was not heard."""
        if not self.echo or self._answered or self._request in self._heard:
            return False
        return bool(find_reply(self._request, self._heard).frame)

    def settle(self) -> Cause | None:
        """The request was given up, or is about to be replaced: count why, once. None: nothing was heard."""
        heard, self._heard = self._heard, b""
        if not heard or self._answered or (self.echo and heard == self._request):
            return None
        found = find_reply(self._request, heard, echo=self.echo)
        cause = found.cause or Cause.CUT
        self.counts[cause] += 1
        return cause


def _expected(request: bytes) -> tuple[bytes, int]:
    """How the normal reply begins, and its whole length; empty where no reply is acceptable (broadcast, unknown)."""
    if len(request) < 8 or request[0] == 0 or request[1] not in _KNOWN:
        return b"", 0
    function = request[1]
    if function in _ECHOING:
        return request[:8], _WRITE_REPLY_LENGTH
    if function in _WRITE_MANY:
        return request[:6], _WRITE_REPLY_LENGTH
    count = int.from_bytes(request[4:6], "big")
    size = (count + 7) // 8 if function in _READ_BITS else 2 * count
    if not 0 < size <= MAX_FRAME - 5:
        return b"", 0
    return bytes((request[0], function, size)), size + 5


def _behind_echo(request: bytes, heard: bytes, *, echo: bool) -> tuple[bytes, bool]:
    """``heard`` without the first copy of our own request, and whether there was one.

    On a line known to echo, nothing before or without the echo counts. A reply to 05 and 06 *is* the request, so on
    other lines the first copy of such a one is the reply.
    """
    at = heard.find(request)
    if echo:
        return (heard[at + len(request) :], True) if at >= 0 else (b"", False)
    if at < 0 or request[1] in _ECHOING:
        return heard, False
    return heard[:at] + heard[at + len(request) :], True


def _hunt(head: bytes, length: int, function: int, heard: bytes) -> tuple[int, bytes, bool]:
    """Start and bytes of the first acceptable frame, and whether one may still be arriving.

    A frame that began and is not whole is waited for: nothing inside it is taken for a frame.
    """
    exception = bytes((head[0], function | 0x80))
    for start in range(len(heard)):
        rest = heard[start : start + max(length, _EXCEPTION_LENGTH)]
        for begin, size in ((head, length), (exception, _EXCEPTION_LENGTH)):
            if not (rest.startswith(begin) or begin.startswith(rest)):
                continue
            if len(rest) < size:
                return start, b"", True
            if is_sealed(rest[:size]):
                return start, rest[:size], False
    return 0, b"", False


def _own_length(heard: bytes, start: int) -> int:
    """The length a reply beginning at ``start`` would have by its own bytes; 0 when it cannot be one."""
    if start + 2 >= len(heard):
        return 0
    function = heard[start + 1]
    if function & 0x80:
        return _EXCEPTION_LENGTH if function & 0x7F in _KNOWN else 0
    if function in _READ_BITS or function in _READ_REGISTERS:
        return heard[start + 2] + 5
    return _WRITE_REPLY_LENGTH if function in _KNOWN else 0
