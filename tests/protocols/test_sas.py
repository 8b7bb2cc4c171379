"""SAS messages: the checks of independent programs, both roles, from any bytes in any pieces."""

from __future__ import annotations

import json
from pathlib import Path

import crccheck
import pytest
from hypothesis import given
from hypothesis import strategies as st

import protocols
from protocols.errors import Cause, PeerError
from protocols.sas import (
    CENTS_MAX,
    SAS_WIN,
    SAS_WINS,
    WIN,
    Ack,
    Answer,
    AskCumulative,
    AskWins,
    Busy,
    Cumulative,
    ExtendedLevel,
    ExtendedLevels,
    GeneralPoll,
    LevelAmount,
    MarkReader,
    MultiLevel,
    Nack,
    OtherRequest,
    Request,
    SingleLevel,
    Told,
    Wins,
    Word,
    bcd,
    crc16,
    encode,
    from_bcd,
    marked_stream,
    sealed,
    words,
)
from protocols.sas_read import Misheard, RequestReader, answer_to

STORED = json.loads((Path(protocols.__file__).parent / "vectors" / "sas.json").read_text(encoding="utf-8"))
VECTORS = {frame["name"]: bytes.fromhex(frame["hex"]) for frame in STORED["frames"]}
REFUSED = {frame["name"]: bytes.fromhex(frame["hex"]) for frame in STORED["refused"]}

MEGA = LevelAmount(1, 1_234_567)
ASKED: dict[str, Request] = {
    "lp80_global_g1_l1_1234567c": SingleLevel(0, 1, MEGA),
    "lp80_global_g1_l3_50025c": SingleLevel(0, 1, LevelAmount(3, 50_025)),
    "lp80_global_g1_l1_0c": SingleLevel(0, 1, LevelAmount(1, 0)),
    "lp80_addr1_g1_l1_1234567c": SingleLevel(1, 1, MEGA),
    "lp86_global_g1_4levels": MultiLevel(
        0, 1, (MEGA, LevelAmount(2, 250_000), LevelAmount(3, 50_025), LevelAmount(4, 1_000))
    ),
    "lp86_global_g1_1level": MultiLevel(0, 1, (MEGA,)),
    "lp84_req_addr1": AskWins(1, WIN),
    "lp87_req_addr1": AskWins(1, SAS_WINS),
    "lp01_shutdown_addr1": OtherRequest(1, bytes.fromhex("01015108")),
    "lp02_startup_addr1": OtherRequest(1, bytes.fromhex("0102ca3a")),
    "general_poll_addr1": GeneralPoll(1),
}
ANSWERED: dict[str, tuple[Request, Answer]] = {
    "lp85_rsp_addr1_g1_l2_250000c": (AskWins(1, SAS_WIN), Wins(1, SAS_WIN, 1, (LevelAmount(2, 250_000),))),
    "lp84_rsp_addr1_g1_l1_1234567c": (AskWins(1, WIN), Wins(1, WIN, 1, (MEGA,))),
    "lp87_rsp_addr1_g1_two": (AskWins(1, SAS_WINS), Wins(1, SAS_WINS, 1, (MEGA, LevelAmount(2, 250_000)))),
    "ack_addr1": (SingleLevel(1, 1, MEGA), Ack(1)),
    "nack_addr1": (SingleLevel(1, 1, MEGA), Nack(1)),
    "busy_addr1": (AskWins(1), Busy(1)),
}

addresses = st.integers(1, 127)
groups = st.integers(1, 255)
cents = st.integers(0, CENTS_MAX)
amounts = st.builds(LevelAmount, st.integers(1, 32), cents)
extended = st.builds(ExtendedLevel, st.integers(1, 32), cents, cents, st.integers(0, 999_999))
anybody = st.integers(0, 127)
requests = st.one_of(
    st.builds(GeneralPoll, addresses),
    st.builds(SingleLevel, anybody, groups, amounts),
    st.builds(
        MultiLevel,
        anybody,
        groups,
        st.lists(amounts, min_size=1, max_size=32, unique_by=lambda one: one.level).map(tuple),
    ),
    st.builds(
        ExtendedLevels,
        anybody,
        groups,
        st.lists(extended, min_size=1, max_size=16, unique_by=lambda one: one.level).map(tuple),
    ),
    st.builds(AskWins, addresses, st.sampled_from((WIN, SAS_WIN, SAS_WINS))),
    st.builds(AskCumulative, addresses, st.integers(0, 9999)),
)
streams = st.lists(st.builds(Word, st.integers(0, 255), st.booleans()), max_size=60)


def hear(reader: RequestReader, *messages: Request) -> list[Request | Misheard]:
    return [found for message in messages for found in reader.feed(words(encode(message)))]


def plain(data: bytes) -> list[Word]:
    return [Word(byte) for byte in data]


def test_the_check_is_that_of_other_programs() -> None:
    """CRC-16/KERMIT, byte for byte as two independent packages have it."""
    assert 0x2189 == crc16(b"123456789")
    for name, frame in VECTORS.items():
        if len(frame) > 2:
            assert crccheck.crc.CrcKermit.calc(frame[:-2]) == crc16(frame[:-2]), name
            assert 0 == crc16(frame), name


@given(st.binary(max_size=200))
def test_the_check_of_any_bytes(data: bytes) -> None:
    """The same for whatever is checked."""
    assert crccheck.crc.CrcKermit.calc(data) == crc16(data)


def test_every_vector_is_used() -> None:
    """No stored frame is forgotten."""
    assert set(VECTORS) == set(ASKED) | set(ANSWERED)


@pytest.mark.parametrize("name", ASKED)
def test_what_a_host_says(name: str) -> None:
    """A message becomes the stored bytes, and a game hears the message in them."""
    assert VECTORS[name] == encode(ASKED[name])
    reader = RequestReader()
    found = [*reader.feed(words(VECTORS[name])), *reader.silence()]
    assert [ASKED[name]] == found


@pytest.mark.parametrize("name", ANSWERED)
def test_what_a_game_answers(name: str) -> None:
    """The stored bytes are read as the answer to their poll, and are what a game says."""
    request, answer = ANSWERED[name]
    assert VECTORS[name] == encode(answer)
    assert (answer, None, ()) == answer_to(request, plain(VECTORS[name]))


def test_a_game_takes_no_broken_message() -> None:
    """A wrong check and an amount that is no BCD are misheard; nothing is taken from them."""
    reader = RequestReader()
    assert [Misheard(0, Cause.CRC)] == list(reader.feed(words(REFUSED["bad_crc"])))
    assert [Misheard(0, Cause.MISMATCH)] == list(reader.feed(words(REFUSED["bcd_bad_nibble"])))
    assert [Misheard(0, Cause.MISMATCH)] == list(reader.feed(words(REFUSED["group_0"])))
    assert {Cause.CRC: 1, Cause.MISMATCH: 2} == reader.faults


@pytest.mark.parametrize(
    "message",
    [
        SingleLevel(0, 1, LevelAmount(33, 1)),
        SingleLevel(0, 1, LevelAmount(0, 1)),
        SingleLevel(0, 0, MEGA),
        SingleLevel(0, 256, MEGA),
        SingleLevel(128, 1, MEGA),
        SingleLevel(0, 1, LevelAmount(1, CENTS_MAX + 1)),
        SingleLevel(0, 1, LevelAmount(1, -1)),
        MultiLevel(0, 1, ()),
        MultiLevel(0, 1, (MEGA, MEGA)),
        MultiLevel(0, 1, tuple(LevelAmount(n, 1) for n in range(1, 34))),
        ExtendedLevels(0, 1, tuple(ExtendedLevel(n, 1, 1, 1) for n in range(1, 18))),
        ExtendedLevels(0, 1, (ExtendedLevel(1, 1, 1, 1_000_000),)),
        AskWins(1, 0x86),
        AskWins(0),
        AskCumulative(1, 10_000),
        GeneralPoll(0),
        GeneralPoll(128),
        Wins(1, SAS_WIN, 1, (MEGA, MEGA)),
    ],
)
def test_what_cannot_be_said_is_not_said(message: Request | Answer) -> None:
    """Level 33, group 0, an eleventh digit: refused before there are bytes."""
    with pytest.raises(PeerError):
        encode(message)


@given(requests)
def test_a_request_comes_back_from_its_bytes(request: Request) -> None:
    """What a host can say, a game hears as it was meant."""
    assert [request] == hear(RequestReader(), request)


@given(st.lists(requests, max_size=5), st.lists(st.integers(1, 40), max_size=20))
def test_requests_survive_any_pieces_and_the_stream_of_a_terminal(said: list[Request], cuts: list[int]) -> None:
    """Marks through a terminal's escapes, split anywhere: the same messages."""
    stream = b"".join(marked_stream(words(encode(request))) for request in said)
    marks, reader, found = MarkReader(), RequestReader(), []
    for cut in [*cuts, len(stream)]:
        found += reader.feed(marks.feed(stream[:cut]))
        stream = stream[cut:]
    assert said == found


@given(st.integers(0, CENTS_MAX))
def test_bcd_there_and_back(value: int) -> None:
    """Ten digits in five bytes."""
    assert value == from_bcd(bcd(value, 5))


@given(st.binary(min_size=1, max_size=8))
def test_bcd_of_any_bytes(data: bytes) -> None:
    """A number, or None where a half byte is no digit."""
    found = from_bcd(data)
    assert (found is not None) == all(byte >> 4 < 10 and byte & 15 < 10 for byte in data)
    assert found is None or data == bcd(found, len(data))


@given(streams, requests)
def test_no_words_raise_in_a_host(line: list[Word], request: Request) -> None:
    """Whatever comes back, there is an answer, a cause, or silence."""
    heard = answer_to(request, line)
    assert not (heard.answer is not None and heard.cause is not None)


@given(st.lists(streams, max_size=4))
def test_no_words_raise_in_a_game(lines: list[list[Word]]) -> None:
    """Whatever a game hears; and after garbage it hears the next message."""
    reader = RequestReader()
    for line in lines:
        list(reader.feed(line))
        reader.silence()
    assert [GeneralPoll(5)] == hear(reader, GeneralPoll(5))


@given(st.binary(max_size=60))
def test_no_bytes_raise_in_a_terminals_stream(data: bytes) -> None:
    """Escapes that are none stand for themselves; nothing is lost but what the escapes cost."""
    marks = MarkReader()
    found = marks.feed(data) + marks.silence()
    assert len(found) <= len(data)
    assert found == marks.feed(marked_stream(found))


@given(st.sampled_from((WIN, SAS_WIN)), amounts, st.integers(0, 12 * 8 - 1))
def test_one_flipped_bit_is_no_win(poll: int, won: LevelAmount, bit: int) -> None:
    """A win with one wrong bit anywhere is not read as a win."""
    frame = bytearray(encode(Wins(1, poll, 1, (won,))))
    frame[bit // 8 % len(frame)] ^= 1 << bit % 8
    assert not isinstance(answer_to(AskWins(1, poll), plain(bytes(frame))).answer, Wins)


@given(st.lists(amounts, max_size=32).map(tuple), st.binary(max_size=3), st.booleans())
def test_wins_are_found_behind_echo_and_stray_bytes(wins: tuple[LevelAmount, ...], stray: bytes, echo: bool) -> None:
    """Machines differ in what stands before the answer; the answer is the same."""
    request, answer = AskWins(9, SAS_WINS), Wins(9, SAS_WINS, 3, wins)
    stray = bytes(byte for byte in stray if byte != 9)
    line = (encode(request) if echo else b"") + stray + encode(answer)
    assert answer == answer_to(request, plain(line)).answer


@pytest.mark.parametrize("length", [12, 13, 14])
def test_the_length_of_87_is_counted_in_three_ways(length: int) -> None:
    """Two wins are two wins whether the length counts group and number, one of them, or neither."""
    wins = bytes((1, 2)) + bytes.fromhex("010001234567") + bytes.fromhex("020000250000")
    frame = sealed(bytes((1, SAS_WINS, length)) + wins)
    assert ANSWERED["lp87_rsp_addr1_g1_two"][1] == answer_to(AskWins(1, SAS_WINS), plain(frame)).answer


def test_no_win_waits() -> None:
    """Zeros to 85, no levels to 87, or a length of nothing: no win."""
    assert Wins(1, SAS_WIN, 0, ()) == answer_to(AskWins(1), plain(encode(Wins(1, SAS_WIN, 0, ())))).answer
    for frame in (sealed(bytes((1, SAS_WINS, 2, 1, 0))), sealed(bytes((1, SAS_WINS, 0)))):
        answer = answer_to(AskWins(1, SAS_WINS), plain(frame)).answer
        assert isinstance(answer, Wins)
        assert () == answer.wins


def test_a_chirp_is_no_answer() -> None:
    """A game that thinks the line is dead says its address with the mark; the answer behind it counts."""
    line = [Word(1, mark=True), *plain(encode(ANSWERED["lp85_rsp_addr1_g1_l2_250000c"][1]))]
    assert (ANSWERED["lp85_rsp_addr1_g1_l2_250000c"][1], None, (1,)) == answer_to(AskWins(1), line)
    assert (None, None, (1,)) == answer_to(AskWins(1), line[:1])


def test_exceptions_and_real_time_events() -> None:
    """One byte is an exception, whatever it is; so is the code in a real-time event, and one behind an echo."""
    assert Told(0x56) == answer_to(GeneralPoll(1), plain(b"\x56")).answer
    assert Told(0x56) == answer_to(GeneralPoll(1), plain(b"\x81\x56")).answer
    assert Told(0x81) == answer_to(GeneralPoll(1), plain(b"\x81")).answer
    assert Told(0x56) == answer_to(GeneralPoll(1), plain(sealed(bytes((1, 0xFF, 0x56))))).answer
    assert Cause.STRAY == answer_to(GeneralPoll(1), plain(b"\x56\x57\x58")).cause


def test_cumulative_wins() -> None:
    """83, for one game of several."""
    answer = Cumulative(7, 12, 12_345_678)
    assert answer == answer_to(AskCumulative(7, 12), plain(encode(answer))).answer
