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
    """A refusal with the thing it speaks of."""

    refusal: Refusal
    detail: str = ""


#: Filled for every member; ``tests/accounting/test_refusals.py`` insists.
ADVICE: Final[dict[Refusal, Advice]] = {}
