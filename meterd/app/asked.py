"""Who asked for an act from outside, as facts of its entries.

Rule 1: the actor of an entry is the person; the uid that the kernel names for the other end of the socket is a fact
beside it, so that a person stays one whatever terminal he works at. Over the socket everybody is proven by PIN; what
is done while the daemon is stopped says what proved them.
Rule 2: a request's identity is the ``event_id`` of the first entry of its answer, a refusal's too. No two entries have
one, so that no request counts twice (law 7).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any, NamedTuple

from meterd.accounting.book import Book
from meterd.accounting.commands import SYSTEM, CloseTable, Command, EndGame, OpenTable
from meterd.accounting.entries import REQUEST, Entry
from meterd.accounting.refusals import Refusal, Refused
from meterd.accounting.rules import Decision
from meterd.accounting.state import TableStatus
from meterd.floor.session import TableSession


class Proof(StrEnum):
    """What proves who signed something while the daemon was stopped."""

    PIN = "pin"  # each by the PIN that a people file holds of them
    NONE = "none"  # there was no people file: two names


class Asked(NamedTuple):
    """An act as it was asked for. ``by``: who signed it, in order. ``request``: its identity, empty for none.

    ``proof``, ``roles`` (of the proven) and ``people`` (the file that proved them) are told where it did not come over
    the socket.
    """

    uid: int
    statement: str
    by: tuple[str, ...]
    request: str = ""
    proof: Proof | None = None
    roles: tuple[str, ...] = ()
    people: str = ""

    @property
    def event_id(self) -> str | None:
        """What the ledger holds once at most."""
        return event_id(self.request) if self.request else None

    def on(self, entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
        """The entries with these facts in their bodies; the first has the request's identity."""
        facts: dict[str, Any] = {
            "uid": self.uid,
            "by": list(self.by),
            "statement": self.statement,
            "request": self.request or None,
        }
        if self.proof is not None:
            facts |= {"proof": self.proof.value, "roles": list(self.roles), "people": self.people or None}
        return tuple(
            replace(
                entry,
                body={**entry.body, "asked": facts},
                event_id=entry.event_id if index else self.event_id or entry.event_id,
            )
            for index, entry in enumerate(entries)
        )


def event_id(request: str) -> str:
    """The identity of a request as the ledger stores it."""
    return f"{REQUEST}{request}"


def unheard(command: Command, sessions: Mapping[str, TableSession], book: Book) -> Refused | None:
    """Nobody opens a closed table from afar while one of its modules is not heard: its chips would not be seen."""
    if not isinstance(command, OpenTable | EndGame) or command.table not in sessions:
        return None
    closed = book.tables[command.table].state is TableStatus.CLOSED
    if not closed or sessions[command.table].ready:
        return None
    away = ", ".join(sessions[command.table].away)
    reason = book.tables[command.table].closed_reason
    return Refused(
        Refusal.TABLE_CLOSED,
        f"{command.table} is closed ({reason}), and not heard of it: {away}",
        "Look why with `meterd ports`; a table is opened once all its modules answer.",
    )


def following(command: Command, decision: Decision, sessions: Mapping[str, TableSession]) -> list[Command]:
    """END GAME from afar on a table of which a module is not heard ends the round, and opens no window for the next."""
    if not isinstance(command, EndGame) or decision.refusal is not None or command.table not in sessions:
        return []
    if sessions[command.table].ready:
        return []
    return [CloseTable(actor=SYSTEM, table=command.table, reason="device_lost")]
