"""What the pad's two lines say: short texts from the book, within the columns of the display.

Rule 1: an amount is shown whole or not at all; it is never cut at the edge of the display.
Rule 2: the words are those of :mod:`protocols.pad_words`; a pad without a display loses nothing but comfort.
Units: ``*_cents``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from meterd.accounting.commands import (
    Claim,
    Command,
    Confirm,
    Correct,
    EndGame,
    Fold,
    Hold,
    Join,
    Lock,
    Note,
    Pay,
    Void,
    VoidRound,
    VoidSeat,
)
from meterd.accounting.commands_streak import ClaimBoard, Number, Split, VoidSpin
from meterd.accounting.entries import Entry, Kind
from meterd.accounting.refusals import ADVICE, Refusal, Refused
from meterd.accounting.state import Award, TableState
from meterd.floor.transitions import Phase
from meterd.paytables.evaluators import EVALUATORS
from meterd.paytables.model import PayTable
from protocols import pad_words

COLUMNS: Final = 16  # of a pad whose profile names no display; web pages show the same text
NO_DEVICE: Final = "NO DEVICE"
NO_AWARD: Final = "NO AWARD"
NO_SEAT: Final = "NO SEAT KEYED"
NO_HAND: Final = "NO HAND KEYED"
NO_LINE: Final = "NO LINE KEYED"
NO_KEY_ALONE: Final = "NO KEY IT ALONE"
NO_TOO_LONG: Final = "NO TOO LONG"
NO_BADGE: Final = "NO BADGE UNKNOWN"
NO_BADGE_YET: Final = "NO BADGE FIRST"
NO_BADGE_TIME: Final = "NO BADGE IS OVER"
OK_CLEAR: Final = "OK CLEAR"
OK_LOCKED: Final = "OK LOCKED"


def amount(cents: int) -> str:
    """Major units with two digits and no thousands sign: ``12345.67``."""
    return f"{cents // 100}.{cents % 100:02d}"


def first_fit(columns: int, *candidates: str) -> str:
    """The first text that fits, so that nothing is cut; the last one cut where none does."""
    for text in candidates:
        if len(text) <= columns:
            return text
    return candidates[-1][:columns]


def state_line(phase: Phase, table: TableState, present: int, to_clear: Iterable[int], columns: int) -> str:
    """Line 1: the state of the table and its count check."""
    match phase:
        case Phase.OPEN:
            return _open_line(present, tuple(to_clear), columns)
        case Phase.LOCKED if table.streak is not None:
            length, last = table.streak.length, table.streak.numbers[-1]
            return locked_line(
                f"{'END' if table.streak.ended else 'L'}{length} AT {last}", f"L{length}", columns=columns
            )
        case Phase.LOCKED:
            count = len(table.wagers)
            cents = sum(wager.wager_cents for wager in table.wagers.values())
            return locked_line(f"{count} ${amount(cents)}", f"{count} ${cents // 100}", str(count), columns=columns)
        case Phase.WAITING:
            return pad_words.CLOSED_END_GAME
        case Phase.BLIND | Phase.STARTING:
            return first_fit(columns, f"{pad_words.CLOSED} {NO_DEVICE}", pad_words.CLOSED)
        case Phase.CLOSING | Phase.STOPPED:
            return pad_words.CLOSED


def suspended_line(columns: int) -> str:
    """Line 1 of a table whose link is suspended: it may be open, yet no wager is taken."""
    return first_fit(columns, f"{pad_words.CLOSED} SUSPENDED", pad_words.CLOSED)


def locked_line(*candidates: str, columns: int) -> str:
    """Line 1 of a locked table with something to read beside the state."""
    return first_fit(columns, *(f"{pad_words.LOCKED} {text}" for text in candidates), pad_words.LOCKED)


def _open_line(present: int, to_clear: tuple[int, ...], columns: int) -> str:
    if not to_clear:
        return f"{pad_words.OPEN} {present} BET" + ("" if present == 1 else "S")
    clear = f"{pad_words.OPEN} CLEAR"
    first, more = f"{clear} S{to_clear[0]}", len(to_clear) - 1
    return first_fit(
        columns, " ".join((clear, *(f"S{seat}" for seat in to_clear))), f"{first} +{more}" if more else first, first
    )


def keyed_line(what: str, hand: int, cents: int, columns: int) -> str:
    """Line 2 before ENTER: what is keyed (a seat, the board, an award to correct), hand key, amount."""
    keyed = f"{what} H{hand}"
    return first_fit(columns, f"{keyed} {amount(cents)}", f"{keyed} {cents // 100}", keyed)


def refused_preview_line(what: str, hand: int, refused: Refused, columns: int) -> str:
    """Line 2 before ENTER where ENTER would be refused: why, as far as it fits."""
    return f"{what} H{hand} {ADVICE[refused.refusal].keypad}"[:columns].rstrip()


def number_keyed(paytable: PayTable, digits: str) -> str:
    """The number that digits and ENTER mean.

    Where two dice are rolled, ``22`` is a pair of twos; a total above 12 does not exist, and 1 + 1 and 1 + 2 are the
    only ways to 2 and 3, so that 11 and 12 are totals.
    """
    if paytable.evaluator is None or EVALUATORS[paytable.evaluator].model != "rolls":
        return digits
    both = len(digits) == 2 and int(digits) > 12 and set(digits) <= set("123456")
    return f"{digits[0]}+{digits[1]}" if both else digits


def award_line(award: Award, hand_key: int | None, columns: int) -> str:
    """Line 2 in supervisor mode: what ENTER would do."""
    if award.pending:
        text = f"{pad_words.CONFIRM} {award.id}"
        with_seat = f"{text} S{award.seat}"
        return first_fit(columns, f"{with_seat}H{hand_key}" if hand_key else with_seat, with_seat, text)
    text = f"{pad_words.PAY} {award.id}"
    return first_fit(columns, f"{text} {amount(award.amount_cents)}", f"{text} S{award.seat}", text)


def refused_answer(command: Command, refused: Refused) -> str:
    """The keypad's words of a refusal; they begin with NO. Cards cannot be entered at a pad: it says where they can."""
    if isinstance(command, Confirm) and command.cards is None and refused.refusal is Refusal.CARDS_DISAGREE:
        return pad_words.CARDS_AT_THE_PIT
    words = ADVICE[refused.refusal].keypad
    return words if words.startswith(f"{pad_words.REFUSED} ") else f"{pad_words.REFUSED} {words}"


def taken_answer(
    command: Command, entries: Sequence[Entry], table: TableState, awards: Mapping[str, Award], columns: int
) -> str | None:
    """The answer to a command that was carried out by ``entries``; None where WAIT SUPERVISOR says it."""
    match command:
        case Lock():
            return OK_LOCKED
        case Claim():
            newest = awards[table.awards[-1]]
            return None if newest.pending else _taken_with_amount(newest.id, newest.amount_cents, columns)
        case ClaimBoard():
            return _board_answer(entries, awards, columns)
        case EndGame():
            return _end_answer(entries, columns)
        case Number() | VoidSpin():
            return _number_answer(command, table, awards)
        case Confirm() | Pay() | Void() | Hold() | Correct():
            words = _award_answer(command, awards)
        case _:
            words = _round_answer(command)
    return f"{pad_words.TAKEN} {words}".rstrip()


def _number_answer(command: Number | VoidSpin, table: TableState, awards: Mapping[str, Award]) -> str | None:
    """How long the streak is; None where awards that it made wait for a supervisor."""
    streak = table.streak
    if isinstance(command, VoidSpin):
        return f"{pad_words.TAKEN} VOID SPIN L{streak.length if streak is not None else 0}"
    if streak is None or any(awards[name].pending for name in table.awards):
        return None
    return f"{pad_words.TAKEN} {command.number} {'END ' if streak.ended else ''}L{streak.length}"


def _taken_with_amount(what: str, cents: int, columns: int) -> str:
    taken = f"{pad_words.TAKEN} {what}"
    return first_fit(columns, f"{taken} {amount(cents)}", f"{taken} {cents // 100}", taken)


def _end_answer(entries: Sequence[Entry], columns: int) -> str:
    """What is left to be handed out, if anything is."""
    for what, key in (("ENVY", "envy_cents"), ("TOKE", "toke_cents")):
        cents = sum(entry.body.get(key, 0) for entry in entries)
        if cents:
            return _taken_with_amount(what, cents, columns)
    return f"{pad_words.TAKEN} END GAME"


def _board_answer(entries: Sequence[Entry], awards: Mapping[str, Award], columns: int) -> str | None:
    """What all seats got together; None where WAIT SUPERVISOR says it."""
    made = [name for entry in entries if entry.kind is Kind.COMMON_CLAIMED for name in _claimed(entry)]
    if any(awards[name].pending for name in made):
        return None
    return _taken_with_amount(pad_words.BOARD, sum(awards[name].amount_cents for name in made), columns)


def _claimed(entry: Entry) -> list[str]:
    return [claim["award"] for claim in entry.body["claims"]]


def _award_answer(command: Confirm | Pay | Void | Hold | Correct, awards: Mapping[str, Award]) -> str:
    match command:
        case Hold():
            return f"{command.award} HELD"
        case Correct():
            return f"{command.award} CORRECTED"
        case Confirm():
            # a member of a tie is verified and waits for the others
            return f"{command.award} " + ("VERIFIED" if awards[command.award].pending else "CONFIRMED")
        case Pay():
            return f"{command.award} PAID"
        case Void():
            return f"{command.award} VOID"


def _round_answer(command: Command) -> str:
    match command:
        case Fold():
            return f"FOLD S{command.seat}"
        case Split():
            return f"SPLIT S{command.seat}"
        case Join():
            return "JOIN " + " ".join(str(seat) for seat in command.seats)
        case VoidSeat():
            return f"VOID S{command.seat}"
        case VoidRound():
            return "VOID ROUND"
        case _:
            return "MISMATCH" if isinstance(command, Note) else ""
