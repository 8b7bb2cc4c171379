"""OSDP frames and an independent panel.

The frames are captured ones and those our own driver and pad exchange; crccheck sums them. The panel is osdp 1.6, pure
Python: ``METERD_OSDP_PYTHON`` names an environment with ``pip install osdp==1.6`` (it has libosdp's import name).
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from crccheck.crc import Crc16AugCcitt
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from osdp_rig import KEY, Rig, cable

from meterd.sim.osdp_pad import OsdpPad
from protocols.osdp_keys import CLEAR_CODE, ENTER_CODE

ROOT = Path(__file__).parents[2]
VECTORS = json.loads((ROOT / "protocols" / "vectors" / "osdp.json").read_text("utf-8"))
FRAMES = [bytes.fromhex(frame["hex"]) for frame in (*VECTORS["plain"], *VECTORS["secure"]["frames"])]
LIMIT_S = 20.0

PANEL = """
import json, sys, time, threading
from osdp import ControlPanel, SerialPortOsdpConnection

port, master, wanted = sys.argv[1], bytes.fromhex(sys.argv[2]), int(sys.argv[3])
heard, enough = [], threading.Event()

class Panel(ControlPanel):
    def on_keypad_data_reply_received(self, address, data):
        heard.append(["keys", address, data.data.hex()])
        if len(heard) >= wanted: enough.set()
    def on_raw_card_data_reply_received(self, address, data):
        heard.append(["card", address, data.bit_count, data.data.hex()])
        if len(heard) >= wanted: enough.set()

panel = Panel(master_key=master)
bus = panel.start_connection(SerialPortOsdpConnection(port, 115200))
panel.add_device(bus, 5, True, True)
print("asking", flush=True)
enough.wait(15)
found = panel._buses[bus]._configured_devices[5].is_security_established
panel.shutdown()
print(json.dumps({"heard": heard, "secure": found}), flush=True)
"""


def check(frame: bytes) -> None:
    """Start, length and check of a frame, by another's sum."""
    body = frame[frame.index(0x53) :]
    assert len(body) == int.from_bytes(body[2:4], "little"), frame.hex()
    assert Crc16AugCcitt.calc(body[:-2]) == int.from_bytes(body[-2:], "little"), frame.hex()


@pytest.mark.parametrize("frame", FRAMES, ids=range(len(FRAMES)))
def test_captured_frames_sum_right(frame: bytes) -> None:
    """All of them."""
    check(frame)


def test_captured_keypad_replies_hold_the_codes_that_layouts_name() -> None:
    """1, 5, ENTER, CLEAR, and five digits in one reply."""
    keypad = [bytes.fromhex(frame["hex"]) for frame in VECTORS["plain"] if frame["name"] == "KEYPAD"]
    assert [b"1", b"5", bytes([ENTER_CODE]), bytes([CLEAR_CODE]), b"12345"] == [frame[8:-2] for frame in keypad]


def derived(master: bytes, pad_id: bytes) -> bytes:
    """What a tool that takes a master key gives the pad."""
    box = Cipher(algorithms.AES(master), modes.ECB()).encryptor()  # noqa: S305 - the standard's own derivation
    return box.update(pad_id + bytes(~byte & 0xFF for byte in pad_id))


def test_the_key_derived_from_a_master_key() -> None:
    """As osdp 1.6 derives it."""
    told = VECTORS["derived_key"]
    assert told["key"] == derived(bytes.fromhex(told["master"]), bytes.fromhex(told["id"])).hex()


def test_every_frame_between_our_driver_and_our_pad_sums_right(tmp_path: Path) -> None:
    """Both directions, from the first question to a text on the display."""
    pad = OsdpPad(5, KEY)

    async def go(line: Any) -> None:
        rig = Rig(tmp_path / "keys-1")
        try:
            await rig.heard.until(lambda: rig.heard.ups, LIMIT_S)
            with line.lock:
                pad.press("12345")
            await rig.heard.until(lambda: len(rig.heard.keys) == 5, LIMIT_S)
        finally:
            await rig.close()
        frames = [*rig.sent(), *line.replies]
        assert len(frames) > 10
        for frame in frames:
            check(frame)

    with cable(tmp_path / "keys-1", pad) as line:
        asyncio.run(go(line))


@pytest.mark.peer
def test_an_independent_panel_opens_a_session_with_our_pad_and_reads_its_keys(tmp_path: Path) -> None:
    """Osdp 1.6 with a master key; our pad with the key derived from it. Keys and a card arrive, decrypted."""
    python = os.environ.get("METERD_OSDP_PYTHON")
    if not python:
        pytest.skip("METERD_OSDP_PYTHON names no Python with osdp 1.6")
    master = bytes(range(16))
    pad = OsdpPad(5, derived(master, bytes.fromhex("babe02004d000000")))
    pad.press("1")
    pad.press("B3#")
    pad.card(26, bytes.fromhex("0123abc0"))
    with cable(tmp_path / "keys-1", pad):
        ran = subprocess.run(
            [python, "-c", PANEL, str(tmp_path / "keys-1"), master.hex(), "3"],
            capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
    told = json.loads(ran.stdout.splitlines()[-1])
    assert told["secure"], ran.stderr
    assert [["keys", 5, "31"], ["keys", 5, "42330d"], ["card", 5, 26, "0123abc0"]] == told["heard"]
