"""A dispute about a round that was really played: its pack holds what passed over the wires, and proves itself."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable

from floor_rig import LOCK_INPUT, Floor

from meterd import second_verifier
from meterd.edge.keys import new_key_file


def test_the_pack_of_a_played_round(make_floor: Callable[..., Floor]) -> None:
    """The LOCK is in the frames of the table's line, when the ledger says; the second verifier takes the file."""
    floor = make_floor(habits={"lucky": 0.3})
    sim = floor.start_sim()
    run = floor.start_run()
    floor.until_kinds(9, "GameEnded", run, sim)
    assert floor.end(run) == 0
    key = new_key_file(floor.folder / "ledger-key", "bench-2026")
    out = floor.folder / "round.json"
    arguments = [
        "dispute",
        str(floor.ledger),
        "LIR-1",
        "2",
        "--out",
        str(out),
        "--key",
        str(floor.folder / "ledger-key"),
    ]
    subprocess.run([sys.executable, "-m", "meterd", *arguments], check=True, capture_output=True)
    found = second_verifier.check_pack(out, [], [str(key)])
    assert (None, True) == (found["reason"], found["ok"])
    document = json.loads(out.read_text(encoding="utf-8"))
    assert {"pit-1", "keys-1"} == {frame["line"] for frame in document["frames"]}
    locked_ns = document["summary"]["locked_mono_ns"]
    assert any(pressed(frame) and abs(frame["at_ns"] - locked_ns) < 1e9 for frame in document["frames"])


def pressed(frame: dict[str, str]) -> bool:
    """Whether an exchange is a reply of the table's module (unit 60) to a read of its inputs, the lock button down."""
    heard = bytes.fromhex(frame["heard"])
    byte, bit = divmod(LOCK_INPUT, 8)
    return heard[:2] == bytes([60, 2]) and len(heard) > 3 + byte and bool(heard[3 + byte] >> bit & 1)
