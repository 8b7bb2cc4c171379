"""What is asked of a module and what the answers mean: the pure part of a bus."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire_rig import KEYPAD, OUTPUTS, SENSORS

from meterd.config import BitBlock, CounterBlock, ModuleRef, Profile, TextBlock, UnitWanted
from meterd.edge.modbus_identity import words_text
from meterd.edge.modbus_line import Reply, Request
from meterd.edge.modbus_outputs import text_registers
from meterd.edge.modbus_unit import Unit, counters_continue, counters_of
from protocols.modbus_crc import sealed
from protocols.modbus_guard import find_reply


def unit(profile: Profile = SENSORS) -> Unit:
    made = Unit(ModuleRef("pit-1", 40, profile))
    made.up = True
    return made


def after(made: Unit, wanted: UnitWanted) -> list[tuple[int, tuple[int, ...]]]:
    """Want, write everything, and give the writes as (address, bits)."""
    made.want(wanted)
    writes = made.output_writes(0.0)
    for request in writes:
        made.wrote(request)
    made.settle(0.0)
    return [(request.address, request.values) for request in writes]


@pytest.mark.parametrize(
    ("before", "now", "elapsed_ms", "goes_on"),
    [
        ((5, 7), (5, 8), 100, True),
        ((5, 7), (5, 6), 100, False),
        ((65530, 7), (2, 7), 100, True),  # wrapped
        ((500, 0), (0, 0), 100, False),  # lost power
        ((65530, 900), (0, 0), 100, False),  # one looks like a wrap, the other does not
        ((0, 0), (64, 0), 0, True),
        ((0, 0), (65, 0), 0, False),
        ((0, 0), (165, 0), 1000, False),
        ((0, 0), (164, 0), 1000, True),
    ],
)
def test_counters_go_on_wrap_or_show_a_restart(
    before: tuple[int, ...], now: tuple[int, ...], elapsed_ms: int, goes_on: bool
) -> None:
    """Forward by no more than a contact can do in the time, modulo the counter's size; anything else is a restart."""
    assert counters_continue(before, now, 65536, elapsed_ms) is goes_on


def test_word_order_of_wide_counters_is_the_profiles() -> None:
    """Two registers a counter, high word first or last."""
    first = replace(SENSORS, counters=CounterBlock(4, 0, 32, high_word_first=True))
    last = replace(SENSORS, counters=CounterBlock(4, 0, 32, high_word_first=False))
    assert (0x10002, 3) == counters_of(first, (1, 2, 0, 3))
    assert (0x20001, 0x30000) == counters_of(last, (1, 2, 0, 3))


@given(before=st.integers(0, 2**32 - 200_000), presses=st.integers(0, 64), first=st.booleans())
def test_a_counter_of_either_word_order_counts_right_across_every_carry(before: int, presses: int, first: bool) -> None:
    """Modulo 65,535 the sum of the two registers is the counter, whichever comes first; also at a carry."""
    block = CounterBlock(3, 0, 32, high_word_first="either")
    profile = replace(SENSORS, inputs=BitBlock(1, 0, 1), counters=block)

    def read(count: int) -> int:
        words = (count >> 16, count & 0xFFFF) if first else (count & 0xFFFF, count >> 16)
        return counters_of(profile, words)[0]

    old, new = read(before), read(before + presses)
    assert presses == (new - old) % block.modulus
    assert counters_continue((old,), (new,), block.modulus, 0)


@pytest.mark.parametrize("first", [True, False])
def test_a_module_of_either_word_order_that_lost_its_counters_is_seen(first: bool) -> None:
    """A fall to 0 from anything that is not near a multiple of 65,535 is a restart."""
    block = CounterBlock(3, 0, 32, high_word_first="either")
    profile = replace(SENSORS, inputs=BitBlock(1, 0, 1), counters=block)
    old = counters_of(profile, (3, 70) if first else (70, 3))
    assert not counters_continue(old, counters_of(profile, (0, 0)), block.modulus, 100)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((0x5441, 0x4847, 0x4200), "TAHGB"),
        ((0x3130, 0x3437, 0x2020), "1047"),
        ((0x0001, 0xBEEF), "0001-BEEF"),
        ((0, 0), "0000-0000"),
    ],
)
def test_what_a_module_says_of_itself_is_written_as_people_write_it(words: tuple[int, ...], text: str) -> None:
    """Text where it is text, without its fill; else hexadecimal registers."""
    assert text == words_text(words)


def test_successive_level_polls_do_not_fit_each_other() -> None:
    """A late reply to one poll is not acceptable to the next: their lengths differ, and neither leaves the module."""
    made = unit()
    polls = [made.levels_request() for _ in range(4)]
    assert [8, 16, 8, 16] == [poll.count for poll in polls]
    for poll, following in pairwise(polls):
        reply = sealed(bytes((40, 2, (poll.count + 7) // 8)) + b"\xff" * ((poll.count + 7) // 8))
        asked = sealed(bytes((40, 2, 0, 0, 0, following.count)))
        assert b"" == find_reply(asked, reply).frame


@pytest.mark.parametrize("profile", [SENSORS, KEYPAD, replace(SENSORS, counters=None, outputs=None)])
def test_after_a_timeout_something_of_another_shape_is_asked(profile: Profile) -> None:
    """Whatever timed out, there is a short request whose reply cannot be taken for the late one, where there can be."""
    made = unit(profile)
    for request in (made.levels_request(), made.levels_request(), made.counters_request()):
        if request is None:
            continue
        flush = made.flush_request(request.shape)
        if flush is not None:
            assert flush.shape != request.shape
        else:
            assert profile.counters is None
            assert profile.outputs is None


def test_levels_are_active_true_whatever_the_polarity() -> None:
    """A module that reads 0 for "chip" says so in its profile."""
    made = unit(replace(SENSORS, inputs=BitBlock(2, 0, 8, active_high=False)))
    seen = made.took_levels(Reply((1, 0, 1, 1, 1, 1, 1, 1), 10.0001, 10.0202))
    assert (False, True, *[False] * 6) == seen.levels
    assert (seen.began_ms, seen.ended_ms) == (10000, 10021)  # never narrower than the truth


def test_inputs_left_out_of_a_short_poll_keep_their_level() -> None:
    """Nothing is wired there; the reading keeps its length."""
    made = unit()
    made.snapshot = made.took_levels(Reply((0,) * 15 + (1,), 1.00, 1.01))
    seen = made.took_levels(Reply((1,) + (0,) * 7, 1.10, 1.11))
    assert (True, *[False] * 14, True) == seen.levels


def test_a_module_without_counters_is_counted_by_its_edges() -> None:
    """Each rise that was seen is one count, so that a press has an identity there too."""
    made = unit(replace(SENSORS, counters=None, inputs=BitBlock(2, 0, 2)))
    for levels in ((1, 0), (0, 0), (1, 1), (1, 0), (1, 1)):
        made.snapshot = made.took_levels(Reply(levels, 1, 2))
    assert (1, 2) == made.counts(None)
    assert 1 << 32 == made.modulus


def test_the_safe_state_is_wanted_until_somebody_wants_something() -> None:
    """Seat lamps dark, "betting closed" lit."""
    made = unit()
    assert [(0, (0, 0, 0, 0, 0, 0, 0, 1))] == after(made, UnitWanted(-1, *made._wanted[1:]))
    assert [(0, (1, 0, 0, 0, 0, 0, 0, 0))] == after(made, UnitWanted(1, (True,), ()))
    assert [] == after(made, UnitWanted(0, (True,) * 8, ()))
    made.want_safe()
    assert (0, 0, 0, 0, 0, 0, 0, 1) == made.output_writes(0.0)[0].values


def test_no_order_of_writes_shows_a_flashing_lamp_steady() -> None:
    """With a flash bank elsewhere, flash bits are set before outputs go on, and cleared after they went off."""
    made = unit(replace(SENSORS, outputs=BitBlock(1, 0, 2), flash=BitBlock(1, 100, 2), lockout=None))
    states = [
        UnitWanted(n, outputs, flash)
        for n, (outputs, flash) in enumerate(
            [
                ((True, False), (True, False)),  # blink, dark
                ((True, True), (False, True)),  # steady, blink
                ((True, True), (True, True)),  # both blink
                ((False, True), (False, False)),  # dark, steady
                ((True, False), (True, False)),
                ((False, False), (False, False)),
            ]
        )
    ]
    coils = {0: (0, 0), 100: (0, 0)}
    allowed_steady: set[int] = set()
    for wanted in states:
        steady = {i for i in (0, 1) if wanted.outputs[i] and not wanted.flash[i]}
        for address, bits in after(made, wanted):
            coils[address] = bits
            shown = {i for i in (0, 1) if coils[0][i] and not coils[100][i]}
            assert shown <= steady | allowed_steady
        assert steady == {i for i in (0, 1) if coils[0][i] and not coils[100][i]}
        allowed_steady = steady


def test_a_lamp_is_toggled_twice_a_second_where_the_module_cannot_flash() -> None:
    """Lit in every other quarter of a second, all modules together; steady ones stay lit."""
    made = unit()
    made.want(UnitWanted(1, (True,), (False, True)))
    lit = [made.output_writes(n / 4)[0].values[:2] for n in range(4)]
    assert [(1, 1), (1, 0), (1, 1), (1, 0)] == lit


def test_a_read_back_that_differs_is_written_again() -> None:
    """What the module shows counts, not what it acknowledged."""
    made = unit()
    made.want(UnitWanted(4, (True,) + (False,) * 7, ()))
    (write,) = made.output_writes(0.0)
    made.wrote(write)
    assert -1 == made.confirmed_seq
    assert made.checked(Reply((0,) * OUTPUTS, 1, 2), 0.0) is False
    assert [write] == made.output_writes(0.0)
    made.wrote(write)
    assert made.checked(Reply(write.values, 1, 2), 0.0) is True
    assert 4 == made.confirmed_seq


def test_text_is_padded_cut_and_readable() -> None:
    """Each line begins on a register; what the display cannot show is a question mark."""
    profile = replace(KEYPAD, text=TextBlock(0, 2, 5))
    raw = b"".join(word.to_bytes(2, "big") for word in text_registers(profile, ("ABCDEFG", "é1")))
    assert b"ABCDE ?1    " == raw


def test_the_line_time_of_a_request_is_known() -> None:
    """Characters of request and reply, as they travel."""
    assert (8, 7) == (Request(1, 2, 0, 16).request_bytes, Request(1, 2, 0, 16).reply_bytes)
    assert (8, 69) == (Request(1, 4, 0, 32).request_bytes, Request(1, 4, 0, 32).reply_bytes)
    assert (11, 8) == (Request(1, 15, 0, 9).request_bytes, Request(1, 15, 0, 9).reply_bytes)
    assert (25, 8) == (Request(1, 16, 0, 8).request_bytes, Request(1, 16, 0, 8).reply_bytes)
