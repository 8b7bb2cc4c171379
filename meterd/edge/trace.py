"""What passed over the wires lately: for each line a ring of byte pieces with their times, and files of them.

A driver is given the function :meth:`Trace.of` makes and calls it with ``tx`` or ``rx`` and the bytes; that costs a
tuple and takes no lock, so it may be called from any thread, one thread a line. Nothing is formatted before somebody
asks. The file is JSON Lines: a head, then one piece a line, as ``docs/wires.md`` says.

Times are nanoseconds of the monotonic clock, comparable with ``mono_ns`` in the ledger of the same boot.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final, NamedTuple, TypeGuard

#: Pieces kept for each line: at 40 exchanges a second some 12 s.
RING: Final = 1024
FORMAT: Final = "meterd-wire-1"
_NUMBERS: Final = frozenset({"baud", "bits", "mono_ns"})
KINDS: Final = ("modbus", "osdp", "alpha", "sas")  # lines that are heard

Tracer = Callable[[str, bytes], None]


class Piece(NamedTuple):
    """Bytes that passed at once. ``number`` counts the pieces of a line, from 1; ``way`` is ``tx`` or ``rx``."""

    number: int
    at_ns: int
    way: str
    data: bytes


class Heard(NamedTuple):
    """The pieces behind a number, the number to ask behind next, and how many the ring had let go by then."""

    pieces: tuple[Piece, ...]
    last: int
    lost: int


class _Ring:
    __slots__ = ("last_ns", "number", "pieces")

    def __init__(self, size: int) -> None:
        self.pieces: deque[Piece] = deque(maxlen=size)
        self.number = 0
        self.last_ns: dict[str, int] = {}


class Trace:
    """The rings of all lines, by the name of their bus."""

    def __init__(self, size: int = RING, clock_ns: Callable[[], int] = time.monotonic_ns) -> None:
        """Begin with no line."""
        self._size = size
        self._clock_ns = clock_ns
        self._rings: dict[str, _Ring] = {}

    def of(self, line: str) -> Tracer:
        """What the driver of ``line`` calls with each piece."""
        ring = self._rings.setdefault(line, _Ring(self._size))
        clock_ns = self._clock_ns

        def note(way: str, data: bytes) -> None:
            ring.number += 1
            at_ns = ring.last_ns[way] = clock_ns()
            ring.pieces.append(Piece(ring.number, at_ns, way, bytes(data)))

        return note

    def behind(self, line: str, number: int, most: int = RING) -> Heard:
        """The pieces of ``line`` behind ``number``, ``most`` at most; an unknown line has none.

        A negative number asks for none, and for the number to begin behind.
        """
        ring = self._rings.get(line)
        if number < 0:
            return Heard((), ring.number if ring is not None else 0, 0)
        kept = tuple(ring.pieces) if ring is not None else ()
        first = kept[0].number if kept else number + 1
        pieces = tuple(piece for piece in kept if piece.number > number)[:most]
        return Heard(pieces, pieces[-1].number if pieces else number, max(0, first - 1 - number))

    def now_ns(self) -> int:
        """This moment, by the clock of the pieces."""
        return self._clock_ns()

    def last_ns(self, line: str, way: str) -> int | None:
        """When a piece last passed that way."""
        ring = self._rings.get(line)
        return ring.last_ns.get(way) if ring is not None else None


class Head(NamedTuple):
    """The first line of a file: which line of which site, how it was set, and two clocks read together."""

    bus: str
    kind: str
    port: str
    baud: int
    bits: int
    site: str = ""
    boot: str = ""
    at_utc: str = ""
    mono_ns: int = 0
    mode: str = ""  # data bits, parity, stop bits: 8N1; an older recording does not say

    def to_json(self) -> str:
        """One line of the file, without its end."""
        return json.dumps({"format": FORMAT, **self._asdict()}, separators=(",", ":"))


def piece_json(piece: Piece, port: str) -> str:
    """One piece as a line of the file, without its end."""
    return json.dumps(
        {"n": piece.number, "at_ns": piece.at_ns, "port": port, "dir": piece.way, "hex": piece.data.hex()},
        separators=(",", ":"),
    )


class Recorder:
    """Writes a recording of one line, off the caller's path: a driver's thread hands a piece over and goes on.

    A file that cannot be written any more (a full disk) ends the recording, never the driver; ``cause`` says why.
    """

    def __init__(self, path: Path, head: Head, clock_ns: Callable[[], int] = time.monotonic_ns) -> None:
        """Begin a new file. Raises :class:`OSError` where that cannot be, also where it is there already."""
        self.cause = ""
        self._port = head.port
        self._clock_ns = clock_ns
        self._file = path.open("x", encoding="utf-8")
        self._file.write(head.to_json() + "\n")
        self._file.flush()
        self._waiting: SimpleQueue[Piece | None] = SimpleQueue()
        self._number = 0
        self._writer = threading.Thread(target=self._write, name=f"record {head.bus}", daemon=True)
        self._writer.start()

    def __call__(self, way: str, data: bytes) -> None:
        """Note a piece; from one thread."""
        self._number += 1
        if not self.cause:
            self._waiting.put(Piece(self._number, self._clock_ns(), way, bytes(data)))

    def close(self) -> None:
        """Write what waits, and end."""
        self._waiting.put(None)
        self._writer.join()

    def _write(self) -> None:
        try:
            with self._file:
                while (piece := self._waiting.get()) is not None:
                    self._file.write(piece_json(piece, self._port) + "\n")
                    if self._waiting.empty():
                        self._file.flush()
        except OSError as error:
            self.cause = error.strerror or str(error)


class Recording(NamedTuple):
    """A file: its head, its pieces, and how many were lost between them."""

    head: Head
    pieces: list[Piece]
    lost: int = 0


class WireFileError(ValueError):
    """A file that is no recording of a wire; the message names the line."""


def read_wire(lines: Iterable[str]) -> Recording:
    """A recording. Raises :class:`WireFileError` for what is none."""
    numbered = _objects(lines)
    _, first = next(numbered, (1, {}))
    if first.get("format") != FORMAT:
        raise WireFileError(f"line 1: no recording of a wire: it does not say {FORMAT}")
    try:
        head = Head(**{name: first[name] for name in Head._fields if name in first})
    except TypeError:
        missing = [name for name in Head._fields if name not in Head._field_defaults and name not in first]
        raise WireFileError(f"line 1: the head lacks {', '.join(missing)}") from None
    check_head(head)
    pieces, lost = [], 0
    for number, found in numbered:
        if set(found) == {"lost"} and _is_count(found["lost"]):
            lost += found["lost"]
        else:
            pieces.append(_piece(number, found))
    return Recording(head, pieces, lost)


def check_head(head: Head) -> None:
    """What is written by a program is right; what somebody changed by hand need not be.

    Raises:
        WireFileError: it is not; the message tells what.
    """
    for name, value in head._asdict().items():
        wanted, words = (int, "a whole number") if name in _NUMBERS else (str, "a text")
        if isinstance(value, bool) or not isinstance(value, wanted):
            raise WireFileError(f"line 1: {name} is {words}, not {value!r}")
    if head.kind not in KINDS:
        raise WireFileError(f"line 1: kind is one of {', '.join(KINDS)}, not {head.kind!r}")
    for name, least, most in (("baud", 1, 4_000_000), ("bits", 7, 12)):
        if not least <= getattr(head, name) <= most:
            raise WireFileError(f"line 1: {name} is a whole number from {least} to {most}, not {getattr(head, name)!r}")


def _objects(lines: Iterable[str]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                found = json.loads(line)
            except RecursionError as error:
                raise WireFileError(f"line {number}: no JSON object") from error
            except ValueError as error:
                if number > 1 and not line.endswith("\n"):  # the last line, cut as a disk filled or a laptop died
                    found = {"lost": 1}
                else:
                    raise WireFileError(f"line {number}: no JSON: {error}") from error
            if not isinstance(found, dict):
                raise WireFileError(f"line {number}: no JSON object")
            yield number, found


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _piece(number: int, found: Mapping[str, Any]) -> Piece:
    way, at_ns, count, data = (found.get(name) for name in ("dir", "at_ns", "n", "hex"))
    if not _is_count(at_ns) or not isinstance(data, str) or not (count is None or _is_count(count)):
        raise WireFileError(f"line {number}: a piece has n, at_ns, port, dir and hex: numbers and texts")
    if way not in ("tx", "rx"):
        raise WireFileError(f"line {number}: dir is tx or rx, not {way}")
    try:
        return Piece(number if count is None else count, at_ns, way, bytes.fromhex(data))
    except ValueError as error:
        raise WireFileError(f"line {number}: hex: {error}") from error
