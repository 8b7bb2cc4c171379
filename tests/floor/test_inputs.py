"""Counters unwrapped from a baseline, and the readings that cannot be."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from meterd.accounting.commands import Event
from meterd.accounting.state import DeviceMark
from meterd.config import BitBlock, CounterBlock, Profile
from meterd.floor.inputs import MOVES_MAX, Inputs
from protocols.events import Reading

PROFILE = Profile("two", "sensors", BitBlock(2, 0, 2), CounterBlock(4, 0, 16))
BARE = Profile("bare", "sensors", BitBlock(2, 0, 2))


def reading(counts: tuple[int, ...], levels: tuple[bool, ...] = (False, False)) -> Reading:
    return Reading("pit/40", 100, 110, 10, levels, counts)


def trusted(counts: tuple[int, ...], profile: Profile = PROFILE) -> Inputs:
    inputs = Inputs("pit/40", profile, 65_536, reading(counts))
    inputs.trust({name: DeviceMark(3, raw) for name, raw in inputs.baseline().items()})
    return inputs


def test_the_baseline_is_the_raw_counters_by_input_name() -> None:
    """Trust begins with what the module says, under the names that entries use."""
    assert {"pit/40/di0": 7, "pit/40/di1": 65_535} == trusted((7, 65_535)).baseline()


def test_a_counter_that_wraps_goes_on_counting() -> None:
    """65,535 to 1 is two presses, and the identity keeps rising."""
    inputs = trusted((7, 65_535))
    moves = inputs.take(reading((7, 1)))
    assert {1: 2} == moves.moved
    assert Event("pit/40/di1", 3, 65_537) == inputs.event(1)


def test_a_counter_that_fell_is_another_life_of_the_module() -> None:
    """A module that restarted counts from 0: the reading is taken as a whole not at all."""
    inputs = trusted((500, 7))
    moves = inputs.take(reading((0, 8), (True, True)))
    assert moves.broken
    assert ({}, frozenset()) == (moves.moved, moves.rose)
    assert Event("pit/40/di1", 3, 7) == inputs.event(1)


def test_more_presses_than_a_person_can_make_are_not_believed() -> None:
    """The limit itself is taken, one more is not."""
    assert not trusted((0, 0)).take(reading((MOVES_MAX, 0))).broken
    assert trusted((0, 0)).take(reading((MOVES_MAX + 1, 0))).broken


def test_without_counters_a_level_that_rises_is_one_press() -> None:
    """A module without counters still gives each edge an identity of its own."""
    inputs = trusted((), BARE)
    moves = [inputs.take(reading((), (False, level))) for level in (True, True, False, True)]
    assert [{1: 1}, {}, {}, {1: 1}] == [move.moved for move in moves]
    assert Event("pit/40/di1", 3, 2) == inputs.event(1)
    assert {"pit/40/di0": 0, "pit/40/di1": 0} == inputs.baseline()
    assert 1 == inputs.modulus


@given(st.lists(st.integers(0, MOVES_MAX), max_size=60), st.integers(0, 65_535))
def test_the_sum_of_the_moves_is_what_was_pressed(steps: list[int], start: int) -> None:
    """Over any walk of believable steps, through any number of wraps, nothing is lost and nothing is invented."""
    inputs = trusted((start, 0))
    raw, pressed = start, 0
    for step in steps:
        raw = (raw + step) % 65_536
        moves = inputs.take(reading((raw, 0)))
        pressed += moves.moved.get(0, 0)
    assert sum(steps) == pressed
    assert start + sum(steps) == inputs.event(0).count


@given(st.lists(st.integers(-5, 70_000), max_size=4), st.lists(st.booleans(), max_size=4))
def test_a_reading_of_the_wrong_size_raises_nothing(counts: list[int], levels: list[bool]) -> None:
    """Too short, too long or out of range: what is missing is off."""
    moves = trusted((0, 0)).take(reading(tuple(counts), tuple(levels)))
    assert all(0 <= index < 2 for index in (*moves.moved, *moves.rose))
