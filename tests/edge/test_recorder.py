"""The flight recorder: what it keeps, what it leaves out, and that nobody waits for it."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from meterd.edge.recorder import FORMAT, Recorder, read_frames, recording_of
from meterd.edge.trace import Head, Trace, WireFileError

FOREVER = 2**62


class Wires:
    """A trace whose clock is a number of ours."""

    def __init__(self) -> None:
        self.now_ns = 0
        self.trace = Trace(clock_ns=lambda: self.now_ns)
        self.note = {line: self.trace.of(line) for line in ("pit-1", "sign-1")}

    def exchange(self, line: str, sent: bytes, *heard: bytes) -> None:
        self.now_ns += 10_000_000
        self.note[line]("tx", sent)
        for piece in heard:
            self.note[line]("rx", piece)


def kept(folder: Path, *lines: str) -> list[tuple[str, str, str, int]]:
    frames = read_frames(folder, "boot-1", 0, FOREVER, frozenset(lines) or None)
    return [(frame["line"], frame["sent"], frame["heard"], frame.get("repeated", 0)) for frame in frames]


def test_a_table_at_rest_is_counted_and_a_change_is_written(tmp_path: Path) -> None:
    """The same answer to the same question is written once; the next other one says how often it came."""
    wires = Wires()
    recorder = Recorder(wires.trace, ["pit-1"], tmp_path, "boot-1")
    for n in range(200):
        wires.exchange("pit-1", bytes([2, n % 2]), b"\x00", b"\x01")
    wires.exchange("pit-1", b"\x02\x00", b"\x04\x01")
    wires.exchange("pit-1", b"\x02\x00", b"\x00\x01")
    wires.exchange("pit-1", b"\x02\x01", b"\x00\x01")
    recorder.drain()
    recorder.close()
    assert [
        ("pit-1", "0200", "0001", 0),
        ("pit-1", "0201", "0001", 0),
        ("pit-1", "0200", "0401", 198),
        ("pit-1", "0200", "0001", 0),
    ] == kept(tmp_path)


def test_a_quiet_line_is_told_of_every_ten_seconds(tmp_path: Path) -> None:
    """A line that repeats itself for an hour leaves a count each ten seconds, and silence leaves none."""
    wires = Wires()
    recorder = Recorder(wires.trace, ["pit-1"], tmp_path, "boot-1")
    for _ in range(40):
        for _ in range(100):
            wires.exchange("pit-1", b"\x02", b"\x00")
        recorder.drain()
    recorder.close()
    assert 4 == len(kept(tmp_path))
    assert 999 == kept(tmp_path)[1][3]


def test_what_was_heard_without_being_asked(tmp_path: Path) -> None:
    """Bytes before any question, and questions without an answer, are exchanges too."""
    wires = Wires()
    recorder = Recorder(wires.trace, ["sign-1"], tmp_path, "boot-1")
    wires.note["sign-1"]("rx", b"\xff")
    for sent in (b"a", b"b", b"a"):
        wires.exchange("sign-1", sent)
    wires.exchange("sign-1", b"c", b"d")
    wires.exchange("sign-1", b"e")
    recorder.drain()
    wires.now_ns += 2_000_000_000
    recorder.drain()
    recorder.close()
    told = [(bytes.fromhex(sent), bytes.fromhex(heard)) for _, sent, heard, _ in kept(tmp_path)]
    assert [(b"", b"\xff"), (b"a", b""), (b"b", b""), (b"c", b"d"), (b"e", b"")] == told, "the second a is a repetition"


def test_only_what_is_asked_for(tmp_path: Path) -> None:
    """A line, a boot and a time: nothing else is read out."""
    wires = Wires()
    recorder = Recorder(wires.trace, ["pit-1", "sign-1"], tmp_path, "boot-1", file_bytes=300)
    for n in range(100):
        wires.exchange(("pit-1", "sign-1")[n % 2], bytes([n]), bytes([n]))
    recorder.drain()
    recorder.close()
    assert len(list(tmp_path.glob("frames-*"))) > 5
    found = list(read_frames(tmp_path, "boot-1", 200_000_000, 300_000_000, frozenset({"pit-1"})))
    assert [210_000_000, 230_000_000, 250_000_000, 270_000_000, 290_000_000] == [frame["at_ns"] for frame in found]
    assert [] == list(read_frames(tmp_path, "boot-2", 0, FOREVER))


def test_the_oldest_files_go(tmp_path: Path) -> None:
    """All files together stay below what they may take."""
    wires = Wires()
    numbers = random.Random(1)
    recorder = Recorder(wires.trace, ["pit-1"], tmp_path, "boot-1", file_bytes=2_000, total_bytes=10_000)
    for _ in range(40):
        for _ in range(50):
            wires.exchange("pit-1", b"\x02", numbers.randbytes(8))
        recorder.drain()
    recorder.close()
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 10_500
    assert kept(tmp_path), "the newest are there"


def test_a_ring_that_was_faster_is_told(tmp_path: Path) -> None:
    """What the ring let go is counted; nothing else happens."""
    wires = Wires()
    told: list[str] = []
    recorder = Recorder(wires.trace, ["pit-1"], tmp_path, "boot-1", told=told.append)
    for n in range(3000):
        wires.exchange("pit-1", n.to_bytes(2, "big"), b"\x00")
    recorder.drain()
    recorder.close()
    assert (4976, ["frames of pit-1 passed faster than they were kept"]) == (recorder.lost, told)


@pytest.mark.parametrize("place", ["/proc/frames", "/dev/full/frames"])
def test_a_place_that_takes_nothing(place: str) -> None:
    """Trouble with the disk is told once, and the recorder ends when it is told to."""
    wires = Wires()
    told: list[str] = []
    recorder = Recorder(wires.trace, ["pit-1"], Path(place), "boot-1", told=told.append)
    for n in range(9):
        wires.exchange("pit-1", bytes([n]), b"\x00")
    recorder.start()
    recorder.stop()
    assert 1 == len(told)
    assert recorder.failures >= 1


def test_a_file_cut_short(tmp_path: Path) -> None:
    """A daemon that died in the middle of a line leaves all lines before it."""
    wires = Wires()
    recorder = Recorder(wires.trace, ["pit-1"], tmp_path, "boot-1")
    for n in range(10):
        wires.exchange("pit-1", bytes([n]), b"\x00")
    recorder.drain()
    recorder.close()
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    path.write_bytes(whole[:-7])
    assert 8 == len(kept(tmp_path))


HEADS = {
    "pit-1": Head("pit-1", "modbus", "/dev/pit", 115200, 10, boot="boot-1"),
    "sas-1": Head("sas-1", "sas", "/dev/sas", 19200, 11, boot="boot-1"),
}


def frames_file(folder: Path, heads: dict[str, Head]) -> Path:
    """A file of frames with an exchange of each line."""
    wires = Wires()
    wires.note["sas-1"] = wires.trace.of("sas-1")
    recorder = Recorder(wires.trace, ["pit-1", "sas-1"], folder, "boot-1", heads=heads)
    wires.exchange("pit-1", b"\x28\x02", b"\x05\x01")
    wires.exchange("sas-1", b"\x80\x86")
    wires.exchange("sas-1", b"\x81", b"\x01")
    wires.now_ns += 2_000_000_000
    recorder.drain()
    recorder.close()
    (path,) = folder.glob("frames-*.jsonl")
    return path


def test_frames_are_read_as_a_recording_of_one_line(tmp_path: Path) -> None:
    """The file says what its lines are; one that does not, or a line that it lacks, is refused with what there is."""
    path = frames_file(tmp_path / "a", HEADS)
    with path.open() as lines:
        found = recording_of(lines, "sas-1")
    assert found is not None
    assert HEADS["sas-1"] == found.head
    assert [("tx", b"\x80\x86"), ("tx", b"\x81"), ("rx", b"\x01")] == [(one.way, one.data) for one in found.pieces]
    for line, says in (
        (None, "there are pit-1, sas-1: give --line"),
        ("sas-2", "no line sas-2 in it: there are pit-1, sas"),
    ):
        with path.open() as lines, pytest.raises(WireFileError, match=says):
            recording_of(lines, line)
    with frames_file(tmp_path / "b", {}).open() as lines, pytest.raises(WireFileError, match="older version"):
        recording_of(lines, "sas-1")
    assert recording_of(["{}\n"], None) is None


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ('{"line":"sas-1","at_ns":1}', "line 4: .*: sent is missing"),
        ('{"line":"sas-1","at_ns":1,"sent":"8z","heard":""}', "line 4: .*: sent is no hex: '8z'"),
        ('{"line":"sas-1","at_ns":"x","sent":"80","heard":""}', "line 4: .*: at_ns is 'x'"),
        ('{"line":"sas-1","at_ns":true,"sent":"80","heard":""}', "line 4: .*: at_ns is True"),
        ('{"line":"sas-1","at_ns":1,"sent":"80","heard":128}', "line 4: .*: heard is 128"),
        ("5", "line 4: .*: line is missing"),
        ("[" * 100_000, "line 4: .*: line is missing"),
    ],
)
def test_an_odd_line_of_frames(tmp_path: Path, row: str, says: str) -> None:
    """To play a file again all of it must be right, and the line is named; a dispute takes what tells something."""
    path = frames_file(tmp_path, {"sas-1": HEADS["sas-1"]})
    first, one, other, *rest = path.read_text().splitlines()
    path.write_text("\n".join((first, one, other, row, *rest)) + "\n")
    with path.open() as lines, pytest.raises(WireFileError, match=says):
        recording_of(lines, "sas-1")
    assert ["8086", "81"] == [sent for _, sent, _, _ in kept(tmp_path, "sas-1")]


@pytest.mark.parametrize("odd", [{"baud": "x"}, {"baud": 0}, {"kind": "lamp"}, {"site": 5}, {"mono_ns": None}])
def test_odd_words_about_a_line(tmp_path: Path, odd: dict[str, object]) -> None:
    """What is said of a line is held against what a recording's head is."""
    about = {"sas-1": {**HEADS["sas-1"]._asdict(), **odd}}
    with pytest.raises(WireFileError, match=f"line 1: {next(iter(odd))} is "):
        recording_of([json.dumps({"format": FORMAT, "lines": about}) + "\n"], None)


def test_a_second_recorder_in_a_folder_keeps_nothing(tmp_path: Path) -> None:
    """It is told why; the first one's files stay; when that has ended the second goes on."""
    wires = Wires()
    told: list[str] = []
    first = Recorder(wires.trace, ["pit-1"], tmp_path, "boot-1")
    second = Recorder(wires.trace, ["sign-1"], tmp_path, "boot-1", told=told.append, total_bytes=1)
    wires.exchange("pit-1", b"\x01", b"\x00")
    first.drain(ending=True)
    wires.exchange("sign-1", b"\x02", b"\x00")
    second.start()
    second.stop()
    assert (1, [f"frames cannot be kept in {tmp_path}: another program keeps its frames there"]) == (
        second.failures,
        told,
    )
    wires.exchange("pit-1", b"\x03", b"\x00")
    first.drain(ending=True)
    first.close()
    assert [("pit-1", "01"), ("pit-1", "03")] == [row[:2] for row in kept(tmp_path)]
    wires.exchange("sign-1", b"\x04", b"\x00")
    second = Recorder(wires.trace, ["sign-1"], tmp_path, "boot-1", told=told.append)
    second.drain(ending=True)
    second.close()
    assert "04" in [row[1] for row in kept(tmp_path, "sign-1")]


def test_files_of_two_writers_are_read_side_by_side(tmp_path: Path) -> None:
    """A file does not end where another begins: an older version let two processes into one folder."""
    for line, from_s in (("pit-1", 10), ("sas-1", 20)):
        rows = [{"format": FORMAT, "boot": "boot-1", "from_ns": from_s * 10**9}]
        rows += [{"line": line, "at_ns": s * 10**9, "sent": "80", "heard": ""} for s in range(from_s, 100, 10)]
        path = tmp_path / f"frames-boot-1-{from_s * 10**9:020d}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "frames-boot-1-copy.jsonl").write_text("somebody's own\n")
    found = [
        (frame["line"], frame["at_ns"] // 10**9) for frame in read_frames(tmp_path, "boot-1", 5 * 10**10, 6 * 10**10)
    ]
    assert [("pit-1", 50), ("pit-1", 60), ("sas-1", 50), ("sas-1", 60)] == found


def test_files_that_ended_long_before_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a gigabyte is not gone through for a round of two minutes."""
    wires = Wires()
    recorder = Recorder(wires.trace, ["pit-1"], tmp_path, "boot-1", file_bytes=2_000)
    for n in range(400):
        wires.now_ns += 1_000_000_000
        wires.exchange("pit-1", n.to_bytes(2, "big"), bytes(20))
        recorder.drain()
    recorder.close()
    opened: list[Path] = []
    plain = Path.open

    def noted(path: Path, *words: Any, **more: Any) -> Any:
        if "rb" not in words:
            opened.append(path)
        return plain(path, *words, **more)

    monkeypatch.setattr(Path, "open", noted)
    assert 10 < len(list(read_frames(tmp_path, "boot-1", wires.now_ns - 20 * 10**9, FOREVER)))
    assert 1 <= len(opened) < 5 < len(list(tmp_path.iterdir()))


def test_a_folder_that_may_not_be_read_is_no_empty_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Frames of another user's process: whoever gathers a dispute is told, and does not take them for none."""
    assert [] == list(read_frames(tmp_path / "nothing", "boot-1", 0, FOREVER))

    def refused(_self: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refused)
    with pytest.raises(PermissionError):
        list(read_frames(tmp_path, "boot-1", 0, FOREVER))
