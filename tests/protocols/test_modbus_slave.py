"""The module side answers what the protocol says, from any bytes in any pieces."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import protocols
from protocols.errors import Cause
from protocols.modbus_crc import sealed
from protocols.modbus_guard import find_reply
from protocols.modbus_slave import ModbusSlave, RegisterBank, pack_bits, unpack_bits

VECTORS = {
    vector["name"]: bytes.fromhex(vector["hex"])
    for vector in json.loads((Path(protocols.__file__).parent / "vectors" / "modbus.json").read_text())["frames"]
}


def bank_17() -> RegisterBank:
    inputs = bytearray(unpack_bits(b"\x0d\x80", 16))
    return RegisterBank(bytearray(unpack_bits(b"\x81", 8)), inputs, [0] * 4, [0, 1, 2, 0xFFFF, 0x04D2, 0, 0, 9])


def ask(bank: RegisterBank, body: str) -> bytes:
    [answer] = ModbusSlave({17: bank}).receive(sealed(bytes.fromhex(body)))
    assert 17 == answer.unit
    return answer.frame


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("read_discrete_inputs_req_u17_a0_n16", "read_discrete_inputs_rsp_u17_bits"),
        ("read_coils_req_u17_a0_n8", "read_coils_rsp_u17"),
        ("read_input_registers_req_u17_a0_n8", "read_input_registers_rsp_u17"),
    ],
)
def test_replies_equal_the_vectors(asked: str, answered: str) -> None:
    """Replies are byte for byte those of an independent server with the same content."""
    [answer] = ModbusSlave({17: bank_17()}).receive(VECTORS[asked])
    assert VECTORS[answered] == answer.frame


def test_writes_store_and_answer() -> None:
    """05, 06, 0F and 10 store what they carry, answer as the protocol says, and tell the module."""
    told: list[tuple[int, int, int]] = []
    bank = bank_17()
    bank.written = lambda *what: told.append(what)
    assert sealed(bytes.fromhex("11050001ff00")) == ask(bank, "11050001ff00")
    assert sealed(bytes.fromhex("110f00000008")) == ask(bank, "110f0000000801d5")
    assert b"\xd5" == pack_bits(bank.coils)
    assert sealed(bytes.fromhex("110600020abc")) == ask(bank, "110600020abc")
    assert sealed(bytes.fromhex("111000000002")) == ask(bank, "1110000000020412345678")
    assert [0x1234, 0x5678, 0x0ABC, 0] == bank.holding
    assert [(5, 1, 1), (15, 0, 8), (6, 2, 1), (16, 0, 2)] == told


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("112b0e0100", 1),
        ("110200000011", 2),
        ("110400080001", 2),
        ("11050008ff00", 2),
        ("110600040000", 2),
        ("110200000000", 3),
        ("1102000007d1", 3),
        ("11040000007e", 3),
        ("110500001234", 3),
        ("110f000000080200ff", 3),
        ("11100000000203000000", 3),
    ],
)
def test_refusals(body: str, code: int) -> None:
    """A function, an address or a value that is not there is refused with its code and changes nothing."""
    bank = bank_17()
    reply = ask(bank, body)
    function = int(body[2:4], 16)
    assert sealed(bytes((17, function | 0x80, code))) == reply
    assert bank_17() == bank


def test_inputs_in_the_coil_area_are_not_written() -> None:
    """A module that shows its inputs as coils refuses writes to them."""
    bank = RegisterBank(bytearray(24), fixed_coils=16)
    assert 0x85 == ask(bank, "1105000fff00")[1]
    assert 0x05 == ask(bank, "11050010ff00")[1]


def test_unit_0_is_everybody_and_silent() -> None:
    """A broadcast write is done by every unit and answered by none; another unit's request is passed over."""
    banks = {1: RegisterBank(bytearray(b"\x01" * 9)), 2: RegisterBank(bytearray(b"\x01" * 9))}
    slave = ModbusSlave(banks)
    assert [] == slave.receive(VECTORS["write_multiple_coils_broadcast_u0"])
    assert [bytes(8) + b"\x01"] * 2 == [bytes(bank.coils) for bank in banks.values()]
    assert [] == slave.receive(VECTORS["read_coils_req_u17_a0_n8"])
    assert not slave.skipped


def test_a_cut_request_is_dropped_by_silence() -> None:
    """What a pause cut does not spoil the next request."""
    slave = ModbusSlave({17: bank_17()})
    request = VECTORS["read_coils_req_u17_a0_n8"]
    assert [] == slave.receive(request[:5])
    slave.silence()
    assert 1 == len(slave.receive(request))
    assert {Cause.CUT: 5} == slave.skipped


@given(st.lists(st.binary(max_size=40), max_size=8))
def test_any_bytes_in_any_pieces(pieces: list[bytes]) -> None:
    """Nothing raises, and after a silence the next request is answered."""
    slave = ModbusSlave({17: bank_17()})
    for piece in pieces:
        slave.receive(piece)
    slave.silence()
    request = VECTORS["read_discrete_inputs_req_u17_a0_n16"]
    assert 7 == len(slave.receive(request)[0].frame)


@given(cuts=st.lists(st.integers(1, 8), max_size=30), count=st.integers(1, 4))
def test_pieces_do_not_matter(cuts: list[int], count: int) -> None:
    """The same requests cut anywhere give the same replies, and the guard takes each."""
    requests = [VECTORS["read_discrete_inputs_req_u17_a0_n16"], VECTORS["write_multiple_coils_u17_a0_n8"]] * count
    line, slave, frames = b"".join(requests), ModbusSlave({17: bank_17()}), []
    for cut in (*cuts, len(line)):
        frames += [answer.frame for answer in slave.receive(line[:cut])]
        line = line[cut:]
    assert len(requests) == len(frames)
    assert [(frame, None) for frame in frames] == [find_reply(*pair) for pair in zip(requests, frames, strict=True)]


@given(st.binary(max_size=40))
def test_bits_round_trip(packed: bytes) -> None:
    """Packing undoes unpacking."""
    assert packed == pack_bits(unpack_bits(packed, 8 * len(packed)))
