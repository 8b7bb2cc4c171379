"""The words a dealer's pad shows, and the names of its keys: what both ends of the keypad wire agree on.

Line 1 begins with the state of the table, line 2 is what is being keyed or the answer to it. Whoever writes a pad uses
these words; whoever reads one (a person, or the simulated dealer) acts on nothing else. Amounts are major units with
two digits after the point and no thousands sign, for example ``12345.67``.

Whoever pressed a key must see that it was taken. Each key therefore changes line 2; where its words would be the same
as before the key, a full stop (:data:`MARK`) in a column of its own behind them comes or goes. Compare lines whole to
see that a key was taken; read words from the beginning of the line.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

#: Line 1 begins with one of these.
OPEN: Final = "OPEN"
LOCKED: Final = "LOCKED"
CLOSED: Final = "CLOSED"
#: The whole of line 1 when only the END GAME key opens the table again.
CLOSED_END_GAME: Final = "CLOSED END GAME"

#: Line 1 goes on with this where chips lie on sensors that count for nothing until they are lifted and put down again:
#: ``OPEN CLEAR S3 S5``. Where not all fit, the first is named and the others are counted: ``OPEN CLEAR S1 +3``.
CLEAR_SEATS: Final = "CLEAR"
#: Comes or goes behind the words of line 2 where they repeat.
MARK: Final = "."

#: Line 2 begins with one of these. ``OK`` answers what was taken, ``NO`` what was refused.
TAKEN: Final = "OK"
REFUSED: Final = "NO"
#: Shown while an award of this table waits for a supervisor and nothing is being keyed.
WAIT_SUPERVISOR: Final = "WAIT SUPERVISOR"
#: Supervisor mode: what ENTER would do, followed by the award, for example ``CONFIRM A12 S3``.
CONFIRM: Final = "CONFIRM"
PAY: Final = "PAY"
#: Two keys in one snapshot: nothing was taken, the line is cleared.
KEYS_TOO_FAST: Final = "KEYS TOO FAST"
#: Who held a badge to the pad, one or two: ``BADGE S-ANN+S-BOB``. ENTER then shows the award, the next ENTER takes it.
BADGE: Final = "BADGE"
#: The award is too large for a pad: its cards are entered at the pit.
CARDS_AT_THE_PIT: Final = "CARDS AT THE PIT"
#: What the board gives to every live seat is being keyed: ``BOARD``, then ``BOARD H2``.
BOARD: Final = "BOARD"

#: Names of the keys of a pad, as a profile maps them to inputs or codes.
DIGITS: Final = tuple(f"digit-{n}" for n in range(10))
HANDS: Final = tuple(f"hand-{n}" for n in range(1, 10))
KEY_LOCK: Final = "lock"
KEY_ENTER: Final = "enter"
KEY_CLEAR: Final = "clear"
KEY_FOLD: Final = "fold"
KEY_JOIN: Final = "join"
KEY_VOID_SEAT: Final = "void-seat"
KEY_VOID_ROUND: Final = "void-round"
KEY_COUNT_MISMATCH: Final = "count-mismatch"
KEY_SUPERVISOR: Final = "supervisor"
KEY_END_GAME: Final = "end-game"
KEY_HOLD: Final = "hold"
KEY_SPLIT: Final = "split"
KEY_BOARD: Final = "board"
KEYS: Final = (
    *DIGITS,
    *HANDS,
    KEY_LOCK,
    KEY_ENTER,
    KEY_CLEAR,
    KEY_FOLD,
    KEY_JOIN,
    KEY_VOID_SEAT,
    KEY_VOID_ROUND,
    KEY_COUNT_MISMATCH,
    KEY_SUPERVISOR,
    KEY_END_GAME,
    KEY_HOLD,
    KEY_SPLIT,
    KEY_BOARD,
)

_PREVIEW: Final = re.compile(r"S(\d{1,2}) H(\d)(?: (\d+\.\d\d))?")
_AWARD: Final = re.compile(r"(CONFIRM|PAY) (A\d+)\b")


_CLEAR: Final = re.compile(r"OPEN CLEAR((?: S\d{1,2})+)")


class Preview(NamedTuple):
    """A claim that ENTER would make. ``amount`` is the printed amount, empty where the pad has none to show."""

    seat: int
    hand: int
    amount: str


def preview_line(seat: int, hand: int, amount: str) -> str:
    """Line 2 before ENTER: seat, hand key number, amount; ``S3 H1 12345.67``."""
    return f"S{seat} H{hand} {amount}".rstrip()


def read_preview(line: str) -> Preview | None:
    """What :func:`preview_line` wrote, or None if the line is no preview."""
    match = _PREVIEW.match(line)
    return Preview(int(match[1]), int(match[2]), match[3] or "") if match else None


def read_supervisor(line: str) -> tuple[str, str] | None:
    """``("CONFIRM" or "PAY", award)`` if the pad asks a supervisor for ENTER, else None."""
    match = _AWARD.match(line)
    return (match[1], match[2]) if match else None


def read_clear(line_1: str) -> tuple[int, ...]:
    """The seats whose chips the pad asks to be lifted; empty where it asks for none."""
    match = _CLEAR.match(line_1)
    return tuple(int(seat) for seat in re.findall(r"\d+", match[1])) if match else ()
