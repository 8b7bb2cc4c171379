"""What a line shows of its adapter and of slow modules: said while it is seen, and of nobody else."""

from __future__ import annotations

import pytest

from meterd.edge.modbus_hints import (
    ECHOES,
    ECHOES_NOT,
    ECHOES_TOLD,
    LATE_MAX_S,
    LATENCY_EXCHANGES,
    QUIET_EXCHANGES,
    EchoHint,
    LatencyHint,
    LateReplies,
)
from meterd.edge.modbus_line import READ_INPUTS, READ_REGISTERS, WRITE_COILS, Request
from protocols.modbus_crc import sealed

LEVELS = Request(44, READ_INPUTS, 0, 16)
COUNTERS = Request(44, READ_REGISTERS, 0, 2)
OTHER = Request(45, READ_INPUTS, 0, 16)
LEVELS_REPLY = sealed(bytes.fromhex("2c 02 02 01 00"))
COUNTERS_REPLY = sealed(bytes.fromhex("2c 04 04 0001 0002"))


def test_an_echo_is_told_once_and_taken_back() -> None:
    """After a few in a row of exchanges; ten quiet ones and it is gone; then it counts anew."""
    hint = EchoHint()

    def echo(advice: str = ECHOES) -> bool:
        hint.note(advice)
        return hint.exchanged()

    assert [False] * (ECHOES_TOLD - 1) + [True, False] == [echo() for _ in range(ECHOES_TOLD + 1)]
    assert [False] * (QUIET_EXCHANGES - 1) == [hint.exchanged() for _ in range(QUIET_EXCHANGES - 1)]
    assert ECHOES == hint.words
    hint.exchanged()
    assert ("", False) == (hint.words, echo())
    assert [False, True] == [echo(ECHOES_NOT) for _ in range(ECHOES_TOLD - 1)]
    assert ECHOES_NOT == hint.words
    hint.reset()
    assert "" == hint.words


def test_one_echo_now_and_then_is_a_bad_cable() -> None:
    """With as many quiet exchanges between them nothing is said."""
    hint = EchoHint()
    for _ in range(5 * ECHOES_TOLD):
        hint.note(ECHOES)
        assert not hint.exchanged()
        for _ in range(QUIET_EXCHANGES):
            hint.exchanged()


def test_latency_is_the_adapters_only_where_all_modules_have_it() -> None:
    """One slow module among quick ones is slow; and the advice goes when the replies come in time."""
    hint = LatencyHint()
    for _ in range(LATENCY_EXCHANGES):
        hint.took(40, 1.0)
        hint.took(44, 16.0)
    assert "" == hint.words
    for _ in range(3 * LATENCY_EXCHANGES):
        hint.took(40, 16.0)
    assert "latency timer to 1 ms" in hint.words
    for _ in range(3 * LATENCY_EXCHANGES):
        hint.took(44, 0.5)
    assert "" == hint.words
    hint.reset()
    assert "" == hint.words


class Clock:
    """Seconds, as told."""

    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_late_replies_are_measured_among_other_modules_bytes(clock: Clock) -> None:
    """Found while another is asked, in pieces too; told from the second on, the same words until it is trusted."""
    late = LateReplies(clock)
    late.gave_up(LEVELS, 100.0)
    late.gave_up(COUNTERS, 100.1)
    clock.now_s = 100.3
    late.heard(LEVELS_REPLY, OTHER)
    assert "" == late.words(44)
    clock.now_s = 100.4
    late.heard(b"\x00" + COUNTERS_REPLY[:4], OTHER)
    late.heard(COUNTERS_REPLY[4:], None)
    told = late.words(44)
    assert told.startswith("its replies come 300 ms after the question")
    assert "" == late.words(45)
    late.forget(44)
    assert "" == late.words(44)


def test_what_is_no_late_reply_is_none(clock: Clock) -> None:
    """The one that is waited for, a bent one, one of a request long gone, two halves with a pause between."""
    late = LateReplies(clock)
    for _ in range(4):
        late.gave_up(LEVELS, clock.now_s)
    late.heard(LEVELS_REPLY, LEVELS)
    late.heard(LEVELS_REPLY, LEVELS)
    clock.now_s += 0.1
    late.heard(LEVELS_REPLY[:-1] + b"\x00", OTHER)
    clock.now_s += 0.1
    late.heard(LEVELS_REPLY[:3], OTHER)
    clock.now_s += 0.1
    late.heard(LEVELS_REPLY[3:], OTHER)
    clock.now_s += LATE_MAX_S
    late.heard(LEVELS_REPLY, OTHER)
    late.heard(LEVELS_REPLY, OTHER)
    assert "" == late.words(44)


def test_a_late_acknowledgement_counts_too(clock: Clock) -> None:
    """A write's reply has its own length."""
    late = LateReplies(clock)
    write = Request(44, WRITE_COILS, 0, 8, (0,) * 8)
    for _ in range(2):
        late.gave_up(write, clock.now_s)
        clock.now_s += 0.15
        late.heard(sealed(bytes.fromhex("2c 0f 0000 0008")), OTHER)
    assert "its replies come 150 ms after" in late.words(44)
