"""Every byte that leaves for a sign, noted at the kernel's door, against what an independent program builds."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from floor_effects import unbacked
from floor_rig import Floor

from meterd.sim.plan import SignPlan
from meterd.sim.sign import AlphaSign, SignLine
from protocols.alpha import (
    EOT,
    ETX,
    SOH,
    STX,
    CallString,
    ClearMemory,
    Code,
    Command,
    ConfigureMemory,
    Mode,
    ReleasePriority,
    RunSequence,
    SetDay,
    SetTime,
    SetTimeFormat,
    StringFile,
    Transmission,
    WriteString,
    WriteText,
)
from protocols.alpha_parser import AlphaParser

pytestmark = pytest.mark.peer

CHARACTER_S = 11 / 9600
PEER = """
import json, sys
from readerboard.protocol import constants as c, frames as f
from readerboard.protocol.markup import render
STRINGS = {label: label.encode() for label in "abc"}
def built(kind, *what):
    if kind == "clear": return f.clear_memory()
    if kind == "release": return f.clear_priority_file()
    if kind == "string": return f.write_string_file(what[0].encode(), what[1].encode())
    if kind == "text":
        mode = c.MODE_HOLD if what[2] else c.MODE_ROTATE
        return f.write_text_file(what[0].encode(), render(what[1], variables=STRINGS), mode=mode)
    if kind == "sequence": return f.set_run_sequence([label.encode() for label in what[0]])
    if kind == "time": return f.set_time(*what)
    if kind == "day": return f.set_day_of_week(*what)
    if kind == "format": return f.set_time_format(*what)
    return f.set_memory_config([
        f.FileAllocation.string(label.encode(), size) if string else f.FileAllocation(label.encode(), size)
        for label, size, string in what[0]])
print(json.dumps([f.packet(built(kind, *what), sign_type=sign.encode(), address=address.encode()).hex()
                  for kind, what, sign, address in json.load(sys.stdin)]))
"""
MARKUP = {
    Code.RED: "<red>", Code.GREEN: "<green>", Code.AMBER: "<amber>", Code.FIXED_WIDTH_ON: "<fixed_width>",
    Code.FLASH_ON: "<flash_on>", Code.FLASH_OFF: "<flash_off>",
}  # fmt: skip


#: Every write of the daemon as the kernel took it: when, to which file, and the bytes.
TAP = ("strace", "-D", "-f", "--seccomp-bpf", "-ttt", "-y", "-xx", "-s", "9999", "-e", "trace=write", "-o")
WRITE = re.compile(r"(?P<at>\d+\.\d+) write\(\d+<(?P<file>[^>]*)>, \"(?P<data>(?:\\x[0-9a-f]{2})*)\"")


def pieces_to(port: Path, tap: Path) -> list[tuple[float, bytes]]:
    """What was written to a port, piece by piece, with the time when the last byte is off a line of 9600 baud."""
    device = str(port.resolve())
    found = []
    for line in tap.read_text("ascii", "replace").splitlines():
        match = WRITE.search(line)
        if match and bytes.fromhex(match["file"].replace("\\x", "")).decode() == device:
            data = bytes.fromhex(match["data"].replace("\\x", ""))
            found.append((float(match["at"]) + len(data) * CHARACTER_S, data))
    return found


def test_every_byte_to_a_sign_is_readerboards(make_floor: Callable[..., Floor]) -> None:
    """Start, figures, wins, closing: the whole stream equals the peer's, and the sign lost and emptied nothing."""
    floor = make_floor(speed=4, habits={"lucky": 1.0, "busy": 0.9})
    tap = floor.folder / "writes.strace"
    sim = floor.start_sim()
    run = floor.start_run(*TAP, str(tap))
    floor.until(lambda: win_came_and_went(floor), "a win on the sign, and its end", run, sim)
    floor.until_sim(24, "sign", run, sim, sign="pit-sign")
    assert floor.end(run) == 0
    floor.until(lambda: closed(floor), "a closed sign", sim)
    pieces = pieces_to(floor.ports / "sign-1", tap)
    assert floor.end(sim) == 0

    raw = b"".join(data for _, data in pieces)
    parser = AlphaParser()
    heard = parser.receive(raw)
    kinds = {type(command) for transmission in heard for command in transmission.commands}
    print(len(raw), "bytes,", len(heard), "transmissions,", sorted(kind.__name__ for kind in kinds))
    files = {ClearMemory, ConfigureMemory, WriteText, WriteString, ReleasePriority, RunSequence}
    assert {*files, SetTime, SetDay, SetTimeFormat} == kinds
    assert (0, False) == (parser.skipped.total(), parser.pending)
    assert readerboards(heard) == raw

    sign = AlphaSign(SignPlan("pit-sign", columns=13))
    line = SignLine([sign], CHARACTER_S)
    for at_s, data in pieces:
        line.serve(data, at_s)
    assert {} == sign.faults
    assert {"CLOSED"} == set(sign.figures().values())
    summary = sim.log.read()[-1]
    assert (True, 0) == (summary["sign_frames"] >= len(heard), summary["sign_faults"])
    assert [] == unbacked(floor, floor.records())


def win_came_and_went(floor: Floor) -> bool:
    """A priority message that names a table, and the figures again behind it, changed since."""
    texts = [e["text"] for e in floor.seen("display", sign="pit-sign")]
    wins = [n for n, text in enumerate(texts) if text.startswith("WIN ")]
    return bool(wins) and any(text.startswith("MEGA $") for text in texts[wins[0] :])


def closed(floor: Floor) -> bool:
    return floor.seen("display", sign="pit-sign")[-1]["text"] == "MEGA CLOSED MAJOR CLOSED MINOR CLOSED"


def readerboards(heard: list[Transmission]) -> bytes:
    """The same contents, built by the peer."""
    asked = [[*content(command), each.type_code, each.address] for each in heard for command in each.commands]
    built = subprocess.run(
        [os.environ["METERD_READERBOARD_PYTHON"], "-c", PEER],
        input=json.dumps(asked), capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    return b"".join(with_checksum(bytes.fromhex(each)) for each in json.loads(built.stdout))


def with_checksum(frame: bytes) -> bytes:
    """A frame of the peer, which sends none, with the sum of all bytes from STX to ETX."""
    at = frame.index(STX, frame.index(SOH))
    summed = frame[at:-1] + ETX
    return frame[:at] + summed + b"%04X" % (sum(summed) & 0xFFFF) + EOT


def content(command: Command) -> tuple[str, list[object]]:
    """A command in the peer's words."""
    match command:
        case ConfigureMemory(files):
            what = "memory", [[[file.label, file.size, isinstance(file, StringFile)] for file in files]]
        case WriteString(label, text):
            what = "string", [label, text]
        case WriteText(label, parts, mode):
            what = "text", [label, "".join(map(marked_up, parts)), mode is Mode.HOLD]
        case RunSequence(labels):
            what = "sequence", [labels]
        case SetTime(hour, minute):
            what = "time", [hour, minute]
        case SetDay(day):
            what = "day", [day]
        case SetTimeFormat(hours_24):
            what = "format", [hours_24]
        case _:
            what = {ClearMemory: "clear", ReleasePriority: "release"}[type(command)], []
    return what


def marked_up(part: str | Code | CallString) -> str:
    match part:
        case CallString(label):
            return f"<var:{label}>"
        case Code():
            return MARKUP[part]
    return part
