"""A recorded Modbus line answers also what was not asked in just these bytes, and holds what is written to it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from test_sim_faults import Port, until

from meterd.sim.replay import Devices, Moment
from meterd.sim.replay_modbus import Memory, whole, words
from protocols.modbus_crc import sealed

INPUTS_16 = sealed(bytes.fromhex("28 02 0000 0010"))
INPUTS_8 = sealed(bytes.fromhex("28 02 0000 0008"))
COILS = sealed(bytes.fromhex("28 01 0000 0008"))
COUNTERS = sealed(bytes.fromhex("28 04 0000 0003"))
IDENTITY = sealed(bytes.fromhex("28 03 0064 0002"))
SET_3 = sealed(bytes.fromhex("28 0f 0000 0008 01 08"))


def taught() -> Memory:
    memory = Memory()
    assert memory.learn(INPUTS_16, sealed(bytes.fromhex("28 02 02 05 80")))
    assert memory.learn(COILS, sealed(bytes.fromhex("28 01 01 02")))
    assert memory.learn(COUNTERS, sealed(bytes.fromhex("28 04 06 0001 0002 0003")))
    return memory


def test_a_poll_of_another_length_is_answered_by_what_is_known() -> None:
    """Fewer inputs, one counter; what is not all known has no answer, and another unit has none."""
    memory = taught()
    assert sealed(bytes.fromhex("28 02 01 05")) == memory.answer(INPUTS_8)
    assert sealed(bytes.fromhex("28 04 02 0002")) == memory.answer(sealed(bytes.fromhex("28 04 0001 0001")))
    assert b"" == memory.answer(sealed(bytes.fromhex("28 04 0001 0003")))
    assert b"" == memory.answer(IDENTITY)
    assert b"" == memory.answer(sealed(bytes.fromhex("29 0f 0000 0008 01 08")))


def test_what_is_written_is_read_back_whatever_was_recorded() -> None:
    """The daemon of the rehearsal lights other lamps than that of the recording."""
    memory = taught()
    assert sealed(bytes.fromhex("28 0f 0000 0008")) == memory.answer(SET_3)
    assert sealed(bytes.fromhex("28 01 01 08")) == memory.answer(COILS)
    assert memory.learn(COILS, sealed(bytes.fromhex("28 01 01 02")))
    assert memory.rewritten(COILS)
    assert sealed(bytes.fromhex("28 01 01 08")) == memory.answer(COILS)
    text = sealed(bytes.fromhex("28 10 0000 0001 02 4142"))
    assert sealed(bytes.fromhex("28 10 0000 0001")) == memory.answer(text)
    assert sealed(bytes.fromhex("28 03 02 4142")) == memory.answer(sealed(bytes.fromhex("28 03 0000 0001")))


def test_what_is_no_good_answer_teaches_nothing() -> None:
    """A refusal, a bent reply, one of another length, and the first known value stays where that is asked for."""
    memory = Memory()
    for reply in ("28 82 02", "28 02 01 05", "29 02 02 05 80"):
        assert not memory.learn(INPUTS_16, sealed(bytes.fromhex(reply)))
    assert not memory.learn(INPUTS_16, bytes.fromhex("28 02 02 05 80 00 00"))
    assert memory.learn(COUNTERS, sealed(bytes.fromhex("28 04 06 0001 0002 0003")), first=True)
    assert memory.learn(COUNTERS, sealed(bytes.fromhex("28 04 06 0009 0009 0009")), first=True)
    assert sealed(bytes.fromhex("28 04 06 0001 0002 0003")) == memory.answer(COUNTERS)


def test_only_who_was_heard_is_told_what_it_is() -> None:
    """What the site file says of a module that never answered does not make it one that does."""
    memory = taught()
    memory.teach(0x28, 3, 100, (0x4D54, 0x5244))
    memory.teach(0x29, 3, 100, (0x4D54, 0x5244))
    assert sealed(bytes.fromhex("28 03 04 4D54 5244")) == memory.answer(IDENTITY)
    assert b"" == memory.answer(sealed(bytes.fromhex("29 03 0064 0002")))


def test_a_request_is_cut_from_what_was_heard_and_told_in_words() -> None:
    """Its length by its own bytes; noise has none."""
    assert [0, 8, len(SET_3)] == [whole(INPUTS_16[:7]), whole(INPUTS_16 + b"x"), whole(SET_3 + b"x")]
    assert [0, 0] == [whole(SET_3[:9]), whole(b"noise of a line")]
    assert "unit 40: read holding registers 100-101" == words(IDENTITY)
    assert "unit 40: set coils 0-7" == words(SET_3)
    assert "bytes 6e 6f" == words(b"no")


def test_devices_tell_what_they_cannot_answer(tmp_path: Path) -> None:
    """Once each; the rest goes on: a write that was never recorded is held, and read back."""

    async def work() -> None:
        told: list[bytes] = []
        moments = [
            Moment(1.0, True, COILS),
            Moment(1.001, False, sealed(bytes.fromhex("28 01 01 02"))),
        ]
        devices = Devices(tmp_path / "port", moments, modbus=True, told=told.append)
        port = Port(tmp_path / "port")
        for request, answer in (
            (IDENTITY, ""),
            (IDENTITY, ""),
            (COILS, "28 01 01 02"),
            (SET_3, "28 0f 0000 0008"),
            (COILS, "28 01 01 08"),
        ):
            before, asked = len(port.heard), devices.asked
            os.write(port.fd, request)
            await until(lambda asked=asked: devices.asked == asked + 1)  # type: ignore[misc]
            whole_answer = sealed(bytes.fromhex(answer)) if answer else b""
            await until(lambda at=before, due=whole_answer: port.heard[at:] == due)  # type: ignore[misc]
        assert [IDENTITY] == told
        assert (5, 3, 2) == (devices.asked, devices.answered, devices.unknown)
        port.close()
        devices.close()

    asyncio.run(work())
