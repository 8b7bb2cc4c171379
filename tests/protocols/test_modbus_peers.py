"""Every cell of the Modbus tables in docs/peers.md: an independent program, one function, both roles."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from crccheck.crc import CrcModbus
from modbus_peers import (
    COILS,
    HOLDING,
    INPUT_REGISTERS,
    INPUTS,
    LIMIT_S,
    SIZE,
    UNIT,
    LibmodbusMaster,
    Master,
    MbpollMaster,
    MinimalmodbusMaster,
    PamojaMaster,
    PymodbusMaster,
    RefusedError,
    libmodbus_slave,
    pamoja_slave,
    pymodbus_slave,
    served,
)
from pamoja import modbus as pamoja

import protocols
from meterd.config import BusConfig
from meterd.edge.modbus_line import BusStats, Line, ModuleRefusedError, Request
from protocols.modbus_crc import sealed
from protocols.modbus_slave import ModbusSlave, RegisterBank

ROOT = Path(__file__).resolve().parents[2]
VECTORS = json.loads((Path(protocols.__file__).parent / "vectors" / "modbus.json").read_text(encoding="utf-8"))
FUNCTIONS = ("01", "02", "03", "04", "05", "06", "0F", "10")
MASTERS: dict[str, Callable[[str], Master]] = {
    "libmodbus": LibmodbusMaster,
    "mbpoll": MbpollMaster,
    "pymodbus": PymodbusMaster,
    "minimalmodbus": MinimalmodbusMaster,
    "pamoja-modbus": PamojaMaster,
}
SLAVES: dict[str, Callable[[], AbstractContextManager[str]]] = {
    "libmodbus": libmodbus_slave,
    "pymodbus": pymodbus_slave,
    "pamoja-modbus": pamoja_slave,
}
HELD = {1: COILS, 2: INPUTS, 3: HOLDING, 4: INPUT_REGISTERS}
#: function → what is written at address 3, and the function that reads it back.
WRITTEN = {5: ([1], 1), 6: ([0xBEEF], 3), 15: ([1, 0, 1, 1, 0, 1, 1, 0, 1], 1), 16: ([0xCAFE, 0x0102], 3)}


def _programs(names: dict[str, Any]) -> list[Any]:
    """The programs that need a Debian package are run by CI alone."""
    return [pytest.param(name, marks=pytest.mark.peer) if name in {"libmodbus", "mbpoll"} else name for name in names]


def _bank() -> RegisterBank:
    return RegisterBank(bytearray(COILS), bytearray(INPUTS), list(HOLDING), list(INPUT_REGISTERS))


@pytest.fixture
def ours(request: pytest.FixtureRequest) -> Any:
    """A foreign master on a line with our module, and what our module holds."""
    bank = _bank()
    slave = ModbusSlave({UNIT: bank})
    with served(lambda data: b"".join(answer.frame for answer in slave.receive(data))) as port:
        yield MASTERS[request.param](port), bank


@pytest.mark.parametrize("ours", _programs(MASTERS), indirect=True)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_our_module_serves_a_foreign_master(ours: tuple[Master, RegisterBank], function: str) -> None:
    """What it reads is what our module holds; what it writes our module holds afterwards."""
    master, bank = ours
    code = int(function, 16)
    if code in HELD:
        assert [int(value) for value in HELD[code][2:11]] == [int(value) for value in master.read(code, 2, 9)]
        return
    values, read_by = WRITTEN[code]
    master.write(code, 3, values)
    held = bank.coils if read_by == 1 else bank.holding
    assert values == list(held[3 : 3 + len(values)])


@pytest.mark.parametrize("ours", _programs(MASTERS), indirect=True)
def test_our_module_refuses_a_foreign_master(ours: tuple[Master, RegisterBank]) -> None:
    """Beyond the map there is nothing: the master hears exception 2, or that it was refused."""
    master, _ = ours
    for function in (2, 4):
        with pytest.raises(RefusedError) as refused:
            master.read(function, SIZE, 2)
        assert refused.value.code in {2, 0}


async def _on_our_line(port: str, function: int, address: int, count: int, values: tuple[int, ...] = ()) -> Any:
    """One exchange of our line; 05 and 06, which it never sends itself, go through its client and guard too."""
    line = Line(BusConfig("b", "modbus", port, 115200), BusStats())
    await line.open()
    try:
        async with asyncio.timeout(LIMIT_S):
            if function not in {5, 6}:
                return (await line.ask(Request(UNIT, function, address, count, values), LIMIT_S)).values
            client, line._listening = line._client, True
            assert client is not None
            if function == 5:
                return await client.write_coil(address, bool(values[0]), device_id=UNIT)
            return await client.write_register(address, values[0], device_id=UNIT)
    finally:
        line.close()


@pytest.mark.parametrize("peer", _programs(SLAVES))
@pytest.mark.parametrize("function", FUNCTIONS)
def test_our_line_asks_a_foreign_module(peer: str, function: str) -> None:
    """What we read is what it holds; what we write is what we read back from it."""
    code = int(function, 16)
    with SLAVES[peer]() as port:
        if code in HELD:
            assert [int(value) for value in HELD[code][2:11]] == list(asyncio.run(_on_our_line(port, code, 2, 9)))
            return
        values, read_by = WRITTEN[code]
        asyncio.run(_on_our_line(port, code, 3, len(values), tuple(values)))
        assert values == list(asyncio.run(_on_our_line(port, read_by, 3, len(values))))


@pytest.mark.parametrize("peer", _programs(SLAVES))
def test_our_line_is_refused_by_a_foreign_module(peer: str) -> None:
    """Beyond its map a foreign module answers with an exception, and it is told as a refusal, not as silence."""
    with SLAVES[peer]() as port, pytest.raises(ModuleRefusedError):
        asyncio.run(_on_our_line(port, 2, SIZE + 8, 8))


def test_pamoja_builds_the_vectors_frames() -> None:
    """Requests built by a program in Rust are, byte for byte, those of the vectors."""
    built = {
        "read_discrete_inputs_req_u17_a0_n16": pamoja.read_discrete_inputs(17, 0, 16),
        "read_coils_req_u17_a0_n8": pamoja.read_coils(17, 0, 8),
        "read_input_registers_req_u17_a0_n8": pamoja.read_input_registers(17, 0, 8),
        "read_holding_registers_req_u1_a0_n4": pamoja.read_holding_registers(1, 0, 4),
    }
    frames = {vector["name"]: bytes.fromhex(vector["hex"]) for vector in VECTORS["frames"]}
    assert built == {name: frames[name] for name in built}
    bits = [bool(0xD5 >> n & 1) for n in range(8)]
    assert frames["write_multiple_coils_u17_a0_n8"] == pamoja.write_multiple_coils(17, 0, bits)


@pytest.mark.parametrize("vector", VECTORS["frames"], ids=lambda vector: vector["name"])
def test_every_vector_names_who_built_it_and_holds_an_independent_check(vector: dict[str, Any]) -> None:
    """Each frame says which programs gave these bytes; crccheck agrees with its check."""
    frame = bytes.fromhex(vector["hex"])
    assert vector["built_by"]
    assert CrcModbus.calc(frame[:-2]).to_bytes(2, "little") == frame[-2:]
    assert sealed(frame[:-2]) == frame


def test_the_page_lists_exactly_the_cells_that_are_tested() -> None:
    """docs/peers.md: rows are the programs, columns the functions, and every cell is marked."""
    page = (ROOT / "docs" / "peers.md").read_text(encoding="utf-8")
    for heading, programs in (("Masters that ask our module", MASTERS), ("Modules that our line asks", SLAVES)):
        _, _, rest = page.partition(f"### {heading}\n")
        rows = [[cell.strip() for cell in row.strip("| ").split("|")] for row in rest.split("\n\n")[1].splitlines()]
        assert ["program", *FUNCTIONS, "exceptions"] == rows[0]
        assert list(programs) == [re.sub(r" .*", "", row[0]) for row in rows[2:]]
        assert {"✓"} == {cell for row in rows[2:] for cell in row[1:]}
