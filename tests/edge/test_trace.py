"""The trace of the wires: what passed, numbered, bounded; and its file, both ways."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meterd.edge.trace import FORMAT, Head, Piece, Recorder, Trace, WireFileError, piece_json, read_wire

HEAD = Head("pit-1", "modbus", "/dev/x", 115200, 10, "riverside", "boot", "2026-12-01T06:00:00.000000Z", 5)


def test_pieces_are_numbered_and_the_oldest_go_first() -> None:
    """A ring of four: who asks behind a number hears what is left, and how many he missed."""
    ticks = iter(range(100))
    trace = Trace(4, lambda: next(ticks))
    note = trace.of("pit-1")
    for n in range(6):
        note("tx" if n % 2 else "rx", bytes((n,)))
    heard = trace.behind("pit-1", 1)
    assert [Piece(n + 1, n, "tx" if n % 2 else "rx", bytes((n,))) for n in range(2, 6)] == list(heard.pieces)
    assert (6, 1) == (heard.last, heard.lost)
    assert ((), 6, 0) == trace.behind("pit-1", 6)
    assert [3, 4] == [piece.number for piece in trace.behind("pit-1", 0, 2).pieces]
    assert (5, 4, None) == (trace.last_ns("pit-1", "tx"), trace.last_ns("pit-1", "rx"), trace.last_ns("keys", "rx"))
    assert ((), 0, 0) == trace.behind("unknown", 0) == trace.behind("unknown", -1)
    assert ((), 6, 0) == trace.behind("pit-1", -1)


def test_lines_are_noted_from_their_own_threads() -> None:
    """Each line has one writer; a reader asks meanwhile and sees each piece once, in order."""
    trace = Trace(100_000)
    done = threading.Event()

    def write(line: str) -> None:
        note = trace.of(line)
        for n in range(5000):
            note("rx", n.to_bytes(2, "big"))
        done.set()

    threads = [threading.Thread(target=write, args=(line,)) for line in ("a", "b")]
    for thread in threads:
        thread.start()
    seen: dict[str, list[int]] = {"a": [], "b": []}
    while any(thread.is_alive() for thread in threads) or any(len(each) < 5000 for each in seen.values()):
        for line, numbers in seen.items():
            numbers += [piece.number for piece in trace.behind(line, len(numbers), 500).pieces]
    assert {"a": list(range(1, 5001)), "b": list(range(1, 5001))} == seen


@given(
    st.lists(st.tuples(st.integers(0, 2**63), st.sampled_from(["tx", "rx"]), st.binary(max_size=40)), max_size=20),
)
def test_the_file_is_read_back(rows: list[tuple[int, str, bytes]]) -> None:
    """Head and pieces, whatever the bytes."""
    pieces = [Piece(n, *row) for n, row in enumerate(rows, 1)]
    lines = [HEAD.to_json(), *(piece_json(piece, HEAD.bus) for piece in pieces), '{"lost":3}', ""]
    assert (HEAD, pieces, 3) == read_wire(lines)


@pytest.mark.parametrize(
    ("lines", "where"),
    [
        ([], "line 1"),
        (["{"], "line 1"),
        (["[]"], "line 1"),
        ([json.dumps({"format": "other"})], "line 1"),
        ([json.dumps({"format": FORMAT})], "line 1"),
        ([HEAD.to_json(), "{\n", "\n"], "line 2"),
        ([HEAD.to_json(), '{"at_ns": 1, "dir": "up", "hex": ""}'], "line 2"),
        ([HEAD.to_json(), '{"at_ns": 1, "dir": "rx", "hex": "0"}'], "line 2"),
        ([HEAD.to_json(), '{"at_ns": "soon", "dir": "rx", "hex": "00"}'], "line 2"),
        ([HEAD.to_json(), '{"at_ns": Infinity, "dir": "rx", "hex": "00"}'], "line 2"),
        ([HEAD.to_json(), '{"at_ns": 1, "n": 1e400, "dir": "rx", "hex": "00"}'], "line 2"),
        ([HEAD.to_json(), '{"at_ns": 1, "n": [], "dir": "rx", "hex": "00"}'], "line 2"),
        ([HEAD.to_json(), '{"at_ns": 1, "dir": "rx", "hex": 0}'], "line 2"),
        ([HEAD.to_json(), '{"at_ns": 1, "dir": ["rx"], "hex": "00"}'], "line 2"),
        ([HEAD.to_json(), '{"lost": -5}'], "line 2"),
        ([HEAD.to_json(), "[" * 100_000 + "\n"], "line 2"),
        (["[" * 100_000 + "\n"], "line 1"),
        ([HEAD._replace(port=["/dev/x"]).to_json()], "line 1: port is a text"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_recording(lines: list[str], where: str) -> None:
    """The message names the line."""
    with pytest.raises(WireFileError, match=where):
        read_wire(lines)


def test_a_recorder_keeps_nobody_waiting(tmp_path: Path) -> None:
    """Pieces are on disk once it is closed, in order; a file that is there is not written over."""
    ticks = iter(range(10_000))
    recorder = Recorder(tmp_path / "x.jsonl", HEAD, lambda: next(ticks))
    for n in range(5000):
        recorder("tx" if n % 2 else "rx", bytes((n % 256,)))
    recorder.close()
    with (tmp_path / "x.jsonl").open() as lines:
        head, pieces, lost = read_wire(lines)
    assert (HEAD, 5000, 0, "") == (head, len(pieces), lost, recorder.cause)
    assert list(range(5000)) == [piece.at_ns for piece in pieces]
    with pytest.raises(FileExistsError):
        Recorder(tmp_path / "x.jsonl", HEAD)


def test_a_full_disk_ends_the_recording_and_nothing_else(tmp_path: Path) -> None:
    """The driver that hands pieces over notices nothing; why is known."""
    recorder = Recorder(tmp_path / "x.jsonl", HEAD)
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, recorder._file.fileno())
    os.close(full)
    for _ in range(3):
        recorder("tx", b"abc")
    recorder.close()
    recorder("tx", b"abc")
    assert "No space left on device" == recorder.cause


def test_a_recording_that_was_cut_is_read_as_far_as_it_goes() -> None:
    """A full disk or a flat battery ends a file in the middle of a line: one piece is lost, not all."""
    piece = Piece(1, 7, "rx", b"abc")
    lines = [HEAD.to_json() + "\n", piece_json(piece, HEAD.bus) + "\n", piece_json(piece, HEAD.bus)[:-9]]
    assert (HEAD, [piece], 1) == read_wire(lines)
