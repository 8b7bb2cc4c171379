"""The words of the scenario language: its forms, its fields and how each field is read.

Rule 1: ``FORMS`` is the whole language; the reference page and its test are checked against it.
Rule 2: a field reads one word, or raises ValueError; it knows nothing of the page around it.
Units: amounts are written ``1.00`` and become cents; rates are written ``12.5%`` and become ppm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from meterd.accounting.refusals import Refusal
from meterd.accounting.settings import Floor, ResetMode, Ties
from meterd.app.scenario_forms_links import LINK_CHOICES, LINK_FIELDS, LINK_FORMS
from meterd.app.scenario_forms_pools import POOL_CHOICES, POOL_FIELDS, POOL_FORMS
from meterd.app.scenario_forms_streak import LINK_WORDS, STREAK_CHOICES, STREAK_FIELDS, STREAK_FORMS
from meterd.app.scenario_words import (
    NAME,
    Field,
    Form,
    amount,
    count,
    hand,
    matching,
    name,
    one_of,
    or_none,
    person,
    seat,
    seats,
    whole,
)
from meterd.money import parse_money, parse_rate

_CARDS: Final = "[community TEXT] [dealer TEXT]"

FORMS: Final = (
    # the page's own setup
    Form(
        "site",
        "site [confirm_above AMOUNT] [cards_above AMOUNT_OR_NONE] [two_person AMOUNT_OR_NONE]"
        " [envy_confirm_above AMOUNT_OR_NONE] [seed_recovery YES_OR_NO] [release_to_house YES_OR_NO]"
        " [unclaimed_days COUNT] [notice_days COUNT]",
        "thresholds of the property; what is not named is 0 (confirm_above) or no threshold",
    ),
    Form(
        "link",
        f"link LINK (wager AMOUNT) [units COUNT] (paytable PAYTABLE) {LINK_WORDS}",
        "a link with its wager and pay table",
    ),
    Form(
        "level",
        "level LEVEL (seed AMOUNT) (increment RATE) (reserve RATE_OR_NONE) (reset RESET) (ties TIES) (floor FLOOR)"
        " [limit AMOUNT_OR_NONE] [overflow OVERFLOW] [share_scales YES_OR_NO]",
        "one level of a link",
    ),
    Form(
        "table",
        "table TABLE (link LINK) (game GAME) (seats COUNT) [folded DEAD_OR_LIVE] [settlement SETTLEMENT]"
        " [player_cap AMOUNT_OR_NONE] [table_cap AMOUNT_OR_NONE] [tip_cap AMOUNT_OR_NONE]"
        " [numbers NUMBERS_FROM] [lowest_chip AMOUNT]",
        "a table on a link",
    ),
    Form("clock", "clock TIME", "set the clock"),
    Form("after", "clock after COUNT day|days", "move the clock on"),
    Form("after", "after COUNT day|days", "the same"),
    # what lies on the sensors
    Form(
        "wagers",
        "wagers TABLE seat|seats SEATS [units COUNT] [base AMOUNT]",
        "chips on the sensors, one unit each unless said",
    ),
    Form("without-base", "without-base TABLE seat|seats SEATS", "these seats have no base wager up"),
    # what hangs on the wall
    Form("sign", "sign LEVEL AMOUNT_OR_NONE", "what the signs of a level show from now on, however the meter stands"),
    # the dealer
    Form("join", "join TABLE seats SEATS", "these seats are one player, for this round"),
    Form("lock", "lock TABLE", "the dealer ends betting"),
    Form("late", "late TABLE seat SEAT", "a wager after lock"),
    Form("rounds", "rounds TABLE COUNT seat|seats SEATS [units COUNT]", "whole rounds: wagers, lock, end"),
    Form("claim", "claim TABLE seat SEAT HAND [by PERSON]", "the dealer keys a hand; names the award A1, A2, …"),
    Form("claim", f"claim TABLE seat SEAT (cards TEXT) {_CARDS} [by PERSON]", "the dealer keys the cards"),
    Form("fold", "fold TABLE seat SEAT", "a seat folds its hand"),
    Form("void-seat", "void-seat TABLE seat SEAT [by PERSON] [and PERSON]", "one seat's wager of this round goes back"),
    Form("void-round", "void-round TABLE [by PERSON] [and PERSON]", "all wagers of this round go back"),
    Form("end", "end TABLE [by PERSON]", "END GAME: envy is paid, the table opens again"),
    Form("close-table", "close-table TABLE (reason WORD) [by PERSON]", "the table closes; a locked one stays locked"),
    Form("open-table", "open-table TABLE [by PERSON]", "a closed table takes wagers again, where nothing is in doubt"),
    Form("crash", "crash", "the daemon died and starts again"),
    # the supervisor and the cage
    Form("hold", "hold AWARD (by PERSON)", "a disputed award stays pending"),
    Form("correct", "correct AWARD hand HAND (by PERSON)", "the award keeps its place, its hand changes"),
    Form("correct", "correct AWARD seat SEAT (by PERSON)", "the award keeps its place, its seat changes"),
    Form("confirm", f"confirm AWARD (by PERSON) [and PERSON] [cards TEXT] {_CARDS}", "a supervisor confirms"),
    Form("void", "void AWARD (by PERSON) [and PERSON] (reason WORD)", "as if the award had never been claimed"),
    Form("pay", "pay AWARD [by PERSON]", "a confirmed award is handed out"),
    Form("undo", "undo AWARD (by PERSON) [and PERSON] (ref TEXT)", "after confirm, by two people with a reference"),
    # the page itself
    Form("restart", "restart", "drop all state, fold it again from the ledger"),
    Form("refused", "refused REFUSAL", "the last command must have been refused for this reason"),
    Form("expect-meter", "expect meter LEVEL MONEY", "the meter, rounded down to the cent"),
    Form("expect-reserve", "expect reserve LEVEL MONEY_OR_NONE", "the reserve, rounded down; none where there is none"),
    Form("expect-overflow", "expect overflow LEVEL MONEY", "the overflow, rounded down to the cent"),
    Form("expect-microcents", "expect microcents LEVEL WHOLE", "the meter to the microcent"),
    Form("expect-count", "expect count LEVEL WHOLE", "wagers counted by the level"),
    Form("expect-award", "expect award AWARD STATUS", "an award's state"),
    Form("expect-award", "expect award AWARD STATUS MONEY", "an award's state and amount"),
    Form("expect-flag", "expect flag AWARD FLAG YES_OR_NO", "whether an award carries a flag"),
    Form("expect-table", "expect table TABLE ROUND_STATE", "whether a table is closed, open or locked"),
    Form("expect-envy", "expect envy TABLE seat SEAT MONEY", "a seat's envy of the round just ended"),
    Form("expect-house-seed", "expect house seed LEVEL MONEY", "what the house has put up, towards zero"),
    Form("expect-liability", "expect liability LINK MONEY", "what the link owes, towards zero"),
    Form("expect-account", "expect account ACCOUNT MONEY", "any account, towards zero"),
    Form("expect-accounts-sum", "expect accounts sum MONEY", "all accounts together"),
    *LINK_FORMS,
    *POOL_FORMS,
    *STREAK_FORMS,
)

FLAGS: Final = ("METER_EMPTY", "OUT_OF_ORDER", "SIGN_ABOVE_METER")
TABLE_STATES: Final = ("closed", "open", "locked")
STATUS_WORDS: Final = ("pending", "confirmed", "paid", "voided", "held", "disposed")

FIELDS: Final[Mapping[str, Field]] = {
    "ACCOUNT": Field(matching(r"[a-z]+(/[A-Za-z0-9][A-Za-z0-9_.-]*)*"), "an account such as house/pays/T1"),
    "AMOUNT": Field(amount, "an amount such as 1234.56"),
    "AMOUNT_OR_NONE": Field(or_none(amount), "an amount such as 1234.56, or none"),
    "AWARD": Field(matching(r"A[1-9]\d*"), "an award such as A1"),
    "COUNT": Field(count, "a whole number from 1"),
    "DEAD_OR_LIVE": Field(one_of("dead", "live"), "dead or live"),
    "FLAG": Field(one_of(*FLAGS), "a flag: " + " or ".join(FLAGS)),
    "FLOOR": Field(Floor, "a floor: " + " or ".join(Floor)),
    "GAME": Field(name, "a game such as three-card-poker"),
    "HAND": Field(hand, "a hand key such as royal-flush"),
    "LEVEL": Field(matching(f"{NAME}/{NAME}"), "a level such as nexus/mega"),
    "LINK": Field(name, "the name of a link"),
    "MONEY": Field(parse_money, "an amount such as 1234.56"),
    "MONEY_OR_NONE": Field(or_none(parse_money), "an amount such as 1234.56, or none"),
    "OVERFLOW": Field(or_none(matching(f"next_meter|house|level:{NAME}")), "next_meter, house, level:NAME or none"),
    "PAYTABLE": Field(matching(r"\S+"), "a pay table such as co/nexus/pmg-ml-02, or file:NAME.toml"),
    "PERSON": Field(person, "a person such as sup-1, acc-1, adm-1 or tech-1"),
    "RATE": Field(parse_rate, "a rate such as 12.5%"),
    "RATE_OR_NONE": Field(or_none(parse_rate), "a rate such as 3%, or none"),
    "REFUSAL": Field(Refusal, "a reason for refusing such as SEAT_HAS_NO_WAGER"),
    "RESET": Field(ResetMode, "a reset mode: " + " or ".join(ResetMode)),
    "SEAT": Field(seat, "a seat number"),
    "SEATS": Field(seats, "seat numbers such as 1-4 6"),
    "STATUS": Field(one_of(*STATUS_WORDS), "one of " + ", ".join(STATUS_WORDS)),
    "TABLE": Field(name, "the name of a table"),
    "ROUND_STATE": Field(one_of(*TABLE_STATES), "one of " + ", ".join(TABLE_STATES)),
    "TEXT": Field(str, "a text, in quotes where it has spaces"),
    "TIES": Field(Ties, "a tie policy: " + " or ".join(Ties)),
    "TIME": Field(
        matching(r"\d{4}-(0[1-9]|1[0-2])-([0-2]\d|3[01])T([01]\d|2[0-3]):[0-5]\d"), "a time like 2026-12-01T06:00"
    ),
    "WHOLE": Field(whole, "a whole number"),
    "WORD": Field(str, "a word, or a text in quotes"),
    "YES_OR_NO": Field(lambda text: one_of("yes", "no")(text) == "yes", "yes or no"),
    **LINK_FIELDS,
    **POOL_FIELDS,
    **STREAK_FIELDS,
}


def choices(field: str) -> Sequence[str]:
    """The closed list a field is chosen from, for the nearest known word."""
    enums: dict[str, Sequence[str]] = {
        "REFUSAL": tuple(Refusal),
        "RESET": tuple(ResetMode),
        "TIES": tuple(Ties),
        "STATUS": STATUS_WORDS,
        "FLAG": FLAGS,
        "ROUND_STATE": TABLE_STATES,
        **LINK_CHOICES,
        **POOL_CHOICES,
        **STREAK_CHOICES,
    }
    return enums.get(field, ())
