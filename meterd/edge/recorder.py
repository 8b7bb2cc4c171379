"""The flight recorder: what passed over the wires, kept on disk for the disputes of the last days.

Rule 1: it never stands in anybody's way: it reads the rings behind the drivers, in a thread of its own, and what it
        cannot keep (the ring was faster, the disk is full) is counted and told, and nothing else happens.
Rule 2: an exchange that repeats the last one with the same question is counted, not written again: a table at rest
        says the same ten times a second.
Rule 3: the oldest files go when all together are larger than they may be.
Rule 4: a process that has lines has a folder of its own: `meterd sas` keeps its frames where the daemon cannot write.
        Who comes second into a folder keeps nothing there, and is told so, until the first has ended.
Nothing here is proof: no hash in the ledger covers these files. Times are the monotonic clock of one boot, as
``mono_ns`` in the ledger.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from meterd.edge.trace import Head, Piece, Recording, Trace, WireFileError, check_head

FORMAT: Final = "meterd-frames-1"
EACH_S: Final = 0.25
FILE_BYTES: Final = 8 << 20
TOTAL_BYTES: Final = 512 << 20
#: Different questions remembered for each line; a line asks a few dozen.
QUESTIONS_MAX: Final = 512
#: The count of silent repetitions is written down at least this often, so that a file tells when a line went quiet.
COUNT_EACH_NS: Final = 10_000_000_000
#: Pieces sent closer together than this, with nothing heard between, are one sending.
TOGETHER_NS: Final = 5_000_000
#: An exchange that nothing ended for so long is over.
OVER_NS: Final = 1_000_000_000
#: Exchanges are written as they end, not as they began; so much earlier than the last of a file none is later in it.
ORDER_NS: Final = 10_000_000_000
TAIL_BYTES: Final = 64 << 10


class Exchange(NamedTuple):
    """What was sent at once, what was heard until the next was sent, and how often the same happened unwritten."""

    line: str
    at_ns: int
    sent: bytes
    heard: bytes
    repeated: int = 0

    def to_json(self) -> str:
        """One line of a file, without its end."""
        return json.dumps(
            {
                "line": self.line,
                "at_ns": self.at_ns,
                "sent": self.sent.hex(),
                "heard": self.heard.hex(),
                **({"repeated": self.repeated} if self.repeated else {}),
            },
            separators=(",", ":"),
        )


class _Line:
    """One line's exchanges: the one being put together, and the last answer to each question."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.behind = 0
        self._began: Piece | None = None
        self._last_ns = 0
        self._sent = b""
        self._heard = b""
        self._answers: dict[bytes, bytes] = {}
        self._repeated = 0
        self._told_ns = 0

    def take(self, pieces: Iterable[Piece]) -> Iterator[Exchange]:
        """The exchanges that these pieces end, but for those that repeat what is known."""
        for piece in pieces:
            if piece.way == "tx" and (self._heard or piece.at_ns - self._last_ns > TOGETHER_NS):
                yield from self._end()
            if self._began is None:
                self._began = piece
            self._last_ns = piece.at_ns
            if piece.way == "tx":
                self._sent += piece.data
            else:
                self._heard += piece.data

    def rest(self, now_ns: int, *, ending: bool) -> Iterator[Exchange]:
        """The exchange at hand, where nothing has followed for a while, or nothing will."""
        if ending or now_ns - self._last_ns > OVER_NS:
            yield from self._end()

    def _end(self) -> Iterator[Exchange]:
        if self._began is None:
            return
        sent, heard, at_ns = self._sent, self._heard, self._began.at_ns
        self._began, self._sent, self._heard = None, b"", b""
        if self._answers.get(sent) == heard and at_ns - self._told_ns < COUNT_EACH_NS:
            self._repeated += 1
            return
        if len(self._answers) >= QUESTIONS_MAX:
            self._answers.clear()
        self._answers[sent] = heard
        yield Exchange(self.name, at_ns, sent, heard, self._repeated)
        self._repeated, self._told_ns = 0, at_ns


class Recorder:
    """Drains the rings of some lines into files of a folder until it is told to end."""

    def __init__(
        self,
        trace: Trace,
        lines: Iterable[str],
        folder: Path,
        boot: str,
        *,
        total_bytes: int = TOTAL_BYTES,
        file_bytes: int = FILE_BYTES,
        told: Callable[[str], None] = lambda _why: None,
        heads: Mapping[str, Head] | None = None,
    ) -> None:
        """Nothing is written before :meth:`start`. ``told`` hears once of each kind of trouble.

        ``heads``: what each line is; the files say it, so that they can be read without the site file.
        """
        self.lost = 0
        self.failures = 0
        self._trace = trace
        self._lines = [_Line(name) for name in lines]
        self._folder, self._boot = folder, boot
        self._about = {name: head._asdict() for name, head in (heads or {}).items()}
        self._total_bytes, self._file_bytes = total_bytes, file_bytes
        self._told = told
        self._silenced: set[str] = set()
        self._file: IO[str] | None = None
        self._lock: int | None = None
        self._size = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Write what is there and end."""
        self._stop.set()
        self._thread.join(2.0)  # a disk that hangs must not keep a stop waiting

    def _run(self) -> None:
        last = False
        while not last:
            last = self._stop.wait(EACH_S)
            try:
                self.drain(ending=last)
            except OSError as cause:
                self.failures += 1
                self._tell(f"frames cannot be kept in {self._folder}: {cause.strerror or cause}")
                self.close()
        self.close()

    def drain(self, *, ending: bool = False) -> None:
        """Write down what passed since the last time; ``ending``: nothing will follow.

        Raises:
            OSError: the disk does not take it.
        """
        for line in self._lines:
            with suppress(RuntimeError):  # the ring grew while it was copied: the next round has it
                heard = self._trace.behind(line.name, line.behind)
                line.behind = heard.last
                if heard.lost:
                    self.lost += heard.lost
                    self._tell(f"frames of {line.name} passed faster than they were kept")
                for exchange in (*line.take(heard.pieces), *line.rest(self._trace.now_ns(), ending=ending)):
                    self._write(exchange)
        if self._file is not None:
            self._file.flush()

    def _write(self, exchange: Exchange) -> None:
        if self._file is None or self._size >= self._file_bytes:
            self._end_file()
            self._file = self._next_file(exchange.at_ns)
        text = exchange.to_json() + "\n"
        self._file.write(text)
        self._size += len(text)

    def _next_file(self, at_ns: int) -> IO[str]:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._hold()
        self._make_room()
        path = self._folder / f"frames-{self._boot}-{at_ns:020d}.jsonl"
        file = path.open("w", encoding="ascii")
        about = {"lines": self._about} if self._about else {}
        head = json.dumps({"format": FORMAT, "boot": self._boot, "from_ns": at_ns, **about}) + "\n"
        file.write(head)
        self._size = len(head)
        return file

    def _hold(self) -> None:
        """Rule 4; a lock on the folder itself, which ends with the process.

        Raises:
            OSError: somebody else has it.
        """
        if self._lock is not None:
            return
        lock = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as held:
            os.close(lock)
            raise OSError(held.errno, "another program keeps its frames there") from held
        except OSError:
            os.close(lock)
            raise
        self._lock = lock

    def _make_room(self) -> None:
        files = sorted(self._folder.glob("frames-*.jsonl"), key=lambda path: (path.stat().st_mtime_ns, path.name))
        total = sum(path.stat().st_size for path in files)
        for path in files:
            if total + self._file_bytes <= self._total_bytes:
                return
            total -= path.stat().st_size
            path.unlink()

    def close(self) -> None:
        """Close the file at hand and give the folder back; the next exchange begins another."""
        self._end_file()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _end_file(self) -> None:
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._file = None

    def _tell(self, why: str) -> None:
        kind = why.partition(":")[0]
        if kind not in self._silenced:
            self._silenced.add(kind)
            self._told(why)


def read_frames(
    folder: Path, boot: str, from_ns: int, to_ns: int, lines: frozenset[str] | None = None
) -> Iterator[Mapping[str, Any]]:
    """What was kept of one boot between two moments, as the files say it; lines that tell none are passed over.

    Raises:
        OSError: the folder or a file cannot be read; where there is no folder, nothing was kept.
    """
    if folder.exists():
        next(folder.iterdir(), None)  # a glob passes over what it may not read, and says nothing
    for path in sorted(folder.glob(f"frames-{boot}-*.jsonl")):
        start = path.stem.rpartition("-")[2]
        if not start.isdecimal() or int(start) > to_ns or _ended_before(path, from_ns):
            continue
        with path.open(encoding="ascii", errors="replace") as file:
            for text in file:
                found = _object(text)
                if (
                    _is_exchange(found)
                    and from_ns <= found["at_ns"] <= to_ns
                    and (lines is None or found["line"] in lines)
                ):
                    yield found


def _ended_before(path: Path, from_ns: int) -> bool:
    """Whether a file's last exchange was long before. Its name tells when it began, and the next one's only that."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - TAIL_BYTES))
        tail = file.read().decode("ascii", errors="replace")
    kept = [found["at_ns"] for found in map(_object, tail.splitlines()) if _is_exchange(found)]
    return bool(kept) and max(kept) < from_ns - ORDER_NS


def _is_exchange(found: Mapping[str, Any]) -> bool:
    """Whether a line tells one; the first line of a file does not, nor one cut short, nor what somebody wrote."""
    return not _oddity(found)


def _oddity(found: Mapping[str, Any]) -> str:
    """What is not as the recorder writes it, in words."""
    for name, wanted in (("line", str), ("at_ns", int), ("sent", str), ("heard", str)):
        value = found.get(name)
        if isinstance(value, bool) or not isinstance(value, wanted):
            return f"{name} is missing" if value is None else f"{name} is {value!r}"
    for name in ("sent", "heard"):
        try:
            bytes.fromhex(found[name])
        except ValueError:
            return f"{name} is no hex: {found[name]!r}"
    return ""


def recording_of(lines: Iterable[str], line: str | None) -> Recording | None:
    """One line's exchanges in a file of frames, as a recording; None for a file of another format.

    ``line`` may be left out where the file has one line only. What was not written again is not there: a pause in the
    times is a line that said the same.

    Raises:
        WireFileError: the file does not know the line, or not what kind of line it is; the message says what it has.
    """
    texts = enumerate(lines, 1)
    first = _object(next(texts, (1, ""))[1])
    if first.get("format") != FORMAT:
        return None
    name, head = _head(first.get("lines"), line)
    pieces: list[Piece] = []
    for number, text in texts:
        found = _object(text)
        if not found and not text.endswith("\n"):
            break  # the last line, cut as a disk filled or the power went
        if odd := _oddity(found):
            raise WireFileError(f"line {number}: an exchange has line, at_ns, sent and heard: {odd}")
        if found["line"] == name:
            for way, data in (("tx", found["sent"]), ("rx", found["heard"])):
                if data:
                    pieces.append(Piece(len(pieces) + 1, found["at_ns"], way, bytes.fromhex(data)))
    return Recording(head, pieces)


def _head(about: Any, line: str | None) -> tuple[str, Head]:
    """The line that was asked for, or the only one, and what the first line of a file says of it."""
    if not isinstance(about, dict) or not about:
        raise WireFileError("line 1: these frames do not say what their lines are: they are of an older version")
    if line is None and len(about) == 1:
        line = next(iter(about))
    if line is None:
        raise WireFileError(f"which line? there are {', '.join(about)}: give --line")
    if line not in about:
        raise WireFileError(f"there is no line {line} in it: there are {', '.join(about)}")
    try:
        head = Head(**{name: about[line][name] for name in Head._fields if name in about[line]})
    except TypeError as error:
        raise WireFileError(f"line 1: what is said of {line} is not whole") from error
    check_head(head)
    return line, head


def _object(text: str) -> Mapping[str, Any]:
    """A line of a file; nothing where it is cut short."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
