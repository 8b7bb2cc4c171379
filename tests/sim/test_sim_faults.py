"""A bad cable: faults at the stated rates, repeatable, in order, and a proxy that is only a cable at rate 0."""

from __future__ import annotations

import asyncio
import os
import termios
import tty
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meterd.sim.faults import BadCable, Fault, NoiseProxy, Rates
from meterd.sim.ports import Mode, PortRefusedError, close_port, open_port, take_name

LIMIT_S = 20


@pytest.mark.parametrize("rate", [1e-4, 1e-3, 1e-2])
def test_faults_happen_at_their_rate(rate: float) -> None:
    """Of a million bytes each of three faults hits its share, within five standard deviations."""
    cable = BadCable(Rates.noise(rate), "seed")
    for _ in range(10_000):
        cable.carry(bytes(100))
    for fault in (Fault.DROP, Fault.FLIP, Fault.DUPLICATE):
        assert abs(cable.counts[fault] - 1e6 * rate) < 5 * (1e6 * rate) ** 0.5
    assert 1_000_000 == cable.carried


def test_each_fault_does_what_it_says() -> None:
    """With a rate of one for every byte the effect is plain."""
    data = bytes(range(16))
    assert b"" == BadCable(Rates(drop=1), "0").carry(data)
    assert b"" == BadCable(Rates(cut=1), "0").carry(data)
    assert bytes(n for n in range(16) for _ in "ab") == BadCable(Rates(duplicate=1), "0").carry(data)
    assert data == BadCable(Rates(stray=1), "0").carry(data)[1::2]
    flipped = BadCable(Rates(flip=1), "0").carry(data)
    assert [1] * 16 == [(a ^ b).bit_count() for a, b in zip(data, flipped, strict=True)]
    delayed = BadCable(Rates(delay=1, delay_ms=20), "0").pieces(data)
    assert [(bytes((n,)), 0.02) for n in range(16)] == delayed


@given(st.lists(st.binary(max_size=40), max_size=20), st.integers(0, 99))
def test_the_same_seed_bends_the_same_bytes(pieces: list[bytes], seed: int) -> None:
    """However the bytes were cut into pieces: only a cut and a delay look at the piece."""
    rates = Rates(drop=0.03, flip=0.03, duplicate=0.03, stray=0.03)
    one, other = BadCable(rates, str(seed)), BadCable(rates, str(seed))
    assert one.carry(b"".join(pieces)) == b"".join(other.carry(piece) for piece in pieces)
    assert one.counts == other.counts


@given(st.lists(st.binary(min_size=1, max_size=30), max_size=20), st.integers(0, 99))
def test_a_delay_loses_nothing_and_changes_no_order(pieces: list[bytes], seed: int) -> None:
    """Late is not lost."""
    cable = BadCable(Rates(delay=0.2), str(seed))
    assert b"".join(pieces) == b"".join(cable.carry(piece) for piece in pieces)


@pytest.mark.parametrize("wrong", [{"drop": 1.1}, {"flip": -0.1}, {"drop": 0.6, "flip": 0.6}, {"delay_ms": -1}])
def test_what_is_no_share_is_refused(wrong: dict[str, float]) -> None:
    """A rate is a share of the bytes."""
    with pytest.raises(ValueError, match="0"):
        Rates(**wrong)


class Port:
    """What was heard at a port, and a way to wait for it."""

    def __init__(self, path: Path) -> None:
        self.fd = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(self.fd)
        self.heard = b""
        self.lost = False
        asyncio.get_running_loop().add_reader(self.fd, self._ready)

    def _ready(self) -> None:
        data = read(self.fd)
        self.heard += data
        if not data:  # hung up: ready, and nothing there
            self.lost = True
            asyncio.get_running_loop().remove_reader(self.fd)

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self.fd)
        os.close(self.fd)


def device(path: Path) -> int:
    """A device's end: the master of a pty whose slave has that name."""
    master, slave = os.openpty()
    tty.setraw(slave)
    path.unlink(missing_ok=True)
    path.symlink_to(os.ttyname(slave))
    os.close(slave)
    os.set_blocking(master, False)
    return master


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not true():  # noqa: ASYNC110 - a pty announces nothing
            await asyncio.sleep(0.002)


def read(fd: int) -> bytes:
    with suppress(OSError):
        return os.read(fd, 4096)
    return b""


async def heard(fd: int, size: int) -> bytes:
    got = bytearray()

    def enough() -> bool:
        got.extend(read(fd))
        return len(got) >= size

    await until(enough)
    return bytes(got)


@asynccontextmanager
async def proxy(folder: Path, rates: Rates, seed: str = "0") -> AsyncIterator[tuple[NoiseProxy, int]]:
    master = device(folder / "far")
    cable = NoiseProxy(folder / "near", folder / "far", rates, seed)
    try:
        yield cable, master
    finally:
        cable.close()
        os.close(master)


def test_without_faults_it_is_a_cable(tmp_path: Path) -> None:
    """Bytes arrive as they were sent, both ways; the port is there again for the next who opens it."""

    async def work() -> None:
        async with proxy(tmp_path, Rates()) as (cable, master):
            for turn in (b"one", b"two"):
                port = Port(tmp_path / "near")
                os.write(port.fd, turn + bytes(range(256)))
                assert turn + bytes(range(256)) == await heard(master, 259)
                os.write(master, bytes(range(255, -1, -1)))
                await until(lambda p=port: len(p.heard) == 256)  # type: ignore[misc]
                assert bytes(range(255, -1, -1)) == port.heard
                port.close()
            assert 0 == cable.counts.total()

    asyncio.run(work())


def test_an_echo_is_heard_by_its_sender(tmp_path: Path) -> None:
    """And the device hears it too."""

    async def work() -> None:
        async with proxy(tmp_path, Rates(echo=True)) as (_, master):
            port = Port(tmp_path / "near")
            os.write(port.fd, b"ask")
            assert b"ask" == await heard(master, 3)
            await until(lambda: port.heard == b"ask")
            port.close()

    asyncio.run(work())


def test_a_delay_is_kept_in_order(tmp_path: Path) -> None:
    """Each byte waits; none overtakes another."""

    async def work() -> None:
        async with proxy(tmp_path, Rates(delay=0.5, delay_ms=3)) as (cable, master):
            port = Port(tmp_path / "near")
            os.write(port.fd, bytes(range(40)))
            assert bytes(range(40)) == await heard(master, 40)
            assert cable.counts[Fault.DELAY] > 0
            port.close()

    asyncio.run(work())


def test_unplugged_swapped_and_rebooted(tmp_path: Path) -> None:
    """An unplugged port is an error for who holds it; a cable led elsewhere speaks to whom it finds there."""

    async def work() -> None:
        async with proxy(tmp_path, Rates()) as (cable, master):
            port = Port(tmp_path / "near")
            cable.unplug()
            await until(lambda: port.lost)
            assert not (tmp_path / "near").is_symlink()
            os.close(port.fd)
            cable.plug()
            other = device(tmp_path / "other")
            cable.lead_to(tmp_path / "other")
            port = Port(tmp_path / "near")
            os.write(port.fd, b"hello")
            assert b"hello" == await heard(other, 5)
            os.close(other)
            other = device(tmp_path / "other")
            got = bytearray()

            def reached() -> bool:
                os.write(port.fd, b"again")
                got.extend(read(other))
                return b"again" in got

            await until(reached)
            assert b"" == read(master)
            port.close()
            os.close(other)

    asyncio.run(work())


def test_a_port_that_is_held_is_refused_and_a_name_that_is_taken_stays(tmp_path: Path) -> None:
    """Neither side of a cable takes what is another's; when the holder lets go the far end is taken, set as stated."""

    async def work() -> None:
        master = device(tmp_path / "far")
        held = open_port(tmp_path / "far", Mode())
        cable = NoiseProxy(tmp_path / "near", tmp_path / "far", Rates(), mode=Mode(19200, 8, "N", 2))
        assert cable.refused is not None
        assert cable.refused.held
        close_port(held)
        await until(lambda: cable.refused is None)
        settings = termios.tcgetattr(master)
        assert [termios.B19200] * 2 == settings[4:6]
        assert settings[2] & termios.CSTOPB
        with pytest.raises(PortRefusedError, match="held by another program"):
            open_port(tmp_path / "far", Mode())
        cable.close()
        os.close(master)
        (tmp_path / "mine").write_text("precious")
        (tmp_path / "link").symlink_to(tmp_path / "mine")
        for name in ("mine", "link"):
            with pytest.raises(PortRefusedError, match="left as it is"):
                NoiseProxy(tmp_path / name, tmp_path / "far", Rates())
            take_name(tmp_path / name)
            assert "precious" == (tmp_path / name).read_text()
        with pytest.raises(PortRefusedError, match="does not exist"):
            NoiseProxy(tmp_path / "no" / "near", tmp_path / "far", Rates())
        assert not (tmp_path / "no").exists()

    asyncio.run(work())
