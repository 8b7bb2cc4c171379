"""Changes of a live link on a page: what is asked and what is expected.

Rule 1: a command carries what the line says and nothing it should lead to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from meterd.accounting import commands_links as ask
from meterd.accounting.book import Book
from meterd.accounting.commands import Actor, Command, Role
from meterd.accounting.commands_day import ConfirmDay
from meterd.app.scenario_forms_links import LICENSEE
from meterd.app.scenario_parse import Statement
from meterd.app.scenario_setup import fault

_ACCOUNTING: Final = Actor("acc-cage", Role.ACCOUNTING)


def signed(line: Statement) -> dict[str, Any]:
    """The two people and their reference, as the line names them."""
    return {"actor": line["by"], "second": line.get("and"), "reference": line.get("ref", "")}


def _limit(line: Statement) -> ask.SetLimit:
    if line["amount"] is None and line.get("overflow") is not None:
        raise fault(line, "without a limit nothing flows over: leave overflow out")
    return ask.SetLimit(level=line["level"], limit_cents=line["amount"], overflow=line.get("overflow"), **signed(line))


def _discontinue(line: Statement) -> ask.Discontinue:
    away = line.get("to") == LICENSEE
    return ask.Discontinue(link=line["link"], target=None if away else line.get("to"), licensee=away, **signed(line))


#: Lines that are one command each.
LINK_COMMANDS: Final[Mapping[str, Callable[[Statement], Command]]] = {
    "suspend": lambda s: ask.SuspendLink(actor=s["by"], link=s["link"], reason=s["reason"]),
    "resume": lambda s: ask.ResumeLink(link=s["link"], **signed(s)),
    "adjust": lambda s: ask.Adjust(level=s["level"], cents=s["amount"], **signed(s)),
    "transfer": lambda s: ask.Transfer(level=s["level"], target=s["to"], cents=s["amount"], **signed(s)),
    "limit": _limit,
    "recover-seed": lambda s: ask.RecoverSeed(level=s["level"], cents=s["amount"], **signed(s)),
    "release": lambda s: ask.Release(level=s["level"], part=s["part"], cents=s["amount"], **signed(s)),
    "notice": lambda s: ask.GiveNotice(link=s["link"], **signed(s)),
    "discontinue": _discontinue,
    "unclaimed": lambda s: ask.MarkUnclaimed(actor=s.get("by") or _ACCOUNTING, award=s["award"]),
    "dispose": lambda s: ask.Dispose(award=s["award"], to=s["to"], **signed(s)),
    "late-claim": lambda s: ask.AdjustClaim(
        table=s["table"], round=s["count"], seat=s["seat"], hand=s["hand"], cents=s["amount"], **signed(s)
    ),
    "gaming-day": lambda s: ConfirmDay(day=s["day"], **signed(s)),
    "caps": lambda s: ask.PostCaps(
        table=s["table"],
        player_cents=s.get("player_cap"),
        table_cents=s.get("table_cap"),
        tip_cents=s.get("tip_cap"),
        **signed(s),
    ),
}


def link_state(book: Book, link: str) -> str:
    """Whether a link takes wagers: open, suspended or discontinued."""
    state = book.links[link]
    if state.discontinued:
        return "discontinued"
    return "open" if state.suspended is None else "suspended"
