"""The closed list of refusals and its reference say the same."""

from __future__ import annotations

import re
from pathlib import Path

from meterd.accounting.refusals import ADVICE, Refusal

REFERENCE = Path(__file__).parents[2] / "docs" / "refusals.md"

#: The order of precedence as the money rules state it.
PRECEDENCE = [
    "NOT_AUTHORISED",
    "SAME_PERSON",
    "SECOND_PERSON_REQUIRED",
    "TABLE_UNKNOWN",
    "TABLE_CLOSED",
    "LINK_SUSPENDED",
    "TABLE_NOT_LOCKED",
    "STREAK_RUNNING",
    "ROUND_CLOSED",
    "SEAT_UNKNOWN",
    "SEAT_HAS_NO_WAGER",
    "SEAT_FOLDED",
    "SEAT_ALREADY_CLAIMED",
    "NO_BASE_WAGER",
    "UNREASONABLE_CONTRIBUTION",
    "RAKE_TOO_HIGH",
    "HAND_NOT_IN_PAYTABLE",
    "CARDS_DISAGREE",
    "AWARD_UNKNOWN",
    "AWARD_NOT_PENDING",
    "EARLIER_AWARD_PENDING",
    "LEVEL_HAS_PENDING_AWARD",
    "ROUND_HAS_OPEN_AWARD",
    "ROUND_HAS_CONFIRMED_AWARD",
    "TOP_AWARD_NOT_WON",
    "LIMIT_BELOW_METER",
    "AMOUNT_OUT_OF_BOUNDS",
    "NOT_YET",
    "ALREADY_DONE",
]


def test_the_list_is_closed_and_in_order() -> None:
    """Members stand in order of precedence."""
    assert [refusal.value for refusal in Refusal] == PRECEDENCE


def test_every_refusal_says_what_to_do() -> None:
    """Each has a cause, a next step, and words that fit a keypad of 16 characters."""
    assert set(ADVICE) == set(Refusal)
    for advice in ADVICE.values():
        assert 0 < len(advice.keypad) <= 16
        assert advice.keypad == advice.keypad.upper()
        assert advice.keypad.isascii()
        assert advice.cause.endswith(".")
        assert advice.next_step.endswith(".")
    assert len({advice.keypad for advice in ADVICE.values()}) == len(ADVICE)


def test_the_reference_has_one_heading_each_in_order() -> None:
    """docs/refusals.md tells the same words."""
    text = REFERENCE.read_text(encoding="utf-8")
    assert re.findall(r"^## (\w+)$", text, re.MULTILINE) == PRECEDENCE
    for refusal, advice in ADVICE.items():
        section = text.split(f"## {refusal.value}\n")[1].split("\n## ")[0]
        assert advice.keypad in section
        assert advice.cause in section
        assert advice.next_step in section
