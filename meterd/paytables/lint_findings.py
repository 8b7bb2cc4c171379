"""What the linter can find: a closed list of codes, each with its weight and the next step of the reader.

A fault is something to put right before the table is used (exit 1); a notice is a number or an oddity to know (exit 0).
A table's own file may accept a fault that is in the print: ``lint_accepts = ["CODE: reason", "CODE row-key: reason"]``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, NamedTuple

from meterd.paytables.model import PayTable


class Severity(StrEnum):
    """How much a finding weighs."""

    FAULT = "fault"
    NOTICE = "notice"


class Code(NamedTuple):
    """One entry of the list: ``means`` in a few words, ``next_step`` for whoever reads the finding."""

    severity: Severity
    means: str
    next_step: str


_F: Final = Severity.FAULT
_N: Final = Severity.NOTICE

#: The closed list, in the order of docs/lint.md.
CODES: Final[dict[str, Code]] = {
    # the print and its reading
    "NOTE_MISSING": Code(
        _F,
        "no evaluator, and no note that says why",
        "write a note: which words of the rule are missing, or give the evaluator",
    ),
    "READING_MISSING": Code(
        _F,
        "a printed cell without a reading",
        "read the cell as pays, or accept it with the reason why it has no reading",
    ),
    "READING_DIFFERS": Code(
        _F,
        "a printed cell that can be read in one way only, read in another",
        "compare the cell with the rule book and correct the cell or its pays",
    ),
    # the rows against each other
    "TWO_ROWS_ONE_HAND": Code(
        _F,
        "two rows that mean exactly the same hands",
        "one of the two is read wrongly: correct its match",
    ),
    "ROW_NEVER_REACHED": Code(
        _F,
        "a row that no hand can earn",
        "correct its match or the order of the rows; if the print is so, accept it with the reason",
    ),
    "LATER_ROW_PAYS_MORE": Code(
        _F,
        "hands that hold two rows earn the one that pays less",
        "put the better row first (rows_printed, or the order); if the print is so, accept it with the reason",
    ),
    "ROWS_OVERLAP": Code(
        _N,
        "hands that hold two rows of one category, neither of which contains the other",
        "none: the earlier row is keyed; say so in the dealers' training",
    ),
    # the money of one table
    "NOT_MEASURED": Code(
        _N,
        "no par sheet, so no check that needs chances was made",
        "read the reason; the table may be used, but nobody has computed its odds here",
    ),
    "RETURN_ABOVE_WAGER": Code(
        _F,
        "the player's expected return is above the wager while the meter stands at its seed",
        "compare the pays with the rule book, or choose a smaller seed",
    ),
    "RETURN_ABOVE_WAGER_WITH_ENVY": Code(
        _N,
        "with the envy of a full table the expected return at the seed is above the wager",
        "reckon with it before the table is offered, or choose a smaller seed",
    ),
    "METER_CANNOT_CARRY": Code(
        _F,
        "fixed sums take more out of a meter than the wagers put in",
        "raise the increment above the share named, or choose another schedule",
    ),
    "METER_NEEDS_RATE": Code(
        _N,
        "fixed sums come out of a meter whose increment is not printed",
        "choose an increment above the share named; lint the site file to check it",
    ),
    "FIXED_ABOVE_SEED": Code(
        _N,
        "a fixed sum from the meter is more than the meter holds after a reset",
        'the house pays the difference: keep floor = "seed" and reckon with it, or choose a larger seed',
    ),
    "ENVY_FULL_TABLE": Code(
        _N,
        "what envy can cost in one round of a full table, and on average",
        "hold the amount ready; envy_confirm_above_cents makes a supervisor end such a round",
    ),
    "SEED_HORIZON": Code(
        _N,
        "how long until the reserve has paid the seed, and how likely a hit comes first",
        "reckon with the house's part; a larger reserve shortens the time",
    ),
    "BREAK_EVEN": Code(
        _N,
        "the meter at which the wager returns all of itself",
        "above it the players have the better side: expect play to follow the sign",
    ),
    "TOP_AWARD_TOO_RARE": Code(
        _N,
        "the meter is won less often than once in 100 million wagers",
        "New Jersey takes no filing of such an award (N.J.A.C. 13:69D-1.52(e)); choose another schedule there",
    ),
    # a change of a live table
    "HARDER_TO_WIN": Code(
        _F,
        "hands that earn a row today would earn less or nothing, because the rows ask for more",
        "a running award may only become easier to win (CO 47.1-1046(6), 47.1-1099.11(3)(c)): keep the old criteria",
    ),
    "PAYS_LESS": Code(
        _F,
        "the same row pays less than today, or gives less envy",
        "keep the pay until the award has been won, or petition",
    ),
    "EASIER_TO_WIN": Code(
        _N,
        "hands would earn more than today",
        "allowed on petition only: file it before the change",
    ),
    "NOT_COMPARABLE": Code(
        _F,
        "whether winning becomes harder cannot be computed",
        "compare the two by hand and keep the old table until that is done",
    ),
    # the games of a link
    "GAME_NOT_APPROVED": Code(
        _F,
        "a game on a link whose schedule is not approved for it",
        "put the table on a link with a schedule of its game, or choose a schedule approved for all its games",
    ),
    "ODDS_DIFFER": Code(
        _F,
        "two games of one link have different chances for the same row",
        "do not link them: the same award must be equally likely in every game of a link",
    ),
    # the acceptances themselves
    "ACCEPTS_NOTHING": Code(
        _F,
        "lint_accepts names something that is not found",
        "take the line out of the table's file: it would hide a later fault",
    ),
}  # fmt: skip

#: Faults a table's file may accept: those of the print. A fault of a site, a change or an acceptance is never accepted.
ACCEPTABLE: Final = (
    "READING_MISSING",
    "READING_DIFFERS",
    "TWO_ROWS_ONE_HAND",
    "ROW_NEVER_REACHED",
    "LATER_ROW_PAYS_MORE",
    "RETURN_ABOVE_WAGER",
    "METER_CANNOT_CARRY",
)

#: Of these, the ones that depend on a site's wager, seeds and rates.
_MONEY: Final = ("RETURN_ABOVE_WAGER", "METER_CANNOT_CARRY")

_ACCEPT: Final = re.compile(r"([A-Z_]+)(?: ([a-z0-9-]+))?: (.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding.

    ``row`` is a hand key, or the name of a level where a meter is meant; ``found`` says what, with numbers;
    ``accepted`` is the reason from the table's file, ``note`` its note; ``link`` is set where a site's settings count.
    """

    code: str
    table: str
    found: str
    row: str | None = None
    link: str | None = None
    note: str = ""
    accepted: str | None = None

    @property
    def severity(self) -> Severity:
        """The code's weight; an accepted fault is a notice."""
        return Severity.NOTICE if self.accepted is not None else CODES[self.code].severity

    @property
    def next_step(self) -> str:
        """What the reader can do now."""
        return "none: the table's file accepts it" if self.accepted is not None else CODES[self.code].next_step

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "code": self.code,
            "severity": self.severity.value,
            "table": self.table,
            "row": self.row,
            "link": self.link,
            "found": self.found,
            "next_step": self.next_step,
            "accepted": self.accepted,
            "note": self.note,
        }


def accept(
    table: PayTable, findings: Iterable[Finding], *, measured: bool, link: str | None = None
) -> Iterator[Finding]:
    """The findings with table's note and link, faults its file accepts marked so, and idle acceptances as faults.

    ``measured``: whether the checks that need chances were made; if not, an acceptance of one of them is not idle. A
    site's money is the site's own choice: on a link the table's file accepts nothing about it.
    """
    accepts = [(_read(text), text) for text in table.lint_accepts]
    used: set[str] = set()
    for finding in findings:
        reason = None
        for read, text in accepts:
            chosen = link is not None and finding.code in _MONEY
            if read is not None and not chosen and read[0] == finding.code and read[1] in {None, finding.row}:
                used.add(text)
                reason = read[2]
                break
        yield replace(finding, accepted=reason, note=table.note, link=link)
    for read, text in accepts:
        if text in used or (
            read is not None and _may_be_elsewhere(read[0], measured=measured, on_link=link is not None)
        ):
            continue
        yield Finding("ACCEPTS_NOTHING", table.id, _idle(read, text), note=table.note, link=link)


def _may_be_elsewhere(code: str, *, measured: bool, on_link: bool) -> bool:
    """Whether a fault of this code was not looked for here, so that its acceptance cannot be called idle."""
    return (not measured and not code.startswith("READING")) or (on_link and code in _MONEY)


def _read(text: str) -> tuple[str, str | None, str] | None:
    """Code, row and reason; None for a text or a code that accepts nothing anywhere."""
    found = _ACCEPT.fullmatch(text)
    return (found[1], found[2], found[3]) if found and found[1] in ACCEPTABLE else None


def _idle(read: tuple[str, str | None, str] | None, text: str) -> str:
    if read is None:
        return f"{text!r} is not CODE: reason with one of {', '.join(ACCEPTABLE)}"
    return f"{text!r} accepts something that is not there"
