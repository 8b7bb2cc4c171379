"""The life of a table and of its pad's line, as one table of transitions.

Rule 1: the table is data; :func:`apply` is the only reader of it; a test walks every cell.
Rule 2: a step says what is *asked* for and where it leads if the rules agree. Whether they do is decided by accounting,
and the phase is then read from the book again: nothing here is remembered as truth.
Rule 3: what closes a betting window needs nobody's consent; what opens one needs trusted devices and, after a fault,
the END GAME key.

Sources: betting ends by the dealer's act and opens again only by END GAME (CO 47.1-899.14(18), (19)(e)); nothing placed
after "no more bets" is recognised (PA 617b.4(c)(2)).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple


class Phase(StrEnum):
    """What a table is doing, as seen from the floor: the book's state and whether all its devices are trusted."""

    STARTING = "starting"  # closed; opens by itself once every device is trusted
    STOPPED = "stopped"  # closed by a person, devices trusted
    BLIND = "blind"  # closed by a fault, a device is still missing
    WAITING = "waiting"  # closed by a fault, devices trusted: END GAME opens it
    OPEN = "open"
    CLOSING = "closing"  # LOCK was seen and is not decided yet
    LOCKED = "locked"


class Pad(StrEnum):
    """What stands on the pad's line."""

    EMPTY = "empty"
    DIGITS = "digits"
    HAND = "hand"  # seat and hand are keyed, the amount is shown, ENTER claims
    BOARD = "board"  # a hand key comes next
    BOARD_HAND = "board-hand"  # what all live seats would get is shown, ENTER claims it
    BADGE = "badge"  # who held a badge to the pad is shown, ENTER shows the award
    SUPERVISOR = "supervisor"  # an award is shown, ENTER confirms or pays it
    SUPERVISOR_DIGITS = "supervisor-digits"
    CORRECT = "correct"  # an award's new hand, and seat if one was keyed, are shown, ENTER corrects it


class Signal(StrEnum):
    """What happened at the table. The first group moves the phase, the second the pad's line."""

    DEVICES_READY = "devices-ready"
    DEVICE_LOST = "device-lost"
    CHIP = "chip"  # a wager was put on a sensor
    LOCK = "lock"
    END_GAME = "end-game"

    DIGIT = "digit"
    HAND = "hand"
    ENTER = "enter"
    CLEAR = "clear"
    FOLD = "fold"
    JOIN = "join"
    VOID_SEAT = "void-seat"
    VOID_ROUND = "void-round"
    COUNT_MISMATCH = "count-mismatch"
    SUPERVISOR = "supervisor"
    LOCK_KEY = "lock-key"
    END_GAME_KEY = "end-game-key"
    HOLD = "hold"
    SPLIT = "split"
    BOARD = "board"
    PART = "part"  # the first of the codes that make a key
    TOO_FAST = "too-fast"
    CARD = "card"  # a badge that somebody of this floor holds
    CARD_UNKNOWN = "card-unknown"
    BADGE_NEEDED = "badge-needed"  # SUPERVISOR on a pad where it is a key like any other, and no badge counts
    BADGE_OVER = "badge-over"  # any other key, once the time of the badge is over


class Act(StrEnum):
    """What a step asks for."""

    NOTHING = "nothing"
    # the table
    ASK_OPEN = "ask-open"
    ASK_CLOSE = "ask-close"
    ASK_LOCK = "ask-lock"
    ASK_END = "ask-end"
    TAKE_CHIP = "take-chip"  # the seat is present, its lamp blinks
    LATE_CHIP = "late-chip"
    SAY_LOCKED = "say-locked"
    SAY_NO_DEVICE = "say-no-device"
    # the pad
    ADD_DIGIT = "add-digit"
    NEW_LINE = "new-line"
    PREVIEW = "preview"
    CLAIM = "claim"
    CLEAR = "clear"
    FOLD = "fold"
    JOIN = "join"
    VOID_SEAT = "void-seat"
    VOID_ROUND = "void-round"
    COUNT_MISMATCH = "count-mismatch"
    SHOW_AWARD = "show-award"
    SETTLE_AWARD = "settle-award"  # confirm it, or pay it
    VOID_AWARD = "void-award"
    HOLD_AWARD = "hold-award"
    CORRECT_AWARD = "correct-award"
    SHOW_BADGE = "show-badge"
    SPLIT = "split"
    CLAIM_BOARD = "claim-board"
    TABLE_LOCK = "table-lock"  # goes on as Signal.LOCK
    TABLE_END = "table-end"  # goes on as Signal.END_GAME
    SAY_NO_SEAT = "say-no-seat"
    SAY_NO_HAND = "say-no-hand"
    SAY_NO_LINE = "say-no-line"
    SAY_KEY_ALONE = "say-key-alone"
    SAY_NO_AWARD = "say-no-award"
    SAY_NO_BADGE = "say-no-badge"
    SAY_BADGE_NEEDED = "say-badge-needed"
    SAY_BADGE_OVER = "say-badge-over"
    SAY_TOO_FAST = "say-too-fast"


class Step(NamedTuple):
    """One cell: what to ask for, and the state it leads to where that is granted."""

    act: Act
    then: Phase | Pad


_TABLE: Final[dict[Phase | Pad, dict[Signal, Step]]] = {
    Phase.STARTING: {
        Signal.DEVICES_READY: Step(Act.ASK_OPEN, Phase.OPEN),
        Signal.DEVICE_LOST: Step(Act.NOTHING, Phase.STARTING),
        Signal.CHIP: Step(Act.NOTHING, Phase.STARTING),
        Signal.LOCK: Step(Act.ASK_LOCK, Phase.STARTING),
        Signal.END_GAME: Step(Act.SAY_NO_DEVICE, Phase.STARTING),
    },
    Phase.STOPPED: {
        Signal.DEVICES_READY: Step(Act.NOTHING, Phase.STOPPED),
        Signal.DEVICE_LOST: Step(Act.NOTHING, Phase.STARTING),
        Signal.CHIP: Step(Act.NOTHING, Phase.STOPPED),
        Signal.LOCK: Step(Act.ASK_LOCK, Phase.STOPPED),
        Signal.END_GAME: Step(Act.ASK_END, Phase.STOPPED),
    },
    Phase.BLIND: {
        Signal.DEVICES_READY: Step(Act.NOTHING, Phase.WAITING),
        Signal.DEVICE_LOST: Step(Act.NOTHING, Phase.BLIND),
        Signal.CHIP: Step(Act.NOTHING, Phase.BLIND),
        Signal.LOCK: Step(Act.ASK_LOCK, Phase.BLIND),
        Signal.END_GAME: Step(Act.SAY_NO_DEVICE, Phase.BLIND),
    },
    Phase.WAITING: {
        Signal.DEVICES_READY: Step(Act.NOTHING, Phase.WAITING),
        Signal.DEVICE_LOST: Step(Act.NOTHING, Phase.BLIND),
        Signal.CHIP: Step(Act.NOTHING, Phase.WAITING),
        Signal.LOCK: Step(Act.ASK_LOCK, Phase.WAITING),
        Signal.END_GAME: Step(Act.ASK_END, Phase.OPEN),
    },
    Phase.OPEN: {
        Signal.DEVICES_READY: Step(Act.NOTHING, Phase.OPEN),
        Signal.DEVICE_LOST: Step(Act.ASK_CLOSE, Phase.BLIND),
        Signal.CHIP: Step(Act.TAKE_CHIP, Phase.OPEN),
        Signal.LOCK: Step(Act.ASK_LOCK, Phase.CLOSING),
        Signal.END_GAME: Step(Act.ASK_END, Phase.OPEN),
    },
    Phase.CLOSING: {
        Signal.DEVICES_READY: Step(Act.NOTHING, Phase.CLOSING),
        Signal.DEVICE_LOST: Step(Act.ASK_CLOSE, Phase.BLIND),
        Signal.CHIP: Step(Act.LATE_CHIP, Phase.CLOSING),
        Signal.LOCK: Step(Act.SAY_LOCKED, Phase.CLOSING),
        Signal.END_GAME: Step(Act.ASK_END, Phase.CLOSING),
    },
    Phase.LOCKED: {
        Signal.DEVICES_READY: Step(Act.NOTHING, Phase.LOCKED),
        Signal.DEVICE_LOST: Step(Act.ASK_CLOSE, Phase.LOCKED),  # a round in play stays; the reason is noted
        Signal.CHIP: Step(Act.LATE_CHIP, Phase.LOCKED),
        Signal.LOCK: Step(Act.SAY_LOCKED, Phase.LOCKED),
        Signal.END_GAME: Step(Act.ASK_END, Phase.OPEN),  # with a device missing, DEVICE_LOST follows at once
    },
}

_ALONE: Final = Step(Act.SAY_KEY_ALONE, Pad.EMPTY)
#: Keys that ask for an act of their own.
_ACTS: Final = (
    Signal.FOLD,
    Signal.JOIN,
    Signal.VOID_SEAT,
    Signal.VOID_ROUND,
    Signal.COUNT_MISMATCH,
    Signal.END_GAME_KEY,
    Signal.HOLD,
    Signal.SPLIT,
    Signal.BOARD,
)
_ALWAYS: Final[dict[Signal, Step]] = {
    Signal.CLEAR: Step(Act.CLEAR, Pad.EMPTY),
    Signal.SUPERVISOR: Step(Act.SHOW_AWARD, Pad.SUPERVISOR),
    Signal.LOCK_KEY: Step(Act.TABLE_LOCK, Pad.EMPTY),  # ends betting whatever stands on the line: the safe direction
    Signal.TOO_FAST: Step(Act.SAY_TOO_FAST, Pad.EMPTY),
    Signal.CARD: Step(Act.SHOW_BADGE, Pad.BADGE),
    Signal.CARD_UNKNOWN: Step(Act.SAY_NO_BADGE, Pad.EMPTY),
    Signal.BADGE_NEEDED: Step(Act.SAY_BADGE_NEEDED, Pad.EMPTY),
    Signal.BADGE_OVER: Step(Act.SAY_BADGE_OVER, Pad.EMPTY),
}
_PAD: Final[dict[Phase | Pad, dict[Signal, Step]]] = {
    Pad.EMPTY: {
        **_ALWAYS,
        Signal.DIGIT: Step(Act.ADD_DIGIT, Pad.DIGITS),
        Signal.HAND: Step(Act.SAY_NO_SEAT, Pad.EMPTY),
        Signal.ENTER: Step(Act.SAY_NO_LINE, Pad.EMPTY),
        Signal.FOLD: Step(Act.SAY_NO_SEAT, Pad.EMPTY),
        Signal.JOIN: Step(Act.SAY_NO_SEAT, Pad.EMPTY),
        Signal.VOID_SEAT: Step(Act.SAY_NO_SEAT, Pad.EMPTY),
        Signal.VOID_ROUND: Step(Act.VOID_ROUND, Pad.EMPTY),
        Signal.COUNT_MISMATCH: Step(Act.COUNT_MISMATCH, Pad.EMPTY),
        Signal.END_GAME_KEY: Step(Act.TABLE_END, Pad.EMPTY),
        Signal.HOLD: Step(Act.SAY_NO_AWARD, Pad.EMPTY),
        Signal.SPLIT: Step(Act.SAY_NO_SEAT, Pad.EMPTY),
        Signal.BOARD: Step(Act.NOTHING, Pad.BOARD),
        Signal.PART: Step(Act.NOTHING, Pad.EMPTY),
    },
    Pad.DIGITS: {
        **_ALWAYS,
        Signal.DIGIT: Step(Act.ADD_DIGIT, Pad.DIGITS),
        Signal.HAND: Step(Act.PREVIEW, Pad.HAND),
        Signal.ENTER: Step(Act.SAY_NO_HAND, Pad.EMPTY),
        Signal.FOLD: Step(Act.FOLD, Pad.EMPTY),
        Signal.JOIN: Step(Act.JOIN, Pad.EMPTY),
        Signal.VOID_SEAT: Step(Act.VOID_SEAT, Pad.EMPTY),
        Signal.VOID_ROUND: _ALONE,
        Signal.COUNT_MISMATCH: _ALONE,
        Signal.END_GAME_KEY: _ALONE,
        Signal.HOLD: _ALONE,
        Signal.SPLIT: Step(Act.SPLIT, Pad.EMPTY),
        Signal.BOARD: _ALONE,
        Signal.PART: Step(Act.NOTHING, Pad.DIGITS),
    },
    Pad.HAND: {
        **_ALWAYS,
        Signal.DIGIT: Step(Act.NEW_LINE, Pad.DIGITS),
        Signal.HAND: Step(Act.PREVIEW, Pad.HAND),
        Signal.ENTER: Step(Act.CLAIM, Pad.EMPTY),
        Signal.FOLD: _ALONE,
        Signal.JOIN: _ALONE,
        Signal.VOID_SEAT: _ALONE,
        Signal.VOID_ROUND: _ALONE,
        Signal.COUNT_MISMATCH: _ALONE,
        Signal.END_GAME_KEY: _ALONE,  # a hand keyed and not entered must not be lost to END GAME
        Signal.HOLD: _ALONE,
        Signal.SPLIT: _ALONE,
        Signal.BOARD: _ALONE,
        Signal.PART: Step(Act.NOTHING, Pad.HAND),
        Signal.CARD: _ALONE,  # nor to a badge
    },
    Pad.BOARD: {
        **_ALWAYS,
        Signal.DIGIT: _ALONE,
        Signal.HAND: Step(Act.PREVIEW, Pad.BOARD_HAND),
        Signal.ENTER: Step(Act.SAY_NO_HAND, Pad.EMPTY),
        **dict.fromkeys(_ACTS, _ALONE),
        Signal.BOARD: Step(Act.NOTHING, Pad.BOARD),
        Signal.PART: Step(Act.NOTHING, Pad.BOARD),
        Signal.CARD: _ALONE,
    },
    Pad.BOARD_HAND: {
        **_ALWAYS,
        Signal.DIGIT: _ALONE,
        Signal.HAND: Step(Act.PREVIEW, Pad.BOARD_HAND),
        Signal.ENTER: Step(Act.CLAIM_BOARD, Pad.EMPTY),
        **dict.fromkeys(_ACTS, _ALONE),
        Signal.BOARD: Step(Act.NOTHING, Pad.BOARD),
        Signal.PART: Step(Act.NOTHING, Pad.BOARD_HAND),
        Signal.CARD: _ALONE,
    },
    Pad.BADGE: {
        **_ALWAYS,
        Signal.DIGIT: Step(Act.NEW_LINE, Pad.SUPERVISOR_DIGITS),
        Signal.HAND: _ALONE,
        Signal.ENTER: Step(Act.SHOW_AWARD, Pad.SUPERVISOR),  # who, then what, then ENTER takes it
        **dict.fromkeys(_ACTS, _ALONE),
        Signal.VOID_ROUND: Step(Act.VOID_ROUND, Pad.EMPTY),
        Signal.COUNT_MISMATCH: Step(Act.COUNT_MISMATCH, Pad.EMPTY),
        Signal.END_GAME_KEY: Step(Act.TABLE_END, Pad.EMPTY),
        Signal.PART: Step(Act.NOTHING, Pad.BADGE),
    },
    Pad.CORRECT: {
        **_ALWAYS,
        Signal.DIGIT: Step(Act.NEW_LINE, Pad.SUPERVISOR_DIGITS),
        Signal.HAND: Step(Act.PREVIEW, Pad.CORRECT),
        Signal.ENTER: Step(Act.CORRECT_AWARD, Pad.EMPTY),
        **dict.fromkeys(_ACTS, _ALONE),
        Signal.PART: Step(Act.NOTHING, Pad.CORRECT),
    },
    Pad.SUPERVISOR: {
        **_ALWAYS,
        Signal.DIGIT: Step(Act.ADD_DIGIT, Pad.SUPERVISOR_DIGITS),
        Signal.HAND: Step(Act.PREVIEW, Pad.CORRECT),
        Signal.ENTER: Step(Act.SETTLE_AWARD, Pad.EMPTY),
        Signal.FOLD: _ALONE,
        Signal.JOIN: _ALONE,
        Signal.VOID_SEAT: Step(Act.VOID_AWARD, Pad.EMPTY),
        Signal.VOID_ROUND: Step(Act.VOID_ROUND, Pad.EMPTY),
        Signal.COUNT_MISMATCH: Step(Act.COUNT_MISMATCH, Pad.EMPTY),
        Signal.END_GAME_KEY: Step(Act.TABLE_END, Pad.EMPTY),
        Signal.HOLD: Step(Act.HOLD_AWARD, Pad.EMPTY),
        Signal.SPLIT: _ALONE,
        Signal.BOARD: _ALONE,
        Signal.PART: Step(Act.NOTHING, Pad.SUPERVISOR),
    },
    Pad.SUPERVISOR_DIGITS: {
        **_ALWAYS,
        Signal.DIGIT: Step(Act.ADD_DIGIT, Pad.SUPERVISOR_DIGITS),
        Signal.HAND: Step(Act.PREVIEW, Pad.CORRECT),
        Signal.ENTER: Step(Act.SAY_NO_HAND, Pad.EMPTY),
        Signal.FOLD: _ALONE,
        Signal.JOIN: _ALONE,
        Signal.VOID_SEAT: Step(Act.VOID_SEAT, Pad.EMPTY),
        Signal.VOID_ROUND: _ALONE,
        Signal.COUNT_MISMATCH: _ALONE,
        Signal.END_GAME_KEY: _ALONE,
        Signal.HOLD: _ALONE,
        Signal.SPLIT: _ALONE,
        Signal.BOARD: _ALONE,
        Signal.PART: Step(Act.NOTHING, Pad.SUPERVISOR_DIGITS),
    },
}

TRANSITIONS: Final[Mapping[Phase | Pad, Mapping[Signal, Step]]] = {**_TABLE, **_PAD}


def apply(state: Phase | Pad, signal: Signal) -> Step:
    """The step for a signal in a state.

    Raises:
        KeyError: a signal of the pad for a phase of the table, or the other way round.
    """
    return TRANSITIONS[state][signal]
