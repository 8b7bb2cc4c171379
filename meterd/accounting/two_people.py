"""What changes of a live link share: who may, where it is, what stands in the way.

Sources: money rules M12; requirements R74 and R77.
Units: ``*_cents``; microcents in shifts.

Choices where the rules leave one:
* Departments are the roles: supervisor (pit), accounting, administrator. Two of the same role are one department.
* A link is in play while a round is locked at one of its tables; who is in the way then is told NOT_YET, for END GAME
  ends it. A link or level that nobody knows is told TABLE_UNKNOWN.
* The reason for a missing or weak second signature, and for a missing reference, is SECOND_PERSON_REQUIRED.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from meterd.accounting.answer import SECONDS, not_authorised
from meterd.accounting.book import Book
from meterd.accounting.commands import Actor
from meterd.accounting.commands_links import TwoPeople
from meterd.accounting.meter import LevelMoney
from meterd.accounting.refusals import Refusal, Refused
from meterd.accounting.rules_confirm import same_person
from meterd.accounting.state import LinkState, TableStatus
from meterd.money import AMOUNT_CENTS_MAX

_ANOTHER: Final = "Somebody of another department signs second."
_NAME_IT: Final = "Name it: `ref TEXT`."


def people_refusal(command: TwoPeople, *, reference_needed: bool = True) -> Refused | None:
    """Two people of two departments, and the reference of an approval."""
    second: Actor | None = command.second
    refused = not_authorised(command.actor, SECONDS) or (
        not_authorised(second, SECONDS) if second is not None else None
    )
    if refused:
        return refused
    if second is not None and same_person(command.actor.id, second.id):
        return Refused(Refusal.SAME_PERSON, f"{second.id} signs twice", _ANOTHER)
    if second is None:
        return Refused(Refusal.SECOND_PERSON_REQUIRED, "a second person is needed", _ANOTHER)
    if second.role is command.actor.role:
        return Refused(Refusal.SECOND_PERSON_REQUIRED, f"{second.id} is of the same department", _ANOTHER)
    if reference_needed and not command.reference.strip():
        return Refused(Refusal.SECOND_PERSON_REQUIRED, "the reference of an approval is needed", _NAME_IT)
    return None


def signed(command: TwoPeople) -> dict[str, Any]:
    """Who signed besides the actor, and for which paper."""
    return {"second": command.second.id if command.second is not None else None, "reference": command.reference}


def unknown(what: str) -> Refused:
    """A link or level that is not in force."""
    return Refused(Refusal.TABLE_UNKNOWN, f"no {what} is in force")


def level_of(book: Book, key: str) -> tuple[LinkState, LevelMoney] | Refused:
    """A level by ``link/level`` with its link, and a working copy of its money."""
    link, _, name = key.partition("/")
    state = book.links.get(link)
    if state is None or name not in state.rules.levels:
        return unknown(f"level {key}")
    return state, book.money(link).levels[name]


def in_play(book: Book, links: Collection[str]) -> Refused | None:
    """A round is locked at a table of one of these links."""
    for name, table in book.tables.items():
        if table.settings.link in links and table.state is TableStatus.LOCKED:
            step = f"Let END GAME end the round of {name}, then close-table it until this is done."
            return Refused(Refusal.NOT_YET, f"{table.settings.link} is in play at {name}", step)
    return None


def pending_on(book: Book, link: LinkState, levels: Collection[str]) -> Refused | None:
    """A pending award takes, or could take, from one of these levels."""
    for name in link.pending:
        hit = book.awards[name].levels & frozenset(levels)
        if hit:
            return Refused(Refusal.LEVEL_HAS_PENDING_AWARD, f"{name} on {link.settings.id}/{min(hit)} is pending")
    return None


def ended(*links: LinkState) -> Refused | None:
    """No money may come to a link that has been discontinued."""
    gone = next((link.settings.id for link in links if link.discontinued), None)
    return None if gone is None else Refused(Refusal.LINK_SUSPENDED, f"{gone} is discontinued")


def out_of_bounds(why: str) -> Refused:
    """An amount that may not be moved."""
    return Refused(Refusal.AMOUNT_OUT_OF_BOUNDS, why)


def does_not_fit(level: LevelMoney, microcents: int) -> Refused | None:
    """What comes to a meter by an approved act stays within its limit."""
    if level.meter + microcents > level.rules.limit_microcents:
        return out_of_bounds(f"{level.rules.key} would pass its limit")
    return None


def shifts(*moved: tuple[LevelMoney, int, str]) -> list[dict[str, Any]]:
    """What came to levels or left them, as an entry tells it to the journal."""
    return [{"level": level.rules.key, "microcents": amount, "what": what} for level, amount, what in moved if amount]


def amount_refusal(cents: int) -> Refused | None:
    """An amount that is nothing, negative or beyond the largest."""
    if 0 < cents <= AMOUNT_CENTS_MAX:
        return None
    return out_of_bounds("an amount above nothing and below the largest is needed")
