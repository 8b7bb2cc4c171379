"""The words of outcomes that all seats share, of split hands, and of a link's envy: their forms and fields.

Rule 1: these are part of ``FORMS`` and ``FIELDS`` like all others; nothing else is here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from meterd.accounting.commands_streak import TipReason
from meterd.accounting.settings import EnvyTo, EnvyTrigger, NumbersFrom, Settlement, SplitHand
from meterd.app.scenario_words import Field, Form, matching

#: What may follow on a ``link`` line: where nothing is said, it is as the pay table prints it.
LINK_WORDS: Final = (
    "[envy_trigger ENVY_TRIGGER] [envy_min AMOUNT] [envy_to ENVY_TO] [board_triggers YES_OR_NO] [split SPLIT]"
    " [step PAYTABLE]"
)

STREAK_FORMS: Final = (
    Form("number", "number TABLE NUMBER [by PERSON]", "a spin or roll; one that ends the streak makes the claims"),
    Form("spin", "spin TABLE NUMBER", "a wheel reports a spin or roll by itself"),
    Form("void-spin", "void-spin TABLE (by PERSON) [and PERSON]", "the last number is taken back, with its awards"),
    Form("claim-board", "claim TABLE board HAND [by PERSON]", "a hand on the board: claims of all live seats"),
    Form(
        "claim-board",
        "claim TABLE board (cards TEXT) [community TEXT] [dealer TEXT] [by PERSON]",
        "the same, from the cards",
    ),
    Form("split", "split TABLE seat SEAT [by PERSON]", "a seat splits its hand in two"),
    Form(
        "tip",
        "tip AWARD AMOUNT (by PERSON) [and PERSON]",
        "a tip beside the hand of an award wins with it and is handed out",
    ),
    Form(
        "undo-tip",
        "undo-tip AWARD (reason TIP_REASON) (by PERSON) [and PERSON]",
        "a tip that was keyed wrong is taken back",
    ),
    Form("expect-streak", "expect streak TABLE WHOLE", "how long the streak is; 0 before its first number"),
    Form("expect-toke", "expect toke TABLE MONEY", "the dealer's envy of the round just ended"),
)

STREAK_FIELDS: Final[Mapping[str, Field]] = {
    "ENVY_TO": Field(EnvyTo, "who receives envy: " + " or ".join(EnvyTo)),
    "ENVY_TRIGGER": Field(EnvyTrigger, "which envy hands count: " + " or ".join(EnvyTrigger)),
    "NUMBERS_FROM": Field(NumbersFrom, "who gives the numbers: " + " or ".join(NumbersFrom)),
    "NUMBER": Field(matching(r"\d{1,2}|\d\+\d"), "a number such as 17 or 00, or two dice such as 2+2"),
    "SETTLEMENT": Field(Settlement, "an order of seats: " + " or ".join(Settlement)),
    "SPLIT": Field(SplitHand, "what a split means: " + " or ".join(SplitHand)),
    "TIP_REASON": Field(TipReason, "why a tip is taken back: " + " or ".join(TipReason)),
}

STREAK_CHOICES: Final[Mapping[str, Sequence[str]]] = {
    "ENVY_TO": tuple(EnvyTo),
    "ENVY_TRIGGER": tuple(EnvyTrigger),
    "NUMBERS_FROM": tuple(NumbersFrom),
    "SETTLEMENT": tuple(Settlement),
    "SPLIT": tuple(SplitHand),
    "TIP_REASON": tuple(TipReason),
}
