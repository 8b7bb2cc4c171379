"""Every cell of the transition table."""

from __future__ import annotations

import pytest

from meterd.floor.transitions import TRANSITIONS, Act, Pad, Phase, Signal, Step, apply

TABLE_SIGNALS = (Signal.DEVICES_READY, Signal.DEVICE_LOST, Signal.CHIP, Signal.LOCK, Signal.END_GAME)
PAD_SIGNALS = tuple(signal for signal in Signal if signal not in TABLE_SIGNALS)
CELLS: list[tuple[Phase | Pad, Signal]] = [(phase, signal) for phase in Phase for signal in TABLE_SIGNALS]
CELLS += [(pad, signal) for pad in Pad for signal in PAD_SIGNALS]


def test_every_state_answers_every_signal_of_its_kind_and_no_other() -> None:
    """The table is complete: no cell is missing, none is there that nobody can reach."""
    written = {(state, signal) for state, row in TRANSITIONS.items() for signal in row}
    assert set(CELLS) == written


@pytest.mark.parametrize(("state", "signal"), CELLS, ids=lambda value: value.value)
def test_walk_every_cell(state: Phase | Pad, signal: Signal) -> None:
    """Each cell: a table stays a table and a pad a pad; only END GAME and trusted devices open, only LOCK locks.

    The laws are said here a second time, in other words than the table's.
    """
    act, then = step = apply(state, signal)
    assert isinstance(step, Step)
    assert type(state) is type(then)
    if isinstance(state, Phase):
        _check_phase(state, signal, act, then)
    else:
        _check_pad(state, signal, act, then)


def _check_phase(state: Phase, signal: Signal, act: Act, then: Phase | Pad) -> None:
    opens = then is Phase.OPEN and state is not Phase.OPEN
    by_itself = state is Phase.STARTING and signal is Signal.DEVICES_READY
    by_end_game = state in {Phase.WAITING, Phase.LOCKED} and signal is Signal.END_GAME
    assert (by_itself or by_end_game) == opens
    assert (state is Phase.OPEN and signal is Signal.CHIP) == (act is Act.TAKE_CHIP)
    assert (state in {Phase.LOCKED, Phase.CLOSING} and signal is Signal.CHIP) == (act is Act.LATE_CHIP)
    if signal is Signal.DEVICE_LOST:
        assert then in {Phase.LOCKED, Phase.BLIND, Phase.STARTING}, "no window stays open without its devices"
        assert (state is Phase.LOCKED) == (then is Phase.LOCKED), "a round in play survives a lost device"
    if signal is Signal.LOCK and state is Phase.OPEN:
        assert then is Phase.CLOSING, "the window closes when LOCK is seen, before it is decided"
    if state in {Phase.BLIND, Phase.STARTING} and signal is Signal.END_GAME:
        assert act is Act.SAY_NO_DEVICE


def _check_pad(state: Pad, signal: Signal, act: Act, then: Phase | Pad) -> None:
    assert (state is Pad.HAND and signal is Signal.ENTER) == (act is Act.CLAIM), "only a whole line claims"
    assert (signal is Signal.LOCK_KEY) == (act is Act.TABLE_LOCK), "LOCK ends betting whatever stands on the line"
    if signal is Signal.TOO_FAST:
        assert (act, then) == (Act.SAY_TOO_FAST, Pad.EMPTY)
    if signal is Signal.CLEAR:
        assert then is Pad.EMPTY
    asks = {Act.CLAIM, Act.FOLD, Act.JOIN, Act.VOID_SEAT, Act.VOID_ROUND, Act.COUNT_MISMATCH, Act.SETTLE_AWARD}
    asks |= {Act.SPLIT, Act.CLAIM_BOARD, Act.HOLD_AWARD, Act.CORRECT_AWARD}
    if act in asks | {Act.VOID_AWARD, Act.TABLE_END, Act.TABLE_LOCK}:
        assert then is Pad.EMPTY, "an act that asks for an entry leaves nothing on the line"
    if act is Act.TABLE_END:
        assert state in {Pad.EMPTY, Pad.SUPERVISOR, Pad.BADGE}, "a claim that was not entered is not lost to END GAME"


def test_a_signal_of_the_other_kind_is_refused() -> None:
    """A phase does not answer keys of the line, nor the line what moves the phase."""
    with pytest.raises(KeyError):
        apply(Phase.OPEN, Signal.ENTER)
    with pytest.raises(KeyError):
        apply(Pad.EMPTY, Signal.CHIP)
