"""The guard takes the one reply a request can have, from any bytes in any pieces."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from crccheck.crc import CrcModbus
from hypothesis import given
from hypothesis import strategies as st

import protocols
from protocols.errors import Cause
from protocols.modbus_crc import crc16, is_sealed, sealed
from protocols.modbus_guard import Guard, diagnose, find_reply
from protocols.modbus_slave import ModbusSlave, RegisterBank

VECTORS = json.loads((Path(protocols.__file__).parent / "vectors" / "modbus.json").read_text())
UNIT = 1  # an id that looks like a function code: the hardest for a hunting framer

REQUESTS = [
    sealed(bytes.fromhex(body))
    for body in (
        "010100000008",
        "010200000010",
        "010200000018",
        "010300000004",
        "010400000020",
        "01050003ff00",
        "010600020102",
        "010f0000000a02ff03",
        "0110000000020400010002",
    )
]


def a_bank() -> RegisterBank:
    return RegisterBank(bytearray(32), bytearray(b"\x01\x00\x01" * 8), list(range(32)), list(range(900, 932)))


def the_reply(request: bytes) -> bytes:
    [answer] = ModbusSlave({UNIT: a_bank()}).receive(request)
    return answer.frame


@pytest.mark.parametrize("vector", VECTORS["frames"], ids=lambda vector: vector["name"])
def test_vectors_hold_our_check(vector: dict[str, str]) -> None:
    """Every frame built by an independent program passes our check, and we seal its body to the same bytes."""
    frame = bytes.fromhex(vector["hex"])
    assert is_sealed(frame)
    assert frame == sealed(frame[:-2])


@given(st.binary(max_size=300))
def test_crc_agrees_with_crccheck(data: bytes) -> None:
    """Our check is CRC-16/MODBUS."""
    assert CrcModbus.calc(data) == crc16(data)


@pytest.mark.parametrize("vector", VECTORS["faults"], ids=lambda vector: vector["name"])
def test_what_a_bare_client_takes_is_not_taken(vector: dict[str, str]) -> None:
    """Replies that a bare client handed to its caller are left on the line."""
    assert not find_reply(bytes.fromhex(vector["request"]), bytes.fromhex(vector["heard"])).frame


@pytest.mark.parametrize("request_", REQUESTS, ids=bytes.hex)
def test_a_reply_is_taken_whole_and_only_whole(request_: bytes) -> None:
    """Every beginning of a reply is waited for; the whole reply is taken."""
    reply = the_reply(request_)
    for end in range(len(reply)):
        found = find_reply(request_, reply[:end])
        assert (b"", None) == found
    assert (reply, None) == find_reply(request_, reply)


@pytest.mark.parametrize("request_", REQUESTS, ids=bytes.hex)
def test_no_single_bit_flip_is_taken(request_: bytes) -> None:
    """A reply with any one bit flipped is never taken, whole or in its pieces."""
    reply = the_reply(request_)
    for bit in range(8 * len(reply)):
        flipped = bytearray(reply)
        flipped[bit // 8] ^= 1 << bit % 8
        for end in range(1, len(reply) + 1):
            assert not find_reply(request_, bytes(flipped[:end])).frame


@pytest.mark.parametrize("request_", REQUESTS, ids=bytes.hex)
@pytest.mark.parametrize(
    "stray", [b"\x00", b"\x01", b"\x02", b"\xff", b"\x01\x02", b"\x01\x82", b"\x00\xff\x01"], ids=bytes.hex
)
def test_stray_bytes_before_a_reply_do_not_hide_it(request_: bytes, stray: bytes) -> None:
    """A reply behind noise of the line's turnaround is found, and the noise is counted."""
    guard = Guard()
    guard(True, request_)
    assert the_reply(request_) == guard(False, stray + the_reply(request_))
    assert 1 == sum(guard.counts.values())


def test_causes_are_told_apart() -> None:
    """Each kind of wrong answer has a name of its own."""
    request = sealed(bytes.fromhex("280200000010"))
    good = sealed(bytes.fromhex("2802020d80"))
    bad_check = good[:-1] + bytes((good[-1] ^ 1,))
    assert Cause.CRC is diagnose(request, bad_check)
    assert Cause.CUT is diagnose(request, good[:4])
    assert Cause.WRONG_UNIT is diagnose(request, sealed(bytes.fromhex("2902020d80")))
    assert Cause.WRONG_FUNCTION is diagnose(request, sealed(bytes.fromhex("2804020d80")))
    assert Cause.MISMATCH is diagnose(request, sealed(bytes.fromhex("2802030d8000")))
    assert Cause.STRAY is diagnose(request, b"\xff\xff\xff\xff\xff")
    assert Cause.ECHO is find_reply(request, request).cause
    assert None is diagnose(request, b"")


def test_a_write_answered_for_another_coil_is_not_taken() -> None:
    """A late reply to another write of the same function is a mismatch."""
    request, other = sealed(bytes.fromhex("28050003ff00")), sealed(bytes.fromhex("28050004ff00"))
    assert (b"", Cause.MISMATCH) == find_reply(request, other)
    many, more = sealed(bytes.fromhex("280f0000000801d5")), sealed(bytes.fromhex("280f00000009"))
    assert (b"", Cause.MISMATCH) == find_reply(many, more)


@pytest.mark.parametrize("request_", REQUESTS, ids=bytes.hex)
def test_an_echoing_line_needs_echo_and_reply(request_: bytes) -> None:
    """With echo set, our own request is no answer; without it, it is counted unless it could be the reply itself."""
    reply = the_reply(request_)
    assert (b"", None) == find_reply(request_, request_, echo=True)
    assert (b"", None) == find_reply(request_, reply[: len(request_) - 1], echo=True)
    assert (reply, None) == find_reply(request_, request_ + reply, echo=True)
    if request_[1] not in {5, 6}:
        assert (b"", Cause.ECHO) == find_reply(request_, request_)
        assert (reply, Cause.ECHO) == find_reply(request_, request_ + reply)


def test_an_exception_is_a_reply() -> None:
    """Function + 80 hex with our unit is the module's refusal, also behind noise."""
    request, refusal = sealed(bytes.fromhex("110200ff0010")), bytes.fromhex("118202c0a4")
    assert (refusal, None) == find_reply(request, refusal)
    assert (refusal, Cause.STRAY) == find_reply(request, b"\x00\xf8" + refusal)
    assert not find_reply(request, sealed(bytes.fromhex("118402"))).frame


def test_a_late_reply_of_another_count_never_fits() -> None:
    """Alternating 16 and 24 inputs, the late reply to the poll before is a mismatch and the true one is still taken."""
    sixteen, more = REQUESTS[1], REQUESTS[2]
    assert (b"", Cause.MISMATCH) == find_reply(more, the_reply(sixteen))
    assert (the_reply(more), Cause.MISMATCH) == find_reply(more, the_reply(sixteen) + the_reply(more))


def test_broadcasts_and_unknown_functions_have_no_reply() -> None:
    """Nothing is taken for a request that cannot be answered."""
    for body in ("000f0000000801ff", "012b0e0100aa", "01"):
        request = sealed(bytes.fromhex(body))
        assert not find_reply(request, request + request).frame
    assert (b"", None) == find_reply(b"", b"")


def test_a_request_is_answered_once_and_counted_once() -> None:
    """A second copy of the reply is stray; a given-up request counts one cause; silence counts none."""
    guard = Guard()
    reply = the_reply(REQUESTS[1])
    guard(True, REQUESTS[1])
    assert b"" == guard(False, reply[:3])
    assert reply == guard(False, reply)
    assert b"" == guard(False, reply)
    assert {Cause.STRAY: 1} == guard.counts
    guard(True, REQUESTS[1])
    assert b"" == guard(False, b"\x55")
    assert b"" == guard(False, b"\x55\x55\x55\x55\x55")
    guard(True, REQUESTS[1])
    guard(True, REQUESTS[1])
    assert {Cause.STRAY: 2} == guard.counts


@given(
    request=st.one_of(st.sampled_from(REQUESTS), st.binary(max_size=20)),
    pieces=st.lists(st.one_of(st.binary(max_size=12), st.sampled_from(REQUESTS).map(the_reply)), max_size=6),
    echo=st.booleans(),
)
def test_any_bytes_in_any_pieces(request: bytes, pieces: list[bytes], echo: bool) -> None:
    """Nothing raises, and what is taken always is a whole reply with its check."""
    guard = Guard(echo=echo)
    guard(True, request)
    heard = b""
    for piece in pieces:
        heard += piece
        taken = guard(False, heard)
        assert taken == b"" or (is_sealed(taken) and taken in heard and taken[0] == request[0])
    guard.settle()
    assert sum(guard.counts.values()) <= 1 + len(pieces)
