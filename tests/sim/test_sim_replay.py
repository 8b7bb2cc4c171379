"""A recorded wire as the other end: the same answers in their order; and a controller's side said again."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from test_sim_faults import Port, device, heard, until

from meterd.sim.replay import Answering, Devices, Moment, Spoken, say

ASK, OTHER = b"ask", b"other"
MOMENTS = [
    Moment(0.0, False, b"late"),
    Moment(1.0, True, ASK),
    Moment(1.25, False, b"on"),
    Moment(1.5, False, b"e"),
    Moment(2.0, True, OTHER),
    Moment(3.0, True, ASK),
    Moment(3.5, False, b"two"),
]


def test_answers_come_in_the_order_they_were_recorded() -> None:
    """The last one again and again; silence is an answer; what was never asked is None."""
    answering = Answering(MOMENTS)
    assert {ASK, OTHER} == answering.requests
    assert (Spoken(0.25, b"on"), Spoken(0.5, b"e")) == answering.answer(ASK)
    assert (Spoken(0.5, b"two"),) == answering.answer(ASK) == answering.answer(ASK)
    assert () == answering.answer(OTHER)
    assert answering.answer(b"new") is None


def test_devices_answer_as_they_did(tmp_path: Path) -> None:
    """Requests in pieces, one that was never made, then one that was; the port is gone at the end."""

    async def work() -> None:
        quick = [moment._replace(at_s=moment.at_s / 100) for moment in MOMENTS]
        devices = Devices(tmp_path / "port", quick)
        port = Port(tmp_path / "port")
        os.write(port.fd, b"as")
        await asyncio.sleep(0)
        os.write(port.fd, b"k")
        await until(lambda: port.heard == b"one")
        os.write(port.fd, b"never")
        await until(lambda: devices.unknown == 1)
        os.write(port.fd, ASK)
        await until(lambda: port.heard == b"onetwo")
        assert (3, 2) == (devices.asked, devices.answered)
        port.close()
        devices.close()
        assert not (tmp_path / "port").is_symlink()

    asyncio.run(work())


def test_the_controllers_side_is_said_again(tmp_path: Path) -> None:
    """In order, to a port that exists; what came back is counted."""

    async def work() -> None:
        master = device(tmp_path / "port")
        saying = asyncio.create_task(say(tmp_path / "port", MOMENTS, speed=100))
        assert ASK + OTHER + ASK == await heard(master, 11)
        os.write(master, b"ok")
        assert 2 == await saying
        os.close(master)
        with pytest.raises(OSError, match="nowhere"):
            await say(tmp_path / "nowhere", MOMENTS)

    asyncio.run(work())
