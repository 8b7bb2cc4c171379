"""Lines of a page about outcomes that all seats share and about split hands: what they ask for, what they expect.

Rule 1: as in ``scenario_commands`` and ``scenario_expect``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from meterd.accounting.book import Book
from meterd.accounting.commands import SYSTEM, Actor, Command, Role
from meterd.accounting.commands_streak import ClaimBoard, Number, Split, Tip, UndoTip, VoidSpin
from meterd.accounting.state import TableState
from meterd.app.scenario_parse import Statement
from meterd.app.scenario_setup import fault


def _dealer(line: Statement) -> Actor:
    named: Actor | None = line.get("by")
    return named or Actor(f"dealer@{line['table']}", Role.DEALER)


def _board(line: Statement) -> ClaimBoard:
    cards = {name: line[name] for name in ("cards", "community", "dealer") if line.get(name) is not None}
    return ClaimBoard(actor=_dealer(line), table=line["table"], hand=line.get("hand"), cards=cards or None)


STREAK_COMMANDS: Final[Mapping[str, Callable[[Statement], Command]]] = {
    "number": lambda s: Number(actor=_dealer(s), table=s["table"], number=s["number"]),
    "spin": lambda s: Number(actor=SYSTEM, table=s["table"], number=s["number"]),
    "void-spin": lambda s: VoidSpin(actor=s["by"], table=s["table"], second=s.get("and")),
    "claim-board": _board,
    "tip": lambda s: Tip(actor=s["by"], award=s["award"], cents=s["amount"], second=s.get("and")),
    "undo-tip": lambda s: UndoTip(actor=s["by"], award=s["award"], reason=s["reason"], second=s.get("and")),
    "split": lambda s: Split(actor=_dealer(s), table=s["table"], seat=s["seat"]),
}


def table_of(book: Book, line: Statement) -> TableState:
    """The table a line names.

    Raises:
        PageError: the page has no such table.
    """
    if line["table"] not in book.tables:
        raise fault(line, f"there is no table {line['table']} on this page")
    return book.tables[line["table"]]


def streak_length(book: Book, line: Statement) -> int:
    """How long the streak of a table is."""
    streak = table_of(book, line).streak
    return 0 if streak is None else streak.length
