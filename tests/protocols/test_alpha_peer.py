"""The independent peer: readerboard, run in a Python of its own, builds the same content to the same bytes.

``METERD_READERBOARD_PYTHON`` names that Python (an environment with ``pip install --no-deps readerboard==0.7.0``).
"""

from __future__ import annotations

import json
import os
import random
import subprocess

import pytest

from protocols.alpha import (
    ClearMemory,
    Code,
    Command,
    ConfigureMemory,
    Figure,
    ReleasePriority,
    StringFile,
    TextFile,
    figure,
    figures_text,
    takeover,
    text_size,
    transmission,
)

pytestmark = pytest.mark.peer

PEER = """
import json, sys
from readerboard.protocol import constants as c, frames as f
from readerboard.protocol.markup import render
STRINGS = {"a": b"a", "b": b"b"}
def built(kind, *what):
    if kind == "clear": return f.clear_memory()
    if kind == "release": return f.clear_priority_file()
    if kind == "string": return f.write_string_file(what[0].encode(), what[1].encode())
    if kind == "text": return f.write_text_file(what[0].encode(), render(what[1], variables=STRINGS), mode=c.MODE_HOLD)
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
    text = figures_text("A", (Figure("MEGA", a), Figure("MAJOR", b)))
    amber = figures_text("A", (Figure("", a),), Code.AMBER)
    size = text_size(text)
    rows: list[tuple[Command, str, list[object]]] = [
        (ClearMemory(), "clear", []),
        (ConfigureMemory((TextFile("A", size), a, b)), "memory", [[["A", size], ["a", 16], ["b", 16]]]),
        (text, "text", ["A", "<fixed_width><red>MEGA <var:a><red>  MAJOR <var:b><red>"]),
        (amber, "text", ["A", "<fixed_width><amber><var:a><amber>"]),
        (takeover("JACKPOT! SEAT 3"), "text", ["0", "<red><flash_on>JACKPOT! SEAT 3<flash_off>"]),
        (takeover("MEGA", a), "text", ["0", "<red><flash_on>MEGA<flash_off> <var:a><red>"]),
        (ReleasePriority(), "release", []),
        (figure(a, "CLOSED"), "string", ["a", "CLOSED"]),
    ]
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
    answered = subprocess.run(
        [os.environ["METERD_READERBOARD_PYTHON"], "-c", PEER],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    ours = [transmission(command, *target).hex() for target in targets for command, _, _ in rows]
    assert json.loads(answered.stdout) == ours
