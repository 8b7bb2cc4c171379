"""The independent peers of Alpha signs, each in a Python of its own.

readerboard builds the same bytes and reads our sign's answers; alphasignpy, which sends checksums, sums the same.

``METERD_READERBOARD_PYTHON`` names an environment with ``pip install --no-deps readerboard==0.7.0``,
``METERD_ALPHASIGN_PYTHON`` one with ``alphasignpy==0.1.1``.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path

import pytest

from meterd.sim.plan import SignPlan
from meterd.sim.sign import AlphaSign, SignLine
from protocols.alpha import (
    ClearMemory,
    Code,
    Command,
    ConfigureMemory,
    ReadInformation,
    ReadMemory,
    ReadString,
    ReleasePriority,
    RunSequence,
    SetDay,
    SetTime,
    SetTimeFormat,
    SoftReset,
    StringFile,
    TextFile,
    Tone,
    WriteString,
    figure,
    text_size,
    transmission,
)
from protocols.alpha_pages import Figure, pages, takeover

pytestmark = pytest.mark.peer

PEER = """
import json, sys
from readerboard.protocol import constants as c, frames as f
from readerboard.protocol.markup import render
STRINGS = {"a": b"a", "b": b"b"}
PLAIN = {"time": "set_time", "day": "set_day_of_week", "format": "set_time_format", "reset": "soft_reset",
         "tone": "sound_tone", "beeps": "sound_beeps", "information": "read_general_information",
         "memory?": "read_memory_config"}
def built(kind, *what):
    if kind == "clear": return f.clear_memory()
    if kind == "release": return f.clear_priority_file()
    if kind == "string": return f.write_string_file(what[0].encode(), what[1].encode())
    if kind == "text":
        mode = c.MODE_ROTATE if what[2:] else c.MODE_HOLD
        return f.write_text_file(what[0].encode(), render(what[1], variables=STRINGS), mode=mode)
    if kind == "sequence": return f.set_run_sequence([label.encode() for label in what[0]])
    if kind == "read": return f.read_string_file(what[0].encode())
    if kind in PLAIN: return getattr(f, PLAIN[kind])(*what)
    return f.set_memory_config([
        f.FileAllocation.string(label.encode(), size) if label.islower() else f.FileAllocation(label.encode(), size)
        for label, size in what[0]])
out = []
for kind, what, (sign, address) in json.load(sys.stdin):
    out.append(f.packet(built(kind, *what), sign_type=sign.encode(), address=address.encode()).hex())
json.dump(out, sys.stdout)
"""


def contents(seed: int) -> list[tuple[Command, str, list[object]]]:
    """The same content twice: as our command, and as the peer's words for it."""
    chance = random.Random(seed)
    a, b = StringFile("a", 16), StringFile("b", 16)
    page, mega, major, notice = pages((Figure("MEGA", a, 13), Figure("MAJOR", b, 7)), 13, "Part may be kept.")
    (amber,) = pages((Figure("", a, 13),), 13, colour=Code.AMBER)
    size = text_size(major)
    rows: list[tuple[Command, str, list[object]]] = [
        (ClearMemory(), "clear", []),
        (ConfigureMemory((TextFile("A", size), a, b)), "memory", [[["A", size], ["a", 16], ["b", 16]]]),
        (page, "text", ["A", "<fixed_width><red>MEGA"]),
        (mega, "text", ["B", "<fixed_width><red><var:a><red>"]),
        (major, "text", ["C", "<fixed_width><red>MAJOR <var:b><red>"]),
        (notice, "text", ["D", "<red>Part may be kept.", "rotate"]),
        (amber, "text", ["A", "<fixed_width><amber><var:a><amber>"]),
        (takeover("WIN SEAT 3", 13), "text", ["0", "<red><flash_on>WIN SEAT 3<flash_off>"]),
        (takeover("JACKPOT! SEAT 3", 13), "text", ["0", "<red><flash_on>JACKPOT! SEAT 3<flash_off>", "rotate"]),
        (takeover("MEGA", 13, a), "text", ["0", "<red><flash_on>MEGA<flash_off> <var:a><red>", "rotate"]),
        (ReleasePriority(), "release", []),
        (figure(a, "CLOSED"), "string", ["a", "CLOSED"]),
        (RunSequence("ABCD"), "sequence", ["ABCD"]),
        (SetDay(7), "day", [7]),
        (SetTimeFormat(), "format", [True]),
        (SetTimeFormat(hours_24=False), "format", [False]),
        (SoftReset(), "reset", []),
        (Tone(), "tone", []),
        (Tone(beeps=True), "beeps", []),
        (ReadInformation(), "information", []),
        (ReadMemory(), "memory?", []),
        (ReadString("b"), "read", ["b"]),
    ]
    rows += [(SetTime(hour, minute), "time", [hour, minute]) for hour, minute in ((0, 0), (23, 59), (9, 5))]
    for _ in range(200):
        value = f"${chance.randrange(10**9) / 100:,.2f}"
        rows.append((figure(b, value), "string", ["b", value]))
    return rows


def test_every_frame_equals_readerboards() -> None:
    """Clear, configure, TEXT, STRING, priority and release are byte for byte the peer's, NULs and target included."""
    seed = 20261130
    print("seed", seed)
    rows, targets = contents(seed), [("Z", "00"), ("^", "01"), ("Z", "3F")]
    asked = [(kind, what, target) for target in targets for _, kind, what in rows]
    ours = [transmission(command, *target).hex() for target in targets for command, _, _ in rows]
    assert asked_of("METERD_READERBOARD_PYTHON", PEER, asked) == ours


def asked_of(python: str, program: str, what: object) -> object:
    """What a peer's program answers to JSON on its standard input."""
    answered = subprocess.run(
        [os.environ[python], "-c", program], input=json.dumps(what), capture_output=True, text=True, check=True,
        timeout=60,
    )  # fmt: skip
    return json.loads(answered.stdout)


READER = """
import dataclasses, json, sys
from readerboard.protocol import replies as r
said = [bytes.fromhex(each) for each in json.load(sys.stdin)]
print(json.dumps([dataclasses.asdict(r.parse_general_information(said[0])), r.unwrap(said[1], b"$").decode(),
                  r.unwrap(said[2], b"a", command=b"G").decode()]))
"""


def test_what_our_sign_answers_is_what_readerboard_reads() -> None:
    """Information, memory configuration and a STRING of the simulated sign, read by the peer's parser."""
    line, said, now = SignLine([AlphaSign(SignPlan("s"))], 0.001), [], 10.0
    memory = ConfigureMemory((TextFile("A", 256), StringFile("a", 16)))
    for command in (
        *(ClearMemory(), memory, SetTime(14, 30), WriteString("a", "$12,345.67")),
        *(ReadInformation(), ReadMemory(), ReadString("a")),
    ):
        now += 5.0
        said.append(line.serve(transmission(command, checked=True), now))
    information, files, text = asked_of("METERD_READERBOARD_PYTHON", READER, [each.hex() for each in said[-3:]])  # type: ignore[misc]
    told = ("14:30", "24 hour", True, 0x7F00, 0x7F00 - 256 - 16 - 26)
    keys = ("clock", "time_format", "speaker_enabled", "memory_total", "memory_free")
    assert told == tuple(information[key] for key in keys)
    assert ("AAU0100FFFFaBL00100000", "$12,345.67") == (files, text)


SUMS = r"""
import json, sys
from alphasign.packet import Packet
class Raw:
    def __init__(self, body): self.code, self.body = body[:1], body[1:]
    def to_bytes(self): return self.body
out = []
for body, sign, address in json.load(sys.stdin):
    out.append(Packet(sign.encode(), address).add(Raw(bytes.fromhex(body))).to_bytes().replace(b"\xff", b"").hex())
print(json.dumps(out))
"""


def test_every_checksum_equals_alphasignpys() -> None:
    """The same commands framed by a program that always sends checksums; its five NULs and marks of pauses apart."""
    rows, asked, ours = contents(20261130), [], []
    for target in ("Z", "00"), ("^", "1F"):
        for command, _, _ in rows:
            plain = transmission(command, *target)
            asked.append([plain[11:-1].hex(), *target])
            ours.append(transmission(command, *target, checked=True)[1:].hex())
    assert asked_of("METERD_ALPHASIGN_PYTHON", SUMS, asked) == ours


def test_the_page_marks_what_is_compared() -> None:
    """docs/peers.md has a column for each kind of content, for answers and for checksums, and no mark besides."""
    page = (Path(__file__).parents[2] / "docs" / "peers.md").read_text("utf-8")
    section = page.partition("## Alpha signs")[2].partition("\n## ")[0]
    head, _, readerboard, alphasignpy = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("|")
    ]
    kinds = {kind for _, kind, _ in contents(1)}
    marked = {
        row[0][:11]: {c for c, mark in zip(head, row, strict=True) if mark == "✓"} for row in (readerboard, alphasignpy)
    }
    assert {"readerboard": {*kinds, "answers"}, "alphasignpy": {"checksum"}} == marked
    assert {"program", "answers", "checksum", *kinds} == set(head)
