"""Lines of a page that are one command each, and who asks for it.

Rule 1: a command carries what the line says and nothing it should lead to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from meterd.accounting import commands as ask
from meterd.accounting.commands import SYSTEM, Actor, Command, Role
from meterd.accounting.entries import Kind
from meterd.app.scenario_links import LINK_COMMANDS
from meterd.app.scenario_parse import Statement
from meterd.app.scenario_pools import POOL_COMMANDS
from meterd.app.scenario_streak import STREAK_COMMANDS

_LATE_MS: Final = (0, 100)  # one poll of the sensors


def dealer(line: Statement) -> Actor:
    """Who keys at a table: its dealer, or the person the line names."""
    named: Actor | None = line.get("by")
    return named or Actor(f"dealer@{line['table']}", Role.DEALER)


def _cards(line: Statement) -> dict[str, str] | None:
    """The cards written on a line, None where there are none."""
    return {name: line[name] for name in ("cards", "community", "dealer") if line.get(name) is not None} or None


def _cashier(line: Statement) -> Actor:
    named: Actor | None = line.get("by")
    return named or Actor("sup-cage", Role.SUPERVISOR)


#: Lines that are one command each.
COMMANDS: Final[Mapping[str, Callable[[Statement], Command]]] = {
    "late": lambda s: ask.LateBet(
        actor=dealer(s), table=s["table"], seat=s["seat"], ms_min=_LATE_MS[0], ms_max=_LATE_MS[1]
    ),
    "join": lambda s: ask.Join(actor=dealer(s), table=s["table"], seats=s["seats"]),
    "claim": lambda s: ask.Claim(
        actor=dealer(s), table=s["table"], seat=s["seat"], hand=s.get("hand"), cards=_cards(s)
    ),
    "fold": lambda s: ask.Fold(actor=dealer(s), table=s["table"], seat=s["seat"]),
    "void-seat": lambda s: ask.VoidSeat(actor=dealer(s), table=s["table"], seat=s["seat"], second=s.get("and")),
    "void-round": lambda s: ask.VoidRound(actor=dealer(s), table=s["table"], second=s.get("and")),
    "end": lambda s: ask.EndGame(actor=dealer(s), table=s["table"]),
    "close-table": lambda s: ask.CloseTable(actor=s.get("by") or SYSTEM, table=s["table"], reason=s["reason"]),
    "open-table": lambda s: ask.OpenTable(actor=s.get("by") or SYSTEM, table=s["table"]),
    "crash": lambda _: ask.Note(actor=SYSTEM, kind=Kind.STARTED),
    "hold": lambda s: ask.Hold(actor=s["by"], award=s["award"]),
    "correct": lambda s: ask.Correct(actor=s["by"], award=s["award"], hand=s.get("hand"), seat=s.get("seat")),
    "confirm": lambda s: ask.Confirm(actor=s["by"], award=s["award"], cards=_cards(s), second=s.get("and")),
    "void": lambda s: ask.Void(actor=s["by"], award=s["award"], reason=s["reason"], second=s.get("and")),
    "pay": lambda s: ask.Pay(actor=_cashier(s), award=s["award"], cashier=_cashier(s).id),
    "undo": lambda s: ask.Undo(actor=s["by"], award=s["award"], second=s.get("and"), reference=s["ref"]),
    **LINK_COMMANDS,
    **POOL_COMMANDS,
    **STREAK_COMMANDS,
}
