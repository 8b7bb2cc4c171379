"""Refusals: the closed list of reasons for saying no, in order of precedence (M13).

A refusal changes no account; it is itself an entry, so that a dispute can show what was keyed and why it was not taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple


class Refusal(StrEnum):
    """Why a command was not carried out. Earlier members take precedence where several hold."""

    NOT_AUTHORISED = "NOT_AUTHORISED"
    SAME_PERSON = "SAME_PERSON"
    SECOND_PERSON_REQUIRED = "SECOND_PERSON_REQUIRED"
    TABLE_UNKNOWN = "TABLE_UNKNOWN"
    TABLE_CLOSED = "TABLE_CLOSED"
    LINK_SUSPENDED = "LINK_SUSPENDED"
    TABLE_NOT_LOCKED = "TABLE_NOT_LOCKED"
    STREAK_RUNNING = "STREAK_RUNNING"
    ROUND_CLOSED = "ROUND_CLOSED"
    SEAT_UNKNOWN = "SEAT_UNKNOWN"
    SEAT_HAS_NO_WAGER = "SEAT_HAS_NO_WAGER"
    SEAT_FOLDED = "SEAT_FOLDED"
    SEAT_ALREADY_CLAIMED = "SEAT_ALREADY_CLAIMED"
    NO_BASE_WAGER = "NO_BASE_WAGER"
    UNREASONABLE_CONTRIBUTION = "UNREASONABLE_CONTRIBUTION"
    RAKE_TOO_HIGH = "RAKE_TOO_HIGH"
    HAND_NOT_IN_PAYTABLE = "HAND_NOT_IN_PAYTABLE"
    CARDS_DISAGREE = "CARDS_DISAGREE"
    AWARD_UNKNOWN = "AWARD_UNKNOWN"
    AWARD_NOT_PENDING = "AWARD_NOT_PENDING"
    EARLIER_AWARD_PENDING = "EARLIER_AWARD_PENDING"
    LEVEL_HAS_PENDING_AWARD = "LEVEL_HAS_PENDING_AWARD"
    ROUND_HAS_OPEN_AWARD = "ROUND_HAS_OPEN_AWARD"
    ROUND_HAS_CONFIRMED_AWARD = "ROUND_HAS_CONFIRMED_AWARD"
    TOP_AWARD_NOT_WON = "TOP_AWARD_NOT_WON"
    LIMIT_BELOW_METER = "LIMIT_BELOW_METER"
    AMOUNT_OUT_OF_BOUNDS = "AMOUNT_OUT_OF_BOUNDS"
    NOT_YET = "NOT_YET"
    ALREADY_DONE = "ALREADY_DONE"


class Advice(NamedTuple):
    """What a refusal means and what to do next, in words for a keypad, a page and the reference."""

    keypad: str  # at most 16 characters
    cause: str
    next_step: str


@dataclass(frozen=True, slots=True)
class Refused:
    """A refusal with its particular cause, or only the name of what it speaks of, and its particular next step."""

    refusal: Refusal
    detail: str = ""
    step: str = ""


#: One for every member; ``docs/refusals.md`` is the reference made from the same words.
ADVICE: Final[dict[Refusal, Advice]] = {
    Refusal.NOT_AUTHORISED: Advice(
        "NOT AUTHORISED",
        "The role of whoever asked may not do this, or not for so large an amount, or the site allows it to nobody; "
        "or the PIN is wrong, or the badge nobody's; or the table's numbers come from the wheel and were keyed, or the "
        "other way about.",
        "Call somebody whose role may: a supervisor for awards, an administrator for settings. A number comes from the "
        "table's own source.",
    ),
    Refusal.SAME_PERSON: Advice(
        "SAME PERSON",
        "The act needs somebody else: whoever keyed or corrected a claim may not confirm it, and two signatures of "
        "one person count once.",
        "Let another supervisor do it.",
    ),
    Refusal.SECOND_PERSON_REQUIRED: Advice(
        "2ND PERSON",
        "The amount, the missing card evaluator or the kind of act asks for two people; a change of a live link for "
        "two departments and the reference of an approval.",
        "Repeat the act with a second person who is not the first, of another department where a link changes, and "
        "with the reference.",
    ),
    Refusal.TABLE_UNKNOWN: Advice(
        "TABLE UNKNOWN",
        "No table, link, level, jackpot or pool of this name is in force.",
        "Check the name; a new table or link enters by the site file and `meterd ledger adopt`.",
    ),
    Refusal.TABLE_CLOSED: Advice(
        "CLOSED END GAME",
        "The table's progressive is closed: a device is away or came back, or the daemon was restarted in mid-round.",
        "Press END GAME once the devices are back; the next round begins clean.",
    ),
    Refusal.LINK_SUSPENDED: Advice(
        "LINK SUSPENDED",
        "The link takes no wagers and no claims for the stated reason, or it has ended and takes no money.",
        "Ask accounting; play the hand without the progressive.",
    ),
    Refusal.TABLE_NOT_LOCKED: Advice(
        "NOT LOCKED",
        "The act belongs to a locked round, and no round is locked here.",
        "Press LOCK first.",
    ),
    Refusal.STREAK_RUNNING: Advice(
        "STREAK RUNNING",
        "A streak is alive; the round is not over.",
        "Key the next numbers until the streak ends.",
    ),
    Refusal.ROUND_CLOSED: Advice(
        "ROUND CLOSED",
        "END GAME has been pressed, or the next hand has begun: nothing of the round can be changed at the table.",
        "Call a supervisor. A proved award is adjusted by two people, funded by the house.",
    ),
    Refusal.SEAT_UNKNOWN: Advice(
        "SEAT UNKNOWN",
        "The table has no seat of this number.",
        "Key a seat that is on the layout.",
    ),
    Refusal.SEAT_HAS_NO_WAGER: Advice(
        "SEAT NO WAGER",
        "The seat had no accepted wager when this round was locked, or put nothing in during this hand.",
        "Look at the lamp: dark means not in the round. Key the right seat.",
    ),
    Refusal.SEAT_FOLDED: Advice(
        "SEAT FOLDED",
        "The hand was folded, and at this table a folded hand is dead.",
        "Key the right seat; a hand folded by mistake goes to the supervisor.",
    ),
    Refusal.SEAT_ALREADY_CLAIMED: Advice(
        "ALREADY CLAIMED",
        "The seat already has an award in this round.",
        "Have a supervisor correct or void the award that stands.",
    ),
    Refusal.NO_BASE_WAGER: Advice(
        "NO BASE WAGER",
        "The game takes a progressive wager only beside the base wager, and the seat had none.",
        "Give the progressive wager back; it was not counted.",
    ),
    Refusal.UNREASONABLE_CONTRIBUTION: Advice(
        "BAD WAGER",
        "What the sensor reported cannot be: two wagers on one seat, a seat the table lacks, units out of bounds, or "
        "an amount that cannot be paid at the odds.",
        "Give the wager back and call a technician; the other seats are in the round.",
    ),
    Refusal.RAKE_TOO_HIGH: Advice(
        "RAKE TOO HIGH",
        "The rake is above what may be taken from one pot, or it is stopped until the jackpot has been won.",
        "Take the allowed amount; while the rake is stopped that is none.",
    ),
    Refusal.HAND_NOT_IN_PAYTABLE: Advice(
        "HAND NOT LISTED",
        "The pay table has no row for this hand, or the row pays nothing.",
        "Read the hand again; the rules sheet lists what pays.",
    ),
    Refusal.CARDS_DISAGREE: Advice(
        "CARDS DISAGREE",
        "The cards are missing, cannot be read, or do not make the hand that was keyed.",
        "Enter the cards again; if they are right, correct the award's hand.",
    ),
    Refusal.AWARD_UNKNOWN: Advice(
        "AWARD UNKNOWN",
        "No award has this number.",
        "Look the number up in the list of awards.",
    ),
    Refusal.AWARD_NOT_PENDING: Advice(
        "NOT PENDING",
        "The award is not in the state this act needs: it was confirmed, paid or voided, or is not confirmed yet.",
        "Look at the award. After confirmation only a correction by two people undoes it.",
    ),
    Refusal.EARLIER_AWARD_PENDING: Advice(
        "EARLIER AWARD",
        "An earlier award on the same level is still pending, and this one's amount depends on it.",
        "Confirm or void the earlier award first.",
    ),
    Refusal.LEVEL_HAS_PENDING_AWARD: Advice(
        "AWARD PENDING",
        "A level that would be changed has a pending award.",
        "Settle the award first.",
    ),
    Refusal.ROUND_HAS_OPEN_AWARD: Advice(
        "AWARD OPEN",
        "An award of this round is pending and not held, or the hand has not been decided.",
        "Confirm, void or hold the award, or key who won the hand; then do it again.",
    ),
    Refusal.ROUND_HAS_CONFIRMED_AWARD: Advice(
        "AWARD CONFIRMED",
        "An award of this seat or round is confirmed; its wager stands.",
        "Undo the award first, with two people and a reference.",
    ),
    Refusal.TOP_AWARD_NOT_WON: Advice(
        "TOP NOT WON",
        "The highest award has not been won since the link opened.",
        "Keep the link, or give the reference of the approved petition.",
    ),
    Refusal.LIMIT_BELOW_METER: Advice(
        "LIMIT TOO LOW",
        "A limit may not lie below what the sign shows.",
        "Choose a limit at or above the display.",
    ),
    Refusal.AMOUNT_OUT_OF_BOUNDS: Advice(
        "AMOUNT TOO BIG",
        "The amount is beyond what may be moved; of a tip, the wager that it stands beside.",
        "Check the amount and the settings of the link.",
    ),
    Refusal.NOT_YET: Advice(
        "NOT YET",
        "A notice period or another clock has not run out, or a round is still being played where the act would change "
        "what it is played for.",
        "Wait until the stated time, or press END GAME first.",
    ),
    Refusal.ALREADY_DONE: Advice(
        "ALREADY DONE",
        "The same event or act has been taken before.",
        "Nothing to do: the first answer stands.",
    ),
}
