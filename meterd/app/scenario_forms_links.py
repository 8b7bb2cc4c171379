"""The words of the scenario language about changes of a live link, unclaimed and late awards, aggregate limits.

Rule 1: an act of two people takes its second person and its reference as groups that a page may leave out, so that it
        can show the refusal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from meterd.app.scenario_words import NAME, Field, Form, matching, one_of

_SIGNED: Final = "(by PERSON) [and PERSON] [ref TEXT]"
LICENSEE: Final = "licensee"
LINK_STATES: Final = ("open", "suspended", "discontinued")
_PARTS: Final = ("reserve", "overflow")
_VERDICTS: Final = ("easier", "harder")

LINK_FORMS: Final = (
    Form("suspend", "suspend LINK (reason WORD) (by PERSON)", "no wagers and no claims on a link from now on"),
    Form("resume", f"resume LINK {_SIGNED}", "wagers are taken again"),
    Form("adjust", f"adjust LEVEL (amount MONEY) {_SIGNED}", "put right what a meter shows"),
    Form("transfer", f"transfer LEVEL (to LEVEL) (amount MONEY) {_SIGNED}", "players' money to another meter"),
    Form("limit", f"limit LEVEL (amount AMOUNT_OR_NONE) [overflow OVERFLOW] {_SIGNED}", "another limit for a level"),
    Form("recover-seed", f"recover-seed LEVEL (amount MONEY) {_SIGNED}", "the house takes back standing seed"),
    Form("release", f"release LEVEL PART (amount MONEY) {_SIGNED}", "reserve or overflow becomes the house's income"),
    Form("ease", f"ease LINK (paytable PAYTABLE) (verdict VERDICT) {_SIGNED}", "rules that are easier to win"),
    Form("notice", f"notice LINK {_SIGNED}", "the end of a link is announced"),
    Form(
        "discontinue",
        f"discontinue LINK [to LEVEL_OR_LICENSEE] {_SIGNED}",
        "a link ends; players' money goes to the target",
    ),
    Form("unclaimed", "unclaimed AWARD [by PERSON]", "nobody collected a confirmed award in time"),
    Form("dispose", f"dispose AWARD (to PLACE) {_SIGNED}", "what becomes of an unclaimed award"),
    Form(
        "late-claim",
        f"late-claim TABLE round COUNT seat SEAT HAND (amount MONEY) {_SIGNED}",
        "an award proved after END GAME, paid by the house; names the next award",
    ),
    Form(
        "caps",
        f"caps TABLE [player_cap AMOUNT_OR_NONE] [table_cap AMOUNT_OR_NONE] [tip_cap AMOUNT_OR_NONE] {_SIGNED}",
        "aggregate limits of a round are posted; they hold 24 hours later",
    ),
    Form(
        "gaming-day",
        f"gaming-day DAY {_SIGNED}",
        "two people vouch for the gaming day that waits: the clock came to it over more than one border",
    ),
    Form("expect-link", "expect link LINK STANDING", "whether a link takes wagers"),
)

LINK_FIELDS: Final[Mapping[str, Field]] = {
    "STANDING": Field(one_of(*LINK_STATES), "open, suspended or discontinued"),
    "PART": Field(one_of(*_PARTS), "reserve or overflow"),
    "PLACE": Field(matching(f"{NAME}/{NAME}|authority|house"), "a level such as nexus/mega, or authority, or house"),
    "LEVEL_OR_LICENSEE": Field(matching(f"{NAME}/{NAME}|{LICENSEE}"), "a level such as nexus/mega, or licensee"),
    "VERDICT": Field(one_of(*_VERDICTS), "easier or harder: the linter's word"),
}

LINK_CHOICES: Final[Mapping[str, Sequence[str]]] = {
    "STANDING": LINK_STATES,
    "PART": _PARTS,
    "LEVEL_OR_LICENSEE": (LICENSEE,),
    "PLACE": ("authority", "house"),
    "VERDICT": _VERDICTS,
}
